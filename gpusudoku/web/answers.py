"""Answers to what a page asks, as JSON types; integers that may exceed 2^53 are text."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any

from gpusudoku import __version__, collection
from gpusudoku.board.board import Board
from gpusudoku.board.text import write_cells
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import Cancelled, GpusudokuError, InputError
from gpusudoku.jobs.cancel import CancelToken, Deadline, cancelling
from gpusudoku.jobs.watch import Progress
from gpusudoku.kernels.compiling import ready
from gpusudoku.listing import Solutions
from gpusudoku.logic import explain
from gpusudoku.minimising import minimise
from gpusudoku.options import Options
from gpusudoku.orders.sampling import SEED_BITS
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import search_kernels
from gpusudoku.results import decimal_digits
from gpusudoku.web.questions import Question

SEARCHED = ("count", "shares", "sample", "nth", "minimise")
"""The kinds of questions that may take a search."""
KEPT = 2
"""Boards whose solutions are kept as far as they are worked out, those asked for last. What numbers
the solutions of a 9x9 board with 8 clues takes 100 MiB, and of an empty one nearly 300."""

Facts = dict[str, Any]
"""A JSON object."""
Tell = Callable[[Facts], None]
"""Takes the progress of an answer, about twenty times a second."""


class Expensive(GpusudokuError):  # noqa: N818 - as TooExpensive
    """An answer would take longer than the question allows, or has taken so long.

    ``seconds`` is what it should take, None if nobody knows; ``count`` is how many solutions had
    been found.
    """

    def __init__(self, message: str, seconds: float | None, count: int = 0) -> None:
        super().__init__(message)
        self.seconds, self.count = seconds, count


class Answers:
    """Answers questions, any number at a time, each in the thread that asks.

    Parameters
    ----------
    engine
        What counts, for all of them.
    options
        How; without a limit.
    """

    def __init__(self, engine: Engine, options: Options | None = None) -> None:
        self._engine, self._options = engine, options or Options()
        self._kept: OrderedDict[Board, Solutions] = OrderedDict()
        self._lock = threading.Lock()

    def about(self) -> Facts:
        """What answers here, and the boards that come with the program."""
        engine = self._engine
        facts = {"version": __version__, "device": engine.name, "threads": engine.threads}
        return {**facts, "boards": _examples()}

    def answer(
        self, question: Question, tell: Tell, cancel: CancelToken, waited: float = 0.0
    ) -> Facts:
        """Work out an answer; ``cancel`` stops that, and ``waited`` is taken off its seconds.

        Raises
        ------
        InputError
            If there is no answer: no solution with a number, or none at all, say.
        Expensive
            If it takes longer than the question allows.
        TooExpensive
            If the board cannot be done in reasonable time, however long one waits.
        Cancelled
            Once ``cancel`` is cancelled.
        """
        if question.kind in SEARCHED:
            with cancelling(cancel):
                self._compile(question.board, tell)
        over = Deadline(inf if question.seconds is None else max(0.0, question.seconds - waited))
        try:
            with cancelling(cancel, over):
                facts: Facts = getattr(self, f"_{question.kind}")(question, tell)
                return facts
        except Cancelled as error:
            if cancel.cancelled or not over.cancelled:
                raise
            words = f"it takes longer than {question.seconds:.3g} s; how long is not known"
            raise Expensive(words, None, error.count) from None

    def _compile(self, board: Board, tell: Tell) -> None:
        """Compile what boards of a shape need to be searched: no question pays for that."""
        kernels = search_kernels(board.geometry, self._options, self._engine)
        if not all(kernel.fetch() for kernel in kernels):
            tell({"compiling": True})
            ready(kernels)
            tell({"compiling": False})

    def _read(self, question: Question, tell: Tell) -> Facts:
        board = question.board
        return {**_of(board), "cells": board.cells.tolist()}

    def _count(self, question: Question, tell: Tell) -> Facts:
        said: Facts = {}

        def planned(plan: Plan) -> None:
            seconds = plan.seconds / self._engine.threads
            said.update(method=plan.method, estimate=seconds)
            if question.seconds is not None and seconds > question.seconds:
                raise Expensive("it should take longer than the question allows", seconds)
            tell(said)

        def progress(now: Progress) -> None:
            found = decimal_digits(now.count)
            tell({**said, "done": now.done, "at_least": found, "seconds": now.seconds})

        result = count(
            question.board,
            engine=self._engine,
            planned=planned,
            progress=progress,
            **vars(self._options),
        )
        return result.as_dict()

    def _shares(self, question: Question, tell: Tell) -> Facts:
        shares = self._solutions(question.board).shares().tolist()
        texts = [list(map(decimal_digits, row)) for row in shares]
        return {**_of(question.board), "count": decimal_digits(sum(shares[0])), "shares": texts}

    def _sample(self, question: Question, tell: Tell) -> Facts:
        n, seed = question.fields["n"], question.fields["seed"]
        seed = secrets.randbits(SEED_BITS) if seed is None else seed
        found = self._solutions(question.board)
        if n and not found:
            raise InputError("the board has no solution")
        grids = found.sample(n, seed)
        facts = {
            **_of(question.board),
            "seed": str(seed),
            "solutions": [write_cells(grid) for grid in grids],
        }
        if question.fields["numbers"]:  # which takes longer than to draw them
            boards = [Board(grid, question.board.geometry) for grid in grids]
            facts["k"] = [decimal_digits(found.rank(board)) for board in boards]
        return facts

    def _nth(self, question: Question, tell: Tell) -> Facts:
        numbers = question.fields["k"]
        found = self._solutions(question.board)
        try:
            solutions = [str(found[k]) for k in numbers]
        except IndexError as error:
            raise InputError(str(error)) from None
        return {
            **_of(question.board),
            "count": decimal_digits(found.count),
            "k": list(map(decimal_digits, numbers)),
            "solutions": solutions,
        }

    def _simplify(self, question: Question, tell: Tell) -> Facts:
        return explain(question.board).as_dict()

    def _minimise(self, question: Question, tell: Tell) -> Facts:
        start = time.perf_counter()

        def progress(done: int, clues: int) -> None:
            tell({"done": done / clues, "seconds": time.perf_counter() - start})

        # Most searches take less than a millisecond: a GPU would take longer to begin.
        engine = CpuEngine(self._engine.threads)
        seed = question.fields["seed"]
        result = minimise(question.board, seed=seed, engine=engine, progress=progress)
        return result.as_dict()

    def _solutions(self, board: Board) -> Solutions:
        """The solutions of a board, which are kept for the next question about it."""
        with self._lock:
            found = self._kept.pop(board, None)
            if found is None:
                found = Solutions(board, self._options, engine=self._engine)
            self._kept[board] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return found


@cache
def _examples() -> list[Facts]:
    """The boards that come with the program, but those that only the literature has counted."""
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


def _of(board: Board) -> Facts:
    return {"board": str(board), "box": str(board.geometry)}
