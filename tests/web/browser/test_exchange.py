"""Boards that are copied and pasted, with their shape and anywhere, and what is told of others."""

from __future__ import annotations

import pytest
from screen import Screen, link

import gpusudoku
from gpusudoku import Board, collection
from gpusudoku.formats import write
from tests.boards import PUZZLE

BOARD, OTHER = gpusudoku.parse(PUZZLE), collection.load("2b")
UNUSUAL = ("box3x2-few", "box1x5-few", "box5x1-few", "box1x7-few")
ROWS = [PUZZLE[at : at + 9] for at in range(0, 81, 9)]
RULED = f"\n{'---+' * 8}---\n".join(" | ".join(row) for row in ROWS)
WITH_BARS = "\n------+-------+------\n".join(
    " | ".join(" ".join(row[at : at + 3]) for at in (0, 3, 6)) for row in ROWS
)
SPACED = "\n-----------------\n".join(" ".join(row) for row in ROWS)
NO_BOARD = "This link holds no board."
SHOWN = "return document.querySelector('.gs-grid').dataset.shape"
NOTE = "return document.querySelector('.gs-note').textContent"


def shows(screen: Screen, board: Board) -> None:
    """Wait until a board stands there, in its shape."""
    screen.until(
        f"{SHOWN} === arguments[0] && arguments[1] === [...document.querySelectorAll('.gs-cell')]"
        ".map((cell) => cell.querySelector('.gs-digit')?.textContent || '.').join('')",
        str(board.geometry),
        str(board),
    )


def says(screen: Screen, text: str) -> None:
    """Wait until something is told below the board."""
    screen.until(f"{NOTE} === arguments[0]", text)


def copy(screen: Screen) -> None:
    """Press Ctrl+C."""
    screen.allow_clipboard()
    key = {"key": "c", "code": "KeyC", "windowsVirtualKeyCode": 67, "modifiers": 2}
    screen.cdp("Input.dispatchKeyEvent", type="rawKeyDown", commands=["copy"], **key)
    screen.cdp("Input.dispatchKeyEvent", type="keyUp", **key)


class TestShapes:
    @pytest.mark.parametrize("name", UNUSUAL)
    def test_what_is_copied_holds_an_unusual_one(self, screen: Screen, name: str) -> None:
        board = collection.load(name)
        screen.open(link(board))
        screen.focus(0)
        copy(screen)
        says(screen, "The board is copied.")
        copied = screen.clipboard()
        assert gpusudoku.parse(copied) == board
        screen.open()
        screen.focus(0)
        screen.paste(copied)
        shows(screen, board)
        assert screen.count() == gpusudoku.count(board, device="cpu").count

    def test_a_usual_one_is_a_plain_line(self, screen: Screen) -> None:
        for name in ("2b", "box2x3-few", "box2x2-few"):
            board = collection.load(name)
            screen.open(link(board))
            screen.focus(0)
            copy(screen)
            says(screen, "The board is copied.")
            assert screen.clipboard() == str(board)

    @pytest.mark.parametrize("name", UNUSUAL)
    def test_that_of_the_page_is_meant_where_none_is_told(self, screen: Screen, name: str) -> None:
        board = collection.load(name)
        screen.open(f"#{board.geometry}/setting/{'0' * board.geometry.cells}")
        screen.focus(0)
        screen.paste(str(board))
        shows(screen, board)
        assert len([url for url in screen.requests() if url.endswith("/read")]) == 1

    def test_one_that_the_text_tells_is_kept(self, screen: Screen) -> None:
        board = collection.load("box2x3-few")
        screen.open(f"#3x2/setting/{'0' * 36}")
        screen.focus(0)
        screen.paste(write(board, "pretty"))
        shows(screen, board)

    @pytest.mark.parametrize("text", [RULED, WITH_BARS, SPACED], ids=["all", "bars", "rows"])
    def test_rules_between_all_rows(self, screen: Screen, text: str) -> None:
        screen.open()
        screen.focus(0)
        screen.paste(text)
        shows(screen, BOARD)

    def test_one_that_does_not_fit(self, screen: Screen) -> None:
        """What is told makes sense to somebody who has no command line."""
        screen.open("#2x2/setting/" + "0" * 16)
        screen.focus(0)
        screen.paste(WITH_BARS)
        says(
            screen,
            "Line 1: the rules show boxes of 1x3 on a board of 9 rows. "
            "Choose the size of the board first.",
        )
        screen.paste("." * 25)
        says(
            screen,
            "25 cells: a board of 5 rows has no boxes of at least 2 rows. "
            'Write a Latin square as {"board": "…", "box": "1x5"}.',
        )


class TestWhere:
    @pytest.mark.parametrize("place", ["h1", "[data-action=candidates]", "[type=range]"])
    def test_a_board_is_pasted_anywhere(self, screen: Screen, place: str) -> None:
        screen.open(link(OTHER))
        screen.settle()
        screen.driver.find_element("css selector", place).click()
        screen.paste(PUZZLE)
        shows(screen, BOARD)

    def test_with_the_focus_nowhere(self, screen: Screen) -> None:
        screen.open()
        screen.js("document.activeElement.blur()")
        assert screen.js("return document.activeElement === document.body")
        screen.paste(PUZZLE)
        shows(screen, BOARD)
        copy(screen)
        says(screen, "The board is copied.")
        assert screen.clipboard() == str(BOARD)

    def test_a_component_alone_leaves_other_pastes_to_others(self, screen: Screen) -> None:
        """As in a notebook: it takes what is pasted with the focus within it."""
        screen.open()
        screen.js(
            """return (async () => {
              const { mount } = await import("/page/component.js");
              const element = document.body.appendChild(document.createElement("div"));
              window.other = mount(element, { ask: () => new Promise(() => {}) });
              document.activeElement.blur();
            })()"""
        )
        screen.paste(link(OTHER))
        screen.until("return location.hash === arguments[0]", link(OTHER))
        assert screen.js("return other.puzzle.text()") == "." * 81
        screen.js("other.grid.focusCell(0)")
        screen.paste(link(BOARD))
        screen.until("return other.puzzle.text() === arguments[0]", str(BOARD))

    def test_but_not_where_one_writes(self, screen: Screen) -> None:
        screen.open(link(OTHER))
        screen.settle()
        field = screen.driver.find_element("css selector", "[data-part=number]")
        field.click()
        screen.paste(PUZZLE)
        screen.until("return arguments[0].value.includes('8')", field)
        shows(screen, OTHER)


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("hello", "This text holds no board."),
            ("12345", "5 cells make no board, the nearest is 4x4 with 16."),
            ("https://example.org/puzzle", NO_BOARD),
            ("#3x3/setting/123", NO_BOARD),
            (
                f"<b>{PUZZLE}</b>",
                'A board between tags, expected it as in <game data="BOARD">.',
            ),
        ],
    )
    def test_it_is_told_until_a_board_comes(self, screen: Screen, text: str, said: str) -> None:
        """Even if that stands there already; and the browser complains of nothing."""
        screen.open(link(BOARD))
        screen.focus(0)
        screen.paste(text)
        says(screen, said)
        shows(screen, BOARD)
        screen.paste(PUZZLE)
        says(screen, "")
        shows(screen, BOARD)

    def test_a_single_digit_is_typed(self, screen: Screen) -> None:
        screen.open(link(BOARD))
        screen.focus(1)
        screen.paste("5\n")
        screen.until("return document.querySelectorAll('.gs-digit').length === arguments[0]",
                     BOARD.clues + 1)  # fmt: skip
        assert screen.digits()[1] == 5
        screen.paste("b")
        says(screen, "This board has the digits 1 to 9.")


class TestLinks:
    @pytest.mark.parametrize("start", ["", "here"])
    def test_one_that_is_pasted_is_opened(self, screen: Screen, start: str) -> None:
        screen.open()
        screen.focus(0)
        screen.paste((screen.url if start else "") + link(BOARD, "solving", OTHER))
        opened = "return document.querySelector('[data-action=solving]').ariaPressed === 'true'"
        screen.until(opened)
        marked = "return document.querySelectorAll('.gs-clue').length"
        assert screen.js(marked) == BOARD.clues

    @pytest.mark.parametrize(
        "harm",
        [
            lambda text: text.replace("4x4", "4X4").replace("setting", "Setting"),
            str.lower,
            lambda text: text + "/",
            lambda text: text + "?x=1",
            lambda text: text[:13] + text[13:].replace("0", "."),
        ],
        ids=["upper", "lower", "slash", "parameter", "dots"],
    )
    def test_harmless_changes(self, screen: Screen, harm: object) -> None:
        assert callable(harm)
        board = collection.load("16x16-few")
        changed = harm(link(board))
        assert changed != link(board)
        screen.open(changed)
        shows(screen, board)
        assert screen.js("return location.hash") == link(board)
        assert screen.text(".gs-note") == ""

    @pytest.mark.parametrize(
        "bad", ["#3x3/setting/12", "#26x1/setting/1", "#top", link(BOARD)[:-1]]
    )
    def test_one_without_a_board(self, screen: Screen, bad: str) -> None:
        screen.open(bad)
        says(screen, NO_BOARD)
        assert screen.digits() == [0] * 81
        assert screen.js("return location.hash") == "#3x3/setting/" + "0" * 81
        screen.press("7")
        says(screen, "")

    def test_one_that_is_typed_into_the_address(self, screen: Screen) -> None:
        screen.open(link(BOARD))
        screen.js("location.hash = '#3x3/setting/1'")
        says(screen, NO_BOARD)
        shows(screen, BOARD)
        screen.until("return location.hash === arguments[0]", link(BOARD))
        screen.js("location.hash = arguments[0]", link(OTHER).replace("0", "."))
        shows(screen, OTHER)
        says(screen, "")


def test_digits_that_an_input_method_hides(screen: Screen) -> None:
    screen.open()
    screen.focus(0)
    press = """
      for (const [code, shiftKey] of [["Digit7", false], ["Numpad3", false], ["Digit5", true]])
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
            { key: "Process", code, shiftKey, bubbles: true, cancelable: true }));"""
    screen.js(press)
    assert screen.digits()[0] == 3
    screen.press("Control+z")
    assert screen.digits()[0] == 7
