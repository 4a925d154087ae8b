"""Buttons of the panel: solutions by number and at random, steps of logic, redundant clues."""

from __future__ import annotations

import pytest
from screen import Screen, link, number

import gpusudoku
from gpusudoku import Board, collection

MANY = collection.load("2d")
K = 12345678901234567890
"""A number of 20 digits, from 1 as people count."""
SEED = "return document.querySelector('[data-part=seed]').value"
SAID = "return document.querySelector('[data-part=solutions] [role=status]').textContent"
FEWER_CLUES = "return document.querySelectorAll('.gs-clue').length < arguments[0]"


def click(screen: Screen, part: str, action: str) -> None:
    """Press a button of a part of the panel, once it can be pressed."""
    name = f"[data-part={part}] button[data-action={action}]"
    screen.until("return document.querySelector(arguments[0]).disabled === false", name)
    screen.driver.find_element("css selector", name).click()


def solution(screen: Screen) -> list[int]:
    """The solution on the board, once one is shown."""
    screen.until("return document.querySelector('.gs-shown') !== null")
    return screen.digits()


def go_to(screen: Screen, text: str) -> None:
    """Write into the field of the solution's number."""
    field = screen.driver.find_element("css selector", "[data-part=number]")
    field.clear()
    field.send_keys(text, "\n")


def until_seen(screen: Screen, board: Board) -> None:
    """Wait until a full board stands there."""
    screen.until(
        "return [...document.querySelectorAll('.gs-cell')].map((cell) =>"
        " parseInt(cell.querySelector('.gs-digit')?.textContent, 36)).join() === arguments[0]",
        ",".join(map(str, board.cells)),
    )


class TestByNumber:
    def test_a_number_of_20_digits(self, screen: Screen) -> None:
        screen.open()
        go_to(screen, f"{K:,}")
        until_seen(screen, gpusudoku.solutions("." * 81, device="cpu")[K - 1])
        assert screen.count() == 6670903752021072936960

    def test_next_previous_first_and_last(self, screen: Screen) -> None:
        screen.open(link(MANY))
        right = gpusudoku.solutions(MANY, device="cpu")
        go_to(screen, "500000")
        until_seen(screen, right[499999])
        for action, at in {"next": 500000, "previous": 499999, "first": 0, "last": -1}.items():
            click(screen, "solutions", action)
            until_seen(screen, right[at])
        for _ in range(15):  # more than come at a time
            click(screen, "solutions", "previous")
        until_seen(screen, right[-16])
        shown = screen.js("return document.querySelector('[data-part=number]').value")
        assert number(shown) == right.count - 15

    def test_the_slider_goes_to_both_ends(self, screen: Screen) -> None:
        screen.open(link(MANY))
        right = gpusudoku.solutions(MANY, device="cpu")
        screen.driver.find_element("css selector", "[data-part=slider]").click()
        for key, at in {"End": -1, "Home": 0}.items():
            screen.press(key)
            until_seen(screen, right[at])

    @pytest.mark.parametrize("text", ["0", "1014786", "many", "1.5", "2 3", "9" * 400])
    def test_no_such_number(self, screen: Screen, text: str) -> None:
        screen.open(link(MANY))
        go_to(screen, text)
        assert screen.until("return document.querySelector('[aria-invalid]')?.value") == text
        assert "from 1 to 1,014,785" in screen.until(SAID)
        assert screen.digits() == MANY.cells.tolist()

    @pytest.mark.parametrize("text", ["1,000", "1 000", " 1000", "1.000"])
    def test_digits_in_groups(self, screen: Screen, text: str) -> None:
        screen.open(link(MANY))
        go_to(screen, text)
        until_seen(screen, gpusudoku.solutions(MANY, device="cpu")[999])
        assert screen.js("return document.querySelector('[aria-invalid]')") is None

    def test_a_number_that_is_erased_comes_back(self, screen: Screen) -> None:
        screen.open(link(MANY))
        go_to(screen, "1000")
        until_seen(screen, gpusudoku.solutions(MANY, device="cpu")[999])
        go_to(screen, "")
        assert screen.js("return document.querySelector('[data-part=number]').value") == "1,000"


class TestRandom:
    def test_it_is_a_solution(self, screen: Screen) -> None:
        screen.open(link(MANY))
        click(screen, "solutions", "random")
        found = solution(screen)
        assert Board(found) in gpusudoku.solutions(MANY, device="cpu")
        click(screen, "solutions", "hide")
        assert screen.digits() == MANY.cells.tolist()

    def test_used_as_board_it_is_one_step_to_undo(self, screen: Screen) -> None:
        screen.open(link(MANY))
        click(screen, "solutions", "random")
        found = solution(screen)
        click(screen, "solutions", "use")
        assert screen.digits() == found
        assert screen.count() == 1
        screen.focus(0)
        screen.press("Control+z")
        assert screen.digits() == MANY.cells.tolist()
        assert screen.count() == 1014785

    def test_an_edit_hides_it(self, screen: Screen) -> None:
        screen.open(link(MANY))
        click(screen, "solutions", "random")
        found = solution(screen)
        cell = MANY.cells.tolist().index(0)
        screen.focus(cell)
        screen.press(str(found[cell]))
        assert screen.js("return document.querySelector('.gs-shown')") is None
        left = MANY.cells.copy()
        left[cell] = found[cell]
        assert screen.count() == gpusudoku.count(left, device="cpu").count

    @pytest.mark.parametrize("size", [(1366, 625), (1280, 900), (390, 844), (340, 700)])
    def test_the_whole_of_a_seed_is_seen(self, screen: Screen, size: tuple[int, int]) -> None:
        screen.resize(*size)
        screen.open(link(MANY))
        rest = screen.js(
            "const field = document.querySelector('[data-part=seed]');"
            "field.value = 2n ** 128n - 1n; return field.clientWidth - field.scrollWidth"
        )
        assert rest >= 0

    def test_its_seed_goes_with_it(self, screen: Screen) -> None:
        screen.open(link(MANY))
        click(screen, "solutions", "random")
        assert screen.until(SEED)
        click(screen, "solutions", "first")
        assert screen.js(SEED) == ""

    def test_an_edit_and_another_look_forget_it(self, screen: Screen) -> None:
        board = collection.load("a2")
        screen.open(link(board))
        click(screen, "solutions", "random")
        assert screen.until(SEED)
        assert "the same seed" in screen.until(SAID)
        click(screen, "logic", "explain")
        screen.until(f"return !(() => {{ {SAID} }})()")
        click(screen, "solutions", "random")
        assert screen.until(SEED)
        screen.focus(board.cells.tolist().index(0))
        screen.press("5")
        assert screen.js(SEED) == screen.js(SAID) == ""

    def test_without_a_seed_it_is_a_new_one(self, screen: Screen) -> None:
        screen.open(link(MANY))
        field = screen.driver.find_element("css selector", "[data-part=seed]")
        field.send_keys("many\n")
        assert "from 0 to 2^128 - 1" in screen.js(SAID)
        assert field.get_attribute("aria-invalid") == "true"
        field.clear()
        field.send_keys("\n")
        assert Board(solution(screen)) in gpusudoku.solutions(MANY, device="cpu")
        assert number(screen.js(SEED)) >= 0
        assert field.get_attribute("aria-invalid") is None

    def test_its_price_is_told_in_words(self, screen: Screen) -> None:
        screen.open()
        said = screen.js(
            "return Promise.all([import('/page/status.js'), import('/page/failing.js')]).then("
            "([{ StatusLine }, { AskError }]) => {"
            "  const line = new StatusLine(() => {});"
            "  const facts = { kind: 'expensive', seconds: 3.8e11 };"
            "  line.fail(new AskError('about 3.8e+11 s', facts));"
            "  return line.element.textContent; })"
        )
        assert said.startswith("That should take more than a thousand years.")

    def test_what_nobody_can_draw_is_not_tried(self, tab: Screen) -> None:
        tab.open("#4x4/setting/" + "0" * 256)
        click(tab, "solutions", "random")
        tab.until("return document.querySelector('[data-part=solutions] .gs-failed') !== null")
        assert tab.js(SAID) == "That should take more than a thousand years."


class TestLogic:
    @pytest.mark.parametrize("name", ["techniques-9x9", "a1", "box2x3-few"])
    def test_its_steps_end_where_simplify_ends(self, screen: Screen, name: str) -> None:
        board = collection.load(name)
        screen.open(link(board))
        click(screen, "logic", "explain")
        screen.until("return document.querySelector('[data-part=logic] [role=status]').textContent")
        right = gpusudoku.simplify(board)
        steps = screen.driver.find_elements("css selector", ".gs-logic-list button")
        if steps:
            screen.js("arguments[0].click()", steps[-1])
        if right.board != board:
            click(screen, "logic", "apply")
        assert screen.digits() == right.board.cells.tolist()

    def test_a_contradiction_is_told(self, screen: Screen) -> None:
        board = collection.load("needs-search")
        assert gpusudoku.simplify(board).contradictory
        screen.open(link(board))
        click(screen, "logic", "explain")
        screen.until("return document.querySelector('.gs-logic-list button') !== null")
        steps = screen.driver.find_elements("css selector", ".gs-logic-list button")
        screen.js("arguments[0].click()", steps[-1])
        said = screen.text("[data-part=logic] [role=status]")
        assert "ogic finds" in said

    def test_step_by_step(self, screen: Screen) -> None:
        board = collection.load("techniques-9x9")
        screen.open(link(board))
        click(screen, "logic", "explain")
        screen.until("return document.querySelector('.gs-logic-list button') !== null")
        before = marks(screen)
        click(screen, "logic", "next-step")
        assert before != marks(screen)
        click(screen, "logic", "previous-step")
        assert before == marks(screen)
        click(screen, "logic", "close-steps")
        assert marks(screen) == []


def marks(screen: Screen) -> list[str]:
    """What is highlighted: cells that a step looks at, digits that it places or removes."""
    found: list[str] = screen.js(
        "return [...document.querySelectorAll('.gs-marked, .gs-placed, .gs-removed')].map((each) =>"
        " `${each.closest('.gs-cell').dataset.cell} ${each.className}`)"
    )
    return found


class TestRedundantClues:
    def test_what_is_left_is_minimal_and_unique(self, screen: Screen) -> None:
        board = collection.load("decomposition-easy-9x9")
        screen.open(link(board))
        click(screen, "reducing", "minimise")
        screen.until(FEWER_CLUES, board.clues)
        cells = screen.digits()
        assert screen.count() == 1
        clues = [cell for cell in range(81) if cells[cell]]
        assert all(cells[cell] == board.cells[cell] for cell in clues)
        smaller = [[*cells[:cell], 0, *cells[cell + 1 :]] for cell in clues]
        assert all(
            result.count > 1 for result in gpusudoku.count_many(smaller, limit=2, device="cpu")
        )
        screen.focus(0)
        screen.press("Control+z")
        assert screen.digits() == board.cells.tolist()

    def test_while_one_solves_clues_go_and_edits_stay(self, screen: Screen) -> None:
        board = collection.load("decomposition-easy-9x9")
        cell = int((board.cells == 0).argmax())
        digit = str(gpusudoku.solve(board, device="cpu").board.cells[cell])
        screen.open(link(board).replace("setting", "solving"))
        screen.focus(cell)
        screen.press(digit)
        screen.js("document.querySelector('.gs-controls [data-action=shares]').click()")
        click(screen, "reducing", "minimise")
        screen.until(
            "return document.querySelectorAll('.gs-clue').length < arguments[0]", board.clues
        )
        left = screen.digits()
        assert left[cell] == int(digit)
        left[cell] = 0
        assert gpusudoku.count(left, device="cpu").count == 1

    def test_there_is_nothing_to_do_without_a_single_solution(self, screen: Screen) -> None:
        screen.open(link(MANY))
        assert not screen.driver.find_element("css selector", "[data-action=minimise]").is_enabled()
