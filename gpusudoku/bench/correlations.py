"""Matrices of correlations: what the speed-up depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.bench.curves import way
from gpusudoku.bench.drawing import grid_of
from gpusudoku.bench.summary import Row

VARIABLES = {
    "search space": "log10_space",
    "empty cells": "empty_cells",
    "solutions": "solutions",
    "time, 1 core": "alone",
    "time": "median",
    "speed-up": "speed_up",
}
"""What is correlated, as label and name; of the search space the logarithm."""
FEWEST = 4
"""Fewer boards say nothing."""


def matrix(points: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """Pearson's coefficient of every two VARIABLES, float64 (6, 6); nan where one never varies."""
    values = np.array([[point[name] for name in VARIABLES.values()] for point in points], float)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = np.corrcoef(values, rowvar=False)
    return found


def correlated(
    rows: Sequence[Row], series: Mapping[str, Sequence[str]], threads: int
) -> dict[str, NDArray[np.float64]]:
    """The matrix of every series with enough boards, on a number of threads.

    One thread, whose speed-up is always 1, and boards of several sizes would say other things.
    """
    alone = {(row["board"], way(row)): row["median"] for row in rows if row["jobs"] == 1}
    points: dict[str, list[dict[str, float]]] = {title: [] for title in series}
    for row in rows:
        before = alone.get((row["board"], way(row)))
        title = next((t for t, names in series.items() if row["board"] in names), None)
        if row["jobs"] != threads or title is None or before is None:
            continue
        values = {name: row.values.get(name) for name in VARIABLES.values()} | {"alone": before}
        known = {name: float(value) for name, value in values.items() if value is not None}
        if len(known) == len(VARIABLES):
            points[title].append(known)
    return {
        f"{title}, {len(some)} boards": matrix(some)
        for title, some in points.items()
        if len(some) >= FEWEST
    }


def correlation(matrices: Mapping[str, ArrayLike], pyplot: Any) -> Any:
    """Draw matrices, two beside each other."""
    figure, panels = grid_of(pyplot, len(matrices), 2.9, sharex=True, sharey=True)
    names = list(VARIABLES)
    for axes, (title, values) in zip(panels, matrices.items(), strict=True):
        table = np.asarray(values)
        axes.grid(False)
        axes.imshow(table, cmap="PuOr", vmin=-1, vmax=1)
        axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set_title(title)
        for i, j in np.ndindex(table.shape):
            value = table[i, j]
            axes.text(j, i, "" if np.isnan(value) else f"{value:.2f}", ha="center", va="center",
                      color="white" if abs(value) > 0.6 else "black", fontsize=9)  # fmt: skip
    return figure
