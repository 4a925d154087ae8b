"""How cost grows: power laws fitted to the rows of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.bench.summary import Row

SOLUTIONS = 10_000
"""A law of the search looks at boards with so many."""


@dataclass(frozen=True)
class PowerLaw:
    """seconds = factor * x ** exponent; ``spread`` is the typical factor that points are off by."""

    factor: float
    exponent: float
    spread: float
    points: int

    def at(self, x: ArrayLike) -> NDArray[np.float64]:
        """Seconds at x."""
        seconds: NDArray[np.float64] = self.factor * np.asarray(x, float) ** self.exponent
        return seconds


def power_law(x: ArrayLike, seconds: ArrayLike) -> PowerLaw | None:
    """The straight line through the logarithms, by least squares; None for fewer than 3 points."""
    logs, times = np.log(np.asarray(x, float)), np.log(np.asarray(seconds, float))
    if len(logs) < 3 or np.ptp(logs) == 0:
        return None
    exponent, constant = np.polyfit(logs, times, 1)
    spread = np.exp(np.sqrt(np.mean((times - exponent * logs - constant) ** 2)))
    return PowerLaw(float(np.exp(constant)), float(exponent), float(spread), len(logs))


def search_law(rows: Sequence[Row]) -> PowerLaw | None:
    """Time of a search on one CPU thread against solutions, of 9x9 boards with SOLUTIONS or more.

    With fewer solutions it is start-up, or looking for the first one, that takes the time.
    """
    points = [
        (row["solutions"], row["median"])
        for row in rows
        if (row["method"], row["device"], row["jobs"]) == ("search", "cpu", 1)
        and row["median"]
        and row["solutions"] >= SOLUTIONS
        and row["clues"] + row["empty_cells"] == 81
        and (row["strategy"], row["propagate"]) == ("min", "singles")
    ]
    return power_law(*zip(*points, strict=True)) if points else None
