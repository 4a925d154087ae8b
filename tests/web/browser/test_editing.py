"""Editing with keys, mouse and fingers: what is typed stands there, and its count is right."""

import gpusudoku
from gpusudoku import Board, collection
from tests.boards import PUZZLE
from tests.web.browser.acting import (
    NOTE,
    cells_of_class,
    choose,
    click,
    focus_of,
    is_shown,
    place_of,
    wait_for_board,
)
from tests.web.browser.screen import link

BOARD = gpusudoku.parse(PUZZLE)
SOLVED = gpusudoku.solve(BOARD).board


class TestKeys:
    def test_digits_arrows_undo_and_redo(self, screen):
        screen.open()
        assert screen.count() == 6670903752021072936960
        screen.focus(0)
        screen.press("5", "ArrowRight", "3", "ArrowDown", "ArrowDown", "7", "ArrowLeft", "1")
        assert focus_of(screen) == 18
        board = [0] * 81
        board[0], board[1], board[19], board[18] = 5, 3, 7, 1
        assert screen.digits() == board
        assert screen.count() == gpusudoku.count(board, device="cpu").count
        screen.press("Control+z", "Control+z")
        assert screen.digits() == [5, 3] + [0] * 79
        screen.press("Control+Shift+z", "Control+y")
        assert screen.digits() == board

    def test_every_key_that_erases(self, screen):
        screen.open(link(BOARD))
        screen.focus(0)
        for key in ("Backspace", "Delete", "0", ".", ","):
            screen.press("8", key)
            assert screen.digits()[0] == 0
        screen.press("8")
        numpad = {"key": ",", "code": "NumpadDecimal", "windowsVirtualKeyCode": 110}
        screen.cdp("Input.dispatchKeyEvent", type="keyDown", isKeypad=True, **numpad)
        assert screen.digits()[0] == 0
        screen.press("8")
        click(screen, "erase")
        assert screen.digits()[0] == focus_of(screen) == 0
        assert not is_shown(screen, "[data-action=erase]")
        assert screen.count() == gpusudoku.count("." + PUZZLE[1:], device="cpu").count

    def test_keys_that_move(self, screen):
        screen.open()
        screen.focus(40)
        for key, cell in {
            "End": 44, "Home": 36, "ArrowLeft": 36, "Control+End": 80, "ArrowDown": 80,
            "ArrowUp": 71, "Control+Home": 0, "ArrowUp ": 0,
        }.items():  # fmt: skip
            screen.press(key.strip())
            assert focus_of(screen) == cell, key

    def test_letters_are_digits_of_large_boards_only(self, screen):
        screen.open("#4x4/setting/" + "0" * 256)
        screen.focus(0)
        screen.press("g", "ArrowRight", "A")
        assert screen.digits()[:2] == [16, 10]
        choose(screen, "size", "3x3")
        assert screen.digits() == [0] * 81
        screen.focus(0)
        screen.press("a", "7")
        assert screen.digits()[:2] == [7, 0]


class TestKeysOutsideTheGrid:
    def test_they_type_erase_move_and_undo(self, screen):
        screen.open()
        places = ("h1", ".gs-room", "[data-part=leaves] h2", "[data-action=setting]",
                  "[data-part=slider]")  # fmt: skip
        screen.settle()
        for digit, place in enumerate(places, 1):
            screen.focus(40)
            click_at(screen, place)
            assert focus_of(screen) != 40
            screen.press(str(digit))
            assert screen.digits()[40] == digit
            assert focus_of(screen) == 40
            click_at(screen, place)
            screen.press("Backspace")
            assert screen.digits()[40] == 0
            click_at(screen, place)
            screen.press("Control+z")
            assert screen.digits()[40] == digit
        click_at(screen, "h1")
        screen.press("ArrowRight", "ArrowDown", "7")
        assert screen.digits()[50] == 7

    def test_fields_keep_them(self, screen):
        screen.open(link(collection.load("a2")))  # which has nine solutions
        screen.settle()
        click(screen, "paste")
        screen.js("document.body.insertAdjacentHTML('beforeend', '<p contenteditable>words</p>')")
        for field in ("[data-part=number]", "[data-part=seed]", "textarea", "[contenteditable]"):
            screen.driver.find_element("css selector", field).click()
            screen.press("5", "ArrowLeft", "Delete", "6")
            text = (
                "const { value, textContent } = document.activeElement; return value ?? textContent"
            )
            assert "6" in screen.js(text)
            assert "5" not in screen.js(text)
        screen.js("document.querySelector('[data-action=size]').focus()")
        screen.press("5")
        slider = "document.querySelector('[data-part=slider]')"
        screen.js(f"{slider}.focus()")
        screen.press("ArrowRight")
        assert screen.js(f"return {slider}.value") == "6"  # from 5, the number 6 above
        assert screen.js("return document.activeElement.dataset.part") == "slider"
        assert screen.js("return document.querySelector('[data-action=undo]').disabled")

    def test_buttons_and_the_browser_keep_theirs(self, screen):
        screen.open(link(BOARD))
        screen.js("document.querySelector('[data-action=solving]').focus()")
        screen.press("Enter")
        assert "solving" in screen.js(
            "return document.querySelector('[aria-pressed=true]').outerHTML"
        )
        assert focus_of(screen) == "solving"
        assert screen.digits() == BOARD.cells.tolist()
        for key in (
            {"key": "5", "ctrlKey": True}, {"key": "5", "altKey": True}, {"key": " "},
            {"key": "PageDown"}, {"key": "End"}, {"key": "ArrowLeft", "altKey": True},
            {"key": "F5"},
        ):  # fmt: skip
            is_left = screen.js(
                "return document.body.dispatchEvent(new KeyboardEvent('keydown',"
                " { bubbles: true, cancelable: true, ...arguments[0] }))",
                key,
            )
            assert is_left, key

    def test_a_dialog_keeps_them(self, screen):
        screen.open()
        screen.focus(0)
        screen.press("5")
        click(screen, "help")
        click_at(screen, "dialog dd")
        screen.press("7", "Control+z", "ArrowRight", "8")
        screen.js("document.activeElement.blur()")
        screen.press("7", "Control+z")
        assert screen.digits() == [5] + [0] * 80

    def test_digits_of_an_input_method(self, screen):
        screen.open()
        screen.focus(3)
        for target in ("activeElement", "body"):
            screen.js(
                "document[arguments[0]].dispatchEvent(new KeyboardEvent('keydown',"
                " { bubbles: true, key: 'Process', code: 'Digit4' }))",
                target,
            )
            assert screen.digits()[3] == 4
            screen.press("Delete")


def click_at(screen, selector):
    """Click with the mouse near the upper left corner of an element."""
    place = screen.js(
        "const element = document.querySelector(arguments[0]);"
        "element.scrollIntoView({ block: 'center' });"
        "const box = element.getBoundingClientRect();"
        "return { x: box.x + 4, y: box.y + 4 }",
        selector,
    )
    for kind in ("mousePressed", "mouseReleased"):
        screen.cdp("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)


def test_conflicts_are_marked_and_told(screen):
    screen.open(link(BOARD))
    screen.focus(1)
    screen.press("8")
    assert cells_of_class(screen, "gs-wrong") == [0, 1]
    cell = screen.driver.find_elements("css selector", ".gs-cell")[1]
    assert cell.get_attribute("aria-description") == "8 occurs in r1c1, too (row 1 and box 1)"
    assert cell.get_attribute("aria-invalid") == "true"
    assert screen.count() == 0
    assert "8 occurs twice in row 1 and box 1" in screen.text("[data-part=note]")
    screen.press("Backspace")
    assert cells_of_class(screen, "gs-wrong") == []
    assert screen.count() == 1


class TestSolving:
    def test_clues_stay_and_edits_change(self, screen):
        screen.open(link(BOARD, "solving"))
        assert cells_of_class(screen, "gs-clue") == BOARD.cells.nonzero()[0].tolist()
        screen.focus(0)
        assert not is_shown(screen, "[data-action=erase]")
        screen.press("5", "Backspace", "ArrowRight", str(SOLVED.cells[1]))
        assert screen.digits()[:2] == [8, SOLVED.cells[1]]
        assert cells_of_class(screen, "gs-edit") == [1]
        click(screen, "erase")
        assert screen.digits() == BOARD.cells.tolist()

    def test_a_board_that_is_filled_in_is_solved(self, screen):
        edits = Board(SOLVED.cells * (BOARD.cells == 0))
        screen.open(link(BOARD, "solving", edits))
        assert screen.digits() == SOLVED.cells.tolist()
        assert screen.count() == 1
        for mode, said in {"setting": "unique", "solving": "solved"}.items():
            click(screen, mode)
            assert screen.text("[data-part=badge]") == said
            assert screen.text(".gs-state").startswith("Solved")

    def test_the_last_digit_decides_what_is_said_at_the_board(self, screen):
        cell = int((BOARD.cells == 0).argmax())
        edits = SOLVED.cells * (BOARD.cells == 0)
        edits[cell] = 0
        screen.open(link(BOARD, "solving", Board(edits)))
        assert screen.text(".gs-state") == ""
        screen.focus(cell)
        right = int(SOLVED.cells[cell])
        screen.press(str(right % 9 + 1))
        assert "occurs twice" in screen.text(".gs-state")
        screen.press(str(right))
        assert screen.text(".gs-state") == "Solved: every digit is in its place."
        screen.press("Delete")
        assert screen.text(".gs-state") == ""

    def test_an_emptied_board_is_one_to_set_clues_on(self, screen):
        screen.open(link(BOARD, "solving"))
        for empty in (lambda: click(screen, "new"), lambda: choose(screen, "size", "2x2")):
            empty()
            assert mode_of(screen) == "setting"
            screen.press("3")
            assert cells_of_class(screen, "gs-clue") == [focus_of(screen)]
            screen.press("Control+z", "Control+z")
            wait_for_board(screen, BOARD)
            assert mode_of(screen) == "solving"
            screen.press("Control+y")
            assert mode_of(screen) == "setting"
            screen.press("Control+z")
        click(screen, "new")
        click(screen, "solving")
        click(screen, "new")  # of a board that is empty already
        assert mode_of(screen) == "setting"


def mode_of(screen):
    return screen.js(
        "return document.querySelector('.gs-joined [aria-pressed=true]').dataset.action"
    )


class TestMouse:
    def test_a_double_click_writes_a_small_digit(self, screen):
        screen.open(link(collection.load("2b")))
        screen.settle()
        screen.draw()
        place = place_of(screen, ".gs-candidate:not(.gs-none)")
        for clicks in (1, 2):
            for kind in ("mousePressed", "mouseReleased"):
                screen.cdp("Input.dispatchMouseEvent", type=kind, button="left",
                           clickCount=clicks, **place)  # fmt: skip
        assert sum(map(bool, screen.digits())) == collection.load("2b").clues + 1

    def test_after_another_board_the_keyboard_is_in_the_grid(self, screen):
        screen.open(link(BOARD))
        choose(screen, "size", "2x3")
        assert isinstance(focus_of(screen), int)
        assert screen.count() == 28200960
        assert "Undo" in screen.js(NOTE)
        screen.press("Control+z")
        wait_for_board(screen, BOARD)
        assert screen.js(NOTE) == ""
        choose(screen, "example", "a1")
        assert isinstance(focus_of(screen), int)
        wait_for_board(screen, collection.load("a1"))
        screen.js("document.querySelector('[data-action=size]').focus()")
        screen.press("ArrowUp")  # keys that walk through the sizes stay there
        screen.until("return document.querySelector('.gs-grid').dataset.shape === '4x2'")
        assert focus_of(screen) == "size"


def test_a_tap_on_a_cell_and_one_on_the_keypad(screen):
    screen.resize(360, 740, touch=True)
    screen.open(link(BOARD))
    for selector in (".gs-cell[data-cell='1']", ".gs-keypad button[data-digit='7']"):
        place = place_of(screen, selector)
        screen.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
        screen.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    digit = "return document.querySelector('[data-cell=\"1\"] .gs-digit')?.textContent"
    screen.until(f"{digit} === '7'")
