"""Topics are timed and shown; a wrong answer ends the run with status 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import script
import timing_cases
import timings
from click.testing import CliRunner, Result
from timing_cases import TOPICS, Case, Topic

from gpusudoku import Board
from tests.boards import puzzle

COMMANDS = {"batches", "by_number", "knowing", "listing", "making", "shares", "waits"}
"""Topics that start many commands, or compile much."""


def run(*words: object) -> Result:
    return CliRunner().invoke(timings.main, [str(word) for word in words])


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in COMMANDS else ()) for name in TOPICS],
)
def test_a_topic_is_timed_and_shown(name: str, tmp_path: Path) -> None:
    result = run(name, "--quick", "--repeats", 1, "--results", tmp_path)
    assert result.exit_code == 0, (result.output, result.exception)
    [path] = tmp_path.iterdir()
    runs = json.loads(path.read_text())["runs"]
    assert path.name == f"timings-{name}.json"
    assert all(run["seconds"] > 0 and run["cpu_seconds"] > 0 for run in runs)
    assert all(f"| {run['label']} | " in result.stdout for run in runs)
    assert result.stdout.rstrip().endswith(f"; `python benchmarks/timings.py {name}`*")
    assert run("--show", name, "--results", tmp_path).stdout == result.stdout
    assert str(tmp_path) not in path.read_text()


def test_a_wrong_answer_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("adding", "Python", 3, lambda: 1 + 1, int)
    topic = Topic("sums", "sum", "number", True, lambda _: iter([case]))
    monkeypatch.setitem(TOPICS, "sums", topic)
    result = run("sums", "--results", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.endswith("timings.py: adding, Python: 2 items are right, expected 3\n")
    assert [*tmp_path.iterdir()] == []


def test_a_command_that_fails_is_named(tmp_path: Path) -> None:
    setting = timing_cases.Setting(tmp_path)
    with pytest.raises(timing_cases.GpusudokuError, match=r"^count: .*nothing"):
        setting.command("count", "@nothing")()


def test_wrong_puzzles_are_found(tmp_path: Path) -> None:
    grid = puzzle("3x3", 81, 24)
    assert timing_cases.count_proper([grid, grid]) == 2
    assert timing_cases.count_proper([grid, Board.empty(grid.geometry)]) == 1
    assert timing_cases.count_minimal([grid, grid]) == 0  # their clues are redundant
    path = tmp_path / "lines"
    path.write_text(f"{grid}\n{'.' * 81}\n")
    assert timing_cases.count_proper(path) == 1
    path.write_text("1:1\n2:2+\n3:0\n")  # as count --limit 2 writes them
    assert timing_cases.count_unique(path) == 1
    path.write_text('{"count": "5"}\n{"count": "7"}\n')
    assert timing_cases.count_equal([5, 6], path) == 1


def test_tables_have_medians_of_cpu_seconds(tmp_path: Path) -> None:
    """Rates and times have three digits."""
    run_of_one = {"label": "one", "items": 1000, "seconds": 9.0}
    runs = [
        {**run_of_one, "variant": "-j 1", "cpu_seconds": seconds} for seconds in (3.0, 0.75, 0.1)
    ]
    runs.append({**run_of_one, "label": "two", "variant": "-j 2", "cpu_seconds": 0.1})
    timings.record(tmp_path / "timings-batches.json", runs, topic="batches")
    out = run("--show", "batches", "--results", tmp_path).stdout
    assert "Puzzles a second and core. Medians of 1 to 3 runs, which took turns.\n" in out
    assert "| command | -j 1 | -j 2 |" in out
    assert "| one | 1,330 |  |" in out
    assert "| two |  | 10,000 |" in out
    times = [script.format_duration(seconds) for seconds in (12.345, 0.05, 0.0009999, 1.2345e-7)]
    assert times == ["12.3 s", "50 ms", "1 ms", "0.123 µs"]
