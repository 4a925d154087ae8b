"""The page on a phone, on paper, and as a picture."""

from __future__ import annotations

import pytest
from screen import Screen, link

from gpusudoku import Board, collection

SHORT = {
    "2b": "276 solutions",
    "a1": "unique",
    "conflict-row": "no solution",
    "empty": "6,670,903,752,021,072,936,960 solutions",
}
"""What the line below the board says of some."""


class TestOnPhones:
    @pytest.mark.parametrize("size", [(360, 740), (768, 1024)])
    def test_the_number_is_seen_while_one_types(
        self, screen: Screen, size: tuple[int, int]
    ) -> None:
        screen.resize(*size, touch=True)
        for name, said in SHORT.items():
            screen.open(link(collection.load(name)))
            screen.settle()
            bottom, cut, text = screen.js(
                "const line = document.querySelector('[data-part=line]');"
                "return [line.getBoundingClientRect().bottom, line.scrollWidth - line.clientWidth,"
                " line.textContent]"
            )
            assert text == said
            assert bottom < size[1]
            assert cut <= 0

    def test_a_conflict_moves_nothing(self, screen: Screen) -> None:
        screen.resize(360, 740, touch=True)
        tops = set()
        for name in ("2b", "conflict-row", "conflict-box", "no-candidate"):
            screen.open(link(collection.load(name)))
            screen.settle()
            tops.add(screen.js(
                "return ['.gs-keypad', '.gs-panel'].map((name) =>"
                " document.querySelector(name).getBoundingClientRect().top).join()"
            ))  # fmt: skip
        assert len(tops) == 1


@pytest.mark.parametrize("width", [1280, 700, 390])
def test_the_board_alone_is_printed(screen: Screen, width: int) -> None:
    screen.resize(width, 800)
    screen.open(link(collection.load("2b")))
    screen.settle()
    screen.cdp("Emulation.setEmulatedMedia", media="print")
    seen = screen.js(
        "return [...document.querySelectorAll('body *')].filter((each) => each.checkVisibility() &&"
        " [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))"
        ".map((each) => each.className)"
    )
    left, right = screen.js(
        "const { left, right } = document.querySelector('.gs-grid').getBoundingClientRect();"
        "return [left, document.documentElement.clientWidth - right]"
    )
    screen.cdp("Emulation.setEmulatedMedia", media="")
    assert 0 <= left <= right + 1 <= left + 2
    assert seen == ["gs-digit"] * collection.load("2b").clues


@pytest.mark.parametrize("name", ["conflict-row", "16x16-few"])
def test_the_message_is_seen_on_a_small_laptop(screen: Screen, name: str) -> None:
    board = collection.load(name)
    cells = board.cells.copy()
    cells[0] = cells[cells > 0][0]  # of a row with a digit
    screen.resize(1366, 625)
    screen.open(link(Board(cells, board.geometry)))
    grid, top, bottom, text = screen.js(
        "const message = document.querySelector('.gs-message');"
        "const { top, bottom } = message.getBoundingClientRect();"
        "const grid = document.querySelector('.gs-grid').getBoundingClientRect();"
        "return [grid.bottom, top, bottom, message.textContent]"
    )
    assert "stands" in text
    assert bottom <= 625
    assert grid <= top or board.geometry.n > 12  # larger boards need to scroll


def test_a_solution_on_paper_and_in_a_picture_is_black(screen: Screen) -> None:
    screen.open(link(collection.load("2b")))
    screen.settle()
    screen.driver.find_element("css selector", "[data-action=random]").click()
    screen.until("return document.querySelector('.gs-shown') !== null")
    screen.cdp("Emulation.setEmulatedMedia", media="print")
    looks = screen.js(
        "return ['.gs-clue', '.gs-shown'].map((cell) => {"
        "  const style = getComputedStyle(document.querySelector(`${cell} > .gs-digit`));"
        "  return [style.color, Number(style.fontWeight)]; })"
    )
    screen.cdp("Emulation.setEmulatedMedia", media="")
    assert [colour for colour, _ in looks] == ["rgb(0, 0, 0)"] * 2
    assert looks[0][1] > looks[1][1] >= 400
    drawn = screen.js(
        "return Promise.all([import('/page/picture.js'), import('/page/puzzle.js')]).then("
        "([{ pictureOf }, { Puzzle }]) => pictureOf(Puzzle.fromLink(location.hash), arguments[0]))",
        screen.digits(),
    )
    assert drawn.count("<text") == 81
    assert "fill=" not in "".join(each for each in drawn.splitlines() if each.startswith("<text"))
