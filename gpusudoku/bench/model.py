"""How the time grows: power laws fitted to the rows of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.bench.summary import Row

LEAST_SOLUTIONS = 10_000
"""A law of the search is fitted to boards with at least this many solutions."""


@dataclass(frozen=True)
class PowerLaw:
    """seconds = factor * x ** exponent; ``spread`` is the typical factor between points and law."""

    factor: float
    exponent: float
    spread: float
    points: int
    least: float
    most: float
    """The range of x of the points."""

    def at(self, x: ArrayLike) -> NDArray[np.float64]:
        """The seconds at x, float64 of the same shape."""
        seconds: NDArray[np.float64] = self.factor * np.asarray(x, float) ** self.exponent
        return seconds


def power_law(x: ArrayLike, seconds: ArrayLike) -> PowerLaw | None:
    """Fit a straight line to the logarithms, by least squares; None for fewer than 3 points."""
    logs, times = np.log(np.asarray(x, float)), np.log(np.asarray(seconds, float))
    if len(logs) < 3 or np.ptp(logs) == 0:
        return None
    exponent, constant = np.polyfit(logs, times, 1)
    spread = np.exp(np.sqrt(np.mean((times - exponent * logs - constant) ** 2)))
    return PowerLaw(float(np.exp(constant)), float(exponent), float(spread), len(logs), *_range(x))


def _range(x: ArrayLike) -> tuple[float, float]:
    values = np.asarray(x, float)
    return float(values.min()), float(values.max())


def search_law(rows: Sequence[Row]) -> PowerLaw | None:
    """Fit the time of a search on one CPU thread to the number of solutions of 9x9 boards.

    Only boards with LEAST_SOLUTIONS or more count: with fewer, most of the time goes into starting
    and into finding the first solution.
    """
    points = [
        (row["solutions"], row["median"])
        for row in rows
        if (row["method"], row["device"], row["jobs"]) == ("search", "cpu", 1)
        and row["median"]
        and row["solutions"] >= LEAST_SOLUTIONS
        and row["clues"] + row["empty_cells"] == 81
        and (row["strategy"], row["propagate"]) == ("min", "singles")
    ]
    return power_law(*zip(*points, strict=True)) if points else None
