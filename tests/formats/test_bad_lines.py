"""A line that is no board is one error that names the place, and spoils no other board."""

from __future__ import annotations

import pytest

from gpusudoku.board.geometry import Geometry
from tests.formats.samples import BOXES, LINE, ROWS, SYMBOLS, changed, no_box, report

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
    "nothing": (":12", None, "2: 0 cells make no board, the nearest is 4x4 with 16"),
    "25": ("." * 25, None, f"2: 25 cells: {no_box(5)}"),
    "49 numbers": (" ".join("." * 49), None, f"2: 49 cells: {no_box(7)}"),
    "4225": ("." * 65**2, None, "2: 4225 cells: a board of 65 rows: from 1 to 64 are supported"),
    "1296": (
        "." * 1296,
        None,
        "2: characters stand for at most 35 digits, "
        "expected numbers from 0 to 36, separated by commas or blanks",
    ),
    "unknown": (changed(LINE, 1, 5, "!"), None, f"2:5: unknown character '!', {SYMBOLS}"),
    "unknown, short": ("  53~" + LINE[5:], None, f"2:5: unknown character '~', {SYMBOLS}"),
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
    "bare words": ("no board", None, "2: 7 cells make no board, the nearest is 4x4 with 16"),
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
    assert report("&a") == [f"f:1:1: unknown character '&', {SYMBOLS}"]


def test_bad_board_of_one_cell() -> None:
    """Among boards of one cell it is not taken for a row."""
    assert report("1\n!\n1") == ["board 1", f"f:2:1: unknown character '!', {SYMBOLS}", "board 3"]


def test_bad_rows_of_tables() -> None:
    """A bad row of a table is an error with the place in the line."""
    wrong = changed(LINE, 1, 81, "!")
    text = (
        f"id,puzzle,name\n1,{LINE},a\n2é,{wrong},b\n3,{LINE}\n4,,c\n"
        f'5,"{LINE},d\n"6,6","{wrong}",e\n7,{LINE[1:]},f\n8,1,{LINE},2\n9,{ROWS[0]},9\n\n1,{LINE},'
    )
    assert report(text) == [
        "board 2",
        f"f:3:84: unknown character '!', {SYMBOLS}",
        "f:4: 2 fields, expected 3",
        "f:5: column 2 is empty, expected a board",
        "f:6: unexpected end of data, expected every quoted field to end on its line",
        f"f:7:88: unknown character '!', {SYMBOLS}",
        "f:8: 80 cells make no board, the nearest is 9x9 with 81",
        "f:9: 4 fields, expected 3",
        "f:10: 9 cells: " + no_box(3),
        "board 12",
    ]
    # Without quotes the first of 81 numbers would be a board by itself.
    assert report("id,puzzle\n1," + ",".join(LINE)) == ["f:2: 82 fields, expected 2"]
