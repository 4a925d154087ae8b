"""Techniques against a reference written with sets, on boards of several shapes.

Whether a hidden pair is seen may depend on the order of things where hidden singles are not looked
for: a digit that loses one of its two places pairs with none. So for such sets of techniques only
what holds in any order is checked.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import parse
from gpusudoku.search.techniques import Simplified, simplify
from tests import naive
from tests.boards import CLUES, puzzle, run_uncompiled, spoilt

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

COMPILED = [("2x2", "all"), ("2x3", "naked-pair"), ("2x3", "all"), ("3x2", "all")]
COMPILED += [("3x3", "singles"), ("3x3", "locked"), ("3x3", "all")]

BOARDS = {"1x1": 2, "1x4": 40, "2x2": 60, "2x3": 80, "3x2": 80, "3x3": 150}
"""How many boards of each shape the uncompiled techniques are tried on."""

LOCKED = {"1x4": 20, "4x1": 20, "2x4": 12, "4x2": 12, "3x4": 6, "4x3": 6, "4x4": 4, "5x5": 3}
"""The same for locked candidates on shapes that give them more to do."""

Candidates = list[set[int]]


class Contradiction(Exception):  # noqa: N818 - not an error
    pass


def given_clues(board: Board) -> Candidates:
    """The candidates that the clues leave, those of a clue's cell being that digit alone."""
    cells: Candidates = [set(range(1, board.n + 1)) for _ in range(board.geometry.cells)]
    for cell in np.flatnonzero(board.cells).tolist():
        digit = int(board.cells[cell])
        if any(int(board.cells[peer]) == digit for peer in board.geometry.peers[cell]):
            raise Contradiction
        cells[cell] = {digit}
        for peer in board.geometry.peers[cell].tolist():
            cells[peer] -= {digit}
    return cells


def reference(
    cells: Candidates, geometry: Geometry, techniques: str, blind: str = ""
) -> Candidates:
    """Apply techniques until nothing changes; raises Contradiction if that shows one.

    ``blind`` is a kind of unit (rows, columns, boxes) in which the last technique is not tried.
    """
    names = techniques.split(",")
    units = [set(unit) for unit in geometry.units.tolist()]
    kinds = ["rows"] * geometry.n + ["columns"] * geometry.n + ["boxes"] * geometry.n
    peers = [set(peer.tolist()) for peer in geometry.peers]
    cells = [set(candidates) for candidates in cells]

    def remove(digits: set[int], places: set[int]) -> None:
        for place in places:
            cells[place] -= digits

    def remove_from_shared_units(digits: set[int], pair: set[int]) -> None:
        for unit in units:
            if pair <= unit:
                remove(digits, unit - pair)

    before: Candidates = []
    while before != cells:
        before = [set(candidates) for candidates in cells]
        if "naked-single" in names:
            for cell in range(geometry.cells):
                if len(cells[cell]) == 1:
                    remove(cells[cell], peers[cell])
        for unit, kind in zip(units, kinds, strict=True):
            tried = names[:-1] if kind == blind else names
            places = {d: {c for c in unit if d in cells[c]} for d in range(1, geometry.n + 1)}
            if "hidden-single" in tried:
                for digit, found in places.items():
                    if not found:
                        raise Contradiction
                    if len(found) == 1:
                        cells[found.pop()] &= {digit}
            if "locked-candidates" in tried:
                for other, other_kind in zip(units, kinds, strict=True):
                    if kind == other_kind or "boxes" not in (kind, other_kind):
                        continue
                    for digit in range(1, geometry.n + 1):
                        found = {c for c in unit if digit in cells[c]}
                        if not found:
                            raise Contradiction
                        if found <= other:
                            remove({digit}, other - unit)
            if "naked-pair" in tried:
                for p, q in combinations(unit, 2):
                    if len(cells[p]) == 2 and cells[p] == cells[q]:
                        remove_from_shared_units(set(cells[p]), {p, q})
            if "hidden-pair" in tried:
                for d, e in combinations(range(1, geometry.n + 1), 2):
                    d_places = {c for c in unit if d in cells[c]}
                    if len(d_places) == 2 and d_places == {c for c in unit if e in cells[c]}:
                        for cell in d_places:
                            cells[cell] &= {d, e}
                        remove_from_shared_units({d, e}, d_places)
        if not all(cells):
            raise Contradiction
    return cells


def candidates(simplified: Simplified) -> Candidates:
    n = simplified.board.n
    return [{d for d in range(1, n + 1) if mask >> d - 1 & 1} for mask in _ints(simplified)]


def _ints(simplified: Simplified) -> list[int]:
    return [int(mask) for mask in simplified.candidates]


@pytest.fixture
def plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    run_uncompiled(monkeypatch)


def boards(shape: str, number: int) -> list[Board]:
    """Boards with enough clues to begin and too few to end quickly; every third is spoilt."""
    geometry = Geometry.parse(shape)
    counts = np.linspace(geometry.cells * 0.26, geometry.cells * 0.42, number).astype(int).tolist()
    made = [puzzle(geometry, clues, seed) for seed, clues in enumerate(counts)]
    return [spoilt(board, i) if i % 3 == 2 else board for i, board in enumerate(made)]


def check(board: Board, given: str, techniques: str) -> bool:
    """Hold ``simplify`` against the reference; returns whether there was a contradiction."""
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
    assert result.hints == sum(len(expected[cell]) for cell in np.flatnonzero(empty))
    return False


@pytest.mark.parametrize(("shape", "given"), COMPILED)
def test_compiled_techniques(shape: str, given: str) -> None:
    techniques = dict(SETS)[{"singles": "hidden-single"}.get(given, given)]
    outcomes = [check(board, given, techniques) for board in boards(shape, 120)]
    assert set(outcomes) == {True, False}


def outcome(board: Board, techniques: str, blind: str = "") -> Candidates | None:
    try:
        return reference(given_clues(board), board.geometry, techniques, blind)
    except Contradiction:
        return None


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
@pytest.mark.usefixtures("plain_python")
def test_uncompiled_techniques(shape: str, given: str, techniques: str) -> None:
    for board in boards(shape, BOARDS[shape]):
        check(board, given, techniques)


@pytest.mark.parametrize("shape", list(LOCKED))
@pytest.mark.parametrize(("given", "techniques"), [each for each in SETS if "locked" in each[0]])
@pytest.mark.usefixtures("plain_python")
def test_locked_candidates_in_boxes_of_any_shape(shape: str, given: str, techniques: str) -> None:
    for board in boards(shape, LOCKED[shape]):
        check(board, given, techniques)


@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x3"])
@pytest.mark.parametrize(("given", "techniques"), UNORDERED)
@pytest.mark.usefixtures("plain_python")
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


@pytest.mark.parametrize(("shape", "given"), COMPILED)
def test_no_solution_is_lost(shape: str, given: str) -> None:
    for seed in range(20):
        board = puzzle(shape, CLUES[shape] + seed % 5, seed)
        solutions = list(naive.solutions(board))
        left = candidates(simplify(board, given))
        for cell, found in enumerate(left):
            assert {solution[cell] for solution in solutions} <= found


@pytest.mark.parametrize(("shape", "given"), COMPILED)
def test_only_boards_without_solutions_are_called_contradictory(shape: str, given: str) -> None:
    called = 0
    for seed in range(40):
        board = spoilt(puzzle(shape, CLUES[shape] + seed % 5, seed), seed)
        if simplify(board, given).contradictory:
            called += 1
            assert naive.count(board, 1) == 0
    assert called > 10


@pytest.mark.usefixtures("plain_python")
class TestEachTechnique:
    """Small boards on which exactly the technique in question finds something."""

    def test_naked_single(self) -> None:
        board = parse("123. .... .... ....".replace(" ", ""))
        result = simplify(board, "naked-single")
        assert result.board.grid[0, 3] == 4
        assert result.board.clues == 4

    def test_hidden_single(self) -> None:
        # The 1 of the second box can only stand in r1c4: rows 2 and column 3 have theirs.
        board = parse(".... 1... ..1. ....".replace(" ", ""))
        assert simplify(board, "naked-single").board.grid[0, 3] == 0
        assert simplify(board, "hidden-single").board.grid[0, 3] == 1

    @pytest.mark.parametrize(
        ("box", "text", "digits", "left"),
        [
            # The first box has the digits in its first row, then in its first column.
            ("3x3", "......... 234...... 567......", {1, 8, 9}, [3, 4, 5, 6, 7, 8]),
            ("3x3", ".25...... .36...... .47......", {1, 8, 9}, [27, 36, 45, 54, 63, 72]),
            ("2x3", "...... 234...", {1, 5, 6}, [3, 4, 5]),
            ("2x3", ".23... .45...", {1, 6}, [12, 18, 24, 30]),
            # The first row, then the first column, has them in the first box.
            ("3x3", "...456789", {1, 2, 3}, [9, 10, 11, 18, 19, 20]),
            (
                "3x3",
                "." * 27 + "".join(f"{d}........" for d in "456789"),
                {1, 2, 3},
                [1, 2, 10, 11, 19, 20],
            ),
            ("2x3", "...456", {1, 2, 3}, [6, 7, 8]),
            ("2x3", "." * 12 + "".join(f"{d}....." for d in "3456"), {1, 2}, [1, 2, 7, 8]),
        ],
    )
    def test_locked_candidates(
        self, box: str, text: str, digits: set[int], left: list[int]
    ) -> None:
        geometry = Geometry.parse(box)
        board = parse(text.replace(" ", "").ljust(geometry.cells, "."), box=box)
        before, after = simplify(board, "naked-single"), simplify(board, "locked-candidates")
        for cell, found in enumerate(candidates(before)):
            if cell in left:
                assert found >= digits
                found -= digits
            assert candidates(after)[cell] == found

    def test_naked_pair(self) -> None:
        # r1c1 and r1c2 hold 8 or 9, which so leave the rest of their row and of their box.
        board = parse("..1234... 567......" + "." * 63)
        before, after = simplify(board, "naked-single"), simplify(board, "naked-pair")
        eight_or_nine = {8, 9}
        assert candidates(before)[0] == candidates(before)[1] == eight_or_nine
        assert candidates(before)[6] & eight_or_nine
        for cell in [6, 7, 8, 18, 19, 20]:
            assert not candidates(after)[cell] & eight_or_nine
        assert candidates(after)[0] == eight_or_nine

    def test_hidden_pair(self) -> None:
        # Digits 1 and 2 of the first box can only stand in r1c1 and r1c2.
        rows = ["..3......", "...12....", "......12.", ".........", "........."]
        board = parse("".join(rows) + "." * 36)
        before, after = simplify(board, "singles"), simplify(board, "hidden-pair")
        assert candidates(before)[0] > {1, 2}
        assert candidates(after)[0] == candidates(after)[1] == {1, 2}

    def test_any_technique_brings_naked_singles(self) -> None:
        board = parse("123. .... .... ....".replace(" ", ""))
        for technique in [
            "hidden-single",
            "locked-candidates",
            "naked-pair",
            "hidden-pair",
            "pairs",
        ]:
            assert simplify(board, technique).board.grid[0, 3] == 4

    def test_none_solves_nothing(self) -> None:
        board = parse("123. .... .... ....".replace(" ", ""))
        result = simplify(board, "none")
        assert result.board == board
        assert candidates(result)[3] == {4}


@pytest.mark.usefixtures("plain_python")
class TestContradictions:
    def test_two_equal_clues(self) -> None:
        for text in ["11..............", "1...1...........", "1....1.........."]:
            board = parse(text)
            result = simplify(board, "none")
            assert result.contradictory
            assert result.board == board
            assert result.candidates.tolist() == board.candidates.tolist()

    def test_a_cell_without_candidates(self) -> None:
        assert simplify(parse("12.3.......4...."), "none").contradictory is False
        assert simplify(parse("12.3..4........."), "none").contradictory

    @pytest.mark.parametrize(
        ("kind", "text"),
        [
            ("boxes", "........1 456...... 789......"),
            ("rows", "456789... ......1.. ........."),
            ("columns", "4........ 5........ 6........ 7........ 8........ 9........ .1......."),
        ],
    )
    def test_a_digit_without_a_place(self, kind: str, text: str) -> None:
        """The 1 has none in the first unit of a kind; nothing else shows that."""
        board = parse(text.replace(" ", "").ljust(81, "."))
        assert outcome(board, "naked-single,hidden-single") is None
        assert outcome(board, "naked-single,hidden-single", blind=kind) is not None
        assert simplify(board, "hidden-single").contradictory
        assert not simplify(board, "naked-single").contradictory

    def test_two_boxes_that_need_one_row(self) -> None:
        # The 1 of the first and of the second box can only stand in row 1.
        board = parse("......... 234567... 567234...".replace(" ", "").ljust(81, "."))
        assert not simplify(board, "singles").contradictory
        assert simplify(board, "locked-candidates").contradictory

    def test_two_rows_that_need_one_box(self) -> None:
        # The 1 of rows 1 and 2 can only stand in the first box.
        board = parse("...234567 ...567234 .........".replace(" ", "").ljust(81, "."))
        assert not simplify(board, "singles").contradictory
        assert simplify(board, "locked-candidates").contradictory

    def test_two_equal_naked_singles_in_one_unit(self) -> None:
        # r1c1 and r1c2 both can only be 4.
        board = parse("..3. .... 1... 2...".replace(" ", ""), box="1x4")
        assert not simplify(board, "none").contradictory
        clash = parse("..3. 12.. 21.. ....".replace(" ", ""), box="1x4")
        assert simplify(clash, "naked-single").contradictory
