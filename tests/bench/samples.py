"""Boards and counts without any computation; the time of a count is set by the test."""

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


def fake_count(seconds: float = 1.0, parallel: float | None = None, solutions: int = 288) -> Any:
    """Make a function that counts a case.

    Its counts take ``seconds`` of CPU time on one thread, and ``parallel`` (by default as long) on
    several, of which each takes an equal share.
    """

    def count(case: Case) -> Count:
        threads = case.options["jobs"] or 1
        cpu_seconds = seconds
        if threads > 1 and parallel is not None:
            cpu_seconds = parallel
        wall = cpu_seconds / threads
        stats: Stats = ContractionStats(products=0, seconds=wall, utilisation=(0.5,) * threads)
        if case.options["method"] != "contraction":
            stats = SearchStats(
                strategy="min", propagate="", cutoff=None, cutoff_by="space", cutoff_reached=True,
                frontier_width=1, frontier_boards=1, boards_explored=1, nodes=600, deepest=0,
                seconds=wall, expansion_seconds=0.0, utilisation=stats.utilisation,
            )  # fmt: skip
        return Count(EMPTY, solutions, True, "cpu", threads, stats)

    return count


def measure(cases: Sequence[Case], count: Any = None, **options: Any) -> Bench:
    """Measure cases, by default with counts of a second, while the clocks stay at 0."""
    defaults = {"clock": lambda: 0.0, "processor": lambda: 0.0, "estimate": lambda *_: 0}
    bench = Bench(cases, count=count or fake_count(), **(defaults | options))
    for _ in bench:
        pass
    return bench


def rows_with(
    subjects: Sequence[Subject] = SUBJECTS, count: Any = None, clocks: Any = None, **options: Any
) -> list[Row]:
    """Measure boards with some settings, and return the rows."""
    return rows_of(measure(cases_of(subjects, **options), count, **(clocks or {})).measured)
