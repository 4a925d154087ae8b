"""The estimated time of a search beside the time it takes, on boards of many shapes.

Every board is a random full grid of which so many clues are left that its search should take a
moment; one thread searches it. The CPU time of its quickest run counts.

    python benchmarks/estimates.py              about three minutes
    python benchmarks/estimates.py 1x7 7x1      some shapes only
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
import numpy as np
from generated import full_grid
from script import command, table

from gpusudoku import Board, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.options import Options
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier

SHAPES = ["1x6", "1x7", "7x1", "1x8", "1x9", "9x1", "1x12", "1x16", "2x3", "2x4", "3x3"]
SHAPES += ["2x5", "5x2", "2x6", "3x4", "2x8", "4x4", "4x5", "5x5", "6x6"]
SECONDS = 0.2, 2.0
"""The estimates of the boards that are searched."""
BOARDS = 3
"""Boards of a shape, for which so many seeds are tried in all:"""
SEEDS = 12
REPEATS = 2
OPTIONS = Options(method="search")


def planned(cells: np.ndarray, shape: Geometry) -> SearchPlan:
    """The search of a board."""
    return SearchPlan(Frontier.of([Board(cells, shape)]), OPTIONS)


def boards(shape: Geometry) -> Iterator[tuple[int, np.ndarray]]:
    """The numbers of clues, and the cells, uint8 (n * n), of boards that take a moment."""
    found = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        cells = full_grid(rng, shape).ravel().astype(np.uint8)
        for empty, cell in enumerate(rng.permutation(shape.cells), 1):
            cells[cell] = 0
            seconds = planned(cells, shape).seconds if empty % max(1, shape.n // 4) == 0 else 0.0
            if seconds >= SECONDS[0]:
                break
        if SECONDS[0] <= seconds <= SECONDS[1] and found < BOARDS:
            found += 1
            yield shape.cells - empty, cells


def searched(cells: np.ndarray, shape: Geometry, engine: CpuEngine) -> tuple[int, float]:
    """The nodes of a search, and its CPU seconds."""
    times = []
    for _ in range(REPEATS):
        plan = planned(cells, shape)
        plan.compile(engine)
        start = time.process_time()
        nodes = plan.run(engine).stats.nodes
        times.append(time.process_time() - start)
    return nodes, min(times)


@command("estimates")
@click.argument("shapes", nargs=-1)
def main(shapes: tuple[str, ...]) -> None:
    """Search boards of some SHAPES of boxes, by default many; print a table."""
    engine, rows = CpuEngine(1), []
    for name in shapes or SHAPES:
        shape = Geometry.parse(name)
        for clues, cells in boards(shape):
            click.echo(f"\r{name}, {clues} clues   ", nl=False, err=True)
            plan = planned(cells, shape)
            nodes, seconds = searched(cells, shape, engine)
            ratios = nodes / plan.estimate.nodes, seconds / plan.seconds
            row = [name, str(clues), f"{plan.seconds:.2f}", f"{seconds:.2f}"]
            rows.append([*row, *(f"{ratio:.2f}" for ratio in ratios)])
    click.echo("", err=True)
    heads = ["boxes", "clues", "estimated s", "measured s", "nodes, ratio", "seconds, ratio"]
    table(heads, rows)


if __name__ == "__main__":
    main()
