"""Code that scripts share: errors are one line with a status, tables, files of results."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import generated
import machine
import pytest
import script
from click.testing import CliRunner, Result

import gpusudoku
from gpusudoku import collection
from gpusudoku.errors import InputError

SHOWING = ["contraction", "documents", "estimates", "gpu", "memory", "one_core", "peers"]
SHOWING += ["techniques"]
"""Scripts with the options --output and --show."""


def run(name: str, *arguments: object) -> Result:
    return CliRunner().invoke(import_module(name).main, [str(word) for word in arguments])


def assert_refused(result: Result, name: str, *words: str) -> None:
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert result.stderr.startswith(f"{name}.py: ")
    assert all(word in result.stderr for word in words), result.stderr


@pytest.mark.parametrize("name", SHOWING)
def test_only_results_of_the_script_are_shown(name: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    words = ["--show", "--output", path]
    missing = f"{path}: No such file or directory, expected a file of results"
    assert_refused(run(name, *words), name, missing)
    for text in ("", '{"machine": {}}', '{"machine": [], "runs": [{}]}'):
        path.write_text(text)
        assert_refused(run(name, *words), name, str(path))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("timings", ["reading", "nothing"], "no topic 'nothing': expected some of batches"),
        ("timings", ["--show", "--results", "nowhere"], "batches.json: No such file or directory"),
        ("peers", ["1f", "nothing"], "no board named '@nothing'"),
        ("techniques", ["--easy", "LIST"], "list.txt:1: "),
        ("report", ["nothing"], "no part 'nothing': expected some of bench, timings"),
    ],
)
def test_bad_input(name: str, arguments: list[str], message: str, tmp_path: Path) -> None:
    """Bad input is refused before anything is measured."""
    path = tmp_path / "list.txt"
    path.write_text("1....\n")
    words = [str(path) if word == "LIST" else word for word in arguments]
    assert_refused(run(name, *words), name, message)


def test_wrong_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"device": "cpu", "method": "search"}
    assert script.count_checked("box2x2-few", **options).count == 2
    assert script.count_checked("box2x2-few", limit=1, **options).count == 1
    entry = collection.entry("box2x2-few")
    wrong = type(entry)(**{**vars(entry), "count": 3})
    monkeypatch.setattr(collection, "entry", lambda name: wrong)

    @script.command("name")
    def main() -> None:
        script.count_checked("box2x2-few", **options)

    result = CliRunner().invoke(main)
    assert result.exit_code == 1
    assert result.stderr == "name.py: box2x2-few: counted 2 solutions, expected 3\n"


def test_cases_take_turns() -> None:
    """An additional first turn warms up, unless a script does without."""
    recorded_turn = [("a", True), ("b", True)]
    warm_up_turn = [("a", False), ("b", False)]
    assert [*script.take_turns("ab", 2, str)] == [*warm_up_turn, *recorded_turn, *recorded_turn]
    assert [*script.take_turns("ab", 1, str, warm_up=False)] == recorded_turn
    assert script.describe_repeats([[1], [1]]) == "Every case was run once."
    assert script.describe_repeats([[1], [1, 2, 3]]) == "Medians of 1 to 3 runs, which took turns."


def test_results_and_the_line_that_names_their_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpusudoku.bench.suite.commit", lambda: "0123456789ab")
    path = tmp_path / "new" / "runs.json"
    machine.record(path, [{"seconds": 1.5}], gigahertz=[3.0, 3.25])
    assert machine.read_results(path)["runs"] == [{"seconds": 1.5}]
    text = machine.source_line(path, "python script.py")
    release = f"release {gpusudoku.__version__}, commit 0123456789ab"
    assert f"; a core got 3.00 GHz before and 3.25 GHz after; {release}; " in text
    with pytest.raises(InputError, match="cannot be written"):
        machine.record(tmp_path, [])
    description = {"processor": "X", "cores": 2, "date": "2026-01-01", "gpusudoku": "0.2.0"}
    path.write_text(json.dumps({"machine": description, "runs": []}))
    assert machine.source_line(path, "c") == "*X, 2 cores, 2026-01-01; release 0.2.0; `c`*"


def test_recorded_random_boards_can_be_made_again() -> None:
    results = machine.read_results(machine.RESULTS / "contraction.json")
    groups = script.group_runs(results["runs"], "group")
    for clues in (0, 5, 30):
        boards = [str(board) for board in generated.random_boards(clues, 100)]
        assert boards == [run["board"] for run in groups[f"{clues}",]]
    boards = [str(board) for board in generated.expensive_boards(50)]
    assert boards == [run["board"] for run in groups["expensive",]]
