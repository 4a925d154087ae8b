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
from gpusudoku.formats import parse
from gpusudoku.logic import simplify
from tests import naive
from tests.boards import CLUES, puzzle, run_uncompiled, with_wrong_clue
from tests.techniques import Candidates, candidates, given_clues, outcome, reference

SETS = {
    "none": "none",
    "naked-single": "naked-single",
    "hidden-single": "naked-single,hidden-single",
    "locked-candidates": "naked-single,locked-candidates",
    "locked": "naked-single,hidden-single,locked-candidates",
    "naked-pair": "naked-single,naked-pair",
    "hidden-single,naked-pair": "naked-single,hidden-single,naked-pair",
    "hidden-single,hidden-pair": "naked-single,hidden-single,hidden-pair",
    "all": "naked-single,hidden-single,locked-candidates,naked-pair,hidden-pair",
}
"""Sets of techniques whose result does not depend on any order, and what they bring with them."""

BOARDS = {"1x1": 2, "1x4": 12, "4x1": 12, "2x2": 24, "2x3": 24, "3x2": 24, "2x4": 6, "3x3": 36,
          "4x3": 3, "4x4": 2, "5x5": 1}  # fmt: skip
"""How many boards of each shape the techniques are tried on."""


def boards(shape: str, board_count: int) -> list[Board]:
    """Make boards with enough clues to begin, too few to end quickly; a third have a wrong clue."""
    geometry = Geometry.parse(shape)
    counts = (
        np.linspace(geometry.cells * 0.26, geometry.cells * 0.42, board_count).astype(int).tolist()
    )
    puzzles = [puzzle(geometry, clues, seed) for seed, clues in enumerate(counts)]
    return [with_wrong_clue(board, i) if i % 3 == 2 else board for i, board in enumerate(puzzles)]


def check(board: Board, names: str, expected: Candidates | None) -> None:
    """Compare ``simplify`` with what the reference leaves."""
    result = simplify(board, names)
    assert result.contradictory == (expected is None), board
    if expected is None:
        assert result.board == board
        return
    assert candidates(result) == expected, board
    if names == "none":
        assert result.board == board
    else:
        placed_digits = [next(iter(digits)) if len(digits) == 1 else 0 for digits in expected]
        assert result.board.cells.tolist() == placed_digits
    empty = np.flatnonzero(result.board.cells == 0)
    assert result.candidates_left == sum(len(expected[cell]) for cell in empty)


@pytest.mark.parametrize("names", SETS)
@pytest.mark.usefixtures("uncompiled")
def test_techniques_leave_what_the_reference_leaves(names: str) -> None:
    """And on some of the boards the last of them is needed."""
    *earlier_techniques, _ = SETS[names].split(",")
    boards_that_need_the_last, contradictions = 0, 0
    for shape, number in BOARDS.items():
        for board in boards(shape, number):
            expected = outcome(board, SETS[names])
            check(board, names, expected)
            contradictions += expected is None
            if shape == "3x3" and earlier_techniques:
                boards_that_need_the_last += expected != outcome(
                    board, ",".join(earlier_techniques)
                )
    assert boards_that_need_the_last or not earlier_techniques
    assert contradictions


def test_compiled_techniques_leave_the_same() -> None:
    for board in boards("3x3", 40):
        check(board, "all", outcome(board, SETS["all"]))


@pytest.mark.parametrize(
    ("names", "techniques"),
    [("hidden-pair", "naked-single,hidden-pair"), ("pairs", "naked-single,naked-pair,hidden-pair")],
)
@pytest.mark.usefixtures("uncompiled")
def test_hidden_pairs_without_hidden_singles(names: str, techniques: str) -> None:
    for shape in ("2x3", "3x3"):
        for board in boards(shape, 30):
            result = simplify(board, names)
            if result.contradictory:
                assert outcome(board, SETS["all"]) is None
                continue
            remaining = candidates(result)
            initial = given_clues(board)
            assert all(
                digits <= initial_digits
                for digits, initial_digits in zip(remaining, initial, strict=True)
            )
            assert reference(remaining, board.geometry, techniques) == remaining, (
                "there was more to find"
            )


@pytest.mark.parametrize(("shape", "names"), [("2x3", "all"), ("3x3", "pairs")])
def test_no_solution_is_lost(shape: str, names: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_uncompiled(monkeypatch)
    for seed in range(20):
        board = puzzle(shape, CLUES[shape] + seed % 5, seed)
        solutions = list(naive.solutions(board))
        for cell, digits in enumerate(candidates(simplify(board, names))):
            assert {solution[cell] for solution in solutions} <= digits
        wrong_board = with_wrong_clue(board, seed)
        assert not simplify(wrong_board, names).contradictory or naive.count(wrong_board, 1) == 0


FIRST_BOX = ".25...... .36...... .47......"
PAIR, HIDDEN = "..1234... 567......", "..3...... ...12.... ......12."


@pytest.mark.parametrize(
    ("technique", "box", "text", "digits", "cells"),
    [
        # What goes from the cells is that technique's find, and no naked single's.
        ("hidden-single", "2x2", ".... 1... ..1.", {2, 3, 4}, [3, 13]),
        # The first box has the digits in its first row, then in its first column.
        ("locked-candidates", "3x3", "......... 234...... 567......", {1, 8, 9}, range(3, 9)),
        ("locked-candidates", "3x3", FIRST_BOX, {1, 8, 9}, [27, 36, 45, 54, 63, 72]),
        ("locked-candidates", "2x3", "...... 234...", {1, 5, 6}, [3, 4, 5]),
        ("locked-candidates", "2x3", ".23... .45...", {1, 6}, [12, 18, 24, 30]),
        # The first row, then the first column, has them in the first box.
        ("locked-candidates", "3x3", "...456789", {1, 2, 3}, [9, 10, 11, 18, 19, 20]),
        ("locked-candidates", "3x3", "." * 27 + "........".join("456789"), {1, 2, 3},
         [1, 2, 10, 11, 19, 20]),
        ("locked-candidates", "2x3", "...456", {1, 2, 3}, [6, 7, 8]),
        ("locked-candidates", "2x3", "." * 12 + ".....".join("3456"), {1, 2}, [1, 2, 7, 8]),
        # r1c1 and r1c2 hold 8 or 9, which so leave the rest of their row and of their box.
        ("naked-pair", "3x3", PAIR, {8, 9}, [6, 7, 8, 18, 19, 20]),
        # Digits 1 and 2 of the first box can only stand in r1c1 and r1c2.
        ("hidden-pair", "3x3", HIDDEN, {4, 5, 6, 7, 8, 9}, [0, 1]),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("uncompiled")
def test_what_each_technique_takes_away(
    technique: str, box: str, text: str, digits: set[int], cells: list[int]
) -> None:
    board = parse(text.replace(" ", "").ljust(Geometry.parse(box).cells, "."), box=box)
    expected = candidates(simplify(board, "naked-single"))
    assert all(digits & expected[cell] for cell in cells)
    for cell in cells:
        expected[cell] -= digits
    assert candidates(simplify(board, technique)) == expected


@pytest.mark.parametrize(
    ("technique", "too_little", "box", "text"),
    [
        ("none", None, "2x2", "11.............."),
        ("none", None, "2x2", "1...1..........."),
        ("none", None, "2x2", "1....1.........."),
        ("none", None, "2x2", "12.3..4........."),  # a cell without candidates
        # The 1 has no place in the first box, row or column; nothing else shows that.
        ("hidden-single", "naked-single", "3x3", "........1 456...... 789......"),
        ("hidden-single", "naked-single", "3x3", "456789... ......1.. ........."),
        ("hidden-single", "naked-single", "3x3", "........".join("456789") + "......... .1......."),
        # The 1 of two boxes can only stand in row 1; that of two rows only in the first box.
        ("locked-candidates", "singles", "3x3", "......... 234567... 567234..."),
        ("locked-candidates", "singles", "3x3", "...234567 ...567234 ........."),
        ("naked-single", "none", "1x4", "..3. 12.. 21.. ...."),  # two cells that can only be 4
    ],
)
@pytest.mark.usefixtures("uncompiled")
def test_contradictions(technique: str, too_little: str | None, box: str, text: str) -> None:
    board = parse(text.replace(" ", "").ljust(Geometry.parse(box).cells, "."), box=box)
    result = simplify(board, technique)
    assert result.contradictory
    assert result.board == board
    assert result.candidates.tolist() == board.candidates.tolist()
    assert too_little is None or not simplify(board, too_little).contradictory
