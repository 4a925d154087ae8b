"""Boards that take no time to count, and counts that take as long as a test says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpusudoku.bench.suite import Bench, Case, Row, Subject, cases_of, rows_of
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.results import ContractionStats, Count, SearchStats, Stats

EMPTY = Board.empty(Geometry(2, 2))
SUBJECTS = [Subject("small", EMPTY, 288), Subject("other", EMPTY, 288), Subject("new", EMPTY)]
MACHINE = {"processor": "a processor", "cores": 4, "date": "2026-01-02", "commit": "abc"}


def fake(seconds: float = 1.0, several: float | None = None, found: int = 288) -> Any:
    """Make a counter whose counts take processors so long, on one and on several threads."""

    def count(case: Case) -> Count:
        threads = case.options["jobs"] or 1
        took = (several if several is not None and threads > 1 else seconds) / threads
        stats: Stats = ContractionStats(products=0, seconds=took, utilisation=(0.5,) * threads)
        if case.options["method"] != "contraction":
            stats = SearchStats(
                strategy="min", propagate="", cutoff=None, cutoff_by="space", cutoff_reached=True,
                frontier_width=1, frontier_boards=1, boards_explored=1, nodes=600, deepest=0,
                seconds=took, expansion_seconds=0.0, utilisation=stats.utilisation,
            )  # fmt: skip
        return Count(EMPTY, found, True, "cpu", threads, stats)

    return count


def measured(cases: Sequence[Case], count: Any = None, **options: Any) -> Bench:
    """Measure cases, by default with a counter that takes a second, while clocks stand still."""
    stands = {"clock": lambda: 0.0, "processor": lambda: 0.0, "expected": lambda *_: 0}
    bench = Bench(cases, count=count or fake(), **{**stands, **options})
    for _ in bench:
        pass
    return bench


def rows_with(
    subjects: Sequence[Subject] = SUBJECTS, count: Any = None, clocks: Any = None, **options: Any
) -> list[Row]:
    """Measure boards under some settings; their rows."""
    return rows_of(measured(cases_of(subjects, **options), count, **(clocks or {})).measured)
