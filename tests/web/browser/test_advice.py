"""What the panel says of a board besides its count, and what it does not say any more."""

from __future__ import annotations

import pytest
from screen import Screen, link

import gpusudoku
from gpusudoku import Board, collection

HOLD = """
const real = window.fetch;
window.fetch = (address, request) => {
  if (!String(address).endsWith(arguments[0])) return real(address, request);
  return new Promise((_, reject) =>
    request.signal.addEventListener("abort", () => reject(request.signal.reason)));
};
"""
"""No question of a kind is answered any more."""
IS_FADED = "return document.querySelector('[data-part=count]').closest('.gs-old') !== null"
ERASE = "[data-action='erase']"


def click(screen: Screen, action: str) -> None:
    screen.driver.find_element("css selector", f"[data-action='{action}']").click()


def is_shown(screen: Screen, selector: str) -> bool:
    shown: bool = screen.js(
        "return document.querySelector(arguments[0]).checkVisibility({ visibilityProperty: true })",
        selector,
    )
    return shown


class TestErase:
    def test_the_mouse_alone_erases_a_clue(self, screen: Screen) -> None:
        board = collection.load("2b")
        cell = int(board.cells.nonzero()[0][0])
        screen.open(link(board))
        screen.focus(cell)
        click(screen, "erase")
        assert screen.digits()[cell] == 0
        assert screen.js("return Number(document.activeElement.dataset.cell)") == cell
        assert not is_shown(screen, ERASE)
        screen.press("Control+z")
        assert screen.digits() == board.cells.tolist()

    def test_clues_stay_while_one_solves(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        screen.focus(int(collection.load("2b").cells.nonzero()[0][0]))
        assert is_shown(screen, ERASE)
        click(screen, "solving")
        assert not is_shown(screen, ERASE)
        screen.focus(0)
        screen.press("5")
        assert is_shown(screen, ERASE)


class TestFewest:
    @pytest.mark.parametrize("name", ["2b", "empty"])
    def test_it_is_told_where_no_digit_makes_it_unique(self, screen: Screen, name: str) -> None:
        board = collection.load(name)
        screen.open(link(board))
        screen.settle()
        shares = gpusudoku.solutions(board, device="cpu").shares().tolist()
        least, cell, digit = min(
            (share, cell, digit)
            for cell, row in enumerate(shares)
            for digit, share in enumerate(row, 1)
            if share and not board.cells[cell]
        )
        assert least > 1
        side = len(shares[0])
        place = f"r{cell // side + 1}c{cell % side + 1}"
        assert screen.text("[data-part=unique-placements]") == (
            "No single digit makes it unique; the fewest solutions are left by "
            f"{digit} in {place}: {least:,}."
        )
        click(screen, "next-unique")
        assert screen.js("return Number(document.activeElement.dataset.cell)") == cell

    def test_one_that_makes_it_unique_is_told_instead(self, screen: Screen) -> None:
        whole = collection.load("a1")
        for cell in whole.cells.nonzero()[0]:
            board = Board([0 if at == cell else digit for at, digit in enumerate(whole.cells)])
            shares = gpusudoku.solutions(board, device="cpu").shares().tolist()
            empty = (row for row, digit in zip(shares, board.cells, strict=True) if not digit)
            unique = sum(row.count(1) for row in empty)
            if gpusudoku.count(board, device="cpu").count > 1 and unique > 1:
                break
        assert unique > 1
        screen.open(link(board))
        screen.settle()
        assert screen.text("[data-part=unique-placements]") == f"{unique} placements make it unique"

    def test_nothing_moves_when_it_comes(self, screen: Screen) -> None:
        top = "return document.querySelector('[data-part=solutions]').getBoundingClientRect().top"
        for width in (1280, 390):
            screen.resize(width, 800)
            tops = set()
            for name in ("2b", "a1", "empty"):
                screen.open(link(collection.load(name)))
                screen.settle()
                tops.add(screen.js(f"scrollTo(0, 0); {top}"))
            assert len(tops) == 1, width


class TestOldCounts:
    def test_a_count_is_not_faded_while_its_shares_are_worked_out(self, screen: Screen) -> None:
        screen.open(link(collection.load("2d")))
        screen.settle()
        screen.js(HOLD, "/shares")
        screen.focus(int(collection.load("2d").cells.nonzero()[0][0]))
        screen.press("Delete")
        screen.until(
            "return Number(document.querySelector('[data-part=count]').dataset.count) > 1014785"
        )
        assert screen.js("return document.querySelector('[data-part=panel]').ariaBusy") == "true"
        assert not screen.js(IS_FADED)

    def test_an_old_count_is_faded(self, screen: Screen) -> None:
        screen.open(link(collection.load("2d")))
        screen.settle()
        screen.js(HOLD, "/count")
        screen.focus(int(collection.load("2d").cells.nonzero()[0][0]))
        screen.press("Delete")
        assert screen.js(IS_FADED)

    def test_the_count_of_another_shape_goes_at_once(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        assert screen.count() == 276
        screen.js(HOLD, "/count")
        said = screen.js(
            "const menu = document.querySelector('[data-action=size]'); menu.value = '2x3';"
            "menu.dispatchEvent(new Event('change', { bubbles: true }));"
            "return ['count', 'words', 'method'].map((part) =>"
            " document.querySelector(`[data-part=${part}]`).textContent)"
        )
        assert said == ["", "", ""]


def test_a_board_that_is_filled_in_is_solved(screen: Screen) -> None:
    board = collection.load("a1")
    solution = gpusudoku.solve(board).board
    assert solution is not None
    edits = Board([0 if clue else digit for digit, clue in
                   zip(solution.cells, board.cells, strict=True)])  # fmt: skip
    screen.open(link(board, "solving", edits))
    screen.settle()
    assert screen.text("[data-part=badge]") == "solved"
    click(screen, "setting")
    assert screen.text("[data-part=badge]") == "unique"
    click(screen, "solving")
    assert screen.text("[data-part=badge]") == "solved"


def test_why_no_clues_can_be_removed(screen: Screen) -> None:
    screen.open(link(collection.load("2b")))
    screen.settle()
    button = screen.driver.find_element("css selector", "[data-action=minimise]")
    assert not button.is_enabled()
    assert button.get_attribute("title") == "Needs a board with one solution"
    assert "a random puzzle" in screen.text("[data-part=reducing]")
    screen.js("location.hash = arguments[0]", link(collection.load("a1")))
    screen.until("return !document.querySelector('[data-action=minimise]').disabled")
    assert button.get_attribute("title") == ""


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_who_solves_does_not_see_that_a_digit_is_wrong(
    screen: Screen, size: tuple[int, int]
) -> None:
    board = collection.load("a1")
    solution = gpusudoku.solve(board, device="cpu").board
    assert solution is not None
    cell = board.cells.tolist().index(0)
    right = int(solution.cells[cell])
    wrong = next(
        digit
        for digit in range(1, 10)
        if digit != right and int(board.candidates[cell]) >> digit - 1 & 1
    )
    screen.resize(*size)
    screen.open(link(board, "solving"))
    seen = []
    for digit in (right, wrong):
        screen.focus(cell)
        screen.press(str(digit))
        screen.settle()
        screen.until("return document.querySelector('[data-part=spoken]').textContent")
        seen.append(screen.js(
            "const parts = document.querySelectorAll('.gs-side, [data-part=line]');"
            "return [[...parts].map((each) => each.textContent.replace(/holds \\d/, '')),"
            " [...document.querySelectorAll('button:disabled')].map((each) => each.dataset.action)]"
        ))  # fmt: skip
    assert seen[0] == seen[1]
    click(screen, "shares")
    assert screen.count() == 0


def test_what_each_digit_leaves_is_hidden_from_who_solves(screen: Screen) -> None:
    leaves = "[data-part=leaves-list]", "[data-part=unique-placements]"
    screen.open(link(collection.load("2b"), "solving"))
    screen.settle()
    assert screen.text("[data-part=badge]") == "hidden while you solve"
    assert not any(is_shown(screen, each) for each in leaves)
    assert "Shares" in screen.text("[data-part=leaves-message]")
    screen.driver.find_element("css selector", ".gs-controls [data-action=shares]").click()
    assert all(is_shown(screen, each) for each in leaves)
    assert screen.count() == 276
    assert screen.text("[data-part=badge]") == "not unique"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4, "about 4.0 s"),
        (9000, "about 3 hours"),
        (9e7, "about 3 years"),
        (9e8, "decades or longer"),
        (6e11, "more than a thousand years"),
        (1e300, "more than a thousand years"),
    ],
)
def test_no_price_is_told_that_nobody_knows(screen: Screen, seconds: float, text: str) -> None:
    screen.open()
    found = screen.js(
        "return import('/page/numbers.js').then(({ price }) => price(arguments[0]))", seconds
    )
    assert found.replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("facts", "said", "offered"),
    [
        ({"seconds": 6e11}, "Counting this board should take more than a thousand years.", True),
        ({"seconds": None}, "It takes too long. It found at least 1,234.", True),
        ({"seconds": 6e11, "final": True}, "Counting this board should take more than", False),
    ],
)
def test_it_is_offered_to_go_on_where_that_can_end(
    tab: Screen, facts: dict[str, object], said: str, offered: bool
) -> None:
    tab.open(link(collection.load("2b")))
    error = {"error": "it takes too long", "kind": "expensive", "at_least": "1234", **facts}
    tab.js(
        "const real = window.fetch; const [error] = arguments;"
        "window.fetch = (address, request) => address !== '/count' ? real(address, request)"
        " : Promise.resolve(Response.json(error, { status: 422 }))",
        error,
    )
    tab.focus(0)
    tab.press("5")
    note = "return document.querySelector('[data-part=note]').textContent"
    assert tab.until(note).startswith(said)
    assert is_shown(tab, "[data-action=count-anyway]") == offered


@pytest.mark.parametrize(
    ("parts", "whole", "texts"),
    [
        ([2200, 989, 6811], 10000, ["22.00 %", "9.89 %", "68.11 %"]),
        ([25, 75], 100, ["25 %", "75 %"]),
        ([0, 125, 875], 1000, ["0 %", "12.5 %", "87.5 %"]),
        ([1, 99999999], 10**8, ["< 0.01 %", "> 99.99 %"]),
        ([9996, 4, 0], 10000, ["99.96 %", "0.04 %", "0 %"]),
        ([10**30, 0], 10**30, ["100 %", "0 %"]),
        ([0, 0], 0, ["0 %", "0 %"]),
    ],
)
def test_percentages_of_a_list_have_equally_many_decimals(
    screen: Screen, parts: list[int], whole: int, texts: list[str]
) -> None:
    screen.open()
    found = screen.js(
        "return import('/page/numbers.js').then(({ percents }) =>"
        " percents(arguments[0].map(BigInt), BigInt(arguments[1])))",
        *([str(each) for each in parts], str(whole)),
    )
    assert [each.replace("\u00a0", " ") for each in found] == texts
