"""Every call can be cancelled at any moment: no thread continues, and no state is damaged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board, Cancelled, CancelToken, Interrupted
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.solutions import Solutions, solutions
from gpusudoku.enumeration.stream import Stream
from tests import naive
from tests.boards import puzzle
from tests.enumeration.short import short_lists
from tests.waiting import until

BOARD = puzzle("2x3", 8, 0)
SOLUTIONS = [*naive.solutions(BOARD)]
NUMBER = len(SOLUTIONS)
NINE = puzzle("3x3", 28, 1)
EASY = [puzzle("2x3", 16, seed) for seed in range(6)]
MAX_TIMES = 20
"""Of moments that are tried; their distances grow."""

CALLS: dict[str, Callable[..., Any]] = {
    "search": lambda **options: gpusudoku.count(BOARD, method="search", **options).count,
    "contraction": lambda **options: gpusudoku.count(BOARD, method="contraction", **options).count,
    "count": lambda **options: gpusudoku.count(NINE, method="contraction", **options).count,
    "solve": lambda **options: gpusudoku.solve(BOARD, **options).unique,
    "count_many": lambda **options: gpusudoku.count_many(EASY, **options).numbers().tolist(),
    "each": lambda **options: [result.count for result in gpusudoku.count_many(EASY, **options)],
    "contractions": lambda **options: (
        gpusudoku.count_many([NINE] * 20, method="contraction", **options).numbers().tolist()
    ),
    "solve_many": lambda **options: gpusudoku.solve_many(EASY, **options).numbers().tolist(),
}
QUERIES: dict[str, Callable[[Solutions], Any]] = {
    "count": lambda all_solutions: all_solutions.count,
    "any": bool,
    "index": lambda all_solutions: all_solutions[NUMBER // 2].cells.tolist(),
    "from the end": lambda all_solutions: all_solutions[-1].cells.tolist(),
    "rank": lambda all_solutions: all_solutions.rank(np.array(SOLUTIONS[NUMBER // 3])),
    "boards": lambda all_solutions: [solution.cells.tolist() for solution in all_solutions[5:70]],
    "shares": lambda all_solutions: all_solutions.shares().tolist(),
    "sample": lambda all_solutions: all_solutions.sample(40, seed=1).tolist(),
    "blocks": lambda all_solutions: np.concatenate([*all_solutions.blocks()]).tolist(),
}


class Countdown(CancelToken):
    """A token that is cancelled after a number of reads of ``cancelled``."""

    def __init__(self, asks: int) -> None:
        super().__init__()
        self._left = asks

    @property
    def cancelled(self) -> bool:
        """Return whether it was read often enough."""
        self._left -= 1
        if self._left < 0 and not self._cancelled:
            self.cancel()
        return self._cancelled


def moments() -> Iterator[Countdown]:
    """Yield tokens that are cancelled later and later, until a call ends before."""
    asks = 0
    for _ in range(MAX_TIMES):
        token = Countdown(asks)
        yield token
        if token._left >= 0:
            return
        asks += 1 + asks // 2


@pytest.fixture(autouse=True)
def quick(uncompiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use uncompiled searches, and limits so small that all code paths run."""
    short_lists(monkeypatch)


def cancelled_at_every_moment(call: Callable[[CancelToken], Any], expected: Any) -> None:
    """Assert that a call is cancelled or right at every moment, and leaves no thread."""
    threads_before = threading.active_count()
    cancelled = 0
    for token in moments():
        try:
            assert call(token) == expected
        except Cancelled:
            cancelled += 1
        until(lambda: threading.active_count() <= threads_before)
    assert cancelled > 0


@pytest.mark.parametrize(("name", "jobs"), [*zip(CALLS, cycle([1, 3]), strict=False)])
def test_calls_can_be_cancelled_at_any_moment(name: str, jobs: int) -> None:
    """The engine can be used again afterwards."""
    engine = CpuEngine(jobs)
    expected = CALLS[name](engine=engine)
    cancelled_at_every_moment(lambda token: CALLS[name](engine=engine, cancel=token), expected)
    assert CALLS[name](engine=engine) == expected


@pytest.mark.parametrize(
    ("name", "board"), [*((name, BOARD) for name in QUERIES), ("shares", NINE), ("sample", NINE)]
)
def test_queries_of_solutions_can_be_cancelled_at_any_moment(name: str, board: Board) -> None:
    """One object answers after cancellations as an undisturbed one does."""
    all_solutions = solutions(board, device="cpu", jobs=2)
    expected = QUERIES[name](solutions(board, device="cpu", jobs=2))

    def call(token: CancelToken) -> Any:
        all_solutions.cancel = token
        return QUERIES[name](all_solutions)

    cancelled_at_every_moment(call, expected)
    all_solutions.cancel = None
    assert QUERIES[name](all_solutions) == expected


def test_a_cancelled_cross_check_is_not_reported_as_too_slow() -> None:
    result = gpusudoku.count(BOARD, method="search", device="cpu", jobs=1)
    expected = gpusudoku.cross_check(result, device="cpu", jobs=1)
    assert expected is not None
    for token in moments():
        try:
            assert gpusudoku.cross_check(result, device="cpu", jobs=1, cancel=token) == expected
        except Cancelled:
            continue


def test_a_cancelled_token_prevents_every_call() -> None:
    token = CancelToken()
    token.cancel()
    all_solutions = solutions(BOARD, device="cpu", cancel=token)
    for call in CALLS.values():
        with pytest.raises(Cancelled):
            call(device="cpu", cancel=token)
    for ask in QUERIES.values():
        with pytest.raises(Cancelled):
            ask(all_solutions)
    with pytest.raises(Interrupted):
        all_solutions[2:5].rank(SOLUTIONS[3])


@pytest.mark.parametrize("call", [gpusudoku.count_many, gpusudoku.solve_many])
def test_a_stored_error_keeps_no_threads_alive(call: Callable[..., Any]) -> None:
    """Its traceback refers to the results, which could keep their threads."""
    threads_before = threading.active_count()
    token = CancelToken()
    results = call([BOARD] * 200, cancel=token, jobs=2, device="cpu")
    first_result = next(results)
    token.cancel()
    assert first_result.solvable
    with pytest.raises(Cancelled) as caught:
        next(results)
    until(lambda: threading.active_count() <= threads_before)
    assert caught.value.__traceback__ is not None


def test_an_unread_stream_ends_with_its_token() -> None:
    threads_before = threading.active_count()
    token = CancelToken()
    empty = gpusudoku.parse("." * 36)
    with token:
        stream = Stream(empty, engine=CpuEngine(2))
    with closing(stream):
        next(stream)
        token.cancel()
        until(lambda: threading.active_count() <= threads_before)
        with pytest.raises(Cancelled):
            list(stream)
