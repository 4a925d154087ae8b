"""Editing with keyboard and clipboard: what is typed stands there, and its count is right."""

from __future__ import annotations

import json

import pytest
from screen import Screen, link

import gpusudoku
from gpusudoku import collection
from tests.boards import PUZZLE

BOARD, FULL = gpusudoku.parse(PUZZLE), collection.load("full")
IS_PASTED = f"return document.querySelectorAll('.gs-clue').length === {BOARD.clues}"


def marked(screen: Screen, name: str) -> list[int]:
    """The cells of a class."""
    found: list[int] = screen.js(
        "return [...document.querySelectorAll('.gs-cell')].flatMap((each, cell) =>"
        " each.classList.contains(arguments[0]) ? [cell] : [])",
        name,
    )
    return found


def focused(screen: Screen) -> int:
    """The cell that has the keyboard."""
    cell: int = screen.js("return Number(document.activeElement.dataset.cell)")
    return cell


class TestTyping:
    def test_digits_and_arrows(self, screen: Screen) -> None:
        screen.open()
        assert screen.count() == 6670903752021072936960
        screen.focus(0)
        screen.press("5", "ArrowRight", "3", "ArrowDown", "ArrowDown", "7", "ArrowLeft", "1")
        assert focused(screen) == 18
        board = [0] * 81
        board[0], board[1], board[19], board[18] = 5, 3, 7, 1
        assert screen.digits() == board
        assert screen.count() == gpusudoku.count(board, device="cpu").count

    def test_every_key_that_erases(self, screen: Screen) -> None:
        screen.open(link(BOARD))
        screen.focus(0)
        for key in ("Backspace", "Delete", "0", "."):
            screen.press("8", key)
            assert screen.digits()[0] == 0
        assert screen.count() == gpusudoku.count("." + PUZZLE[1:], device="cpu").count

    def test_keys_that_move(self, screen: Screen) -> None:
        screen.open()
        screen.focus(40)
        for key, cell in {
            "End": 44, "Home": 36, "ArrowLeft": 36, "Control+End": 80, "ArrowDown": 80,
            "ArrowUp": 71, "Control+Home": 0, "ArrowUp ": 0,
        }.items():  # fmt: skip
            screen.press(key.strip())
            assert focused(screen) == cell, key

    def test_undo_and_redo(self, screen: Screen) -> None:
        screen.open(link(BOARD))
        before = screen.count()
        screen.focus(1)
        screen.press("1", "ArrowRight", "2")
        after = screen.digits()
        screen.press("Control+z")
        screen.press("Control+z")
        assert screen.digits() == BOARD.cells.tolist()
        assert screen.count() == before == 1
        screen.press("Control+Shift+z", "Control+y")
        assert screen.digits() == after
        assert screen.count() == gpusudoku.count(after, device="cpu").count

    def test_letters_are_digits_of_large_boards_only(self, screen: Screen) -> None:
        screen.open("#4x4/setting/" + "0" * 256)
        screen.focus(0)
        screen.press("g", "ArrowRight", "A")
        assert screen.digits()[:2] == [16, 10]
        screen.open()
        screen.focus(0)
        screen.press("a", "7")
        assert screen.digits()[:2] == [7, 0]


class TestPaste:
    @pytest.mark.parametrize("form", ["line", "grid", "pretty", "sdk", "json", "zeros and spaces"])
    def test_forms(self, screen: Screen, form: str) -> None:
        rows = [PUZZLE[at : at + 9] for at in range(0, 81, 9)]
        forms: dict[str, str] = {
            "line": PUZZLE,
            "grid": "\n".join(rows),
            "pretty": "\n".join(
                " ".join(row[:3]) + " | " + " ".join(row[3:6]) + " | " + " ".join(row[6:])
                + ("\n------+-------+------" if at in (2, 5) else "")
                for at, row in enumerate(rows)
            ),
            "sdk": "#Apuzzle\n" + "\n".join(rows) + "\n",
            "json": json.dumps(BOARD.grid.tolist()),
            "zeros and spaces": "\n".join(" ".join(row.replace(".", "0")) for row in rows),
        }  # fmt: skip
        screen.open()
        screen.focus(0)
        screen.paste(forms[form])
        screen.until(IS_PASTED)
        assert screen.digits() == BOARD.cells.tolist()
        assert screen.count() == 1

    def test_another_shape(self, screen: Screen) -> None:
        screen.open()
        screen.focus(0)
        board = collection.load("16x16-few")
        screen.paste(str(board))
        screen.until("return document.querySelectorAll('.gs-cell').length === 256")
        assert screen.digits() == board.cells.tolist()
        assert screen.count() == 993

    def test_what_is_no_board_changes_nothing(self, screen: Screen) -> None:
        """And what it holds is shown as text, if at all: nothing in it is run or asked for."""
        screen.open(link(BOARD))
        screen.focus(0)
        evil = "<img src=x onerror='window.evil = 1'><script>window.evil = 1</script>"
        screen.paste(evil)
        said = screen.until("return document.querySelector('.gs-message').textContent")
        assert said
        assert screen.js("return [window.evil, document.querySelectorAll('#app img').length]") == [
            None,
            0,
        ]
        assert screen.digits() == BOARD.cells.tolist()
        assert screen.count() == 1
        assert not [url for url in screen.requests() if url.endswith("/x")]

    def test_it_is_one_step_to_undo(self, screen: Screen) -> None:
        screen.open(link(FULL))
        screen.focus(0)
        screen.paste(PUZZLE)
        screen.until(IS_PASTED)
        screen.press("Control+z")
        assert screen.digits() == FULL.cells.tolist()
