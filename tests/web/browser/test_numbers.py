"""Counts and shares on the page are those of the library, and are told as people tell them."""

import re

import pytest

import gpusudoku
from gpusudoku import collection
from tests.boards import puzzle
from tests.web.browser.acting import INTERCEPT, click, focus_of, is_shown, load
from tests.web.browser.screen import link, number

NAMES = [
    *("2b", "1d", "a1", "no-place", "needs-search", "full", "empty", "box2x2-many", "box3x2-many"),
    *("16x16-few", "25x25-few"),
]
BADGES = {0: "none", 1: "unique"}

PERCENTS = [
    ([25, 75], 100, "25 % 75 %"),
    ([2200, 989, 6811], 10000, "22.00 % 9.89 % 68.11 %"),
    ([1, 99999999], 10**8, "< 0.01 % > 99.99 %"),
    ([9996, 4, 0], 10000, "99.96 % 0.04 % 0 %"),
    ([10**30, 0], 10**30, "100 % 0 %"),
    ([0, 0], 0, "0 % 0 %"),
]
"""Parts of a whole, and what is told of them."""
READ_SHARES = """
const found = [];
for (const cell of document.querySelectorAll(".gs-cell")) {
  cell.focus();
  const list = document.querySelector("[data-part=leaves-list]");
  found.push(list.hidden ? null : [...list.querySelectorAll(".gs-leaf-number")].map(
    (each) => each.textContent));
}
return found;
"""
"""What each digit would leave in every cell, by the list beside the board."""
SPOKEN = "document.querySelector('[data-part=spoken]').textContent"


def assert_right(screen, board):
    """All numbers of the page are those of the library."""
    right = gpusudoku.solutions(board, device="cpu")
    assert screen.count() == right.count
    badge = screen.js("return document.querySelector('[data-part=badge]').dataset.kind")
    assert badge == BADGES.get(right.count, "several")
    if right.count:
        found = screen.js(READ_SHARES)
        shares = [row and [0 if text == "none" else number(text) for text in row] for row in found]
        assert shares == [
            None if digit else row
            for digit, row in zip(board.cells.tolist(), right.shares().tolist(), strict=True)
        ]


@pytest.mark.parametrize("name", NAMES)
def test_boards_of_the_collection(screen, name):
    board = collection.load(name)
    screen.open(link(board))
    assert_right(screen, board)


def test_random_boards(screen):
    """One after the other on the same page, by another link each."""
    screen.open("#2x2/setting/" + "0" * 16)
    for seed, (box, clues) in enumerate([("2x2", 5), ("2x3", 9), ("3x2", 8), ("3x3", 24)] * 2):
        board = puzzle(box, clues, seed)
        load(screen, board)
        assert_right(screen, board)


@pytest.mark.parametrize("name", ["2b", "empty", "a2"])
def test_what_a_digit_would_have_to_be_for_the_fewest_solutions(screen, name):
    board = collection.load(name)
    screen.open(link(board))
    screen.settle()
    shares = gpusudoku.solutions(board, device="cpu").shares().tolist()
    found = [
        (share, cell, digit)
        for cell, row in enumerate(shares)
        for digit, share in enumerate(row, 1)
        if share and not board.cells[cell]
    ]
    least, cell, digit = min(found)
    row, column = divmod(cell, 9)
    advice = (
        "No single digit makes it unique; the fewest solutions are left by "
        f"{digit} in r{row + 1}c{column + 1}: {least:,}."
    )
    if name == "a2":
        advice = f"{sum(share == 1 for share, *_ in found)} placements make it unique"
    assert screen.text("[data-part=unique-placements]") == advice
    click(screen, "next-unique")
    assert focus_of(screen) == cell


class TestWhileOneSolves:
    def test_it_is_not_seen_that_a_digit_is_wrong(self, screen):
        board = collection.load("a1")
        cell = board.cells.tolist().index(0)
        right = int(gpusudoku.solve(board).board.cells[cell])
        mask = int(board.candidates[cell])
        wrong = next(each for each in range(1, 10) if each != right and mask >> each - 1 & 1)
        for size in ((1280, 900), (390, 844)):
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
                    "const textOf = (part) => part.textContent.replace(/contains \\d/, '');"
                    "return [[...parts].map(textOf),"
                    " [...document.querySelectorAll('button:disabled')].map((each) =>"
                    " each.dataset.action)]"
                ))  # fmt: skip
            assert seen[0] == seen[1]
        click(screen, "shares")
        assert screen.count() == 0

    def test_what_each_digit_leaves_is_hidden(self, screen):
        leaves = "[data-part=leaves-list]", "[data-part=unique-placements]"
        screen.open(link(collection.load("2b"), "solving"))
        screen.settle()
        assert screen.text("[data-part=badge]") == "hidden while you solve"
        assert not any(is_shown(screen, each) for each in leaves)
        assert "Shares" in screen.text("[data-part=leaves-message]")
        click(screen, "shares")
        assert all(is_shown(screen, each) for each in leaves)
        assert screen.count() == 276
        assert screen.text("[data-part=badge]") == "not unique"


def test_percentages(screen):
    screen.open()
    told = screen.js(
        "return Promise.all([import('/page/numbers.js'), import('/page/looks.js')]).then("
        "([{ percents }, { wordsByShares }]) => [wordsByShares([9960n, 39n, 1n], 10000n, 7),"
        " ...arguments[0].map(([parts, whole]) =>"
        " percents(parts.map(BigInt), BigInt(whole)).join(' '))])",
        [(list(map(str, parts)), str(whole)) for parts, whole, _ in PERCENTS],
    )
    cell, *found = [each.replace("\u00a0", " ") for each in told]
    assert found == [text for *_, text in PERCENTS]
    said = "empty, 3 candidates: 1 2 3; 1: 99.6 %, 2: 0.39 %, 3: 0.01 %"
    assert cell.startswith(said)  # not 100 %


@pytest.mark.parametrize(("facts", "said", "offered"), [
    ({"seconds": 9000}, "Counting this board should take about 3 hours", True),
    ({"seconds": None}, "It takes too long. It found at least 1,234.", True),
    ({"seconds": 6e11, "final": True}, "Counting this board should take more than a thous", False),
])  # fmt: skip
def test_it_is_offered_to_go_on_where_that_can_end(screen, facts, said, offered):
    screen.open(link(collection.load("2b")))
    error = {"error": "it takes too long", "kind": "expensive", "at_least": "1234"}
    screen.js(INTERCEPT, "/count", {**error, "status": 422, **facts})
    screen.focus(0)
    screen.press("5")
    note = screen.until("return document.querySelector('[data-part=note]').textContent")
    assert note.replace("\u00a0", " ").startswith(said)
    assert is_shown(screen, "[data-action=count-anyway]") == offered


def test_a_count_that_is_too_expensive_is_estimated(screen):
    screen.open(link(collection.load("2b")))
    error = {"error": "it should take longer", "kind": "expensive", "at_least": "0"}
    screen.js(INTERCEPT, "/count", {**error, "status": 422, "seconds": 9000})
    screen.js("location.hash = arguments[0]", link(collection.load("empty")))
    # Screen readers are told the last estimate.
    screen.until(f"return {SPOKEN}.startsWith('About')")
    shown = screen.text("[data-part=count]")
    digits = re.fullmatch(r"~(6\.[5-8]\d*)e21", shown)[1]
    result = screen.text("[data-part=result]").replace("\u00a0", " ")
    interval = r"solutions, estimated \(95 %: 6\.[3-7]\d*e21 to 6\.[6-9]\d*e21\)"
    assert re.search(interval, result)
    assert "Counting this board should take about 3 hours." in result
    assert screen.text("[data-part=line]") == f"{shown} solutions"
    spoken = screen.js(f"return {SPOKEN}").replace("\u00a0", " ")
    assert spoken.startswith(f"About {digits} \u00d7 10^21 solutions, estimated (95 %: 6.")
    assert is_shown(screen, "[data-action=count-anyway]")

    screen.js("answered()")
    click(screen, "count-anyway")
    assert screen.count() == 6670903752021072936960
