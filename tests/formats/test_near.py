"""One board, read for whoever has a board of some shape before them."""

from __future__ import annotations

import json

import pytest

from gpusudoku import Board, collection, parse
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS, write
from gpusudoku.formats.read import parse_near
from tests.boards import PUZZLE

SHAPES = {n: [f"{r}x{n // r}" for r in range(1, n + 1) if n % r == 0] for n in (4, 6, 7, 8, 9, 16)}
OPEN = [form for form in FORMATS if form not in ("pretty", "hex")]
ROWS = [PUZZLE[at : at + 9] for at in range(0, 81, 9)]


def board_of(box: str) -> Board:
    """A board with a few clues."""
    shape = Geometry.parse(box)
    cells = [0] * shape.cells
    cells[0], cells[shape.n + 2], cells[-1] = 1, 2, shape.n
    return Board(cells, shape)


@pytest.mark.parametrize("box", [box for boxes in SHAPES.values() for box in boxes])
def test_a_text_that_leaves_the_shape_open(box: str) -> None:
    board = board_of(box)
    for form in OPEN:
        assert parse_near(write(board, form), board.geometry) == board
    records = [json.dumps({"puzzle": str(board)}), json.dumps(board.grid.tolist())]
    for text in (*records, f"id,puzzle\n1,{board}", f"1,{board}"):
        assert parse_near(text, board.geometry) == board


@pytest.mark.parametrize("n", [6, 8, 16])
def test_a_text_that_tells_the_shape(n: int) -> None:
    told = [board_of(box) for box in SHAPES[n] if "1" not in box.split("x")]
    for board in told:
        for near in map(Geometry.parse, SHAPES[n]):
            assert parse_near(write(board, "pretty"), near) == board
            record = json.dumps({"board": str(board), "box": str(board.geometry)})
            assert parse_near(record, near) == board


@pytest.mark.parametrize("form", OPEN)
def test_another_size_is_of_the_usual_shape(form: str) -> None:
    for n in (4, 6, 8, 9, 16):
        board = board_of(str(Geometry.of_size(n)))
        assert parse_near(write(board, form), Geometry(2, 5)) == board


@pytest.mark.parametrize(
    ("between", "sign"),
    [("---+" * 8 + "---", " | "), ("-" * 17, " "), ("------+-------+------", "boxes")],
)
def test_rules_between_all_rows(between: str, sign: str) -> None:
    """They leave the shape open; bars may say more, and that has to fit."""
    if sign == "boxes":
        rows = [" | ".join(" ".join(row[at : at + 3]) for at in (0, 3, 6)) for row in ROWS]
    else:
        rows = [sign.join(row) for row in ROWS]
    text = f"\n{between}\n".join(rows)
    assert parse_near(text, Geometry(3, 3)) == parse(PUZZLE)
    if sign == "boxes":
        with pytest.raises(InputError, match="the rules show boxes of 1x3 on a board of 9 rows"):
            parse_near(text, Geometry(1, 9))
    else:
        assert parse_near(text, Geometry(1, 9)) == parse(PUZZLE, "1x9")


def test_sixteen_lines_of_sixteen_are_one_board() -> None:
    text = "\n".join(["1..............."] + ["." * 16] * 15)
    with pytest.raises(InputError, match="16 lines of 16 cells read two ways"):
        parse(text)
    for near in ("4x4", "2x2", "3x3", "2x8"):
        box = near if near == "2x8" else "4x4"
        assert parse_near(text, Geometry.parse(near)) == parse(text, box)


def test_two_boards_are_refused() -> None:
    line = str(collection.load("2b"))
    with pytest.raises(InputError, match="2 boards where one was expected"):
        parse_near(f"{line}\n{line}", Geometry(3, 3))
