"""The shares are timed and checked, and boards whose shares take too long are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shares
from generated import random_boards
from machine import record

import gpusudoku
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import MismatchError
from tests import naive

CLUES = 36
"""Boards with very few solutions."""


@pytest.mark.usefixtures("uncompiled")
def test_boards_alone_and_together() -> None:
    boards, engine = random_boards(CLUES, 3), make_engine(device="cpu")
    counts = [naive.count(board, 1 << 12) for board in boards]
    options: dict[str, Any] = {"engine": engine, "device": "cpu"}
    for board, count in zip(boards, counts, strict=True):
        run = shares.measure_board(board, options)
        assert (run["board"], run["count"]) == (str(board), str(count))
        assert min(run["seconds"], run["count_seconds"]) > 0
    assert shares.by_objects(boards, engine) == sum(counts)
    assert shares.by_batch(boards, engine) == sum(counts)


@pytest.mark.usefixtures("uncompiled")
def test_a_wrong_sum_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpusudoku.Solutions, "shares", lambda _: np.full((81, 9), 99, object))
    with pytest.raises(MismatchError, match="891 solutions counted"):
        shares.measure_board(random_boards(CLUES, 1)[0], {"device": "cpu"})


def test_short_runs_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "SHORT", 1000.0)  # however long a busy machine takes for one
    calls: list[int] = []
    seconds, result = shares.timed(lambda: calls.append(1) or len(calls))
    assert (len(calls), result) == (shares.REPEATS, shares.REPEATS)
    assert seconds < shares.SHORT


def test_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shares.json"
    runs: list[dict[str, Any]] = [
        {"clues": 8, "board": board, "count": "5", "count_seconds": 1.0, "seconds": seconds}
        for board, seconds in (("first", 2.0), ("second", 10.0), ("third", 10.25))
    ]
    runs.append({"clues": 20, "boards": 50, "way": "by hand", "seconds": 0.5})
    record(path, runs, gigahertz=[3.0, 3.0])
    shares.show(path)
    lines = capsys.readouterr().out.splitlines()
    assert "| 8 | 3 | 1.0000 | 10.0000 | 10.250 | 10.0 | 10.2 | 1 |" in lines
    assert "Boards over 10 counts and 10 ms: 1 of 3." in lines
    assert "- third: 10.2500 s, its count 1.0000 s" in lines
    assert "| by hand | 100 |" in lines
