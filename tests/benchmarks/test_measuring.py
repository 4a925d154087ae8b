"""The scripts that measure run with the smallest input, and show their recorded results."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.boards import puzzle

LIST = "".join(f"{puzzle('3x3', clues, clues)}\n" for clues in (24, 28, 40))
"""Puzzles that singles do not all solve."""


@pytest.mark.parametrize(
    ("name", "arguments", "row"),
    [
        pytest.param("memory", "--seconds 2", "| 25x25, no clues | ", marks=pytest.mark.slow),
        ("techniques", "--hard LIST --repeats 1", "| hard | "),
        pytest.param("documents", "--repeats 1", "| decomposition-easy-9x9 | singles | 1 | 1 | ",
                     marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_script_measures_and_shows(name: str, arguments: str, row: str, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    output = tmp_path / "out.json"
    path.write_text(LIST)
    words = [str(path) if word == "LIST" else word for word in arguments.split()]
    main = import_module(name).main
    result = CliRunner().invoke(main, ["--output", str(output), *words])
    assert result.exit_code == 0, (result.output, result.exception)
    assert row in result.stdout
    assert json.loads(output.read_text())["runs"]
    assert result.stdout.rstrip().endswith(f"`python benchmarks/{name}.py`*")
    assert CliRunner().invoke(main, ["--output", str(output), "--show"]).stdout == result.stdout
    assert str(tmp_path) not in output.read_text()
