"""Correlate properties of boards with times and speed-ups, over all recorded searches on the CPU.

simonepri/sudoku-solver shows such a matrix of all its data, on 2 to 64 cores, as a picture. Here it
is computed from the speed-ups that ``published.py`` quotes, so it has no times.

    python benchmarks/correlations.py
"""

from __future__ import annotations

from math import log10
from pathlib import Path

import numpy as np
from machine import RESULTS, source
from published import CORES, SPEED_UPS, THEIRS
from script import command, table

from gpusudoku import collection
from gpusudoku.bench.suite import LEAST_SECONDS, Row, cells_of, read_json, undisturbed

COLUMNS = ["cells", "empty cells", "search space", "solutions", "threads", "speed-up",
           "time, 1 thread", "time"]  # fmt: skip
"""What is correlated; of the search space the logarithm."""
PUBLISHED = COLUMNS[1:6]


def matrix_of(points: list[tuple[float, ...]]) -> list[list[str]]:
    """Pearson's coefficients of the columns; empty for a column that does not vary."""
    with np.errstate(invalid="ignore"):
        matrix = np.corrcoef(np.array(points, float), rowvar=False)
    # Adding 0 avoids -0.00.
    return [["" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}" for value in line]
            for line in matrix]  # fmt: skip


def points_of(rows: list[Row]) -> list[tuple[float, ...]]:
    """COLUMNS of searches; the speed-up is the time on one thread over the time."""
    return [(cells_of(row), row["empty_cells"], row["log10_space"], row["solutions"], row["jobs"],
             row["speed_up"], row["speed_up"] * row["median"], row["median"])
            for row in rows]  # fmt: skip


def published_points() -> list[tuple[float, ...]]:
    """PUBLISHED columns of every speed-up that was published."""
    points: list[tuple[float, ...]] = []
    for name, speed_ups in SPEED_UPS.items():
        board = collection.load(name)
        properties = (board.empty_cells, log10(board.search_space), collection.entry(name).count)
        points += [(*properties, *pair) for pair in zip(CORES, speed_ups, strict=True)]
    return points


def show(_: Path | None = None) -> None:
    """Print the matrix, and the speed-ups of large boards."""
    path = RESULTS / "bench.json"
    # A board with a cell that has no candidate has no logarithm of its search space.
    rows = [row for row in undisturbed(read_json(str(path))[0])
            if (row["method"], row["device"]) == ("search", "cpu") and row["speed_up"]
            and row["log10_space"] is not None]  # fmt: skip
    twelve = points_of([row for row in rows if row["board"] in SPEED_UPS])
    published = published_points()
    above, below, theirs = map(matrix_of, (points_of(rows), twelve, published))
    print(f"Above the diagonal: {len(rows)} searches of boards of all sizes.")
    print(f"Below it: {len(twelve)} of 1a to 2f; in parentheses {len(published)} published ones.\n")
    lines = []
    for i, name in enumerate(COLUMNS):
        line = [*below[i][:i], "", *above[i][i + 1 :]]
        if name in PUBLISHED:
            for j in range(1, i):
                line[j] += f" ({theirs[i - 1][j - 1]})"
        lines.append([name, *line])
    table(["", *COLUMNS], lines)
    threads = max(row["jobs"] for row in rows)
    large = ", ".join(f"{row['board']} {row['speed_up']:.2f}" for row in rows
                      if row["jobs"] == threads and cells_of(row) in (16 * 16, 25 * 25)
                      and row["speed_up"] * row["median"] >= LEAST_SECONDS)  # fmt: skip
    print(f"\nSpeed-up of 16x16 and 25x25 boards on {threads} threads: {large}. Left out:")
    print(f"searches of less than {1e3 * LEAST_SECONDS:g} ms on one thread, and disturbed ones.")
    print(f"\n{source(path, 'python benchmarks/report.py bench')}\n\n*Theirs: {THEIRS}*")


@command("correlations")
def main() -> None:
    """Print the matrix, and the speed-ups of large boards."""
    show()


if __name__ == "__main__":
    main()
