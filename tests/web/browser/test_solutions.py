"""Buttons of the panel: solutions by number and at random, and redundant clues."""

import gpusudoku
from gpusudoku import Board, collection
from tests.web.browser.acting import SOLUTIONS_STATUS, click, go_to, wait_for_board
from tests.web.browser.screen import link, number

MANY = collection.load("2d")
K = 12345678901234567890
"""A number of 20 digits, from 1 as people count."""
SEED = "return document.querySelector('[data-part=seed]').value"
NUMBER = "return document.querySelector('[data-part=number]').value"


def solution(screen):
    """Return the solution on the board, once one is shown."""
    screen.until("return document.querySelector('.gs-shown') !== null")
    return screen.digits()


class TestByNumber:
    def test_a_number_of_20_digits(self, screen):
        screen.open()
        go_to(screen, f"{K:,}")
        wait_for_board(screen, gpusudoku.solutions("." * 81, device="cpu")[K - 1])

    def test_next_previous_first_and_last(self, screen):
        screen.open(link(MANY))
        right = gpusudoku.solutions(MANY, device="cpu")
        go_to(screen, "500000")
        wait_for_board(screen, right[499999])
        for action, at in {"next": 500000, "previous": 499999, "first": 0, "last": -1}.items():
            click(screen, action, "solutions")
            wait_for_board(screen, right[at])
        assert screen.text(".gs-state").startswith("Solution 1,014,785 is shown")
        for _ in range(15):  # more than come at a time
            click(screen, "previous", "solutions")
        wait_for_board(screen, right[-16])
        assert number(screen.js(NUMBER)) == right.count - 15
        screen.driver.find_element("css selector", "[data-part=slider]").click()
        for key, at in {"Home": 0, "End": -1}.items():
            screen.press(key)
            wait_for_board(screen, right[at])
        click(screen, "hide", "solutions")
        assert screen.text(".gs-state") == ""

    def test_what_is_written_for_a_number(self, screen):
        screen.open(link(MANY))
        for text in ("0", "1014786", "many", "1.5", "2 3", "9" * 400):
            go_to(screen, text)
            invalid = "return document.querySelector('[aria-invalid]')?.value === arguments[0]"
            screen.until(invalid, text)
            assert "from 1 to 1,014,785" in screen.until(SOLUTIONS_STATUS)
            assert screen.digits() == MANY.cells.tolist()
        found = gpusudoku.solutions(MANY, device="cpu")
        for at, text in enumerate(["1,000", "2 000", " 3000", "4.000"], 1):
            go_to(screen, text)
            wait_for_board(screen, found[1000 * at - 1])
            assert screen.js("return document.querySelector('[aria-invalid]')") is None
        go_to(screen, "")
        assert screen.js(NUMBER) == "4,000"


class TestRandom:
    def test_it_is_a_solution_and_used_as_board_one_step_to_undo(self, screen):
        screen.open(link(MANY))
        click(screen, "random", "solutions")
        found = solution(screen)
        assert Board(found) in gpusudoku.solutions(MANY, device="cpu")
        assert screen.text(".gs-state").startswith("A random solution is shown")
        click(screen, "use", "solutions")
        assert screen.text(".gs-state").startswith("Solved")
        assert screen.digits() == found
        assert screen.count() == 1
        screen.focus(0)
        screen.press("Control+z")
        assert screen.digits() == MANY.cells.tolist()

    def test_an_edit_hides_it_and_forgets_its_seed(self, screen):
        screen.open(link(MANY))
        click(screen, "random", "solutions")
        found = solution(screen)
        assert number(screen.until(SEED)) >= 0
        assert "the same seed" in screen.until(SOLUTIONS_STATUS)
        cell = MANY.cells.tolist().index(0)
        screen.focus(cell)
        screen.press(str(found[cell]))
        assert screen.js("return document.querySelector('.gs-shown')") is None
        assert screen.js(SEED) == screen.js(SOLUTIONS_STATUS) == ""
        assert sum(map(bool, screen.digits())) == MANY.clues + 1

    def test_seeds_that_are_written(self, screen):
        screen.open(link(MANY))
        field = screen.driver.find_element("css selector", "[data-part=seed]")
        field.send_keys("many\n")
        assert "from 0 to 2^128 - 1" in screen.js(SOLUTIONS_STATUS)
        assert field.get_attribute("aria-invalid") == "true"
        field.clear()
        field.send_keys("7\n")
        [row] = gpusudoku.solutions(MANY, device="cpu").sample(1, 7)
        wait_for_board(screen, Board(row))
        assert field.get_attribute("aria-invalid") is None


def test_redundant_clues_go_and_edits_stay(screen):
    board = collection.load("decomposition-easy-9x9")
    cell = int((board.cells == 0).argmax())
    digit = int(gpusudoku.solve(board, device="cpu").board.cells[cell])
    screen.open(link(board, "solving"))
    screen.focus(cell)
    screen.press(str(digit))
    before = screen.digits()
    click(screen, "shares")
    click(screen, "minimise", "reducing")
    screen.until("return document.querySelectorAll('.gs-clue').length < arguments[0]", board.clues)
    left = screen.digits()
    assert left[cell] == digit
    left[cell] = 0
    assert gpusudoku.count(left, device="cpu").count == 1
    clues = [cell for cell in range(81) if left[cell]]
    assert all(left[cell] == board.cells[cell] for cell in clues)
    smaller = [[*left[:cell], 0, *left[cell + 1 :]] for cell in clues]
    counts = gpusudoku.count_many(smaller, limit=2, device="cpu")
    assert all(result.count > 1 for result in counts)
    screen.focus(cell)
    screen.press("Control+z")
    assert screen.digits() == before
