"""Every form of board is told from the others and read, whatever is around it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import parse, read_text, write
from tests.formats.forms import FORMS, ONLY_ALONE, SOLUTION, TEXTS
from tests.formats.samples import (
    BOARD,
    BOXES,
    GRID,
    LINE,
    Entry,
    read,
    read_stream,
    report,
    solution,
)

EVERY = TEXTS | FORMS
TABLES = {name for name, text in FORMS.items() if text.startswith(("quizzes", "id,", "Puzzle,"))}


@pytest.mark.parametrize("name", EVERY)
def test_every_form_is_read(name: str) -> None:
    """With the box given or guessed, with any line end, and three times after each other."""
    text = EVERY[name]
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    [first] = read(text)
    assert first.board == BOARD
    assert text.encode().splitlines()[first.line - 1].strip()
    assert read(text, BOXES) == [first]
    for end in ("\r\n", "\r"):
        assert read("\ufeff" + f"{plain}\n".replace("\n", end)) == [first]
    assert parse(text) == BOARD
    if name in FORMS.keys() - ONLY_ALONE - TABLES:
        again = text.rstrip("\n") + "\n\n"
        step = again.count("\n")
        assert read(again * 3) == [Entry(BOARD, first.line + step * k) for k in range(3)]


KINDS = {name: text for name, text in EVERY.items() if "[State]" not in text}
REPLACEMENTS = ["", " ", "\n", "|", ",", ".", "-", "1", "x", "[", '"', "  ", "\n\n", "\t", ";"]


@settings(max_examples=250)
@given(
    st.sampled_from(sorted(KINDS)),
    st.integers(0, 10**6),
    st.integers(0, 3),
    st.sampled_from(REPLACEMENTS),
)
def test_changed_texts_are_not_misread(name: str, place: int, cut: int, new: str) -> None:
    """A text with one piece changed gives the same board, one that differs there, or an error.

    One piece is at most three characters, so at most three cells differ: a shift would change many.
    """
    text = KINDS[name]
    place %= len(text)
    changed = text[:place] + new + text[place + cut :]
    entries = list(read_stream(io.BytesIO(changed.encode()), "f"))
    if any(isinstance(entry, InputError) for entry in entries):
        return
    for entry in entries:
        assert isinstance(entry, Entry)
        board = entry.board
        assert board.n == 9, (changed, str(board))
        differing = int((board.cells != BOARD.cells).sum())
        assert str(board) == SOLUTION or differing <= 3, (changed, str(board))


def test_comments() -> None:
    """A header is only the last before the first row, with as many columns as the table."""
    assert [e.line for e in read(f"# puzzle, hard\n{LINE}\n# board\n{LINE}")] == [2, 4]
    assert read("1\t2\t3\t4\n# a\tb\tc\tboard\n" + "0\t0\t0\t0\n" * 3)[0].board.clues == 4
    comments = "# no board\n\n" * 5000
    assert read(comments + GRID) == [Entry(BOARD, 10001)]
    assert read(comments + LINE + "\n" + LINE)[1].line == 10002


def test_lines_of_several_sizes() -> None:
    """The boards of a batch may differ in size, with blank lines and comments between."""
    shapes = ["2x2", "2x3", "2x4", "3x3", "2x5", "4x4", "5x5", "6x6", "8x8"]
    batch = [solution(Geometry.parse(shape)) for shape in shapes]
    text = "\n# comment\n\n".join(map(str, batch))
    assert read(text) == [Entry(board, 3 * k + 1) for k, board in enumerate(batch)]


@pytest.mark.parametrize("shape", ["2x3", "3x2", "2x8"])
def test_rules_show_the_geometry(shape: str) -> None:
    """Rules in both directions or in one tell the boxes, unless they are given."""
    board = solution(Geometry.parse(shape))
    pretty = write(board, "pretty")
    rule = pretty.splitlines()[0]
    assert read(pretty)[0].board == board
    assert read(pretty.replace(rule + "\n", ""))[0].board == board
    assert read(pretty.replace(" | ", " "))[0].board == board
    assert read(pretty.replace("=", "-").replace(" -", "+-"))[0].board == board
    other = board.geometry.transposed
    assert read(pretty, other)[0].board == Board(board.cells, other)


def test_bands_show_the_boxes() -> None:
    rows = ["......"] * 6
    tall = "\n".join([*rows[:3], "", *rows[3:]])
    flat = "\n".join([*rows[:2], "", *rows[2:4], "", *rows[4:]])
    shapes = [str(entry.board.geometry) for entry in read(f"{tall}\n\n{flat}\n\n{tall}")]
    assert shapes == ["3x2", "2x3", "3x2"]


@pytest.mark.parametrize(
    "band",
    [
        "1...............\n" * 3 + "G...............\n",
        f"1{' 0' * 35}\n" * 5 + f"36{' 0' * 35}\n",
        f"1{' 0' * 63}\n" * 7 + f"64{' 0' * 63}\n",
    ],
)
def test_larger_digits_tell_bands_of_large_boards(band: str) -> None:
    rows = band.count("\n")
    assert [entry.board.n for entry in read("\n".join([band] * rows))] == [rows**2]


def test_rows_of_dashes() -> None:
    """They are rules unless rows are missing."""
    rows = ["53--7----", "---------", "-98----6-", *["1--------"] * 6]
    [entry] = read("\n".join(rows))
    assert entry.board.grid[1].tolist() == [0] * 9
    assert entry.board.clues == 3 + 3 + 6
    rows[1] = "1--------"
    ruled = [*rows[:3], "---------", *rows[3:6], "---------", *rows[6:]]
    assert read("\n".join(ruled))[0].board.clues == 3 + 1 + 3 + 6


@pytest.mark.parametrize("name", ["box2x2-few", "box2x3-few", "box2x4-few", "16x16-few"])
def test_counts_after_colons_read_back(name: str) -> None:
    """What ``count`` prints of a batch is a batch again, also where lines are like rows."""
    board = collection.load(name)
    assert list(read_text(f"{board}:7\n{board}:1000+\n")) == [board, board]


def test_other_boards_behind_a_colon() -> None:
    """They may stand there if they are not larger."""
    text = f"{LINE}:{SOLUTION}\n{LINE}:7\n{LINE}:a name: {LINE}\n"
    assert report(text) == ["board 1", "board 2", "board 3"]
    assert report("1:5\n1:" + LINE, Geometry(1, 1)) == ["board 1", "board 2"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_row_without_a_cell_parts_grids(separator: str) -> None:
    """Spreadsheets save such a row; it may be one of a grid as well, and then nothing is read."""
    cells = [f"{LINE[:72]}.........", LINE]  # an empty row at the end
    first, second = (
        "\n".join(separator.join(board[i : i + 9]) for i in range(0, 81, 9)).replace(".", "")
        for board in cells
    )
    gap = separator * 8
    found = read("\n".join([first, gap, second, gap, first, gap, second]))
    assert [str(entry.board) for entry in found] == cells * 2
    for text in (f"{first}\n{gap}\n{gap}\n{first}", f"{second}\n{gap}", f"{gap}\n{first}\n{gap}"):
        with pytest.raises(InputError, match="rows of 9 cells, expected 9"):
            list(read_text(text))


def test_titles_without_blank_lines() -> None:
    text = f"Grid 01\n{GRID}\nGrid 02\n{GRID}\nGrid 03\n{GRID}\n"
    assert [entry.line for entry in read(text)] == [2, 12, 22]
    text = f"Sudoku 9x9\n{GRID}\nVery hard 1\nDifficult\n{GRID}\n"  # as many characters as cells
    assert [entry.line for entry in read(text)] == [2, 13]


def test_text_below_a_grid() -> None:
    """It is left out."""
    for text in ("The end", "Rating: 9.0\nSource: a newspaper", "Version 4.2n\n" * 10):
        assert report(f"{GRID}\n{text}\n") == ["board 1"]
        assert report(f"{GRID}\n\n{text}\n{GRID}\n\n{text}\n")[::2] == ["board 1"]
    assert report(f"Level: 1\n{GRID}\nLevel: 2\n") == ["board 2"]
    for rows in (8, 9):  # a grid of letters is no text
        letters = "\n".join(["ABCDEFGHI"] * rows)
        assert len(report(f"{GRID}\n\n{letters}\n")) == 2
    assert report(f"{GRID}\n\n12.1.2006\n")[1:] == [
        "f:11: 1 rows of 9 cells, expected 9 (a blank line ends a grid)"
    ]
