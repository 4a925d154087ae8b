"""Edits that come before the last is counted: the newest counts, and the engine is free again."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

from chromium import Server
from screen import Screen, link

import gpusudoku
from gpusudoku import collection
from tests.boards import puzzle

LONG = puzzle("3x4", 40, 7)
"""Its count takes minutes."""
SECONDS = 50
"""More than anything here takes, and less than that."""

TYPE_FAST = """
const [keys, milliseconds, done] = arguments;
const start = performance.now();
let at = 0;
const type = () => {
  const due = keys.length * Math.min((performance.now() - start) / milliseconds, 1);
  for (; at < due; at++) {
    const options = { key: keys[at], bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", options));
  }
  if (at < keys.length) setTimeout(type, 0); else done(performance.now() - start);
};
type();
"""


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def until_idle(server: Server) -> None:
    """Wait until the server works at nothing."""
    until(lambda: not (server.status()["working"] or server.status()["waiting"]))


def click(screen: Screen, action: str) -> None:
    """Press the button of a name."""
    screen.driver.find_element("css selector", f"button[data-action={action}]").click()


def offer(screen: Screen) -> None:
    """Go to a board whose count takes minutes, and wait until the page says so."""
    screen.open(link(collection.load("2b")))
    screen.js("location.hash = arguments[0]", link(LONG))
    screen.until("return document.querySelector('[data-action=count-anyway]').checkVisibility()")


def count_anyway(screen: Screen, server: Server) -> None:
    """Have a board counted that takes minutes, and wait until that has begun."""
    offer(screen)
    click(screen, "count-anyway")
    screen.until("return document.querySelector('[data-action=cancel]').checkVisibility()")
    until(lambda: server.status()["working"] == 1)


class TestExpensive:
    def test_it_says_its_price(self, screen: Screen, server: Server) -> None:
        offer(screen)
        note = screen.text("[data-part=note]")
        assert "take about" in note or "longer than" in note
        until_idle(server)

    def test_it_can_be_cancelled(self, screen: Screen, server: Server) -> None:
        count_anyway(screen, server)
        click(screen, "cancel")
        until_idle(server)
        until(lambda: "Cancelled" in screen.text("[data-part=note]"))

    def test_a_newer_edit_overtakes_it(self, screen: Screen, server: Server) -> None:
        count_anyway(screen, server)
        screen.js("location.hash = arguments[0]", link(collection.load("16x16-few")))
        screen.until("return document.querySelectorAll('.gs-cell').length === 256")
        assert screen.count() == 993
        until_idle(server)

    def test_a_page_that_is_left_is_worked_for_no_more(self, tab: Screen, server: Server) -> None:
        count_anyway(tab, server)
        tab.driver.get("about:blank")
        until_idle(server)


def test_200_edits_within_a_second(screen: Screen, server: Server) -> None:
    """Digits are typed, erased and typed over, and one moves about between."""
    screen.open(link(collection.load("2b")))
    screen.focus(0)
    rng = Random(1)
    keys = []
    for _ in range(100):
        keys += [rng.choice("123456789"), rng.choice(["ArrowRight", "ArrowDown", "Backspace"])]
        keys += [rng.choice("123456789"), "Backspace"]
    screen.driver.execute_async_script(TYPE_FAST, keys, 1000)
    typed = screen.digits()
    assert screen.count() == gpusudoku.count(typed, device="cpu").count
    until_idle(server)


def test_edits_of_boards_that_take_long(screen: Screen, server: Server) -> None:
    """Few clues, so that no count is done before the next edit."""
    screen.open()
    screen.focus(0)
    keys = [key for digit in "123456789" for key in (digit, "ArrowRight", "ArrowDown")]
    screen.driver.execute_async_script(TYPE_FAST, keys, 300)
    typed = screen.digits()
    assert sum(digit > 0 for digit in typed) == 9
    assert screen.count() == gpusudoku.count(typed, device="cpu").count
    until_idle(server)


def test_two_pages_at_once(screen: Screen, server: Server) -> None:
    """Each has its own board, and neither overtakes the other."""
    one, other = collection.load("1d"), collection.load("2d")
    driver = screen.driver
    first = driver.current_window_handle
    screen.open(link(one))
    driver.switch_to.new_window("window")
    try:
        screen.open(link(other))
        second = driver.current_window_handle
        boards = {first: one.cells.copy(), second: other.cells.copy()}
        solved = {
            first: gpusudoku.solutions(one, device="cpu")[0],
            second: gpusudoku.solutions(other)[0],
        }
        for _ in range(5):
            for window, cells in boards.items():
                driver.switch_to.window(window)
                cell = cells.tolist().index(0)
                cells[cell] = solved[window].cells[cell]
                screen.focus(cell)
                screen.press(str(cells[cell]))
        for window, cells in boards.items():
            driver.switch_to.window(window)
            assert screen.count() == gpusudoku.count(cells, device="cpu").count
        driver.switch_to.window(second)
        assert screen.complaints() == []
    finally:
        if driver.current_window_handle != first:
            driver.close()
        driver.switch_to.window(first)
    until_idle(server)
