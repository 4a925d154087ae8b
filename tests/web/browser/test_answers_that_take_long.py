"""Answers that take long, come too late, or do not come: the newest edit counts."""

from random import Random

import pytest

import gpusudoku
from gpusudoku import collection
from tests.boards import puzzle
from tests.waiting import until
from tests.web.browser.acting import INTERCEPT, click, is_shown
from tests.web.browser.chromium import serving
from tests.web.browser.screen import Screen, link

LONG = puzzle("3x4", 40, 7)
"""Its count takes minutes."""
SOME = collection.load("2d")
IS_FADED = "return document.querySelector('[data-part=count]').closest('.gs-old') !== null"
NO_SMALL_DIGITS = """
return [...document.querySelectorAll(".gs-candidate")].every((each) => !each.checkVisibility());
"""


def count_anyway(screen, server):
    """Have a board counted that takes minutes, and wait until that has begun."""
    screen.open(link(collection.load("2b")))
    screen.js("location.hash = arguments[0]", link(LONG))
    screen.until("return document.querySelector('[data-action=count-anyway]').checkVisibility()")
    note = screen.text("[data-part=note]")
    assert "take about" in note or "longer than" in note
    click(screen, "count-anyway")
    screen.until("return document.querySelector('[data-action=cancel]').checkVisibility()")
    until(lambda: server.status()[0] == 1)


@pytest.mark.usefixtures("expects_errors")
class TestExpensive:
    def test_it_can_be_cancelled(self, screen, server):
        count_anyway(screen, server)
        click(screen, "cancel")
        server.until_idle()
        until(lambda: "Cancelled" in screen.text("[data-part=note]"))

    def test_a_newer_edit_overtakes_it(self, screen, server):
        count_anyway(screen, server)
        screen.js("location.hash = arguments[0]", link(collection.load("16x16-few")))
        screen.until("return document.querySelectorAll('.gs-cell').length === 256")
        assert screen.count() == 993
        server.until_idle()

    def test_a_page_that_is_left_is_worked_for_no_more(self, screen, server):
        count_anyway(screen, server)
        screen.driver.get("about:blank")
        server.until_idle()


@pytest.mark.parametrize("name", ["2b", "empty"])
def test_200_keys_in_a_row(screen, name):
    """Digits are typed, erased and typed over; of few clues no count is done before the next."""
    screen.open(link(collection.load(name)))
    screen.focus(0)
    rng = Random(1)
    keys = []
    for _ in range(50):
        keys += [rng.choice("123456789"), rng.choice(["ArrowRight", "ArrowDown", "Backspace"])]
        keys += [rng.choice("123456789"), "Backspace"]
    screen.press(*keys)
    assert screen.count() == gpusudoku.count(screen.digits(), device="cpu").count


class TestOldAnswers:
    """What is known of the board before does not stay for long beside a new board."""

    def erase_a_clue(self, screen, kind):
        """Wait for all that is known of a puzzle, then make it another; hold one answer back."""
        screen.open(link(SOME))
        assert screen.count() == 1014785
        assert not screen.js(NO_SMALL_DIGITS)
        screen.js(INTERCEPT, kind)
        screen.focus(int(SOME.cells.nonzero()[0][0]))
        screen.press("Delete")

    def test_the_count_is_faded_and_goes_when_the_new_one_takes_long(self, screen):
        self.erase_a_clue(screen, "/count")
        kind = "return document.querySelector('[data-part=badge]').dataset.kind"
        assert screen.js(IS_FADED) or screen.js(kind) == "unknown"
        screen.until(f"{kind} === 'unknown'")
        assert screen.js("return document.querySelector('[data-part=count]').dataset.count") is None
        screen.until(NO_SMALL_DIGITS)

    def test_shares_go_when_the_new_ones_take_long(self, screen):
        self.erase_a_clue(screen, "/shares")
        screen.until(NO_SMALL_DIGITS)
        screen.until("return document.querySelector('[data-part=count]').dataset.count > 1014785")
        assert not screen.js(IS_FADED)


@pytest.mark.usefixtures("expects_errors")
def test_the_page_goes_on_by_itself_once_the_server_is_there_again(screen):
    with serving() as server:
        screen = Screen(screen.driver, server.url)
        screen.open(link(collection.load("2b")))
        server.stop()
        screen.focus(0)
        screen.press("7")
        screen.until("return document.querySelector('[data-action=retry]').checkVisibility()")
        assert "server" in screen.text("[data-part=note]")
        server.start()
        assert screen.count() == gpusudoku.count(screen.digits(), device="cpu").count
        assert not is_shown(screen, "[data-action=retry]")
        screen.requests()  # to this server
