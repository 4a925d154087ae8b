"""What spoils the whole input is one line that names the place."""

from __future__ import annotations

import pytest

from tests.formats.samples import GRID, LINE, report

UNREADABLE: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["f: no board found"]),
    "blank": ("\n \r\n", ["f: no board found"]),
    "comments": ("# a\n#b", ["f: no board found"]),
    "rules": (" ===\n ===\n", ["f: no board found"]),
    "header": ("id,puzzle\n# comment\n", ["f: no board found"]),
    "other section": (f"[State]\n{GRID}", ["f: no board found"]),
    "NUL": (f"{LINE[:80]}\0\n{GRID[:80]}\0", ["f:1: binary data (byte 0x00), expected text"]),
    "NUL in many lines": (
        f"{LINE[:80]}\0\n" * 128 + LINE,
        ["f:1: binary data (byte 0x00), expected text"],
    ),
    "image": (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\n\0\0\0\n\x08\x02" + bytes(range(256)) * 9,
        ["f:2: binary data (byte 0x1a), expected text"],
    ),
    "gzip": (b"# a\n\x1f\x8b\x08\x08abc\n", ["f:2: binary data (byte 0x1f), expected text"]),
    "no line end": ("." * (1 << 20), ["f:1: a line of 1048576 bytes or more, expected text"]),
    "table without boards": (
        "id,solution\n1,none",
        ["f:1: a table without a column of boards: give --column NAME, one of 'id', 'solution'"],
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
        f"{LINE}\n\n4 .|2 .\n. .|. .\n",
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
@pytest.mark.parametrize("index", [1, 2, -20])
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
