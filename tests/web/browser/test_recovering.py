"""A page goes on by itself once its server is there again."""

from __future__ import annotations

import pytest
from screen import Screen, link

import gpusudoku
from gpusudoku import collection

BOARD = collection.load("2b")
GONE = """
const real = window.fetch;
window.asked = [];
window.fetch = (address) => {
  window.asked.push(address);
  return Promise.reject(new TypeError("nobody is there"));
};
window.back = () => { window.fetch = real; };
"""
FAILED = "return document.querySelector('[data-action=retry]').checkVisibility()"
WORDS = "return document.querySelector('.gs-app').textContent.includes('does not answer')"


def lose(screen: Screen) -> None:
    """Edit a board whose server is gone, and ask for a solution, too."""
    screen.open(link(BOARD))
    screen.settle()
    screen.js(GONE)
    screen.focus(int(BOARD.cells.nonzero()[0][0]))
    screen.press("Delete")
    screen.until(FAILED)
    screen.js("document.querySelector('[data-action=random]').click()")
    screen.until(
        "return document.querySelector('[data-part=solutions] .gs-failed') !== null && "
        "window.asked.includes('/sample')"
    )


@pytest.mark.parametrize("event", ["online", None])
def test_it_asks_again_by_itself(screen: Screen, event: str | None) -> None:
    lose(screen)
    assert screen.js(WORDS)
    screen.until("return window.asked.includes('/status')")
    screen.js("window.back()")
    if event is not None:
        screen.js("window.dispatchEvent(new Event(arguments[0]))", event)
    left = BOARD.cells.copy()
    left[left.nonzero()[0][0]] = 0
    assert screen.count() == gpusudoku.count(left, device="cpu").count
    screen.until(f"return !(() => {{ {WORDS} }})()")
    assert not screen.js(FAILED)


def test_it_only_asks_whether_somebody_is_there(screen: Screen) -> None:
    lose(screen)
    screen.until("return window.asked.filter((each) => each === '/status').length >= 2")
    assert screen.js("return window.asked.filter((each) => each === '/count').length") == 1
