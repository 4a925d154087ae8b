"""What a browser shows of the widget, with a model in place of the notebook's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.web.joined import joined_modules, joined_styles
from tests.web.conversing import SMALL, until

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(
    DRIVER is None or BROWSER is None, reason="there is no Chromium with its driver"
)

ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1200,1000"),
)
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

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def cell(self, place: str, number: int) -> Any:
        return self.driver.find_elements("css selector", f"#{place} [role=gridcell]")[number]

    def digit(self, place: str, number: int) -> str:
        label: str = self.cell(place, number).get_attribute("aria-label")
        return label

    def type(self, *keys: str) -> None:
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def text(self, place: str) -> str:
        found: str = self.run(f"return document.getElementById('{place}').innerText")
        return found

    def questions(self) -> list[Any]:
        """All that were asked, and not given up."""
        sent = self.run("return model.sent")
        gone = {each["id"] for each in sent if each.get("cancel")}
        return [each for each in sent if "kind" in each and each["id"] not in gone]

    def answer(self, number: int, event: str, data: Any) -> None:
        message = {"id": number, "event": event, "data": data}
        self.run("model.tell('msg:custom', arguments[0])", message)


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    service = webdriver.ChromeService(DRIVER)
    made = webdriver.Chrome(options=options, service=service)
    yield made
    made.quit()


@pytest.fixture
def page(driver, tmp_path):
    module = joined_modules().replace("export default", "const shown =")
    file = Path(tmp_path, "page.html")
    file.write_text(PAGE % (joined_styles(), SMALL, module), encoding="utf-8")
    driver.get(file.as_uri())
    made = Page(driver)
    until(lambda: made.run("return typeof end") == "function")
    return made


def test_both_places_and_the_kernel_stay_in_step(page):
    page.cell("one", 1).click()
    page.type("3")
    until(lambda: "3" in page.digit("two", 1))
    assert page.run("return model.saved") == ["13...2....3....."]
    page.run("model.set('board', { board: '...4' + '.'.repeat(12), box: '2x2' })")
    until(lambda: "4" in page.digit("one", 3) and "4" in page.digit("two", 3))
    assert page.run("return model.state.board.board") == "...4............"


def test_other_boxes_come_from_the_kernel(page):
    page.run("model.set('board', { board: '.'.repeat(36), box: '3x2' })")
    until(lambda: len(page.driver.find_elements("css selector", "#two [role=gridcell]")) == 36)


def test_keys_stay_in_the_widget_and_commands_of_the_notebook_pass(page):
    page.cell("one", 1).click()
    page.type("3", "d", "d", "a")
    assert page.run("return keys") == []
    alt = webdriver.Keys.ALT
    webdriver.ActionChains(page.driver).key_down(alt).send_keys("q").key_up(alt).perform()
    assert "q" in page.run("return keys")


def test_a_click_takes_the_caret_away_from_a_cell(page):
    """A browser gives what is pasted to whoever has it."""
    page.driver.find_element("id", "cell").click()
    page.cell("one", 2).click()
    inside = "return document.getElementById('one').contains(getSelection().anchorNode)"
    assert page.run(inside)


def test_answers_are_shown_where_they_were_asked_for(page):
    asked = until(lambda: len(page.questions()) == 2 and page.questions())
    assert [each["kind"] for each in asked] == ["count", "count"]
    assert asked[0]["question"]["board"] == SMALL
    page.answer(asked[0]["id"], "progress", {"at_least": "1234567"})
    until(lambda: "1,234,567" in page.text("one"))
    facts = {"count": "7654321", "exact": True, "method": "search", "seconds": 0.1}
    page.answer(asked[0]["id"], "result", facts)
    until(lambda: "7,654,321" in page.text("one"))
    words = {"error": "nobody has foreseen it", "kind": "failed", "status": 500}
    page.answer(asked[1]["id"], "error", words)
    until(lambda: "Nobody has foreseen it" in page.text("two"))
    assert "7,654,321" not in page.text("two")


def test_what_is_not_shown_any_more_asks_nothing_more(page):
    until(lambda: len(page.questions()) == 2)
    page.run("end()")
    assert page.questions() == []
    assert page.run("return [...document.querySelectorAll('div')].map((e) => e.innerHTML)") == [
        "",
        "",
    ]
    assert page.run("return Object.values(model.heard).every((calls) => calls.size === 0)")


def test_it_is_dark_where_the_notebook_is(page):
    colour = "return getComputedStyle(document.querySelector('#one .gs-app')).color"
    light = page.run(colour)
    page.run("document.body.style.color = '#eee'")
    until(lambda: page.run(colour) != light)
    page.run("document.body.style.color = '#222'")
    until(lambda: page.run(colour) == light)
