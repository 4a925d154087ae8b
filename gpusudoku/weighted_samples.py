"""Random solutions with weights, for boards that are too expensive to sample uniformly.

Draw i is made from sample i of ``enumeration.splitting``: one of its final walks is chosen, with a
probability proportional to its weight. Its solution gets the value of the sample as its weight. Let
w_1, ..., w_k be the weights of the final walks, scaled so that they add up to this value. For any
function g of solutions s_1, ..., s_k, the mean of the weight times g is, for given walks,

    (w_1 + ... + w_k) * (w_1 g(s_1) + ... + w_k g(s_k)) / (w_1 + ... + w_k)

and the mean of this, w_1 g(s_1) + ... + w_k g(s_k), is the sum of g over all solutions. A sample
without a solution remains a draw, with the weight 0. If it were replaced by another one, the mean
weight would exceed the number of solutions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from math import ldexp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.sampling import random_words
from gpusudoku.enumeration.solutions import Solutions
from gpusudoku.enumeration.splitting import COUNTER_WORD, Splitting
from gpusudoku.errors import InputError, described
from gpusudoku.estimating import exact_count
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, interruptible
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.options import MAX_NUMBER, Options, checked_seed, is_integer

WALKS = 128
"""The number of walks for a draw. With fewer walks a draw takes less time, but weights differ more.
Empty boards of 9x9 to 25x25 cells have the largest effective sample size per second with 16 walks,
up to three times that of 128; boards with a quarter of the clues have it with 256, up to twice."""
MAX_DIGITS = 25
"""The largest boards. For these, ``unit_exponent`` keeps weights and their squares in a float."""


class WeightedSolutions(NamedTuple):
    """Random solutions with weights; see ``weighted_solutions``."""

    grids: NDArray[np.uint8]
    """uint8 (n, cells): a solution per row; only zeros in a row with the weight 0."""
    weights: NDArray[np.float64]
    """float64 (n): their mean times ``2**exponent`` estimates the number of solutions."""
    exponent: int
    """The unit of the weights is ``2**exponent``. It depends on the board only, and is 0 for boards
    of up to 16x16 cells."""


def unit_exponent(board: Board) -> int:
    """Return the exponent of the unit. Boards have up to about sqrt(search space) solutions.

    Raises
    ------
    InputError
        If the board has more than MAX_DIGITS digits.
    """
    if board.n > MAX_DIGITS:
        raise InputError(f"weighted draws are for boards of up to {MAX_DIGITS}x{MAX_DIGITS} cells")
    return max(0, board.search_space.bit_length() // 2 - 512)


def weighted_blocks(
    board: Board, draws: range, seed: int, engine: Engine
) -> Iterator[WeightedSolutions]:
    """Yield the draws with these consecutive numbers in blocks; see ``weighted_solutions``."""
    exponent = unit_exponent(board)
    count = exact_count(board, engine.threads)
    if count is not None:
        weight = ldexp(count, -exponent)
        solutions = Solutions(board, engine=engine)
        for grids in solutions.sample_blocks(draws.stop, seed, first=draws.start):
            yield WeightedSolutions(grids, np.full(len(grids), weight), exponent)
        return
    splitting = Splitting(board, seed, WALKS)

    def draw(number: int) -> WeightedSolutions:
        sample = splitting.sample(number)
        if not len(sample.boards):
            return WeightedSolutions(np.zeros((1, board.n**2), np.uint8), np.zeros(1), exponent)
        # Splitting uses the other words of this counter.
        words = random_words(seed, np.zeros(1, np.int64), np.array([number]), COUNTER_WORD)
        fraction = float(words[2][0] >> np.uint64(11)) * 2.0**-53
        sums = np.cumsum(sample.weights)
        # Below the last sum, whatever the rounding errors.
        index = np.searchsorted(sums[:-1], fraction * sums[-1], side="right")
        masks = splitting.shape.candidates_of(sample.boards[index : index + 1])
        weight = ldexp(sample.mantissa, sample.exponent - exponent)
        return WeightedSolutions(single_digits(masks), np.array([weight]), exponent)

    with closing(ordered_map(draws, draw, engine.threads)) as items:
        for item in items:
            assert item.result is not None
            yield item.result


def weighted_solutions(
    board: BoardLike,
    n: int,
    seed: int | None = None,
    *,
    box: Geometry | str | None = None,
    jobs: int | None = None,
    cancel: CancelToken | None = None,
) -> WeightedSolutions:
    """Draw random solutions with weights, for boards that are too expensive to sample uniformly.

    The draws are independent, but some solutions are more likely than others. The weights correct
    this: ``numpy.average(values, weights=weights)`` estimates the mean of a value over all
    solutions, and ``numpy.mean(weights * values)`` the sum, in units of ``2**exponent``. A draw
    that finds no solution has the weight 0, and only zeros as its grid. If a short search
    finds all solutions, the draws are uniform, and all weights are the number of solutions.

    Parameters
    ----------
    board, box, jobs, cancel
        As for ``count``. The board has up to 25x25 cells.
    n
        The number of draws.
    seed
        An integer from 0 to below 2^128; by default a new random one. Draw i depends only on the
        board, the seed and i.

    Raises
    ------
    InputError
        If the board is too large or is known to have no solution, or a parameter is wrong.
    Interrupted, Cancelled
        After Ctrl-C, or when ``cancel`` is cancelled.
    """
    if not is_integer(n) or not 0 <= n <= MAX_NUMBER:
        raise InputError(f"a sample of {described(n)}: expected an integer from 0 to {MAX_NUMBER}")
    converted_board = board_of(board, box)
    engine = CpuEngine(Options(jobs=jobs).jobs)
    empty_grids = np.empty((0, converted_board.n**2), np.uint8)
    blocks = [WeightedSolutions(empty_grids, np.empty(0), unit_exponent(converted_board))]
    with interruptible(cancel):
        blocks += weighted_blocks(converted_board, range(n), checked_seed(seed), engine)
    grids, weights, exponents = zip(*blocks, strict=True)
    return WeightedSolutions(np.concatenate(grids), np.concatenate(weights), exponents[0])
