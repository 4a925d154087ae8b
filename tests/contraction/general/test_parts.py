"""Boards divided by clues, and their parts contracted; and what may be spent on finding out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import parts as module
from gpusudoku.contraction.general.parts import BoardPart, Parts, divide, simplify
from gpusudoku.contraction.protocol import Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.planning import contraction as planned
from tests import naive
from tests.boards import full_grid, puzzle, spoilt
from tests.contraction.general.boards import clues_only, join_of, summed

WHOLE = TooExpensive("too expensive to contract: said for a test")


def parts_of(board: Board, **bounds: Any) -> Parts:
    return Parts(board, 1 << 28, WHOLE, **bounds)


def counted(parts: Parts, stop: int = 0) -> int:
    """Add up all tasks, and what they are divided into."""
    todo = list(parts.tasks)
    total = 0
    while todo:
        total += parts.sum_one(todo, np.full(1, stop))[0]
    return total


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 30), ("4x4", 158)])
def test_children_share_no_solution_and_lose_none(shape: str, clues: int) -> None:
    """What singles have found are clues of theirs."""
    board = puzzle(shape, clues, 2)
    [whole] = simplify([board])
    choices = np.bitwise_count(whole.candidates)
    children = whole.children()
    assert len(children) == (1 if whole.solved else choices[choices > 1].min())
    found = [cells for child in children for cells in naive.solutions(child)]
    assert sorted(found) == list(naive.solutions(board))
    for child in children:
        assert (clues_only(child)[choices == 1] == whole.candidates[choices == 1]).all()
        assert child.clues == (choices == 1).sum() + (not whole.solved)


def test_all_digits_of_the_widest_board() -> None:
    """A mask of one bit of 64 is its digit, up to the last."""
    cells = full_grid(Geometry(8, 8), 1).ravel()
    part = BoardPart(np.uint64(1) << (cells.astype(np.uint64) - np.uint64(1)), Geometry(8, 8))
    assert part.solved
    [child] = part.children()
    assert (child.cells == cells).all()


def test_contradictions_are_left_out() -> None:
    board = spoilt(puzzle("3x3", 60, 5), 1)
    assert naive.count(board) == 0
    assert simplify([board]) == simplify([]) == divide([]) == []
    parts = parts_of(Board([1, 1] + [0] * 14))
    assert (parts.seconds, counted(parts), parts.tasks) == (0, 0, [])


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("shape", "clues", "seed"), [("2x3", 8, 2), ("3x3", 28, 2), ("3x3", 30, 3)]
)
def test_counts_and_tasks(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    parts = parts_of(board)
    other = parts_of(board)
    assert counted(parts) == naive.count(board) > 1
    assert parts.seconds == other.seconds
    for task, same in zip(parts.tasks, other.tasks, strict=True):
        assert (task.candidates == same.candidates).all()
    assert len(parts.tasks) > 1
    assert counted(parts, stop=1) == 0


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 6), ("3x3", 26), ("4x4", 145)])
def test_a_cheap_board_is_one_task(shape: str, clues: int) -> None:
    board = puzzle(shape, clues, 2)
    parts = parts_of(board)
    assert (counted(parts), len(parts.tasks)) == (summed(join_of(board)), 1)


@pytest.mark.slow
def test_an_expensive_board() -> None:
    board = puzzle("4x4", 100, 3)
    parts = parts_of(board)
    expected = gpusudoku.count(board, device="cpu", method="search").count
    assert counted(parts) == expected == 1154898
    assert len(parts.tasks) > 1


@pytest.mark.usefixtures("small_parts")
def test_a_board_that_is_too_expensive_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted in parts on threads; or the message tells why neither is contracted."""
    monkeypatch.setattr(planned, "MAX_SECONDS", 0)
    board = puzzle("2x3", 8, 2)
    result = gpusudoku.count(board, device="cpu", method="contraction", jobs=2)
    assert (result.count, result.method) == (naive.count(board), "contraction")
    monkeypatch.setattr(module, "MAX_SECONDS", 0.1)
    with pytest.raises(
        TooExpensive, match=rf"^{WHOLE}; in parts it would take more than [\d.e+-]+ s"
    ):
        parts_of(puzzle("3x3", 30, 3))


@pytest.mark.usefixtures("small_parts")
def test_parts_stop_at_what_they_are_worth() -> None:
    board = puzzle("3x3", 24, 3)
    whole = Effort()
    parts_of(board, effort=whole)
    bounded = Effort()
    with pytest.raises(TooExpensive, match="in parts it would take more than"):
        parts_of(board, worth=1.0, effort=bounded)
    assert bounded.spent < whole.spent
    with pytest.raises(TooExpensive, match=r"the estimate alone would take more than 0.01 "):
        parts_of(board, effort=Effort(0.01))


def test_a_step_that_is_too_much_is_not_begun() -> None:
    effort = Effort(1.0)
    effort.spend(6, 0.1)
    assert effort.covers(3, 0.1)
    with pytest.raises(TooExpensive, match="the estimate alone would take more than 1 s"):
        effort.spend(5, 0.1)
    assert effort.spent == pytest.approx(0.6)


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 28), ("4x4", 130)])
def test_a_join_stops_at_the_bound_and_always_at_the_same_step(shape: str, clues: int) -> None:
    """Whatever the bound: so all of the work is counted, and counted alike."""
    board = puzzle(shape, clues, 2)
    whole = Effort()
    join = join_of(board, effort=whole)
    assert 0 < whole.spent < 1
    for share in (0.1, 0.5):
        spent = []
        for _ in range(2):
            bounded = Effort(share * whole.spent)
            with pytest.raises(TooExpensive, match="the estimate alone"):
                join_of(board, effort=bounded)
            spent.append(bounded.spent)
        assert spent[0] == spent[1] <= share * whole.spent
    enough = join_of(board, effort=Effort(whole.spent))
    assert (enough.steps, enough.tasks) == (join.steps, join.tasks)
