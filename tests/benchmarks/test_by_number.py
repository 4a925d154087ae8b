"""Samples, numbers and ranks are timed, and every number is checked by the way back."""

from __future__ import annotations

from pathlib import Path

import by_number
import pytest
from generated import random_boards
from machine import record

import gpusudoku
from gpusudoku.errors import MismatchError
from tests import naive

CLUES = 30
"""Boards with few solutions."""


@pytest.mark.usefixtures("uncompiled")
def test_everything_is_timed() -> None:
    runs = by_number.measure([CLUES], 2, 5)
    assert [run["clues"] for run in runs] == [CLUES] * 2
    for run, board in zip(runs, random_boards(CLUES, 2), strict=True):
        assert run["board"] == str(board)
        assert int(run["count"]) == naive.count(board, 1 << 12)
        assert run["samples"] == 5
        for what in ("nth", "rank", "quick"):
            assert len(run[what]) == 1 + by_number.FURTHER
            assert min(run[what]) > 0


@pytest.mark.usefixtures("uncompiled")
def test_a_wrong_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpusudoku.Solutions, "rank", lambda *_: -1)
    with pytest.raises(MismatchError, match="before a solution: -1"):
        by_number.measure([CLUES], 1, 5)


def test_one_board_has_no_clues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_number.Watch, "run", lambda self, samples: {"samples": samples})
    runs = by_number.measure([0, 4], 3, 7)
    assert runs == [{"clues": clues, "samples": 7} for clues in (0, 4, 4, 4)]


def test_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "by_number.json"
    further = {"nth": [4.0, 1.0, 3.0], "rank": [2.0, 0.5, 0.25], "quick": [1.0, 0.001, 0.002]}
    common = {"clues": 8, "count_seconds": 0.5, "samples": 1000, **further}
    runs = [{**common, "set_up": 0.25, "sampling": 0.01}, {**common, "set_up": 0.52, "sampling": 1}]
    record(path, runs, gigahertz=[3.0, 3.0])
    by_number.show(path)
    tables = capsys.readouterr().out.split("\n\n")
    assert [lines.splitlines()[2:] for lines in tables] == [
        ["| 8 | 2 | 0.5 | 0.77 | 20 ms | 50,500 | 1,000 |"],
        ["| 8 | 4 | 4 | 2 | 3 | 2 | 2 | 0.375 | 0.5 | 1.5 | 2 |"],
    ]
