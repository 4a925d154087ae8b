"""The page on small and dark screens and on paper, with small digits, and of large boards."""

import re

import pytest
from screen import link

from gpusudoku import collection
from tests.web.browser.acting import CANDIDATES, click, load

BOARDS = ["2b", "conflict-row", "box2x3-few", "16x16-few", "25x25-few"]
OUTSIDE = """
return [...document.querySelectorAll("button, select, input, [role=gridcell]")].filter((each) => {
  if (!each.checkVisibility({ visibilityProperty: true })) return false;
  if (each.closest(".gs-frame")) return false;  // it scrolls by itself
  const box = each.getBoundingClientRect();
  return box.left < 0 || box.right > innerWidth || box.width === 0;
}).map((each) => each.outerHTML);
"""

PLAIN = """
return [...document.querySelectorAll('.gs-candidates:not([hidden]) > :not(.gs-none)')].map(
  (each) => each.matches('.gs-plain'))
"""
SHORT = {
    "2b": "276 solutions",
    "a1": "unique",
    "conflict-row": "no solution",
    "empty": "6,670,903,752,021,072,936,960 solutions",
}
"""What the line below the board says of some."""


@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_is_wider_than_the_screen(screen, width):
    screen.resize(width, 800, touch=width < 500)
    screen.open()
    for name in BOARDS:
        load(screen, collection.load(name))
        screen.draw()
        assert screen.js("return document.documentElement.scrollWidth") <= width
        assert screen.js(OUTSIDE) == []


@pytest.mark.parametrize("size", [(360, 740), (768, 1024)])
def test_on_phones_the_number_is_seen_while_one_types(screen, size):
    """And a conflict moves nothing."""
    screen.resize(*size, touch=True)
    screen.open()
    tops = set()
    for name, said in SHORT.items():
        load(screen, collection.load(name))
        screen.settle()
        bottom, cut, text, *places = screen.js(
            "const line = document.querySelector('[data-part=line]');"
            "return [line.getBoundingClientRect().bottom, line.scrollWidth - line.clientWidth,"
            " line.textContent, ...['.gs-keypad', '.gs-panel'].map((name) =>"
            " document.querySelector(name).getBoundingClientRect().top)]"
        )
        assert text == said
        assert bottom < size[1]
        assert cut <= 0
        tops.add(tuple(places))
    assert len(tops) == 1


def test_it_is_dark_where_that_is_liked(screen):
    for dark in (False, True):
        screen.dark(dark)
        screen.open()
        paper = screen.js("return getComputedStyle(document.documentElement).backgroundColor")
        channels = [int(each) for each in paper.removeprefix("rgb(").removesuffix(")").split(",")]
        assert (max(channels) < 60) if dark else (min(channels) > 240)


def test_the_board_alone_is_printed(screen):
    screen.open(link(collection.load("2b")))
    screen.settle()
    screen.cdp("Emulation.setEmulatedMedia", media="print")
    seen = screen.js(
        "return [...document.querySelectorAll('body *')].filter((each) =>"
        " each.checkVisibility() && [...each.childNodes].some((node) =>"
        " node.nodeType === 3 && node.data.trim())).map((each) => each.className)"
    )
    assert seen == ["gs-digit"] * collection.load("2b").clues


def test_a_picture_has_the_digits(screen):
    board = collection.load("2b")
    screen.open(link(board))
    drawn = screen.js(
        "return Promise.all([import('/page/picture.js'), import('/page/puzzle.js')]).then("
        "([{ pictureOf }, { Puzzle }]) => pictureOf(Puzzle.fromLink(location.hash), null))"
    )
    digits = [int(each) for each in re.findall(r"<text[^>]*>(.)</text>", drawn)]
    assert digits == [each for each in board.cells.tolist() if each]


def test_each_mode_keeps_the_small_digits_that_were_chosen(screen):
    """They take each other's place; and who solves sees no shares at first."""
    screen.open(link(collection.load("2b")))
    screen.settle()
    for action, shown in [
        ("shares", []), ("solving", []), ("shares", ["shares"]), ("setting", []),
        ("candidates", ["candidates"]), ("solving", ["shares"]), ("setting", ["candidates"]),
        ("shares", ["shares"]),
    ]:  # fmt: skip
        screen.js(f"document.querySelector('.gs-controls [data-action={action}]').click()")
        screen.draw()
        pressed = screen.js(
            "return [...document.querySelectorAll('.gs-controls [aria-pressed=true]')].map("
            "(each) => each.dataset.action)"
        )
        assert [each for each in pressed if each in ("candidates", "shares")] == shown
        assert set(screen.js(PLAIN)) == {each == "candidates" for each in shown}


def test_a_large_board_gets_all_its_candidates(screen):
    screen.open("#4x4/setting/" + "0" * 256)
    click(screen, "candidates")
    screen.draw()
    assert screen.js(CANDIDATES) == [list(range(1, 17))] * 256
