"""The first sitting: commands as they are timed, and the table of what was recorded."""

from __future__ import annotations

from pathlib import Path

import first_day
import pytest
from machine import record

from gpusudoku.errors import GpusudokuError, MismatchError


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "first_day.json"
    runs = [
        {"version": version, "cores": cores, "command": command, "seconds": cores * seconds}
        for version in ("this", "other")
        for cores in (2, 1)
        for command in ("count @a1", "solve @a1")
        for seconds in (1.0, 2.0, 9.0)
    ]
    record(path, runs)
    first_day.show(path)
    assert capsys.readouterr().out.splitlines() == [
        "| command | 2 cores | 1 core | other, 2 cores | other, 1 core |",
        "|---|---:|---:|---:|---:|",
        "| `count @a1` | 4.00 s | 2.00 s | 4.00 s | 2.00 s |",
        "| `solve @a1` | 4.00 s | 2.00 s | 4.00 s | 2.00 s |",
    ]


def test_a_command_is_timed_and_its_answer_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run with commands that compile nothing."""
    monkeypatch.setattr(first_day, "PUZZLES", ("1a", "full"))
    assert first_day.timed("info batch.txt # again", None, first_day.ROOT, tmp_path, 1) > 0
    with pytest.raises(GpusudokuError, match="nothing: "):
        first_day.timed("info @nothing", None, first_day.ROOT, tmp_path, 1)

    class Done:
        returncode, stdout = 0, "1\n"

    monkeypatch.setattr(first_day.subprocess, "run", lambda *_, **__: Done)
    assert first_day.timed("count @a1", 1, first_day.ROOT, tmp_path, 1) >= 0
    with pytest.raises(MismatchError):
        first_day.timed("count @a1", 2, first_day.ROOT, tmp_path, 1)


def test_all_commands_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folders = set()

    def timed(command: str, line: int | None, tree: Path, folder: Path, cores: int) -> float:
        folders.add(folder)
        return float(cores)

    monkeypatch.setattr(first_day, "timed", timed)
    runs = first_day.measure({"this": tmp_path, "other": tmp_path}, 2)
    assert len(runs) == len(folders) * len(first_day.SITTING)
    assert {run["version"] for run in runs} == {"this", "other"}
