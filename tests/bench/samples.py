"""Boards that take no time to count, and counts that take as long as a test says."""

from __future__ import annotations

from typing import Any

from gpusudoku.bench.cases import Case, Subject
from gpusudoku.bench.running import Bench
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.results import Count, Stats

EMPTY = Board.empty(Geometry(2, 2))
SUBJECTS = [Subject("small", EMPTY, 288), Subject("other", EMPTY, 288), Subject("new", EMPTY)]


def fake(seconds: float = 1.0, found: int = 288) -> Any:
    """A count that takes so long; the longer, the fewer threads."""

    def count(case: Case) -> Count:
        threads = case.options["jobs"] or 1
        stats = Stats(seconds=seconds / threads, nodes=600, utilisation=[0.5] * threads)
        return Count(EMPTY, found, True, case.options["method"], "cpu", threads, stats)

    return count


def measured(bench: Bench) -> Bench:
    for _ in bench:
        pass
    return bench
