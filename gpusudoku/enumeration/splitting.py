"""Random samples of the solutions of a board: walks down the tree of its search, with splitting.

A walk gives cells random candidates until the board is solved or dead: see ``walks`` in
``kernels/search``. Its weight is the reciprocal of the probability of its guesses, or 0 if it ends
at a dead board. The mean of the weights is the number of solutions: a walk reaches a solution s
with a probability p(s), and p(s) * 1 / p(s) = 1 for each of them (Knuth: Estimating the efficiency
of backtrack programs, Mathematics of Computation 29, 1975). On a large board, the weights of walks
differ by many powers of ten, so a few walks decide the mean.

*Splitting* keeps the weights similar (Kahn and Harris 1951; the sequential Monte Carlo samplers of
Del Moral, Doucet and Jasra, J. R. Statist. Soc. B 68, 2006). A sample has many walks, which halt at
*levels*: when at most so many cells are open. There the walks are replaced by copies of themselves.
Walk i with the weight w_i gets k_i copies, and k_i is 0 for many of them. For any positive numbers
h_i, the mean of k_i is

    N v_i / (v_1 + ... + v_N)       where v_i = w_i h_i, and N is the number of walks

and the weight of each copy is (v_1 + ... + v_N) / (N h_i). So the total weight of the copies of a
walk is w_i on average, and the mean of all final weights is still the number of solutions, exactly.
The variance is smallest if h_i is proportional to the number of solutions below the board of walk
i. Boards with more candidates tend to have more: here h_i is 1.03 to the power of the number of
candidates.

``docs/estimates.md`` has the mathematics with more sources and measurements.
"""

from __future__ import annotations

from math import frexp, fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.enumeration.sampling import KEYS, random_words
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import SearchSettings, shape_of
from gpusudoku.search.frontier import Frontier

WALKS = 4096
"""The number of walks of a sample."""
MAX_WALKS_BYTES = 1 << 24
"""The largest size of the boards of all walks. Boards of more than 25x25 have fewer walks."""
LEVELS = 16
"""The least number of levels."""
LEVEL_CELLS = 100
"""The most cells from one level to the next. A weight changes by at most 64 for each of them, and
by CANDIDATE_FACTOR for each candidate, so that it is far from the limits of a float."""
CANDIDATE_FACTOR = 1.03
"""See h_i above. Fitted by hand; factors from 1.02 to 1.05 are about as good."""
MAX_POWER = 4096
"""The largest power of this factor."""
COUNTER_WORD = KEYS + 3
"""The last word of the counters of random words. Each use has another one."""


def walk_kernel(geometry: Geometry) -> Kernel:
    """Return the kernel of the walks on boards of a geometry."""
    return cpu.walk(shape_of(geometry.box_rows, geometry.box_columns), SearchSettings())


class Sample(NamedTuple):
    """The ends of all walks that found a solution."""

    mantissa: float
    exponent: int
    """The estimated number of solutions is ``mantissa * 2.0**exponent``; the mantissa is 0, or from
    0.5 to below 1."""
    boards: NDArray[Any]
    """(k, words): the solutions, packed; equal ones may occur."""
    weights: NDArray[np.float64]
    """float64 (k): their weights, relative to each other."""


class Splitting:
    """Draws samples of the solutions of a board. Several threads may use the object at once.

    Parameters
    ----------
    board
        The board. It must not be solved or dead when it is simplified.
    seed
        A seed from 0 to 2^128 - 1. A sample depends on the board, the seed and its number only.
    walks
        The number of walks of a sample; None for the usual number.
    """

    def __init__(self, board: Board, seed: int, walks: int | None = None) -> None:
        self._root = Frontier.of([board]).simplified(SearchSettings())
        self.shape = self._root.shape
        self.candidates = self._root.candidates[0]
        """uint64 (cells): the candidates masks of the simplified board."""
        self._seed = seed
        self._walk = walk_kernel(board.geometry)
        self.walks = walks or max(1, min(WALKS, MAX_WALKS_BYTES // self.shape.row_bytes))
        open_cells = int(np.count_nonzero(np.bitwise_count(self.candidates) > 1))
        levels = max(LEVELS, open_cells // LEVEL_CELLS)
        targets = {open_cells * level // levels for level in range(levels)}
        self._targets = sorted(targets, reverse=True)
        # Products, because the last bits of a power depend on the processor.
        self._powers = np.cumprod(np.full(MAX_POWER, CANDIDATE_FACTOR))

    def sample(self, number: int) -> Sample:
        """Draw the sample with a number from 0. Samples with different numbers are independent."""
        boards = np.repeat(self._root.boards, self.walks, axis=0)
        weights = np.ones(self.walks)
        rows = np.empty(self.shape.lanes, np.int64)
        odds = np.empty(self.shape.n)
        memory = self.shape.memory(self.shape.lanes)
        indices = np.arange(max(self.walks, len(self._targets)))
        attempts = np.full(len(indices), number)
        states, offsets, _, _ = random_words(self._seed, indices, attempts, COUNTER_WORD)
        mantissa = 1.0
        exponent = 0
        for level, target in enumerate(self._targets):
            check_cancelled()
            self._walk(boards, target, weights, states, rows, odds, memory)
            if target > 0:
                offset = float(offsets[level] >> np.uint64(11)) * 2.0**-53
                factor = self._replace(boards, weights, offset)
            else:
                factor = fsum(weights) / self.walks
            mantissa, change = frexp(mantissa * factor)
            exponent += change
        is_solved = weights > 0
        return Sample(mantissa, exponent, boards[is_solved], weights[is_solved])

    def _replace(self, boards: NDArray[Any], weights: NDArray[np.float64], offset: float) -> float:
        """Replace all walks by copies, in place; return the factor of all new weights.

        Copies are drawn with one random number, ``offset``, from 0 to below 1 (systematic
        resampling: Kitagawa, J. Comput. Graph. Statist. 5, 1996).
        """
        alive = np.flatnonzero(weights)
        if not len(alive):
            return 0.0
        sizes = np.bitwise_count(boards[:, : self.shape.planes]).sum(axis=1, dtype=np.int64)
        powers = self._powers[(sizes - sizes[alive].min()).clip(0, MAX_POWER - 1)]
        values = weights[alive] * powers[alive]
        mean = fsum(values) / self.walks
        ends = np.floor(np.cumsum(values) / mean + offset).astype(np.int64)
        ends[-1] = self.walks  # rounding errors may have changed it by 1
        copies = np.zeros(self.walks, np.int64)
        copies[alive] = np.diff(ends, prepend=0)
        # The first copy of a walk stays in its row, the others go to rows of walks without copies.
        sources = np.repeat(np.arange(self.walks), np.maximum(copies - 1, 0))
        targets = np.flatnonzero(copies == 0)
        boards[targets] = boards[sources]
        powers[targets] = powers[sources]
        weights[:] = 1.0 / powers
        return mean
