"""What helps those who see the page for the first time: the help, and the box for text."""

from __future__ import annotations

import pytest
from screen import Screen, link

import gpusudoku
from gpusudoku import collection
from tests.boards import PUZZLE

BOX_IS_OPEN = "return !document.querySelector('.gs-exchange').hidden"
FOCUS_IS_IN_GRID = "return document.activeElement.matches('.gs-cell')"
ARROW = 16
"""Pixels of a menu's arrow."""
ERROR = "return document.querySelector('.gs-exchange-error').textContent"


def click(screen: Screen, action: str) -> None:
    screen.driver.find_element("css selector", f"[data-action='{action}']").click()


def choose(screen: Screen, action: str, value: str) -> None:
    """Choose from a menu as with the mouse."""
    screen.js(
        "const menu = document.querySelector(`[data-action=${arguments[0]}]`);"
        "menu.focus(); menu.value = arguments[1];"
        "menu.dispatchEvent(new Event('change', { bubbles: true }))",
        *(action, value),
    )


def on_clipboard(screen: Screen, text: str) -> None:
    screen.allow_clipboard()
    screen.driver.execute_async_script(
        "navigator.clipboard.writeText(arguments[0]).then(arguments[1])", text
    )


def open_box(screen: Screen, text: str) -> None:
    """Open the box with a text on the clipboard, and wait until that stands in it."""
    on_clipboard(screen, text)
    click(screen, "paste")
    area = "return document.querySelector('.gs-exchange textarea').value === arguments[0]"
    screen.until(area, text)


class TestHelp:
    def test_it_opens_and_escape_closes_it(self, screen: Screen) -> None:
        screen.open()
        click(screen, "help")
        assert screen.js("return document.querySelector('dialog').open")
        text = screen.text("dialog")
        for word in ("Backspace", "letter A is 10", "Struck out", "Ochre ring", "Set clues"):
            assert word in text
        assert "gpusudoku serve runs at the same address" in text
        screen.press("Escape")
        screen.until("return !document.querySelector('dialog').open")
        assert screen.js("return document.activeElement.dataset.action") == "help"

    def test_it_begins_with_its_heading_in_a_low_window(self, screen: Screen) -> None:
        screen.resize(640, 378)
        screen.open()
        for _ in range(2):
            click(screen, "help")
            top, bottom = screen.js(
                "const dialog = document.querySelector('dialog');"
                "const { top } = dialog.querySelector('h2').getBoundingClientRect();"
                "return [top, dialog.querySelector('button').getBoundingClientRect().bottom]"
            )
            assert 0 <= top < 378 < bottom
            screen.js("document.querySelector('dialog').scrollTop = 9999")
            screen.press("Escape")
            screen.until("return !document.querySelector('dialog').open")

    def test_keys_in_it_change_no_board(self, screen: Screen) -> None:
        screen.open()
        screen.focus(0)
        screen.press("5")
        click(screen, "help")
        screen.press("Control+z", "7")
        assert screen.digits()[0] == 5

    @pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
    def test_it_fits_on_the_screen(self, screen: Screen, width: int, height: int) -> None:
        screen.resize(width, height)
        screen.open()
        click(screen, "help")
        sides = screen.js(
            "const box = document.querySelector('dialog').getBoundingClientRect();"
            "return [box.left, box.top, innerWidth - box.right, innerHeight - box.bottom]"
        )
        assert min(sides) >= 0


class TestBoxForText:
    def test_the_text_can_be_seen_before_it_is_used(self, screen: Screen) -> None:
        screen.open()
        open_box(screen, PUZZLE)
        assert screen.js(BOX_IS_OPEN)
        assert not any(screen.digits())
        click(screen, "read")
        screen.until(f"return !(() => {{ {BOX_IS_OPEN} }})()")
        assert screen.digits() == gpusudoku.parse(PUZZLE).cells.tolist()
        assert screen.js(FOCUS_IS_IN_GRID)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("12345", "5 cells make no board, the nearest is 4x4 with 16."),
            ("1234\n12\n", "Line 2: row 2 of a grid has 2 cells, expected 4."),
        ],
    )
    def test_an_error_stands_beside_the_text(self, tab: Screen, text: str, said: str) -> None:
        tab.open()
        open_box(tab, text)
        click(tab, "read")
        assert tab.until(ERROR) == said
        assert tab.js(BOX_IS_OPEN)
        assert tab.text(".gs-message") == ""

    def test_an_error_of_a_paste_names_no_place_in_one_line(self, tab: Screen) -> None:
        tab.open()
        tab.focus(0)
        tab.paste("12345")
        said = tab.until("return document.querySelector('.gs-note').textContent")
        assert said == "5 cells make no board, the nearest is 4x4 with 16."


class TestFocus:
    def test_after_new_a_size_and_an_example_it_is_in_the_grid(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        click(screen, "new")
        assert screen.js(FOCUS_IS_IN_GRID)
        choose(screen, "size", "2x3")
        assert screen.js(FOCUS_IS_IN_GRID)
        choose(screen, "example", "a1")
        assert screen.js(FOCUS_IS_IN_GRID)
        assert len(screen.digits()) == 81

    def test_keys_that_walk_through_the_sizes_stay_there(self, screen: Screen) -> None:
        screen.open()
        before = "return document.activeElement.dataset.action === 'size'"
        screen.js("document.querySelector('[data-action=size]').focus()")
        for shape in ("4x2", "2x4"):
            screen.press("ArrowUp")
            screen.until(
                "return document.querySelector('.gs-grid').dataset.shape === arguments[0]", shape
            )
            assert screen.js(before)


def test_a_new_size_says_how_the_board_comes_back(screen: Screen) -> None:
    board = collection.load("2b")
    screen.open(link(board))
    choose(screen, "size", "2x3")
    assert "Undo" in screen.text(".gs-note")
    screen.press("Control+z")
    assert screen.digits() == board.cells.tolist()
    assert screen.text(".gs-note") == ""


def test_menus_tell_shapes_in_words(screen: Screen) -> None:
    screen.open()
    sizes = screen.js(
        "return [...document.querySelector('[data-action=size]').options].map((each) => each.text)"
    )
    assert sizes[1] == "6x6, boxes 2x3"
    groups = screen.js(
        "return [...document.querySelectorAll('[data-action=example] optgroup')].map((each) =>"
        " each.label)"
    )
    assert {"4x4", "6x6, boxes of 2 rows by 3 columns", "9x9"} <= set(groups)
    assert len(groups) == len(set(groups))


def test_the_menu_shows_the_whole_of_a_size(screen: Screen) -> None:
    for width in (1280, 360):
        screen.resize(width, 800)
        screen.open()
        rest = screen.js(
            "const menu = document.querySelector('[data-action=size]');"
            "const style = getComputedStyle(menu);"
            "const text = document.createElement('span');"
            "text.style.cssText = `position: absolute; font: ${style.font}; white-space: nowrap`;"
            "document.body.append(text);"
            "const widths = [...menu.options].map((each) => {"
            "  text.textContent = each.text; return text.offsetWidth; });"
            "return menu.clientWidth - parseFloat(style.paddingLeft)"
            " - parseFloat(style.paddingRight) - Math.max(...widths)"
        )
        assert rest >= ARROW, width


def test_examples_tell_clues_and_solutions(screen: Screen) -> None:
    screen.open()
    names = screen.js(
        "return [...document.querySelector('[data-action=example]').options].map((each) =>"
        " each.text.replaceAll('\u00a0', ' '))"
    )
    assert {
        "1a: 28 clues, 1 solution",
        "1b: 22 clues, 4,715 solutions",
        "empty: no clues, 6.7 sextillion solutions",
        "no-place: 5 clues, no solutions",
    } <= set(names)
