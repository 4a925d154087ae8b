"""What scripts share: where results go, how they are written, and how fast a core is right now."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numba
import numpy

from gpusudoku import Board, collection
from gpusudoku.bench.machine import heading, machine

__all__ = ["RESULTS", "gigahertz", "heading", "heading_with_clock", "machine", "record", "thinned"]

RESULTS = Path(__file__).parent / "results"


def record(path: Path, runs: list[dict[str, object]], **more: object) -> None:
    """Write runs to a file, beside the description of the machine."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": {**machine(), **more}, "runs": runs}, indent=1) + "\n")


def thinned(name: str, clues: int) -> Board:
    """A board of the collection without some of its last clues, so that it has more solutions."""
    board = collection.load(name)
    cells = board.cells.copy()
    given = numpy.flatnonzero(cells)
    cells[given[max(0, len(given) - clues) :]] = 0
    return Board(cells, board.geometry)


def heading_with_clock(described: dict[str, Any]) -> str:
    """The line above a table, with the clock rate of a core before and after the runs."""
    before, after = described["gigahertz"]
    return f"{heading(described)}; a core got {before:.2f} GHz before and {after:.2f} GHz after"


@numba.njit(nogil=True)
def _spin(steps):  # type: ignore[no-untyped-def]
    """A chain in which every step waits for the last: shifts and exclusive ors, a cycle each."""
    x = numba.uint64(88172645463325252)
    for _ in range(steps):
        x ^= x << numba.uint64(13)
        x ^= x >> numba.uint64(7)
        x ^= x << numba.uint64(17)
    return x


def gigahertz(threads: int) -> float:
    """The clock rate in GHz that each of some threads gets at the same time: what is free now."""
    steps = 20_000_000
    _spin(1)

    def rate(_: int) -> float:
        start = time.perf_counter()
        _spin(steps)
        return 6 * steps / (time.perf_counter() - start) / 1e9

    with ThreadPoolExecutor(threads) as pool:
        return median(pool.map(rate, range(threads)))
