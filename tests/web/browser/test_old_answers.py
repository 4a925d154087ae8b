"""What is known of the board before does not stay for long beside a new board."""

from __future__ import annotations

from screen import Screen, link

from gpusudoku import collection

HOLD = """
const real = window.fetch;
window.fetch = (address, request) => {
  if (!String(address).endsWith(arguments[0])) return real(address, request);
  return new Promise((_, reject) =>
    request.signal.addEventListener("abort", () => reject(request.signal.reason)));
};
"""
"""No question of a kind is answered any more."""

NO_SMALL_DIGITS = """
return [...document.querySelectorAll(".gs-candidate")].every((each) => !each.checkVisibility());
"""


def erase_a_clue(screen: Screen, kind: str) -> None:
    """Wait for all that is known of a puzzle, then make it another; one question is held back."""
    board = collection.load("2d")
    screen.open(link(board))
    assert screen.count() == 1014785
    assert not screen.js(NO_SMALL_DIGITS)
    screen.js(HOLD, kind)
    screen.focus(int(board.cells.nonzero()[0][0]))
    screen.press("Delete")


def test_the_count_goes_when_the_new_one_takes_long(screen: Screen) -> None:
    erase_a_clue(screen, "/count")
    screen.until("return document.querySelector('[data-part=badge]').dataset.kind === 'unknown'")
    assert screen.js("return document.querySelector('[data-part=count]').dataset.count") is None
    screen.until(NO_SMALL_DIGITS)


def test_shares_go_when_the_new_ones_take_long(screen: Screen) -> None:
    erase_a_clue(screen, "/shares")
    screen.until(NO_SMALL_DIGITS)
    screen.until("return document.querySelector('[data-part=count]').dataset.count > 1014785")
