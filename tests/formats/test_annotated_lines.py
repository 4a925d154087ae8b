"""Boards with text on their lines, one below the other, and above or below something else."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import ReadOptions, read_text_batches
from tests.formats.forms import SOLUTION, ZEROS
from tests.formats.samples import GRID, LINE, ROWS, SYMBOLS, report

A, B = "1....2....3.....", ".4......2....1.."
"""Boards with six solutions each."""
FULL = "1342421324313124"
A_GRID, B_GRID = ("\n".join(board[i : i + 4] for i in range(0, 16, 4)) for board in (A, B))
SPACED = "\n".join(" ".join(row) for row in A_GRID.split("\n"))
LINK = f"https://www.sudokuwiki.org/sudoku.htm?bd={A}&x=1"
ESCAPED = f"https://a.org/?puzzle={A.replace('.', '%2E')}#top"
NUMBER_OR_SIZE = "the number of boards, or the size of a board or its box"

BESIDE: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "a line of three": (f"{A} 42\n{B}\n{A}\n", "beside", [(A, "42"), (B, ""), (A, "")]),
    "seconds": (f"{A} 0.001\n{B} 2026-10-10\n", "beside", [(A, "0.001"), (B, "2026-10-10")]),
    "a count": (f"{A} 42\n{B} 7\n", "beside", [(A, "42"), (B, "7")]),
    "a bar": (f"{A} | 6\n{B}|6\n", "beside", [(A, "6"), (B, "6")]),
    "numbers in front": (f"1: {A}\n2: {B}\n", "beside", [(A, "1"), (B, "2")]),
    "numbers without blanks": (f"1:{A}\n2:{B}", "beside", [(A, "1"), (B, "2")]),
    "a tab": (f"{A}\t42\n{B}\t\n", "field2", [(A, "42"), (B, "")]),
    "a rating": (f"{A} ED=7.1/1.2/1.2\n{B} 9.0\n", "beside", [(A, "ED=7.1/1.2/1.2"), (B, "9.0")]),
    "a solution": (f"{A} {FULL}\n{FULL} {B}\n", "beside", [(A, FULL), (B, FULL)]),
    "both sides": (f"1. {A} very hard\n2. {B}\n", "beside", [(A, "1. very hard"), (B, "2.")]),
    "some lines": (f"{A} a: b, c\n\n# d\n{B}\n", "beside", [(A, "a: b, c"), (B, "")]),
    "a last word": (f"{A} 42\n{B} 7\nend\n\n", "beside", [(A, "42"), (B, "7")]),
    "a number above": (f"2\n\n{A} 42\n{B} 7\n", "beside", [(A, "42"), (B, "7")]),
    "HoDoKu's library": (f":0000:x:+{A}:411 412::\n:0000:x:{B}:::\n", "beside",
        [(A, "0000:x 411 412"), (B, "0000:x")]),
    "HoDoKu's digits": (f"1....+2....3.....\n{B}\n", "beside", [(A, ""), (B, "")]),
    "a link": (f"{LINK}\na.org/{B}/\n", "beside", [(A, LINK), (B, f"a.org/{B}/")]),
    "an escaped link": (f"{ESCAPED} hard\n", "beside", [(A, f"{ESCAPED} hard")]),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_text_next_to_boards_is_a_column(name: str, run: Any, tmp_path: Path) -> None:
    text, column, expected = BESIDE[name]
    path = tmp_path / "boards.txt"
    path.write_text(text)
    status, out, err = run("count", path, "--format", "csv")
    rows = list(csv.DictReader(StringIO(out)))
    found = [(row["puzzle"], row["count"], row[column]) for row in rows]
    assert (status, found) == (0, [(board, "6", value) for board, value in expected]), err
    status, out, _ = run("convert", path)
    assert (status, out.split()) == (0, [board for board, _ in expected])
    status, out, _ = run("solve", path, "--format", "csv")
    assert (status, out.count("\n")) == (0, 1 + len(expected))


def read_texts(text: str, box: Geometry | None = None) -> list[tuple[str, ...]]:
    """Read boards, each with its extra texts, or errors."""
    found: list[tuple[str, ...]] = []
    for batch in read_text_batches(text, ReadOptions("f", box)):
        if isinstance(batch, InputError):
            found.append((str(batch),))
        else:
            assert batch.locations is not None
            found += [
                (str(board), *batch.locations.extra_texts_of(k)) for k, board in enumerate(batch)
            ]
    return found


@pytest.mark.parametrize("link", ["?bd=", "?s=", "?a=1&p=", "?puzzle=", "play/"])
def test_links_of_any_site(link: str) -> None:
    text = f"https://a.org/{link}{ZEROS}"
    assert read_texts(text) == [(LINE, text)]


@pytest.mark.parametrize("link", [
    "https://f-puzzles.com/?load=N4IgzglgXgpiBcBOANCALhNAbO8QDkBXAI3IB",
    "https://sudokupad.app/scl/N4IgzglgXgpiBcBOANCA", "sudokupad.app/ctcN4IgzglgXgpiBcBOANCA",
    "https://app.crackingthecryptic.com/sudoku/LQjJd9ndrL",
])  # fmt: skip
def test_a_link_without_a_board(link: str, run: Any) -> None:
    host = link.removeprefix("https://").partition("/")[0]
    expected = f"a link to '{host}' without a board in plain digits: compressed puzzles, as"
    [error] = report(f"{link}\n")
    assert error.startswith(f"f:1:1: {expected}")
    assert report(f"a: {LINK}\n{link}\n")[0] == "board 1"
    status, _, err = run("count", f"https://{link.removeprefix('https://')}")
    assert (status, expected in err) == (2, True)
    assert report(f"{link}\n{GRID}\n") == ["board 2"]  # above a grid it is a title


NUMBER = "6670903752021072936960"
"""As many solutions has the empty board."""
REFUSED: dict[str, tuple[str, list[str]]] = {
    "no board": (f"{A} 1\n7\n{B} 2", ["board 1",
        "f:2: '7', expected a board of at least 16 cells among the words", "board 3"]),
    "a damaged board": (f"1: {A}\n2: {B[:-1]}!\n", ["board 1",
        f"f:2:19: unknown character '!', {SYMBOLS}"]),
    "a short board": (f"1: {LINE}\n2: {LINE[:-1]}\n", ["board 1",
        "f:2:4: 80 cells make no board, the nearest is 9x9 with 81"]),
    "two boards": (f"{A} 1\n{A} {B}\n", ["board 1",
        f"f:2: an ambiguous line: {A} or {B}"]),
    "a damaged puzzle": (f"{ZEROS} {SOLUTION}\n{ZEROS[:-1]} {SOLUTION}\n", ["board 1",
        "f:2:1: 80 cells make no board, the nearest is 9x9 with 81"]),
    "a puzzle with a wrong sign": (f"{LINE} {SOLUTION}\n{LINE[:-1]}! {SOLUTION}\n", ["board 1",
        f"f:2:81: unknown character '!', {SYMBOLS}"]),
    "pieces of a damaged board": (f"{A} 1\n{'.' * 20} {A}\n", ["board 1",
        "f:2:1: 20 cells make no board, the nearest is 4x4 with 16"]),
    "short pieces of a damaged board": (f"{A} 1\n{A} ...5 ...1.\n", ["board 1",
        f"f:2: '...5' next to {A}, which may be parts of one board"]),
    "a damaged link": (f"{LINK}\na.org/?bd={LINE[1:]}\n", ["board 1",
        "f:2:1: 80 cells make no board, the nearest is 9x9 with 81"]),
    "a wrong number": (f"53\n{A}\n{B}\n", ["board 2", "board 3",
        f"f:1: '53' above boards, expected {NUMBER_OR_SIZE}"]),
    "another box": (f"3 2\n{'......' * 6}\n", [
        f"f:1: '3 2' above boards, expected {NUMBER_OR_SIZE}"]),
    "one row too few": (f"{A_GRID}\n{B_GRID[5:]}", [
        "f:1: 7 rows of 4 cells, expected 4 (a blank line ends a grid)"]),
    "a letter in one of two grids": (f"{A_GRID}\n{B_GRID}".replace("4", "a"), ["board 1",
        "f:5:2: r1c2 holds 'a', which is digit 10, expected 1 to 4"]),
    "a damaged game": ("<a><game data='version: 2 5|0|0|1|2|'/></a>", [
        "f:1: a <game> with damaged data of version 2"]),
    "a table's bars below": (f"{GRID}\n| end |\n", ["board 1",
        "f:10: '| end |', expected a grid below it"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, expected = REFUSED[name]
    assert report(text) == expected


def test_pieces_that_are_a_board_together() -> None:
    """A line is one board if it can be; one that could be a smaller one and text is refused."""
    lines = [f"{LINE[:16]} {LINE[16:]}", " ".join(LINE[i : i + 16] for i in range(0, 81, 16))]
    assert [board for (board,) in read_texts("\n".join(lines))] == [LINE] * 2
    number = NUMBER[:19]
    assert read_texts(f"{LINE} {number}\n{LINE} {NUMBER}") == [(LINE, number), (LINE, NUMBER)]
    [_, [error]] = read_texts(f"{LINE}\n{LINE} {number}")
    assert error.startswith("f:2: an ambiguous line: one board, ")
    assert error.endswith(f"{LINE} with other text: give box=")
    assert read_texts(f"{LINE} {number}", Geometry(3, 3)) == [(LINE, number)]


ABOVE_AND_BELOW = {
    "a count of lines": (f"2\n{A}\n{B}\n", [2, 3]),
    "a count of grids": (f"2\n{A_GRID}\n{B_GRID}\n", [2, 6]),
    "a side of a box": (f"2\n{SPACED}\n", [2]),
    "a side of a board": (f"# a\n9\n\n{GRID}\n", [4]),
    "both sides": (f"9 9\n{GRID}\n", [2]),
    "a box": (f"3 3\n{GRID}\n", [2]),
    "a last word": (f"{A}\n{B}\nend\n", [1, 2]),
    "a last word below a grid": (f"{GRID}\nend\n", [1]),
    "grids": (f"{A_GRID}\n{B_GRID}\n{A_GRID}\n", [1, 5, 9]),
    "grids of numbers": (f"{SPACED}\n{SPACED}\n\n{SPACED}\n", [1, 5, 10]),
    "grids below a title": (f"Easy\n{GRID}\n{GRID}\nHard\n{GRID}\n", [2, 11, 21]),
    "rules": (f"{A_GRID}\n========\n{B_GRID}\n--------\n{A_GRID}\n", [1, 6, 11]),
    "rules in and between": (
        f"{GRID[:30]}---+---+---\n{GRID[30:60]}---+---+---\n{GRID[60:]}\n=====\n" * 2, [1, 13]),
    "large grids": (f"G{'.' * 15}\n" * 32, [1, 17]),
    "an empty footer": (f"{A_GRID}\n\nVersion 4.2n\n", [1]),
    "a footer of many lines": (f"{GRID}\n\nVersion 4.2n\nSadMan Software\n\nhttp://a.org/sudoku\n"
        "Copyright 2005\nAll rights reserved\n", [1]),
    "a footer between grids": (f"{GRID}\nVersion 4.2n\n\n{GRID}\nVersion 4.2n\n", [1, 12]),
}  # fmt: skip


@pytest.mark.parametrize("name", ABOVE_AND_BELOW)
def test_above_and_below_boards(name: str, run: Any, tmp_path: Path) -> None:
    text, lines = ABOVE_AND_BELOW[name]
    assert report(text) == [f"board {line}" for line in lines]
    path = tmp_path / "boards.txt"
    path.write_text(text)
    status, out, _ = run("convert", path)
    assert (status, out.count("\n")) == (0, len(lines))


def test_many_grids_without_blank_lines() -> None:
    """More than fit into one board are cut by the only number of cells that all rows have."""
    assert len(report(f"{GRID}\n" * 1000)) == 1000
    assert report("\n".join(ROWS * 1000)[:-1]) == [
        "f:9000: row 9000 of a grid has 8 cells, expected 9"
    ]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_games_of_opensudoku(version: int) -> None:
    """Digits that the player put in are left out."""
    notes = {1: "1,2,|", 2: "24||", 3: "0|", 4: "0|24|"}[version]
    cells = "".join(
        f"{digit}|{notes}0|" if digit != "." else f"{k % 10}|{notes}1|"
        for k, digit in enumerate(LINE)
    )
    for space in ("&#10;", "\n"):
        assert read_texts(f'<a><game data="version: {version}{space}{cells}"/></a>') == [(LINE,)]
