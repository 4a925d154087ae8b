"""Everybody can use the page: the keyboard alone, a screen reader, and the help."""

from gpusudoku import collection
from tests.web.browser.acting import CANDIDATES, click, go_to
from tests.web.browser.screen import link

CONTROLS = """
const names = "button, select, input, textarea, a[href], summary, [tabindex]";
return [...document.querySelectorAll(names)].filter((each) =>
  each.checkVisibility({ visibilityProperty: true }) && !each.disabled && each.id !== "app");
"""
"""Elements that are for use."""

TAB_STOPS = f"""
window.stops = (() => {{ {CONTROLS} }})().filter((each) => each.tabIndex >= 0);
return stops.length;
"""
FOCUSED_STOP = "return stops.indexOf(document.activeElement)"

LABELS = "return [...document.querySelectorAll('.gs-cell')].map((each) => each.ariaLabel)"
LIVE = "return document.querySelector('[aria-live=polite]').textContent"


class TestKeyboardAlone:
    def test_tab_reaches_every_control_and_is_seen(self, screen):
        """Of lists and grids one element, as the arrow keys move in them."""
        screen.open(link(collection.load("2b")))
        screen.draw()
        stops = screen.js(TAB_STOPS)
        assert stops > 15
        reached: set[int] = set()
        for _ in range(stops + 10):
            screen.press("Tab")
            reached.add(screen.js(FOCUSED_STOP))
            style = screen.js(
                "const style = getComputedStyle(document.activeElement);"
                "return document.activeElement === document.body ? null"
                " : [style.outlineStyle, parseFloat(style.outlineWidth), style.boxShadow]"
            )
            assert style is None or (style[0] != "none" and style[1] >= 1) or style[2] != "none"
        assert set(range(stops)) <= reached

    def test_candidates_can_be_walked_through(self, screen):
        screen.open(link(collection.load("2b")))
        screen.focus(0)
        screen.press("Shift+ArrowRight")
        pointed = screen.until("return document.querySelector('[data-pointed]')?.dataset.digit")
        screen.press("Enter")
        assert screen.digits()[0] == int(pointed)

    def test_it_goes_on_when_the_button_that_was_pressed_is_hidden_or_off(self, screen):
        board = collection.load("a2")  # which has nine solutions
        screen.open(link(board))
        screen.settle()
        for start, action, place in [
            ("8", "next", "[data-action=previous]"), ("2", "previous", "[data-action=first]"),
            ("5", "hide", ".gs-cell"), ("5", "use", ".gs-cell"),
        ]:  # fmt: skip
            go_to(screen, start)
            screen.until("return document.querySelector('.gs-shown') !== null")
            screen.until(
                "const button = document.querySelector(arguments[0]); button.focus();"
                "return document.activeElement === button",
                f"[data-part=solutions] button[data-action={action}]",
            )
            screen.press("Enter")
            screen.until("return document.activeElement.matches(arguments[0])", place)
        screen.press("Control+z")
        assert screen.digits() == board.cells.tolist()


class TestScreenReader:
    def test_every_control_has_a_name_with_the_text_that_is_seen(self, screen):
        screen.open(link(collection.load("2b")))
        screen.settle()
        screen.focus(0)
        for each in screen.js(CONTROLS):
            if each.get_attribute("role") != "gridcell":
                assert each.accessible_name, each.get_attribute("outerHTML")
        buttons = screen.driver.find_elements("css selector", "[data-part=panel] button")
        texts = {each.accessible_name: " ".join(each.text.split()) for each in buttons}
        assert len(texts) > 12
        assert [name for name, text in texts.items() if text not in " ".join(name.split())] == []

    def test_the_grid_is_a_grid(self, screen):
        screen.open(link(collection.load("box2x3-few")))
        grid = screen.driver.find_element("css selector", "[role=grid]")
        assert "6" in grid.accessible_name
        assert len(grid.find_elements("css selector", "[role=row]")) == 6
        cells = grid.find_elements("css selector", "[role=row] > [role=gridcell]")
        assert len(cells) == 36
        assert [each.get_property("tabIndex") for each in cells].count(0) == 1
        for at, each in enumerate(cells):
            row, column = divmod(at, 6)
            assert each.accessible_name.startswith(f"row {row + 1}, column {column + 1}, ")

    def test_the_small_digits_of_a_cell_are_told(self, screen):
        screen.open(link(collection.load("2b")))
        screen.settle()
        for action in ("shares", "candidates"):
            pressed = f"return document.querySelector('[data-action={action}]').ariaPressed"
            if screen.js(pressed) != "true":
                click(screen, action)
            screen.draw()
            seen = screen.js(CANDIDATES)
            assert sum(map(len, seen)) > 100
            for digits, label in zip(seen, screen.js(LABELS), strict=True):
                assert not digits or f": {' '.join(map(str, digits))};" in f"{label};"

    def test_the_count_is_told(self, screen):
        screen.open(link(collection.load("2b")))
        screen.until(f"{LIVE} === '276 solutions.'")
        screen.js("location.hash = arguments[0]", link(collection.load("a1")))
        screen.until(f"{LIVE} === 'Unique: one solution.'")
        screen.js("location.hash = arguments[0]", link(collection.load("conflict-row")))
        screen.until(f"{LIVE}.startsWith('No solution. ')")


class TestHelp:
    def test_it_opens_and_escape_closes_it(self, screen):
        """Keys in it change no board."""
        screen.open()
        screen.focus(0)
        screen.press("5")
        click(screen, "help")
        assert screen.js("return document.querySelector('dialog').open")
        text = screen.text("dialog")
        for word in ("Backspace", "letter A is 10", "Struck out", "Ochre ring", "Set clues"):
            assert word in text
        assert "gpusudoku serve runs at the same address" in text
        screen.press("Control+z", "7", "Escape")
        screen.until("return !document.querySelector('dialog').open")
        assert screen.js("return document.activeElement.dataset.action") == "help"
        assert screen.digits()[0] == 5
