"""Large boards are drawn in pieces, and can be used while that goes on."""

from __future__ import annotations

from screen import Screen

import gpusudoku

EMPTY = gpusudoku.parse("." * 256)
MOST_AT_ONCE = 1000
"""Of its 4,096 small digits: to lay out and draw more takes a browser too long."""

COUNT = """
window.made = [0];
new MutationObserver((changes) => {
  const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
  made[made.length - 1] += added.filter((each) => each.matches?.(".gs-candidate")).length;
}).observe(document.querySelector(".gs-grid"), { subtree: true, childList: true });
const next = () => {
  made.push(0);
  requestAnimationFrame(next);
};
next();
"""
"""Counts the candidates that are made from one frame to the next."""
CANDIDATES = """
const shown = ".gs-candidates:not([hidden]) > .gs-candidate:not(.gs-none)";
return [...document.querySelectorAll(".gs-cell")].map((cell) =>
  [...cell.querySelectorAll(shown)].map((each) => Number(each.dataset.digit)))
"""
TYPE_AT_ONCE = """
const menu = document.querySelector("[data-action=size]");
menu.focus();
menu.value = "4x4";
menu.dispatchEvent(new Event("change"));
document.querySelectorAll(".gs-cell")[255].focus();
const key = { key: "G", bubbles: true, cancelable: true };
document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
"""
"""Chooses another size, and types into the last cell before any frame has been drawn."""


def click(screen: Screen, action: str) -> None:
    screen.driver.find_element("css selector", f"[data-action={action}]").click()


def test_candidates_come_a_few_with_each_frame(screen: Screen) -> None:
    screen.open("#4x4/setting/" + "0" * 256)
    screen.js(COUNT)
    click(screen, "candidates")
    screen.draw()
    made = screen.js("return made")
    assert sum(made) == 16**3
    assert max(made) <= MOST_AT_ONCE
    assert screen.js(CANDIDATES) == [list(range(1, 17))] * 256


def test_what_is_typed_meanwhile_stands_there(screen: Screen) -> None:
    screen.open()
    click(screen, "candidates")
    screen.js(TYPE_AT_ONCE)
    screen.draw()
    board = EMPTY.cells.copy()
    board[255] = 16
    assert screen.digits() == board.tolist()
    masks = gpusudoku.Board(board, EMPTY.geometry).candidates[:255].tolist()
    right = [[digit for digit in range(1, 17) if mask >> digit - 1 & 1] for mask in masks]
    assert screen.js(CANDIDATES) == [*right, []]
