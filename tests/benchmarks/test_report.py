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

    def note(words: list[str], scratch: str) -> bool:
        assert Path(scratch).is_dir()
        run.append(words)
        return "peers.py" not in " ".join(words)

    monkeypatch.setattr(report, "succeeds", note)
    for name in report.PROGRAMS:
        monkeypatch.delenv(name, raising=False)
    return run


def names(commands: list[list[str]]) -> list[str]:
    return [Path(words[1]).stem if words[1] != "-m" else "bench" for words in commands]


def test_all_parts(commands: list[list[str]]) -> None:
    done = CliRunner().invoke(report.main, [])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == "report.py: not done: peers"
    assert "techniques ...\n    left out: its lists of puzzles were not given" in done.stderr
    assert "one_core ...\n    left out: no variable names a program: GPUSUDOKU_" in done.stderr
    assert names(commands) == [
        "bench", "bench", "bench", "speed", "scaling", "simulated", "batches", "reading",
        "waits", "by_number", "listing", "making", "knowing", "documents", "peers", "figures",
        "readme",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["techniques", "scaling", "scaling", "--easy", __file__], ["scaling", "techniques"]),
        (["cutoff"], ["bench"] * 3 + ["simulated"]),  # what is compared is recorded together
    ],
)
def test_some_parts(commands: list[list[str]], words: list[str], parts: list[str]) -> None:
    """They run in the order of the report, whatever they are asked for in."""
    assert CliRunner().invoke(report.main, words).exit_code == 0
    assert names(commands) == [*parts, "figures", "readme"]
    assert __file__ not in words or __file__ in commands[len(parts) - 1]


def texts(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


@pytest.mark.parametrize("fails", [False, True])
def test_results_of_a_whole_part_take_the_place_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """A figure that is not drawn any more goes; of a part that fails all is as before."""
    results = tmp_path / "results"
    monkeypatch.setattr(report, "RESULTS", results)
    (results / "plots" / "one").mkdir(parents=True)
    for name in ("one.json", "two.json", "plots/model.svg", "plots/one/a.svg", "plots/one/b.svg"):
        (results / name).write_text("before")
    before = texts(results)

    def commands(folder: Path, *_: object) -> dict[str, list[list[str]]]:
        lines = [
            f"import pathlib, sys; new = pathlib.Path({str(folder)!r})",
            "(new / 'plots' / 'one').mkdir(parents=True)",
            "for x in 'one.json', 'plots/model.svg', 'plots/one/a.svg': (new/x).write_text('new')",
        ]
        end = [sys.executable, "-ISc", f"import sys; sys.exit({int(fails)})"]
        return {"one": [[sys.executable, "-ISc", "\n".join(lines)], end]}

    monkeypatch.setattr(report, "commands", commands)
    assert CliRunner().invoke(report.main, []).exit_code == int(fails)
    after = dict.fromkeys(("one.json", "plots/model.svg", "plots/one/a.svg"), "new")
    assert texts(results) == (before if fails else {"two.json": "before", **after})
    assert [path.name for path in results.iterdir() if path.name.startswith(".")] == []
