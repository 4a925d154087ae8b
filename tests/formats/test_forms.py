"""Every form of board is recognised, and whatever is written reads back."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import (
    FORMATS,
    Entry,
    header,
    parse,
    read_path,
    read_stream,
    read_text,
    write,
    write_line,
)
from gpusudoku.formats.grids import blocks

SHAPES = [(1, 1), (1, 2), (2, 2), (1, 5), (5, 1), (2, 3), (3, 2), (3, 3), (2, 5), (5, 2)]
SHAPES += [(4, 4), (2, 8), (5, 5), (5, 7), (6, 6), (8, 8)]
GEOMETRIES = [Geometry(*shape) for shape in SHAPES]
LINE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
BOARD = Board([int(c) for c in LINE.replace(".", "0")])
GRID = "\n".join(LINE[i : i + 9] for i in range(0, 81, 9))


def solution(geometry: Geometry) -> Board:
    """Make a full board without conflicts."""
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)
    shift = row % geometry.box_rows * geometry.box_columns + row // geometry.box_rows
    return Board((column + shift) % geometry.n + 1, geometry)


@st.composite
def boards(draw: st.DrawFn, geometries: list[Geometry] = GEOMETRIES) -> Board:
    """Boards of any filling factor, some of small digits only, most of them full of conflicts."""
    geometry = draw(st.sampled_from(geometries))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = draw(st.integers(1, geometry.n))
    cells = random.integers(1, most + 1, geometry.cells)
    full = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    return Board(np.where(random.random(geometry.cells) < full, cells, 0), geometry)


def read(text: str | bytes, geometry: Geometry | None = None) -> list[Entry]:
    """All entries of a text, none of which may be an error."""
    data = text.encode() if isinstance(text, str) else text
    entries = list(read_stream(io.BytesIO(data), "text", geometry))
    assert all(isinstance(entry, Entry) for entry in entries), entries
    return [entry for entry in entries if isinstance(entry, Entry)]


def reads_back_from_hex(board: Board) -> bool:
    """Whether the rule by which hexadecimal is told holds for a board of 16 digits."""
    ones = board.grid == 1
    once = (ones.sum(0) == 1).all() and (ones.sum(1) == 1).all()
    mixed = bool(ones.any()) and not board.is_full
    return mixed or board.clues == 0 or bool(board.is_full and once)


def written(board: Board, form: str) -> str | None:
    """Write the board with the header of its form; None where the form is too narrow for it."""
    wide = board.n > 35 if form == "letters" else form == "hex" and board.n != 16
    if wide or (form == "hex" and not reads_back_from_hex(board)):
        with pytest.raises(InputError):
            write(board, form)
        return None
    return f"{header(form)}\n{write(board, form)}\n"


@pytest.mark.parametrize("form", FORMATS)
@settings(deadline=None)
@given(boards())
def test_reads_back(form: str, board: Board) -> None:
    """With the geometry given every form reads back."""
    text = written(board, form)
    if text is not None:
        assert [entry.board for entry in read(text, board.geometry)] == [board]


@settings(deadline=None)
@given(boards([Geometry(4, 4)]))
def test_hexadecimal_reads_back(board: Board) -> None:
    """The same of the form that is only for 16 digits."""
    text = written(board, "hex")
    if text is not None:
        assert [entry.board for entry in read(text, board.geometry)] == [board]


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "hex"])
@settings(deadline=None)
@given(board=boards([Geometry(1, 1), Geometry(2, 2), Geometry(2, 3), Geometry(3, 3),
                     Geometry(4, 4), Geometry(5, 5), Geometry(6, 6)]))  # fmt: skip
def test_reads_back_with_guessed_geometry(form: str, board: Board) -> None:
    """Without a geometry it reads back too, or asks for one where a text reads two ways."""
    text = written(board, form)
    if text is None:
        return
    [entry] = read_stream(io.BytesIO(text.encode()), "text")
    if isinstance(entry, InputError):
        assert form in ("grid", "integers", "sdk")
        assert board.cells.max() <= board.n**0.5
        assert f"--box {board.geometry} for one of {board.n}x{board.n}" in str(entry)
    else:
        assert entry.board == board


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_full_boards_read_back(form: str, geometry: Geometry) -> None:
    """Solutions read back in every form that has symbols for them."""
    board = solution(geometry)
    text = written(board, form)
    too_wide = {"hex": board.n != 16, "letters": board.n > 35}
    assert (text is None) == too_wide.get(form, False)
    if text is not None:
        assert [entry.board for entry in read(text, geometry)] == [board]


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "hex"])
@pytest.mark.parametrize("geometry", [Geometry(2, 2), Geometry(3, 3), Geometry(3, 5)], ids=str)
def test_batches_read_back(form: str, geometry: Geometry) -> None:
    """Boards after each other, separated by blank lines, come with the line they start on."""
    batch = [solution(geometry), Board.empty(geometry), solution(geometry).relabelled(
        range(geometry.n, 0, -1))]  # fmt: skip
    text, starts = header(form) + "\n", []
    for board in batch:
        # The section header of an .sdk file comes before its board.
        starts.append(text.count("\n") + 1 + (form == "sdk"))
        text += write(board, form) + "\n\n"
    entries = read(text, geometry)
    assert entries == [Entry(board, line) for board, line in zip(batch, starts, strict=True)]


def test_canonical_lines() -> None:
    """One line: letters up to 35 digits, numbers above."""
    assert write_line(BOARD) == LINE
    assert write_line(solution(Geometry(5, 7)))[:35] == "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert write_line(Board.empty(Geometry(6, 6))) == ",".join(["0"] * 1296)


def test_written_forms() -> None:
    """What the forms look like."""
    board = Board([[4, 0, 2, 0], [0, 0, 4, 1], [1, 0, 0, 0], [0, 0, 1, 4]])
    assert {form: write(board, form) for form in FORMATS if form not in ("hex", "pretty")} == {
        "line": "4.2...411.....14",
        "grid": "4.2.\n..41\n1...\n..14",
        "integers": "4 0 2 0\n0 0 4 1\n1 0 0 0\n0 0 1 4",
        "letters": "4.2...411.....14",
        "sdk": "[Puzzle]\n4.2.\n..41\n1...\n..14",
        "csv": "4.2...411.....14",
        "tsv": "4.2...411.....14",
    }
    assert write(board, "pretty").splitlines() == [
        " ===== =====",
        "| 4 * | 2 * |",
        "| * * | 4 1 |",
        " ===== =====",
        "| 1 * | * * |",
        "| * * | 1 4 |",
        " ===== =====",
    ]
    assert write(solution(Geometry(2, 5)), "pretty").splitlines()[:3] == [
        " ================ ================",
        "| 1  2  3  4  5  | 6  7  8  9  10 |",
        "| 6  7  8  9  10 | 1  2  3  4  5  |",
    ]
    assert write(Board.empty(Geometry(1, 1)), "pretty") == " ===\n| * |\n ==="
    assert write(solution(Geometry(4, 4)), "hex")[:16] == "0123456789ABCDEF"
    assert write(Board.empty(Geometry(6, 6)), "csv") == '"' + ",".join(["0"] * 1296) + '"'
    assert {form: header(form) for form in FORMATS if header(form)} == {
        "csv": "puzzle",
        "tsv": "puzzle",
    }


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
    """SearchSettings in both directions or in one tell the boxes, unless they are given."""
    board = solution(geometry)
    pretty = write(board, "pretty")
    rule = pretty.splitlines()[0]
    assert read(pretty)[0].board == board
    assert read(pretty.replace(rule + "\n", ""))[0].board == board
    assert read(pretty.replace(" | ", " "))[0].board == board
    assert read(pretty.replace("=", "-").replace(" -", "+-"))[0].board == board
    other = geometry.transposed
    assert read(pretty, other)[0].board == Board(board.cells, other)


def test_letters() -> None:
    """Either case; 0 is empty on its own."""
    board = solution(Geometry(4, 4))
    line = write_line(board)
    assert line[:16] == "123456789ABCDEFG"
    rows = [line[i : i + 16] for i in range(0, 256, 16)]
    for text in (line, line.lower(), "\n".join(rows), "\n".join(map(" ".join, rows))):
        assert read(text)[0].board == board
    clues = Board(np.where(board.cells < 16, board.cells, 0) * (np.arange(256) % 3 > 0))
    assert "G" not in write_line(clues)
    assert read(write_line(clues).replace(".", "0"))[0].board == clues
    assert read(write_line(clues).replace(".", "*"))[0].board == clues


@pytest.mark.parametrize("sign", [".", "*", "_"])
def test_hexadecimal(sign: str) -> None:
    """0 beside another sign for empty cells is a digit, unless there is a G."""
    board = Board(solution(Geometry(4, 4)).cells * (np.arange(256) % 5 > 0))
    text = write(board, "hex").replace(".", sign)
    rows = [text[i : i + 16] for i in range(0, 256, 16)]
    for form in (text, text.lower(), "\n".join(rows), "\n".join(map(" ".join, rows))):
        assert read(form)[0].board == board
    letters = write_line(board)
    assert "G" in letters
    for form in (letters, letters.lower()):
        assert read(form.replace(".", sign, 7).replace(".", "0"))[0].board == board


def test_full_hexadecimal() -> None:
    """Without an empty cell 0 is a digit if it stands once in every row and column."""
    board = solution(Geometry(4, 4))
    text = write(board, "hex")
    assert read(text)[0].board == board
    first, rest = text[:16], text[16:]
    with_empty = read(first.replace("0", "1") + rest)[0].board
    assert with_empty.empty_cells == 15
    assert with_empty.cells.max() == 15
    # Once in every column is not enough, nor is once in every row.
    for cells in (np.repeat(range(1, 17), 16), np.tile(range(1, 17), 16)):
        text = write_line(Board(cells)).replace("1", "0").replace("G", "1")
        assert read(text)[0].board.empty_cells == 16


@pytest.mark.parametrize(
    ("separator", "n"), [("", 4), (" ", 4), (",", 6), (" ", 8)], ids=["16", "16 ", "36,", "64 "]
)
def test_lines_that_read_two_ways(separator: str, n: int) -> None:
    """As many lines as cells on each: digits or the given box decide."""
    small, large = Geometry.of_size(n), Geometry.of_size(n * n)
    width = large.n
    row = separator.join("1" + "." * (width - 1))
    text = "\n".join([row] * width)
    [error] = read_stream(io.BytesIO(text.encode()), "f")
    assert str(error) == (
        f"f:1: {width} lines of {width} cells read two ways: give --box {small} for {width} boards "
        f"of {n}x{n} or --box {large} for one of {width}x{width}"
    )
    assert [entry.board.geometry for entry in read(text, small)] == [small] * width
    assert [entry.board.geometry for entry in read(text, large)] == [large]
    one_large = text[:-1] + str(n + 1)
    assert [entry.board.geometry for entry in read(one_large)] == [large]
    # Fewer or more lines are boards, and so is a single one.
    for count in (1, width - 1, width + 1):
        lines = "\n".join([row] * count)
        assert [entry.board.geometry for entry in read(lines)] == [small] * count


def test_characters_do_not_read_two_ways() -> None:
    """36 characters are no row of a 36x36 board, which is written in numbers."""
    assert [entry.board.n for entry in read(("." * 36 + "\n") * 36)] == [6] * 36


class Endless(io.BytesIO):
    """A stream that never ends, and knows how many lines were taken."""

    def __init__(self, lines: Iterator[str]) -> None:
        super().__init__()
        self.lines = lines
        self.taken = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        """Take the next line."""
        self.taken += 1
        return next(self.lines).encode() + b"\n"


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        ([], [LINE]),
        ([], ["# comment", "", LINE + ":1"]),
        ([], [*GRID.split(), ""]),
        (["id,puzzle"], [f"1,{LINE}"]),
    ],
    ids=["lines", "lines with comments", "grids", "csv"],
)
def test_batches_are_streamed(head: list[str], lines: list[str]) -> None:
    """Boards come before the input ends, soon after their lines."""
    stream = Endless(itertools.chain(head, itertools.cycle(lines)))
    entries = list(itertools.islice(read_stream(stream, "endless"), 500))
    assert all(isinstance(entry, Entry) and entry.board == BOARD for entry in entries)
    last = entries[-1]
    assert isinstance(last, Entry)
    assert stream.taken <= last.line + 130
    start = lines.index(LINE + ":1") if LINE + ":1" in lines else 0
    assert last.line == len(head) + 499 * len(lines) + start + 1


def test_memory_is_bounded() -> None:
    """Of a block that is far too long only as many rows are kept as show that."""
    [block] = blocks(enumerate([LINE.encode()] * 1000, 1))
    assert len(block.rows) == 65


def test_comments_before_the_first_board() -> None:
    """However many there are, they do not hide what follows."""
    comments = "# no board\n\n" * 5000
    assert read(comments + GRID) == [Entry(BOARD, 10001)]
    assert read(comments + LINE + "\n" + LINE)[1].line == 10002


def test_read_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file and from standard input."""
    path = tmp_path / "boards.txt"
    path.write_text(GRID)
    assert list(read_path(str(path))) == [Entry(BOARD, 1)]
    assert list(read_path(str(path), Geometry(9, 1))) == [
        Entry(Board(BOARD.cells, Geometry(9, 1)), 1)
    ]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINE.encode() + b"\n?")))
    good, error = read_path("-")
    assert good == Entry(BOARD, 1)
    assert str(error).startswith("<stdin>:2:1: unknown character '?'")


def test_read_text() -> None:
    """Boards until the first error, which is raised."""
    read_boards = read_text(f"{LINE}\n{LINE[1:]}\n{LINE}", source="here")
    assert next(read_boards) == BOARD
    with pytest.raises(InputError, match=r"^here:2: 80 cells make no board"):
        next(read_boards)
    [board] = read_text("." * 36, geometry=Geometry(3, 2))
    assert board.geometry == Geometry(3, 2)
