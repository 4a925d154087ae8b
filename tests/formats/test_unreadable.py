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
    "UTF-16": (LINE.encode("utf-16"), ["f:1: binary data (UTF-16), expected UTF-8 text"]),
    "NUL": (f"{LINE}\n\0{LINE}", ["f:2: binary data (a NUL byte), expected text"]),
    "late NUL": (
        f"{LINE}\n" * 200 + "\0\n" + LINE,
        [*(f"board {i}" for i in range(1, 201)), "f:201: binary data (a NUL byte), expected text"],
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
