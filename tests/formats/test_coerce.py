"""What is taken for a board, or for many: every form means the same, and nothing is misread."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from operator import length_hint
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import parse
from gpusudoku.formats.coerce import MAX_ITEMS, batches_of, board_of
from tests.boards import LINE_4X4, PUZZLE, puzzle
from tests.columns import Column, NAType, Scalar, Table
from tests.formats.forms import FORMS, REFUSED

BOARD = parse(LINE_4X4)
ROWS = [LINE_4X4[i : i + 4] for i in range(0, 16, 4)]


def boards_of(values: Any, box: str | None = None) -> list[Board]:
    boards: list[Board] = []
    for batch in batches_of(values, box):
        if isinstance(batch, InputError):
            raise batch
        boards += batch
    return boards


def read_together(values: Any) -> list[Board | str]:
    """List the boards, and the errors of bad ones in their places."""
    entries: list[Board | str] = []
    for batch in batches_of(values):
        entries += [str(batch)] if isinstance(batch, InputError) else batch
    return entries


def read_one_by_one(values: Any) -> list[Board | str]:
    """List the same, but read every item by itself."""
    entries: list[Board | str] = []
    for index, item in enumerate(values):
        try:
            entries.append(board_of(item))
        except InputError as error:
            entries.append(f"board {index}: {re.sub(r'^<text>(:[0-9]+)*: ', '', str(error))}")
    return entries


def assert_refused(message: str, function: Callable[..., Any], *arguments: Any) -> None:
    with pytest.raises(InputError) as caught:
        function(*arguments)
    assert str(caught.value).startswith(message)


def test_forms_of_one_board() -> None:
    for form in (
        BOARD, LINE_4X4, "\n".join(ROWS), LINE_4X4.encode(),
        np.array(LINE_4X4), np.array(LINE_4X4.encode()), Scalar(LINE_4X4),
        BOARD.cells, BOARD.grid, BOARD.grid.astype(object), BOARD.cells.tolist(), list(BOARD),
        tuple(map(tuple, BOARD.grid.tolist())),
        [[digit or None for digit in row] for row in BOARD.grid.tolist()],
        np.where(BOARD.grid, BOARD.grid, np.nan),
        np.where(BOARD.grid, BOARD.grid, np.nan).astype(object),
        Table(np.where(BOARD.grid, BOARD.grid, np.nan)),
        Table(np.array([digit or NAType() for digit in BOARD.cells.tolist()]).reshape(4, 4)),
        [[cell if cell != "." else np.nan for cell in row] for row in ROWS],
        iter(BOARD.cells.tolist()), list(LINE_4X4), np.array([list(row) for row in ROWS]),
        ROWS, [f"{row}\n" for row in ROWS], [row.replace(".", " ") for row in ROWS],
        [[cell.strip(".") or None for cell in row] for row in ROWS],
        [cell.strip(".") for cell in LINE_4X4],
        np.array([cell.strip(".") or None for cell in LINE_4X4]),
        [LINE_4X4], np.array([LINE_4X4]), Column([LINE_4X4]), Column(BOARD.cells.tolist()),
    ):  # fmt: skip
        assert board_of(form) == BOARD, repr(form)


def test_forms_of_one_board_of_any_shape() -> None:
    for shape in ("1x4", "2x3", "3x3", "4x4", "6x6"):
        geometry = Geometry.parse(shape)
        board = Board(np.arange(geometry.cells) % (geometry.n + 1), geometry)
        n = geometry.n
        symbols = [str(digit) if digit else "." for digit in board.cells.tolist()]
        for form in (board, str(board), board.grid, board.cells.tolist(), symbols,
                      [symbols[i : i + n] for i in range(0, n * n, n)]):  # fmt: skip
            assert board_of(form, shape) == board_of(form, geometry) == board


def test_what_is_no_board() -> None:
    for value, message in (
        (5, "expected a board as text or as rows of cells, found 5"),
        ({"a": 1}, "expected a board as text or as rows of cells, found {'a': 1}"),
        ({1, 2}, "expected a board as text or as rows of cells, found {1, 2}"),
        ([np.nan], "expected a board as text or as rows of cells, found one missing value"),
        ([[0] * 4] * 2 + [[0] * 3, [0] * 4], "row 3 has 3 cells, expected 4"),
        ([[0] * 4, 5], "row 2 is not a list of cells"),
        ([[0] * 4] * 3, "3 rows of 4 cells, expected as many rows as columns"),
        ([BOARD], "an array of 3 dimensions, expected one board"),
        ([0] * 5 + [5.5] * 11, "r2c2 holds 5.5: cells must be integers, 0 for an empty one"),
        ([np.nan] * 15 + [np.inf], "r4c4 holds inf: cells must be integers"),
        ([True] * 16, "r1c1 holds True: cells must be integers"),
        ([0, "2"] + [0] * 14, "r1c2 holds '2': cells must be integers"),
        ([0, -2] + [0] * 14, "r1c2 holds -2: digits run from 1 to 4"),
        ([["1", "#", ".", "."]] * 4, "r1c2 holds '#', expected the symbol of a digit"),
        ([["12", "", ".", "."]] * 4, "<text>:1:1: r1c1 holds '12', expected a number from 0"),
        ([["1", 2, None, "."]] * 4, "r1c1 holds '1': cells must be integers"),
        (["1", "", ""], "3 strings for a board of 1x1 cells, expected one for every row"),
        (["1...", "", "..3.", "...."], "<text>:1: "),
        (["1   ", " 2", "  3 ", "    "], "<text>:2: row 2 of a grid with blanks for empty"),
        (["1", "", "", ""], "<text>:1: 4 cells: a board of 2 rows has no boxes of at least 2"),
        ([LINE_4X4, LINE_4X4], "expected one board, found 2"),
        (f"{LINE_4X4}\n{LINE_4X4}", "expected one board, found 2"),
        ("1...x" + "." * 11, "<text>:1:5: r2c1 holds 'x'"),
        (10**64 - 1, "a number, expected a board as text: read columns"),
        (10**81, "a number, expected a board as text"),
        (float("53007" + "0" * 76), "a number, expected a board as text"),
        (
            -int("53007" + "0" * 76),
            "expected a board as text or as rows of cells, found a value of type int",
        ),
    ):
        assert_refused(message, board_of, value)


def test_integers_that_were_puzzles() -> None:
    """Zeros before them are lost; with fewer digits they could be smaller boards."""
    puzzle = "0" * 16 + "5" + "0" * 63 + "7"
    solution = "265719348478632915139458627394821756817596234652347189741983562983265471526174893"
    column = np.array([int(puzzle), int(solution)], object)
    boards = [parse(puzzle), parse(solution)]
    assert [board_of(number) for number in column] == boards
    for values in (column, [*column], column[:, None], iter(column), [puzzle, int(solution)]):
        assert boards_of(values) == boards
    assert board_of(1000020000300000, "2x2") == board_of(BOARD)
    assert board_of(np.int64(20000300000), "2x2") == parse("0000020000300000")
    for number, box in (200003000, "2x2"), (10**16, "2x2"), (10**80, "2x5"), (1e80, "3x3"):
        with pytest.raises(InputError, match=r"^a number, expected a board as text"):
            board_of(number, box)
    with pytest.raises(InputError, match=r"^<text>:1:16: r4c4 holds '5'"):
        board_of(1000020000300005, "2x2")


def test_boxes() -> None:
    assert board_of(BOARD, "2x2") is BOARD
    box: Any
    for box, message in (
        (Geometry(1, 4), "box 1x4, but the board has boxes of 2x2"),
        ("3", "box '3': expected ROWSxCOLUMNS, such as 3x3"),
        (3, "box 3: expected ROWSxCOLUMNS, such as 3x3"),
    ):
        assert_refused(message, board_of, BOARD, box)
    assert_refused("board 1: box 1x4, but the board", boards_of, [LINE_4X4, BOARD], "1x4")


class OnDevice(Column):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("implicit conversion is not allowed")


class OnGpu:
    __cuda_array_interface__ = property(lambda self: {})
    shape = (4, 4)

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("read one by one")


class Frame:
    """A table with a column of puzzles among others."""

    columns = ("id", "puzzle")
    shape = (2, 2)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


def test_objects_of_other_libraries() -> None:
    assert_refused("no array of cells: implicit conversion", board_of, OnDevice([]))
    assert_refused("a table of 2 columns: give its column of puzzles", boards_of, Frame())
    assert_refused("expected the text of a board, found PosixPath", parse, Path("bars.txt"))
    for convert in (board_of, boards_of, Board):
        assert_refused("an array in GPU memory: ", convert, OnGpu())
    assert_refused("board 0: an array in GPU memory: ", boards_of, [OnGpu()])


def test_a_masked_array_is_refused() -> None:
    """NumPy would show what is under the mask."""
    strings = np.ma.array([LINE_4X4] * 3, mask=[0, 1, 0])
    integers = np.ma.array(np.zeros((3, 16), int), mask=np.ones((3, 16)))
    for convert, masked in (
        *((boards_of, value) for value in (strings, integers, list(integers))),
        *((board_of, value) for value in (integers[0], list(integers[0].reshape(4, 4)))),
    ):
        with pytest.raises(InputError, match="masked array, expected a plain one"):
            convert(masked)


def test_another_thread_imports_numpy_ma(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is known before its classes are."""
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    assert board_of(np.array([list(row) for row in ROWS])) == BOARD


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.txt").write_text("\n".join(ROWS))
    Path("bars").write_text(f"{LINE_4X4}\n{LINE_4X4[1:]}\n{LINE_4X4}\n")
    Path("two.txt").write_text(f"{LINE_4X4}\n" * 2)
    Path(LINE_4X4).write_text("")  # the board is read, not the file
    assert board_of(Path("one.txt")) == board_of(LINE_4X4) == BOARD
    assert board_of(Path("one.txt"), "1x4").geometry == Geometry(1, 4)
    assert boards_of([Path("one.txt"), LINE_4X4]) == [BOARD, BOARD]
    assert read_together(Path("bars")) == [
        BOARD, "bars:2: 15 cells make no board, the nearest is 4x4 with 16", BOARD
    ]  # fmt: skip
    assert_refused(
        "two.txt: several boards: pass the path itself to count_many", board_of, Path("two.txt")
    )
    for convert in (board_of, boards_of):
        assert_refused("bars is a file: read it with pathlib.Path('bars')", convert, "bars")
        assert_refused("-: no such file", convert, Path("-"))
        assert_refused(".: a folder, expected a file", convert, Path())
        assert_refused("'@a1': expected a board; collection.load(name)", convert, "@a1")


@pytest.mark.parametrize("make", [
    list, iter, tuple, np.array, Column, lambda texts: Column(texts, wrapped=True),
    lambda texts: np.array(texts, object), lambda texts: [text.encode() for text in texts],
    lambda texts: np.array(texts).astype(bytes), lambda texts: Table(np.array([texts]).T),
    lambda texts: map(parse, texts), lambda texts: dict.fromkeys(texts, 0).keys(),
])  # fmt: skip
def test_forms_of_many_boards(make: Any) -> None:
    texts = (LINE_4X4, PUZZLE, "\n".join(ROWS), f" {LINE_4X4} \n", "1.3." + "." * 12)
    assert boards_of(make(texts)) == [parse(text) for text in texts]


@pytest.mark.parametrize("make", [
    list, lambda texts: [text.encode() for text in texts],
    lambda texts: np.char.encode(np.array(texts), "utf-8"), lambda texts: np.array(texts, ">U"),
    lambda texts: np.array([x for text in texts for x in (text, "!")])[::2], iter,
])  # fmt: skip
def test_many_texts(make: Any) -> None:
    """Boards, and where they end, as if each was read alone."""
    ends = ["", " ", "\n", "\r\n", "     ", "\t", "\0", ":7", "é", "\x00."]
    odd = [start + LINE_4X4 + end for start in ("", " ", "     ") for end in ends]
    odd += ["", LINE_4X4[1:], *(sign * 16 for sign in "!-xé"), "." * 36, "-" * 36, "." * 256]
    rng = np.random.default_rng(1)
    for _ in range(16):
        texts = [LINE_4X4] * 40
        for k in rng.integers(0, 40, 6).tolist():
            texts[k] = odd[rng.integers(len(odd))]
        assert read_together(make(texts)) == read_one_by_one(make(texts))


def test_every_form_and_every_sign_among_many_boards() -> None:
    """What is no sign for an empty cell is never read as one, nor a rule as a board."""
    texts = [*FORMS.values(), *(text for text, _ in REFUSED.values())]
    for n in (1, 4, 9, 16):
        for sign in [*".0*_-?xX1G", "é", "\uff11", "…", "\ud800", "\0", "\xa0"]:
            texts += [sign * n * n, "1" * (n * n - 1) + sign, f".{sign * (n * n - 2)}."]
    digits = ["0123456789ABCDEF"[(i // 16 * 4 + i // 64 + i) % 16] for i in range(256)]
    texts += ["".join(digits), "." + "".join(digits[1:]), "1" + "." * 255, "1", "0"]
    texts += [f"{LINE_4X4} # comment", f"{LINE_4X4}:name", " ".join(LINE_4X4)]
    texts += ["abcd" + "." * 621, "x" * 1225, ",".join("0" * 36), LINE_4X4.replace(".", "*")]
    for text in texts:
        assert read_together([text, text]) == read_one_by_one([text, text]), text
    assert boards_of([LINE_4X4] * 40, "1x4") == [parse(LINE_4X4, "1x4")] * 40


@pytest.mark.parametrize(("dtype", "order"), [(np.int8, "C"), (np.uint64, "F")])
def test_arrays_of_integers(dtype: Any, order: Any) -> None:
    boards = [puzzle("2x3", 9, seed) for seed in range(5)]
    rows = np.array([board.cells for board in boards], dtype, order=order)
    grids = np.array([board.grid for board in boards], dtype, order=order)
    sheet = np.where(rows, rows, np.nan)
    for form in (rows, grids, Table(rows), rows.tolist(), list(grids), sheet, Table(sheet)):
        assert boards_of(form) == boards
    assert boards_of(rows[:0]) == []
    assert boards_of(rows, "3x2") == [Board(row, Geometry(3, 2)) for row in rows]
    [batch] = batches_of(rows)
    rows[:] = 1  # an array may change after it was read
    assert list(batch) == boards  # type: ignore[arg-type]


def test_what_are_no_boards_is_seen_at_once() -> None:
    for value, message in (
        (LINE_4X4.encode(), "expected boards, found one bytes: use a list of them"),
        (BOARD, "expected boards, found one Board: use a list of them"),
        (5, "expected boards, found 5"),
        ({}, "expected boards, found {}"),
        (np.array(5), "expected boards, found array(5)"),
    ):
        assert_refused(message, batches_of, value)


def test_what_is_not_one_of_many_boards() -> None:
    """Numbers that pandas made of puzzles, blanks, cells, and a grid alone."""
    for value, message in (
        ([1000020000300000], r"^board 0: a number, expected a board as text: read"),
        (np.array([LINE_4X4, "   "]), r"^board 1: "),
        (np.array([" "]), r"^board 0: "),
        ([0] * 16, r"^board 0: expected a board as text or as rows of cells, found 0$"),
        (np.zeros(16, int), r"^board 0: expected a board .*, found 0$"),
        (Column([0] * 16), r"^board 0: expected a board .*, found 0$"),
        (np.zeros((9, 9), int), r"^board 0: .*for one board put it in a list$"),
    ):
        with pytest.raises(InputError, match=message):
            boards_of(value)


@pytest.mark.parametrize("place", [0, 1, 16, 100])
def test_errors_come_in_their_places(place: int) -> None:
    for bad_value in (None, np.nan, "", "w" * 16, "é" * 16, "漢" * 16, "\ud800" * 16, 7,
                  f"{LINE_4X4}\n{LINE_4X4}", [0] * 15, Scalar(None)):  # fmt: skip
        values = [*[LINE_4X4] * place, bad_value, ROWS, PUZZLE, BOARD, BOARD.grid]
        entries = read_together(values)
        assert entries == read_one_by_one(values)
        assert [type(entry) for entry in entries] == [*[Board] * place, str, *[Board] * 4]


@pytest.mark.parametrize("place", [0, 1, 30])
def test_errors_in_arrays_come_in_their_places(place: int) -> None:
    rows = np.zeros((40, 16), int)
    empty = Board.empty(Geometry(2, 2))
    rows[place, 3] = 5
    expected: list[Board | str] = [empty] * 40
    expected[place] = f"board {place}: r1c4 holds 5: digits run from 1 to 4"
    assert read_together(rows) == expected
    assert read_together(rows / 2)[place] == (
        f"board {place}: r1c4 holds 2.5: cells must be integers, 0 for an empty one"
    )
    assert read_together(rows[:, :15])[0] == "board 0: 15 cells do not make a square board"
    assert read_together(rows.reshape(40, 8, 2))[0] == (
        "board 0: 8 rows of 2 cells, expected as many rows as columns"
    )


def test_errors_of_the_maker_of_the_boards_come_after_the_boards_before() -> None:
    def made() -> Iterator[str]:
        yield from [LINE_4X4] * 20
        raise ZeroDivisionError

    batches = batches_of(made())
    assert list(next(batches)) == [BOARD] * 16  # type: ignore[union-attr]
    with pytest.raises(ZeroDivisionError):
        list(batches)


def test_streams_are_read_as_needed_and_in_bounded_batches() -> None:
    stream = iter([LINE_4X4] * 10**5)
    batches = batches_of(stream)
    assert len(next(batches)) == 16
    assert length_hint(stream) == 10**5 - 16
    sizes = [len(batch) for batch in batches]  # type: ignore[arg-type]
    assert max(sizes) <= MAX_ITEMS
    assert sum(sizes) == 10**5 - 16
