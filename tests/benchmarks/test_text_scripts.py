"""Reading and writing are measured in every form, with what the program reads and writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import reading
import writing

from tests.boards import puzzle

LINES = 600
"""So many that what is compiled has its turn."""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "BLOCK", 1024)


def test_everything_is_read() -> None:
    boards = [str(puzzle("3x3", 30, seed)) for seed in range(3)] * (LINES // 3)
    runs = reading.measure(boards, 1)
    assert [run["text"] for run in runs] == [*reading.FILES, *reading.GIVEN]
    assert all(run["boards"] == LINES for run in runs)


@pytest.mark.usefixtures("few")
def test_everything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {case: bytes(write()).count(b"\n") for case, write in writing.forms().items()}
    assert set(lines.values()) == {1024}
    monkeypatch.setattr(writing, "converting", lambda form, file: file.stat().st_size)
    runs = writing.measure(1024, 1)
    converted = [("convert", form) for form in writing.CONVERTED]
    assert [(run["command"], run["form"]) for run in runs] == [*lines, *converted]


def test_a_conversion_is_timed(tmp_path: Path) -> None:
    path = tmp_path / "puzzles"
    path.write_text("1....2....3.....\n")
    assert writing.converting("csv", path) > 0
