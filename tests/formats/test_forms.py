"""Every form of board is told from the others, and read."""

from __future__ import annotations

import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import Entry, parse, read_text, write, write_line
from tests.formats.samples import BOARD, GEOMETRIES, GRID, LINE, read, solution

TEXTS = {
    "line": LINE,
    "line of zeros": LINE.replace(".", "0"),
    "line of stars": LINE.replace(".", "*"),
    "line of underscores": LINE.replace(".", "_"),
    "line with a count": f"{LINE}:1",
    "line with two fields": f"{LINE}:1:0.5 s",
    "line with a comment": f"  {LINE}  # hard",
    "numbers on a line": " ".join(LINE),
    "numbers and commas on a line": ", ".join(LINE.replace(".", "0")),
    "line in groups": " ".join(LINE[i : i + 9] for i in range(0, 81, 9)),
    "grid": GRID,
    "grid with CRLF": GRID.replace("\n", "\r\n") + "\r\n",
    "grid with byte-order mark": "\ufeff" + GRID,
    "grid with comments": "# a\n" + GRID.replace("\n", " # row\n# between\n"),
    "numbers and blanks": "\n".join(" ".join(row) for row in GRID.split()),
    "numbers and tabs": "\n".join("\t".join(row) for row in GRID.split()),
    "numbers and commas": "\n".join(",".join(row) for row in GRID.split()),
    "zero-padded numbers": "\n".join(
        " ".join(f"0{digit}" for digit in row.replace(".", "0")) for row in GRID.split()
    ),
    "bars": "\n".join(f"{row[:3]}|{row[3:6]}|{row[6:]}" for row in GRID.split()),
    "box rules": "\n".join(
        f"|{row[:3]}|{row[3:6]}|{row[6:]}|" + ("\n+---+---+---+" if place % 3 == 2 else "")
        for place, row in enumerate(GRID.split())
    ),
    "box rules and blanks": "\n".join(
        " ".join(f"{row[:3]}|{row[3:6]}|{row[6:]}")
        + ("\n------+-------+------" if place in (2, 5) else "")
        for place, row in enumerate(GRID.split())
    ),
    "rules around every cell": "\n".join(
        "+-" * 9 + "+\n|" + "|".join(row) + "|" for row in GRID.split()
    ),
    "sdk": f"#AAuthor\n#DDescription, with 123\n[Puzzle]\n{GRID}\n[State]\n{GRID[::-1]}\n[x]\nyz",
    "sdk without a header": f"#AAuthor\n#B2024\n{GRID}\n",
    "sdk with the state first": f"[State]\n{GRID[::-1]}\n\n[PUZZLE]\n{GRID}",
    "csv": f"puzzle\n{LINE}",
    "csv of two columns": f"quizzes,solutions\n{LINE},12345\n",
    "csv with quotes": f'"id","Board"\n"a, ""b""","{LINE}"\n',
    "csv with semicolons": f"id; PUZZLE\r\n7;{LINE}\r\n",
    "csv of one column of numbers": 'puzzle\n"' + ",".join(LINE) + '"\n',
    "table of one column of numbers": "puzzle\n" + ",".join(LINE) + "\n",
    "csv of numbers": 'id,puzzle\n1,"' + ",".join(LINE) + '"\n',
    "tsv": f"name\tboard\tcount\n\n# comment\na\t{LINE}\t1\n",
    "tsv with a header behind #": f"# one, more\n# name\tboard\tcount (exact)\na\t{LINE}\t1\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("geometry", [None, Geometry(3, 3)], ids=["guess", "given"])
def test_forms_are_told_apart(text: str, geometry: Geometry | None) -> None:
    """One board in every form that is read."""
    [entry] = read(text, geometry)
    assert entry.board == BOARD
    assert text.encode().splitlines()[entry.line - 1].strip()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_is_one_board(text: str) -> None:
    """A board parses itself from any of them."""
    assert parse(text) == BOARD


def test_comment_is_no_header() -> None:
    """A comment with a telling word is a header only if it has as many columns as its table."""
    assert [e.line for e in read(f"# puzzle, hard\n{LINE}\n# board\n{LINE}")] == [2, 4]


def test_comment_in_a_grid_is_no_header() -> None:
    """Only a comment before the first row may be one."""
    assert read("1\t2\t3\t4\n# a\tb\tc\tboard\n" + "0\t0\t0\t0\n" * 3)[0].board.clues == 4


def test_row_of_letters_is_no_header() -> None:
    """A header has names of more than one letter."""
    assert read((",".join("A" * 16) + "\n") * 16)[0].board == Board([10] * 256)


def test_lines_of_several_sizes() -> None:
    """The boards of a batch may differ in size, with blank lines and comments between."""
    batch = [solution(geometry) for geometry in GEOMETRIES if geometry == guess(geometry.n)]
    text = "\n# comment\n\n".join(map(write_line, batch))
    assert [entry.board for entry in read(text)] == batch
    assert [entry.line for entry in read(text)] == list(range(1, 3 * len(batch), 3))
    assert len(batch) > 5


def guess(n: int) -> Geometry | None:
    """Return the geometry that is guessed, None for a prime n."""
    try:
        return Geometry.of_size(n)
    except InputError:
        return None


def test_given_geometry() -> None:
    """It decides where the guess is another or none."""
    tall = Geometry(3, 2)
    assert read("." * 36)[0].board.geometry == Geometry(2, 3)
    assert read("." * 36, tall)[0].board.geometry == tall
    latin = Geometry(1, 5)
    assert read("." * 25, latin) == [Entry(Board.empty(latin), 1)]
    assert read(".....\n" * 5, latin) == [Entry(Board.empty(latin), 1)]
    assert read(". . . . .\n" * 5, latin) == [Entry(Board.empty(latin), 1)]
    assert read("...\n" * 3, Geometry(3, 1)) == [Entry(Board.empty(Geometry(3, 1)), 1)]


@pytest.mark.parametrize("geometry", [Geometry(*shape) for shape in [(2, 3), (3, 2), (2, 8)]])
def test_rules_show_the_geometry(geometry: Geometry) -> None:
    """Rules in both directions or in one tell the boxes, unless they are given."""
    board = solution(geometry)
    pretty = write(board, "pretty")
    rule = pretty.splitlines()[0]
    assert read(pretty)[0].board == board
    assert read(pretty.replace(rule + "\n", ""))[0].board == board
    assert read(pretty.replace(" | ", " "))[0].board == board
    assert read(pretty.replace("=", "-").replace(" -", "+-"))[0].board == board
    other = geometry.transposed
    assert read(pretty, other)[0].board == Board(board.cells, other)


@pytest.mark.parametrize("name", ["box2x2-few", "box2x3-few", "box2x4-few", "16x16-few"])
def test_counts_after_colons_read_back(name: str) -> None:
    """What ``count`` prints of a batch is a batch again, also where lines are like rows."""
    board = collection.load(name)
    text = f"{board}:7\n{board}:1000+\n"
    assert list(read_text(text)) == [board, board]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_row_without_a_cell_parts_grids(separator: str) -> None:
    """Spreadsheets save such a row; it may be one of a grid as well, and then nothing is read."""
    cells = [f"{LINE[:72]}.........", LINE]  # an empty row at the end
    first, second = (
        "\n".join(separator.join(board[i : i + 9].replace(".", " ")) for i in range(0, 81, 9))
        for board in cells
    )
    gap = separator * 8
    found = read("\n".join([first, gap, second, gap, first, gap, second]).replace(" ", ""))
    assert [write_line(entry.board) for entry in found] == cells * 2
    for text in (f"{first}\n{gap}\n{gap}\n{first}", f"{second}\n{gap}", f"{gap}\n{first}\n{gap}"):
        with pytest.raises(InputError, match="rows of 9 cells, expected 9"):
            list(read_text(text.replace(" ", "")))
