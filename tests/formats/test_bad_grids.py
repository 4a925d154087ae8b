"""A grid that is no board is one error that names the place, and spoils no other board."""

from __future__ import annotations

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import write
from tests.formats.samples import BOXES, GRID, ROWS, SYMBOLS, changed, no_box, report

SMALL = "4 0 2 0\n0 0 4 1\n1 0 0 0\n0 0 1 4\n"
BARS = "4 .|2 .\n. .|4 1\n----+----\n1 .|. .\n. .|1 4\n"


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
    "unknown": (changed(GRID, 2, 4, "x!"), None, f"2:5: unknown character '!', {SYMBOLS}"),
    "unknown, no ASCII": (GRID.replace(".", "·"), None, f"1:3: unknown character '·', {SYMBOLS}"),
    "unknown, 8 rows": (
        changed("\n".join(ROWS[1:]), 8, 9, "!"),
        None,
        f"8:9: unknown character '!', {SYMBOLS}",
    ),
    "colon": (GRID + ":1", None, f"9:10: unknown character ':', {SYMBOLS}"),
    "dash": (GRID.replace(".", "¬"), None, f"1:3: unknown character '¬', {SYMBOLS}"),
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
