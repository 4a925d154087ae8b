"""Random full grids by two Markov chains: of boxes with several rows and columns, and of rows.

Both begin with a given grid, and take a fixed number of steps. Each step draws a change, and its
reverse has the same chance: so in the long run all grids that can be reached have the same chance.
All lines, bands, stacks and digits are then permuted at random.

``shuffle`` draws one of these changes, each of which turns a full grid into another:

- Two rows of one band: the entries of some columns are swapped where both rows have the same digits
  in these columns, as few columns as there can be from a random one on.
- Two columns of one stack, likewise.
- Two digits: those cells are swapped that hold them and hang together, as peers, with a random one.

A change of more than half of the two rows, columns or digits is left out: that of the rest does the
same, but for a permutation.

``shuffle_latin`` is for boxes of one row: it is the chain of Jacobson and Matthews (1996,
"Generating uniformly distributed random Latin squares"), which reaches all Latin squares. The other
chain would never leave the cyclic square of a prime order.

Random bits are those of xoshiro256++ (Blackman and Vigna, 2019), whose 256 bits a caller draws.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import Array, int64, uint8, uint64
from gpusudoku.kernels.kernel import inlined, jitable, kernel

HALF = 32
LOW = np.uint64((1 << HALF) - 1)


@inlined
def rotated(x, k):
    """Rotate a word to the left."""
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@jitable
def draw(state, n):
    """Draw an integer below n, from 1 to 2^32 - 1, each with the same chance."""
    while True:
        value = rotated(state[0] + state[3], 23) + state[0]
        shifted = state[1] << np.uint64(17)
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = rotated(state[3], 45)
        product = (value >> np.uint64(HALF)) * np.uint64(n)
        if product & LOW >= np.uint64((1 << HALF) % n):
            return np.int64(product >> np.uint64(HALF))


@inlined
def put(cell, digit, unit_of, grid, places):
    """Write a digit, and where its three units have it."""
    grid[cell] = digit
    for kind in range(3):
        places[unit_of[cell, kind], digit] = cell


@jitable
def swap_lines(first, cell, across, unit_of, grid, places):
    """Swap a part of the unit ``first`` with that of another, whose cells are ``across`` away.

    The part is the smallest that has a cell and the same digits in both units.
    """
    at = cell
    length = 0
    while length == 0 or at != cell:
        at = places[first, grid[at + across]]
        length += 1
        if 2 * length > places.shape[1]:
            return
    for _ in range(length):
        one = grid[at]
        other = grid[at + across]
        following = places[first, other]
        put(at, other, unit_of, grid, places)
        put(at + across, one, unit_of, grid, places)
        at = following


@jitable
def swap_digits(cell, other, stamp, unit_of, grid, places, marks, found):
    """Swap the digit of a cell with another, in all cells that hang together with it.

    marks is where those found have the stamp, which nothing else has.
    """
    one = grid[cell]
    count = 1
    done = 0
    found[0] = cell
    marks[cell] = stamp
    while done < count:
        at = found[done]
        wanted = one + other - grid[at]
        done += 1
        for kind in range(3):
            peer = places[unit_of[at, kind], wanted]
            if marks[peer] != stamp:
                if count == len(found):
                    return
                found[count] = peer
                marks[peer] = stamp
                count += 1
    for i in range(count):
        at = found[i]
        put(at, one + other - grid[at], unit_of, grid, places)


@jitable
def permute(size, state, order):
    """Write a random order of the groups of so many neighbours, and of the neighbours in each."""
    n = len(order)
    for i in range(n):
        order[i] = i
    for i in range(n):
        # The rest of its own group, for places in a group.
        left = size - i % size
        j = i + draw(state, left)
        order[i], order[j] = order[j], order[i]
    for group in range(n // size):
        other = group + draw(state, n // size - group)
        for i in range(size):
            one = group * size + i
            two = other * size + i
            order[one], order[two] = order[two], order[one]


@jitable
def finish(box_rows, box_columns, state, grid, orders, out):
    """Write a grid whose lines, bands, stacks and digits are permuted at random, from 1 on."""
    n = orders.shape[1]
    permute(box_rows, state, orders[0])
    permute(box_columns, state, orders[1])
    permute(n, state, orders[2])
    transposed = box_rows == box_columns and draw(state, 2) == 1
    for row in range(n):
        for column in range(n):
            cell = orders[0, row] * n + orders[1, column]
            to = column * n + row if transposed else row * n + column
            out[to] = orders[2, grid[cell]] + 1


@kernel(
    *(int64, int64, int64, int64[::1], int64[:, ::1], uint64[:, ::1]),
    *(int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[:, ::1], uint8[:, ::1]),
    seconds=2.0,
)
def shuffle(
    box_rows, box_columns, steps, start, unit_of, states, grid, places, marks, found, orders, out
):
    """Write random grids of boxes with several rows and columns.

    start is int64 (n * n), a full grid with digits from 0 on, and unit_of int64 (n * n, 3), as of
    ``Geometry``. states is uint64 (grids, 4): the random bits of each. The next are written on the
    way: int64 (n * n), (3 n, n), (n * n), (n) and (3, n). out is uint8 (grids, n * n).
    """
    n = box_rows * box_columns
    for i in range(len(out)):
        state = states[i]
        marks[:] = -1
        for cell in range(n * n):
            put(cell, start[cell], unit_of, grid, places)
        for step in range(steps):
            change = draw(state, 3)
            cell = draw(state, n * n)
            if change == 2:
                other = (grid[cell] + 1 + draw(state, n - 1)) % n
                swap_digits(cell, other, step, unit_of, grid, places, marks, found)
                continue
            line = cell // n if change == 0 else cell % n
            together = box_rows if change == 0 else box_columns
            place = line % together
            other = line - place + (place + 1 + draw(state, together - 1)) % together
            across = (other - line) * (n if change == 0 else 1)
            swap_lines(unit_of[cell, change], cell, across, unit_of, grid, places)
        finish(box_rows, box_columns, state, grid, orders, out[i])


@jitable
def find_one(line, state):
    """Return where a line of a cube has a 1, one of them at random if there are two."""
    found = -1
    count = 0
    for i in range(len(line)):
        if line[i] == 1:
            count += 1
            if count == 1 or draw(state, 2) == 0:
                found = i
    return found


@jitable
def move_on(row, column, digit, state, cube):
    """Raise the entry of a cube that is one too low; return which entry was lowered in turn."""
    last_row = find_one(cube[:, column, digit], state)
    last_column = find_one(cube[row, :, digit], state)
    last_digit = find_one(cube[row, column, :], state)
    for i, j, k, change in (
        (row, column, digit, 1),
        (row, last_column, last_digit, 1),
        (last_row, column, last_digit, 1),
        (last_row, last_column, digit, 1),
        (last_row, column, digit, -1),
        (row, last_column, digit, -1),
        (row, column, last_digit, -1),
        (last_row, last_column, last_digit, -1),
    ):
        cube[i, j, k] += change
    return last_row, last_column, last_digit


@kernel(
    *(int64, int64, int64, int64[::1], uint64[:, ::1]),
    *(Array(np.dtype(np.int8), 3), int64[::1], int64[:, ::1], uint8[:, ::1]),
    seconds=1.2,
)
def shuffle_latin(box_rows, box_columns, steps, start, states, cube, grid, orders, out):
    """Write random Latin squares; other arguments are those of ``shuffle``.

    cube is int8 (n, n, n): by row, column and digit, 1 where the digit is. In some steps one entry
    becomes -1, so that it is no Latin square: steps until it is one again count as one.
    """
    n = len(cube)
    for i in range(len(out)):
        state = states[i]
        cube[:] = 0
        for cell in range(n * n):
            cube[cell // n, cell % n, start[cell]] = 1
        row, column, digit, done, proper = 0, 0, 0, 0, True
        while done < steps:
            while proper:
                row = draw(state, n)
                column = draw(state, n)
                digit = draw(state, n)
                proper = cube[row, column, digit] != 0
            row, column, digit = move_on(row, column, digit, state, cube)
            proper = cube[row, column, digit] >= 0
            done += proper
        for cell in range(n * n):
            grid[cell] = find_one(cube[cell // n, cell % n], state)
        finish(box_rows, box_columns, state, grid, orders, out[i])
