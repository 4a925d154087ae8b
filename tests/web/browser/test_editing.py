"""Editing with keys, mouse and fingers: what is typed stands there, and its count is right."""

from screen import link

import gpusudoku
from gpusudoku import Board, collection
from tests.boards import PUZZLE
from tests.web.browser.acting import (
    NOTE,
    choose,
    click,
    focused,
    is_shown,
    marked,
    place_of,
    shows,
)

BOARD = gpusudoku.parse(PUZZLE)
SOLVED = gpusudoku.solve(BOARD).board


class TestKeys:
    def test_digits_arrows_undo_and_redo(self, screen):
        screen.open()
        assert screen.count() == 6670903752021072936960
        screen.focus(0)
        screen.press("5", "ArrowRight", "3", "ArrowDown", "ArrowDown", "7", "ArrowLeft", "1")
        assert focused(screen) == 18
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
        for key in ("Backspace", "Delete", "0", "."):
            screen.press("8", key)
            assert screen.digits()[0] == 0
        screen.press("8")
        click(screen, "erase")
        assert screen.digits()[0] == focused(screen) == 0
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
            assert focused(screen) == cell, key

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


def test_conflicts_are_marked_and_told(screen):
    screen.open(link(BOARD))
    screen.focus(1)
    screen.press("8")
    assert marked(screen, "gs-wrong") == [0, 1]
    cell = screen.driver.find_elements("css selector", ".gs-cell")[1]
    assert cell.get_attribute("aria-description") == "8 stands in r1c1, too (row 1 and box 1)"
    assert cell.get_attribute("aria-invalid") == "true"
    assert screen.count() == 0
    assert "8 stands twice in row 1 and box 1" in screen.text("[data-part=note]")
    screen.press("Backspace")
    assert marked(screen, "gs-wrong") == []
    assert screen.count() == 1


class TestSolving:
    def test_clues_stay_and_edits_change(self, screen):
        screen.open(link(BOARD, "solving"))
        assert marked(screen, "gs-clue") == BOARD.cells.nonzero()[0].tolist()
        screen.focus(0)
        assert not is_shown(screen, "[data-action=erase]")
        screen.press("5", "Backspace", "ArrowRight", str(SOLVED.cells[1]))
        assert screen.digits()[:2] == [8, SOLVED.cells[1]]
        assert marked(screen, "gs-edit") == [1]
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
        assert isinstance(focused(screen), int)
        assert screen.count() == 28200960
        assert "Undo" in screen.js(NOTE)
        screen.press("Control+z")
        shows(screen, BOARD)
        assert screen.js(NOTE) == ""
        choose(screen, "example", "a1")
        assert isinstance(focused(screen), int)
        shows(screen, collection.load("a1"))
        screen.js("document.querySelector('[data-action=size]').focus()")
        screen.press("ArrowUp")  # keys that walk through the sizes stay there
        screen.until("return document.querySelector('.gs-grid').dataset.shape === '4x2'")
        assert focused(screen) == "size"


def test_a_tap_on_a_cell_and_one_on_the_keypad(screen):
    screen.resize(360, 740, touch=True)
    screen.open(link(BOARD))
    for selector in (".gs-cell[data-cell='1']", ".gs-keypad button[data-digit='7']"):
        place = place_of(screen, selector)
        screen.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
        screen.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    digit = "return document.querySelector('[data-cell=\"1\"] .gs-digit')?.textContent"
    screen.until(f"{digit} === '7'")
