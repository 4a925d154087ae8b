"""Random full grids of any geometry, each determined by a seed, its number and an attempt.

For some shapes, a solution of the empty board can be found quickly by its rank (``enumeration``): a
random rank gives a random grid. Other shapes have far too many solutions: their grids are the ends
of random walks from a fixed grid (``kernels/shuffling.py``).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.enumeration.sampling import KEYS, Ints, Uniform, Words, random_words
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.shuffling import shuffle, shuffle_latin
from gpusudoku.options import Options, checked_seed

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
"""The number of grids by rows and columns of boxes, for shapes whose grids are found by rank."""
RANKED_GRIDS = 1 << 14
"""Grids that are found by rank in one call, for which an interrupt waits."""
STEPS, LATIN_STEPS = 100, 10
"""Steps of a walk per digit of the board, the second for Latin squares. After 30 and 3, counts of
small cycles and of equal triples no longer changed, and had the means and variances of exact
samples, where these are known."""
CALL_STEPS = 1 << 17
"""Steps of one call of a kernel, for which an interrupt waits: about ten milliseconds. A step in a
Latin square counts as many as there are digits."""
WALKS = KEYS + 1
"""The last word of the random generator's counters for walks. Each use has another one, so that
their random bits differ."""


class Grids:
    """Random full grids of one geometry.

    *The distribution.* If ``uniform``, all grids of the geometry have exactly the same probability.
    That is so for boxes of 2x2, 2x3, 3x2, 2x4, 4x2 and 3x3, and for Latin squares (boxes of one row
    or column) of up to five digits. For 9x9 boards, the grids of attempt 0 are the ``sample`` of
    the solutions of the empty board with the same seed.

    Otherwise a grid is the end of a random walk that starts at a fixed grid. Its lines, bands,
    stacks and digits are then permuted at random, and boards with square boxes are transposed with
    probability 1/2. So all grids that differ only by these symmetries have exactly the same
    probability. A step of the walk and its reverse have equal probabilities, so the probabilities
    of all grids that it can reach approach each other as the walk gets longer. Two biases remain,
    and neither is known exactly: a walk has a fixed length, and it may be unable to reach some
    grids. It can reach all Latin squares. Where exact samples are known, walks were compared with
    them: for boxes of 2x2, 2x3 and 3x2 all grids appeared equally often, and for boxes of 3x3 means
    and variances were the same, within the accuracy of 60,000 grids.

    Parameters
    ----------
    geometry
        The shape of the grids.
    seed
        An integer from 0 to below 2^128.

    Raises
    ------
    InputError
        If the seed is out of range.
    """

    def __init__(self, geometry: Geometry, seed: int) -> None:
        self.geometry = geometry
        self.seed = checked_seed(seed)
        shape = geometry.box_rows, geometry.box_columns
        self.uniform = shape in COUNTED
        """True if all grids have exactly the same probability."""
        if self.uniform:
            self._solutions = _all_grids(geometry)
            self._ranks = Uniform(self.seed, self._solutions.count)
            self._call_grids = RANKED_GRIDS
        else:
            self._is_latin = 1 in shape
            n = geometry.n
            self._steps = n * (LATIN_STEPS if self._is_latin else STEPS)
            step_cost = n if self._is_latin else 1
            self._call_grids = max(1, CALL_STEPS // (self._steps * step_cost))
            self._start = _pattern(geometry)
            load_kernels([shuffle_latin if self._is_latin else shuffle])

    def at(self, numbers: Ints, attempts: Ints) -> NDArray[np.uint8]:
        """Return the grids with the given numbers and attempts.

        Each grid depends only on the geometry, the seed, its number and its attempt. Several
        threads may call this at the same time. Each call uses one core.

        Parameters
        ----------
        numbers, attempts
            int64 (k), from 0 on, in any order.

        Returns
        -------
        The grids, uint8 (k, cells), with digits from 1 on.

        Raises
        ------
        Cancelled
            Within about a tenth of a second after a token of the thread is cancelled.
        """
        grids = np.empty((len(numbers), self.geometry.cells), np.uint8)
        for start in range(0, len(grids), self._call_grids):
            check_cancelled()
            chunk = slice(start, start + self._call_grids)
            chunk_numbers = numbers[chunk]
            chunk_attempts = attempts[chunk]
            if self.uniform:
                grids[chunk] = self._solutions.at(self._ranks.at(chunk_numbers, chunk_attempts))
            else:
                words = random_words(self.seed, chunk_numbers, chunk_attempts, WALKS)
                self._walk(np.stack(words, axis=1), grids[chunk])
        return grids

    def _walk(self, states: Words, grids: NDArray[np.uint8]) -> None:
        """Write the grid of each state of the random generator, uint64 (k, 4)."""
        geometry = self.geometry
        n = self.geometry.n
        shape = geometry.box_rows, geometry.box_columns
        # Kernels allocate nothing: all other arrays are their memory.
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
    """Return all grids by their ranks. For 9x9 boards this takes a fifth of a second."""
    count = COUNTED[geometry.box_rows, geometry.box_columns]
    options = Options(device="cpu")
    return SolutionSet(Board.empty(geometry), options, CpuEngine(1), count).contraction_order


def _pattern(geometry: Geometry) -> Ints:
    """Make the full grid, digits from 0 on, in which each row is the first one shifted.

    The rows of a band are shifted by the width of a box, so that their boxes have different digits.
    Bands are shifted by one more, so that columns do.
    """
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)
    row_of_band = row % geometry.box_rows
    band = row // geometry.box_rows
    shift = geometry.box_columns * row_of_band + band
    pattern: Ints = (shift + column) % geometry.n
    return pattern
