"""How the page looks: on small and dark screens, on paper, with small digits, on large boards."""

import pytest
from screen import link

from gpusudoku import collection
from tests.web.browser.acting import CANDIDATES, click, load

BOARDS = ["2b", "conflict-row", "box2x3-few", "16x16-few", "25x25-few"]
LEAST_CONTRAST = 4.5
"""Of text, as the guidelines for accessible pages ask."""

CONTRASTS = """
const options = { willReadFrequently: true };
const context = document.createElement("canvas").getContext("2d", options);
const rgba = (colour) => {
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = ([r, g, b, a], under) => [r, g, b].map((each, at) => each * a + under[at] * (1 - a));
const background = (element) => element === null ? [255, 255, 255]
  : over(rgba(getComputedStyle(element).backgroundColor), background(element.parentElement));
const opacity = (element) =>
  element === null ? 1 : Number(getComputedStyle(element).opacity) * opacity(element.parentElement);
const light = (colour) => colour.map((each) => each / 255).map((each) =>
  each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4).reduce((sum, each, at) =>
    sum + each * [0.2126, 0.7152, 0.0722][at], 0);
return [...document.querySelectorAll("body *")].filter((element) => {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || !element.checkVisibility({ visibilityProperty: true })) return false;
  if (element.closest(":disabled, .gs-candidates, .gs-hidden, script, noscript")) return false;
  const under = background(element);
  const [r, g, b, a] = rgba(getComputedStyle(element).color);
  const text = over([r, g, b, a * opacity(element)], under);
  const [low, high] = [light(text), light(under)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05) < arguments[0];
}).map((element) => [element.textContent, element.className]);
"""
"""Texts that stand out less than they should: text, class, contrast. What is off may be faint, and
small candidates are faint where few solutions have them."""

OUTSIDE = """
return [...document.querySelectorAll("button, select, input, [role=gridcell]")].filter((each) => {
  if (!each.checkVisibility({ visibilityProperty: true })) return false;
  if (each.closest(".gs-frame")) return false;  // it scrolls by itself
  const box = each.getBoundingClientRect();
  return box.left < 0 || box.right > innerWidth || box.width === 0;
}).map((each) => each.outerHTML);
"""

PLAIN = """
return [...document.querySelectorAll('.gs-candidates:not([hidden]) > :not(.gs-none)')].map(
  (each) => each.matches('.gs-plain'))
"""
SHORT = {
    "2b": "276 solutions",
    "a1": "unique",
    "conflict-row": "no solution",
    "empty": "6,670,903,752,021,072,936,960 solutions",
}
"""What the line below the board says of some."""


class TestSizes:
    @pytest.mark.parametrize("width", [360, 1600])
    def test_nothing_is_wider_than_the_screen(self, screen, width):
        screen.resize(width, 800, touch=width < 500)
        screen.open()
        for name in BOARDS:
            load(screen, collection.load(name))
            screen.draw()
            assert screen.js("return document.documentElement.scrollWidth") <= width
            assert screen.js(OUTSIDE) == []

    @pytest.mark.parametrize("size", [(360, 740), (768, 1024)])
    def test_on_phones_the_number_is_seen_while_one_types(self, screen, size):
        """And a conflict moves nothing."""
        screen.resize(*size, touch=True)
        screen.open()
        tops = set()
        for name, said in SHORT.items():
            load(screen, collection.load(name))
            screen.settle()
            bottom, cut, text, *places = screen.js(
                "const line = document.querySelector('[data-part=line]');"
                "return [line.getBoundingClientRect().bottom, line.scrollWidth - line.clientWidth,"
                " line.textContent, ...['.gs-keypad', '.gs-panel'].map((name) =>"
                " document.querySelector(name).getBoundingClientRect().top)]"
            )
            assert text == said
            assert bottom < size[1]
            assert cut <= 0
            tops.add(tuple(places))
        assert len(tops) == 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_stand_out(screen, dark):
    screen.dark(dark)
    screen.open()
    for name in ("2b", "a1", "conflict-row"):
        load(screen, collection.load(name))
        screen.settle()
        screen.draw()
        assert screen.js(CONTRASTS, LEAST_CONTRAST) == []
    paper = screen.js("return getComputedStyle(document.documentElement).backgroundColor")
    channels = [int(each) for each in paper.removeprefix("rgb(").removesuffix(")").split(",")]
    assert (max(channels) < 60) if dark else (min(channels) > 240)


class TestPaper:
    def test_the_board_alone_is_printed(self, screen):
        screen.open(link(collection.load("2b")))
        screen.settle()
        for width in (1280, 700, 390):
            screen.resize(width, 800)
            screen.cdp("Emulation.setEmulatedMedia", media="print")
            seen = screen.js(
                "return [...document.querySelectorAll('body *')].filter((each) =>"
                " each.checkVisibility() && [...each.childNodes].some((node) =>"
                " node.nodeType === 3 && node.data.trim())).map((each) => each.className)"
            )
            left, right = screen.js(
                "const { left, right } ="
                " document.querySelector('.gs-grid').getBoundingClientRect();"
                "return [left, document.documentElement.clientWidth - right]"
            )
            screen.cdp("Emulation.setEmulatedMedia", media="")
            assert 0 <= left <= right + 1 <= left + 2
            assert seen == ["gs-digit"] * collection.load("2b").clues

    def test_a_solution_is_black_in_a_picture(self, screen):
        screen.open(link(collection.load("2b")))
        click(screen, "random", "solutions")
        screen.until("return document.querySelector('.gs-shown') !== null")
        drawn = screen.js(
            "return Promise.all([import('/page/picture.js'), import('/page/puzzle.js')]).then("
            "([{ pictureOf }, { Puzzle }]) =>"
            " pictureOf(Puzzle.fromLink(location.hash), arguments[0]))",
            screen.digits(),
        )
        texts = [each for each in drawn.splitlines() if each.startswith("<text")]
        assert len(texts) == 81
        assert "fill=" not in "".join(texts)


class TestSmallDigits:
    def test_each_stands_at_one_place_in_all_cells(self, screen):
        screen.resize(1366, 625)
        screen.open()
        for name in ("2b", "16x16-few"):
            load(screen, collection.load(name))
            screen.settle()
            for action in ("candidates", "shares"):
                screen.js(f"document.querySelector('[data-action={action}]').click()")
                screen.draw()
                places = screen.js(
                    "const places = {};"
                    "for (const each of document.querySelectorAll("
                    "    '.gs-candidates:not([hidden]) > .gs-candidate:not(.gs-none)')) {"
                    "  const cell = each.closest('.gs-cell').getBoundingClientRect();"
                    "  const { x, y, height } = each.getBoundingClientRect();"
                    "  (places[each.textContent] ??= {})[[x - cell.x, y - cell.y, height]] = true;"
                    "} return Object.values(places).map((each) => Object.keys(each))"
                )
                assert all(len(each) == 1 for each in places)
                assert "." not in str(places)

    def test_each_mode_keeps_those_that_were_chosen(self, screen):
        """They take each other's place; and who solves sees no shares at first."""
        screen.open(link(collection.load("2b")))
        screen.settle()
        for action, shown in [
            ("shares", []), ("solving", []), ("shares", ["shares"]), ("setting", []),
            ("candidates", ["candidates"]), ("solving", ["shares"]), ("setting", ["candidates"]),
            ("shares", ["shares"]),
        ]:  # fmt: skip
            screen.js(f"document.querySelector('.gs-controls [data-action={action}]').click()")
            screen.draw()
            pressed = screen.js(
                "return [...document.querySelectorAll('.gs-controls [aria-pressed=true]')].map("
                "(each) => each.dataset.action)"
            )
            assert [each for each in pressed if each in ("candidates", "shares")] == shown
            assert set(screen.js(PLAIN)) == {each == "candidates" for each in shown}


COUNT = """
window.made = [0];
new MutationObserver((changes) => {
  const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
  made[made.length - 1] += added.filter((each) => each.matches?.(".gs-candidate")).length;
}).observe(document.querySelector(".gs-grid"), { subtree: true, childList: true });
const next = () => {
  made.push(0);
  requestAnimationFrame(next);
};
next();
"""
"""Counts the candidates that are made from one frame to the next."""


class TestLargeBoards:
    def test_candidates_come_a_few_with_each_frame(self, screen):
        screen.open("#4x4/setting/" + "0" * 256)
        screen.js(COUNT)
        click(screen, "candidates")
        screen.draw()
        made = screen.js("return made")
        assert sum(made) == 16**3
        assert max(made) <= 1000  # to lay out and draw more takes a browser too long
        assert screen.js(CANDIDATES) == [list(range(1, 17))] * 256
