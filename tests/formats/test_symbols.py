"""Letters, hexadecimal digits and numbers, and texts that could be either of two boards.

``near`` is for the text of a person who has a board of some shape before them.
"""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import FORMATS, ReadOptions, parse, write
from gpusudoku.formats.coerce import batches_of
from gpusudoku.formats.coerce import board_of as board_of_value
from gpusudoku.formats.read import parse_as
from tests.formats.samples import read, read_stream, solution


def test_letters() -> None:
    """Either case; 0 is empty on its own."""
    board = solution(Geometry(4, 4))
    line = str(board)
    assert line[:16] == "123456789ABCDEFG"
    rows = [line[i : i + 16] for i in range(0, 256, 16)]
    for text in (line, line.lower(), "\n".join(rows), "\n".join(map(" ".join, rows))):
        assert read(text)[0].board == board
    clues = Board(np.where(board.cells < 16, board.cells, 0) * (np.arange(256) % 3 > 0))
    assert "G" not in str(clues)
    assert read(str(clues).replace(".", "0"))[0].board == clues
    assert read(str(clues).replace(".", "*"))[0].board == clues


@pytest.mark.parametrize("sign", [".", "_"])
def test_hexadecimal(sign: str) -> None:
    """0 beside another sign for empty cells is a digit, unless there is a G."""
    board = Board(solution(Geometry(4, 4)).cells * (np.arange(256) % 5 > 0))
    text = write(board, "hex").replace(".", sign)
    rows = [text[i : i + 16] for i in range(0, 256, 16)]
    for form in (text, text.lower(), "\n".join(rows), "\n".join(map(" ".join, rows))):
        assert read(form)[0].board == board
    letters = str(board)
    assert "G" in letters
    for form in (letters, letters.lower()):
        assert read(form.replace(".", sign, 7).replace(".", "0"))[0].board == board


DIGITS_FROM_ZERO = "0123456789ABCDEFGHIJKLMNO"


@pytest.mark.parametrize("n", [4, 9, 10, 16, 25])
@pytest.mark.filterwarnings("ignore:0 and another sign:UserWarning")
def test_digits_from_zero(n: int) -> None:
    """0 is a digit beside another sign for empty cells, where the digit n does not occur."""
    full = solution(Geometry.of_size(n))
    board = Board(full.cells * (np.arange(n * n) % 3 > 0))
    characters = "".join(DIGITS_FROM_ZERO[cell - 1] if cell else "." for cell in board.cells)
    rows = [characters[i : i + n] for i in range(0, n * n, n)]
    numbers = [str(cell - 1) if cell else "*" for cell in board.cells.tolist()]
    lines = [" ".join(numbers[i : i + n]) for i in range(0, n * n, n)]
    table = f"id,puzzle\n1,{characters}"
    objects = f'{{"puzzle": "{characters}"}}\n'
    for text in (characters, "\n".join(rows), " ".join(numbers), "\n".join(lines), table, objects):
        assert [entry.board for entry in read(text)] == [board]
        assert parse(text) == board
    assert [entry.board for entry in read(f"{characters}\n" * 50)] == [board] * 50
    assert next(iter(batches_of([characters] * 50)))[0] == board
    cells = [cell - 1 if cell else None for cell in board.cells.tolist()]
    grid = [cells[i : i + n] for i in range(0, n * n, n)]
    assert board_of_value(cells) == board_of_value(grid) == board
    assert next(iter(batches_of([grid] * 2)))[0] == board
    with_nan = np.array(grid, np.float64)
    assert next(iter(batches_of(np.stack([with_nan, with_nan]))))[0] == board
    assert read(json.dumps(grid))[0].board == board


@pytest.mark.parametrize("n", [4, 9, 10, 25])
def test_zero_is_empty(n: int) -> None:
    """0 is one of two signs for empty cells where the digit n occurs, and where it is alone."""
    full = solution(Geometry.of_size(n))
    board = Board(full.cells * (np.arange(n * n) % 3 > 0))
    text = str(board)
    for mixed in (text.replace(".", "0", 3), text.replace(".", "0")):
        assert read(mixed)[0].board == board
        assert parse(mixed) == board
        assert [entry.board for entry in read(f"{mixed}\n" * 50)] == [board] * 50
    numbers = " ".join(map(str, board.cells.tolist()))
    assert read(numbers.replace(" 0 ", " . ", 3))[0].board == board
    lower = Board(np.where(board.cells < n, board.cells, 0))
    zeros = str(lower).replace(".", "0", n)  # two of them in a row are no digits
    assert read(zeros)[0].board == parse(zeros) == lower
    assert board_of_value([None, *([0] * (n * n - 2)), 1]).clues == 1


def test_digits_from_zero_are_announced() -> None:
    with pytest.warns(
        UserWarning,
        match="^0 and another sign for empty cells, but no 4: 0 to 3 are read as 1 to 4$",
    ):
        assert str(parse("0.2.....1......3")) == "1.3.....2......4"


def test_full_hexadecimal() -> None:
    """Without an empty cell 0 is a digit if it stands once in every row and column."""
    board = solution(Geometry(4, 4))
    text = write(board, "hex")
    assert read(text)[0].board == board
    first = text[:16]
    rest = text[16:]
    with_empty = read(first.replace("0", "1") + rest)[0].board
    assert with_empty.empty_cells == 15
    assert with_empty.cells.max() == 15
    # Once in every column is not enough, nor is once in every row.
    for cells in (np.repeat(range(1, 17), 16), np.tile(range(1, 17), 16)):
        text = str(Board(cells)).replace("1", "0").replace("G", "1")
        assert read(text)[0].board.empty_cells == 16


@pytest.mark.parametrize(
    ("separator", "n"), [("", 4), (" ", 4), (",", 6), (" ", 8)], ids=["16", "16 ", "36,", "64 "]
)
def test_lines_that_read_two_ways(separator: str, n: int) -> None:
    """As many lines as cells on each: digits or the given box decide."""
    small = Geometry.of_size(n)
    large = Geometry.of_size(n * n)
    width = large.n
    row = separator.join("1" + "." * (width - 1))
    text = "\n".join([row] * width)
    [error] = read_stream(io.BytesIO(text.encode()), "f")
    assert str(error) == (
        f'f:1: {width} lines of {width} cells are ambiguous: give box="{small}" for {width} '
        f'boards of {n}x{n} or box="{large}" for one of {width}x{width}'
    )
    assert [entry.board.geometry for entry in read(text, small)] == [small] * width
    assert [entry.board.geometry for entry in read(text, large)] == [large]
    one_large = text[:-1] + str(n + 1)
    assert [entry.board.geometry for entry in read(one_large)] == [large]
    # Fewer or more lines are boards, and so is a single one.
    for count in (1, width - 1, width + 1):
        lines = "\n".join([row] * count)
        assert [entry.board.geometry for entry in read(lines)] == [small] * count


def test_36_characters_are_no_row_of_36_cells() -> None:
    assert [entry.board.n for entry in read(("." * 36 + "\n") * 36)] == [6] * 36


@pytest.mark.parametrize("n", [10, 16, 25])
def test_letters_alone(n: int) -> None:
    """A stands for 1, if a letter is too large for a digit otherwise, and there is no figure."""
    full = solution(Geometry.of_size(n))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n]
    cells = np.where(np.arange(n * n) % 4, full.cells[::-1], 0)
    text = "".join("." if cell == 0 else letters[cell - 1] for cell in cells)
    rows = [text[i : i + n] for i in range(0, n * n, n)]
    commas = "\n".join(map(",".join, rows)).replace(".", "")
    titles = "\n".join(["Hard", *rows, "Diabolical puzzle", *rows])
    lines = f"{text}\n" * 40
    forms = text, text.lower(), text.replace(".", "0"), "\n".join(rows), commas, titles, lines
    for entry in [entry for form in forms for entry in read(form)]:
        assert (entry.board.cells == cells).all()
    assert len(read(titles)) == 2
    low = text.translate({ord(letter): "." for letter in letters[n - 9 :]})
    assert read(low)[0].board.cells.max() == n
    assert str(read(low)[0].board) == low  # what this program writes has figures, too
    with pytest.raises(AssertionError, match=rf"which is digit \d+, expected 1 to {n}"):
        read(text.replace(letters[0], "1"))


def read_near(text: str, near: Geometry) -> Board:
    return parse_as(text, ReadOptions("<text>", preferred=near))


OPEN = [form for form in FORMATS if form not in ("pretty", "hex")]


def board_of(box: str) -> Board:
    """Make a board with a few clues."""
    shape = Geometry.parse(box)
    cells = [0] * shape.cells
    cells[0], cells[shape.n + 2], cells[-1] = 1, 2, shape.n
    return Board(cells, shape)


@pytest.mark.parametrize("box", ["2x2", "1x4", "2x3", "3x2", "6x1", "1x7", "3x3", "9x1", "8x2"])
def test_a_text_that_leaves_the_shape_open(box: str) -> None:
    board = board_of(box)
    for form in OPEN:
        assert read_near(write(board, form), board.geometry) == board
    records = [json.dumps({"puzzle": str(board)}), json.dumps(board.grid.tolist())]
    for text in (*records, f"id,puzzle\n1,{board}", f"1,{board}"):
        assert read_near(text, board.geometry) == board


@pytest.mark.parametrize("shapes", [("2x3", "3x2", "1x6"), ("4x4", "2x8", "1x16")])
def test_a_text_that_tells_the_shape(shapes: tuple[str, ...]) -> None:
    for board in map(board_of, shapes[:2]):
        for near in map(Geometry.parse, shapes):
            assert read_near(write(board, "pretty"), near) == board
            record = json.dumps({"board": str(board), "box": str(board.geometry)})
            assert read_near(record, near) == board
