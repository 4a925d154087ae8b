"""Everybody can use the page: small screens, dark ones, the keyboard alone, a screen reader."""

from __future__ import annotations

import pytest
from screen import Screen, link

from gpusudoku import Board, collection

BOARDS = ["2b", "a1", "conflict-row", "box2x3-few", "16x16-few", "25x25-few"]
LEAST_CONTRAST = 4.5
"""Of text, as the guidelines for accessible pages ask."""

CONTRASTS = """
const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = ([r, g, b, a], under) =>
  [r, g, b].map((each, at) => each * a + under[at] * (1 - a));
const background = (element) => {
  const layers = [];
  for (let each = element; each !== null; each = each.parentElement) {
    layers.unshift(rgba(getComputedStyle(each).backgroundColor));
  }
  return layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
};
const opacity = (element) =>
  element === null ? 1 : Number(getComputedStyle(element).opacity) * opacity(element.parentElement);
const light = (colour) => {
  const [r, g, b] = colour.map((each) => each / 255).map((each) =>
    each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const faint = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const style = getComputedStyle(element);
  if (!own || !element.checkVisibility({ visibilityProperty: true })) continue;
  if (element.closest(":disabled, .gs-candidates, .gs-hidden, script, noscript")) continue;
  const under = background(element);
  const [r, g, b, a] = rgba(style.color);
  const text = over([r, g, b, a * opacity(element)], under);
  const [low, high] = [light(text), light(under)].sort((one, other) => one - other);
  const contrast = (high + 0.05) / (low + 0.05);
  if (contrast < arguments[0]) faint.push([element.textContent, element.className, contrast]);
}
return faint;
"""
"""Texts that stand out less than they should: text, class, contrast. What is off may be faint, and
small candidates are faint where few solutions have them."""

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

OUTSIDE = """
return [...document.querySelectorAll("button, select, input, [role=gridcell]")].filter((each) => {
  if (!each.checkVisibility({ visibilityProperty: true })) return false;
  if (each.closest(".gs-frame")) return false;  // it scrolls by itself
  const box = each.getBoundingClientRect();
  return box.left < 0 || box.right > innerWidth || box.width === 0;
}).map((each) => each.outerHTML);
"""


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_is_wider_than_the_screen(screen: Screen, width: int, name: str) -> None:
    screen.resize(width, 800, touch=width < 500)
    screen.open(link(collection.load(name)))
    screen.draw()
    assert screen.js("return document.documentElement.scrollWidth") <= width
    assert screen.js(OUTSIDE) == []


def test_a_finger_types(screen: Screen) -> None:
    """A tap on a cell, and one on the keypad."""
    screen.resize(360, 740, touch=True)
    board = collection.load("2b")
    screen.open(link(board))
    cell = board.cells.tolist().index(0)
    for selector in (f".gs-cell[data-cell='{cell}']", ".gs-keypad button[data-digit='7']"):
        screen.js("document.querySelector(arguments[0]).scrollIntoView()", selector)
        place = screen.js(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return { x: box.x + box.width / 2, y: box.y + box.height / 2 }",
            selector,
        )
        screen.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
        screen.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    screen.until(
        "return document.querySelector(arguments[0]).textContent === '7'",
        f".gs-cell[data-cell='{cell}'] .gs-digit",
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["2b", "a1", "conflict-row"])
def test_texts_stand_out(screen: Screen, dark: bool, name: str) -> None:
    screen.dark(dark)
    screen.open(link(collection.load(name)))
    screen.draw()
    assert screen.js(CONTRASTS, LEAST_CONTRAST) == []
    paper = screen.js("return getComputedStyle(document.documentElement).backgroundColor")
    channels = [int(each) for each in paper.removeprefix("rgb(").removesuffix(")").split(",")]
    assert (max(channels) < 60) if dark else (min(channels) > 240)


@pytest.mark.parametrize("kind", ["out", "plain"])
def test_the_tint_of_a_cell_is_seen_behind_its_small_digits(screen: Screen, kind: str) -> None:
    """Behind those in no solution, and behind shares."""
    screen.open(link(collection.load("2b")))
    screen.settle()
    screen.draw()
    alphas = screen.js(
        "const canvas = document.createElement('canvas').getContext('2d', {"
        " willReadFrequently: true });"
        "return [...document.querySelectorAll('.gs-candidate:not(.gs-none)')].filter((each) =>"
        " each.matches('.gs-out') === (arguments[0] === 'out')).map((each) => {"
        "  canvas.clearRect(0, 0, 1, 1);"
        "  canvas.fillStyle = getComputedStyle(each).backgroundColor;"
        "  canvas.fillRect(0, 0, 1, 1);"
        "  return canvas.getImageData(0, 0, 1, 1).data[3]; })",
        kind,
    )
    assert alphas
    assert max(alphas) == 0 if kind == "out" else max(alphas) < 255


@pytest.mark.parametrize("size", [(1366, 625), (1280, 900), (390, 844)])
@pytest.mark.parametrize("name", ["2b", "16x16-few"])
def test_a_small_digit_stands_at_one_place_in_all_cells(
    screen: Screen, size: tuple[int, int], name: str
) -> None:
    screen.resize(*size)
    screen.open(link(collection.load(name)))
    screen.settle()
    for kind in ("shares", "candidates"):
        if kind == "candidates":
            screen.js("document.querySelector('[data-action=candidates]').click()")
        screen.draw()
        places = screen.js(
            "const places = {};"
            "for (const each of document.querySelectorAll('.gs-candidate:not(.gs-none)')) {"
            "  const cell = each.closest('.gs-cell').getBoundingClientRect();"
            "  const { x, y, height } = each.getBoundingClientRect();"
            "  (places[each.textContent] ??= {})[[x - cell.x, y - cell.y, height]] = true;"
            "} return Object.values(places).map((each) => Object.keys(each))"
        )
        assert all(len(each) == 1 for each in places)
        assert "." not in str(places)


class TestDoubleClick:
    def place(self, screen: Screen) -> dict[str, float]:
        """Where a candidate is."""
        screen.open(link(collection.load("2b")))
        screen.settle()
        screen.draw()
        place: dict[str, float] = screen.js(
            "const candidate = document.querySelector('.gs-candidate:not(.gs-none)');"
            "const box = candidate.getBoundingClientRect();"
            "return { x: box.x + box.width / 2, y: box.y + box.height / 2 }"
        )
        return place

    def test_the_mouse_writes(self, screen: Screen) -> None:
        place = self.place(screen)
        for clicks in (1, 2):
            for type_ in ("mousePressed", "mouseReleased"):
                screen.cdp("Input.dispatchMouseEvent", type=type_, button="left",
                           clickCount=clicks, **place)  # fmt: skip
        assert sum(map(bool, screen.digits())) == collection.load("2b").clues + 1

    def test_a_finger_does_not(self, screen: Screen) -> None:
        screen.resize(390, 844, touch=True)
        place = self.place(screen)
        screen.js("window.taps = 0; addEventListener('click', () => taps++)")
        for _ in range(2):
            screen.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
            screen.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        screen.until("return taps === 2")
        screen.draw()
        assert screen.digits() == collection.load("2b").cells.tolist()


def test_who_solves_sees_no_shares_at_first(screen: Screen) -> None:
    shown = "return document.querySelector('.gs-candidates:not([hidden])') !== null"
    screen.open(link(collection.load("2b")))
    screen.settle()
    screen.until(shown)
    solve, shares = (
        screen.driver.find_element("css selector", f"[data-action={action}]")
        for action in ("solving", "shares")
    )
    solve.click()
    screen.until(f"return !(() => {{ {shown} }})()")
    assert shares.get_attribute("aria-pressed") == "false"
    screen.driver.find_element("css selector", ".gs-controls [data-action=shares]").click()
    screen.until(shown)


def pressed(screen: Screen) -> list[str]:
    """Which small digits are chosen."""
    chosen: list[str] = screen.js(
        "return [...document.querySelectorAll('.gs-controls [aria-pressed=true]')].map((each) =>"
        " each.dataset.action).filter((each) => ['candidates', 'shares'].includes(each))"
    )
    return chosen


def test_candidates_and_shares_take_each_other_s_place(screen: Screen) -> None:
    plain = (
        "return [...document.querySelectorAll('.gs-candidates:not([hidden]) > :not(.gs-none)')]"
        ".map((each) => each.matches('.gs-plain'))"
    )
    screen.open(link(collection.load("2b")))
    screen.settle()
    screen.draw()
    assert pressed(screen) == ["shares"]
    for action in ("candidates", "shares"):
        screen.js(f"document.querySelector('.gs-controls [data-action={action}]').click()")
        screen.draw()
        assert pressed(screen) == [action]
        assert set(screen.js(plain)) == {action == "candidates"}
        # Of a solution they take the place, too.
        screen.driver.find_element("css selector", "[data-action=random]").click()
        screen.until("return document.querySelector('.gs-shown') !== null")


def test_each_mode_keeps_the_small_digits_that_were_chosen(screen: Screen) -> None:
    screen.open(link(collection.load("2b")))
    screen.settle()
    for action, shown in [
        ("shares", []), ("solving", []), ("shares", ["shares"]), ("setting", []),
        ("candidates", ["candidates"]), ("solving", ["shares"]), ("setting", ["candidates"]),
    ]:  # fmt: skip
        screen.js(f"document.querySelector('.gs-controls [data-action={action}]').click()")
        assert pressed(screen) == shown


class TestKeyboardAlone:
    def test_tab_reaches_every_control(self, screen: Screen) -> None:
        """Of lists and grids one element, as the arrow keys move in them."""
        screen.open(link(collection.load("2b")))
        screen.draw()
        stops = screen.js(TAB_STOPS)
        assert stops > 15
        reached: set[int] = set()
        for _ in range(stops + 10):
            screen.press("Tab")
            reached.add(screen.js(FOCUSED_STOP))
        assert set(range(stops)) <= reached

    def test_what_has_the_focus_is_seen(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        for _ in range(12):
            screen.press("Tab")
            style = screen.js(
                "const style = getComputedStyle(document.activeElement);"
                "return document.activeElement === document.body ? null"
                " : [style.outlineStyle, parseFloat(style.outlineWidth), style.boxShadow]"
            )
            assert style is None or (style[0] != "none" and style[1] >= 1) or style[2] != "none"

    def test_candidates_can_be_walked_through(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        screen.focus(0)
        screen.press("Shift+ArrowRight")
        pointed = screen.until("return document.querySelector('[data-pointed]')?.dataset.digit")
        screen.press("Enter")
        assert screen.digits()[0] == int(pointed)


class TestScreenReader:
    def test_every_control_has_a_name(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        names = {each.accessible_name or each.get_attribute("outerHTML")[:80]: each
                 for each in screen.js(CONTROLS)}  # fmt: skip
        assert [name for name in names if name.startswith("<")] == []

    def test_names_have_the_text_that_is_seen(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        screen.settle()
        screen.focus(0)
        buttons = screen.driver.find_elements("css selector", "[data-part=panel] button")
        texts = {each.accessible_name: " ".join(each.text.split()) for each in buttons}
        assert len(texts) > 12
        assert [name for name, text in texts.items() if text not in " ".join(name.split())] == []

    def test_the_grid_is_a_grid(self, screen: Screen) -> None:
        board = collection.load("box2x3-few")
        screen.open(link(board))
        grid = screen.driver.find_element("css selector", "[role=grid]")
        assert "6" in grid.accessible_name
        assert len(grid.find_elements("css selector", "[role=row]")) == 6
        cells = grid.find_elements("css selector", "[role=row] > [role=gridcell]")
        assert len(cells) == 36
        assert [each.get_property("tabIndex") for each in cells].count(0) == 1
        for at, each in enumerate(cells):
            row, column = divmod(at, 6)
            assert each.accessible_name.startswith(f"row {row + 1}, column {column + 1}, ")

    def test_the_small_digits_of_a_cell_are_told(self, screen: Screen) -> None:
        """All that are seen, in the order in which they stand there."""
        cells = collection.load("2b").cells.copy()
        cells[0] = 5
        screen.open(link(Board(cells)))
        screen.draw()
        screen.focus(0)
        screen.press("Backspace")  # so some of the digits come later than others
        for actions in ([], ["shares", "candidates"]):  # first with shares, then by the rules
            for action in actions:
                screen.driver.find_element(
                    "css selector", f".gs-controls [data-action={action}]"
                ).click()
            screen.settle()
            screen.draw()
            seen, untold = screen.js(UNTOLD)
            assert seen > 100
            assert untold == []

    def test_the_count_is_told(self, screen: Screen) -> None:
        screen.open(link(collection.load("2b")))
        live = "return document.querySelector('[aria-live=polite]').textContent"
        screen.until(f"{live} === '276 solutions.'")
        screen.js("location.hash = arguments[0]", link(collection.load("a1")))
        screen.until(f"{live} === 'Unique: one solution.'")

    def test_why_there_is_no_solution_is_told(self, screen: Screen) -> None:
        screen.open(link(collection.load("conflict-row")))
        live = "return document.querySelector('[aria-live=polite]').textContent"
        assert screen.until(live).startswith("No solution. ")


def test_no_digit_that_may_be_missing_is_told_as_100_percent(screen: Screen) -> None:
    screen.open()
    found = screen.js(
        "return import('/page/looks.js').then("
        "({ wordsByShares }) => wordsByShares([9960n, 39n, 1n], 10000n, 7))"
    )
    assert found.split("; ")[0] == "empty, 3 candidates: 1 2 3"
    assert found.split("; ")[1].replace("\u00a0", " ") == "1: 99.6 %, 2: 0.39 %, 3: 0.01 %"
