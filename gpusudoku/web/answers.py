"""Answers to the questions of a page, as JSON, or failures.

Integers that may exceed 2^53 are text, as JavaScript's numbers are not exact beyond it.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from math import inf
from pathlib import Path
from typing import Any

from gpusudoku import __version__, collection
from gpusudoku.board.board import Board
from gpusudoku.board.text import write_cells
from gpusudoku.counting import count
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.solutions import Solutions
from gpusudoku.enumeration.splitting import walk_kernel
from gpusudoku.errors import Cancelled, GpusudokuError, InputError, TooExpensive, printable
from gpusudoku.estimating import CountEstimate, estimates, short_numbers
from gpusudoku.jobs.cancel import CancelToken, Deadline, cancelling
from gpusudoku.jobs.watch import Progress
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.logic import explain
from gpusudoku.options import EstimateOptions, Options, checked_seed
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import SearchPlan, search_kernels
from gpusudoku.puzzles.minimise import minimise
from gpusudoku.results import decimal_digits
from gpusudoku.search.frontier import Frontier
from gpusudoku.web.questions import Question

SEARCH_KINDS = ("count", "shares", "sample", "nth", "minimise", "estimate")
"""The kinds of questions that may run a search."""
MAX_KEPT_BOARDS = 2
"""The number of boards whose solutions are kept for the next question. For a 9x9 board with 8
clues, the tables that number the solutions take 100 MiB; for an empty one nearly 300 MiB."""
ESTIMATE_OPTIONS = EstimateOptions(seconds=10.0, error=0.01)
"""When an estimate ends. A question may have another time limit."""
ESTIMATE_WALKS = 1024
"""The walks of a sample: fewer than usual, so that the first estimate comes soon."""
REPORT_SECONDS = 0.1
"""The time between two reports of an estimate."""
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
"""The HTTP status of each kind of failure."""
_PACKAGE = Path(__file__).parents[1]

Json = dict[str, Any]
"""A JSON object."""
Report = Callable[[Json], None]
"""Takes the progress of an answer, about twenty times a second."""


class Failure(Exception):  # noqa: N818 - it need not be an error
    """The reason why there is no answer; ``fields`` are further fields of its JSON object."""

    def __init__(self, kind: str, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = STATUSES[kind]
        self.fields = fields

    @property
    def facts(self) -> Json:
        """The failure as a JSON object."""
        message = printable(str(self))
        return {"error": message, "kind": self.kind, "status": self.status, **self.fields}


def failure_of(
    error: BaseException,
    unexpected: str = "an unexpected error occurred; the server's terminal shows where",
) -> Failure:
    """Turn any error into a failure. ``unexpected`` is the message for an unexpected error."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, TooExpensive):
        fields = {"seconds": error.seconds, "at_least": "0", "final": True}
        return Failure("expensive", str(error), **fields)
    if isinstance(error, GpusudokuError):
        return Failure("input" if isinstance(error, InputError) else "failed", str(error))
    if isinstance(error, MemoryError):
        return Failure("failed", "out of memory")
    return Failure("failed", unexpected)


def place_of_error(error: BaseException) -> str:
    """Return the type of an error, and the line of this package that raised it.

    The message of the error is left out: it may quote the question of a user.
    """
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):  # the innermost frame comes last
        path = Path(frame.filename)
        if _PACKAGE in path.parents:
            lines.append(f"{path.relative_to(_PACKAGE).as_posix()}:{frame.lineno}")
    return f"{type(error).__name__} in {lines[-1] if lines else 'a library'}"


class _CancelledUnplanned(Cancelled):
    """A count was cancelled before it had a plan, while it looked for a contraction."""


def _too_long(seconds: float) -> Failure:
    """Return the failure of a count that should take ``seconds``, which is too long."""
    message = "it should take longer than the question allows"
    return Failure("expensive", message, seconds=seconds, at_least="0")


class Answerer:
    """Answers questions with one engine. Any number of threads may ask at the same time."""

    def __init__(self, engine: Engine, options: Options | None = None) -> None:
        options = options or Options()
        self._engine = engine
        self._options = options
        self._kept_solutions = lru_cache(MAX_KEPT_BOARDS)(
            lambda board: Solutions(board, options, engine=engine)
        )
        self._lock = threading.Lock()

    def about(self) -> Json:
        """Describe the engine, and list the boards that come with the program."""
        engine = self._engine
        facts = {"version": __version__, "device": engine.kind, "threads": engine.threads}
        return {**facts, "boards": _examples()}

    def answer(
        self, question: Question, report: Report, cancel: CancelToken, waited: float = 0.0
    ) -> Json:
        """Answer a question within its time, which is reduced by ``waited``, in seconds.

        Raises
        ------
        Failure, GpusudokuError
            If there is no answer.
        Cancelled
            If ``cancel`` was cancelled.
        """
        if question.kind in SEARCH_KINDS:
            self._compile(question, report, cancel)  # does not count as time of the question
        seconds_left = inf
        if question.seconds is not None and question.kind != "estimate":
            seconds_left = max(0.0, question.seconds - waited)
        deadline = Deadline(seconds_left)
        try:
            with cancelling(cancel, deadline):
                answer = getattr(self, f"_answer_{question.kind}")
                facts: Json = answer(question, report)
                return facts
        except Cancelled as error:
            if cancel.cancelled or not deadline.cancelled:
                raise
            raise self._failure_at_deadline(question, error) from None

    def _compile(self, question: Question, report: Report, cancel: CancelToken) -> None:
        """Compile the kernels for the board of a question, unless they are cached."""
        geometry = question.board().geometry
        kernels = search_kernels(geometry, self._options, self._engine)
        if question.kind == "estimate":
            kernels.append(walk_kernel(geometry))
        with cancelling(cancel):
            if not all(kernel.load_from_cache() for kernel in kernels):
                report({"compiling": True})
                load_kernels(kernels)
                report({"compiling": False})

    def _failure_at_deadline(self, question: Question, error: Cancelled) -> Failure:
        """Return the failure of a question whose time has passed."""
        if isinstance(error, _CancelledUnplanned):
            # No contraction was found in this time. The estimate of a search is known, at least.
            search = SearchPlan(Frontier.of([question.board()]), self._options)
            seconds = search.seconds / self._engine.threads
            if seconds > (question.seconds or 0.0):
                return _too_long(seconds)
        message = f"it takes longer than {question.seconds:.3g} s; how long is not known"
        solution_count = decimal_digits(error.count)
        return Failure("expensive", message, seconds=None, at_least=solution_count)

    # One method for each kind of question, called by name.

    def _answer_read(self, question: Question, report: Report) -> Json:
        board = question.board()
        if board.given_candidates is not None:
            # The page shows cells only, and so it would count another board.
            raise InputError(f"board: {board.describe()}: only a board without them can be edited")
        return {**_board_facts(board), "cells": board.cells.tolist()}

    def _answer_count(self, question: Question, report: Report) -> Json:
        plan_facts: Json = {}

        def planned(plan: Plan) -> None:
            seconds = plan.seconds / self._engine.threads
            plan_facts.update(method=plan.method, estimate=seconds)
            if question.seconds is not None and seconds > question.seconds:
                raise _too_long(seconds)
            report(plan_facts)

        def report_progress(progress: Progress) -> None:
            facts = {
                "done": progress.done,
                "at_least": decimal_digits(progress.count),
                "seconds": progress.seconds,
            }
            report({**plan_facts, **facts})

        try:
            result = count(
                question.board(),
                engine=self._engine,
                planned=planned,
                progress=report_progress,
                **vars(self._options),
            )
        except Cancelled as error:
            if plan_facts:
                raise
            raise _CancelledUnplanned(str(error)) from error
        return result.as_dict()

    def _answer_estimate(self, question: Question, report: Report) -> Json:
        options = replace(ESTIMATE_OPTIONS, seconds=question.seconds or ESTIMATE_OPTIONS.seconds)
        results = estimates(
            question.board(), options, self._engine.threads, question.samples, ESTIMATE_WALKS
        )
        next_report = 0.0
        for result in results:
            if time.monotonic() >= next_report:
                next_report = time.monotonic() + REPORT_SECONDS
                report({"so_far": _estimate_facts(result)})
        return _estimate_facts(result)

    def _answer_shares(self, question: Question, report: Report) -> Json:
        shares = self._solutions(question.board()).shares().tolist()
        # Each solution has one digit in a cell, so the shares of any cell add up to the count.
        solution_count = sum(shares[0])
        return {
            **_board_facts(question.board()),
            "count": decimal_digits(solution_count),
            "shares": [[decimal_digits(share) for share in row] for row in shares],
        }

    def _answer_sample(self, question: Question, report: Report) -> Json:
        n = question.fields["n"]
        seed = question.fields["seed"]
        if seed is None:
            seed = checked_seed(None)
        solutions = self._solutions(question.board())
        if n and not solutions:
            raise InputError("the board has no solution")
        grids = solutions.sample(n, seed)
        facts = {
            **_board_facts(question.board()),
            "seed": str(seed),
            "solutions": [write_cells(grid) for grid in grids],
        }
        if question.fields["numbers"]:  # ranking takes longer than sampling
            boards = [Board(grid, question.board().geometry) for grid in grids]
            facts["k"] = [decimal_digits(solutions.rank(board)) for board in boards]
        return facts

    def _answer_nth(self, question: Question, report: Report) -> Json:
        numbers = question.fields["k"]
        solutions = self._solutions(question.board())
        try:
            texts = [str(solutions[number]) for number in numbers]
        except IndexError as error:
            raise InputError(str(error)) from None
        return {
            **_board_facts(question.board()),
            "count": decimal_digits(solutions.count),
            "k": [decimal_digits(number) for number in numbers],
            "solutions": texts,
        }

    def _answer_simplify(self, question: Question, report: Report) -> Json:
        return explain(question.board()).as_dict()

    def _answer_minimise(self, question: Question, report: Report) -> Json:
        return minimise(question.board(), seed=question.fields["seed"]).as_dict()

    def _solutions(self, board: Board) -> Solutions:
        """Return the solutions of a board, which are kept for the next question about it."""
        with self._lock:  # so that two threads do not make them twice
            return self._kept_solutions(board)


@cache
def _examples() -> list[Json]:
    """List the boards that come with the program, except those that no method here can count."""
    return [
        {
            "name": entry.name,
            "note": entry.note,
            "count": decimal_digits(entry.count),
            **_board_facts(collection.load(entry.name)),
        }
        for entry in collection.entries()
        if entry.confirmed != ("literature",)
    ]


def _estimate_facts(result: CountEstimate) -> Json:
    """Return an estimate as JSON, with numbers as text: they may exceed the largest float."""
    estimate, low, high = short_numbers(result)
    return {**result.as_dict(), "estimate": estimate, "low": low, "high": high}


def _board_facts(board: Board) -> Json:
    return {"board": str(board), "box": str(board.geometry)}
