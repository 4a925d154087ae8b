"""The report runs its parts in order, says what failed, and keeps what is whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import report
from click.testing import CliRunner


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run; the other programs fail."""
    run: list[list[str]] = []

    def note(words: list[str]) -> bool:
        run.append(words)
        return "peers.py" not in " ".join(words)

    monkeypatch.setattr(report, "run_quietly", note)
    for name in report.PROGRAMS:
        monkeypatch.delenv(name, raising=False)
    return run


def names(commands: list[list[str]]) -> list[str]:
    return [Path(words[1]).stem if words[1] != "-m" else "bench" for words in commands]


def test_all_parts(commands: list[list[str]]) -> None:
    result = CliRunner().invoke(report.main, [])
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "report.py: failed: peers"
    assert names(commands) == [
        "bench", "bench", "bench", "timings", "documents", "peers", "contraction", "memory",
        "figures", "readme",
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
def test_results_of_a_whole_part_take_the_place_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """Of a part that fails all is as before."""
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
