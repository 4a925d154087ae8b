"""The price of compiling takes part in choosing; counts are what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from gpusudoku.board.board import Board
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.kernels import jit
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.store import Store
from gpusudoku.options import Options
from gpusudoku.planning import choose as choosing
from gpusudoku.planning.choose import NOT_COMPILED, choose
from gpusudoku.planning.patience import Patience
from gpusudoku.planning.run import count_board
from gpusudoku.planning.search import SearchPlan
from tests.boards import puzzle

Price = Callable[[float, float], None]
SEARCH_SECONDS = 0.5
BOARD = puzzle("3x3", 21, 1)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Where it is kept how long searches took: nowhere else, and they took no time yet."""
    store = Store(tmp_path / "kept", b"state")
    monkeypatch.setattr(jit, "store", lambda: store)
    monkeypatch.setattr(choosing, "PATIENCE", patience())
    return store


def patience() -> dict[bool, Patience]:
    """As it is in a new process."""
    return {True: Patience("nine"), False: Patience("general")}


@pytest.fixture
def price(store: Store, monkeypatch: pytest.MonkeyPatch) -> Price:
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


def test_searches_do_not_go_on_for_ever(price: Price, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once they took as long as compiling would, that is done: in whatever process."""
    price(0.0, 1.6)
    methods = []
    for _ in range(5):
        methods.append(choose(BOARD, Options(), engine=CpuEngine(1)).method)
        monkeypatch.setattr(choosing, "PATIENCE", patience())
    assert methods == ["search"] * 3 + ["contraction"] * 2


@pytest.mark.parametrize("kept", [b"nonsense", b"", b"nan"])
def test_what_cannot_be_read_is_no_time(store: Store, kept: bytes) -> None:
    store.write("waited-nine", kept)
    waited = choosing.PATIENCE[True]
    assert waited.seconds == 0.0
    waited.add(1.5)
    assert patience()[True].seconds == 1.5


def test_without_a_folder_this_process_counts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "store", lambda: None)
    waited = choosing.PATIENCE[True]
    waited.add(1.0)
    waited.add(1.0)
    assert waited.seconds == 2.0


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
