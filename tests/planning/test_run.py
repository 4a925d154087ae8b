"""Running a plan: what it is told, and interrupts."""

from __future__ import annotations

import threading

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import effort
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options
from gpusudoku.planning.run import count_board
from tests.boards import puzzle


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_count_can_be_interrupted(jobs: int) -> None:
    """With what it has found so far, and no thread left behind."""
    seen = []

    def progress(state: Progress) -> None:
        seen.append(state.count)
        if state.count:
            raise KeyboardInterrupt

    before = threading.active_count()
    board = Board.empty(Geometry(3, 3))
    with pytest.raises(Interrupted) as caught:
        count(board, device="cpu", method="search", jobs=jobs, progress=progress)
    assert caught.value.count >= seen[-1] > 0
    assert threading.active_count() <= before


def test_an_interrupt_while_widening_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpusudoku.search.frontier import Frontier

    def expanded(*_: object, **__: object) -> Frontier:
        raise KeyboardInterrupt

    monkeypatch.setattr(Frontier, "expanded", expanded)
    with pytest.raises(Interrupted) as caught:
        count(Board.empty(Geometry(2, 3)), device="cpu", method="search", jobs=1)
    assert caught.value.count == 0


def test_an_interrupt_while_a_contraction_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(effort, "LONG_SECONDS", 0.0)
    options = Options(device="cpu", jobs=1)
    with pytest.raises(Interrupted) as caught:
        count_board(puzzle("4x4", 102, 1), options, CpuEngine(1), looking=interrupt)
    assert caught.value.count == 0
