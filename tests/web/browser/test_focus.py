"""The keyboard goes on when the button that was pressed is hidden or switched off."""

from __future__ import annotations

import pytest
from screen import Screen, link

import gpusudoku
from gpusudoku import collection

SOME = collection.load("a2")
"""It has nine solutions."""
FOCUS = (
    "const held = document.activeElement;"
    "return held.matches('.gs-cell') ? 'board' : held.dataset.action ?? null"
)
ANSWER = """
const [error] = arguments;
const real = window.fetch;
window.fetch = (address, request) => {
  if (!["/count", "/sample"].includes(address)) return real(address, request);
  if (error !== null) return Promise.resolve(Response.json(error, { status: 422 }));
  return new Promise((_, reject) =>
    request.signal.addEventListener("abort", () => reject(request.signal.reason)));
};
window.answered = () => { window.fetch = real; };
"""
"""Questions are answered by an error, or not at all."""


def enter(screen: Screen, part: str, action: str) -> None:
    """Press Enter on a button, once that can be done."""
    name = f"[data-part={part}] button[data-action={action}]"
    screen.until(
        "const button = document.querySelector(arguments[0]); button.focus();"
        "return document.activeElement === button",
        name,
    )
    screen.press("Enter")


def assert_focus(screen: Screen, place: str) -> None:
    """Wait until the focus is on the board, or on the button of an action."""
    screen.until(f"return (() => {{ {FOCUS} }})() === arguments[0]", place)


def go_to(screen: Screen, number: int) -> None:
    field = screen.driver.find_element("css selector", "[data-part=number]")
    field.send_keys(f"{number}\n")
    screen.until("return document.querySelector('.gs-shown') !== null")


@pytest.mark.parametrize(
    ("start", "action", "place"),
    [(8, "next", "previous"), (2, "previous", "first"), (5, "hide", "board"), (5, "use", "board")],
)
def test_solutions(screen: Screen, start: int, action: str, place: str) -> None:
    screen.open(link(SOME))
    screen.settle()
    go_to(screen, start)
    enter(screen, "solutions", action)
    assert_focus(screen, place)


def test_keys_write_on_the_board_again(screen: Screen) -> None:
    screen.open(link(SOME))
    screen.settle()
    go_to(screen, 5)
    enter(screen, "solutions", "use")
    assert_focus(screen, "board")
    screen.press("Control+z")
    assert screen.digits() == SOME.cells.tolist()
    screen.press("Delete", "8")
    assert 8 in screen.digits()


def test_an_enter_that_is_held_does_not_go_back(screen: Screen) -> None:
    screen.open(link(SOME))
    screen.settle()
    go_to(screen, 8)
    screen.js("document.querySelector('[data-action=next]').focus()")
    held = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
    screen.cdp("Input.dispatchKeyEvent", type="keyDown", **held)
    assert_focus(screen, "previous")
    screen.cdp("Input.dispatchKeyEvent", type="keyDown", autoRepeat=True, **held)
    number = "return document.querySelector('[data-part=number]').value"
    assert screen.js(number) == "9"
    screen.cdp("Input.dispatchKeyEvent", type="keyUp", **held)
    screen.press("Enter")
    screen.until(f"{number} === '8'")


def test_logic(screen: Screen) -> None:
    screen.open(link(collection.load("box2x3-few")))
    enter(screen, "logic", "explain")
    screen.until("return document.querySelector('.gs-step') !== null")
    steps = screen.driver.find_elements("css selector", ".gs-step")
    assert len(steps) > 1
    screen.js("arguments[0].click()", steps[-2])
    enter(screen, "logic", "next-step")
    assert_focus(screen, "previous-step")
    enter(screen, "logic", "close-steps")
    assert_focus(screen, "explain")


def test_a_board_whose_steps_are_gone(screen: Screen) -> None:
    screen.open(link(SOME))
    cell = SOME.cells.tolist().index(0)
    screen.focus(cell)
    screen.press(str(gpusudoku.solutions(SOME, device="cpu")[0].cells[cell]))
    enter(screen, "logic", "explain")
    screen.until("return document.querySelector('.gs-step') !== null")
    screen.js("document.querySelector('.gs-step').focus()")
    screen.press("Control+z")
    assert_focus(screen, "explain")


def test_counts_that_take_long(screen: Screen) -> None:
    screen.open(link(SOME))
    screen.settle()
    error = {"error": "too long", "kind": "expensive", "status": 422, "seconds": 1e9}
    screen.js(ANSWER, error)
    screen.focus(SOME.cells.tolist().index(0))
    screen.press("5")
    shown = "return document.querySelector('[data-part=result] [data-action=cancel]').offsetWidth"
    screen.until("return document.querySelector('[data-action=count-anyway]').offsetWidth")
    screen.js("window.answered()")
    screen.js(ANSWER, None)
    enter(screen, "result", "count-anyway")
    assert_focus(screen, "board")
    screen.until(shown)
    enter(screen, "result", "cancel")
    assert_focus(screen, "count-anyway")
    enter(screen, "solutions", "random")
    screen.until("return document.querySelector('[data-part=solutions] .gs-bar').offsetWidth")
    enter(screen, "solutions", "cancel")
    assert_focus(screen, "board")


def test_a_count_that_failed(screen: Screen) -> None:
    screen.open(link(SOME))
    screen.settle()
    screen.js(ANSWER, {"error": "it failed", "kind": "failed", "status": 500})
    screen.focus(SOME.cells.tolist().index(0))
    screen.press("5")
    screen.until("return document.querySelector('[data-action=retry]').offsetWidth")
    screen.js("window.answered()")
    enter(screen, "result", "retry")
    assert_focus(screen, "board")
    screen.settle()


def test_the_mouse_scrolls_nowhere(screen: Screen) -> None:
    screen.resize(360, 740)
    screen.open(link(SOME))
    screen.settle()
    go_to(screen, 5)
    hide = screen.driver.find_element("css selector", "[data-action=hide]")
    screen.js("arguments[0].scrollIntoView({ block: 'center' })", hide)
    place = screen.js("return scrollY")
    assert place > 300
    hide.click()
    assert_focus(screen, "board")
    assert screen.js("return scrollY") == place
