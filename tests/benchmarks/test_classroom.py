"""The textbook counters count as gpusudoku does, and the race prints a table."""

from __future__ import annotations

from math import inf
from typing import Any

import classroom
import numpy as np
import pytest
from click.testing import CliRunner, Result
from numba import njit

import gpusudoku
from gpusudoku import collection
from tests.boards import puzzle
from tests.engines.cuda.simulator import ON_SIMULATOR

BOARDS = {
    **{name: collection.load(name) for name in ("1a", "box2x2-empty", "techniques-16x16")},
    **{name: collection.load(name) for name in ("full", "full-error", "box2x3-conflict")},
    "6x6": puzzle("2x3", 9, 3),
    "upright": puzzle("3x2", 9, 4),
    "9x9": puzzle("3x3", 28, 5),
}
EMPTY = collection.load("box2x2-empty")


def run_classroom(*words: object) -> Result:
    return CliRunner().invoke(classroom.main, [str(word) for word in words])


@pytest.mark.parametrize("name", BOARDS)
def test_counts_are_those_of_gpusudoku(name: str) -> None:
    board = BOARDS[name]
    expected = gpusudoku.count(board, device="cpu", method="search").count
    assert classroom.sequential(board) == expected
    assert classroom.fork_join(board, 2, 1e10) == expected


def test_numba_counts_the_same_solutions() -> None:
    compiled = njit(classroom.backtrack)

    def on_arrays(*lists: Any) -> int:
        return compiled(*(np.array(integers, np.int64) for integers in lists))

    for board in BOARDS.values():
        assert classroom.sequential(board, on_arrays) == classroom.sequential(board)


@pytest.mark.parametrize("cutoff", [1, 1e4, inf])
def test_the_cutoff_changes_the_tasks_and_not_the_count(cutoff: float) -> None:
    tasks = list(classroom.fork(EMPTY, cutoff))
    assert sum(map(classroom.sequential, tasks)) == classroom.fork_join(EMPTY, 2, cutoff) == 288
    assert (len(tasks) == 1) == (cutoff == inf)
    assert list(classroom.fork(BOARDS["full-error"], cutoff)) == []


@pytest.mark.usefixtures("without_cuda")
def test_all_counters_race() -> None:
    result = run_classroom("@box2x2-empty", "-j", 2, "--cutoff", 1e4)
    assert result.exit_code == 0, (result.output, result.exception)
    heads, _, *rows = (line.strip("| ").split(" | ") for line in result.stdout.splitlines())
    assert heads == ["counter", "s", "solutions/s", "speed-up"]
    assert [row[0] for row in rows] == [
        *("sequential, Python", "fork/join, Python, -j 2", "sequential, Numba"),
        *("gpusudoku, -j 1", "gpusudoku, -j 2"),
    ]
    assert rows[0][3] == "1.00"


class TestOnAGpu:
    pytestmark = ON_SIMULATOR

    def test_it_races_last(self) -> None:
        result = run_classroom("box2x2-few", "-j", 1)
        assert result.exit_code == 0, (result.output, result.exception)
        assert result.stdout.splitlines()[-1].startswith("| gpusudoku, simulated GPU | ")


def test_a_wrong_count_ends_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "sequential", lambda board: 3)
    result = run_classroom("box2x2-few")
    assert result.exit_code == 1
    assert result.stderr == "classroom.py: sequential, Python: counted 3 solutions, expected 2\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("25x25-few", "@25x25-few: expected a board of at most 16 digits"),
        ("nothing", "no board named '@nothing'"),
    ],
)
def test_boards_that_cannot_race_are_refused(name: str, message: str) -> None:
    result = run_classroom(name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"classroom.py: {message}")
