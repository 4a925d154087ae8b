"""Estimates of the number of solutions, for boards that are too expensive to count.

An estimate is the mean of independent samples, see ``enumeration.splitting``. Its expected value is
exactly the number of solutions. The confidence interval comes from the standard deviation of the
samples, by Student's t-distribution. It is computed for the logarithm of the mean (the delta
method), because the distribution of the mean is skewed to the right, and so its ends are positive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, MutableSequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from math import ceil, exp, frexp, fsum, inf, ldexp, log10, sqrt
from statistics import NormalDist
from typing import Any, TypeVar

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.splitting import Sample, Splitting
from gpusudoku.errors import TooExpensive
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, interruptible
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.jobs.watch import Progress, current_watch, reporting
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import MIN_SAMPLES, EstimateOptions, Options, checked_seed
from gpusudoku.search.frontier import Frontier, estimate_search

GROWTH = 1.25
"""The relative error is compared with the wanted one only at numbers of samples that grow by this
factor. Many comparisons would stop preferably when the error happens to be estimated too low."""
EXACT_EFFORT = 16
"""The effort of the estimate that finds trees so small that they can be visited as a whole."""
LARGEST_FLOAT_EXPONENT = 1000
"""Larger numbers are integers, because a float ends at 2^1024."""
SIGNIFICANT_DIGITS = 6
"""Digits of an estimate and of the ends of its interval as JSON."""

Measurement = TypeVar("Measurement")
Estimate = TypeVar("Estimate")
ScaledNumber = tuple[float, int]
"""A mantissa and an exponent of 2. Numbers of solutions may exceed the largest float."""


@dataclass(frozen=True, repr=False)
class CountEstimate:
    """An estimate of the number of solutions of a board, with a confidence interval.

    ``str`` shows it as ``~5.96e98 (95 %: 5.90e98 to 6.02e98)``.
    """

    board: Board
    estimate: float
    """The estimated number of solutions; an integer from 2^1000 on."""
    low: float
    """The lower end of the confidence interval."""
    high: float
    """The upper end of the confidence interval."""
    relative_error: float
    """The logarithm of ``high / estimate``: nearly half the relative width of the interval."""
    confidence: float
    """The probability with which such an interval contains the number of solutions."""
    samples: int
    """The number of independent samples; 0 if the whole tree of the search was visited. Then the
    estimate is the number of solutions, and all errors are 0."""
    seed: int
    """The seed. The board, the seed and the number of samples determine the estimate."""
    is_reliable: bool = True
    """False if the standard deviation of the samples exceeds their mean. Then the interval may miss
    the number of solutions more often than ``confidence`` allows."""

    def __str__(self) -> str:
        if self.samples == 0:
            return f"{self.estimate:.0f} (exact)"
        estimate, low, high = short_numbers(self)
        return f"~{estimate} ({100 * self.confidence:.6g} %: {low} to {high})"

    def __repr__(self) -> str:
        return f"<CountEstimate: {self} solutions of {self.board.describe()}>"

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types."""
        return {
            "board": str(self.board),
            "box": str(self.board.geometry),
            "estimate": rounded(self.estimate),
            "low": rounded(self.low),
            "high": rounded(self.high),
            "confidence": self.confidence,
            "samples": self.samples,
            "seed": str(self.seed),
            "is_reliable": self.is_reliable,
        }


def estimate(
    board: BoardLike,
    *,
    seconds: float | None = None,
    relative_error: float | None = None,
    samples: int | None = None,
    seed: int | None = 0,
    confidence: float = 0.95,
    box: Geometry | str | None = None,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> CountEstimate:
    """Estimate the number of solutions of a board of any shape.

    The estimate is unbiased. It ends at the first of the limits that you give, but not before
    16 samples. By default it ends at a relative error of 0.01 or after 60 seconds. If a search
    visits the whole tree quickly, the estimate is exact, and has no samples.

    >>> import gpusudoku
    >>> print(gpusudoku.estimate("." * 256, samples=16))  # doctest: +SKIP
    ~5.98e98 (95 %: 5.87e98 to 6.09e98)

    Parameters
    ----------
    board, box
        As for ``count``.
    seconds
        The time limit. With a time limit alone, the number of samples depends on the machine.
    relative_error
        Half the width of the confidence interval, relative to the estimate, such as 0.01.
    samples
        The number of samples, 16 or more. The same board, seed and number of samples always have
        the same estimate, whatever the number of threads.
    seed
        The seed of the random numbers, from 0 to 2^128 - 1; None for a random one.
    confidence
        The probability with which the interval contains the number of solutions.
    jobs
        The number of CPU threads; None for all usable cores.
    progress, cancel
        As for ``count``; ``count`` of the progress is the number of samples.

    Raises
    ------
    InputError
        If ``board`` is not a board, or a parameter has the wrong type or is out of range.
    TooExpensive
        If no walk of any sample found a solution.
    Interrupted, Cancelled
        After Ctrl-C, or when ``cancel`` is cancelled.
    """
    converted_board = board_of(board, box)
    options = EstimateOptions(seconds, relative_error, samples, checked_seed(seed), confidence)
    engine = CpuEngine(Options(jobs=jobs).jobs)
    with interruptible(cancel), reporting(progress):
        *_, result = estimates(converted_board, options.with_defaults(), engine.threads)
    return result


def estimates(
    board: Board,
    options: EstimateOptions,
    threads: int,
    values: MutableSequence[ScaledNumber] | None = None,
    walks: int | None = None,
) -> Generator[CountEstimate, None, None]:
    """Yield estimates from more and more samples, up to the limits; the last one is the result.

    Parameters
    ----------
    values
        The samples of an earlier call with the same board, seed and ``walks``, which are not drawn
        again. New ones are appended.
    walks
        As for ``Splitting``.

    Raises
    ------
    TooExpensive
        If no walk of any sample found a solution.
    """
    values = [] if values is None else values
    number = exact_count(board)
    if number is not None:
        yield CountEstimate(board, number, number, number, 0.0, options.confidence, 0, options.seed)
        return

    def add(value: ScaledNumber) -> tuple[CountEstimate, float] | None:
        values.append(value)
        if len(values) < MIN_SAMPLES or not any(mantissa for mantissa, _ in values):
            return None
        result = summarise(board, values, options)
        return result, result.relative_error

    splitting = Splitting(board, options.seed, walks)
    yield from sampled(splitting, options, threads, lambda sample: sample[:2], add, len(values))


def sampled(
    splitting: Splitting,
    options: EstimateOptions,
    threads: int,
    measure: Callable[[Sample], Measurement],
    add: Callable[[Measurement], tuple[Estimate, float] | None],
    size: int = 0,
) -> Generator[Estimate, None, None]:
    """Draw samples up to the limits; yield an estimate after each of them, once there is one.

    Any thread calls ``measure`` with a sample. ``add`` takes the measurements in the order of the
    samples. It returns the estimate from all of them and its error, or None if they are too few.
    ``size`` is the number of earlier samples, which are not drawn again.

    Raises
    ------
    TooExpensive
        If no walk of any sample found a solution.
    """
    start = time.monotonic()
    next_check = MIN_SAMPLES
    while next_check <= size:
        next_check = ceil(next_check * GROWTH)
    result = None
    numbers = count(size)
    with closing(ordered_map(numbers, lambda i: measure(splitting.sample(i)), threads)) as items:
        for item in items:
            assert item.result is not None
            size += 1
            seconds = time.monotonic() - start
            error = inf
            result = add(item.result)
            if result is not None:
                yield result[0]
                error = result[1]
            done = [size / (options.samples or inf), seconds / (options.seconds or inf)]
            if options.error is not None:
                done.append((options.error / error) ** 2 if error else 1.0)
            current_watch().progress(Progress(min(1.0, max(done)), size, seconds))
            if size < MIN_SAMPLES:
                continue
            is_over = size >= (options.samples or inf) or seconds >= (options.seconds or inf)
            if options.error is not None and size >= next_check:
                next_check = ceil(next_check * GROWTH)
                is_over = is_over or error <= options.error
            if is_over:
                break
    if result is None:
        walks = size * splitting.walks
        raise TooExpensive(f"no estimate: none of {walks:,} random walks found a solution")


def exact_count(board: Board) -> int | None:
    """Return the number of solutions if the tree of the search is small, else None."""
    tree = estimate_search(Frontier.of([board]), SearchSettings(), EXACT_EFFORT)
    return int(tree.solutions) if tree.exact else None


def summarise(
    board: Board, values: MutableSequence[ScaledNumber], options: EstimateOptions
) -> CountEstimate:
    """Make the estimate from the values of several samples, at least one of which is not 0."""
    largest = max(exponent for mantissa, exponent in values if mantissa)
    # Values that underflow are too small to matter.
    numbers = [ldexp(mantissa, exponent - largest) for mantissa, exponent in values]
    size = len(numbers)
    mean = fsum(numbers) / size
    variance = fsum((number - mean) ** 2 for number in numbers) / (size - 1)
    deviation = sqrt(variance) / mean
    relative_error = t_quantile((1 + options.confidence) / 2, size - 1) * deviation / sqrt(size)
    ratio = exp(min(relative_error, 700.0))
    return CountEstimate(
        board,
        scaled(mean, largest),
        max(1, scaled(mean / ratio, largest)),  # there is a solution, if any value is not 0
        scaled(mean * ratio, largest),
        relative_error,
        options.confidence,
        size,
        options.seed,
        is_reliable=deviation <= 1,
    )


def t_quantile(probability: float, degrees: int) -> float:
    """Return a quantile of Student's t-distribution with 15 or more degrees of freedom.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5. The error is below
    0.1 % for probabilities up to 0.9995.
    """
    z = NormalDist().inv_cdf(probability)
    terms = [
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    ]
    return fsum(term / degrees**power for power, term in enumerate(terms))


def scaled(mantissa: float, exponent: int) -> float:
    """Return ``mantissa * 2**exponent``: a float if it fits in one, else an integer."""
    fraction, change = frexp(mantissa)
    exponent += change
    if exponent <= LARGEST_FLOAT_EXPONENT:
        return ldexp(fraction, exponent)
    return int(ldexp(fraction, 53)) << (exponent - 53)


def rounded(number: float) -> float:
    """Round to SIGNIFICANT_DIGITS; the result is an integer if floats do not show it as one."""
    decimal = Decimal(f"{Decimal(number):.{SIGNIFICANT_DIGITS - 1}e}")
    is_integer = isinstance(number, int) or (decimal == int(decimal) and decimal < 1 << 53)
    return int(decimal) if is_integer else float(decimal)


def short_numbers(result: CountEstimate) -> list[str]:
    """Write an estimate and the ends of its interval, with as many digits as are certain."""
    digits = min(15, max(2, 1 + ceil(-log10(result.relative_error or 1e-15))))
    return [short_number(number, digits) for number in (result.estimate, result.low, result.high)]


def short_number(number: float, digits: int) -> str:
    """Write a number with some significant digits: ``5.96e98``, or an integer below a million."""
    text = f"{Decimal(number):.{digits - 1}e}"
    if number < 1e6:
        return f"{float(text):.0f}"
    mantissa, exponent = text.lower().split("e")
    return f"{mantissa}e{int(exponent)}"
