"""What scripts share: bad input is one line and status 2, a wrong count 1; tables, results."""

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

SHOWING = ["contraction", "documents", "gpu", "memory", "one_core", "peers", "techniques"]
"""Scripts with the options --output and --show."""


def run(name: str, *arguments: object) -> Result:
    return CliRunner().invoke(import_module(name).main, [str(word) for word in arguments])


def assert_refused(done: Result, name: str, *words: str) -> None:
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert done.stderr.startswith(f"{name}.py: ")
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize("name", SHOWING)
def test_only_its_own_results_are_shown(name: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
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
    """It is refused before anything is measured."""
    path = tmp_path / "list.txt"
    path.write_text("1....\n")
    words = [str(path) if word == "LIST" else word for word in arguments]
    assert_refused(run(name, *words), name, message)


def test_wrong_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: dict[str, Any] = {"device": "cpu", "method": "search"}
    assert script.counted("box2x2-few", **counted).count == 2
    assert script.counted("box2x2-few", limit=1, **counted).count == 1
    entry = collection.entry("box2x2-few")
    wrong = type(entry)(**{**vars(entry), "count": 3})
    monkeypatch.setattr(collection, "entry", lambda name: wrong)

    @script.command("name")
    def main() -> None:
        script.counted("box2x2-few", **counted)

    done = CliRunner().invoke(main)
    assert done.exit_code == 1
    assert done.stderr == "name.py: box2x2-few: 2 solutions counted, 3 are right\n"


def test_cases_take_turns() -> None:
    """The first turn warms up, if there is to be one."""
    kept = [("a", True), ("b", True)]
    assert list(script.turns("ab", 2, str)) == [("a", False), ("b", False), *kept, *kept]
    assert list(script.turns("ab", 1, str, warm_up=False)) == kept
    assert script.repeated([[1], [1]]) == "Every case was run once."
    assert script.repeated([[1], [1, 2, 3]]) == "Medians of 1 to 3 runs, which took turns."


def test_results_and_where_they_are_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.bench.suite.commit", lambda: "0123456789ab")
    path = tmp_path / "new" / "runs.json"
    machine.record(path, [{"seconds": 1.5}], gigahertz=[3.0, 3.25])
    assert machine.recorded(path)["runs"] == [{"seconds": 1.5}]
    text = machine.source(path, "python script.py")
    release = f"release {gpusudoku.__version__}, commit 0123456789ab"
    assert f"; a core got 3.00 GHz before and 3.25 GHz after; {release}; " in text
    with pytest.raises(InputError, match="cannot be written"):
        machine.record(tmp_path, [])
    described = {"processor": "X", "cores": 2, "date": "2026-01-01", "gpusudoku": "0.2.0"}
    path.write_text(json.dumps({"machine": described, "runs": []}))
    assert machine.source(path, "c") == "*X, 2 cores, 2026-01-01; release 0.2.0; `c`*"


def test_recorded_random_boards_can_be_made_again() -> None:
    recorded = machine.recorded(machine.RESULTS / "contraction.json")
    groups = script.grouped(recorded["runs"], "group")
    for clues in (0, 5, 30):
        made = [str(board) for board in generated.random_boards(clues, 100)]
        assert made == [run["board"] for run in groups[f"{clues}",]]
    made = [str(board) for board in generated.expensive_boards(50)]
    assert made == [run["board"] for run in groups["expensive",]]
