"""Links, conflicts, clues against edits, and a server that goes and comes back."""

from __future__ import annotations

from chromium import serving
from screen import Screen, link

import gpusudoku
from gpusudoku import Board, collection
from tests.boards import PUZZLE

BOARD = gpusudoku.parse(PUZZLE)
SOLVED = gpusudoku.solve(BOARD).board


def marked(screen: Screen, name: str) -> list[int]:
    """The cells of a class."""
    found: list[int] = screen.js(
        "return [...document.querySelectorAll('.gs-cell')].flatMap((each, cell) =>"
        " each.classList.contains(arguments[0]) ? [cell] : [])",
        name,
    )
    return found


class TestLinks:
    def test_the_address_holds_the_board(self, screen: Screen) -> None:
        """With its shape, its clues and its edits; whoever opens it sees the same."""
        screen.open("#2x3/setting/" + "0" * 36)
        screen.focus(3)
        screen.press("4")
        screen.driver.find_element("css selector", "[data-action=solving]").click()
        screen.focus(7)
        screen.press("6")
        screen.until("return location.hash.includes('solving') && location.hash.includes('6')")
        before = screen.digits(), marked(screen, "gs-clue"), marked(screen, "gs-edit")
        assert before[1:] == ([3], [7])
        address = screen.js("return location.hash")
        screen.open(address)
        assert (screen.digits(), marked(screen, "gs-clue"), marked(screen, "gs-edit")) == before
        assert screen.js("return location.hash") == address
        screen.driver.find_element("css selector", ".gs-controls [data-action=shares]").click()
        assert screen.count() == gpusudoku.count(before[0], box="2x3", device="cpu").count

    def test_a_copied_link_and_copied_text(self, screen: Screen) -> None:
        screen.open(link(BOARD))
        for action, right in {"link": screen.url + link(BOARD), "copy": str(BOARD)}.items():
            screen.allow_clipboard()
            screen.driver.find_element("css selector", f"[data-action={action}]").click()
            screen.until("return document.querySelector('.gs-message').textContent")
            assert screen.clipboard() == right

    def test_one_comes_back_to_the_board_that_one_left(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        screen.focus(0)
        screen.press("7")
        screen.driver.get("about:blank")
        screen.driver.back()
        screen.until("return document.querySelectorAll('.gs-clue').length === 22")
        assert screen.digits()[0] == 7
        assert screen.count() == gpusudoku.count(screen.digits(), device="cpu").count

    def test_nonsense_is_an_empty_board(self, screen: Screen) -> None:
        screen.open("#<img src=x onerror=alert(1)>")
        assert screen.digits() == [0] * 81
        assert screen.count() == 6670903752021072936960


class TestConflicts:
    def test_they_are_marked_and_told(self, screen: Screen) -> None:
        screen.open(link(BOARD))
        screen.focus(1)
        screen.press("8")
        assert marked(screen, "gs-wrong") == [0, 1]
        said = "8 stands in r1c1, too (row 1 and box 1)"
        cell = screen.driver.find_elements("css selector", ".gs-cell")[1]
        assert cell.get_attribute("aria-description") == said
        assert cell.get_attribute("aria-invalid") == "true"
        assert "r1c1" in screen.text(".gs-message")
        assert screen.count() == 0
        assert "8 stands twice in row 1 and box 1" in screen.text("[data-part=note]")
        screen.press("Backspace")
        assert marked(screen, "gs-wrong") == []
        assert screen.count() == 1

    def test_a_board_without_solution_and_without_conflict(self, screen: Screen) -> None:
        screen.open(link(collection.load("needs-search")))
        assert marked(screen, "gs-wrong") == []
        assert screen.count() == 0


class TestSolving:
    def test_clues_stay_and_edits_change(self, screen: Screen) -> None:
        screen.open(link(BOARD, "solving"))
        assert marked(screen, "gs-clue") == BOARD.cells.nonzero()[0].tolist()
        screen.focus(0)
        screen.press("5", "Backspace", "ArrowRight", str(SOLVED.cells[1]))
        assert screen.digits()[:2] == [8, SOLVED.cells[1]]
        assert marked(screen, "gs-edit") == [1]
        screen.press("Backspace")
        assert screen.digits() == BOARD.cells.tolist()

    def test_a_solved_board(self, screen: Screen) -> None:
        screen.open(link(BOARD, "solving", Board(SOLVED.cells * (BOARD.cells == 0))))
        assert screen.digits() == SOLVED.cells.tolist()
        assert screen.count() == 1


def test_a_server_that_stops_and_starts_again(tab: Screen) -> None:
    """The page says so, and goes on by itself, with what is on the board by then."""
    with serving() as server:
        screen = Screen(tab.driver, server.url)
        screen.open(link(collection.load("2b")))
        server.stop()
        screen.focus(0)
        screen.press("7")
        note = "return document.querySelector('[data-part=note]')"
        screen.until(f"{note}.checkVisibility() && {note.removeprefix('return ')}.textContent")
        assert "server" in screen.text("[data-part=note]")
        server.start()
        assert screen.count() == gpusudoku.count(screen.digits(), device="cpu").count
