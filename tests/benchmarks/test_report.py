"""The report runs its parts in order, names those that fail, and keeps complete results."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import report
from click.testing import CliRunner


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Replace the commands: record them, and let the part with other programs fail."""
    command_lines: list[list[str]] = []

    def record(command_line: list[str]) -> bool:
        command_lines.append(command_line)
        return "peers.py" not in " ".join(command_line)

    monkeypatch.setattr(report, "run_quietly", record)
    for name in report.PROGRAMS:
        monkeypatch.delenv(name, raising=False)
    return command_lines


def names(commands: list[list[str]]) -> list[str]:
    return [Path(words[1]).stem if words[1] != "-m" else "bench" for words in commands]


def test_all_parts(commands: list[list[str]]) -> None:
    result = CliRunner().invoke(report.main, [])
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "report.py: failed: peers"
    assert names(commands) == [
        "bench", "bench", "bench", "timings", "documents", "peers", "contraction",
        "estimates", "memory", "figures", "readme",
    ]  # fmt: skip


def test_some_parts(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(report.PROGRAMS[0], "program")
    words = ["techniques", "one_core", "--easy", __file__, "--batch", __file__]
    assert CliRunner().invoke(report.main, words).exit_code == 0
    assert names(commands) == ["techniques", "one_core", "figures", "readme"]
    assert __file__ in commands[0]
    assert __file__ in commands[1]


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("fails", [False, True])
def test_results_of_a_part_replace_earlier_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """A part that fails changes nothing."""
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text("before")

    def parts_of(folder: Path, *_: object) -> dict[str, list[list[str]]]:
        write = f"import pathlib; pathlib.Path({str(folder / 'one.json')!r}).write_text('new')"
        end = f"import sys; sys.exit({int(fails)})"
        return {"one": [[sys.executable, "-ISc", line] for line in (write, end)]}

    monkeypatch.setattr(report, "parts_of", parts_of)
    monkeypatch.setattr(report, "script", lambda _: [sys.executable, "-ISc", ""])
    assert CliRunner().invoke(report.main, []).exit_code == int(fails)
    assert texts(tmp_path) == {"one.json": "before" if fails else "new", "two.json": "before"}
