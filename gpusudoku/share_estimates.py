"""Estimates of shares, for boards whose exact shares are too expensive.

Sample k (``enumeration.splitting``) estimates the number of solutions, z_k, and the fraction of
them that have a digit in a cell, f_k. The estimated share is a ratio of two sums::

    p = (z_1 f_1 + ... + z_K f_K) / (z_1 + ... + z_K)

Its error, half the width of the confidence interval, comes from the residuals z_k (f_k - p), by
linearisation of the ratio (Cochran: Sampling Techniques, 1977, chapter 6), and from Student's
t-distribution. The residuals are too small if hardly any sampled solution has the digit, or nearly
all have it. So an error is at least -log(1 - confidence) / m (the rule of three), as if the share
came from m independent solutions. m is estimated from all digits of the cell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import ldexp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.enumeration.splitting import Sample, Splitting
from gpusudoku.estimating import draw_samples, exact_count, t_quantile
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, interruptible
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import MIN_SAMPLES, EstimateOptions, Options, checked_seed

DECIMALS = 10
"""The decimals of shares and errors. Further digits depend on the processor."""
MeasuredSample = tuple[float, int, NDArray[np.float64]]
"""z_k, as a mantissa and an exponent of 2, and f_k, (cells, n)."""


class ShareEstimate(NamedTuple):
    """Estimated shares of the solutions of a board. The board, seed and samples determine them."""

    shares: NDArray[np.float64]
    """float64 (cells, n): the estimated fraction of the solutions with each digit in each cell; 0
    for a board without solutions."""
    errors: NDArray[np.float64]
    """float64 (cells, n): half the width of the confidence interval of each share."""
    confidence: float
    """The probability with which each of these intervals contains the exact share."""
    samples: int
    """The number of independent samples; 0 if the shares are exact."""
    seed: int
    """The seed of the samples."""


def estimate_shares(
    board: BoardLike,
    *,
    seconds: float | None = None,
    max_error: float | None = None,
    samples: int | None = None,
    seed: int | None = 0,
    confidence: float = 0.95,
    box: Geometry | str | None = None,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> ShareEstimate:
    """Estimate the fraction of the solutions with each digit in each cell, for any board.

    It ends at the first of the limits that you give, but not before 16 samples. By default it ends
    when all errors are at most 0.01, or after 60 seconds. If a short search finds all
    solutions, the shares are exact, and all errors are 0.

    Parameters
    ----------
    max_error
        The limit of the largest error, such as 0.01 for one percentage point.
    board, box, seconds, samples, seed, confidence, jobs, progress, cancel
        As for ``estimate``.

    Raises
    ------
    InputError, TooExpensive, Interrupted, Cancelled
        As in ``estimate``.
    """
    converted_board = board_of(board, box)
    options = EstimateOptions(
        seconds, max_error, samples, checked_seed(seed), confidence, "max error"
    )
    with interruptible(cancel), reporting(progress):
        return share_estimate(converted_board, options.with_defaults(), Options(jobs=jobs).jobs)


def share_estimate(board: Board, options: EstimateOptions, jobs: int | None) -> ShareEstimate:
    """Estimate the shares of a board; see ``estimate_shares``."""
    engine = CpuEngine(jobs)
    number = exact_count(board, engine.threads)
    if number is not None:
        counts = SolutionSet(board, Options(), engine).shares
        shares = (counts / max(1, number)).astype(np.float64)
        return ShareEstimate(shares, np.zeros_like(shares), options.confidence, 0, options.seed)
    splitting = Splitting(board, options.seed)
    sums = _ShareSums(splitting, options)
    estimates = draw_samples(splitting, options, engine.threads, sums.measure, sums.add)
    return deque(estimates, maxlen=1).pop()


class _ShareSums:
    """Sums over the samples, from which the shares and their errors are computed."""

    def __init__(self, splitting: Splitting, options: EstimateOptions) -> None:
        self._shape = splitting.shape
        self._options = options
        n = self._shape.n
        candidates = splitting.candidates[:, None] >> np.arange(n, dtype=np.uint64) & np.uint64(1)
        self._is_open = (candidates == 1) & (candidates.sum(axis=1, keepdims=True) > 1)
        """bool (cells, n): the candidates of the board that are in some solutions at most."""
        word, bit = self._shape.cell_positions
        self._columns = word * self._shape.bits + np.bitwise_count(bit - bit.dtype.type(1))
        """int64 (cells): the position of each cell in the bits of a plane."""
        self._size = 0
        self._exponent: int | None = None
        # Sums of z^2, z f, z^2 f and (z f)^2.
        self._zz = 0.0
        self._zf, self._zzf, self._zzff = np.zeros((3, n * n, n))

    def measure(self, sample: Sample) -> MeasuredSample:
        """Return the number of solutions and the shares that a sample estimates."""
        f = np.empty_like(self._zf)
        words = self._shape.plane_words
        for d in range(self._shape.n):
            plane = np.ascontiguousarray(sample.boards[:, d * words : (d + 1) * words])
            bits = np.unpackbits(plane.view(np.uint8), axis=1, bitorder="little")
            f[:, d] = np.einsum("i,ij->j", sample.weights, bits)[self._columns]
        f /= np.maximum(f.sum(axis=1, keepdims=True), 1e-300)
        return sample.mantissa, sample.exponent, f

    def add(self, measured: MeasuredSample) -> tuple[ShareEstimate, float] | None:
        """Add a sample. Return the estimate and its largest error, if there are enough samples."""
        mantissa, exponent, f = measured
        self._size += 1
        if mantissa:
            # Relative to the first number, because a number of solutions may exceed any float.
            self._exponent = exponent if self._exponent is None else self._exponent
            z = ldexp(mantissa, exponent - self._exponent)
            self._zz += z * z
            self._zf += z * f
            self._zzf += z * z * f
            self._zzff += (z * f) ** 2
        if self._size < MIN_SAMPLES or not self._zz:
            return None
        shares, errors = self._shares_and_errors()
        options = self._options
        estimate = ShareEstimate(shares, errors, options.confidence, self._size, options.seed)
        return estimate, float(errors.max())

    def _shares_and_errors(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute all shares and their errors from the sums, at least one of which is not 0."""
        confidence = self._options.confidence
        degrees = self._size - 1
        # z is the same sum in each cell. So shares are exactly 1 where all samples have a digit.
        z = self._zf.sum(axis=1, keepdims=True)
        p = self._zf / z
        residuals = np.maximum(self._zzff - 2 * p * self._zzf + p**2 * self._zz, 0.0)
        variances = residuals / z**2 * self._size / degrees
        errors = t_quantile((1 + confidence) / 2, degrees) * np.sqrt(variances)
        # m of the rule of three: at least the effective number of samples.
        variances_of_cells = np.maximum(variances.sum(axis=1, keepdims=True), 1e-300)
        m = (p * (1 - p)).sum(axis=1, keepdims=True) / variances_of_cells
        m = np.maximum(m, z**2 / self._zz)
        errors = np.maximum(errors, -log(1 - confidence) / m)
        errors = np.where(self._is_open, errors, 0.0)
        return p.round(DECIMALS), errors.round(DECIMALS)
