"""Boards explained step by step: the end, the report, and cancellation."""

from __future__ import annotations

import json
import pickle
import random
from itertools import combinations

import numpy as np
import pytest

from gpusudoku import Board, Cancelled, Geometry, explain
from gpusudoku.search.techniques import TECHNIQUES
from tests import naive
from tests.boards import PUZZLE, full_grid, puzzle, with_wrong_clue
from tests.techniques import candidates, outcome
from tests.test_cancelling import Countdown

SHAPES = {
    "1x1": (0, 1),
    "1x4": (3, 6),
    "1x5": (5, 9),
    "2x3": (7, 10, 14),
    "3x2": (8, 12),
    "3x3": (22, 25, 28),
    "4x4": (130,),
}
"""Numbers of clues of the boards of each shape: techniques solve some, and fail early on others."""
SETS = [
    ",".join(("naked-single", *names))
    for size in range(len(TECHNIQUES))
    for names in combinations([*TECHNIQUES][1:], size)
    # Without hidden singles, the result of hidden pairs depends on their order.
    if "hidden-pair" not in names or "hidden-single" in names
]
"""Sets of techniques whose result does not depend on the order in which they are applied."""


def boards(shape: str) -> list[Board]:
    """Return boards with and without solutions, half of them with given candidates."""
    seeds = range(1 + 20 // Geometry.parse(shape).n)
    puzzles = [puzzle(shape, clues, seed) for clues in SHAPES[shape] for seed in seeds[:6]]
    puzzles += [with_wrong_clue(board, seed) for seed, board in enumerate(puzzles) if board.clues]
    return [*puzzles, *(thinned(board, seed) for seed, board in enumerate(puzzles))]


def thinned(board: Board, seed: int) -> Board:
    """Return the board with random given candidates: most of those of its empty cells."""
    rng = np.random.default_rng(seed)
    drawn = rng.random((board.geometry.cells, board.n)) < 0.9
    masks = (drawn << np.arange(board.n)).sum(axis=1).astype(np.uint64)
    digits = np.uint64(1) << (np.maximum(board.cells, 1) - 1).astype(np.uint64)
    return Board(board.cells, board.geometry, candidates=np.where(board.cells > 0, digits, masks))


@pytest.mark.parametrize("shape", SHAPES)
def test_explanations_end_where_the_reference_does(shape: str) -> None:
    draw = random.Random(shape)
    for board in boards(shape):
        techniques = draw.choice([",".join(TECHNIQUES), *draw.sample(SETS, 2)])
        explained = explain(board, techniques)
        expected = outcome(board, techniques)
        assert explained.contradictory == (expected is None)
        if expected is not None:
            assert candidates(explained) == expected
            expected_digits = [digits.pop() if len(digits) == 1 else 0 for digits in expected]
            assert explained.board.cells.tolist() == expected_digits
            assert explained.solved == (0 not in expected_digits)


def test_it_solves_puzzles_that_need_no_guess() -> None:
    explained = explain(PUZZLE)
    assert explained.solved
    assert [tuple(explained.board.cells.tolist())] == [*naive.solutions(explained.puzzle)]
    assert explained.ending == "the board is solved"
    assert len(explained.steps) == explained.puzzle.empty_cells + sum(
        not step.placed for step in explained.steps
    )
    assert str(explained).splitlines() == [step.text for step in explained.steps]
    assert explain(PUZZLE).steps == explained.steps


@pytest.mark.parametrize(
    ("text", "techniques", "ending"),
    [
        ("1234341221434321", "all", "the board is solved"),
        ("123434122143432.", "none", "nothing more is found, with 1 empty cell left"),
        ("................", "all", "nothing more is found, with 16 empty cells left"),
        ("1..1............", "none", "a contradiction: r1c1 and r1c4 both hold 1"),
        ("12..3..4........", "naked-single", "a contradiction: r2c2 has no candidate left"),
        ("12....3.........", "naked-single", "a contradiction: r1c4 has no candidate left"),
        ("..1..2..1.......", "hidden-single", "a contradiction: 1 has no place left in box 1"),
        ("..1..2..1.......", "naked-single", "nothing more is found, with 13 empty cells left"),
    ],
)
def test_endings(text: str, techniques: str, ending: str) -> None:
    explained = explain(text, techniques)
    assert explained.ending == ending
    assert explained.contradictory == ending.startswith("a contradiction")
    assert explained.solved == (ending == "the board is solved")
    steps = len(explained.steps)
    assert repr(explained) == f"<Explained: {steps} step{'s' * (steps != 1)}, then {ending}>"
    assert f"<div>{steps} step" in explained._repr_html_()


def test_a_contradiction_comes_with_the_board_that_shows_it() -> None:
    explained = explain("12....3.........", "naked-single")
    assert (str(explained.puzzle), str(explained.board)) == ("12....3.........", "124...3.........")
    assert explained.candidates.tolist()[:4] == [1, 2, 8, 0]
    conflict = explain("1..1............")
    assert conflict.board == conflict.puzzle
    assert conflict.candidates.tolist()[:4] == [1, 0b1110, 0b1110, 1]


def test_as_dict() -> None:
    board = Board([0] * 81, candidates=[3, 3, *[511] * 79])
    explained = explain(board, "naked-pair")
    [step] = explained.steps
    assert explained.as_dict() == {
        "board": str(board),
        "box": "3x3",
        "contradictory": False,
        "solved": False,
        "ending": "nothing more is found, with 81 empty cells left",
        "result": "." * 81,
        "steps": [
            {
                "technique": "naked-pair",
                "text": str(step),
                "placed": [],
                "removed": [list(removal) for removal in step.removed],
                "cells": [0, 1],
                "unit": 18,
            }
        ],
    }
    for explanation in (explained, explain(PUZZLE), explain("11..............")):
        assert json.loads(json.dumps(explanation.as_dict())) == explanation.as_dict()
        copy = pickle.loads(pickle.dumps(explanation))
        assert copy.as_dict() == explanation.as_dict()
        assert not copy.candidates.flags.writeable


def test_the_largest_boards() -> None:
    geometry = Geometry(8, 8)
    grid = full_grid(geometry, 1).ravel()
    cell = int(np.flatnonzero(grid == 64)[3])
    explained = explain(Board(np.where(np.arange(4096) == cell, 0, grid), geometry))
    assert explained.board.cells.tolist() == grid.tolist()
    assert explained.steps[0].placed == ((cell, 64),)
    assert explained.candidates[cell] == 1 << 63


def test_given_boxes_and_names() -> None:
    assert explain("." * 16, box="1x4").puzzle.geometry == Geometry(1, 4)
    steps = explain(PUZZLE, ["hidden-single", "locked-candidates"]).steps
    assert steps == explain(PUZZLE, "locked").steps


def test_a_token_stops_it_between_steps() -> None:
    for asks in (0, 1, 20):
        with pytest.raises(Cancelled):
            explain(PUZZLE, cancel=Countdown(asks))
        with pytest.raises(Cancelled), Countdown(asks):
            explain(PUZZLE)
