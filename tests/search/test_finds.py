"""Steps of techniques: each is correct for its stated reason, and the simplest possible."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from gpusudoku import Board, Geometry, explain
from gpusudoku.search.finds import Step
from gpusudoku.search.techniques import TECHNIQUES
from tests.boards import puzzle, with_wrong_clue
from tests.techniques import Candidates, candidates, given_clues, reference

CLUES = {"1x1": [0], "2x2": [2, 6], "1x4": [3], "1x5": [9], "2x3": [7, 14], "3x2": [12],
         "3x3": [25, 28], "2x5": [48], "4x4": [130]}  # fmt: skip
"""Numbers of clues of the boards of each shape: some are solved, and on some little is found."""


def follow(board: Board) -> set[str]:
    """Check every step of a board with sets of candidates; return the techniques."""
    explained = explain(board)
    if explained.contradictory:
        return set()
    cells = given_clues(board)
    names = [*TECHNIQUES]
    placed = set(np.flatnonzero(board.cells).tolist())
    for step in explained.steps:
        singles = {cell for cell, digits in enumerate(cells) if len(digits) == 1} - placed
        assert (step.technique == "naked-single") == bool(singles)
        cheaper = ",".join(names[: names.index(step.technique)])
        assert not cheaper or reference(cells, board.geometry, cheaper) == cells
        assert {*step.placed, *step.removed} == consequences(step, cells, board.geometry)
        assert len(step.placed) + len(step.removed) > 0
        for cell, digit in step.removed:
            cells[cell].remove(digit)
        for cell, digit in step.placed:
            for peer in board.geometry.peers[cell].tolist():
                cells[peer].discard(digit)
            cells[cell] = {digit}
            placed.add(cell)
    assert cells == candidates(explained)
    return {step.technique for step in explained.steps}


def consequences(step: Step, cells: Candidates, geometry: Geometry) -> set[tuple[int, int]]:
    """Return the cells and digits that a step's reason places or removes."""
    units = [set(unit) for unit in geometry.units.tolist()]
    reason = set(step.cells)
    shared = {cell for unit in units if reason <= unit for cell in unit} - reason
    if step.technique == "naked-single":
        [cell] = reason
        return {(cell, digit) for digit in cells[cell]}
    assert step.unit is not None
    assert reason <= units[step.unit]
    digits = [
        digit
        for digit in range(1, geometry.n + 1)
        if {cell for cell in units[step.unit] if digit in cells[cell]} == reason
    ]
    if step.technique == "hidden-single":
        [cell] = reason
        return {(cell, digit) for digit in digits}
    if step.technique == "locked-candidates":
        [digit] = {digit for _, digit in step.removed}
        assert digit in digits
        meeting = {
            unit // geometry.n for unit, unit_cells in enumerate(units) if reason <= unit_cells
        }
        assert 2 in meeting  # a box, and a row or a column
        struck = {(cell, digit) for cell in shared - units[step.unit] if digit in cells[cell]}
        return struck if len(reason) > 1 else set()
    first_cell, second_cell = reason
    if step.technique == "naked-pair":
        assert cells[first_cell] == cells[second_cell]
        digits = sorted(cells[first_cell])
    assert len(digits) == 2
    return {(cell, digit) for cell in shared for digit in digits if digit in cells[cell]} | {
        (cell, digit) for cell in reason for digit in cells[cell] if digit not in digits
    }


@pytest.mark.parametrize("shape", CLUES)
def test_every_step_is_right_and_the_cheapest(shape: str) -> None:
    met = set[str]()
    for clues in CLUES[shape]:
        for seed in range(12 if shape == "3x3" else 1 + 20 // Geometry.parse(shape).n):
            board = puzzle(shape, clues, seed)
            met |= follow(board) | follow(with_wrong_clue(board, seed) if clues else board)
    assert met == set(TECHNIQUES) or shape != "3x3"


def row_of(masks: dict[int, int], other_mask: int) -> Board:
    """Return a 9x9 board whose first row has some candidates in some columns, others elsewhere."""
    row = [masks.get(column, other_mask) for column in range(9)]
    return Board([0] * 81, Geometry(3, 3), candidates=[*row, *[511] * 72])


def struck(cells: Iterable[int], *digits: int) -> tuple[tuple[int, int], ...]:
    return tuple((cell, digit) for cell in cells for digit in digits)


@pytest.mark.parametrize(
    ("board", "step"),
    [
        (
            Board([1, 2, 3, *[0] * 13]),
            Step("naked-single", "naked single: r1c4 can only be 4", ((3, 4),), (), (3,)),
        ),
        (
            Board([0] * 4 + [1] + [0] * 5 + [1] + [0] * 5),
            Step("hidden-single", "hidden single: 1 has only one place in box 2: r1c4",
                 ((3, 1),), (), (3,), 9),
        ),
        (
            Board([*[0] * 6, 2, 3, 4, *[0] * 27], Geometry(2, 3)),
            Step("locked-candidates",
                 "locked candidates: all places of 1 in box 1 are in row 1 (pointing),"
                 " which strikes 1 from r1c4, r1c5 and r1c6",
                 (), struck((3, 4, 5), 1), (0, 1, 2), 12),
        ),
        (
            row_of({1: 511, 2: 511}, other_mask=508),
            Step("locked-candidates",
                 "locked candidates: all places of 1 in row 1 are in box 1 (claiming),"
                 " which strikes 1 from r2c1, r2c2, r2c3, r3c1, r3c2 and r3c3",
                 (), struck((9, 10, 11, 18, 19, 20), 1), (1, 2), 0),
        ),
        (
            row_of({0: 3, 8: 3, 4: 510}, other_mask=511),
            Step("naked-pair",
                 "naked pair: r1c1 and r1c9 can only be 1 and 2, which strikes 1 and 2 from r1c2,"
                 " r1c3, r1c4, r1c6, r1c7 and r1c8; 2 from r1c5",
                 (), (*struck((1, 2, 3), 1, 2), (4, 2), *struck((5, 6, 7), 1, 2)), (0, 8), 0),
        ),
        (
            row_of({1: 7, 5: 11}, other_mask=508),
            Step("hidden-pair",
                 "hidden pair: 1 and 2 have only two places in row 1: r1c2 and r1c6, which strikes"
                 " 3 from r1c2; 4 from r1c6",
                 (), ((1, 3), (5, 4)), (1, 5), 0),
        ),
    ],
    ids=["naked single", "hidden single", "pointing", "claiming", "naked pair", "hidden pair"],
)  # fmt: skip
def test_sentences(board: Board, step: Step) -> None:
    explained = explain(board)
    assert explained.steps[0] == step
    assert str(explained).startswith(step.text)


def test_a_pair_strikes_in_all_units_that_its_cells_share() -> None:
    """The pair is naked, or hidden if naked pairs are not tried."""
    masks = [3, 3, *[511] * 79]
    naked = explain(Board([0] * 81, candidates=masks), "naked-pair").steps[0]
    assert naked.removed == struck((*range(2, 9), 9, 10, 11, 18, 19, 20), 1, 2)
    hidden = explain(row_of({1: 7, 2: 7}, other_mask=508), "hidden-pair").steps[0]
    assert hidden.unit == 0
    assert hidden.removed == ((1, 3), (2, 3), *struck((9, 10, 11, 18, 19, 20), 1, 2))
