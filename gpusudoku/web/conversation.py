"""What a browser asks by messages, and what it is told: for notebooks, where there is no server.

A question is ``{"id": integer, "kind": "count", "question": {...}}``. What is told of it is
``{"id", "event": "progress" | "result" | "error", "data": {...}}``, with the same objects as over
HTTP. ``{"id", "cancel": true}`` stops the work; then nothing more is told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from gpusudoku.errors import Cancelled, GpusudokuError, described
from gpusudoku.jobs.cancel import CancelToken, check_cancelled
from gpusudoku.options import is_integer
from gpusudoku.web.answers import Answers, Facts
from gpusudoku.web.failures import Failure, failure_of, place_of_error
from gpusudoku.web.questions import KINDS, Question, question_of

THREADS = "gpusudoku-widget"
"""The name of the threads that work here."""


@dataclass(eq=False)
class Case:
    """A question that somebody works at, or will as soon as older ones of its page have ended."""

    number: int
    question: Question
    older: list[Case]
    token: CancelToken = field(default_factory=CancelToken)
    overtaken: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    asker: threading.Thread = field(default_factory=threading.current_thread)
    """Who took the question."""


class Conversation:
    """Works at questions, each in a thread of its own; a newer one overtakes those of its page.

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
        self._lock = threading.RLock()  # whoever sends may find that it has to close
        self._cases: dict[int, Case] = {}
        self._closed = False

    def receive(self, message: object) -> None:
        """Take a message, and return at once; one that makes no sense is told so, if it can be."""
        if not isinstance(message, dict) or not is_integer(message.get("id")):
            return
        number = message["id"]
        if message.get("cancel"):
            self._cancel(number)
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
            for case in self._cases.values():
                case.token.cancel()

    def _cancel(self, number: int) -> None:
        with self._lock:
            if case := self._cases.get(number):
                case.overtaken = False
                case.token.cancel()

    def _begin(self, number: int, question: Question) -> None:
        """Have a thread work at a question, in place of others of its page."""
        page = question.page
        with self._lock:
            if self._closed:
                return
            if number in self._cases:
                raise Failure("input", f"question {number} is being answered: take another id")
            cases = self._cases.values()
            older = [case for case in cases if page is not None and case.question.page == page]
            for case in older:
                case.overtaken = case.overtaken or not case.token.cancelled
                case.token.cancel()
            case = self._cases[number] = Case(number, question, older)
        # The kernel knows by the context which message it answers. Python does not wait for the
        # thread at its end: what is being compiled cannot be stopped.
        work = copy_context().run
        threading.Thread(target=work, args=(self._work, case), name=THREADS, daemon=True).start()

    def _work(self, case: Case) -> None:
        """Work at a question, and tell what came of it."""
        event, facts = self._outcome(case)
        with self._lock:
            del self._cases[case.number]
        case.ended.set()
        if event == "result":
            self._answered(case.question, facts)
        if event:
            self._tell(case.number, event, facts)

    def _outcome(self, case: Case) -> tuple[str, Facts]:
        """The last event of a question, and its data; an empty one if nobody wants to know."""

        def tell(facts: Facts) -> None:
            if not case.asker.is_alive():  # as when a page of marimo was closed some time ago
                case.token.cancel()
            if not case.token.cancelled:
                self._tell(case.number, "progress", facts)

        try:
            for older in case.older:  # until then they have the cores
                older.ended.wait()
            case.older.clear()
            tell({})  # the browser knows by it that the kernel is not busy with a cell
            facts = self._answers.answer(case.question, tell, case.token)
            check_cancelled(case.token)  # only just, perhaps
            return "result", facts
        except Cancelled:
            if not case.overtaken:
                return "", {}
            return "error", Failure("overtaken", "the page has a newer question").facts
        except (Failure, GpusudokuError, MemoryError) as error:
            return "error", failure_of(error).facts
        except Exception as error:
            return "error", Failure("failed", f"not foreseen: {place_of_error(error)}").facts

    def _tell(self, number: int, event: str, data: dict[str, Any]) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                self._send({"id": number, "event": event, "data": data})
            except Exception:  # the connection has been closed, of whatever kind it is
                self.close()
