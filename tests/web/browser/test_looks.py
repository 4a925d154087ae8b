"""The page on small and dark screens and on paper, with small digits, and of large boards."""

import re

import pytest

from gpusudoku import collection
from tests.web.browser.acting import CANDIDATES, click, focus_of, load
from tests.web.browser.screen import link

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


@pytest.mark.parametrize(
    ("size", "touch"),
    [((640, 450), False), ((960, 470), False), ((740, 360), True), ((844, 390), True)],
)
def test_the_board_is_no_higher_than_a_low_window(screen, size, touch):
    """As at 200 %, or on a phone that is held across: there the keypad is beside it."""
    screen.resize(size[0], 900, touch=touch)
    screen.open(link(collection.load("2b")))
    screen.resize(*size, touch=touch)
    screen.until("return document.querySelector('.gs-grid').offsetHeight <= innerHeight - 40")
    assert screen.js("return document.querySelector('.gs-grid').offsetHeight") >= size[1] - 100
    assert screen.js(OUTSIDE) == []
    keypad, board = screen.js(
        "return ['.gs-keypad', '.gs-grid'].map((name) => {"
        " const { left, top, right, bottom } ="
        " document.querySelector(name).getBoundingClientRect();"
        " return { left, top, right, bottom } })"
    )
    if touch:
        assert keypad["left"] > board["right"]
        assert keypad["top"] == board["top"]
        assert keypad["bottom"] <= board["bottom"]


def test_the_empty_line_below_the_board_lets_clicks_through(screen):
    """Where the board goes on below the window's end, it is over its cells."""
    screen.resize(640, 450)
    screen.open(link(collection.load("2b")))
    place = screen.js(
        "const { x, y, height } = document.querySelector('.gs-message').getBoundingClientRect();"
        "return { x: x + 20, y: y + height / 2 }"
    )
    over = "return document.elementFromPoint(arguments[0].x, arguments[0].y).closest('.gs-cell')"
    cell = screen.js(f"{over}?.dataset.cell", place)
    assert cell is not None
    for kind in ("mousePressed", "mouseReleased"):
        screen.cdp("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
    assert focus_of(screen) == int(cell)


def test_forced_colours_keep_what_is_pressed_and_selected(screen):
    for scheme in ("light", "dark"):
        features = {"forced-colors": "active", "prefers-color-scheme": scheme}
        screen.cdp(
            "Emulation.setEmulatedMedia",
            features=[{"name": name, "value": value} for name, value in features.items()],
        )
        screen.open(link(collection.load("a1")))
        screen.settle()
        screen.focus(3)
        assert background(screen, "[data-action=setting]") != background(
            screen, "[data-action=solving]"
        )
        same, other = (background(screen, f".gs-cell{name}") for name in (
            ".gs-same:not(.gs-focused)", ":not(.gs-same)"))  # fmt: skip
        assert same != other
        selected = "return getComputedStyle(document.querySelector('.gs-focused')).outline"
        focused_outline = screen.js(selected)
        assert "4px" in focused_outline
        screen.js("document.activeElement.blur()")
        assert "2px" in screen.js(selected)
        click(screen, "explain")
        screen.until("return document.querySelector('.gs-step[aria-current]') !== null")
        assert background(screen, ".gs-step[aria-current]") != background(
            screen, ".gs-step:not([aria-current])"
        )
        assert background(screen, ".gs-placed") == same


def background(screen, selector):
    return screen.js(
        "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor", selector
    )


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
