"""Every form is read as one board, whatever is around it; what reads two ways is refused."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import Entry, read_stream
from tests.formats.forms import FORMS, REFUSED, SOLUTION
from tests.formats.samples import BOARD, GRID, LINE, SYMBOLS, read, report
from tests.formats.test_forms import TEXTS

forms = pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)


@forms
@pytest.mark.parametrize("geometry", [None, Geometry(3, 3)], ids=["guess", "given"])
def test_forms(text: str, geometry: Geometry | None) -> None:
    [entry] = read(text, geometry)
    assert entry.board == BOARD


@forms
@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CRLF", "CR"])
def test_forms_with_other_line_ends(text: str, end: str) -> None:
    changed = "\ufeff" + (text.replace("\r", "\n") + "\n").replace("\n", end)
    [entry] = read(changed)
    assert entry.board == BOARD
    assert entry.line == read(text)[0].line


SINGLE = {name for name, text in FORMS.items() if text.startswith(("quizzes", "id,", "Puzzle,"))}
ONLY_ALONE = SINGLE | {"blanks", "spreadsheet with tabs", "return alone"}


@pytest.mark.parametrize("name", sorted(FORMS.keys() - ONLY_ALONE))
def test_forms_after_each_other(name: str) -> None:
    text = FORMS[name].rstrip("\n") + "\n\n"
    entries = read(text * 3)
    assert [entry.board for entry in entries] == [BOARD] * 3
    step = text.count("\n")
    first = entries[0].line
    assert [entry.line for entry in entries] == [first, first + step, first + 2 * step]


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, expected: str) -> None:
    first, *_ = report(text)
    assert first.startswith(f"f:{expected}")
    assert first.isprintable()


def test_grids_with_titles_and_no_blank_lines() -> None:
    text = f"Grid 01\n{GRID}\nGrid 02\n{GRID}\nGrid 03\n{GRID}\n"
    assert [entry.line for entry in read(text)] == [2, 12, 22]


def test_text_below_a_grid() -> None:
    """It may be a title, but then there is no grid."""
    assert report(f"{GRID}\nThe end\n") == ["board 1", "f:10: 'The end', expected a grid below it"]


def test_remarks_below_a_grid() -> None:
    """They end the grid, and at the end of the file they count only where no grid has a title."""
    remarks = "Rating: 9.0\nSource: a newspaper"
    assert report(f"{GRID}\n{remarks}\n{GRID}\n{remarks}\n") == ["board 1", "board 12"]
    assert report(f"Level: 1\n{GRID}\nLevel: 2\n") == [
        "board 2",
        "f:11: 'Level: 2', expected a grid below it",
    ]
    assert report(f"{GRID}\nIt ends\nat last\n")[1:] == [
        "f:10: 'It ends', expected a grid below it"
    ]


def test_titles_of_as_many_characters_as_cells() -> None:
    text = f"Sudoku 9x9\n{GRID}\nVery hard 1\nDifficult\n{GRID}\n"
    assert [entry.line for entry in read(text)] == [2, 13]


def test_bands_show_the_boxes() -> None:
    rows = ["......"] * 6
    tall = "\n".join([*rows[:3], "", *rows[3:]])
    flat = "\n".join([*rows[:2], "", *rows[2:4], "", *rows[4:]])
    shapes = [entry.board.geometry for entry in read(f"{tall}\n\n{flat}\n\n{tall}")]
    assert shapes == [Geometry(3, 2), Geometry(2, 3), Geometry(3, 2)]


def test_larger_digits_tell_bands_of_16() -> None:
    band = "1...............\n" * 3 + "G...............\n"
    assert [entry.board.n for entry in read("\n".join([band] * 4))] == [16]


def test_rows_of_dashes() -> None:
    """They are rules unless rows are missing."""
    rows = ["53--7----", "---------", "-98----6-", *["1--------"] * 6]
    [entry] = read("\n".join(rows))
    assert entry.board.clues == 3 + 3 + 6
    assert entry.board.grid[1].tolist() == [0] * 9
    [entry] = read("\n".join([*rows[:1], "1--------", *rows[2:3], "---------", *rows[3:6],
                              "---------", *rows[6:]]))  # fmt: skip
    assert entry.board.clues == 3 + 1 + 3 + 6


def test_messages_quote_little_and_no_control_characters() -> None:
    [error] = report(" ".join(["9" * 5000] * 81))
    assert error == f"f:1:1: r1c1 holds '{'9' * 39}…', expected a number from 0 to 9"
    *_, error = report(f"{LINE}\n" * 200 + f"{LINE[1:]}\x07")
    assert error == f"f:201:81: unknown character '\\x07', {SYMBOLS}"


@pytest.mark.parametrize("n", [6, 8, 9, 10])
def test_numbers_of_rows_and_columns(n: int) -> None:
    """They would be rows of a larger board with no solution, but may be those of a Latin square."""
    rows = [["", *range(1, n)], *([k, *[""] * (n - 1)] for k in range(1, n))]
    text = "\n".join("\t".join(map(str, row)) for row in rows)
    assert report(text) == ["f:1: a grid with numbered rows and columns: leave these out"]
    assert report(text, Geometry(1, n)) == ["board 1"]


def test_what_stands_behind_a_board() -> None:
    """Other boards may, if they are not larger."""
    assert report(f"{LINE}:{SOLUTION}\n{LINE}:7\n{LINE}:a name: {LINE}\n") == [
        "board 1", "board 2", "board 3",
    ]  # fmt: skip
    assert report("1:5\n1:" + LINE, Geometry(1, 1)) == ["board 1", "board 2"]


def test_games_before_a_damage() -> None:
    games = f'<game data="{LINE}"/>\n' * 200
    *boards, error = report(f"<a>\n{games}{games[:-1]}<game/>\n</a>")
    assert boards == [f"board {k}" for k in range(2, 402)]
    assert error == "f:401: a <game> without a board as its data"


KINDS = {name: text for name, text in (TEXTS | FORMS).items() if "[State]" not in text}
REPLACEMENTS = ["", " ", "\n", "|", ",", ".", "-", "1", "x", "[", '"', "  ", "\n\n", "\t", ";"]


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 10**6), st.integers(0, 3), st.data())
def test_changed_texts_are_not_misread(
    name: str, place: int, cut: int, data: st.DataObject
) -> None:
    """A text with one piece changed gives the same board, one that differs there, or an error.

    One piece is at most three characters, so at most three cells differ: a shift would change many.
    """
    text = KINDS[name]
    place %= len(text)
    new = data.draw(st.sampled_from(REPLACEMENTS))
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
