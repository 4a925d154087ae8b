"""The keyboard goes on when the button that was pressed is hidden or switched off."""

import pytest
from screen import link

from gpusudoku import collection
from tests.web.browser.acting import ANSWER, go_to

SOME = collection.load("a2")
"""It has nine solutions."""
SHOWN = "return document.querySelector('.gs-shown') !== null"


def enter(screen, part, action, place):
    """Press Enter on a button, once that can be done, and wait until the focus is elsewhere."""
    screen.until(
        "const button = document.querySelector(arguments[0]); button.focus();"
        "return document.activeElement === button",
        f"[data-part={part}] button[data-action={action}]",
    )
    screen.press("Enter")
    until_focus(screen, place)


def until_focus(screen, place):
    """Wait until the focus is on the board, or on the button of an action."""
    screen.until(
        "const held = document.activeElement;"
        "return arguments[0] === (held.matches('.gs-cell') ? 'board' : held.dataset.action)",
        place,
    )


def test_solutions(screen):
    screen.open(link(SOME))
    screen.settle()
    for start, action, place in [
        ("8", "next", "previous"), ("2", "previous", "first"), ("5", "hide", "board"),
        ("5", "use", "board"),
    ]:  # fmt: skip
        go_to(screen, start)
        screen.until(SHOWN)
        enter(screen, "solutions", action, place)
    screen.press("Control+z")
    assert screen.digits() == SOME.cells.tolist()
    screen.press("Delete", "8")
    assert 8 in screen.digits()


def test_logic(screen):
    board = collection.load("box2x3-few")
    screen.open(link(board))
    screen.js("document.querySelector('[data-action=explain]').click()")
    steps = screen.until(
        "const found = [...document.querySelectorAll('.gs-step')];return found.length && found"
    )
    assert len(steps) > 1
    screen.js("arguments[0].click()", steps[-2])
    enter(screen, "logic", "next-step", "previous-step")
    enter(screen, "logic", "close-steps", "explain")


@pytest.mark.usefixtures("expects_errors")
def test_counts_that_take_long_or_fail(screen):
    screen.open(link(SOME))
    screen.settle()
    offset = "return document.querySelector('[data-part={}] {}').offsetWidth"
    error = {"error": "too long", "kind": "expensive", "status": 422, "seconds": 1e9}
    screen.js(ANSWER, "/count", error)
    screen.focus(SOME.cells.tolist().index(0))
    screen.press("5")
    screen.until(offset.format("result", "[data-action=count-anyway]"))
    screen.js("window.answered()")
    screen.js(ANSWER, "/count")
    enter(screen, "result", "count-anyway", "board")
    screen.until(offset.format("result", "[data-action=cancel]"))
    enter(screen, "result", "cancel", "count-anyway")
    screen.js("window.answered()")
    screen.js(ANSWER, "/sample")
    screen.js("document.querySelector('[data-action=random]').click()")
    screen.until(offset.format("solutions", ".gs-bar"))
    enter(screen, "solutions", "cancel", "board")
    screen.js("window.answered()")
    screen.js(ANSWER, "/count", {"error": "it failed", "kind": "failed", "status": 500})
    screen.press("6")
    screen.until(offset.format("result", "[data-action=retry]"))
    screen.js("window.answered()")
    enter(screen, "result", "retry", "board")
    screen.settle()
