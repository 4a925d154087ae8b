"""Whether numbers of what was drawn are what chance would give."""

from __future__ import annotations

from typing import Any

import numpy as np

FAR = 3.72
"""Standard deviations of what comes once in ten thousand times."""


def assert_uniform(drawn: Any, cells: int) -> None:
    """Complain unless numbers below ``cells`` may well have come with the same chance each."""
    assert_expected(np.bincount(drawn, minlength=cells), np.full(cells, len(drawn) / cells))


def assert_expected(found: Any, expected: Any) -> None:
    """Complain about a chi-square that is rarely so large, or rarely so small.

    Its cubic root is all but normal (Wilson and Hilferty, 1931).
    """
    found = np.asarray(found, float)
    expected = np.asarray(expected, float)
    freedom = len(found) - 1
    statistic = float(((found - expected) ** 2 / expected).sum())
    width = 2 / (9 * freedom)
    assert abs((statistic / freedom) ** (1 / 3) - (1 - width)) < FAR * width**0.5
