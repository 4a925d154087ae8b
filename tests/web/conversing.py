"""A conversation whose messages are kept, and answers that wait until they are told to come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.jobs.cancel import CancelToken, check_cancelled
from gpusudoku.options import Options
from gpusudoku.web.answers import Answers, Facts, Tell
from gpusudoku.web.conversation import THREADS, Conversation
from gpusudoku.web.questions import Question

SMALL = "1....2....3....."
"""A board with 6 solutions."""
PATIENCE = 300.0
"""Seconds after which something that should happen has not happened."""


def until(condition: Callable[[], Any]) -> Any:
    """Wait until something is so, and give it."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)
    return found


def threads() -> list[threading.Thread]:
    """Those that work at questions now."""
    return [thread for thread in threading.enumerate() if thread.name == THREADS]


class Browser:
    """Asks by messages, and keeps what it is told."""

    def __init__(self, answers: Any = None) -> None:
        self.told: list[Facts] = []
        self.counted: list[Facts] = []
        answers = answers or Answers(CpuEngine(2), Options(method="search"))
        self.conversation = Conversation(answers, self.told.append, self._answered)

    def ask(self, number: int, kind: str = "count", **fields: Any) -> None:
        question = {"board": SMALL, **fields}
        self.conversation.receive({"id": number, "kind": kind, "question": question})

    def cancel(self, number: int) -> None:
        self.conversation.receive({"id": number, "cancel": True})

    def events(self, number: int) -> list[str]:
        return [each["event"] for each in list(self.told) if each["id"] == number]

    def last(self, number: int) -> Facts:
        """The result or the error of a question, once it is there."""

        def found() -> list[Facts]:
            told = list(self.told)
            ends = ("result", "error")
            return [each for each in told if each["id"] == number and each["event"] in ends]

        [last] = until(found)
        return last

    def answer(self, number: int, kind: str, **fields: Any) -> Facts:
        """The answer to a question."""
        self.ask(number, kind, **fields)
        last = self.last(number)
        assert last["event"] == "result"
        data: Facts = last["data"]
        return data

    def error(self, number: int) -> Facts:
        last = self.last(number)
        assert last["event"] == "error"
        data: Facts = last["data"]
        return data

    def _answered(self, question: Question, facts: Facts) -> None:
        self.counted.append(facts)


class Waiting:
    """Answers that come only when they are cancelled, or let go; it keeps who works when."""

    def __init__(self) -> None:
        self.working = 0
        self.most = 0
        self.go = threading.Event()
        self._lock = threading.Lock()

    def answer(self, question: Question, tell: Tell, cancel: CancelToken) -> Facts:
        check_cancelled(cancel)
        with self._lock:
            self.working += 1
            self.most = max(self.most, self.working)
        try:
            while not self.go.wait(0.001):
                check_cancelled(cancel)
            return {"board": str(question.board)}
        finally:
            with self._lock:
                self.working -= 1
