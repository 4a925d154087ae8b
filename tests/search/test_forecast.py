"""The forecast of a search: right within a factor of two, or not shown."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.counting import count
from gpusudoku.engines import cpu
from gpusudoku.jobs.job import Job, Task
from gpusudoku.search import frontier
from tests.boards import puzzle, with_wrong_clue

TICK = 1e-4
FRACTIONS = (0.1, 0.25, 0.5)
BOARDS: dict[str, Callable[[], Board]] = {
    "1c": lambda: collection.load("1c"),
    "1d": lambda: collection.load("1d"),
    "2d": lambda: collection.load("2d"),
    "b6": lambda: collection.load("b6"),
    "16x16-many": lambda: collection.load("16x16-many"),
    "16x16-solutions": lambda: collection.load("16x16-solutions"),
    "4x4, 112 clues": lambda: puzzle("4x4", 112, 2),
    "4x4, 108 clues": lambda: puzzle("4x4", 108, 5),
    "2x5, 33 clues": lambda: puzzle("2x5", 33, 4),
    "2x5, 31 clues, one wrong": lambda: with_wrong_clue(puzzle("2x5", 31, 5), 5),
}
"""Boards with trees of different skew; each takes 100,000 to two million nodes."""


@pytest.fixture
def forecasts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Board], list[tuple[float, float]]]:
    """Search a board; return the nodes and the share that is reported as done after every call.

    The clock of the search counts its readings, so a machine that is busy changes nothing.
    """
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: TICK * next(ticks))
    monkeypatch.setattr(cpu, "CALL_SECONDS", TICK)
    monkeypatch.setattr(frontier, "time", clock)
    monkeypatch.setattr(frontier, "FIRST_SAMPLE_SECONDS", 10 * TICK)
    monkeypatch.setattr(frontier, "SAMPLING_SHARE", 0.05)
    monkeypatch.setattr(frontier, "MAX_EFFORT", 16)
    log: list[tuple[float, float]] = []
    advance = Job.advance

    def logged(job: Job, task: Task, work: float) -> None:
        advance(job, task, work)
        nodes = log[-1][0] + work if log else work
        log.append((nodes, job.done))

    monkeypatch.setattr(Job, "advance", logged)

    def search(board: Board) -> list[tuple[float, float]]:
        log.clear()
        count(board, method="search", device="cpu", jobs=1, progress=lambda _: None)
        return list(log)

    return search


def test_the_total_on_boards_of_different_skew(
    forecasts: Callable[[Board], list[tuple[float, float]]],
) -> None:
    """At a tenth, a quarter and a half of ten searches."""
    ratios = []
    for make in BOARDS.values():
        log = forecasts(make())
        total = log[-1][0]
        for fraction in FRACTIONS:
            nodes, share = next(entry for entry in log if entry[0] >= fraction * total)
            if share:
                ratios.append(nodes / share / total)
    forecast_ratios = np.array(ratios)
    assert len(forecast_ratios) > len(BOARDS) * len(FRACTIONS) / 2
    assert forecast_ratios.min() > 0.1
    assert np.mean((forecast_ratios > 0.5) & (forecast_ratios < 2)) > 0.8
