"""Everybody can use the page: the keyboard alone, a screen reader, and the help."""

from screen import link

from gpusudoku import Board, collection
from tests.web.browser.acting import click

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

UNTOLD = """
const told = [...document.querySelectorAll(".gs-cell")].map((cell) => [
  [...cell.querySelectorAll(".gs-candidate")].filter((each) => each.checkVisibility()),
  cell.getAttribute("aria-label"),
]).map(([seen, label]) => [seen.length, seen.map((each) => each.textContent).join(" "), label]);
return [
  told.reduce((sum, [number]) => sum + number, 0),
  told.filter(([number, text, label]) => number > 0 && !`${label};`.includes(`: ${text};`)),
];
"""
"""How many small digits are seen, and the cells whose names do not have theirs."""
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
        """All that are seen, in the order in which they stand there."""
        cells = collection.load("2b").cells.copy()
        cells[0] = 5
        screen.open(link(Board(cells)))
        screen.draw()
        screen.focus(0)
        screen.press("Backspace")  # so some of the digits come later than others
        for actions in ([], ["shares", "candidates"]):  # first with shares, then by the rules
            for action in actions:
                click(screen, action)
            screen.settle()
            screen.draw()
            seen, untold = screen.js(UNTOLD)
            assert seen > 100
            assert untold == []

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

    def test_it_begins_with_its_heading_on_every_screen(self, screen):
        screen.open()
        for size in [(1280, 800), (390, 844), (640, 378), (640, 378)]:
            screen.resize(*size)
            click(screen, "help")
            top, bottom, *sides = screen.js(
                "const dialog = document.querySelector('dialog');"
                "const { top } = dialog.querySelector('h2').getBoundingClientRect();"
                "const box = dialog.getBoundingClientRect();"
                "return [top, dialog.querySelector('button').getBoundingClientRect().bottom,"
                " box.left, box.top, innerWidth - box.right, innerHeight - box.bottom]"
            )
            assert min(sides) >= 0
            assert 0 <= top < bottom
            screen.js("document.querySelector('dialog').scrollTop = 9999")
            screen.press("Escape")
            screen.until("return !document.querySelector('dialog').open")

    def test_menus_tell_shapes_clues_and_solutions_in_words(self, screen):
        screen.open()
        sizes, groups, examples = screen.js(
            "const menu = (name) => document.querySelector(`[data-action=${name}]`);"
            "return [[...menu('size').options].map((each) => each.text),"
            " [...menu('example').querySelectorAll('optgroup')].map((each) => each.label),"
            " [...menu('example').options].map((each) => each.text.replaceAll('\u00a0', ' '))]"
        )
        assert sizes[1] == "6x6, boxes 2x3"
        assert {"4x4", "6x6, boxes of 2 rows by 3 columns", "9x9"} <= set(groups)
        assert len(groups) == len(set(groups))
        assert {
            "1a: 28 clues, 1 solution",
            "1b: 22 clues, 4,715 solutions",
            "empty: no clues, 6.7 sextillion solutions",
            "no-place: 5 clues, no solutions",
        } <= set(examples)
