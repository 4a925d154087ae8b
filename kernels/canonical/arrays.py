"""Arrays that the kernels of canonical forms read and write, and the layouts of their words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_POSITION = 255
"""The position of an open column or stack."""

# The rows of ``Search.packed``.
TRIAL = 0
"""The entries of the row that is compared."""
LEAST = 1
"""The entries of the least row so far."""
BOXES = 2
"""The entries of one box per word: those of the compared row in open columns, by stack."""

COLUMN_MASK = 255
"""The lower bits of a clue: its column."""
DIGIT_SHIFT = 8
"""The upper bits of a clue: its digit, from 0."""


class Layout(NamedTuple):
    """The sizes of a board, and the layouts of packed rows and of states.

    The entries of a row are packed into words, the first entry in the highest bits, so that words
    compare as rows do. A word has the entries of whole boxes. For 3x3 boxes, it has 9 entries of 4
    bits::

        bit   35   31   27   23   19   15   11    7    3  0
              |  0 |  1 |  2 |  3 |  4 |  5 |  6 |  7 |  8 |
              |    box 0     |    box 1     |    box 2     |

    A state is a list of bytes. The fields whose names end in ``_at`` are the bytes where its parts
    begin. They are, with their values for 3x3 boxes::

        byte                      bytes
         0                          n      position of each column of the board, or NO_POSITION
         9   labels_at              n      label of each digit, or new_label
        18   stack_positions_at     stacks position of each stack, or NO_POSITION
        21   open_columns_at        stacks number of open columns of each stack
        24   open_stacks_at         1      number of open stacks
        25   band_at                1      band of the board that has the last row
        26   orientation_at         1      1 if the board is transposed
        27   rows_at                n      row of the board that is in each row of the form
        36                                 (unused, up to a multiple of 8)
        40                          8      used rows: bit r is set if row r of the board is used
    """

    box_rows: int
    box_columns: int
    n: int
    bands: int
    """n / box_rows, which is box_columns."""
    stacks: int
    """n / box_columns, which is box_rows."""
    orientations: int
    """2 if the board can be transposed, that is, if boxes are square; else 1."""
    new_label: int
    """The entry of a digit without a label: n + 1, above all labels."""
    entry_bits: int
    """Bits of an entry."""
    entries_per_word: int
    """Entries in a word; 0 if a box does not fit into a word."""
    row_words: int
    """Words of the entries of a row."""
    labels_at: int
    stack_positions_at: int
    open_columns_at: int
    open_stacks_at: int
    band_at: int
    orientation_at: int
    rows_at: int
    state_words: int
    """64-bit words of a state. The last one has the used rows."""

    @classmethod
    def of(cls, box_rows: int, box_columns: int) -> Layout:
        """Return the layout for boxes of ``box_rows`` x ``box_columns`` cells."""
        n = box_rows * box_columns
        stacks = box_rows

        entry_bits = (n + 1).bit_length()
        boxes_per_word = min(stacks, 64 // (entry_bits * box_columns))
        row_words = -(-stacks // boxes_per_word) if boxes_per_word else 0

        open_stacks_at = 2 * n + 2 * stacks
        rows_at = open_stacks_at + 3
        return cls(
            box_rows=box_rows,
            box_columns=box_columns,
            n=n,
            bands=box_columns,
            stacks=stacks,
            orientations=2 if box_rows == box_columns else 1,
            new_label=n + 1,
            entry_bits=entry_bits,
            entries_per_word=boxes_per_word * box_columns,
            row_words=row_words,
            labels_at=n,
            stack_positions_at=2 * n,
            open_columns_at=2 * n + stacks,
            open_stacks_at=open_stacks_at,
            band_at=open_stacks_at + 1,
            orientation_at=open_stacks_at + 2,
            rows_at=rows_at,
            state_words=-(-(rows_at + n) // 8) + 1,
        )


class Search(NamedTuple):
    """The memory of a search.

    The states of the current level and of the next one are in two buffers, which swap their roles
    at every level.
    """

    words: NDArray[np.uint64]
    """uint64 (2, max_states, state_words): the states in both buffers."""
    bytes: NDArray[np.uint8]
    """uint8 (2, max_states, 8 * state_words): the same memory."""
    ties: NDArray[np.int64]
    """int64 (max_states, 2): a state and the row of the board with which it has the least text."""
    clues: NDArray[np.int64]
    """int64 (2 n * n): the column and the digit of each clue, ``column | (digit - 1) << 8``. The
    clues of the board are listed row by row; those of the board transposed follow."""
    clue_starts: NDArray[np.int64]
    """int64 (2, n * stacks + 1): by orientation, where in ``clues`` the clues of each row in each
    stack begin: row r and stack s have number r * stacks + s."""
    filled_boxes: NDArray[np.int64]
    """int64 (2, n): by orientation, the number of boxes in which each row has clues."""
    max_filled_boxes: NDArray[np.int64]
    """int64 (1): the number of boxes of the least row so far, from its first box with entries to
    the last box."""
    row_positions: NDArray[np.int64]
    """int64 (n): the positions in the least row that are not empty, in ascending order."""
    packed: NDArray[np.uint64]
    """uint64 (3, n): packed entries; its rows are TRIAL, LEAST and BOXES."""
    unit_digits: NDArray[np.uint64]
    """uint64 (2, n): the digits of each column and box, as bits."""

    @classmethod
    def empty(cls, layout: Layout, max_states: int) -> Search:
        """Return memory for at most ``max_states`` states at a level."""
        n = layout.n
        words = np.zeros((2, max_states, layout.state_words), np.uint64)
        return cls(
            words=words,
            bytes=words.view(np.uint8),
            ties=np.zeros((max_states, 2), np.int64),
            clues=np.zeros(2 * n * n, np.int64),
            clue_starts=np.zeros((2, n * layout.stacks + 1), np.int64),
            filled_boxes=np.zeros((2, n), np.int64),
            max_filled_boxes=np.zeros(1, np.int64),
            row_positions=np.zeros(n, np.int64),
            packed=np.zeros((3, n), np.uint64),
            unit_digits=np.zeros((2, n), np.uint64),
        )


class Forms(NamedTuple):
    """Memory for the canonical forms of B boards, which the kernels write."""

    cells: NDArray[np.uint8]
    """uint8 (B, n * n): the forms."""
    ties: NDArray[np.int64]
    """int64 (B): the number of states that lead to each form. All of them represent equally many
    rearrangements. A board without a form has 0 if its clues contradict each other, and -1 if there
    were too many states."""
    maps: NDArray[np.uint8]
    """uint8 (B, 1 + 3 n): a rearrangement that leads to each form: 1 if the board is transposed,
    else 0; the row of the board that is in each row of the form; the position of each column; the
    label of each digit. NO_POSITION is the position of a column without clues, and the label of a
    digit without clues."""

    @classmethod
    def empty(cls, n: int, boards: int) -> Forms:
        """Return memory for some boards of n x n cells."""
        return cls(
            cells=np.zeros((boards, n * n), np.uint8),
            ties=np.zeros(boards, np.int64),
            maps=np.zeros((boards, 1 + 3 * n), np.uint8),
        )

    def part(self, start: int, end: int) -> Forms:
        """Return the memory of the boards from ``start`` to before ``end``."""
        return Forms(self.cells[start:end], self.ties[start:end], self.maps[start:end])

    def put(self, indices: NDArray[np.int64], forms: Forms) -> None:
        """Copy forms to the boards with the given indices, int64 (k)."""
        self.cells[indices] = forms.cells
        self.ties[indices] = forms.ties
        self.maps[indices] = forms.maps
