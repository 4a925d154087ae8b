"""Boards divided by clues, and their parts contracted: counts, estimates and tasks."""

import numpy as np
import pytest

import gpusudoku
from gpusudoku.board.board import Board
from gpusudoku.contraction import prepare
from gpusudoku.contraction.general import parts
from gpusudoku.contraction.general.parts import Part, Parts, divided, simplified
from gpusudoku.errors import TooExpensive
from tests import naive
from tests.boards import full_grid, puzzle, spoilt
from tests.contraction.general.boards import clues_only

WHOLE = TooExpensive("too expensive to contract: said for a test")
MEMORY = 1 << 28


@pytest.fixture
def few_maps(monkeypatch):
    """Parts are expensive with more than ten maps, and even small sums have many tasks."""
    monkeypatch.setattr(parts, "PART_MAPS", 10)
    monkeypatch.setattr(parts, "TASK_LISTINGS", 1)


def summed(parts, tasks, stop=0):
    todo, total = list(tasks), 0
    while todo:
        total += parts.sum_one(todo, np.full(1, stop))[0]
    return total


def counted(parts):
    return summed(parts, parts.tasks)


def choices(part):
    return np.bitwise_count(part.candidates).tolist()


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 30), ("4x4", 158)])
def test_children_share_no_solution_and_lose_none(shape, clues):
    board = puzzle(shape, clues, 2)
    (whole,) = simplified([board])
    children = whole.children()
    assert len(children) == (1 if whole.solved else min(c for c in choices(whole) if c > 1))
    assert sorted(cells for child in children for cells in naive.solutions(child)) == sorted(
        naive.solutions(board)
    )


def test_singles_become_clues():
    board = puzzle("4x4", 158, 2)
    (whole,) = simplified([board])
    for child in whole.children():
        fixed = np.array(choices(whole)) == 1
        assert (clues_only(child)[fixed] == whole.candidates[fixed]).all()
        assert child.clues == fixed.sum() + (not whole.solved)


def test_all_digits_of_the_widest_board():
    """A mask of one bit of 64 is its digit, up to the last."""
    grid = full_grid(gpusudoku.Geometry(8, 8), 1)
    cells = grid.ravel()
    part = Part(np.uint64(1) << (cells.astype(np.uint64) - np.uint64(1)), gpusudoku.Geometry(8, 8))
    assert part.solved
    (child,) = part.children()
    assert (child.cells == cells).all()


def test_contradictions_are_left_out():
    board = spoilt(puzzle("3x3", 60, 5), 1)
    assert naive.count(board) == 0
    assert simplified([board]) == []
    assert simplified([]) == divided([]) == []


@pytest.mark.usefixtures("few_maps")
@pytest.mark.parametrize(
    ("shape", "clues", "seed"), [("2x3", 8, 2), ("3x3", 28, 2), ("3x3", 30, 3)]
)
def test_counts(shape, clues, seed):
    board = puzzle(shape, clues, seed)
    parts = Parts(board, MEMORY, WHOLE)
    assert counted(parts) == naive.count(board) > 1
    assert len(parts.tasks) > 1


@pytest.mark.usefixtures("few_maps")
def test_on_threads(monkeypatch):
    """From the interface to the parts, as a board that is too expensive as a whole."""
    monkeypatch.setattr(prepare, "MOST_SECONDS", 0)
    board = puzzle("2x3", 8, 2)
    made = []
    estimate = Parts._estimate
    monkeypatch.setattr(Parts, "_estimate", lambda *of: made.append(of[0]) or estimate(*of))
    result = gpusudoku.count(board, device="cpu", method="contraction", jobs=2)
    assert (result.count, result.method) == (naive.count(board), "contraction")
    assert len(made[0].tasks) > 1


@pytest.mark.slow
def test_an_expensive_board():
    board = puzzle("4x4", 100, 3)
    parts = Parts(board, MEMORY, WHOLE)
    expected = gpusudoku.count(board, device="cpu", method="search").count
    assert counted(parts) == expected == 1154898
    assert len(parts.tasks) > 1


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 6), ("3x3", 26), ("4x4", 145)])
def test_a_cheap_board_is_one_task(shape, clues):
    board = puzzle(shape, clues, 2)
    parts = Parts(board, MEMORY, WHOLE)
    expected = gpusudoku.count(board, device="cpu", method="search").count
    assert (counted(parts), len(parts.tasks)) == (expected, 1)


def test_no_solution_is_no_task():
    parts = Parts(Board([1, 1] + [0] * 14), MEMORY, WHOLE)
    assert (parts.seconds, counted(parts), parts.tasks) == (0, 0, [])


@pytest.mark.usefixtures("few_maps")
def test_tasks_depend_on_the_board_alone():
    board = puzzle("2x3", 8, 2)
    one, other = (Parts(board, MEMORY, WHOLE) for _ in range(2))
    assert one.seconds == other.seconds
    assert len(one.tasks) == len(other.tasks) > 1
    for task, same in zip(one.tasks, other.tasks, strict=True):
        assert (task.candidates == same.candidates).all()


@pytest.mark.usefixtures("few_maps")
def test_no_more_tasks_than_are_worth_while(monkeypatch):
    board = puzzle("3x3", 30, 3)
    fine = Parts(board, MEMORY, WHOLE).tasks
    monkeypatch.setattr(parts, "MOST_TASKS", 4)
    coarse = Parts(board, MEMORY, WHOLE)
    assert 4 <= len(coarse.tasks) < len(fine)
    assert counted(coarse) == naive.count(board)


def test_stop():
    board = puzzle("2x3", 8, 2)
    parts = Parts(board, MEMORY, WHOLE)
    assert summed(parts, parts.tasks, stop=1) == 0


@pytest.mark.usefixtures("few_maps")
def test_too_expensive_in_parts(monkeypatch):
    """The message tells why neither the whole nor its parts are contracted."""
    monkeypatch.setattr(parts, "MOST_SECONDS", 0.1)
    with pytest.raises(
        TooExpensive, match=rf"^{WHOLE}; in parts it would take more than [\d.e+-]+ s"
    ):
        Parts(puzzle("3x3", 30, 3), MEMORY, WHOLE)
