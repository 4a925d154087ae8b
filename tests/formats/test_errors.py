"""Every kind of bad input is one line that names the place, and spoils no other board."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS, Entry, header, read_path, read_stream, read_text, write

LINE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
ROWS = [LINE[i : i + 9] for i in range(0, 81, 9)]
GRID = "\n".join(ROWS)
SMALL = "4 0 2 0\n0 0 4 1\n1 0 0 0\n0 0 1 4\n"
BARS = "4 .|2 .\n. .|4 1\n----+----\n1 .|. .\n. .|1 4\n"
SYMBOLS = "expected digits, letters or one of . 0 * _"


def report(data: str | bytes, geometry: Geometry | None = None) -> list[str]:
    """Read, and show every entry as its error or as the line where the board starts."""
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    entries = read_stream(stream, "f", geometry)
    return [str(e) if isinstance(e, InputError) else f"board {e.line}" for e in entries]


def changed(text: str, line: int, column: int, new: str) -> str:
    """Replace the character at a place, both numbers from 1."""
    lines = text.split("\n")
    lines[line - 1] = lines[line - 1][: column - 1] + new + lines[line - 1][column:]
    return "\n".join(lines)


UNREADABLE: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["f: no board found"]),
    "blank": ("\n \r\n", ["f: no board found"]),
    "comments": ("# a\n#b", ["f: no board found"]),
    "rules": (" ===\n ===\n", ["f: no board found"]),
    "header": ("id,puzzle\n# comment\n", ["f: no board found"]),
    "other section": (f"[State]\n{GRID}", ["f: no board found"]),
    "UTF-16": (LINE.encode("utf-16"), ["f:1: binary data (UTF-16), expected UTF-8 text"]),
    "NUL": (f"{LINE}\n\0{LINE}", ["f:2: binary data (a NUL byte), expected text"]),
    "late NUL": (
        f"{LINE}\n" * 200 + "\0\n" + LINE,
        [*(f"board {i}" for i in range(1, 201)), "f:201: binary data (a NUL byte), expected text"],
    ),
    "gzip": (b"# a\n\x1f\x8b\x08\x08abc\n", ["f:2: binary data (byte 0x1f), expected text"]),
    "no line end": ("." * (1 << 20), ["f:1: a line of 1048576 bytes or more, expected text"]),
    "table without boards": (
        f"id,solution\n1,{LINE}",
        ["f:1: a table without a column of boards, expected one of puzzle, quizzes, board"],
    ),
    "lines, then a grid": (
        f"{LINE}\n{LINE}\n{GRID}\n{LINE}",
        ["f:3: mixed formats: 9 cells, expected a board on every line"],
    ),
    "lines, blank, grid": (
        f"{LINE}\n{LINE}\n\n{GRID}\n{LINE}",
        [
            "board 1",
            "board 2",
            "f:4: mixed formats: a line of a grid, expected one board on every line",
        ],
    ),
    "lines, then rules": (
        f"{LINE}\n\n ===\n| 1 |\n ===",
        ["board 1", "f:3: mixed formats: a line of a grid, expected one board on every line"],
    ),
    "lines, then bars": (
        f"{LINE}\n\n4 .|2 .\n",
        ["board 1", "f:3: mixed formats: a line of a grid, expected one board on every line"],
    ),
    "lines with counts, then a grid": (
        f"{LINE}:1\n\n{GRID}\n",
        ["board 1", "f:3: mixed formats: a line of a grid, expected one board on every line"],
    ),
    "grid, then a line": (
        f"{GRID}\n{LINE}\n{GRID}",
        ["f:10: mixed formats: 81 cells, expected a row of a grid"],
    ),
    "grid, blank, lines": (
        f"{GRID}\n\n{LINE}\n{LINE}\n{LINE}",
        ["board 1", "f:11: mixed formats: 81 cells, expected a row of a grid"],
    ),
}


@pytest.mark.parametrize(("data", "expected"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable(data: str | bytes, expected: list[str]) -> None:
    """What spoils the whole input is one error, after which nothing follows."""
    assert report(data) == expected


def no_box(n: int) -> str:
    """Write what is said of a board whose boxes cannot be guessed."""
    return (
        f"a board of {n} rows has no boxes of at least 2 rows: "
        f"give the box (--box 1x{n} is a Latin square)"
    )


BOXES = Geometry(3, 3)
BAD_LINES: dict[str, tuple[str, Geometry | None, str]] = {
    "80": (LINE[1:], None, "2: 80 cells make no board, the nearest is 9x9 with 81"),
    "82": (LINE + ".", None, "2: 82 cells make no board, the nearest is 9x9 with 81"),
    "80, given": (LINE[1:], BOXES, "2: 80 cells, expected 81 for a board with boxes of 3x3"),
    "16, given": ("." * 16, BOXES, "2: 16 cells, expected 81 for a board with boxes of 3x3"),
    "80 numbers": (
        " ".join(LINE[1:]),
        None,
        "2: 80 cells make no board, the nearest is 9x9 with 81",
    ),
    "nothing": (":12", None, "2: 0 cells make no board, the nearest is 1x1 with 1"),
    "25": ("." * 25, None, f"2: 25 cells: {no_box(5)}"),
    "49 numbers": (" ".join("." * 49), None, f"2: 49 cells: {no_box(7)}"),
    "4225": ("." * 65**2, None, "2: 4225 cells: a board of 65 rows: from 1 to 64 are supported"),
    "1296": (
        "." * 1296,
        None,
        "2: characters stand for at most 35 digits, "
        "expected numbers from 0 to 36, separated by commas or blanks",
    ),
    "unknown": (changed(LINE, 1, 5, "?"), None, f"2:5: unknown character '?', {SYMBOLS}"),
    "unknown, short": ("  53-" + LINE[5:], None, f"2:5: unknown character '-', {SYMBOLS}"),
    "unknown, long": (changed(LINE, 1, 3, "··"), None, f"2:3: unknown character '·', {SYMBOLS}"),
    "after another": (changed(LINE, 1, 3, "é…"), None, f"2:3: unknown character 'é', {SYMBOLS}"),
    "letter": (
        changed(LINE, 1, 12, "A"),
        None,
        "2:12: r2c3 holds 'A', which is digit 10, expected 1 to 9",
    ),
    "hexadecimal": (
        "0" + "." * 254 + "h",
        None,
        "2:256: r16c16 holds 'h', which is digit 17, expected 1 to 16",
    ),
    "number": (
        " ".join(LINE[:-1]) + " 10",
        None,
        "2:161: r9c9 holds '10', expected a number from 0 to 9",
    ),
    "word": (
        "12, " + ", ".join("0" * 254) + ", none",
        None,
        "2:767: r16c16 holds 'none', expected a number from 0 to 16",
    ),
    "bare words": ("no board", None, "2: 7 cells make no board, the nearest is 1x1 with 1"),
    "two boards": (
        f"{LINE} {LINE}",
        None,
        "2: 162 cells make no board, the nearest is 12x12 with 144",
    ),
}


@pytest.mark.parametrize(("line", "geometry", "expected"), BAD_LINES.values(), ids=BAD_LINES)
def test_bad_lines(line: str, geometry: Geometry | None, expected: str) -> None:
    """A line that is no board leaves the ones around it as they are."""
    assert report(f"{LINE}\n{line}\n{LINE}\n", geometry) == ["board 1", f"f:{expected}", "board 3"]


def test_bad_first_line() -> None:
    """A line that is no board may also come first, or stand alone."""
    expected = "f:1: 80 cells make no board, the nearest is 9x9 with 81"
    assert report(LINE[1:]) == [expected]
    assert report(f"{LINE[1:]}\n{LINE}\n{LINE}") == [expected, "board 2", "board 3"]
    assert report(f"{LINE[1:]}\n{LINE[1:]}") == [expected, expected.replace("f:1", "f:2")]
    assert report("." * 9)[0].startswith("f:1: 9 cells: a board of 3 rows has no boxes")
    assert report('{"a": 1}') == [f"f:1:1: unknown character '{{', {SYMBOLS}"]


def test_bad_board_of_one_cell() -> None:
    """Among boards of one cell it is not taken for a row."""
    assert report("1\n?\n1") == ["board 1", f"f:2:1: unknown character '?', {SYMBOLS}", "board 3"]


BAD_GRIDS: dict[str, tuple[str, Geometry | None, str]] = {
    "8 rows": ("\n".join(ROWS[1:]), None, "1: 8 rows of 9 cells, expected 9 (a blank line ends a"),
    "18 rows": (f"{GRID}\n{GRID}", None, "1: 18 rows of 9 cells, expected 9 (a blank line ends a"),
    "70 rows": (f"{ROWS[0]}\n" * 70, None, "1: more than 64 rows of 9 cells, expected 9 ("),
    "3 rows of numbers": (SMALL[8:], None, "1: 3 rows of 4 cells, expected 4 ("),
    "short row": (changed(GRID, 4, 3, ""), None, "4: row 4 of a grid has 8 cells, expected 9"),
    "long row": (changed(GRID, 9, 3, ".."), None, "9: row 9 of a grid has 10 cells, expected 9"),
    "first row": (changed(GRID, 1, 1, ""), None, "1: row 1 of a grid has 8 cells, expected 9"),
    "row of numbers": (
        changed(SMALL, 3, 1, "1 2"),
        None,
        "3: row 3 of a grid has 5 cells, expected 4",
    ),
    "row with bars": (changed(BARS, 4, 1, ""), None, "4: row 3 of a grid has 3 cells, expected 4"),
    "given": (SMALL, BOXES, "1: row 1 of a grid has 4 cells, expected 9"),
    "given, rows": ("." * 9 + "\n" + "." * 9, BOXES, "1: 2 rows of 9 cells, expected 9 ("),
    "5 rows": (".....\n" * 5, None, f"1: {no_box(5)}"),
    "36 characters": (
        ("." * 36 + "\n") * 36,
        Geometry(6, 6),
        "1: characters stand for at most 35 digits, expected numbers from 0 to 36, separated by",
    ),
    "unknown": (changed(GRID, 2, 4, "x?"), None, f"2:5: unknown character '?', {SYMBOLS}"),
    "unknown, no ASCII": (GRID.replace(".", "·"), None, f"1:3: unknown character '·', {SYMBOLS}"),
    "unknown, 8 rows": (
        changed("\n".join(ROWS[1:]), 8, 9, "!"),
        None,
        f"8:9: unknown character '!', {SYMBOLS}",
    ),
    "colon": (GRID + ":1", None, f"9:10: unknown character ':', {SYMBOLS}"),
    "dash": (GRID.replace(".", "-"), None, f"1:3: unknown character '-', {SYMBOLS}"),
    "letter": (
        changed(GRID, 3, 2, "a"),
        None,
        "3:2: r3c2 holds 'a', which is digit 10, expected 1 to 9",
    ),
    "number": (changed(SMALL, 2, 7, "5"), None, "2:7: r2c4 holds '5', expected a number from 0"),
    "word": (changed(SMALL, 2, 3, "zero"), None, "2:3: r2c2 holds 'zero', expected a number from"),
    "in a box": (
        changed(BARS, 4, 5, "7"),
        None,
        "4:5: r3c3 holds '7', expected a number from 0 to 4",
    ),
    "uneven bars": (
        changed(changed(BARS, 2, 4, " "), 2, 6, "|"),
        None,
        "1: the rules show boxes of unequal sizes",
    ),
    "uneven rules": (
        BARS.replace("----+----\n", "").replace("\n", "\n---\n", 1),
        None,
        "1: the rules show boxes of unequal sizes",
    ),
    "rules that do not fit": (
        ".|.|.|.|.|.\n.|.|.|.|.|.\n---\n" * 3,
        None,
        "1: the rules show boxes of 2x1 on a board of 6 rows: give the box (--box ROWSxCOLUMNS)",
    ),
    "columns or boxes": (
        "1|2|3|4\n" * 4,
        None,
        "1: the rules show boxes of 4x1 on a board of 4 rows: give the box (--box ROWSxCOLUMNS)",
    ),
}


@pytest.mark.parametrize(("grid", "geometry", "expected"), BAD_GRIDS.values(), ids=BAD_GRIDS)
def test_bad_grids(grid: str, geometry: Geometry | None, expected: str) -> None:
    """A bad grid is one error, and the next one is read."""
    [error] = report(grid, geometry)
    assert error.startswith(f"f:{expected}")
    follower = write(Board.empty(geometry or Geometry(2, 2)), "integers")
    after = grid.rstrip("\n").count("\n") + 3
    last = report(f"{grid.rstrip()}\n\n{follower}", geometry)
    assert last == [error, f"board {after}"]


def test_bad_rows_of_tables() -> None:
    """A bad row of a table is an error with the place in the line."""
    wrong = changed(LINE, 1, 81, "?")
    text = (
        f"id,puzzle,name\n1,{LINE},a\n2é,{wrong},b\n3,{LINE}\n4,,c\n"
        f'5,"{LINE},d\n"6,6","{wrong}",e\n7,{LINE[1:]},f\n8,1,{LINE},2\n9,{ROWS[0]},9\n\n1,{LINE},'
    )
    assert report(text) == [
        "board 2",
        f"f:3:84: unknown character '?', {SYMBOLS}",
        "f:4: 2 columns, expected 3",
        "f:5: column 2 is empty, expected a board",
        "f:6: unexpected end of data, expected every quoted field to end on its line",
        f"f:7:88: unknown character '?', {SYMBOLS}",
        "f:8: 80 cells make no board, the nearest is 9x9 with 81",
        "f:9: 4 columns, expected 3",
        "f:10: 9 cells: " + no_box(3),
        "board 12",
    ]
    # Without quotes the first of 81 numbers would be a board by itself.
    assert report("id,puzzle\n1," + ",".join(LINE)) == ["f:2: 82 columns, expected 2"]


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a directory are one error each that names them."""
    missing = tmp_path / "missing.txt"
    for path in (missing, tmp_path):
        [error] = read_path(str(path))
        assert isinstance(error, InputError)
        assert str(error).startswith(f"{path}: ")
        assert str(error).endswith(", expected a file that can be read")


def test_read_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that breaks off is an error too."""

    class Broken(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", lambda *_: Broken())
    [error] = read_path("disk")
    assert str(error) == "disk: Input/output error, expected a file that can be read"


def test_surrogates() -> None:
    """A text that cannot be encoded is an error like any other."""
    with pytest.raises(InputError, match=r"^<text>:1:81: unknown character '\?'"):
        list(read_text(LINE[:-1] + "\udcff"))


@pytest.mark.parametrize("function", [lambda name: write(Board([1]), name), header])
def test_unknown_format(function: Callable[[str], str]) -> None:
    """The names of the formats are given."""
    with pytest.raises(InputError, match=r"^format 'png': expected one of line, grid, integers, "):
        function("png")


def test_boards_too_wide_for_a_format() -> None:
    """Letters and hexadecimal have their limits."""
    with pytest.raises(InputError, match=r"^a board of 36 digits: letters reach 35$"):
        write(Board.empty(Geometry(6, 6)), "letters")
    with pytest.raises(InputError, match=r"^a board of 9 digits: hexadecimal is for 16$"):
        write(Board.empty(BOXES), "hex")
    with pytest.raises(InputError, match=r"^this board would not read back from hexadecimal"):
        write(Board([2] + [0] * 255), "hex")


BOXED = [None, BOXES, Geometry(2, 2), Geometry(4, 4), Geometry(1, 1)]


@settings(deadline=None)
@given(
    st.binary() | st.text('123456789.A0G*_ |,=-\n:#\t"é[]\r').map(str.encode),
    st.sampled_from(BOXED),
)
@example(b"\n|\n", None)
@example(b",\n,\n", None)
@example(b"|-\n-", None)
def test_garbage(data: bytes, geometry: Geometry | None) -> None:
    """Whatever the bytes are: at least one entry, every error one line with the place."""
    check(data, geometry)


@settings(deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_mutilated_boards(form: str, data: st.DataObject) -> None:
    """Likewise of boards with a few bytes replaced, inserted or cut out."""
    geometry = Geometry(4, 4) if form == "hex" else Geometry(2, 2)
    board = Board.empty(geometry)
    text = f"{header(form)}\n{write(board, form)}\n\n".encode() * 2
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 3))
        new = data.draw(st.binary(max_size=2) | st.sampled_from([b"\n", b"|", b"1", b"  ", b"=="]))
        text = text[:start] + new + text[start + length :]
    check(text, data.draw(st.sampled_from([None, geometry])))


def check(data: bytes, geometry: Geometry | None) -> None:
    """Read bytes to the end and look at the shape of what comes."""
    entries = list(read_stream(io.BytesIO(data), "name.txt", geometry))
    assert entries
    for entry in entries:
        if isinstance(entry, Entry):
            assert geometry in (None, entry.board.geometry)
            assert 1 <= entry.line <= data.count(b"\n") + 1
        else:
            assert str(entry).startswith("name.txt:")
            assert str(entry).isprintable()
