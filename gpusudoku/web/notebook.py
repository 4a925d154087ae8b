"""The widget that a notebook shows, and its messages to and from the kernel. It needs anywidget.

A notebook takes one JavaScript module and one style sheet. All modules of the page import by
``import { a, b } from "./x.js";`` at the top, and export by ``export`` before a function, class or
constant. So they are joined by removing both, and by putting each module behind those that it
imports. All names at the top level are then in one scope, and must be unique.
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
from gpusudoku.web.questions import BACKGROUND_KIND, KINDS, Question, question_of
from gpusudoku.web.request_queue import PendingRequest, RequestQueue

MAX_DIGITS = 25
"""The size of the largest board that can be edited."""
MAX_WORKING = 32
"""The number of questions worked on at a time: more than a widget has views."""
PAGE = Path(__file__).with_name("page")
"""The folder of the page's files."""
STYLES = ("base.css", "toolbar.css", "board.css", "leaves.css", "panel.css", "forced.css")
"""The style sheets, in the order in which they apply."""

_IMPORT = re.compile(r'^import \{[\w\s,$]*\} from "\./([\w-]+\.js)";\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
Pending = PendingRequest[Json]


class Conversation:
    """Answers the questions that come from the pages of a widget, as messages.

    A question is ``{"id": integer, "kind": "count", "question": {...}}``. The answer is a sequence
    of messages ``{"id", "event": "progress" | "result" | "error", "data": {...}}``, with the same
    objects as over HTTP. ``{"id", "cancel": true}`` stops the work; then no message follows. A
    newer question of a page replaces the older one.

    ``send`` sends a message to the browser. Any thread may call it, one at a time. ``answered`` is
    called with every question and its answer, in the thread that computed it.
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
        self._queue = RequestQueue(MAX_WORKING, "gpusudoku-widget")
        # Reentrant: sending may find that the connection is closed, and then `close` is called.
        self._lock = threading.RLock()
        self._pending: dict[int, Pending] = {}
        self._closed = False

    def receive(self, message: object) -> None:
        """Process a message, and return at once. A wrong message with an id gets a failure."""
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
                order = self._queue.next_number()
                pending = Pending(work, question.page, order, kind == BACKGROUND_KIND)
                self._pending[number] = pending
                pending.answer.add_done_callback(partial(self._ended, number, question))
                self._queue.ask(pending)
        except (Failure, GpusudokuError) as error:
            self._send_event(number, "error", failure_of(error).facts)

    def close(self) -> None:
        """Stop all work, and send no more messages."""
        with self._lock:
            self._closed = True
        self._queue.close()

    def _work(
        self, number: int, question: Question, asker: threading.Thread, pending: Pending
    ) -> Json:
        """Compute the answer. ``asker`` is the thread that has received the question."""

        def report(facts: Json) -> None:
            # marimo may close a page without a message. Then the thread of its session ends.
            if not asker.is_alive():
                pending.end()
            with self._lock:
                if not pending.answer.done():
                    self._send_event(number, "progress", facts)

        report({})  # shows the browser that the kernel is not busy with a cell
        return self._answerer.answer(question, report, pending.cancel)

    def _ended(self, number: int, question: Question, answer: Future[Json]) -> None:
        """Send the answer to a question or its failure, unless the question was cancelled."""
        error = answer.exception()
        # Under the lock, so that no progress is sent after the answer.
        with self._lock:
            del self._pending[number]
            if error is None:
                self._answered(question, answer.result())
                self._send_event(number, "result", answer.result())
            elif not isinstance(error, Cancelled):
                failure = failure_of(error, f"unexpected error: {place_of_error(error)}")
                self._send_event(number, "error", failure.facts)

    def _send_event(self, number: int, event: str, data: Json) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                self._send({"id": number, "event": event, "data": data})
            except Exception:  # of any type: each kind of connection has its own for a closed one
                self.close()


def joined_modules() -> str:
    """Return one module that imports no other, with the default export of ``widget.js``."""
    texts: dict[str, str] = {}  # by name, in the order in which they are joined

    def add(name: str) -> None:
        """Add a module behind all modules that it imports."""
        text = (PAGE / name).read_text(encoding="utf-8")
        for imported_name in _IMPORT.findall(text):
            # Imports form no circles, so this ends.
            if imported_name not in texts:
                add(imported_name)
        text = _IMPORT.sub("", text)
        text = _EXPORT.sub("", text)
        texts[name] = f"// {name}\n\n" + text.lstrip("\n")

    add("widget.js")
    return "\n".join(texts.values())


def joined_styles() -> str:
    """Return one style sheet, which is dark where an element around it has the class ``gs-dark``.

    On the page of the server, the browser chooses dark colours. In a notebook, the theme of the
    notebook may differ from the choice of the browser.
    """
    text = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in STYLES)
    return text.replace("@media (prefers-color-scheme: dark) {", "@scope (.gs-dark) {")


class _EditableBoard(traitlets.TraitType[Board, Any]):
    """An attribute for a board that can be edited, which may be set in any form of a board.

    A trait type of its own: traitlets does not call ``@validate`` functions for None.
    """

    def validate(self, obj: object, value: Any) -> Board:
        board = board_of(value)
        if board.n > MAX_DIGITS:
            size = f"{MAX_DIGITS}x{MAX_DIGITS}"
            raise InputError(f"{board.describe()}: only boards of up to {size} cells can be edited")
        if board.given_candidates is not None:
            raise InputError(f"{board.describe()}: only a board without them can be edited")
        return board


class BoardWidget(anywidget.AnyWidget):
    """A board to edit in a notebook, with the count of its solutions and more.

    ``gpusudoku.widget`` makes it. It is an anywidget, so it has ``observe``, ``close``, ``layout``
    and everything else that all widgets have.
    """

    _esm = joined_modules()
    _css = joined_styles()
    board = _EditableBoard().tag(
        sync=True,
        to_json=lambda board, widget: {"board": str(board), "box": str(board.geometry)},
        from_json=lambda facts, widget: parse(facts["board"], facts["box"]),
    )
    """The board on the screen as a ``Board``. You can set it to any board that ``count`` takes."""
    _link = traitlets.Unicode().tag(sync=True)
    """The board as in links to the page, which distinguish clues from edits."""
    _about = traitlets.Dict().tag(sync=True)
    """The engine, and the boards that come with the program."""

    def __init__(self, board: Board, engine: Engine, options: Options) -> None:
        answerer = Answerer(engine, options)
        self._last_count: tuple[Board, int] | None = None
        """The board that was counted last, and the number of its solutions."""
        self._conversation = Conversation(answerer, self.send, self._answered)
        super().__init__(board=board, _about=answerer.about())
        self.on_msg(lambda widget, content, buffers: self._conversation.receive(content))

    def __repr__(self) -> str:
        return f"<BoardWidget: {self.board.describe()}>"

    @property
    def count(self) -> int | None:
        """The number of solutions of the board on the screen; None until they are counted.

        It stays None if the count is too expensive or was cancelled.
        """
        board = self.board
        # The browser detects such boards itself, and asks no question about them.
        if board.conflicts or not board.candidates[board.cells == 0].all():
            return 0
        if self._last_count is None:
            return None
        counted_board, solution_count = self._last_count
        return solution_count if counted_board == board else None

    @traitlets.observe("comm")
    def _on_connection(self, change: dict[str, Any]) -> None:
        """Stop all work when the connection is closed, by either side.

        marimo calls ``close`` of the connection, and sends no message.
        """
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
            self._last_count = (question.board(), int(facts["count"]))
