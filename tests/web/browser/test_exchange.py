"""Boards that are copied and pasted, and links: their shape, where, and what is told of others."""

import json

import pytest

import gpusudoku
from gpusudoku import collection
from tests.boards import PUZZLE
from tests.web.browser.acting import (
    NOTE,
    cells_of_class,
    click,
    copy,
    load,
    wait_for_board,
    wait_for_note,
)
from tests.web.browser.screen import link

BOARD = gpusudoku.parse(PUZZLE)
OTHER = collection.load("2b")
ROWS = [PUZZLE[at : at + 9] for at in range(0, 81, 9)]
FORMS = PUZZLE, "#Apuzzle\n" + "\n".join(ROWS) + "\n", json.dumps(BOARD.grid.tolist())
NO_BOARD = "This link contains no board."


class TestPaste:
    def test_forms(self, screen):
        """Each is one step to undo."""
        screen.open(link(OTHER))
        screen.focus(0)
        for text in FORMS:
            screen.paste(text)
            wait_for_board(screen, BOARD)
            screen.press("Control+z")
            wait_for_board(screen, OTHER)
        screen.press("Control+y")
        assert screen.count() == 1

    def test_shapes(self, screen):
        """An unusual one is copied, too; of a line without one that of the page is meant."""
        screen.open()
        for name in ("box3x2-few", "box1x5-few", "2b", "16x16-few"):
            board = collection.load(name)
            load(screen, board)
            screen.focus(0)
            copied = copy(screen)
            assert gpusudoku.parse(copied) == board
            assert (copied == str(board)) == (name not in ("box3x2-few", "box1x5-few"))
            click(screen, "new")
            screen.paste(str(board))
            wait_for_board(screen, board)
            load(screen, BOARD)
            screen.paste(copied)
            wait_for_board(screen, board)
        assert screen.count() == gpusudoku.count(board, device="cpu").count

    def test_a_board_is_pasted_anywhere_but_where_one_writes(self, screen):
        for place in ("h1", "[type=range]", "body"):
            screen.open(link(OTHER))
            screen.settle()
            screen.driver.find_element("css selector", place).click()
            screen.paste(PUZZLE)
            wait_for_board(screen, BOARD)
            assert copy(screen) == str(BOARD)
        field = screen.driver.find_element("css selector", "[data-part=number]")
        field.click()
        screen.paste(str(OTHER))
        screen.until("return arguments[0].value !== ''", field)
        wait_for_board(screen, BOARD)

    def test_a_single_digit_is_typed(self, screen):
        screen.open(link(BOARD))
        screen.focus(1)
        screen.paste("5\n")
        screen.until("return document.querySelectorAll('.gs-digit').length === arguments[0]",
                     BOARD.clues + 1)  # fmt: skip
        assert screen.digits()[1] == 5


class TestWhatIsNoBoard:
    def test_it_is_told_until_a_board_comes(self, screen):
        """Even if that stands there already; and the browser complains of nothing."""
        screen.open(link(BOARD))
        screen.focus(0)
        for text, said in {
            "hello": "This text contains no board.",
            "12345": "5 cells make no board, the nearest is 4x4 with 16.",
            "https://example.org/puzzle": NO_BOARD,
            "#3x3/setting/123": NO_BOARD,
            "." * 25: "25 cells: a board of 5 rows has no boxes of at least 2 rows. "
            'Write a Latin square as {"board": "…", "box": "1x5"}.',  # not "use --box"
        }.items():
            screen.paste(text)
            wait_for_note(screen, said)
            wait_for_board(screen, BOARD)
            screen.paste(PUZZLE)
            wait_for_note(screen, "")
        wait_for_board(screen, BOARD)

    def test_nothing_in_it_is_run_or_asked_for(self, screen):
        evil = "<img src=x onerror='window.evil = 1'><script>window.evil = 1</script>"
        screen.open(f"#{evil}")
        assert not any(screen.digits())
        screen.focus(0)
        screen.paste(evil)
        screen.until(NOTE)
        found = screen.js("return [window.evil, document.querySelectorAll('#app img').length]")
        assert found == [None, 0]
        assert not [url for url in screen.requests() if url.endswith("/x")]


@pytest.mark.usefixtures("expects_errors")
def test_a_box_shows_the_text_before_it_is_used(screen):
    """And an error beside the text."""
    screen.open()
    for text, said in {"12345": "5 cells make no board, the nearest is 4x4", PUZZLE: ""}.items():
        screen.allow_clipboard()
        screen.driver.execute_async_script(
            "navigator.clipboard.writeText(arguments[0]).then(arguments[1])", text
        )
        click(screen, "paste")
        area = "return document.querySelector('.gs-exchange textarea').value === arguments[0]"
        screen.until(area, text)
        assert not any(screen.digits())
        click(screen, "read")
        if said:
            error = "return document.querySelector('.gs-exchange-error').textContent"
            assert said in screen.until(error)
            screen.press("Escape")
    screen.until("return document.querySelector('.gs-exchange').hidden")
    wait_for_board(screen, BOARD)
    assert screen.js("return document.activeElement.matches('.gs-cell')")


class TestLinks:
    def test_the_address_holds_the_board(self, screen):
        """With its shape, its clues and its edits; whoever opens it sees the same."""
        screen.open("#2x3/setting/" + "0" * 36)
        screen.focus(3)
        screen.press("4")
        click(screen, "solving")
        screen.focus(7)
        screen.press("6")
        screen.until("return location.hash.includes('solving') && location.hash.includes('6')")
        before = (
            screen.digits(),
            cells_of_class(screen, "gs-clue"),
            cells_of_class(screen, "gs-edit"),
        )
        assert before[1:] == ([3], [7])
        address = screen.js("return location.hash")
        screen.open(address)
        assert (
            screen.digits(),
            cells_of_class(screen, "gs-clue"),
            cells_of_class(screen, "gs-edit"),
        ) == before
        assert screen.js("return location.hash") == address

    def test_a_copied_link_and_copied_text(self, screen):
        screen.open(link(BOARD))
        for action, right in {"link": screen.url + link(BOARD), "copy": str(BOARD)}.items():
            screen.allow_clipboard()
            click(screen, action)
            screen.until("return document.querySelector('.gs-message').textContent")
            assert screen.clipboard() == right

    def test_one_comes_back_to_the_board_that_one_left(self, screen):
        screen.open(link(OTHER))
        screen.focus(0)
        screen.press("7")
        screen.driver.get("about:blank")
        screen.driver.back()
        screen.until("return document.querySelectorAll('.gs-clue').length === 22")
        assert screen.digits()[0] == 7
        assert screen.count() == gpusudoku.count(screen.digits(), device="cpu").count

    def test_one_that_is_pasted_is_opened(self, screen):
        screen.open()
        for start in ("", screen.url):
            screen.focus(0)
            screen.paste(start + link(BOARD, "solving", OTHER))
            pressed = "return document.querySelector('[data-action=solving]').ariaPressed"
            screen.until(f"{pressed} === 'true'")
            assert cells_of_class(screen, "gs-clue") == BOARD.cells.nonzero()[0].tolist()
            click(screen, "new")
            click(screen, "setting")

    @pytest.mark.parametrize("bad", ["#26x1/setting/1", "#top", link(BOARD)[:-1]])
    def test_one_without_a_board(self, screen, bad):
        screen.open(bad)
        wait_for_note(screen, NO_BOARD)
        assert screen.js("return location.hash") == "#3x3/setting/" + "0" * 81
        screen.press("7")
        wait_for_note(screen, "")
        load(screen, BOARD)
        screen.js("location.hash = arguments[0]", bad)
        wait_for_note(screen, NO_BOARD)
        wait_for_board(screen, BOARD)
        screen.until("return location.hash === arguments[0]", link(BOARD))
