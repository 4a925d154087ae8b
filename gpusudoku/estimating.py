"""Estimates of the number of solutions, for boards that are too expensive to count.

An estimate is the mean of independent samples, see ``enumeration.splitting``. The expected value of
a sample, and of the mean of a fixed number of them, is exactly the number of solutions. The
confidence interval comes from the standard deviation of the samples, by Student's t-distribution.
It is computed for the logarithm of the mean (the delta method), because the distribution of the
mean is skewed to the right, and so its ends are positive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
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
from gpusudoku.jobs.watch import Progress, current_watch, reporting, watching
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import MIN_SAMPLES, EstimateOptions, Options, checked_seed
from gpusudoku.planning.count import count_board
from gpusudoku.search.frontier import Frontier, estimate_search

GROWTH = 1.25
"""The error is compared with the wanted one only at numbers of samples that grow by this factor.
With a check after every sample, a run would tend to stop when its error happens to be
underestimated."""
EXACT_EFFORT = 16
"""The effort of the estimate of the tree of the search."""
EXACT_SECONDS = 0.3
"""A board is counted exactly if its search is expected to take less on the reference core."""
MAX_SEARCH_SECONDS = 5.0
"""Such a search is given up after this time."""
MAX_EXACT = 1 << 20
"""The largest number of solutions that are counted exactly. Their samples and shares are quick."""
LARGEST_FLOAT_EXPONENT = 1000
"""Larger numbers are integers, because a float ends at 2^1024."""
SIGNIFICANT_DIGITS = 6
"""Digits of an estimate and of the ends of its interval as JSON."""

MAX_DEVIATION = 0.5
"""The largest standard deviation of samples, relative to their mean, for a reliable interval."""

Measurement = TypeVar("Measurement")
Estimate = TypeVar("Estimate")


@dataclass
class SampleSums:
    """Sums over samples, from which an estimate of the number of solutions is computed."""

    size: int = 0
    """The number of samples."""
    exponent: int = 0
    """The values are in units of ``2**exponent``, because they may exceed the largest float. It is
    the exponent of the first sample with a solution."""
    total: float = 0.0
    """The sum of the values."""
    squares: float = 0.0
    """The sum of their squares."""

    def add(self, mantissa: float, exponent: int) -> None:
        """Add a sample with the value ``mantissa * 2**exponent``."""
        self.size += 1
        if not mantissa:
            return
        if not self.total:
            self.exponent = exponent
        value = ldexp(mantissa, exponent - self.exponent)
        self.total += value
        self.squares += value * value


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
    """``log(high / estimate)``. If it is small, half the width of the interval is this fraction of
    the estimate."""
    confidence: float
    """The probability with which such an interval contains the number of solutions."""
    samples: int
    """The number of independent samples; 0 if a short search found all solutions. Then the estimate
    is their number, and all errors are 0."""
    seed: int
    """The seed of the samples."""
    is_reliable: bool = True
    """False if the standard deviation of the samples exceeds half their mean. Then the interval may
    miss the number of solutions more often than ``confidence`` allows."""

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
            "estimate": round_number(self.estimate),
            "low": round_number(self.low),
            "high": round_number(self.high),
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

    The mean of a fixed number of samples is unbiased. The estimate ends at the first of the limits
    that you give, but not before 16 samples. By default it ends at a relative error of 0.01 or
    after 60 seconds. If a short search finds all solutions, the estimate is exact, and has no
    samples.

    >>> import gpusudoku
    >>> print(gpusudoku.estimate("." * 256, samples=16))  # doctest: +SKIP
    ~6.04e98 (95 %: 5.95e98 to 6.14e98)

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
        *_, result = iterate_estimates(converted_board, options.with_defaults(), engine.threads)
    return result


def iterate_estimates(
    board: Board,
    options: EstimateOptions,
    threads: int,
    sums: SampleSums | None = None,
    walks: int | None = None,
) -> Generator[CountEstimate, None, None]:
    """Yield estimates from more and more samples, up to the limits; the last one is the result.

    Parameters
    ----------
    sums
        The sums of an earlier call with the same board, seed and ``walks``, whose samples are not
        drawn again. New samples are added.
    walks
        As for ``Splitting``.

    Raises
    ------
    TooExpensive
        If no walk of any sample found a solution.
    """
    sums = SampleSums() if sums is None else sums
    number = exact_count(board, threads)
    if number is not None:
        yield CountEstimate(board, number, number, number, 0.0, options.confidence, 0, options.seed)
        return

    def add(value: tuple[float, int]) -> tuple[CountEstimate, float] | None:
        sums.add(*value)
        if sums.size < MIN_SAMPLES or not sums.total:
            return None
        result = make_estimate(board, sums, options)
        return result, result.relative_error

    splitting = Splitting(board, options.seed, walks)
    yield from draw_samples(splitting, options, threads, lambda sample: sample[:2], add, sums.size)


def draw_samples(
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
        walks = f"{size * splitting.walks:,} random walks"
        raise TooExpensive(f"no estimate: none of {walks} found a solution; a search may find one")


def exact_count(board: Board, threads: int) -> int | None:
    """Return the number of solutions if a short search finds them all, else None."""
    tree = estimate_search(Frontier.of([board]), SearchSettings(), EXACT_EFFORT)
    if tree.exact:
        return int(tree.solutions)
    if tree.seconds() > EXACT_SECONDS or tree.solutions > MAX_EXACT:
        return None
    # The tree may be much larger than its estimate, hence the limits.
    options = Options(method="search", limit=MAX_EXACT, seconds=MAX_SEARCH_SECONDS)
    with watching(None):
        result = count_board(board, options, CpuEngine(threads))
    return result.count if result.exact else None


def make_estimate(board: Board, sums: SampleSums, options: EstimateOptions) -> CountEstimate:
    """Make the estimate from the sums over several samples, not all of which are 0."""
    mean = sums.total / sums.size
    variance = max(0.0, sums.squares - sums.size * mean**2) / (sums.size - 1)
    deviation = sqrt(variance) / mean
    quantile = t_quantile((1 + options.confidence) / 2, sums.size - 1)
    relative_error = quantile * deviation / sqrt(sums.size)
    ratio = exp(relative_error)
    return CountEstimate(
        board,
        scale(mean, sums.exponent),
        max(1, scale(mean / ratio, sums.exponent)),  # a walk has found a solution
        scale(mean * ratio, sums.exponent),
        relative_error,
        options.confidence,
        sums.size,
        options.seed,
        is_reliable=deviation <= MAX_DEVIATION,
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


def scale(mantissa: float, exponent: int) -> float:
    """Return ``mantissa * 2**exponent``: a float if it fits in one, else an integer."""
    fraction, change = frexp(mantissa)
    exponent += change
    if exponent <= LARGEST_FLOAT_EXPONENT:
        return ldexp(fraction, exponent)
    return int(ldexp(fraction, 53)) << (exponent - 53)


def round_number(number: float) -> float:
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
