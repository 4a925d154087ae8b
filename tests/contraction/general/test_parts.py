"""Boards divided by clues whose parts are contracted; and the effort of estimates."""

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
from tests.boards import full_grid, puzzle, with_wrong_clue
from tests.contraction.general.boards import clues_only, join_of, summed

WHOLE = TooExpensive("too expensive to contract: said for a test")


def parts_of(board: Board, **bounds: Any) -> Parts:
    return Parts(board, 1 << 28, WHOLE, **bounds)


def counted(parts: Parts, stop: int = 0) -> int:
    """Sum all tasks, and the parts into which they are divided."""
    pending_parts = list(parts.tasks)
    total = 0
    while pending_parts:
        total += parts.sum_or_divide_last(pending_parts, np.full(1, stop))[0]
    return total


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 30), ("4x4", 158)])
def test_children_have_each_solution_once(shape: str, clues: int) -> None:
    """The digits that singles find become clues of the children."""
    board = puzzle(shape, clues, 2)
    [whole] = simplify([board])
    candidate_counts = np.bitwise_count(whole.candidates)
    is_fixed = candidate_counts == 1
    children = whole.children()
    assert len(children) == (1 if whole.is_solved else candidate_counts[~is_fixed].min())
    solutions = [cells for child in children for cells in naive.solutions(child)]
    assert sorted(solutions) == list(naive.solutions(board))
    for child in children:
        assert (clues_only(child)[is_fixed] == whole.candidates[is_fixed]).all()
        assert child.clues == is_fixed.sum() + (not whole.is_solved)


def test_all_digits_of_the_widest_board() -> None:
    """Every bit of a mask of 64 is the right digit."""
    cells = full_grid(Geometry(8, 8), 1).ravel()
    part = BoardPart(np.uint64(1) << (cells.astype(np.uint64) - np.uint64(1)), Geometry(8, 8))
    assert part.is_solved
    [child] = part.children()
    assert (child.cells == cells).all()


def test_contradictions_are_left_out() -> None:
    board = with_wrong_clue(puzzle("3x3", 60, 5), 1)
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
    same_parts = parts_of(board)
    assert counted(parts) == naive.count(board) > 1
    assert parts.seconds == same_parts.seconds
    for task, same_task in zip(parts.tasks, same_parts.tasks, strict=True):
        assert (task.candidates == same_task.candidates).all()
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
    """It is counted in parts on threads; or the message says why neither is possible."""
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
def test_the_estimate_of_parts_is_bounded() -> None:
    board = puzzle("3x3", 24, 3)
    full_effort = Effort()
    parts_of(board, effort=full_effort)
    bounded_effort = Effort()
    with pytest.raises(TooExpensive, match="in parts it would take more than"):
        parts_of(board, worth=1.0, effort=bounded_effort)
    assert bounded_effort.spent < full_effort.spent
    with pytest.raises(TooExpensive, match=r"the estimate alone would take more than 0.01 "):
        parts_of(board, effort=Effort(0.01))


def test_steps_over_the_budget_are_not_spent() -> None:
    effort = Effort(1.0)
    effort.spend(6, 0.1)
    assert effort.covers(3, 0.1)
    with pytest.raises(TooExpensive, match="the estimate alone would take more than 1 s"):
        effort.spend(5, 0.1)
    assert effort.spent == pytest.approx(0.6)


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 28), ("4x4", 130)])
def test_a_join_stops_at_its_budget_at_a_deterministic_step(shape: str, clues: int) -> None:
    """So all work is counted, and in the same way in every run."""
    board = puzzle(shape, clues, 2)
    full_effort = Effort()
    join = join_of(board, effort=full_effort)
    assert 0 < full_effort.spent < 1
    for fraction in (0.1, 0.5):
        budget = fraction * full_effort.spent
        efforts = [Effort(budget), Effort(budget)]
        for effort in efforts:
            with pytest.raises(TooExpensive, match="the estimate alone"):
                join_of(board, effort=effort)
        assert efforts[0].spent == efforts[1].spent <= budget
    same_join = join_of(board, effort=Effort(full_effort.spent))
    assert (same_join.steps, same_join.tasks) == (join.steps, join.tasks)
