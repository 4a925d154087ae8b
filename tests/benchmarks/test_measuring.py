"""Each script that measures runs with the smallest input, and finds wrong answers out."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType

import fuzz
import page
import pytest
from click.testing import CliRunner

from gpusudoku.errors import MismatchError
from tests.boards import puzzle
from tests.formats import hostile

LIST = "".join(f"{puzzle('3x3', clues, clues)}\n" for clues in (24, 28, 40))
"""Puzzles that singles do not all solve."""


@pytest.mark.parametrize(
    ("name", "arguments", "row"),
    [
        ("techniques", "--hard LIST --sets 1 --repeats 1", "| hard | "),
        ("documents", "decomposition-easy-9x9 --propagate singles --long 1b --repeats 1",
         "| decomposition-easy-9x9 | singles | 1 | 1 | "),
    ],
)  # fmt: skip
def test_a_script_measures_and_shows(name: str, arguments: str, row: str, tmp_path: Path) -> None:
    path, output = tmp_path / "list.txt", tmp_path / "out.json"
    path.write_text(LIST)
    words = [str(path) if word == "LIST" else word for word in arguments.split()]
    main = import_module(name).main
    done = CliRunner().invoke(main, ["--output", str(output), *words])
    assert done.exit_code == 0, (done.output, done.exception)
    assert row in done.stdout
    assert json.loads(output.read_text())["runs"]
    assert done.stdout.rstrip().endswith(f"`python benchmarks/{name}.py`*")
    assert CliRunner().invoke(main, ["--output", str(output), "--show"]).stdout == done.stdout
    assert str(tmp_path) not in output.read_text()


def test_seeds_of_the_fuzzer_keep_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the target, without a fuzzer that could guide it."""
    stand_in = ModuleType("atheris")
    stand_in.instrument_imports = lambda **_: nullcontext()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "atheris", stand_in)
    seeds, target = fuzz.seeds(), import_module("fuzz_target")
    assert len(seeds) > 400
    with hostile.limits(hostile.AT_ONCE):
        for data in [*seeds[::29], *seeds[-2:], b"", b"\0", b"\xff" * 9]:
            target.run(data)


@pytest.mark.slow
@pytest.mark.skipif(page.missing() is not None, reason=f"{page.missing()}")
def test_the_page_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with page.serving() as server, page.chromium(tmp_path / "profile") as driver:
        timed, traced = page.measure(driver, server, {20: 1}, 1)
        assert 0 < timed["seconds"] <= timed["shares_seconds"]
        assert 0 < traced["task_cpu"] < traced["task"] + 1
        board, cell = page.boards(20, 1)[0]
        monkeypatch.setattr(page, "number", lambda text: 5)
        with pytest.raises(MismatchError):
            page.type_last(page.Screen(driver, server.url), board, cell)
