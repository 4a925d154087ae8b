"""Canonical forms of puzzles: all rearrangements with the least text so far, row by row.

The canonical form of a board is the least of all boards that it can be rearranged to, read row by
row, with empty cells below all digits; see ``puzzles/canonical.py``. A *state* is a set of
rearrangements that agree on the first rows: it has the rows of the board that were taken, the
places of their columns, and their digits' labels, in the order in which they appear. At every level
each state is tried with each row that may follow. Those with the least text become the next states.

Columns that are empty so far are interchangeable within their stack. They come first in it, and
stacks that are empty so far come before others. A state stands for all orders of these: the next
row puts its clues as far to the right as it can, known labels before new ones. Only columns, or
stacks, whose clues all get new labels can be chosen among, and there is a state for every choice.
Of empty rows in a band one is tried, and of empty bands one.

A row is compared in *entries*, one for each cell: 0, a known label, or NEW. Rows with equal entries
have equal texts, whichever digits are new.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import int64, kind_of, uint8
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.kernel import Jit, Kernel, inlined

SECONDS = 5.0
"""What compiling takes."""
NONE = 255
"""The place of a column, or the slot of a stack, that is empty so far."""


class Layout:
    """The words of a row's entries, and the bytes of a state, for boxes of R x C cells.

    Bytes of a state: the place of each column among all, the ``label`` of each digit, the
    ``slot`` of each stack, its ``free`` columns, that are empty so far, then the number of stacks
    that are so, the band of the last row, whether the board is transposed, and all rows so far.
    The last word has the rows that were taken, as bits.
    """

    def __init__(self, box_rows: int, box_columns: int) -> None:
        R, C = self.box_rows, self.box_columns = box_rows, box_columns
        n = self.n = R * C
        self.bits = (n + 1).bit_length()
        self.width = self.bits * C
        """Bits of the entries of a box."""
        self.together = min(R, 64 // self.width)
        """Boxes in a word; 0 if they are too wide."""
        self.words = -(-R // self.together) if self.together else 0
        self.label = n
        self.slot = 2 * n
        self.free = 2 * n + R
        self.open, self.band, self.turn, self.rows = range(2 * n + 2 * R, 2 * n + 2 * R + 4)
        self.size = (self.rows + n + 7) // 8 + 1
        """Words of a state."""


class Search(NamedTuple):
    """The memory of a search."""

    states: NDArray[np.uint64]
    """uint64 (2, most, size): those of this level and of the next, in turn."""
    bytes: NDArray[np.uint8]
    """uint8 (2, most, 8 * size): the same memory."""
    tied: NDArray[np.int64]
    """int64 (most, 2): states and rows with the least text."""
    clues: NDArray[np.int64]
    """int64 (2 n * n): column + 256 * digit of each clue, row by row, then those of the board
    transposed."""
    starts: NDArray[np.int64]
    """int64 (2, n * R + 1): where the clues of each row and stack begin."""
    filled: NDArray[np.int64]
    """int64 (2, n): the stacks that have clues in each row."""
    most_filled: NDArray[np.int64]
    """int64 (1): the boxes of the least row so far from the first one with entries on."""
    spots: NDArray[np.int64]
    """int64 (n): the cells of the least row that have entries."""
    keys: NDArray[np.uint64]
    """uint64 (3, n): the entries of a row, the least so far, and those of boxes."""
    seen: NDArray[np.uint64]
    """uint64 (2, n): the digits of each column and box, as bits."""

    @classmethod
    def empty(cls, layout: Layout, most: int) -> Search:
        """Memory for so many states."""
        n = layout.n
        states = np.zeros((2, most, layout.size), np.uint64)
        return cls(
            states,
            states.view(np.uint8),
            np.zeros((most, 2), np.int64),
            np.zeros(2 * n * n, np.int64),
            np.zeros((2, n * layout.box_rows + 1), np.int64),
            np.zeros((2, n), np.int64),
            np.zeros(1, np.int64),
            np.zeros(n, np.int64),
            np.zeros((3, n), np.uint64),
            np.zeros((2, n), np.uint64),
        )


class Forms(NamedTuple):
    """Canonical forms of B boards, to be written."""

    cells: NDArray[np.uint8]
    """uint8 (B, n * n): the forms."""
    ties: NDArray[np.int64]
    """int64 (B): the states that lead to each. All stand for equally many rearrangements. Without a
    form it is 0 if clues contradict each other, and -1 if there were too many states."""
    maps: NDArray[np.uint8]
    """uint8 (B, 1 + 3 n): of one of them: 1 if the board is transposed; then the row of the board
    in each row; the place of each column, and the label of each digit, NONE if there are no clues.
    """

    @classmethod
    def empty(cls, n: int, boards: int) -> Forms:
        """Memory for so many boards."""
        cells = np.zeros((boards, n * n), np.uint8)
        return cls(cells, np.zeros(boards, np.int64), np.zeros((boards, 1 + 3 * n), np.uint8))

    def part(self, start: int, end: int) -> Forms:
        """Return the memory of the boards from start to before end."""
        return Forms(self.cells[start:end], self.ties[start:end], self.maps[start:end])

    def put(self, which: NDArray[np.int64], found: Forms) -> None:
        """Put those of some boards, int64 (k), in their places."""
        self.cells[which], self.ties[which], self.maps[which] = found


def build_clash(box_rows: int, box_columns: int, jit: Jit) -> Callable[..., bool]:
    """Make ``clash(boards, board, seen)``: True if two clues of a board contradict each other.

    ``seen`` is memory, uint64 (2, n).
    """
    R = box_rows
    C = box_columns
    n = box_rows * box_columns

    @jit
    def clash(boards, board, seen):
        for i in range(n):
            seen[0, i] = seen[1, i] = ZERO
        twice = ZERO
        for row in range(n):
            in_row = ZERO
            for stack in range(R):
                in_box = seen[1, row // R * R + stack]
                for column in range(stack * C, stack * C + C):
                    digit = np.uint64(boards[board, row * n + column])
                    bit = ONE << digit - ONE if digit > ZERO else ZERO
                    twice |= (in_row | in_box | seen[0, column]) & bit
                    in_row = in_row | bit
                    in_box = in_box | bit
                    seen[0, column] |= bit
                seen[1, row // R * R + stack] = in_box
        return twice != ZERO

    return clash


def build_puzzles(box_rows: int, box_columns: int, jit: Jit) -> Callable[..., int]:
    """Make ``puzzles(boards, first, search, forms)``.

    It writes the forms of boards, uint8 (B, n * n), from ``first`` on, and returns the index of the
    first one that has too many states for the memory, or B.
    """
    layout = Layout(box_rows, box_columns)
    R = box_rows
    C = box_columns
    n = layout.n
    bits = layout.bits
    width = layout.width
    together = layout.together
    W = layout.words
    SIZE = layout.size
    LABEL = layout.label
    SLOT = layout.slot
    FREE = layout.free
    OPEN = layout.open
    BAND = layout.band
    TURN = layout.turn
    ROWS = layout.rows
    NEW = n + 1
    turns = 2 if R == C else 1
    entry = np.uint64((1 << bits) - 1)
    TRIAL, BEST, BOXES = 0, 1, 2
    clash = build_clash(R, C, jit)

    @jit
    def read(board, boards, search):
        """List the clues of a board and of the board transposed."""
        k = np.int64(0)
        for turn in range(turns):
            down, right = (1, n) if turn else (n, 1)
            for row in range(n):
                filled = 0
                for stack in range(R):
                    search.starts[turn, row * R + stack] = k
                    for column in range(stack * C, stack * C + C):
                        digit = np.int64(boards[board, row * down + column * right])
                        search.clues[k] = column | (digit - 1) << 8
                        k += digit > 0
                    filled += k > search.starts[turn, row * R + stack]
                search.filled[turn, row] = filled
            search.starts[turn, n * R] = k

    @jit
    def put(keys, cell, entries):
        """Put entries into the row's, the last of which is that of a cell."""
        if W == 1:
            keys[TRIAL, 0] |= entries << np.uint64(bits * (n - 1 - cell))
        else:
            slot = cell // C
            place = cell % C
            shift = width * (together - 1 - slot % together) + bits * (C - 1 - place)
            keys[TRIAL, slot // together] |= entries << np.uint64(shift)

    @jit
    def insert(entries, label):
        """Insert a label into entries that are sorted, the largest in the lowest bits."""
        above = entries
        below = ZERO
        while above & entry > label:
            above = above >> np.uint64(bits)
            below = below + np.uint64(bits)
        low = entries & ((ONE << below) - ONE)
        return (above << np.uint64(bits) | label) << below | low

    @jit
    def put_loose(search, side, s, loose):
        """Put the entries of stacks into the row's, as far to the right as they can be."""
        keys = search.keys
        waiting = 0
        while loose != ZERO:
            stack = lowest_index(loose)
            loose &= loose - ONE
            box = keys[BOXES, stack]
            slot = np.int64(search.bytes[side, s, SLOT + stack])
            if slot != NONE:
                free = np.int64(search.bytes[side, s, FREE + stack])
                put(keys, slot * C + free - 1, box)
                continue
            i = waiting  # not above the stacks that were looked at
            while i > 0 and keys[BOXES, i - 1] > box:
                keys[BOXES, i] = keys[BOXES, i - 1]
                i -= 1
            keys[BOXES, i] = box
            waiting += 1
        slot = np.int64(search.bytes[side, s, OPEN]) - waiting
        for i in range(waiting):
            put(keys, (slot + i) * C + C - 1, keys[BOXES, i])

    @jit
    def row_entries(search, side, s, turn, row):
        """Find the least entries that a state allows for a row."""
        keys = search.keys
        loose = ZERO
        for w in range(W):
            keys[TRIAL, w] = ZERO
        for k in range(search.starts[turn, row * R], search.starts[turn, row * R + R]):
            column = search.clues[k] & 255
            digit = search.clues[k] >> 8
            label = np.uint64(search.bytes[side, s, LABEL + digit])
            cell = np.int64(search.bytes[side, s, column])
            if cell != NONE:
                put(keys, cell, label)
                continue
            stack = column // C
            bit = ONE << np.uint64(stack)
            keys[BOXES, stack] = insert(keys[BOXES, stack] if loose & bit else ZERO, label)
            loose |= bit
        if loose != ZERO:
            put_loose(search, side, s, loose)

    @jit
    def boxes_left(keys):
        """Count the boxes of the least row from the first one with entries on."""
        for slot in range(R):
            shift = width * (together - 1 - slot % together)
            if keys[BEST, slot // together] >> np.uint64(shift) != ZERO:
                return R - slot
        return 0

    @jit
    def compare(search, side, s, turn, row, tied):
        """Compare a row of a state with the least one; return how many are tied, -1 if too many."""
        if search.filled[turn, row] > search.most_filled[0]:
            return tied  # a box has entries that is empty in the least row
        row_entries(search, side, s, turn, row)
        keys = search.keys
        for w in range(W):
            if keys[TRIAL, w] > keys[BEST, w]:
                return tied
            if keys[TRIAL, w] < keys[BEST, w]:
                for v in range(W):
                    keys[BEST, v] = keys[TRIAL, v]
                search.most_filled[0] = boxes_left(keys)
                tied = 0
                break
        if tied == search.tied.shape[0]:
            return -1
        search.tied[tied, 0], search.tied[tied, 1] = s, row
        return tied + 1

    @jit
    def compare_band(search, side, s, band, tied):
        """Compare the rows of a band that a state has not taken."""
        turn = np.int64(search.bytes[side, s, TURN])
        taken = search.states[side, s, SIZE - 1]
        was_empty = False
        for row in range(band * R, band * R + R):
            if taken >> np.uint64(row) & ONE != ZERO:
                continue
            is_empty = search.starts[turn, row * R] == search.starts[turn, row * R + R]
            if is_empty and was_empty:
                continue
            was_empty |= is_empty
            tied = compare(search, side, s, turn, row, tied)
            if tied < 0:
                return tied
        return tied

    @jit
    def compare_rows(search, side, count, level):
        """Find the least row that may follow in any state; return how many are tied."""
        tied = 0
        search.most_filled[0] = R
        for w in range(W):
            search.keys[BEST, w] = ~ZERO
        for s in range(count):
            if level % R != 0:
                last = np.int64(search.bytes[side, s, BAND])
                tied = compare_band(search, side, s, last, tied)
                if tied < 0:
                    return tied
                continue
            turn = np.int64(search.bytes[side, s, TURN])
            taken = search.states[side, s, SIZE - 1]
            was_empty = False
            for band in range(C):
                if taken >> np.uint64(band * R) & ONE != ZERO:
                    continue
                start = search.starts[turn, band * R * R]
                is_empty = start == search.starts[turn, (band + 1) * R * R]
                if is_empty and was_empty:
                    continue
                was_empty |= is_empty
                tied = compare_band(search, side, s, band, tied)
                if tied < 0:
                    return tied
        return tied

    @jit
    def write_row(search, forms, board, level, labels):
        """Write the least row; return the numbers of labels, with its new ones, and of entries."""
        spots = 0
        for position in range(n):
            slot = position // C
            place = position % C
            shift = width * (together - 1 - slot % together) + bits * (C - 1 - place)
            label = np.int64(search.keys[BEST, slot // together] >> np.uint64(shift) & entry)
            if label > 0:
                search.spots[spots] = position
                spots += 1
            if label == NEW:
                labels += 1
            forms.cells[board, level * n + position] = labels if label == NEW else label
        return labels, spots

    @jit
    def copy(search, from_side, s, to_side, e):
        """Copy a state."""
        for w in range(SIZE):
            search.states[to_side, e, w] = search.states[from_side, s, w]

    @jit
    def place_clue(search, side, e, k, label, cell):
        """Give a clue of a row its label, and its column and stack their places."""
        column = search.clues[k] & 255
        digit = search.clues[k] >> 8
        state = search.bytes
        state[side, e, LABEL + digit] = label
        if state[side, e, column] == NONE:
            state[side, e, column] = cell
            state[side, e, FREE + column // C] -= 1
            if state[side, e, SLOT + column // C] == NONE:
                state[side, e, SLOT + column // C] = cell // C
                state[side, e, OPEN] -= 1

    @jit
    def fits(search, side, s, e, k, turn, row, label, labels, cell):
        """Tell whether a clue of a row can be in a cell; e came of s, and has some clues."""
        column = search.clues[k] & 255
        digit = search.clues[k] >> 8
        state = search.bytes
        if state[side, e, column] != NONE:
            return np.int64(state[side, e, column]) == cell
        if np.int64(state[side, e, LABEL + digit]) != (label if label <= labels else NEW):
            return False
        stack = column // C
        slot = cell // C
        place = cell % C
        at = np.int64(state[side, e, SLOT + stack])
        if at != NONE:
            return at == slot and place < np.int64(state[1 - side, s, FREE + stack])
        # Empty stacks with known labels come before those with as many clues, all of new ones.
        clues = search.starts[turn, row * R + stack + 1] - search.starts[turn, row * R + stack]
        return slot < np.int64(state[1 - side, s, OPEN]) and (label <= labels or clues == C - place)

    @jit
    def follow(search, forms, board, side, s, row, level, labels, spots, made):
        """Make the states of the next level that follow from a tied one; return how many there are.

        -1 if there are too many.
        """
        most = search.tied.shape[0]
        after = 1 - side
        start = made
        if made == most:
            return -1
        copy(search, side, s, after, made)
        search.states[after, made, SIZE - 1] |= ONE << np.uint64(row)
        search.bytes[after, made, BAND] = row // R
        search.bytes[after, made, ROWS + level] = row
        made += 1
        turn = np.int64(search.bytes[side, s, TURN])
        first = search.starts[turn, row * R]
        last = search.starts[turn, row * R + R]
        for i in range(spots):
            cell = search.spots[i]
            label = np.int64(forms.cells[board, level * n + cell])
            for e in range(start, made):
                chosen = -1
                for k in range(first, last):
                    if not fits(search, after, s, e, k, turn, row, label, labels, cell):
                        continue
                    if chosen < 0:
                        chosen = k
                        continue
                    if made == most:
                        return -1
                    copy(search, after, e, after, made)
                    place_clue(search, after, made, k, label, cell)
                    made += 1
                place_clue(search, after, e, chosen, label, cell)
        return made

    @jit
    def begin(search):
        """Make the states in which nothing is known."""
        for turn in range(turns):
            for w in range(SIZE):
                search.states[0, turn, w] = ZERO
            for i in range(n):
                search.bytes[0, turn, i] = NONE
                search.bytes[0, turn, LABEL + i] = NEW
            for stack in range(R):
                search.bytes[0, turn, SLOT + stack] = NONE
                search.bytes[0, turn, FREE + stack] = C
            search.bytes[0, turn, OPEN] = R
            search.bytes[0, turn, TURN] = turn

    @jit
    def find(search, forms, board):
        """Write the form of a board whose clues are listed; return False if memory is too small."""
        begin(search)
        count = turns
        labels = 0
        side = 0
        for level in range(n):
            tied = compare_rows(search, side, count, level)
            if tied < 0:
                return False
            known = labels
            labels, spots = write_row(search, forms, board, level, known)
            count = 0
            for i in range(tied):
                s = search.tied[i, 0]
                row = search.tied[i, 1]
                count = follow(search, forms, board, side, s, row, level, known, spots, count)
                if count < 0:
                    return False
            side = 1 - side
        forms.ties[board] = count
        forms.maps[board, 0] = search.bytes[side, 0, TURN]
        for i in range(n):
            forms.maps[board, 1 + i] = search.bytes[side, 0, ROWS + i]
            forms.maps[board, 1 + n + i] = search.bytes[side, 0, i]
            label = search.bytes[side, 0, LABEL + i]
            forms.maps[board, 1 + 2 * n + i] = NONE if label == NEW else label
        return True

    def puzzles(boards, first, search, forms):
        for board in range(first, boards.shape[0]):
            if clash(boards, board, search.seen):
                forms.ties[board] = 0
                continue
            read(board, boards, search)
            if not find(search, forms, board):
                return board
        return boards.shape[0]

    return puzzles


@cache
def canonical_puzzles(box_rows: int, box_columns: int) -> Kernel:
    """The kernel of ``build_puzzles`` for a box shape."""
    layout = Layout(box_rows, box_columns)
    groups = Search.empty(layout, 0), Forms.empty(layout.n, 0)
    return Kernel(
        f"canonical.puzzles-{box_rows}x{box_columns}",
        (uint8[:, ::1], int64, *map(kind_of, groups)),
        lambda: build_puzzles(box_rows, box_columns, inlined),
        (canonical_puzzles, (box_rows, box_columns)),
        returns=int64,
        seconds=SECONDS,
        subject=f"canonical forms of {layout.n}x{layout.n} boards",
    )
