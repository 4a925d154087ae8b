"""A text that is no board is an error with its place; others are read, unless all are wrong."""

from __future__ import annotations

import pytest

from gpusudoku.board.geometry import Geometry
from tests.formats.forms import REFUSED
from tests.formats.samples import GRID, LINE, ROWS, SYMBOLS, changed, no_box, report


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, expected: str) -> None:
    first, *_ = report(text)
    assert first.startswith(f"f:{expected}")
    assert first.isprintable()


BAD_LINES: dict[str, tuple[str, str]] = {
    "80": (LINE[1:], "2: 80 cells make no board, the nearest is 9x9 with 81"),
    "nothing": (":12", "2: 0 cells make no board, the nearest is 4x4 with 16"),
    "25": ("." * 25, f"2: 25 cells: {no_box(5)}"),
    "49 numbers": (" ".join("." * 49), f"2: 49 cells: {no_box(7)}"),
    "4225": ("." * 65**2, "2: 4225 cells: a board of 65 rows: from 1 to 64 are supported"),
    "1296": ("." * 1296,
        "2: characters stand for at most 35 digits, expected numbers from 0 to 36, separated by "
        "commas or blanks"),
    "unknown": (changed(LINE, 1, 5, "!"), f"2:5: unknown character '!', {SYMBOLS}"),
    "unknown, long": (changed(LINE, 1, 3, "··"), f"2:3: unknown character '·', {SYMBOLS}"),
    "letter": (changed(LINE, 1, 12, "A"),
        "2:12: r2c3 holds 'A', which is digit 10, expected 1 to 9"),
    "hexadecimal": ("0" + "." * 254 + "h",
        "2:256: r16c16 holds 'h', which is digit 17, expected 1 to 16"),
    "number": (" ".join(LINE[:-1]) + " 10",
        "2:161: r9c9 holds '10', expected a number from 0 to 9"),
    "word": ("12, " + ", ".join("0" * 254) + ", none",
        "2:767: r16c16 holds 'none', expected a number from 0 to 16"),
    "two boards": (f"{LINE} {LINE}", "2: 162 cells make no board, the nearest is 12x12 with 144"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_leaves_the_lines_around_it(line: str, expected: str) -> None:
    assert report(f"{LINE}\n{line}\n{LINE}\n") == ["board 1", f"f:{expected}", "board 3"]


def test_bad_first_line() -> None:
    """A line that is no board may also come first, or stand alone."""
    expected = "f:1: 80 cells make no board, the nearest is 9x9 with 81"
    assert report(LINE[1:]) == [expected]
    assert report(f"{LINE[1:]}\n{LINE}\n{LINE}") == [expected, "board 2", "board 3"]
    assert report(f"{LINE[1:]}\n{LINE[1:]}") == [expected, expected.replace("f:1", "f:2")]
    assert report("." * 9)[0].startswith("f:1: 9 cells: a board of 3 rows has no boxes")


SMALL = "4 0 2 0\n0 0 4 1\n1 0 0 0\n0 0 1 4\n"
BARS = "4 .|2 .\n. .|4 1\n----+----\n1 .|. .\n. .|1 4\n"
BAD_GRIDS: dict[str, tuple[str, str]] = {
    "17 rows": (f"{GRID}\n{GRID[10:]}", "1: 17 rows of 9 cells, expected 9 (a blank line ends a"),
    "70 rows": (f"{ROWS[0]}\n" * 70, "1: 70 rows of 9 cells, expected 9 ("),
    "17000 rows": (f"{ROWS[0]}\n" * 17000, "1: more than 16384 rows of 9 cells, expected 9 ("),
    "short row": (changed(GRID, 4, 3, ""), "4: row 4 of a grid has 8 cells, expected 9"),
    "row of numbers": (changed(SMALL, 3, 1, "1 2"), "3: row 3 of a grid has 5 cells, expected 4"),
    "row with bars": (changed(BARS, 4, 1, ""), "4: row 3 of a grid has 3 cells, expected 4"),
    "5 rows": (".....\n" * 5, f"1: {no_box(5)}"),
    "unknown": (changed(GRID, 2, 4, "x!"), f"2:5: unknown character '!', {SYMBOLS}"),
    "unknown, 8 rows": (changed("\n".join(ROWS[1:]), 8, 9, "!"),
        f"8:9: unknown character '!', {SYMBOLS}"),
    "letter": (changed(GRID, 3, 2, "a"), "3:2: r3c2 holds 'a', which is digit 10, expected 1 to 9"),
    "word": (changed(SMALL, 2, 3, "zero"), "2:3: r2c2 holds 'zero', expected a number from"),
    "in a box": (changed(BARS, 4, 5, "7"), "4:5: r3c3 holds '7', expected a number from 0 to 4"),
    "uneven bars": (changed(changed(BARS, 2, 4, " "), 2, 6, "|"),
        "1: the rules show boxes of unequal sizes"),
    "uneven rules": (BARS.replace("----+----\n", "").replace("\n", "\n---\n", 1),
        "1: the rules show boxes of unequal sizes"),
    "rules that do not fit": (".|.|.|.|.|.\n.|.|.|.|.|.\n---\n" * 3,
        "1: the rules show boxes of 2x1 on a board of 6 rows: give the box (box=\"ROWSxCOLUMNS\")"),
    "columns or boxes": ("1|2|3|4\n" * 4,
        "1: the rules show boxes of 4x1 on a board of 4 rows: give the box (box=\"ROWSxCOLUMNS\")"),
}  # fmt: skip


@pytest.mark.parametrize(("grid", "expected"), BAD_GRIDS.values(), ids=BAD_GRIDS)
def test_a_bad_grid_leaves_the_next_one(grid: str, expected: str) -> None:
    [error] = report(grid)
    assert error.startswith(f"f:{expected}")
    after = grid.rstrip("\n").count("\n") + 3
    assert report(f"{grid.rstrip()}\n\n{SMALL}") == [error, f"board {after}"]


@pytest.mark.parametrize(
    ("text", "box", "expected"),
    [
        (LINE[1:], "3x3", "1: 80 cells, expected 81 for a board with boxes of 3x3"),
        (SMALL, "3x3", "1: row 1 of a grid has 4 cells, expected 9"),
        ("." * 9 + "\n" + "." * 9, "3x3", "1: 2 rows of 9 cells, expected 9 ("),
        (("." * 36 + "\n") * 36, "6x6", "1: characters stand for at most 35 digits, expected num"),
    ],
)
def test_another_box_was_given(text: str, box: str, expected: str) -> None:
    [error] = report(text, Geometry.parse(box))
    assert error.startswith(f"f:{expected}")


def test_messages_quote_little_and_no_control_characters() -> None:
    [error] = report(" ".join(["9" * 5000] * 81))
    assert error == f"f:1:1: r1c1 holds '{'9' * 39}…', expected a number from 0 to 9"
    *_, error = report(f"{LINE}\n" * 200 + f"{LINE[1:]}\x07")
    assert error == f"f:201:81: unknown character '\\x07', {SYMBOLS}"


MIXED = "mixed formats: a line of a grid, expected one board on every line"
UNREADABLE: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["f: no board found"]),
    "rules": (" ===\n ===\n", ["f: no board found"]),
    "header": ("id,puzzle\n# comment\n", ["f: no board found"]),
    "other section": (f"[State]\n{GRID}", ["f: no board found"]),
    "NUL": (f"{LINE[:80]}\0\n{GRID[:80]}\0", ["f:1: binary data (byte 0x00), expected text"]),
    "NUL in many lines": (f"{LINE[:80]}\0\n" * 128 + LINE,
        ["f:1: binary data (byte 0x00), expected text"]),
    "image": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\n\0\0\0\n\x08\x02" + bytes(range(256)) * 9,
        ["f:2: binary data (byte 0x1a), expected text"]),
    "table without boards": ("id,solution\n1,none",
        ["f:1: a table without a column of boards: call the right one puzzle, "
         "one of 'id', 'solution'"]),
    "lines, then a grid": (f"{LINE}\n{LINE}\n{GRID}\n{LINE}",
        ["f:3: mixed formats: 9 cells, expected a board on every line"]),
    "lines, then bars": (f"{LINE}\n\n4 .|2 .\n. .|. .\n", ["board 1", f"f:3: {MIXED}"]),
    "lines with counts, then a grid": (f"{LINE}:1\n\n{GRID}\n", ["board 1", f"f:3: {MIXED}"]),
    "grid, then a line": (f"{GRID}\n{LINE}\n{GRID}",
        ["f:10: mixed formats: 81 cells, expected a row of a grid"]),
    "grid, blank, lines": (f"{GRID}\n\n{LINE}\n{LINE}\n{LINE}",
        ["board 1", "f:11: mixed formats: 81 cells, expected a row of a grid"]),
}  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), UNREADABLE.values(), ids=UNREADABLE)
def test_after_what_spoils_the_whole_input_nothing_follows(
    data: str | bytes, expected: list[str]
) -> None:
    assert report(data) == expected


BAD = LINE[:40] + "\0" + LINE[41:]
NUL = "unknown character '\\x00', expected digits, letters or one of . 0 * _ - ?"
WITH_NUL = {
    "lines": ([LINE] * 300, BAD, f"f:{{}}:41: {NUL}"),
    "table": (["id,puzzle", *[f"7,{LINE}"] * 600], f"7,{BAD}", f"f:{{}}:43: {NUL}"),
    "objects": (
        [f'{{"puzzle": "{LINE}"}}'] * 600,
        f'{{"puzzle": "{BAD}"}}',
        "f:{}: expected a JSON object on every line",
    ),
    "grids": ([*GRID.split("\n"), ""] * 40, GRID[:8] + "\0", f"f:{{}}:9: {NUL}"),
}


@pytest.mark.parametrize("form", WITH_NUL)
@pytest.mark.parametrize("index", [1, -20])
def test_a_nul_byte_spoils_one_board(form: str, index: int) -> None:
    """Neither what stands before it nor what follows is lost, wherever it stands."""
    lines, bad, error = WITH_NUL[form]
    if form == "grids":
        index *= 10
    place = index % len(lines)
    good = [each for each in report("\n".join(lines)) if each.startswith("board")]
    found = report("\n".join([*lines[:place], bad, *lines[place + 1 :]]))
    assert [each for each in found if not each.startswith("board")] == [error.format(place + 1)]
    assert len(found) == len(good)
