"""Random solutions with weights, for boards that are too expensive to sample uniformly.

Draw i is made from sample i of ``enumeration.splitting``: one of its final walks is chosen, with a
probability proportional to its weight. The solution of this walk gets the value of the sample as
its weight. Let w_1, ..., w_k be the weights of the final walks, scaled so that they add up to the
value. For any function g of solutions s_1, ..., s_k, the mean of the weight times g is then

    (w_1 + ... + w_k) * (w_1 g(s_1) + ... + w_k g(s_k)) / (w_1 + ... + w_k)

for given walks, which is w_1 g(s_1) + ... + w_k g(s_k). The mean of this is the sum of g over all
solutions, as for g = 1. A sample without a solution has the value 0 and must stay in the mean, with
the weight 0. If it were replaced by the next sample with a solution, estimates of numbers of
solutions would be too large. Ratios, such as weighted means, do not depend on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from math import ldexp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.sampling import checked_size, random_words
from gpusudoku.enumeration.solutions import Solutions
from gpusudoku.enumeration.splitting import COUNTER_WORD, Splitting
from gpusudoku.estimating import exact_count
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, interruptible
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.jobs.watch import Progress, current_watch, reporting
from gpusudoku.options import Options, checked_seed

WALKS = 128
"""The number of walks for a draw. With fewer walks a draw takes less time, but weights differ more.
Empty boards of 9x9 to 25x25 cells have the largest effective sample size per second with 16 walks,
up to three times that of 128; boards with a quarter of the clues have it with 256, up to twice."""
MAX_EXPONENT = 400
"""Weights above about 2^400 get a unit. Their squares, and sums of these, then fit in a float."""
REFERENCE_SAMPLES = 16
"""Samples that are drawn for the unit, until one has a solution."""


class WeightedSolutions(NamedTuple):
    """Random solutions with weights; see ``weighted_solutions``."""

    grids: NDArray[np.uint8]
    """uint8 (n, cells): a solution per row; only zeros in a row with the weight 0."""
    weights: NDArray[np.float64]
    """float64 (n): their mean times ``2**exponent`` estimates the number of solutions."""
    exponent: int
    """The unit of the weights is ``2**exponent``. It depends on the board only. It is 0 for boards
    of up to about 1e120 solutions."""

    @property
    def effective_size(self) -> float:
        """The effective sample size: so many uniform draws would be about as accurate."""
        squares = float((self.weights**2).sum())
        return float(self.weights.sum()) ** 2 / squares if squares else 0.0


class WeightedDraws:
    """The weighted draws of a board: draw i depends on the board, the seed and i only.

    If a search visits the whole tree quickly, draws are uniform: those of ``Solutions.sample``.
    """

    def __init__(self, board: Board, seed: int | None, engine: Engine) -> None:
        self._board = board
        self._seed = checked_seed(seed)
        self._engine = engine
        self.count = exact_count(board)
        """The number of solutions if the draws are uniform, else None."""
        self.exponent = 0
        """The exponent of the unit of all weights."""
        if self.count is None:
            self._splitting = Splitting(board, self._seed, WALKS)
            self.exponent = self._unit_exponent()

    def _unit_exponent(self) -> int:
        """Return the exponent of the unit. A fixed seed makes it the same for all seeds."""
        reference = Splitting(self._board, 0, WALKS)
        for number in range(REFERENCE_SAMPLES):
            sample = reference.sample(number)
            if sample.mantissa:
                return sample.exponent if sample.exponent > MAX_EXPONENT else 0
        return 0

    def blocks(self, draws: range) -> Iterator[WeightedSolutions]:
        """Yield the draws with these consecutive numbers in blocks, in constant memory.

        Raises
        ------
        InputError
            If the board is known to have no solution.
        """
        if self.count is not None:
            solutions = Solutions(self._board, engine=self._engine)
            for grids in solutions.sample_blocks(draws.stop, self._seed, first=draws.start):
                yield WeightedSolutions(grids, np.full(len(grids), float(self.count)), 0)
            return
        with closing(ordered_map(draws, self._draw, self._engine.threads)) as items:
            for item in items:
                assert item.result is not None
                yield item.result

    def _draw(self, number: int) -> WeightedSolutions:
        """Make a draw."""
        sample = self._splitting.sample(number)
        if not len(sample.boards):
            grids = np.zeros((1, self._board.geometry.cells), np.uint8)
            return WeightedSolutions(grids, np.zeros(1), self.exponent)
        # Splitting uses the other words of this counter.
        words = random_words(self._seed, np.zeros(1, np.int64), np.array([number]), COUNTER_WORD)
        fraction = float(words[2][0] >> np.uint64(11)) * 2.0**-53
        sums = np.cumsum(sample.weights)
        index = min(np.searchsorted(sums, fraction * sums[-1], side="right"), len(sums) - 1)
        masks = self._splitting.shape.candidates_of(sample.boards[index : index + 1])
        weight = ldexp(sample.mantissa, sample.exponent - self.exponent)
        return WeightedSolutions(single_digits(masks), np.array([weight]), self.exponent)


def weighted_solutions(
    board: BoardLike,
    n: int,
    seed: int | None = None,
    *,
    box: Geometry | str | None = None,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> WeightedSolutions:
    """Draw random solutions with weights, for boards that are too expensive to sample uniformly.

    The draws are independent, but some solutions are more likely than others. The weights correct
    this: ``numpy.average(values, weights=weights)`` estimates the mean of a value over all
    solutions, and ``numpy.mean(weights * values)`` the sum, in units of ``2**exponent``. A draw
    that finds no solution has the weight 0, and only zeros as its grid. If a search visits the
    whole tree quickly, the draws are uniform, and all weights are the number of solutions.

    Parameters
    ----------
    board, box
        As for ``count``.
    n
        The number of draws.
    seed
        An integer from 0 to below 2^128; by default a new random one. Draw i depends only on the
        board, the seed and i.
    jobs
        The number of CPU threads; None for all usable cores.
    progress, cancel
        As for ``count``; ``count`` of the progress is the number of draws.

    Raises
    ------
    InputError
        If ``board`` is not a board or is known to have no solution, or a parameter has the wrong
        type or is out of range.
    Interrupted, Cancelled
        After Ctrl-C, or when ``cancel`` is cancelled.
    """
    n = checked_size(n)
    converted_board = board_of(board, box)
    engine = CpuEngine(Options(jobs=jobs).jobs)
    start = time.monotonic()
    grids = [np.empty((0, converted_board.geometry.cells), np.uint8)]
    weights = [np.empty(0)]
    size = 0
    with interruptible(cancel), reporting(progress):
        draws = WeightedDraws(converted_board, seed, engine)
        for block in draws.blocks(range(n)):
            grids.append(block.grids)
            weights.append(block.weights)
            size += len(block.weights)
            current_watch().progress(Progress(size / n, size, time.monotonic() - start))
    return WeightedSolutions(np.concatenate(grids), np.concatenate(weights), draws.exponent)
