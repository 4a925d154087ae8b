"""Steps of logic on the board: its state before a step, and going on once they are applied."""

import pytest

import gpusudoku
from gpusudoku import collection
from tests.web.browser.acting import CANDIDATES, cells_of_class, click
from tests.web.browser.screen import link

BOARD = collection.load("techniques-9x9")
AT = "return [...document.querySelectorAll('.gs-step')].findIndex((each) => each.ariaCurrent)"
GO = "document.querySelectorAll('.gs-step')[arguments[0]].click()"
MARKS = """
return [...document.querySelectorAll('.gs-marked, .gs-placed, .gs-removed')].map((each) =>
  `${each.closest('.gs-cell').dataset.cell} ${each.className}`);
"""
"""Cells that a step looks at, and digits that it places or removes."""
SHARES = """
const shown = '.gs-candidates:not([hidden]) > ';
return document.querySelectorAll(`${shown}.gs-sure, ${shown}.gs-out`).length;
"""


def explain(screen, mode="setting", name="techniques-9x9"):
    """Open a page with the steps of a board."""
    screen.open(link(collection.load(name), mode))
    screen.settle()
    click(screen, "explain", "logic")
    screen.until("return document.querySelector('.gs-step') !== null")


def test_the_board_is_shown_as_it_is_before_a_step(screen):
    explain(screen)
    steps = gpusudoku.explain(BOARD).steps
    at = next(at for at, step in enumerate(steps) if step.removed) + 1
    screen.js(GO, at)
    screen.draw()
    digits = BOARD.cells.copy()
    for cell, digit in (each for step in steps[:at] for each in step.placed):
        digits[cell] = digit
    masks = gpusudoku.Board(digits).candidates
    left = [
        [] if digits[cell] else [d for d in range(1, 10) if int(masks[cell]) >> d - 1 & 1]
        for cell in range(81)
    ]
    for cell, digit in (each for step in steps[:at] for each in step.removed):
        if digit in left[cell]:
            left[cell].remove(digit)
    for cell, digit in steps[at].placed:
        digits[cell] = digit
        left[cell] = []
    assert screen.digits() == digits.tolist()
    assert screen.js(CANDIDATES) == left
    assert screen.js(SHARES) == 0
    click(screen, "close-steps")
    screen.draw()
    assert screen.js(SHARES) > 0
    assert screen.js(MARKS) == []
    assert screen.digits() == BOARD.cells.tolist()


def test_each_step_names_its_technique_and_marks_its_reason(screen):
    explain(screen)
    rows = screen.js("return [...document.querySelectorAll('.gs-step')].map((e) => e.textContent)")
    [first, *_] = steps = gpusudoku.explain(BOARD).steps
    names = [step.technique.replace("-", " ") for step in steps]
    assert "locked candidates" in names
    assert all(row.startswith(f"{name} ") for row, name in zip(rows, names, strict=True))
    assert sorted(cells_of_class(screen, "gs-around")) == sorted(
        BOARD.geometry.units[first.unit].tolist()
    )
    before = screen.js(MARKS)
    click(screen, "next-step")
    assert before != screen.js(MARKS)
    click(screen, "previous-step")
    assert before == screen.js(MARKS)
    click(screen, "new")
    assert screen.js("return document.querySelector('.gs-step')") is None


@pytest.mark.parametrize(("mode", "kind"), [("setting", "gs-clue"), ("solving", "gs-edit")])
def test_after_a_step_is_applied_the_next_is_shown(screen, mode, kind):
    explain(screen, mode)
    for _ in range(2):
        click(screen, "next-step")
    placed = [cell for step in gpusudoku.explain(BOARD).steps[:3] for cell, _ in step.placed]
    click(screen, "apply")
    screen.settle()
    assert screen.js(AT) == 3
    assert set(placed) <= set(cells_of_class(screen, kind))
    click(screen, "undo")
    screen.settle()
    assert screen.js(AT) == 3
    assert len(cells_of_class(screen, "gs-clue") + cells_of_class(screen, "gs-edit")) == BOARD.clues


@pytest.mark.parametrize("name", ["techniques-9x9", "a1", "box2x3-few"])
def test_the_last_step_ends_where_simplify_ends(screen, name):
    explain(screen, name=name)
    steps = screen.driver.find_elements("css selector", ".gs-step")
    screen.js(GO, len(steps) - 1)
    click(screen, "apply", "logic")
    assert screen.digits() == gpusudoku.simplify(collection.load(name)).board.cells.tolist()


def test_a_contradiction_is_told(screen):
    assert gpusudoku.simplify(collection.load("needs-search")).contradictory
    explain(screen, name="needs-search")
    screen.js("[...document.querySelectorAll('.gs-step')].at(-1).click()")
    assert "ogic finds" in screen.text("[data-part=logic] [role=status]")
