"""Answers to questions of a page, or failures, as JSON; integers that may exceed 2^53 are text."""

from __future__ import annotations

import secrets
import threading
import traceback
from collections.abc import Callable
from functools import cache, lru_cache
from math import inf
from pathlib import Path
from typing import Any

from gpusudoku import __version__, collection
from gpusudoku.board.board import Board
from gpusudoku.board.text import write_cells
from gpusudoku.counting import count
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.sampling import SEED_BITS
from gpusudoku.enumeration.solutions import Solutions
from gpusudoku.errors import Cancelled, GpusudokuError, InputError, TooExpensive, printable
from gpusudoku.jobs.cancel import CancelToken, Deadline, cancelling
from gpusudoku.jobs.watch import Progress
from gpusudoku.kernels.compile_many import ready
from gpusudoku.logic import explain
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import SearchPlan, search_kernels
from gpusudoku.puzzles.minimise import minimise
from gpusudoku.results import decimal_digits
from gpusudoku.search.frontier import Frontier
from gpusudoku.web.questions import Question

SEARCHED = ("count", "shares", "sample", "nth", "minimise")
"""The kinds of questions that may take a search."""
KEPT = 2
"""Boards whose solutions are kept as far as they are known, the last ones asked for. Tables that
number the solutions of a 9x9 board with 8 clues take 100 MiB, those of an empty one nearly 300."""
STATUSES = {
    "input": 400,
    "foreign": 403,
    "missing": 404,
    "method": 405,
    "overtaken": 409,
    "large": 413,
    "expensive": 422,
    "failed": 500,
    "busy": 503,
    "late": 504,
}
"""The kinds of failures, each with its status of HTTP."""
_PACKAGE = Path(__file__).parents[1]

Json = dict[str, Any]
"""A JSON object."""
Tell = Callable[[Json], None]
"""Takes the progress of an answer, about twenty times a second."""


class Failure(Exception):  # noqa: N818 - it need not be an error
    """The reason why there is no answer; ``more`` are further fields of its JSON object."""

    def __init__(self, kind: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = STATUSES[kind]
        self.more = more

    @property
    def facts(self) -> Json:
        """All of it as a JSON object."""
        message = printable(str(self))
        return {"error": message, "kind": self.kind, "status": self.status, **self.more}


def failure_of(
    error: BaseException,
    unexpected: str = "something went wrong here; the server's terminal says where",
) -> Failure:
    """Turn any error into a failure, an unexpected one into one with that message."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, TooExpensive):
        more = {"seconds": error.seconds, "at_least": "0", "final": True}
        return Failure("expensive", str(error), **more)
    if isinstance(error, GpusudokuError):
        return Failure("input" if isinstance(error, InputError) else "failed", str(error))
    if isinstance(error, MemoryError):
        return Failure("failed", "out of memory")
    return Failure("failed", unexpected)


def place_of_error(error: BaseException) -> str:
    """Return the type of an error and the line of ours that raised it: nothing of the question."""
    ours = [
        f"{path.relative_to(_PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if _PACKAGE in (path := Path(frame.filename)).parents
    ]
    return f"{type(error).__name__} in {ours[-1] if ours else 'a library'}"


class _Unplanned(Cancelled):
    """A count that was cancelled before there was a plan: while a contraction was looked for."""


def _too_long(seconds: float) -> Failure:
    """Return the failure of a count that should take so many seconds."""
    words = "it should take longer than the question allows"
    return Failure("expensive", words, seconds=seconds, at_least="0")


class Answerer:
    """Answers questions with one engine, any number at a time, each in the thread that asks."""

    def __init__(self, engine: Engine, options: Options | None = None) -> None:
        options = options or Options()
        self._engine = engine
        self._options = options
        self._kept = lru_cache(KEPT)(lambda board: Solutions(board, options, engine=engine))
        self._lock = threading.Lock()

    def about(self) -> Json:
        """Describe the engine, and list the boards that come with the program."""
        engine = self._engine
        facts = {"version": __version__, "device": engine.kind, "threads": engine.threads}
        return {**facts, "boards": _examples()}

    def answer(
        self, question: Question, tell: Tell, cancel: CancelToken, waited: float = 0.0
    ) -> Json:
        """Find the answer, within the question's seconds less those ``waited``, or raise."""
        if question.kind in SEARCHED:
            # Compiling does not count as a part of the question's seconds.
            kernels = search_kernels(question.board().geometry, self._options, self._engine)
            with cancelling(cancel):
                if not all(kernel.fetch() for kernel in kernels):
                    tell({"compiling": True})
                    ready(kernels)
                    tell({"compiling": False})
        over = Deadline(inf if question.seconds is None else max(0.0, question.seconds - waited))
        try:
            with cancelling(cancel, over):
                facts: Json = getattr(self, f"_{question.kind}")(question, tell)
                return facts
        except Cancelled as error:
            if cancel.cancelled or not over.cancelled:
                raise
            if isinstance(error, _Unplanned):
                search = SearchPlan(Frontier.of([question.board()]), self._options)
                seconds = search.seconds / self._engine.threads
                if seconds > (question.seconds or 0.0):
                    raise _too_long(seconds) from None
            words = f"it takes longer than {question.seconds:.3g} s; how long is not known"
            found = decimal_digits(error.count)
            raise Failure("expensive", words, seconds=None, at_least=found) from None

    def _read(self, question: Question, tell: Tell) -> Json:
        board = question.board()
        if board.given_candidates is not None:  # the page would count another board
            raise InputError(f"board: {board.describe()}: only one without can be edited")
        return {**_of(board), "cells": board.cells.tolist()}

    def _count(self, question: Question, tell: Tell) -> Json:
        said: Json = {}

        def planned(plan: Plan) -> None:
            seconds = plan.seconds / self._engine.threads
            said.update(method=plan.method, estimate=seconds)
            if question.seconds is not None and seconds > question.seconds:
                raise _too_long(seconds)
            tell(said)

        def progress(now: Progress) -> None:
            found = decimal_digits(now.count)
            tell({**said, "done": now.done, "at_least": found, "seconds": now.seconds})

        try:
            result = count(
                question.board(),
                engine=self._engine,
                planned=planned,
                progress=progress,
                **vars(self._options),
            )
        except Cancelled as error:
            if said:
                raise
            raise _Unplanned(str(error)) from error
        return result.as_dict()

    def _shares(self, question: Question, tell: Tell) -> Json:
        shares = self._solutions(question.board()).shares().tolist()
        texts = [list(map(decimal_digits, row)) for row in shares]
        return {**_of(question.board()), "count": decimal_digits(sum(shares[0])), "shares": texts}

    def _sample(self, question: Question, tell: Tell) -> Json:
        n = question.fields["n"]
        seed = question.fields["seed"]
        seed = secrets.randbits(SEED_BITS) if seed is None else seed
        found = self._solutions(question.board())
        if n and not found:
            raise InputError("the board has no solution")
        grids = found.sample(n, seed)
        facts = {
            **_of(question.board()),
            "seed": str(seed),
            "solutions": [write_cells(grid) for grid in grids],
        }
        if question.fields["numbers"]:  # which takes longer than to draw them
            boards = [Board(grid, question.board().geometry) for grid in grids]
            facts["k"] = [decimal_digits(found.rank(board)) for board in boards]
        return facts

    def _nth(self, question: Question, tell: Tell) -> Json:
        numbers = question.fields["k"]
        found = self._solutions(question.board())
        try:
            solutions = [str(found[k]) for k in numbers]
        except IndexError as error:
            raise InputError(str(error)) from None
        return {
            **_of(question.board()),
            "count": decimal_digits(found.count),
            "k": list(map(decimal_digits, numbers)),
            "solutions": solutions,
        }

    def _simplify(self, question: Question, tell: Tell) -> Json:
        return explain(question.board()).as_dict()

    def _minimise(self, question: Question, tell: Tell) -> Json:
        return minimise(question.board(), seed=question.fields["seed"]).as_dict()

    def _solutions(self, board: Board) -> Solutions:
        """Return the solutions of a board, which are kept for the next question about it."""
        with self._lock:
            return self._kept(board)


@cache
def _examples() -> list[Json]:
    """List the boards that come with the program, except those that nothing here can count."""
    return [
        {
            "name": entry.name,
            "note": entry.note,
            "count": decimal_digits(entry.count),
            **_of(collection.load(entry.name)),
        }
        for entry in collection.entries()
        if entry.confirmed != ("literature",)
    ]


def _of(board: Board) -> Json:
    return {"board": str(board), "box": str(board.geometry)}
