"""Assertions that random draws have the expected distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

FAR = 3.72
"""A deviation that a normal variable exceeds once in ten thousand times, in standard deviations."""


def assert_uniform(numbers: Any, limit: int) -> None:
    """Assert that the numbers may well be drawn uniformly from 0 to ``limit - 1``."""
    frequencies = np.bincount(numbers, minlength=limit)
    assert_frequencies(frequencies, np.full(limit, len(numbers) / limit))


def assert_frequencies(observed: Any, expected: Any) -> None:
    """Assert that the chi-square of the frequencies is neither too large nor too small.

    Its cube root is nearly normal (Wilson and Hilferty, 1931).
    """
    observed = np.asarray(observed, float)
    expected = np.asarray(expected, float)
    freedom = len(observed) - 1
    chi_square = float(((observed - expected) ** 2 / expected).sum())
    variance = 2 / (9 * freedom)
    deviation = (chi_square / freedom) ** (1 / 3) - (1 - variance)
    assert abs(deviation) < FAR * variance**0.5
