"""The widget that a notebook shows, and its conversation with the kernel; this needs anywidget.

A notebook takes one text of modules and one of styles. All modules of the page import by
``import { a, b } from "./x.js";`` at the top, and export by ``export`` before a function, class or
constant. So joining is leaving both out and putting a module behind those that it imports. The
names at the top of all modules are then in one scope; no two may be the same.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import Cancelled, GpusudokuError, InputError, described
from gpusudoku.formats import parse
from gpusudoku.formats.coerce import board_of
from gpusudoku.options import Options, is_integer
from gpusudoku.web.answers import Answerer, Failure, Json, failure_of, place_of_error
from gpusudoku.web.questions import KINDS, Question, question_of
from gpusudoku.web.request_queue import PendingRequest, RequestQueue

MAX_DIGITS = 25
"""Of a board that can be edited."""
MOST = 32
"""Questions worked on at a time: more than the views of a widget have."""
PAGE = Path(__file__).with_name("page")
"""The folder of the page's files."""
STYLES = ("base.css", "toolbar.css", "board.css", "leaves.css", "panel.css", "forced.css")
"""In this order."""

_IMPORT = re.compile(r'^import \{[\w\s,$]*\} from "\./([\w-]+\.js)";\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
Pending = PendingRequest[Json]


class Conversation:
    """Works on the questions of a widget's pages; a newer one supersedes that of its page.

    A question is ``{"id": integer, "kind": "count", "question": {...}}``. Its answer are messages
    ``{"id", "event": "progress" | "result" | "error", "data": {...}}``, with the same objects as
    over HTTP. ``{"id", "cancel": true}`` stops the work; then no message follows. ``send`` takes
    messages for the browser, from any thread, one at a time; ``answered`` takes every question with
    its answer, in the thread that found it.
    """

    def __init__(
        self,
        answerer: Answerer,
        send: Callable[[Json], None],
        answered: Callable[[Question, Json], None],
    ) -> None:
        self._answerer = answerer
        self._send = send
        self._answered = answered
        self._queue = RequestQueue(MOST, "gpusudoku-widget")
        self._lock = threading.RLock()  # sending may find that the connection is closed
        self._pending: dict[int, Pending] = {}
        self._closed = False

    def receive(self, message: object) -> None:
        """Take a message, and return at once; refuse one that makes no sense, if it has an id."""
        if not isinstance(message, dict) or not is_integer(message.get("id")):
            return
        number = message["id"]
        if message.get("cancel"):
            if pending := self._pending.get(number):
                pending.end()
            return
        try:
            kind = message.get("kind")
            if not isinstance(kind, str) or kind not in KINDS:
                raise Failure("missing", f"unknown kind of question: {described(kind)}")
            question = question_of(kind, message.get("question"))
            work = partial(self._work, number, question, threading.current_thread())
            with self._lock:
                if number in self._pending:
                    raise Failure("input", f"question {number} is being answered: take another id")
                pending = Pending(work, question.page, self._queue.next_number())
                self._pending[number] = pending
                pending.answer.add_done_callback(partial(self._ended, number, question))
                self._queue.ask(pending)
        except (Failure, GpusudokuError) as error:
            self._tell(number, "error", failure_of(error).facts)

    def close(self) -> None:
        """Stop all work, and send no more."""
        with self._lock:
            self._closed = True
        self._queue.close()

    def _work(
        self, number: int, question: Question, asker: threading.Thread, pending: Pending
    ) -> Json:
        def tell(facts: Json) -> None:
            if not asker.is_alive():  # as when a page of marimo was closed some time ago
                pending.end()
            with self._lock:
                if not pending.answer.done():
                    self._tell(number, "progress", facts)

        tell({})  # the browser knows by it that the kernel is not busy with a cell
        return self._answerer.answer(question, tell, pending.cancel)

    def _ended(self, number: int, question: Question, answer: Future[Json]) -> None:
        """Send the answer to a question, or its failure, unless it was cancelled."""
        error = answer.exception()
        with self._lock:
            del self._pending[number]
            if error is None:
                self._answered(question, answer.result())
                self._tell(number, "result", answer.result())
            elif not isinstance(error, Cancelled):
                failure = failure_of(error, f"not foreseen: {place_of_error(error)}")
                self._tell(number, "error", failure.facts)

    def _tell(self, number: int, event: str, data: Json) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                self._send({"id": number, "event": event, "data": data})
            except Exception:  # the connection has been closed, of whatever kind it is
                self.close()


def joined_modules() -> str:
    """Return one module that needs no other, with the default export of ``widget.js``."""
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        text = (PAGE / name).read_text(encoding="utf-8")
        for other in _IMPORT.findall(text):
            if other not in joined:
                add(other)
        joined[name] = f"// {name}\n\n" + _EXPORT.sub("", _IMPORT.sub("", text)).lstrip("\n")

    add("widget.js")
    return "\n".join(joined.values())


def joined_styles() -> str:
    """Return one style sheet, dark where the element around the component has class ``gs-dark``.

    On a page of its own the browser says whether colours are dark; the theme of a notebook may
    differ from that.
    """
    text = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in STYLES)
    return text.replace("@media (prefers-color-scheme: dark) {", "@scope (.gs-dark) {")


class _EditableBoard(traitlets.TraitType[Board, Any]):
    """Takes a board that can be edited, in any form; traitlets keeps None away from validators."""

    def validate(self, obj: object, value: Any) -> Board:
        board = board_of(value)
        if board.n > MAX_DIGITS:
            most = f"{MAX_DIGITS}x{MAX_DIGITS}"
            raise InputError(f"{board.describe()}: one of up to {most} cells can be edited")
        if board.given_candidates is not None:
            raise InputError(f"{board.describe()}: only one without can be edited")
        return board


class BoardWidget(anywidget.AnyWidget):
    """A board to edit in a notebook, and beside it the count of its solutions and more.

    ``gpusudoku.widget`` makes it. It is an anywidget: ``observe``, ``close``, ``layout`` and so on
    are those of all widgets.
    """

    _esm = joined_modules()
    _css = joined_styles()
    board = _EditableBoard().tag(
        sync=True,
        to_json=lambda board, widget: {"board": str(board), "box": str(board.geometry)},
        from_json=lambda facts, widget: parse(facts["board"], facts["box"]),
    )
    """The board on the screen as a ``Board``; to set it, anything that ``count`` takes for one."""
    _link = traitlets.Unicode().tag(sync=True)
    """The board once more, as the page's links have it, which tell clues from edits."""
    _about = traitlets.Dict().tag(sync=True)
    """The engine, and the boards that come with the program."""

    def __init__(self, board: Board, engine: Engine, options: Options) -> None:
        answerer = Answerer(engine, options)
        self._known: tuple[Board, int] | None = None
        self._conversation = Conversation(answerer, self.send, self._answered)
        super().__init__(board=board, _about=answerer.about())
        self.on_msg(lambda widget, content, buffers: self._conversation.receive(content))

    def __repr__(self) -> str:
        return f"<BoardWidget: {self.board.describe()}>"

    @property
    def count(self) -> int | None:
        """The number of solutions of the board on the screen; None until they are counted.

        It stays None where the count was too expensive or has been cancelled.
        """
        board = self.board
        known = self._known
        # The browser sees this by itself, and asks nothing.
        if board.conflicts or not board.candidates[board.cells == 0].all():
            return 0
        return known[1] if known is not None and known[0] == board else None

    @traitlets.observe("comm")
    def _attend(self, change: dict[str, Any]) -> None:
        """Stop all work when the connection is closed; marimo closes it by itself."""
        comm = change["new"]
        if comm is None:
            return
        close = comm.close

        def closing(*args: Any, **kwargs: Any) -> None:
            self._conversation.close()
            close(*args, **kwargs)

        comm.close = closing
        comm.on_close(lambda message: self._conversation.close())

    def _answered(self, question: Question, facts: Json) -> None:
        if question.kind == "count" and facts["exact"]:
            self._known = question.board(), int(facts["count"])
