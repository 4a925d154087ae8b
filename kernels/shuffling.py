"""Random full grids by two Markov chains: for boxes with several rows and columns, and of one row.

Both start from a given grid and take a fixed number of steps. A step draws a change, and the
reverse change has the same probability. So all grids that can be reached have the same probability
in the long run. All rows, columns, bands, stacks and digits are then permuted at random.

``shuffle`` draws one of these changes, each of which turns a full grid into another:

- Two rows of one band: in some columns, the cells of the two rows are swapped. Both rows have the
  same digits in these columns, which are as few as possible and include a random one.
- Two columns of one stack, likewise.
- Two digits: they are swapped in a random cell with one of them, and in all cells that are
  connected to it through peers with one of the two digits.

A change of more than half of the two rows, columns or digits is left out: changing the other half
instead has the same effect, up to a permutation.

``shuffle_latin`` is for boxes of one row: it is the chain of Jacobson and Matthews (1996,
"Generating uniformly distributed random Latin squares"), which reaches all Latin squares. The other
chain would never leave the cyclic square of a prime order.

Random bits come from xoshiro256++ (Blackman and Vigna, 2019). The caller draws its 256 bits of
state.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import Array, int64, uint8, uint64
from gpusudoku.kernels.kernel import inlined, jitable, kernel

HALF = 32
LOW_MASK = np.uint64((1 << HALF) - 1)
NO_MARK = -1
"""A mark that differs from all steps."""


@inlined
def rotated(x, k):
    """Return a word rotated to the left by k bits."""
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@jitable
def draw(state, n):
    """Draw a uniform integer from 0 to n - 1, for n from 1 to 2^32 - 1.

    Lemire's method ("Fast random integer generation in an interval", 2019) for 32 random bits: the
    upper half of a product is the integer. Products with a lower half below 2^32 mod n are rejected
    to make all integers equally probable.
    """
    while True:
        random_word = rotated(state[0] + state[3], 23) + state[0]
        shifted = state[1] << np.uint64(17)
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = rotated(state[3], 45)
        product = (random_word >> np.uint64(HALF)) * np.uint64(n)
        if product & LOW_MASK >= np.uint64((1 << HALF) % n):
            return np.int64(product >> np.uint64(HALF))


@inlined
def put(cell, digit, unit_of, grid, digit_cells):
    """Write a digit to a cell of the grid, and the cell to ``digit_cells`` of its three units."""
    grid[cell] = digit
    for kind in range(3):
        digit_cells[unit_of[cell, kind], digit] = cell


@jitable
def swap_lines(line, start, distance, unit_of, grid, digit_cells):
    """Swap cells of a row or column with those of another one, beginning with the cell ``start``.

    line        int    the row or column, as a unit
    distance    int    from each of its cells to the cell of the other line in the same position

    The swapped cells are the fewest that include ``start`` and have the same digits in both lines.
    They form a cycle: from each cell to the cell of the line with the digit opposite it. Nothing is
    swapped if it has more than half of the line.
    """
    cell = start
    length = 0
    while length == 0 or cell != start:
        cell = digit_cells[line, grid[cell + distance]]
        length += 1
        if 2 * length > digit_cells.shape[1]:
            return
    for _ in range(length):
        digit = grid[cell]
        opposite_digit = grid[cell + distance]
        next_cell = digit_cells[line, opposite_digit]
        put(cell, opposite_digit, unit_of, grid, digit_cells)
        put(cell + distance, digit, unit_of, grid, digit_cells)
        cell = next_cell


@jitable
def swap_digits(start, other_digit, mark, unit_of, grid, digit_cells, marks, connected):
    """Swap the digit of the cell ``start`` with another digit, in all connected cells.

    mark         int                  a number that no cell is marked with yet
    marks        int64 (n * n)        scratch: the last mark of each cell
    connected    int64 (n)            scratch: the connected cells. There are 2 n cells with the two
                                      digits; if more than half of them are connected, nothing is
                                      swapped
    """
    digit_sum = grid[start] + other_digit
    count = 1
    visited = 0
    connected[0] = start
    marks[start] = mark
    # Breadth-first search.
    while visited < count:
        cell = connected[visited]
        opposite_digit = digit_sum - grid[cell]
        visited += 1
        for kind in range(3):
            peer = digit_cells[unit_of[cell, kind], opposite_digit]
            if marks[peer] != mark:
                if count == len(connected):
                    return
                connected[count] = peer
                marks[peer] = mark
                count += 1
    for i in range(count):
        cell = connected[i]
        put(cell, digit_sum - grid[cell], unit_of, grid, digit_cells)


@jitable
def permute(size, state, order):
    """Write a random order of bands or stacks of ``size`` lines, and of the lines in each.

    order    int64 (n)    out: the line at each position
    """
    n = len(order)
    for i in range(n):
        order[i] = i
    # Shuffle the lines of each band: swap each with one of the lines from it to the band's end.
    for i in range(n):
        remaining_lines = size - i % size
        j = i + draw(state, remaining_lines)
        order[i], order[j] = order[j], order[i]
    # Shuffle the bands in the same way.
    for band in range(n // size):
        other_band = band + draw(state, n // size - band)
        for k in range(size):
            i = band * size + k
            j = other_band * size + k
            order[i], order[j] = order[j], order[i]


@jitable
def finish(box_rows, box_columns, state, grid, orders, out):
    """Write a grid with rows, columns, bands, stacks and digits permuted, and digits from 1."""
    n = orders.shape[1]
    permute(box_rows, state, orders[0])
    permute(box_columns, state, orders[1])
    permute(n, state, orders[2])
    is_transposed = box_rows == box_columns and draw(state, 2) == 1
    for row in range(n):
        for column in range(n):
            cell = orders[0, row] * n + orders[1, column]
            target = row * n + column
            if is_transposed:
                target = column * n + row
            out[target] = orders[2, grid[cell]] + 1


@kernel(
    *(int64, int64, int64, int64[::1], int64[:, ::1], uint64[:, ::1]),
    *(int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[:, ::1], uint8[:, ::1]),
    seconds=2.0,
)
def shuffle(
    box_rows,
    box_columns,
    steps,
    start_grid,
    unit_of,
    states,
    grid,
    digit_cells,
    marks,
    connected,
    orders,
    out,
):
    """Write random grids of boxes with several rows and columns.

    start_grid     int64 (n * n)       a full grid, with digits from 0
    unit_of        int64 (n * n, 3)    the units of each cell, as in ``Geometry``
    states         uint64 (grids, 4)   the random bits of each grid
    grid           int64 (n * n)       scratch: the grid
    digit_cells    int64 (3 n, n)      scratch: the cell of each digit in each unit
    marks          int64 (n * n)       scratch of ``swap_digits``
    connected      int64 (n)           scratch of ``swap_digits``
    orders         int64 (3, n)        scratch: the orders of rows, columns and digits
    out            uint8 (grids, n * n)   out: the grids, with digits from 1
    """
    n = box_rows * box_columns
    for i in range(len(out)):
        state = states[i]
        marks[:] = NO_MARK
        for cell in range(n * n):
            put(cell, start_grid[cell], unit_of, grid, digit_cells)
        for step in range(steps):
            change = draw(state, 3)  # the kind of unit, or 2 to swap digits
            cell = draw(state, n * n)
            if change == 2:
                other_digit = (grid[cell] + 1 + draw(state, n - 1)) % n
                swap_digits(cell, other_digit, step, unit_of, grid, digit_cells, marks, connected)
                continue

            # Choose another row of the cell's band, or another column of its stack.
            if change == 0:
                line = cell // n
                size = box_rows
                line_distance = n
            else:
                line = cell % n
                size = box_columns
                line_distance = 1
            position = line % size
            other_line = line - position + (position + 1 + draw(state, size - 1)) % size
            distance = (other_line - line) * line_distance
            swap_lines(unit_of[cell, change], cell, distance, unit_of, grid, digit_cells)
        finish(box_rows, box_columns, state, grid, orders, out[i])


@jitable
def find_one(line, state):
    """Return the index of a 1 in a line of a cube, a random one if there are two."""
    index = -1
    count = 0
    for i in range(len(line)):
        if line[i] == 1:
            count += 1
            if count == 1 or draw(state, 2) == 0:
                index = i
    return index


@jitable
def move_on(row, column, digit, state, cube):
    """Make a move of the chain: raise an entry of the cube by 1, and balance all lines of the cube.

    The entry is 0, or the -1 that the previous move has left. The corners of a box in the cube
    change by 1 and -1 in turn, so that every line of the cube still adds up to 1.

    Returns the position of the opposite corner, the only entry that may now be -1.
    """
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
def shuffle_latin(box_rows, box_columns, steps, start_grid, states, cube, grid, orders, out):
    """Write random Latin squares. Other arguments are those of ``shuffle``.

    cube    int8 (n, n, n)    scratch: 1 where a row and column have a digit, else 0

    Some moves leave one entry of the cube at -1, so that it is no Latin square. Then the chain
    moves on from this entry until the cube is a Latin square again. All these moves are one step.
    """
    n = len(cube)
    for i in range(len(out)):
        state = states[i]
        cube[:] = 0
        for cell in range(n * n):
            cube[cell // n, cell % n, start_grid[cell]] = 1

        row = 0
        column = 0
        digit = 0
        finished_steps = 0
        is_latin = True
        while finished_steps < steps:
            while is_latin:  # draw an entry that is 0
                row = draw(state, n)
                column = draw(state, n)
                digit = draw(state, n)
                if cube[row, column, digit] == 0:
                    break
            row, column, digit = move_on(row, column, digit, state, cube)
            is_latin = cube[row, column, digit] >= 0
            finished_steps += is_latin

        for cell in range(n * n):
            grid[cell] = find_one(cube[cell // n, cell % n], state)
        finish(box_rows, box_columns, state, grid, orders, out[i])
