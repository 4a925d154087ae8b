"""The report runs its parts in order, says what failed, and knows no others; and the laws hold."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import model
import pytest
import report
from click.testing import CliRunner


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run; plots fail."""
    run: list[list[str]] = []

    def note(command: list[str], **_: Any) -> SimpleNamespace:
        run.append(command)
        return SimpleNamespace(returncode=int("peers.py" in " ".join(command)))

    monkeypatch.setattr(subprocess, "run", note)
    return run


def test_all_parts(commands: list[list[str]]) -> None:
    done = CliRunner().invoke(report.main, [])
    assert "not done: peers" in str(done.exception) + done.output
    assert "techniques ...\n    left out: its lists of puzzles were not given" in done.output
    text = [" ".join(command) for command in commands]
    assert "-m gpusudoku bench" in text[0]
    assert text[-1].endswith("readme.py")
    assert len(text) == len(set(text)) == 16


def test_some_parts(commands: list[list[str]]) -> None:
    done = CliRunner().invoke(report.main, ["scaling", "techniques", "--easy", "easy.txt"])
    assert done.exit_code == 0
    assert [command[1].rpartition("/")[2] for command in commands] == [
        "scaling.py",
        "techniques.py",
    ]
    assert commands[1][2:] == ["--easy", "easy.txt"]


def test_no_other_parts(commands: list[list[str]]) -> None:
    done = CliRunner().invoke(report.main, ["nothing"])
    assert done.exit_code == 2
    assert "no part 'nothing': expected bench, cutoff" in done.output
    assert commands == []


def test_the_law_of_the_contraction_is_found() -> None:
    runs = [(k, d, 3.0 * 0.8**k * 1.1**d) for k in range(4, 30) for d in (5, 7, 9)]
    runs[0] = (4, 5, 1000.0)  # fewer clues than the law speaks of
    assert model.contraction_law(runs) == pytest.approx((3.0, 0.8, 1.1, 1.0))
