"""What a browser shows of the widget, with a model in place of the notebook's."""

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")

from gpusudoku.web.notebook import joined_modules, joined_styles

SMALL = "1....2....3....."
PAGE = """<!doctype html>
<style>%s</style>
<textarea id="cell">text of a cell</textarea><div id="one"></div><div id="two"></div>
<script>
  class Model {
    state = { board: { board: "%s", box: "2x2" }, _link: "", _about: {} };
    sent = [];
    saved = [];
    heard = {};
    get(name) { return this.state[name]; }
    set(name, value) { this.state[name] = value; this.tell(`change:${name}`); }
    save_changes() { this.saved.push(this.state.board.board); }
    send(message) { this.sent.push(message); }
    on(name, call) { (this.heard[name] ??= new Set()).add(call); }
    off(name, call) { this.heard[name].delete(call); }
    tell(name, value) { for (const call of this.heard[name] ?? []) call(value); }
  }
  const keys = [];
  document.addEventListener("keydown", (event) => keys.push(event.key));
  const model = new Model();
</script>
<script type="module">
%s
const ends = ["one", "two"].map((id) => shown.render({ model, el: document.getElementById(id) }));
window.end = () => ends.forEach((each) => each());
</script>
"""


class Page:
    """A page with one model that is shown twice."""

    def __init__(self, screen):
        self.screen = screen
        self.run = screen.js
        self.until = screen.until

    def cell(self, place, number):
        return self.screen.driver.find_elements("css selector", f"#{place} [role=gridcell]")[number]

    def until_digit(self, place, number, digit):
        """Wait until a digit stands in a cell."""
        self.until(
            "const cells = document.querySelectorAll(`#${arguments[0]} [role=gridcell]`);"
            "return cells[arguments[1]].querySelector('.gs-digit')?.textContent === arguments[2]",
            *(place, number, digit),
        )

    def until_text(self, place, words):
        """Wait until a text is shown."""
        self.until(f"return {place}.innerText.includes(arguments[0])", words)

    def questions(self):
        """Return all that were asked, and not given up."""
        sent = self.run("return model.sent")
        gone = {each["id"] for each in sent if each.get("cancel")}
        return [each for each in sent if "kind" in each and each["id"] not in gone]

    def answer(self, number, event, data):
        message = {"id": number, "event": event, "data": data}
        self.run("model.tell('msg:custom', arguments[0])", message)


@pytest.fixture
def page(screen, tmp_path):
    module = joined_modules().replace("export default", "const shown =")
    file = tmp_path / "page.html"
    file.write_text(PAGE % (joined_styles(), SMALL, module), encoding="utf-8")
    screen.driver.get(file.as_uri())
    screen.until("return typeof end === 'function' && model.sent.length >= 2")
    return Page(screen)


def test_both_places_and_the_kernel_stay_in_step(page):
    page.cell("one", 1).click()
    page.screen.press("3")
    page.until_digit("two", 1, "3")
    assert page.run("return model.saved") == ["13...2....3....."]
    page.run("model.set('board', { board: '...4' + '.'.repeat(12), box: '2x2' })")
    for place in ("one", "two"):
        page.until_digit(place, 3, "4")
    assert page.run("return model.state.board.board") == "...4............"
    page.run("model.set('board', { board: '.'.repeat(36), box: '3x2' })")
    page.until("return document.querySelectorAll('#two [role=gridcell]').length === 36")


def test_keys_stay_in_the_widget_and_commands_of_the_notebook_pass(page):
    page.screen.driver.find_element("id", "cell").click()
    page.cell("one", 1).click()
    assert page.run(
        "return one.contains(getSelection().anchorNode)"
    )  # a browser gives what is pasted to whoever has the caret
    page.screen.press("3", "d")
    assert page.run("return keys") == []
    page.screen.press("Alt+q")
    assert "q" in page.run("return keys")


def test_digits_outside_the_grid_are_taken_from_the_widget_alone(page):
    page.cell("one", 1).click()
    page.screen.driver.find_element("css selector", "#one [data-action=setting]").click()
    page.screen.press("3")
    page.until_digit("one", 1, "3")
    assert page.run("return keys") == []
    saved = page.run("return model.saved.length")
    page.screen.driver.find_element("id", "cell").click()
    page.screen.press("4", "Delete")
    page.run("document.activeElement.blur()")
    page.screen.press("4", "Delete", "ArrowLeft")
    assert page.run("return keys") == ["4", "Delete", "4", "Delete", "ArrowLeft"]
    assert page.run("return model.saved.length") == saved


def test_answers_are_shown_where_they_were_asked_for(page):
    asked = page.questions()
    assert [each["kind"] for each in asked] == ["count", "count"]
    assert asked[0]["question"]["board"] == SMALL
    page.answer(asked[0]["id"], "progress", {"at_least": "1234567"})
    page.until_text("one", "1,234,567")
    facts = {"count": "7654321", "exact": True, "method": "search", "seconds": 0.1}
    page.answer(asked[0]["id"], "result", facts)
    page.until_text("one", "7,654,321")
    words = {"error": "nobody has foreseen it", "kind": "failed", "status": 500}
    page.answer(asked[1]["id"], "error", words)
    page.until_text("two", "Nobody has foreseen it")
    assert "7,654,321" not in page.run("return two.innerText")


def test_what_is_not_shown_any_more_asks_nothing_more(page):
    page.run("end()")
    assert page.questions() == []
    assert page.run("return one.innerHTML + two.innerHTML") == ""
    assert page.run("return Object.values(model.heard).every((calls) => calls.size === 0)")


def test_it_is_dark_where_the_notebook_is(page):
    colour = "return getComputedStyle(document.querySelector('#one .gs-app')).color"
    light = page.run(colour)
    page.run("document.body.style.color = '#eee'")
    page.until(f"{colour} !== arguments[0]", light)
    page.run("document.body.style.color = '#222'")
    page.until(f"{colour} === arguments[0]", light)
