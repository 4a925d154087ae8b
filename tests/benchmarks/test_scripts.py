"""Bad input of a script is one line and status 2; a wrong count ends it with status 1."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import generated
import machine
import numpy as np
import pytest
import script
from click.testing import CliRunner, Result

from gpusudoku import Board, collection
from gpusudoku.errors import InputError, MismatchError
from tests import naive

RECORDING = ["batches", "contraction", "documents", "gpu", "kernel_resources", "peers", "scaling"]
RECORDING += [
    "by_number",
    "cancelling",
    "first_day",
    "fuzz",
    "listing",
    "one_core",
    "page",
    "reading",
    "shares",
    "simulated",
    "speed",
    "streams",
    "techniques",
    "writing",
]
"""Scripts with the options --output and --show."""


def run(name: str, *arguments: object) -> Result:
    return CliRunner().invoke(import_module(name).main, [str(word) for word in arguments])


def assert_refused(done: Result, name: str, *words: str) -> None:
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith(f"{name}.py: ")
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words)


@pytest.mark.parametrize("name", [*RECORDING, "tune_gpu"])
class TestShow:
    def show(self, name: str, path: Path) -> Result:
        arguments = ["--show", path] if name == "tune_gpu" else ["--show", "--output", path]
        return run(name, *arguments)

    def test_a_missing_file(self, name: str, tmp_path: Path) -> None:
        path = tmp_path / "none.json"
        words = f"{path}: No such file or directory, expected a file of results"
        assert_refused(self.show(name, path), name, words)

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "{}", '{"machine": {}}', '{"machine": [], "runs": [{}]}', '{"machine": 1}'],
    )
    def test_another_file(self, name: str, text: str, tmp_path: Path) -> None:
        path = tmp_path / "other.json"
        path.write_text(text)
        assert_refused(self.show(name, path), name, str(path))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("first_day", ["--other", "nowhere"], "nowhere: expected a checkout"),
        ("scaling", ["1f", "nothing"], "no board named '@nothing'"),
        ("simulated", ["nothing"], "no board named '@nothing'"),
        ("speed", ["nothing"], "no board named '@nothing'"),
        ("peers", ["1f", "@nothing"], "no board named '@nothing'"),
        ("documents", ["--long", "nothing"], "no board named '@nothing'"),
        ("documents", ["1f"], "the report has no board '1f', expected one of decomposition-16x16"),
        ("tune_gpu", ["--board", "@nothing"], "no board named '@nothing'"),
        ("techniques", ["--sets", "1,9"], "no set '9', expected some of none, naked-single"),
        ("report", ["nothing"], "no part 'nothing': expected bench, cutoff"),
    ],
)
def test_unknown_names(name: str, arguments: list[str], message: str) -> None:
    """They are refused before anything is measured."""
    assert_refused(run(name, *arguments), name, message)


def test_a_file_of_no_puzzles(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("1....\n")
    assert_refused(run("techniques", "--easy", path), "techniques", f"{path}:1: ")


def test_wrong_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: dict[str, Any] = {"device": "cpu", "method": "search"}
    assert script.counted("box2x2-few", **counted).count == 2
    assert script.counted("box2x2-few", limit=1, **counted).count == 1
    entry = collection.entry("box2x2-few")
    wrong = type(entry)(**{**vars(entry), "count": 3})
    monkeypatch.setattr(collection, "entry", lambda name: wrong)
    with pytest.raises(MismatchError, match=r"^box2x2-few: 2 solutions counted, 3 are right$"):
        script.counted("box2x2-few", **counted)

    @script.command("name")
    def main() -> None:
        script.counted("box2x2-few", **counted)

    done = CliRunner().invoke(main)
    assert done.exit_code == 1
    assert done.stderr == "name.py: box2x2-few: 2 solutions counted, 3 are right\n"


def test_turns() -> None:
    """The first turn warms up, if there is to be one."""
    assert list(script.turns("ab", 2, str)) == [
        ("a", False), ("b", False), ("a", True), ("b", True), ("a", True), ("b", True),
    ]  # fmt: skip
    assert list(script.turns("ab", 1, str, warm_up=False)) == [("a", True), ("b", True)]
    cases = ["a", "A", "b"]
    assert list(script.turns(cases, 1, str, kind=str.lower)) == [
        ("a", False), ("b", False), ("a", True), ("A", True), ("b", True),
    ]  # fmt: skip


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    script.table(["name", "kind", "s"], [["a", "b", "1"], ["c", "", ""]], left=2)
    assert capsys.readouterr().out.splitlines() == [
        "| name | kind | s |",
        "|---|---|---:|",
        "| a | b | 1 |",
        "| c |  |  |",
    ]


def test_results_are_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.bench.machine.commit", lambda: "0123456789ab")
    path = tmp_path / "new" / "runs.json"
    machine.record(path, [{"seconds": 1.5}], gigahertz=[3.0, 3.25])
    results = machine.recorded(path)
    assert results["runs"] == [{"seconds": 1.5}]
    assert results["machine"]["cores"] >= 1
    text = machine.source(path, "python script.py")
    assert "; a core got 3.00 GHz before and 3.25 GHz after; commit " in text
    assert text.endswith("; `python script.py`*")
    with pytest.raises(InputError, match="cannot be written"):
        machine.record(tmp_path, [])


def test_where_results_are_from(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    described = {"processor": "X", "cores": 2, "date": "2026-01-01", "gpusudoku": "0.2.0"}
    path.write_text(json.dumps({"machine": described, "runs": []}))
    assert machine.source(path, "c") == "*X, 2 cores, 2026-01-01; version 0.2.0; `c`*"
    described["commit"] = "0123456789ab-dirty"
    runs = [{"gigahertz": clock} for clock in (1.0, 4.0, 3.0)]
    path.write_text(json.dumps({"machine": described, "runs": runs}))
    text = machine.source(path, "c")
    assert text == "*X, 2 cores, 2026-01-01; 3.00 GHz per core; commit 0123456789ab-dirty; `c`*"


def test_recorded_boards_can_be_made_again() -> None:
    """Boards are random, but always the same."""
    recorded = machine.recorded(machine.RESULTS / "contraction.json")
    groups = script.grouped(recorded["runs"], "group")
    for clues in (0, 5, 30):
        made = [str(board) for board in generated.random_boards(clues, 100)]
        assert made == [run["board"] for run in groups[f"{clues}",]]
    made = [str(board) for board in generated.expensive_boards(50)]
    assert made == [run["board"] for run in groups["expensive",]]


def test_shuffled_boards_are_no_other_puzzles() -> None:
    cells = generated.shuffled("1a", np.random.default_rng(1))
    board = collection.load("1a")
    assert sorted(np.bincount(cells, minlength=10)) == sorted(
        np.bincount(board.cells, minlength=10)
    )
    assert (cells != board.cells).any()
    assert naive.count(Board(cells), 2) == 1


def test_how_often_cases_were_run() -> None:
    assert script.repeated([[1], [1]]) == "Every case was run once."
    assert script.repeated([[1, 2, 3], [1, 2, 3]]) == "Medians of 3 runs, which took turns."
    assert script.repeated([[1], [1, 2, 3]]) == "Medians of 1 to 3 runs, which took turns."
