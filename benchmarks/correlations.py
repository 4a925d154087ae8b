"""Correlate properties of boards with times and speed-ups, over all recorded searches on the CPU.

simonepri/sudoku-solver shows such a matrix as a picture. Here the published coefficients are
computed from its speed-ups.

    python benchmarks/correlations.py
"""

from __future__ import annotations

from math import log10
from pathlib import Path

import numpy as np
from machine import RESULTS, source_line
from numpy.typing import NDArray
from published import CORES, CORRELATED, CORRELATIONS, PUBLISHED_NOTE, SPEED_UPS
from script import command, print_table

from gpusudoku import collection
from gpusudoku.bench.suite import MIN_SECONDS, Row, cells_of, read_json, undisturbed

PUBLISHED_COLUMNS = ["empty cells", "search space", "solutions", "threads", "speed-up"]
COLUMNS = [*PUBLISHED_COLUMNS, "time, 1 thread", "time"]
"""The quantities that are correlated; the search space is its logarithm."""
SPEED_UP = COLUMNS.index("speed-up")

Point = tuple[float, ...]
"""The values of COLUMNS, or of PUBLISHED_COLUMNS, for one search."""


def point_of(row: Row) -> Point:
    """Return the COLUMNS of a search; the time on one thread is the time times the speed-up."""
    one_thread_time = row["speed_up"] * row["median"]
    return (
        row["empty_cells"],
        row["log10_space"],
        row["solutions"],
        row["jobs"],
        row["speed_up"],
        one_thread_time,
        row["median"],
    )


def published_points() -> list[Point]:
    """Return the PUBLISHED_COLUMNS of every published speed-up."""
    points: list[Point] = []
    for name, speed_ups in SPEED_UPS.items():
        board = collection.load(name)
        properties = (board.empty_cells, log10(board.search_space), collection.entry(name).count)
        points += [(*properties, *pair) for pair in zip(CORES, speed_ups, strict=True)]
    return points


def matrix_of(points: list[Point]) -> NDArray[np.float64]:
    """Return Pearson's coefficients of the columns; nan for a column that does not vary."""
    with np.errstate(invalid="ignore"):
        matrix = np.corrcoef(np.array(points, float), rowvar=False)
    return np.asarray(matrix.round(2) + 0.0)  # adding 0 avoids -0.00


def searches(path: Path) -> list[Row]:
    """Return the searches of a recorded file on the CPU that have all COLUMNS."""
    rows = undisturbed(read_json(str(path))[0])
    return [
        row
        for row in rows
        if (row["method"], row["device"]) == ("search", "cpu")
        and row["speed_up"]
        # The search space of a board is 0, without a logarithm, if a cell has no candidate.
        and row["log10_space"] is not None
    ]


def show(_: Path | None = None) -> None:
    """Print the matrix, the correlations on all threads, and the speed-ups of large boards."""
    path = RESULTS / "bench.json"
    rows = searches(path)
    show_matrix(rows)
    show_most_threads(rows)
    show_large_boards(rows)
    print(f"\n{source_line(path, 'python benchmarks/report.py bench')}\n\n*{PUBLISHED_NOTE}*")


def show_matrix(rows: list[Row]) -> None:
    """Print a matrix: all boards above the diagonal, and those with published figures below it."""
    twelve_boards = [row for row in rows if row["board"] in SPEED_UPS]
    above = matrix_of([*map(point_of, rows)])
    below = matrix_of([*map(point_of, twelve_boards)])
    published = matrix_of(published_points())
    print(f"Above the diagonal: {len(rows)} searches of boards of all sizes. Below it:")
    print(f"{len(twelve_boards)} searches of 1a to 2f; in parentheses the published ones.\n")
    # A line has coefficients of one matrix up to the diagonal and of another one after it.
    lines = []
    for i, name in enumerate(COLUMNS):
        cells = [f"{value:.2f}" for value in (*below[i, :i], *above[i, i:])]
        cells[i] = ""
        if name in PUBLISHED_COLUMNS:
            for j in range(i):
                cells[j] += f" ({published[i, j]:.2f})"
        lines.append([name, *cells])
    print_table(["", *COLUMNS], lines)


def show_most_threads(rows: list[Row]) -> None:
    """Print what the speed-up of 1a to 2f on most threads is correlated with."""
    threads = max(row["jobs"] for row in rows)
    points = [point_of(row) for row in rows if row["board"] in SPEED_UPS and row["jobs"] == threads]
    coefficients = dict(zip(COLUMNS, matrix_of(points)[SPEED_UP], strict=True))
    # The first three of CORRELATED are properties of a board; the last line is the speed-up.
    published = zip(CORRELATED[:3], CORRELATIONS[-1][:3], strict=True)
    texts = [f"{coefficients[name]:.2f} ({value:.2f}) with {name}" for name, value in published]
    print(f"\n1a to 2f on {threads} threads (published: on {CORES[-1]} cores): the speed-up is")
    print(f"correlated {', '.join(texts)}.")


def show_large_boards(rows: list[Row]) -> None:
    """Print the speed-ups on most threads of boards that are larger than 9x9."""
    threads = max(row["jobs"] for row in rows)
    texts = [
        f"{row['board']} {row['speed_up']:.2f}"
        for row in rows
        if row["jobs"] == threads
        and cells_of(row) in (16 * 16, 25 * 25)
        # Shorter searches end before a second thread can help.
        and row["speed_up"] * row["median"] >= MIN_SECONDS
    ]
    print(f"\nSpeed-ups of large boards that take one thread {1e3 * MIN_SECONDS:g} ms or more:")
    print(f"{', '.join(texts)}, on {threads} threads.")


@command("correlations")
def main() -> None:
    """Print the matrix."""
    show()


if __name__ == "__main__":
    main()
