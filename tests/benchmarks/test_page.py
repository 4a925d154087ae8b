"""The script that measures the page in a browser."""

from __future__ import annotations

from pathlib import Path

import page
import pytest
from chromium import chromium, missing, serving
from click.testing import CliRunner
from machine import record
from screen import Screen

import gpusudoku
from gpusudoku.errors import MismatchError


def test_boards_have_their_clues_and_a_solution() -> None:
    for clues in page.CLUES:
        found = page.boards(clues, 3)
        assert [board.clues for board, _ in found] == [clues] * 3
        for board, cell in found:
            assert gpusudoku.count(board, limit=1, device="cpu").count == 1
            before = page.without(board, cell)
            assert (before.clues, before.cells[cell]) == (clues - 1, 0)
    assert page.boards(20, 2) == page.boards(20, 3)[:2]


def test_without_a_browser_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "missing", lambda: "no Chromium")
    done = CliRunner().invoke(page.main, [])
    assert done.exit_code == 2
    assert done.stderr == "page.py: the page cannot be measured: no Chromium\n"


def test_times_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    runs: list[page.Run] = [
        {"clues": 20, "count": "1000", "library_seconds": 0.01, "seconds": seconds,
         "shares_seconds": 2 * seconds}
        for seconds in (0.02, 0.03, 0.04)
    ]  # fmt: skip
    runs += [{"clues": 20, "task": 0.9, "task_cpu": 0.012}]
    record(tmp_path / "found.json", runs)
    page.show(tmp_path / "found.json")
    assert "| 20 | 3 | 1e+03 | 10 | 10 | 30 | 38 | 60 | 76 | 12 |" in capsys.readouterr().out


@pytest.mark.skipif(missing() is not None, reason=f"{missing()}")
def test_the_page_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server, chromium(tmp_path / "profile") as driver:
        runs = page.measure(driver, server, {20: 2}, 1)
        timed, traced = runs[:2], runs[2:]
        for run in timed:
            assert 0 < run["seconds"] <= run["shares_seconds"]
        assert [run["clues"] for run in runs] == [20] * 3
        assert 0 < traced[0]["task_cpu"] < traced[0]["task"] + 1
        board, cell = page.boards(20, 1)[0]
        monkeypatch.setattr(page, "number", lambda text: 5)
        with pytest.raises(MismatchError):
            page.type_last(Screen(driver, server.url), board, cell)
