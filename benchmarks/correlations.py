"""Correlate properties of boards with times and speed-ups, over all recorded searches on the CPU.

simonepri/sudoku-solver has such a matrix as a picture. Here it is computed from its speed-ups.

    python benchmarks/correlations.py
"""

from __future__ import annotations

from math import log10
from pathlib import Path

import numpy as np
from machine import RESULTS, source
from numpy.typing import NDArray
from published import CORES, CORRELATED, CORRELATIONS, SPEED_UPS, THEIRS
from script import command, table

from gpusudoku import collection
from gpusudoku.bench.suite import MIN_SECONDS, Row, cells_of, read_json, undisturbed

PUBLISHED = ["empty cells", "search space", "solutions", "threads", "speed-up"]
COLUMNS = [*PUBLISHED, "time, 1 thread", "time"]
"""What is correlated; of the search space the logarithm."""


def points_of(rows: list[Row]) -> list[tuple[float, ...]]:
    """COLUMNS of searches; the speed-up is the time on one thread over the time."""
    return [(row["empty_cells"], row["log10_space"], row["solutions"], row["jobs"],
             row["speed_up"], row["speed_up"] * row["median"], row["median"])
            for row in rows]  # fmt: skip


def published_points() -> list[tuple[float, ...]]:
    """PUBLISHED columns of every speed-up that was published."""
    boards = {name: collection.load(name) for name in SPEED_UPS}
    return [(board.empty_cells, log10(board.search_space), collection.entry(name).count, *pair)
            for name, board in boards.items()
            for pair in zip(CORES, SPEED_UPS[name], strict=True)]  # fmt: skip


def matrix_of(points: list[tuple[float, ...]]) -> NDArray[np.float64]:
    """Pearson's coefficients of the columns; nan for a column that does not vary."""
    with np.errstate(invalid="ignore"):
        matrix = np.corrcoef(np.array(points, float), rowvar=False)
    return np.asarray(matrix.round(2) + 0.0)  # adding 0 avoids -0.00


def show(_: Path | None = None) -> None:
    """Print the matrix, and the speed-ups of large boards."""
    path = RESULTS / "bench.json"
    # A board with a cell that has no candidate has no logarithm of its search space.
    rows = [row for row in undisturbed(read_json(str(path))[0])
            if (row["method"], row["device"]) == ("search", "cpu") and row["speed_up"]
            and row["log10_space"] is not None]  # fmt: skip
    twelve = [row for row in rows if row["board"] in SPEED_UPS]
    above, below, theirs = map(matrix_of, (points_of(rows), points_of(twelve), published_points()))
    print(f"Above the diagonal: {len(rows)} searches of boards of all sizes. Below it:")
    print(f"{len(twelve)} searches of 1a to 2f; in parentheses those that were published.\n")
    lines = []
    for i, name in enumerate(COLUMNS):
        line = [f"{value:.2f}" for value in (*below[i, :i], *above[i, i:])]
        line[i] = ""
        if name in PUBLISHED:
            line[:i] = [f"{line[j]} ({theirs[i, j]:.2f})" for j in range(i)]
        lines.append([name, *line])
    table(["", *COLUMNS], lines)
    threads = max(row["jobs"] for row in rows)
    on_most = points_of([row for row in twelve if row["jobs"] == threads])
    ours = dict(zip(COLUMNS, matrix_of(on_most)[COLUMNS.index("speed-up")], strict=True))
    pairs = zip(CORRELATED[:3], CORRELATIONS[-1][:3], strict=True)
    texts = [f"{ours[name]:.2f} ({value:.2f}) with {name}" for name, value in pairs]
    print(f"\n1a to 2f on {threads} threads (published: on {CORES[-1]} cores): the speed-up is")
    print(f"correlated {', '.join(texts)}.")
    large = ", ".join(f"{row['board']} {row['speed_up']:.2f}" for row in rows
                      if row["jobs"] == threads and cells_of(row) in (16 * 16, 25 * 25)
                      and row["speed_up"] * row["median"] >= MIN_SECONDS)  # fmt: skip
    print(f"\nSpeed-ups of large boards that take one thread {1e3 * MIN_SECONDS:g} ms or more:")
    print(f"{large}, on {threads} threads.")
    print(f"\n{source(path, 'python benchmarks/report.py bench')}\n\n*Theirs: {THEIRS}*")


@command("correlations")
def main() -> None:
    """Print the matrix."""
    show()


if __name__ == "__main__":
    main()
