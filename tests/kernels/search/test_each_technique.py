"""Each technique and each contradiction on small boards that need it and no other."""

from __future__ import annotations

import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import parse
from gpusudoku.simplifying import simplify
from tests.techniques import candidates, outcome

pytestmark = pytest.mark.usefixtures("uncompiled")


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
