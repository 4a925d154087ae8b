"""Techniques against a reference written with sets, on boards of several shapes.

Whether a hidden pair is seen may depend on the order of things where hidden singles are not looked
for: a digit that loses one of its two places pairs with none. So for such sets of techniques only
what holds in any order is checked.
"""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.simplifying import simplify
from tests import naive
from tests.boards import CLUES, puzzle, run_uncompiled, spoilt
from tests.techniques import Contradiction, candidates, given_clues, outcome, reference

SETS = [
    ("none", "none"),
    ("naked-single", "naked-single"),
    ("hidden-single", "naked-single,hidden-single"),
    ("locked-candidates", "naked-single,locked-candidates"),
    ("locked", "naked-single,hidden-single,locked-candidates"),
    ("naked-pair", "naked-single,naked-pair"),
    ("hidden-single,naked-pair", "naked-single,hidden-single,naked-pair"),
    ("hidden-single,hidden-pair", "naked-single,hidden-single,hidden-pair"),
    ("all", "naked-single,hidden-single,locked-candidates,naked-pair,hidden-pair"),
]
"""Sets of techniques whose result does not depend on any order, and what they bring with them."""

UNORDERED = [("hidden-pair", "naked-single,hidden-pair")]
UNORDERED += [("pairs", "naked-single,naked-pair,hidden-pair")]

COMPILED = [("2x3", "all"), ("3x3", "singles"), ("3x3", "locked"), ("3x3", "all")]
"""What is tried on compiled kernels, which take seconds to make, and many boards."""
PLAIN = [("2x2", "all"), ("2x3", "naked-pair"), ("3x2", "all")]
"""What is tried on many boards all the same."""

BOARDS = {"1x1": 2, "1x4": 40, "2x2": 60, "2x3": 80, "3x2": 80, "3x3": 150}
"""How many boards of each shape the uncompiled techniques are tried on."""

LOCKED = {"1x4": 20, "4x1": 20, "2x4": 12, "4x2": 12, "3x4": 6, "4x3": 6, "4x4": 4, "5x5": 3}
"""The same for locked candidates on shapes that give them more to do."""


@pytest.fixture(params=[*COMPILED, *PLAIN], ids="-".join)
def trial(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A shape and techniques, compiled or not."""
    if request.param in PLAIN:
        run_uncompiled(monkeypatch)
    shape, given = request.param
    return shape, given


def boards(shape: str, number: int) -> list[Board]:
    """Boards with enough clues to begin and too few to end quickly; every third is spoilt."""
    geometry = Geometry.parse(shape)
    counts = np.linspace(geometry.cells * 0.26, geometry.cells * 0.42, number).astype(int).tolist()
    made = [puzzle(geometry, clues, seed) for seed, clues in enumerate(counts)]
    return [spoilt(board, i) if i % 3 == 2 else board for i, board in enumerate(made)]


def check(board: Board, given: str, techniques: str) -> bool:
    """Compare ``simplify`` with the reference; returns whether there was a contradiction."""
    result = simplify(board, given)
    try:
        expected = reference(given_clues(board), board.geometry, techniques)
    except Contradiction:
        assert result.contradictory, board
        assert result.board == board
        return True
    assert not result.contradictory, board
    assert candidates(result) == expected, board
    if given == "none":
        assert result.board == board
    else:
        solved = [next(iter(left)) if len(left) == 1 else 0 for left in expected]
        assert result.board.cells.tolist() == solved
    empty = result.board.cells == 0
    assert result.candidates_left == sum(len(expected[cell]) for cell in np.flatnonzero(empty))
    return False


def test_techniques_on_many_boards(trial: tuple[str, str]) -> None:
    shape, given = trial
    techniques = dict(SETS)[{"singles": "hidden-single"}.get(given, given)]
    outcomes = [check(board, given, techniques) for board in boards(shape, 120)]
    assert set(outcomes) == {True, False}


@pytest.mark.parametrize("kind", ["rows", "columns", "boxes"])
@pytest.mark.parametrize("number", range(2, len(SETS) - 1))
def test_the_boards_need_every_kind_of_unit(number: int, kind: str) -> None:
    """Else the tests below would not notice if one of them was left out.

    All techniques together make up for one another, so they are not tried.
    """
    techniques = SETS[number][1]
    needing = 0
    for board in boards("3x3", BOARDS["3x3"]):
        needing += outcome(board, techniques) != outcome(board, techniques, blind=kind)
    assert needing


@pytest.mark.parametrize("number", range(2, len(SETS)))
def test_the_boards_need_every_technique(number: int) -> None:
    """Else the tests below would not notice if it was left out."""
    *others, last = SETS[number][1].split(",")
    needing = 0
    for board in boards("3x3", BOARDS["3x3"]):
        needing += outcome(board, ",".join([*others, last])) != outcome(board, ",".join(others))
    assert needing >= 3


@pytest.mark.parametrize("shape", list(BOARDS))
@pytest.mark.parametrize(("given", "techniques"), SETS)
@pytest.mark.usefixtures("uncompiled")
def test_uncompiled_techniques(shape: str, given: str, techniques: str) -> None:
    for board in boards(shape, BOARDS[shape]):
        check(board, given, techniques)


@pytest.mark.parametrize("shape", list(LOCKED))
@pytest.mark.parametrize(("given", "techniques"), [each for each in SETS if "locked" in each[0]])
@pytest.mark.usefixtures("uncompiled")
def test_locked_candidates_in_boxes_of_any_shape(shape: str, given: str, techniques: str) -> None:
    for board in boards(shape, LOCKED[shape]):
        check(board, given, techniques)


@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x3"])
@pytest.mark.parametrize(("given", "techniques"), UNORDERED)
@pytest.mark.usefixtures("uncompiled")
def test_hidden_pairs_without_hidden_singles(shape: str, given: str, techniques: str) -> None:
    for board in boards(shape, BOARDS[shape]):
        result = simplify(board, given)
        if result.contradictory:
            assert outcome(board, dict(SETS)["all"]) is None
            continue
        found = candidates(result)
        at_first = given_clues(board)
        assert all(left <= before for left, before in zip(found, at_first, strict=True))
        assert reference(found, board.geometry, techniques) == found, "there was more to find"


def test_no_solution_is_lost(trial: tuple[str, str]) -> None:
    shape, given = trial
    for seed in range(20):
        board = puzzle(shape, CLUES[shape] + seed % 5, seed)
        solutions = list(naive.solutions(board))
        left = candidates(simplify(board, given))
        for cell, found in enumerate(left):
            assert {solution[cell] for solution in solutions} <= found


def test_only_boards_without_solutions_are_called_contradictory(trial: tuple[str, str]) -> None:
    shape, given = trial
    called = 0
    for seed in range(40):
        board = spoilt(puzzle(shape, CLUES[shape] + seed % 5, seed), seed)
        if simplify(board, given).contradictory:
            called += 1
            assert naive.count(board, 1) == 0
    assert called > 10
