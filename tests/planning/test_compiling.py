"""The price of compiling takes part in choosing; counts are what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from gpusudoku.board.board import Board
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.options import Options
from gpusudoku.planning import choose as choosing
from gpusudoku.planning.choose import NOT_COMPILED, choose
from gpusudoku.planning.run import count_board
from gpusudoku.planning.search import SearchPlan
from tests.boards import puzzle

Price = Callable[[float, float], None]
SEARCH_SECONDS = 0.5
BOARD = puzzle("3x3", 21, 1)


@pytest.fixture
def price(monkeypatch: pytest.MonkeyPatch) -> Price:
    """Let compiling the search, or the contraction, take so many seconds, and the search half."""
    monkeypatch.setattr(SearchPlan, "seconds", SEARCH_SECONDS)

    def set_price(search: float, contraction: float) -> None:
        def seconds(kernels: Iterable[Kernel]) -> float:
            names = [kernel.name or "" for kernel in kernels]
            return contraction if any("contraction" in name for name in names) else search

        monkeypatch.setattr(choosing, "compiling_seconds", seconds)

    return set_price


@pytest.mark.parametrize(
    ("search", "contraction", "method"),
    [
        (0.0, 0.0, "contraction"),
        (0.0, 10.0, "search"),
        (4.0, 10.0, "search"),
        (10.0, 4.0, "contraction"),
        (10.0, 10.0, "contraction"),  # what differs is the search itself
    ],
)
def test_what_takes_less_with_compiling(
    price: Price, search: float, contraction: float, method: str
) -> None:
    price(search, contraction)
    engine, counts = CpuEngine(1), set[int]()
    plan = choose(BOARD, Options(), engine=engine)
    assert plan.method == method
    for one in "auto", "search", "contraction":
        counts.add(count_board(BOARD, Options(method=one), engine).count)
    assert len(counts) == 1


def test_what_was_not_looked_at_is_said_to_be_not(price: Price) -> None:
    price(0.0, 10.0)
    estimates = choose(BOARD, Options()).estimates
    assert (estimates.search_seconds, estimates.contraction_seconds) == (SEARCH_SECONDS, None)
    assert estimates.no_contraction == NOT_COMPILED


def test_more_threads_make_the_search_worth_more(price: Price) -> None:
    price(0.0, 0.3)
    assert choose(BOARD, Options(), engine=CpuEngine(1)).method == "contraction"
    assert choose(BOARD, Options(), engine=CpuEngine(2)).method == "search"


def test_a_method_that_is_asked_for_is_taken(price: Price) -> None:
    price(1000.0, 1000.0)
    for method in "search", "contraction":
        assert choose(BOARD, Options(method=method)).method == method


@pytest.mark.parametrize(
    ("board", "options", "wanted", "unwanted"),
    [
        (BOARD, {}, "search.run", "contraction"),
        (Board.empty(BOARD.geometry), {}, "contraction", "search.run"),
        (Board.empty(BOARD.geometry), {"limit": 2}, "search.run", "contraction"),
        (Board.empty(BOARD.geometry), {"method": "search"}, "search.run", "contraction"),
        (BOARD, {"method": "contraction"}, "contraction", "search.run"),
    ],
    ids=["clues", "no clues", "limit", "search", "contraction"],
)
def test_what_is_likely_to_be_needed_is_compiled_at_once(
    board: Board,
    options: dict[str, object],
    wanted: str,
    unwanted: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class KnownError(Exception):
        pass

    def ready(kernels: Iterable[Kernel]) -> None:
        names = " ".join(str(kernel.name) for kernel in kernels)
        assert wanted in names
        assert unwanted not in names
        raise KnownError

    monkeypatch.setattr(choosing, "ready", ready)
    with pytest.raises(KnownError):
        choose(board, Options(**options), engine=CpuEngine(1))
