"""Random full grids of any geometry, each a function of a seed, its number and an attempt alone.

Where the solutions of the empty board can be counted, and found by number, soon, a grid is the one
that a random number leads to (``enumeration``). The other shapes have far too many: their grids are
reached by a random walk from a fixed grid (``kernels/shuffling.py``).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.enumeration.sampling import KEYS, Ints, Uniform, Words, checked_seed, random_words
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.shuffling import shuffle, shuffle_latin
from gpusudoku.options import Options

LATIN_SQUARES = [1, 2, 12, 576, 161_280]
"""The numbers of Latin squares of one to five digits."""
COUNTED = {
    **{(1, digits): count for digits, count in enumerate(LATIN_SQUARES, 1)},
    **{(digits, 1): count for digits, count in enumerate(LATIN_SQUARES, 1)},
    (2, 2): 288,
    (2, 3): 28_200_960,
    (3, 2): 28_200_960,
    (2, 4): 29_136_487_207_403_520,
    (4, 2): 29_136_487_207_403_520,
    (3, 3): 6_670_903_752_021_072_936_960,
}
"""The number of grids, by rows and columns of the boxes, where grids are drawn by number."""
DRAWN = 1 << 14
"""Numbers that are looked up at a time, as an interrupt waits for them."""
STEPS, LATIN_STEPS = 100, 10
"""Steps of a walk for each digit. Counts of small cycles and of equal triples had the means and
variances of exact samples, where there are any, after 30 and 3, and did not change any more."""
PIECE_STEPS = 1 << 17
"""Steps that are walked at a time, as an interrupt waits for them: about ten milliseconds. One of a
Latin square counts as many as there are digits."""
WALKS = KEYS + 1
"""The last word of the counters from which the random bits of walks come."""


class Grids:
    """Random full grids of one geometry.

    *What random means.* If ``uniform``, all grids of the geometry have exactly the same chance:
    boxes of 2x2, 2x3, 3x2, 2x4, 4x2 and 3x3, and Latin squares (boxes of one row, or column) of up
    to five digits. For 9x9 boards the grids of attempt 0 are the ``sample`` of the solutions of the
    empty board, with the same seed.

    Otherwise a grid is where a random walk ends that begins at a fixed grid; then lines, bands,
    stacks and digits are permuted at random, and boards with square boxes are transposed half the
    time. So all grids that differ only by these symmetries have exactly the same chance. Between
    others the walk goes to and fro with equal chances, so the chances of all grids that it can
    reach approach each other with its length. Two biases are left, and neither is known exactly: a
    walk has a fixed length, and there may be grids that it cannot reach. It reaches all Latin
    squares. Where the exact sample is known, walks were compared with it: with boxes of 2x2, 2x3
    and 3x2 all grids came, equally often, and with boxes of 3x3 the means and variances were the
    same, within what 60,000 grids show.

    Parameters
    ----------
    geometry
        The shape of the grids, any.
    seed
        From 0 to below 2^128.

    Raises
    ------
    InputError
        If the seed is out of range.
    """

    def __init__(self, geometry: Geometry, seed: int) -> None:
        self.geometry, self.seed = geometry, checked_seed(seed)
        shape = geometry.box_rows, geometry.box_columns
        self.uniform = shape in COUNTED
        """True if all grids have exactly the same chance."""
        if self.uniform:
            self._solutions = _all_grids(geometry)
            self._numbers = Uniform(self.seed, self._solutions.count)
            self._size = DRAWN
        else:
            self._is_latin = 1 in shape
            n = geometry.n
            self._steps = n * (LATIN_STEPS if self._is_latin else STEPS)
            self._size = max(1, PIECE_STEPS // (self._steps * (n if self._is_latin else 1)))
            self._start = _pattern(geometry)
            ready([shuffle_latin if self._is_latin else shuffle])

    def at(self, numbers: Ints, attempts: Ints) -> NDArray[np.uint8]:
        """Return the grids with some numbers and attempts, in any order.

        Each depends on the geometry, the seed, its number and its attempt alone. Several threads
        may call this at once; each call keeps one core busy. Raises Cancelled within about a tenth
        of a second after a token of the thread is cancelled.

        Parameters
        ----------
        numbers, attempts
            int64 (k), from 0 on.

        Returns
        -------
        uint8 (k, cells), digits from 1 on.
        """
        grids = np.empty((len(numbers), self.geometry.cells), np.uint8)
        for start in range(0, len(grids), self._size):
            check_cancelled()
            piece = slice(start, start + self._size)
            some = numbers[piece]
            tries = attempts[piece]
            if self.uniform:
                grids[piece] = self._solutions.at(self._numbers.at(some, tries))
            else:
                words = random_words(self.seed, some, tries, WALKS)
                self._walk(np.stack(words, axis=1), grids[piece])
        return grids

    def _walk(self, states: Words, grids: NDArray[np.uint8]) -> None:
        """Write the grid of each state, uint64 (k, 4)."""
        geometry = self.geometry
        n = self.geometry.n
        shape = geometry.box_rows, geometry.box_columns
        grid = np.empty(n * n, np.int64)
        orders = np.empty((3, n), np.int64)
        if self._is_latin:
            cube = np.empty((n, n, n), np.int8)
            shuffle_latin(*shape, self._steps, self._start, states, cube, grid, orders, grids)
        else:
            places = np.empty((3 * n, n), np.int64)
            marks = np.empty(n * n, np.int64)
            shuffle(
                *shape, self._steps, self._start, geometry.unit_of, states,
                grid, places, marks, np.empty(n, np.int64), orders, grids,
            )  # fmt: skip


@cache
def _all_grids(geometry: Geometry) -> SolutionIndex:
    """Number all grids: a fifth of a second for 9x9, so that they are kept for the next call."""
    count = COUNTED[geometry.box_rows, geometry.box_columns]
    options = Options(device="cpu")
    return SolutionSet(Board.empty(geometry), options, CpuEngine(1), count).contraction_order


def _pattern(geometry: Geometry) -> Ints:
    """Make the full grid, digits from 0 on, each of whose rows is the first one shifted."""
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)
    place = row % geometry.box_rows
    band = row // geometry.box_rows
    pattern: Ints = (geometry.box_columns * place + band + column) % geometry.n
    return pattern
