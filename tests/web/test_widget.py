"""The widget of notebooks, without any notebook: a connection keeps what the browser is told."""

import json
import subprocess
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")

import comm
from comm.base_comm import BaseComm

import gpusudoku
from gpusudoku import collection
from gpusudoku.engines.cpu import CpuEngine
from tests.waiting import until

SMALL = "1....2....3....."
"""A board with 6 solutions."""
LONG = "." * 81
"""No search ends with this one."""


class Connection(BaseComm):
    """What a kernel has to a browser."""

    def __init__(self, *arguments, **named):
        self.published = []
        self.is_cut = False
        super().__init__(*arguments, **named)

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        if self.is_cut:
            raise ConnectionError
        self.published.append((msg_type, json.loads(json.dumps(data))))

    def of(self, method):
        """Return all messages of a kind."""
        published = [data or {} for _, data in list(self.published)]
        return [data for data in published if data.get("method") == method]

    def take(self, **data):
        """Let something come from the browser."""
        self.handle_msg({"content": {"data": data}, "buffers": []})

    def type(self, board, box="2x2", link=""):
        """Let somebody edit the board."""
        state = {"board": {"board": board, "box": box}, "_link": link}
        self.take(method="update", state=state, buffer_paths=[])

    def tell(self, content):
        self.take(method="custom", content=content)

    def ask(self, number, kind="count", **question):
        self.tell({"id": number, "kind": kind, "question": {"board": SMALL, **question}})

    def events(self, number):
        """Return what was told of a question."""
        messages = [each["content"] for each in self.of("custom")]
        return [each for each in messages if each["id"] == number]

    def end(self, number):
        """Wait for the end of a question; return its event and what is told."""
        until(lambda: {"result", "error"} & {each["event"] for each in self.events(number)})
        *before, last = self.events(number)
        assert {each["event"] for each in before} == {"progress"} or not before
        return last["event"], last["data"]

    def answer(self, number, kind="count", **question):
        """Ask a question, and return the answer."""
        self.ask(number, kind, **question)
        event, facts = self.end(number)
        assert event == "result"
        return facts

    def long(self, number, **question):
        """Ask what takes for ever, and wait until it is worked at."""
        self.ask(number, board=LONG, **question)
        until(lambda: any("at_least" in each["data"] for each in self.events(number)))


@pytest.fixture(autouse=True)
def at_work(monkeypatch):
    """Return what tells the threads at work; in the end there is none."""
    before = set(threading.enumerate())
    monkeypatch.setattr(comm, "create_comm", Connection)

    def find():
        return set(threading.enumerate()) - before

    yield find
    until(lambda: not find())


@pytest.fixture
def widget():
    made = gpusudoku.widget(SMALL, device="cpu", jobs=2, method="search")
    yield made
    made.close()


def test_boards_that_can_be_given():
    six = gpusudoku.parse("." * 36, "3x2")
    for given, box, shown in [
        (None, None, gpusudoku.parse("." * 81)), (None, "3x2", six), ("." * 36, "3x2", six),
        (np.zeros((25, 25), int), None, gpusudoku.parse("." * 625)),
    ]:  # fmt: skip
        assert gpusudoku.widget(given, box=box, device="cpu").board == shown


def test_the_browser_gets_the_board_with_its_boxes():
    made = gpusudoku.widget("." * 36, box="3x2", device="cpu")
    assert repr(made) == "<BoardWidget: a 6x6 board with 0 clues>"
    [(kind, opened)] = made.comm.published
    assert kind == "comm_open"
    assert opened["state"]["board"] == {"board": "." * 36, "box": "3x2"}
    names = {board["name"] for board in opened["state"]["_about"]["boards"]}
    assert {"2f", "box3x2-few"} <= names <= {entry.name for entry in collection.entries()}


def test_edits_come_from_the_browser(widget):
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "board")
    widget.comm.type("12..............", link="#a-link")
    assert widget.board == gpusudoku.parse("12..............")
    assert seen == [widget.board]
    assert widget.comm.of("update") == []  # which might undo what was typed meanwhile


def test_the_board_can_be_set(widget):
    widget.board = [[0, 0, 0, 4], [0] * 4, [0] * 4, [0] * 4]
    assert str(widget.board) == "...4............"
    [update] = widget.comm.of("update")
    assert update["state"] == {"board": {"board": "...4............", "box": "2x2"}}


def test_boards_that_are_refused(widget):
    large = gpusudoku.Board.empty(gpusudoku.Geometry(5, 6))
    given = gpusudoku.Board([0] * 16, candidates=[3] * 16)
    for board, words in [
        ("12x", "3 cells make no board"), (3, "expected a board"),
        (large, "of up to 25x25 cells"), (given, "only a board without them can be"),
    ]:  # fmt: skip
        with pytest.raises(gpusudoku.InputError, match=words):
            widget.board = board
        with pytest.raises(gpusudoku.InputError, match=words):
            gpusudoku.widget(board)
    with pytest.raises(gpusudoku.InputError, match="expected a board"):
        widget.board = None
    assert str(widget.board) == SMALL


def test_the_count_is_that_of_the_board_on_the_screen_once_it_is_known(widget):
    assert widget.count is None
    assert widget.comm.answer(1)["count"] == "6"
    assert widget.count == 6
    widget.comm.answer(2, board="1" + 15 * ".")
    assert widget.count is None
    widget.comm.type("1" + 15 * ".")
    assert widget.count == 72
    for board in ("11..............", "123....4........"):  # known at once
        widget.board = board
        assert widget.count == 0


def test_options_are_those_of_the_count(widget):
    facts = widget.comm.answer(1)
    assert (facts["method"], facts["device"], facts["jobs"]) == ("search", "cpu", 2)
    assert gpusudoku.widget(SMALL, engine=CpuEngine(1)).comm.answer(1)["jobs"] == 1
    for options, error, words in [
        ({"jobs": 0}, gpusudoku.InputError, "jobs 0"),
        ({"limit": 3}, gpusudoku.InputError, "leave out the limit"),
        ({"engine": 3}, gpusudoku.InputError, "engine 3"),
        ({"bxo": "2x2"}, TypeError, "did you mean 'box'"),
    ]:
        with pytest.raises(error, match=words):
            gpusudoku.widget(SMALL, **options)


def test_answers_are_what_the_library_says(widget):
    found = gpusudoku.solutions(SMALL)
    for number in range(20):  # at a time
        widget.comm.ask(100 + number, "nth", k=[number % 6])
    for number in range(20):
        assert widget.comm.end(100 + number)[1]["solutions"] == [str(found[number % 6])]
    facts = widget.comm.answer(1, board="123456" + "." * 30, box="3x2")
    assert (facts["box"], facts["count"]) == ("3x2", str(28_200_960 // 720))


class TestErrors:
    def test_status_and_one_line(self, widget):
        for number, (kind, fields, status, words) in enumerate([
            ("count", {"borad": SMALL}, 400, "unknown field 'borad'; did you mean 'board'?"),
            ("count", {"board": LONG, "seconds": 5}, 422, "it should take longer than the"),
            ("nothing", {}, 404, "unknown kind of question: 'nothing'"),
            (["count"], {}, 404, "unknown kind of question: ['count']"),
        ]):  # fmt: skip
            widget.comm.ask(number, kind, **fields)
            event, facts = widget.comm.end(number)
            assert (event, facts["status"]) == ("error", status)
            assert words in facts["error"]

    def test_messages_that_are_no_questions(self, widget):
        for message in (None, [], "count", {}, {"id": "1"}, {"kind": "count"}):
            widget.comm.tell(message)
        widget.comm.tell({"id": 1, "kind": "count", "question": [SMALL]})
        assert widget.comm.end(1)[1]["error"] == "expected a JSON object"
        assert {each["content"]["id"] for each in widget.comm.of("custom")} == {1}

    def test_two_questions_with_one_number(self, widget):
        widget.comm.long(1, page="a")
        widget.comm.ask(1, page="a")
        until(lambda: widget.comm.events(1)[-1]["event"] == "error")
        facts = widget.comm.events(1)[-1]["data"]
        assert facts["error"] == "question 1 is being answered: take another id"
        assert widget.comm.answer(2, page="a")["count"] == "6"
        widget.comm.ask(1, page="b")  # nobody works at the first one any more
        until(lambda: widget.comm.events(1)[-1]["event"] == "result")

    def test_errors_of_ours(self):
        class Broken(CpuEngine):
            def quick_search(self, *_, **named):
                raise KeyError("a secret")

        made = gpusudoku.widget(SMALL, engine=Broken(1), method="search")
        made.comm.ask(1)
        event, facts = made.comm.end(1)
        assert (event, facts["kind"], facts["status"]) == ("error", "failed", 500)
        assert facts["error"].startswith("unexpected error: KeyError in")
        assert "secret" not in facts["error"]


def test_of_what_is_cancelled_the_work_ends_and_nothing_more_is_told(widget, at_work):
    widget.comm.long(1)
    assert widget.comm.events(1)[0] == {"id": 1, "event": "progress", "data": {}}  # told at once
    widget.comm.tell({"id": 7, "cancel": True})  # nobody works at that
    widget.comm.tell({"id": 1, "cancel": True})
    until(lambda: not at_work())
    before = len(widget.comm.events(1))
    assert widget.comm.answer(2)["count"] == "6"
    assert {each["event"] for each in widget.comm.events(1)} == {"progress"}
    assert len(widget.comm.events(1)) == before


def test_of_many_questions_of_a_page_the_last_is_answered(widget):
    """Other pages are left alone, and questions without one."""
    for number, page in {-1: "b", -2: None}.items():
        widget.comm.long(number, page=page)
    for number in range(100):
        widget.comm.ask(number, board=LONG, page="a")
    assert widget.comm.answer(100, page="a")["count"] == "6"
    for number in range(100):
        event, facts = widget.comm.end(number)
        assert (event, facts["kind"], facts["status"]) == ("error", "overtaken", 409)
    assert {widget.comm.events(number)[-1]["event"] for number in (-1, -2)} == {"progress"}


@pytest.mark.parametrize("by", ["hand", "kernel", "browser"])
def test_closing_ends_the_work_and_nothing_more_is_told(widget, at_work, by):
    """marimo closes the connection when a cell is run again."""
    for number in range(3):
        widget.comm.long(number)
    gpusudoku.widget(SMALL, device="cpu").close()  # of another nothing ends
    before = len(widget.comm.of("custom"))
    until(lambda: len(widget.comm.of("custom")) > before)
    connection = widget.comm
    {"hand": widget.close, "kernel": connection.close}.get(
        by, lambda: connection.handle_close({})
    )()
    before = len(connection.of("custom"))
    until(lambda: not at_work())
    widget.close()
    assert len(connection.of("custom")) == before
    assert widget.board == gpusudoku.parse(SMALL)


def test_the_work_ends_with_the_thread_that_took_the_question(widget, at_work):
    """In marimo every page that is open has a kernel, which is a thread."""
    kernel = threading.Thread(target=widget.comm.ask, args=(1,), kwargs={"board": LONG})
    kernel.start()
    kernel.join()
    until(lambda: not at_work())


def test_the_work_ends_when_nobody_takes_messages(widget, at_work):
    widget.comm.long(1)
    widget.comm.is_cut = True
    until(lambda: not at_work())
    widget.comm.is_cut = False
    widget.comm.ask(4)
    until(lambda: not at_work())
    assert widget.comm.events(4) == []


def test_one_line_where_anywidget_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"^a widget .* pip install '\.\[notebook\]' in "):
        gpusudoku.widget(SMALL)


def test_nobody_else_needs_it():
    code = "import sys, gpusudoku; gpusudoku.count('1...............');"
    code += "print(any(name in sys.modules for name in ('anywidget', 'starlette')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
