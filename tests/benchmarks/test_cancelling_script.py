"""Calls are cancelled, and what they do until their threads have ended is measured."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import cancelling
import pytest
from cancelled_calls import Case, board, cases
from machine import record

import gpusudoku
from gpusudoku import Cancelled, CancelToken
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.jobs.cancel import check_cancelled
from tests import naive
from tests.jobs.test_job import wait_until


def never(token: CancelToken) -> None:
    """A call that does nothing until it is cancelled."""
    while True:
        check_cancelled(token)


def test_a_call_is_cancelled() -> None:
    run = cancelling.cancelled(never, 0.01)
    assert run is not None
    assert run["moment"] == 0.01
    assert run["seconds"] > 0
    assert min(run["cpu"], run["later"]) >= 0


def test_its_threads_are_waited_for() -> None:
    threads: list[threading.Thread] = []

    def call(token: CancelToken) -> None:
        threads.append(threading.Thread(target=wait_until, args=(lambda: token.cancelled,)))
        threads[0].start()
        never(token)

    assert cancelling.cancelled(call, 0.01) is not None
    assert not threads[0].is_alive()


def test_a_call_that_ends_before_is_none() -> None:
    assert cancelling.cancelled(lambda _: None, 5.0) is None


def test_a_call_that_fails_is_an_error() -> None:
    def fail(_: CancelToken) -> None:
        raise InputError("nothing can be done")

    with pytest.raises(GpusudokuError, match="nothing can be done"):
        cancelling.cancelled(fail, 5.0)


@pytest.mark.usefixtures("uncompiled")
def test_every_moment_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancelling, "WARM_SECONDS", 0.05)
    monkeypatch.setattr(cancelling, "MOST_SECONDS", 0.1)
    runs = cancelling.measure([Case("nothing", "no board", never)], 3)
    assert [(run["what"], run["board"]) for run in runs] == [("nothing", "no board")] * 3
    for run in runs:
        assert 0 <= run["moment"] < run["takes"] <= 0.1


def test_all_kinds_of_calls_take_their_tokens() -> None:
    found, token = cases(), CancelToken()
    assert len({(case.what, case.board) for case in found}) == len(found) > 30
    token.cancel()
    for case in found:
        with pytest.raises(Cancelled):
            case.call(token)


def test_boards_have_their_clues_and_a_solution() -> None:
    assert board("3x4", 40).clues == 40
    assert gpusudoku.solve(board("2x3", 20), device="cpu").board is not None
    assert naive.count(board("2x2", 6), 100) > 0


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cancelling.json"
    runs: list[dict[str, Any]] = [
        {"what": "`count`", "board": "a board", "takes": 1.0, "moment": 0.5, "seconds": seconds,
         "cpu": seconds / 2, "later": 0.001, "load": 3.0}
        for seconds in (0.01, 0.02, 0.15)
    ]  # fmt: skip
    record(path, runs)
    cancelling.show(path)
    lines = capsys.readouterr().out.splitlines()
    assert "| `count` | a board | 3 | 20 | 124 | 150 | 10 | 62 | 75 |" in lines
    assert "Free within 100 ms: 2 of 3; with no more processor time than that: 3." in lines
    assert "In the 20 ms after that the process took 1.0 ms of processor time at most." in lines
    assert "Programs that wanted a core: 3.0 in the middle." in lines
