"""What a browser asks by messages, and what it is told: for notebooks, where there is no server.

A question is ``{"id": integer, "kind": "count", "question": {...}}``. What is told of it is
``{"id", "event": "progress" | "result" | "error", "data": {...}}``, with the same objects as over
HTTP. ``{"id", "cancel": true}`` stops the work; then nothing more is told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from gpusudoku.errors import Cancelled, GpusudokuError, described
from gpusudoku.options import is_integer
from gpusudoku.web.answers import Answers, Facts
from gpusudoku.web.desk import Case, Desk
from gpusudoku.web.failures import Failure, failure_of, place_of_error
from gpusudoku.web.questions import KINDS, Question, question_of

THREADS = "gpusudoku-widget"
"""The name of the threads that work here."""
MOST = 32
"""Questions worked at at a time: more than the views of a widget have."""


class Conversation:
    """Works at questions; a newer one overtakes that of its page.

    Parameters
    ----------
    answers
        Knows the answers.
    send
        Takes a message for the browser, from any thread, one at a time.
    answered
        Is told of every question that has an answer, in the thread that found it.
    """

    def __init__(
        self,
        answers: Answers,
        send: Callable[[Facts], None],
        answered: Callable[[Question, Facts], None] = lambda question, facts: None,
    ) -> None:
        self._answers, self._send, self._answered = answers, send, answered
        self._desk = Desk(MOST, THREADS)
        self._lock = threading.RLock()  # whoever sends may find that it has to close
        self._cases: dict[int, Case[Facts]] = {}
        self._closed = False

    def receive(self, message: object) -> None:
        """Take a message, and return at once; one that makes no sense is told so, if it can be."""
        if not isinstance(message, dict) or not is_integer(message.get("id")):
            return
        number = message["id"]
        if message.get("cancel"):
            if case := self._cases.get(number):
                case.end()
            return
        try:
            kind = message.get("kind")
            if not isinstance(kind, str) or kind not in KINDS:
                raise Failure("missing", f"unknown kind of question: {described(kind)}")
            self._begin(number, question_of(kind, message.get("question")))
        except (Failure, GpusudokuError) as error:
            self._tell(number, "error", failure_of(error).facts)

    def close(self) -> None:
        """Stop all work, and say no more."""
        with self._lock:
            self._closed = True
        self._desk.close()

    def _begin(self, number: int, question: Question) -> None:
        """Have the desk work at a question."""
        work = partial(self._work, number, question, threading.current_thread())
        with self._lock:
            if number in self._cases:
                raise Failure("input", f"question {number} is being answered: take another id")
            case = self._cases[number] = Case(work, question.page, self._desk.ticket())
            case.answer.add_done_callback(partial(self._ended, number, question))
            self._desk.ask(case)

    def _work(
        self, number: int, question: Question, asker: threading.Thread, case: Case[Facts]
    ) -> Facts:
        def tell(facts: Facts) -> None:
            if not asker.is_alive():  # as when a page of marimo was closed some time ago
                case.end()
            with self._lock:
                if not case.answer.done():
                    self._tell(number, "progress", facts)

        tell({})  # the browser knows by it that the kernel is not busy with a cell
        return self._answers.answer(question, tell, case.cancel)

    def _ended(self, number: int, question: Question, answer: Future[Facts]) -> None:
        """Tell what came of a question, unless nobody wants to know."""
        error = answer.exception()
        with self._lock:
            del self._cases[number]
            if error is None:
                self._answered(question, answer.result())
                self._tell(number, "result", answer.result())
            elif not isinstance(error, Cancelled):
                self._tell(number, "error", _failure_of(error).facts)

    def _tell(self, number: int, event: str, data: Facts) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                self._send({"id": number, "event": event, "data": data})
            except Exception:  # the connection has been closed, of whatever kind it is
                self.close()


def _failure_of(error: BaseException) -> Failure:
    """What is told of an error: there is no terminal that says where it is."""
    if isinstance(error, (Failure, GpusudokuError, MemoryError)):
        return failure_of(error)
    return Failure("failed", f"not foreseen: {place_of_error(error)}")
