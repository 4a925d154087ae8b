"""The widget of notebooks, without any notebook: its messages go to a browser that keeps them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")

import comm
from comm.base_comm import BaseComm

import gpusudoku
from gpusudoku import collection
from gpusudoku.engines.cpu import CpuEngine
from tests.web.conversing import SMALL, threads, until


class Connection(BaseComm):
    """What a kernel has to a browser."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.published: list[tuple[str, Any]] = []
        super().__init__(*arguments, **named)

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        self.published.append((msg_type, data))

    def of(self, method: str) -> list[Any]:
        """All messages of a kind."""
        published = [data or {} for _, data in list(self.published)]
        return [data for data in published if data.get("method") == method]

    def take(self, **data: Any) -> None:
        """Something comes from the browser."""
        self.handle_msg({"content": {"data": data}, "buffers": []})

    def type(self, board: str, box: str = "2x2", link: str = "") -> None:
        """Somebody edits the board."""
        state = {"board": {"board": board, "box": box}, "_link": link}
        self.take(method="update", state=state, buffer_paths=[])

    def ask(self, number: int, kind: str = "count", **question: Any) -> None:
        content = {"id": number, "kind": kind, "question": question}
        self.take(method="custom", content=content)

    def told(self, number: int) -> dict[str, Any]:
        """The last message about a question, once there is one."""

        def last():
            found = [each["content"] for each in self.of("custom")]
            ends = ("result", "error")
            return [each for each in found if each["id"] == number and each["event"] in ends]

        return until(last)[0]


@pytest.fixture(autouse=True)
def connected(monkeypatch):
    monkeypatch.setattr(comm, "create_comm", Connection)
    yield
    until(lambda: not threads())


@pytest.fixture
def widget():
    made = gpusudoku.widget(SMALL, device="cpu", jobs=2, method="search")
    yield made
    made.close()


def long(widget):
    """Ask what takes very long, and wait until it is worked at."""
    widget.comm.ask(1, board="." * 81)
    until(lambda: len(widget.comm.of("custom")) > 2)


class TestBoard:
    def test_it_is_the_one_that_was_given(self, widget):
        assert widget.board == gpusudoku.parse(SMALL)
        assert repr(widget) == "<BoardWidget: a 4x4 board with 3 clues>"

    @pytest.mark.parametrize(
        ("given", "box", "shown"),
        [
            (None, None, gpusudoku.parse("." * 81)),
            (None, "3x2", gpusudoku.parse("." * 36, "3x2")),
            ("." * 36, "3x2", gpusudoku.parse("." * 36, "3x2")),
            (np.zeros((25, 25), int), None, gpusudoku.parse("." * 625)),
            (gpusudoku.parse(SMALL), None, gpusudoku.parse(SMALL)),
        ],
    )
    def test_what_can_be_given(self, given, box, shown):
        assert gpusudoku.widget(given, box=box, device="cpu").board == shown

    def test_the_browser_gets_it_with_its_boxes(self):
        made = gpusudoku.widget("." * 36, box="3x2", device="cpu")
        [(kind, opened)] = made.comm.published
        assert kind == "comm_open"
        assert opened["state"]["board"] == {"board": "." * 36, "box": "3x2"}
        names = [board["name"] for board in opened["state"]["_about"]["boards"]]
        assert {"2f", "box3x2-few"} <= set(names) <= {entry.name for entry in collection.entries()}

    def test_edits_come_from_the_browser(self, widget):
        seen = []
        widget.observe(lambda change: seen.append(change["new"]), "board")
        widget.comm.type("12..............", link="#a-link")
        assert widget.board == gpusudoku.parse("12..............")
        assert seen == [widget.board]
        assert widget.comm.of("update") == []  # which might undo what was typed meanwhile

    def test_it_can_be_set(self, widget):
        widget.board = [[0, 0, 0, 4], [0] * 4, [0] * 4, [0] * 4]
        assert str(widget.board) == "...4............"
        [update] = widget.comm.of("update")
        assert update["state"] == {"board": {"board": "...4............", "box": "2x2"}}

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ("12x", "3 cells make no board"),
            (3, "expected a board"),
            (gpusudoku.Board.empty(gpusudoku.Geometry(5, 6)), "of up to 25x25 cells"),
            (
                gpusudoku.Board([0] * 16, candidates=[3] * 16),
                "a 4x4 board with 0 clues and given candidates: only one without can be edited",
            ),
        ],
    )
    def test_what_is_refused(self, widget, given, words):
        with pytest.raises(gpusudoku.InputError, match=words):
            widget.board = given
        with pytest.raises(gpusudoku.InputError, match=words):
            gpusudoku.widget(given)
        assert str(widget.board) == SMALL

    def test_nothing_is_no_board(self, widget):
        with pytest.raises(gpusudoku.InputError, match="expected a board"):
            widget.board = None


class TestCount:
    def test_it_is_known_once_the_browser_has_asked(self, widget):
        assert widget.count is None
        widget.comm.ask(1, board=SMALL, box="2x2")
        assert widget.comm.told(1)["data"]["count"] == "6"
        assert widget.count == 6

    def test_it_is_that_of_the_board_on_the_screen(self, widget):
        widget.comm.ask(1, board="1" + 15 * ".")
        widget.comm.told(1)
        assert widget.count is None
        widget.comm.type("1" + 15 * ".")
        assert widget.count == 72

    @pytest.mark.parametrize("board", ["11..............", "123....4........"])
    def test_of_clues_that_contradict_each_other(self, widget, board):
        widget.board = board
        assert widget.count == 0


class TestOptions:
    def test_they_are_those_of_the_count(self, widget):
        widget.comm.ask(1, board=SMALL)
        facts = widget.comm.told(1)["data"]
        assert (facts["method"], facts["device"], facts["jobs"]) == ("search", "cpu", 2)

    def test_an_engine(self):
        made = gpusudoku.widget(SMALL, engine=CpuEngine(1))
        made.comm.ask(1, board=SMALL)
        assert made.comm.told(1)["data"]["jobs"] == 1

    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"jobs": 0}, gpusudoku.InputError, "jobs 0"),
            ({"limit": 3}, gpusudoku.InputError, "leave out the limit"),
            ({"engine": 3}, gpusudoku.InputError, "engine 3"),
            ({"bxo": "2x2"}, TypeError, "did you mean 'box'"),
        ],
    )
    def test_wrong_ones(self, options, error, words):
        with pytest.raises(error, match=words):
            gpusudoku.widget(SMALL, **options)

    def test_without_a_gpu(self, without_cuda):
        with pytest.raises(gpusudoku.DeviceError):
            gpusudoku.widget(SMALL, device="cuda")


class TestClosing:
    def test_it_ends_the_work(self, widget):
        long(widget)
        widget.close()
        until(lambda: not threads())
        widget.close()

    def test_by_whoever_has_the_connection(self, widget):
        """So does marimo when a cell is run again."""
        long(widget)
        widget.comm.close()
        until(lambda: not threads())

    def test_by_the_browser(self, widget):
        long(widget)
        widget.comm.handle_close({})
        until(lambda: not threads())

    def test_others_go_on(self, widget):
        other = gpusudoku.widget(SMALL, device="cpu")
        long(widget)
        other.close()
        told = len(widget.comm.of("custom"))
        until(lambda: len(widget.comm.of("custom")) > told)

    def test_its_board_stays(self, widget):
        widget.close()
        assert widget.board == gpusudoku.parse(SMALL)


class TestPackage:
    def test_one_line_where_it_is_not_installed(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "anywidget", None)
        with pytest.raises(ImportError, match=r"^a widget .* pip install '\.\[notebook\]' in "):
            gpusudoku.widget(SMALL)

    def test_nobody_else_needs_it(self):
        code = "import sys, gpusudoku; gpusudoku.count('1...............');"
        code += "print(any(name in sys.modules for name in ('anywidget', 'gpusudoku.web')))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == "False\n", done.stderr
