"""Every call can be cancelled, at any moment: no thread works then, and nothing is half made."""

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
    "search": lambda **given: gpusudoku.count(BOARD, method="search", **given).count,
    "contraction": lambda **given: gpusudoku.count(BOARD, method="contraction", **given).count,
    "count": lambda **given: gpusudoku.count(NINE, method="contraction", **given).count,
    "solve": lambda **given: gpusudoku.solve(BOARD, **given).unique,
    "count_many": lambda **given: gpusudoku.count_many(EASY, **given).numbers().tolist(),
    "each": lambda **given: [each.count for each in gpusudoku.count_many(EASY, **given)],
    "contractions": lambda **given: (
        gpusudoku.count_many([NINE] * 20, method="contraction", **given).numbers().tolist()
    ),
    "solve_many": lambda **given: gpusudoku.solve_many(EASY, **given).numbers().tolist(),
}
ASKED: dict[str, Callable[[Solutions], Any]] = {
    "count": lambda found: found.count,
    "any": bool,
    "index": lambda found: found[NUMBER // 2].cells.tolist(),
    "from the end": lambda found: found[-1].cells.tolist(),
    "rank": lambda found: found.rank(np.array(SOLUTIONS[NUMBER // 3])),
    "boards": lambda found: [each.cells.tolist() for each in found[5:70]],
    "shares": lambda found: found.shares().tolist(),
    "sample": lambda found: found.sample(40, seed=1).tolist(),
    "blocks": lambda found: np.concatenate([*found.blocks()]).tolist(),
}


class Countdown(CancelToken):
    """Is cancelled when somebody asks for the so-many-th time whether it is."""

    def __init__(self, asks: int) -> None:
        super().__init__()
        self._left = asks

    @property
    def cancelled(self) -> bool:
        """Whether that was asked often enough."""
        self._left -= 1
        if self._left < 0 and not self._cancelled:
            self.cancel()
        return self._cancelled


def moments() -> Iterator[Countdown]:
    """Tokens that are cancelled at once, a little later, and so on, until one is not any more."""
    asks = 0
    for _ in range(MAX_TIMES):
        token = Countdown(asks)
        yield token
        if token._left >= 0:
            return
        asks += 1 + asks // 2


@pytest.fixture(autouse=True)
def quick(uncompiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that need no compiling, and lists so short that all ways are taken."""
    short_lists(monkeypatch)


def cancelled_at_every_moment(call: Callable[[CancelToken], Any], expected: Any) -> None:
    """At each it ends with an error, or as ever; and no thread works on."""
    before = threading.active_count()
    cancelled = 0
    for token in moments():
        try:
            assert call(token) == expected
        except Cancelled:
            cancelled += 1
        until(lambda: threading.active_count() <= before)
    assert cancelled > 0


@pytest.mark.parametrize(("name", "jobs"), [*zip(CALLS, cycle([1, 3]), strict=False)])
def test_calls(name: str, jobs: int) -> None:
    """With one engine, which remains as good as before."""
    engine = CpuEngine(jobs)
    expected = CALLS[name](engine=engine)
    cancelled_at_every_moment(lambda token: CALLS[name](engine=engine, cancel=token), expected)
    assert CALLS[name](engine=engine) == expected


@pytest.mark.parametrize(
    ("name", "board"), [*((name, BOARD) for name in ASKED), ("shares", NINE), ("sample", NINE)]
)
def test_what_is_asked_of_solutions(name: str, board: Board) -> None:
    """One object is asked again and again, and another without ever being disturbed."""
    found = solutions(board, device="cpu", jobs=2)
    expected = ASKED[name](solutions(board, device="cpu", jobs=2))

    def call(token: CancelToken) -> Any:
        found.cancel = token
        return ASKED[name](found)

    cancelled_at_every_moment(call, expected)
    found.cancel = None
    assert ASKED[name](found) == expected


def test_a_check_that_is_cancelled_is_no_check_that_takes_too_long() -> None:
    result = gpusudoku.count(BOARD, method="search", device="cpu", jobs=1)
    expected = gpusudoku.cross_check(result, device="cpu", jobs=1)
    assert expected is not None
    for token in moments():
        try:
            assert gpusudoku.cross_check(result, device="cpu", jobs=1, cancel=token) == expected
        except Cancelled:
            continue


def test_a_cancelled_token_lets_nothing_begin() -> None:
    token = CancelToken()
    token.cancel()
    found = solutions(BOARD, device="cpu", cancel=token)
    for call in CALLS.values():
        with pytest.raises(Cancelled):
            call(device="cpu", cancel=token)
    for ask in ASKED.values():
        with pytest.raises(Cancelled):
            ask(found)
    with pytest.raises(Interrupted):
        found[2:5].rank(SOLUTIONS[3])


@pytest.mark.parametrize("call", [gpusudoku.count_many, gpusudoku.solve_many])
def test_an_error_that_is_kept_keeps_no_threads(call: Callable[..., Any]) -> None:
    """The error has the results in its traceback, and they would have their threads."""
    before = threading.active_count()
    token = CancelToken()
    found = call([BOARD] * 200, cancel=token, jobs=2, device="cpu")
    first = next(found)
    token.cancel()
    assert first.solvable
    with pytest.raises(Cancelled) as kept:
        next(found)
    until(lambda: threading.active_count() <= before)
    assert kept.value.__traceback__ is not None


def test_a_stream_that_nobody_reads_ends_with_its_token() -> None:
    before = threading.active_count()
    token = CancelToken()
    empty = gpusudoku.parse("." * 36)
    with token:
        stream = Stream(empty, engine=CpuEngine(2))
    with closing(stream):
        next(stream)
        token.cancel()
        until(lambda: threading.active_count() <= before)
        with pytest.raises(Cancelled):
            list(stream)
