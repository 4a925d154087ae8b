"""Steps of logic on the board: its state before a step, and going on once they are applied."""

from __future__ import annotations

import pytest
from screen import Screen, link

import gpusudoku
from gpusudoku import collection

BOARD = collection.load("techniques-9x9")
STEPS = "return document.querySelector('.gs-step') !== null"
AT = "return [...document.querySelectorAll('.gs-step')].findIndex((each) => each.ariaCurrent)"
CANDIDATES = """
return [...document.querySelectorAll('.gs-cell')].map((cell) =>
  cell.querySelector('.gs-candidates:not([hidden])') === null ? []
    : [...cell.querySelectorAll('.gs-candidate:not(.gs-none)')].map((each) =>
      Number(each.dataset.digit)));
"""
SHARES = """
const shown = '.gs-candidates:not([hidden]) > ';
return document.querySelectorAll(`${shown}.gs-sure, ${shown}.gs-out`).length;
"""


def click(screen: Screen, action: str) -> None:
    screen.js("document.querySelector(`[data-action=${arguments[0]}]`).click()", action)


def explain(screen: Screen, mode: str = "setting") -> None:
    """Open a page with the steps of its board."""
    screen.open(link(BOARD, mode))
    screen.settle()
    click(screen, "explain")
    screen.until(STEPS)


def test_the_board_is_shown_as_it_is_before_a_step(screen: Screen) -> None:
    explain(screen)
    steps = gpusudoku.explain(BOARD).steps
    at = next(at for at, step in enumerate(steps) if step.removed) + 1
    screen.js("document.querySelectorAll('.gs-step')[arguments[0]].click()", at)
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
        digits[cell], left[cell] = digit, []
    assert screen.digits() == digits.tolist()
    assert screen.js(CANDIDATES) == left
    assert screen.js(SHARES) == 0
    click(screen, "close-steps")
    screen.draw()
    assert screen.js(SHARES) > 0
    assert screen.digits() == BOARD.cells.tolist()


def test_a_step_names_its_technique_once(screen: Screen) -> None:
    explain(screen)
    rows = screen.js("return [...document.querySelectorAll('.gs-step')].map((e) => e.textContent)")
    names = [step.technique.replace("-", " ") for step in gpusudoku.explain(BOARD).steps]
    assert "locked candidates" in names
    assert [row.count(name) for row, name in zip(rows, names, strict=True)] == [1] * len(rows)
    assert all(row.startswith(f"{name} ") for row, name in zip(rows, names, strict=True))


def test_the_reason_is_marked(screen: Screen) -> None:
    explain(screen)
    [first, *_] = gpusudoku.explain(BOARD).steps
    assert first.unit is not None
    around = screen.js(
        "return [...document.querySelectorAll('.gs-around')].map((each) => +each.dataset.cell)"
    )
    assert sorted(around) == sorted(BOARD.geometry.units[first.unit].tolist())


@pytest.mark.parametrize(("mode", "kind"), [("setting", "gs-clue"), ("solving", "gs-edit")])
def test_after_a_step_is_applied_the_next_is_shown(screen: Screen, mode: str, kind: str) -> None:
    explain(screen, mode)
    for _ in range(2):
        click(screen, "next-step")
    placed = [each for step in gpusudoku.explain(BOARD).steps[:3] for each in step.placed]
    click(screen, "apply")
    screen.settle()
    assert screen.js(AT) == 3
    for cell, _ in placed:
        name = f".gs-cell.{kind}[data-cell='{cell}']"
        assert screen.js("return document.querySelector(arguments[0]) !== null", name)
    click(screen, "undo")
    screen.settle()
    assert screen.js(AT) == 3
    clues = screen.js("return document.querySelectorAll('.gs-clue, .gs-edit').length")
    assert clues == BOARD.clues


def test_another_board_ends_it(screen: Screen) -> None:
    explain(screen)
    click(screen, "new")
    assert not screen.js(STEPS)


def test_board_and_logic_are_seen_together(screen: Screen) -> None:
    screen.resize(1280, 800)
    explain(screen)
    box = screen.js(
        "document.querySelector('[data-part=logic]').scrollIntoView();"
        "const { top, bottom } = document.querySelector('.gs-grid').getBoundingClientRect();"
        "return [top, bottom, scrollY]"
    )
    assert box[2] > 100
    assert 0 <= box[0] < box[1] <= 800
