"""Counts and shares on the page are those of the library, whatever the shape of the board."""

from __future__ import annotations

from typing import Any

import pytest
from screen import Screen, link, number

import gpusudoku
from gpusudoku import Board, collection
from tests.boards import puzzle

NAMES = [
    *("2b", "2c", "1d", "a1", "a3", "no-place", "needs-search", "full", "top-band-cyclic"),
    *("box2x2-empty", "box2x2-many", "box2x3-many", "box3x2-many", "box3x2-empty", "16x16-few"),
]
BADGES = {0: "none", 1: "unique"}

READ_SHARES = """
const found = [];
for (const cell of document.querySelectorAll(".gs-cell")) {
  cell.focus();
  const list = document.querySelector("[data-part=leaves-list]");
  found.push(list.hidden ? null : [...list.querySelectorAll(".gs-leaf-number")].map(
    (each) => each.textContent));
}
return found;
"""


def shares(screen: Screen) -> list[list[int] | None]:
    """What each digit would leave in every cell, by the list beside the board; None without one."""
    found: list[list[str] | None] = screen.js(READ_SHARES)
    return [row and [0 if text == "none" else number(text) for text in row] for row in found]


def assert_right(screen: Screen, board: Board) -> None:
    """All numbers of the page are those of the library."""
    right = gpusudoku.solutions(board, device="cpu")
    assert screen.count() == right.count
    badge = screen.js("return document.querySelector('[data-part=badge]').dataset.kind")
    assert badge == BADGES.get(right.count, "several")
    if right.count:
        assert shares(screen) == [
            None if digit else row
            for digit, row in zip(board.cells.tolist(), right.shares().tolist(), strict=True)
        ]


@pytest.mark.parametrize("name", NAMES)
def test_boards_of_the_collection(screen: Screen, name: str) -> None:
    board = collection.load(name)
    screen.open(link(board))
    assert_right(screen, board)


def test_a_number_of_22_digits(screen: Screen) -> None:
    screen.open()
    assert screen.text("[data-part=count]") == "6,670,903,752,021,072,936,960"
    assert "sextillion" in screen.text("[data-part=words]")
    assert_right(screen, collection.load("empty"))


@pytest.mark.parametrize(("box", "clues"), [("2x2", 5), ("2x3", 9), ("3x2", 8), ("3x3", 24)])
def test_random_boards(screen: Screen, box: str, clues: int) -> None:
    """One after the other on the same page, by another link each."""
    screen.open("#2x2/setting/" + "0" * 16)
    for seed in range(3):
        board = puzzle(box, clues, seed)
        screen.js("location.hash = arguments[0]", link(board))
        screen.until(
            "return document.querySelector('.gs-grid').dataset.shape === arguments[0]"
            " && document.querySelectorAll('.gs-clue').length === arguments[1]",
            *(box, clues),
        )
        assert_right(screen, board)


def test_boards_drawn_from_solutions(screen: Screen) -> None:
    rows = gpusudoku.solutions("." * 81, device="cpu").sample(2, 5)
    for at, row in enumerate(rows):
        cells: list[Any] = [digit if (cell + at) % 4 == 0 else 0 for cell, digit in enumerate(row)]
        board = Board(cells)
        screen.open(link(board))
        assert_right(screen, board)


def test_a_board_of_25x25(screen: Screen) -> None:
    board = collection.load("25x25-few")
    screen.open(link(board))
    assert screen.js("return document.querySelectorAll('.gs-cell').length") == 625
    assert_right(screen, board)


def test_a_change_of_the_shape_empties_the_board(screen: Screen) -> None:
    screen.open(link(collection.load("2b")))
    screen.js(
        "const menu = document.querySelector('.gs-controls select');"
        "menu.value = '2x3'; menu.dispatchEvent(new Event('change', { bubbles: true }))"
    )
    assert screen.count() == 28200960
