"""The sum of a join: cut into tasks, estimated, stopped, modulo primes, and as plain Python."""

import numpy as np
import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import join as module
from gpusudoku.contraction.general import orientation
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.remainders import combined, primes_above
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import after_singles, clues_only, count, summed


def test_no_candidate_is_no_solution():
    for shape in "1x1", "2x2", "3x3":
        geometry = Geometry.parse(shape)
        candidates = clues_only(Board.empty(geometry)).copy()
        candidates[-1] = 0
        join = Join(candidates, geometry)
        assert (join.steps, join.seconds, join.tasks) == (0, 0, 0)
        assert count(candidates, geometry) == 0


@pytest.mark.parametrize("least_steps", [1 << 12, 1 << 14])
@pytest.mark.parametrize(
    ("shape", "clues", "symmetric"), [("2x4", 0, True), ("3x3", 18, False), ("2x4", 9, True)]
)
def test_tasks_add_up(monkeypatch, shape, clues, symmetric, least_steps):
    """However finely the sum is cut, and however many tasks are summed at a time."""
    board = puzzle(shape, clues, 3)
    candidates = clues_only(board) if clues == 0 else after_singles(board)
    expected = count(candidates, board.geometry)
    monkeypatch.setattr(module, "LEAST_STEPS", least_steps)
    join = Join(candidates, board.geometry, symmetric=symmetric)
    scratch, stop = join.scratch(), np.zeros(1, np.int64)
    assert join.tasks > 1
    sums = [join.sum(range(task, task + 1), scratch, stop)[0] for task in range(join.tasks)]
    assert sum(sums) * join.factor == expected
    half = join.tasks // 2
    halves = [join.sum(tasks, scratch, stop)[0] for tasks in (range(half), range(half, join.tasks))]
    assert halves == [sum(sums[:half]), sum(sums[half:])]


@pytest.mark.parametrize(("shape", "clues"), [("2x4", 0), ("2x4", 9)])
def test_tasks_cover_all_pairs(shape, clues):
    """Every pair of a first and a second entry belongs to one branch, up to swaps of digits."""
    board = puzzle(shape, clues, 3)
    candidates = clues_only(board) if clues == 0 else after_singles(board)
    way = Join(candidates, board.geometry).orientation
    sizes = np.diff(way.index.begin)
    for steps in 1, 1 << 12, 1 << 20, way.steps:
        tasks = way.tasks(steps)
        covered = sum(int((task.weight * (task.end - task.begin)).sum()) for task in tasks)
        assert covered == sizes[0] * sizes[1]


def test_tasks_depend_on_the_board_alone():
    board = puzzle("2x4", 9, 3)
    one, other = (Join(after_singles(board), board.geometry) for _ in range(2))
    one.prepare(1)
    other.prepare(7)
    assert one.tasks == other.tasks > 1
    stop = np.zeros(1, np.int64)
    for task in range(one.tasks):
        tasks = range(task, task + 1)
        assert one.sum(tasks, one.scratch(), stop) == other.sum(tasks, other.scratch(), stop)


def test_steps_are_about_right():
    """The estimate, against the terms that are added up: no less than a step each."""
    board = collection.load("1f")
    join = Join(after_singles(board), board.geometry)
    _, terms = join.sum(range(join.tasks), join.scratch(), np.zeros(1, np.int64))
    assert terms < join.steps < 1000 * terms
    assert join.steps == Join(after_singles(board), board.geometry).steps


def test_stop():
    board = collection.load("2f")
    join = Join(after_singles(board), board.geometry)
    assert join.tasks > 0
    stop = np.ones(1, np.int64)
    assert join.sum(range(join.tasks), join.scratch(), stop) == (0, 0)


def test_remainders():
    number = 3**200
    primes = primes_above(number).tolist()
    assert all(p < 1 << 31 for p in primes)
    assert combined([number % p for p in primes], primes) == number
    assert primes_above(0).size == 0


@pytest.mark.parametrize("wide", [False, True])
def test_plain_python(monkeypatch, wide):
    """The sum and its estimate are Python functions too, and give the same there."""
    board = puzzle("2x2", 3, 1)
    expected = Join(clues_only(board), board.geometry, wide=wide)
    monkeypatch.setattr(orientation, "join", orientation.join.python)
    monkeypatch.setattr(orientation, "probe", orientation.probe.python)
    with np.errstate(over="ignore"):  # random numbers and unused products wrap
        join = Join(clues_only(board), board.geometry, wide=wide)
        assert join.steps == expected.steps
        assert summed(join) == naive.count(board) > 0
