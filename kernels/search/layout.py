"""How a partial board is packed into 64-bit words.

For every digit there is a *plane*: one bit per cell, set while the digit is still possible there.
A word holds K whole rows of a plane, the first row in its lowest bits; K is as many as fit, and
a multiple of the rows of a box where a band fits. A 9x9 plane (K = 6) takes two words:

    bit   53                      27 26                       0
    word 0:  row 5 | row 4 | row 3  |  row 2 | row 1 | row 0        (9 bits a row,
    word 1:                            row 8 | row 7 | row 6         column 0 lowest)

A board is one row of ``words`` words:

    planes   n * W words   word d * W + w is word w of digit d + 1's plane
    fixed    W words       cells whose digit stands and has been taken from its peers
    pending  1 word        digits whose plane changed since hidden singles were looked for

A fixed cell keeps its bit in the plane of its digit, so a cell without a bit in any plane is a
contradiction. An *index* is the position of a cell in a plane: 64 * word + bit.

Every thread has a scratch row too: the cells found to have one and two candidates (W words each),
then n + C words that the techniques use as they like.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ones


@dataclass(frozen=True)
class Layout:
    """The packing of boards with boxes of ``box_rows`` x ``box_columns``, at most 64 digits."""

    box_rows: int
    box_columns: int

    @property
    def n(self) -> int:
        """Number of digits."""
        return self.box_rows * self.box_columns

    @property
    def rows_per_word(self) -> int:
        """K: rows of a plane in one word."""
        bands = 64 // (self.n * self.box_rows)
        return min(self.n, self.box_rows * bands if bands else 64 // self.n)

    @property
    def plane_words(self) -> int:
        """W: words of a plane."""
        return -(-self.n // self.rows_per_word)

    @property
    def fixed(self) -> int:
        """Index of the first word of the fixed cells."""
        return self.n * self.plane_words

    @property
    def pending(self) -> int:
        """Index of the word of pending digits."""
        return self.fixed + self.plane_words

    @property
    def words(self) -> int:
        """Words of a board."""
        return self.pending + 1

    @property
    def scratch_words(self) -> int:
        """Words of a thread's scratch row."""
        return 2 * self.plane_words + self.n + self.box_columns

    @property
    def whole_word(self) -> np.uint64:
        """The bits of a word of a plane that stand for cells, in all words but the last."""
        return ones(self.rows_per_word * self.n)

    @property
    def last_word(self) -> np.uint64:
        """The bits of a plane's last word that stand for cells."""
        rows = self.n - (self.plane_words - 1) * self.rows_per_word
        return ones(rows * self.n)

    @cached_property
    def index_of(self) -> NDArray[np.int64]:
        """int64 (n * n): the index of every cell."""
        row, column = np.divmod(np.arange(self.n * self.n), self.n)
        word, row_in_word = np.divmod(row, self.rows_per_word)
        indices: NDArray[np.int64] = 64 * word + row_in_word * self.n + column
        return indices

    @cached_property
    def nonpeers(self) -> NDArray[np.uint64]:
        """uint64 (64 W, W): per index, the plane without the peers of that cell.

        A digit's plane and this mask is what is left of the plane once the digit stands there.
        """
        n, rows, columns = self.n, self.box_rows, self.box_columns
        row, column = np.divmod(np.arange(n * n), n)
        unit_of = np.stack([row, n + column, 2 * n + row // rows * rows + column // columns])
        word, bit = np.divmod(self.index_of, 64)
        cell_bit = ONE << bit.astype(np.uint64)
        units = np.zeros((3 * n, self.plane_words), np.uint64)
        for kind in range(3):
            np.bitwise_or.at(units, (unit_of[kind], word), cell_bit)
        plane = units[:n].sum(axis=0, dtype=np.uint64)
        table = np.zeros((64 * self.plane_words, self.plane_words), np.uint64)
        peers = units[unit_of[0]] | units[unit_of[1]] | units[unit_of[2]]
        table[self.index_of] = plane & ~peers
        table[self.index_of, word] |= cell_bit
        return table

    def planes_of(self, candidates: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The planes of boards whose cells may take some digits only.

        Parameters
        ----------
        candidates
            uint64 (B, n * n): per cell the mask of digits, bit d for digit d + 1.

        Returns
        -------
        uint64 (B, n * W)
        """
        word, bit = np.divmod(self.index_of, 64)
        planes = np.zeros((len(candidates), self.n * self.plane_words), np.uint64)
        for d in range(self.n):
            bits = (candidates >> np.uint64(d) & ONE) << bit.astype(np.uint64)
            for w in range(self.plane_words):
                column = d * self.plane_words + w
                planes[:, column] = np.bitwise_or.reduce(bits[:, word == w], axis=1)
        return planes


@cache
def layout_of(box_rows: int, box_columns: int) -> Layout:
    """The layout of a geometry, made once: its tables take longer to make than an easy search."""
    return Layout(box_rows, box_columns)
