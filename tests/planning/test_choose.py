"""Search or contraction: what takes less, compiling included; both count alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.board.board import Board
from gpusudoku.contraction.general import effort
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.jobs.watch import Watch, watching
from gpusudoku.kernels import jit
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.store import Store
from gpusudoku.options import Options
from gpusudoku.planning import choose as choosing
from gpusudoku.planning.choose import NOT_COMPILED, choose
from gpusudoku.planning.patience import Patience
from gpusudoku.planning.search import SearchPlan
from tests import naive
from tests.boards import CLUES, puzzle, spoilt
from tests.planning.plans import GENERAL


def patience() -> dict[bool, Patience]:
    """Make what a new process has."""
    return {True: Patience("nine"), False: Patience("general")}


Price = Callable[[float, float], None]
BOARD = puzzle("3x3", 21, 1)


def test_what_takes_less() -> None:
    short = count(puzzle("3x3", 40, 1), device="cpu")
    assert short.method == "search"
    assert short.estimates is not None
    assert short.estimates.search_seconds is not None
    assert short.estimates.contraction_seconds is None
    long = count(BOARD, device="cpu")
    assert long.method == "contraction"
    assert long.estimates is not None
    assert long.estimates.contraction_seconds < long.estimates.search_seconds
    assert long.stats.products > 0
    assert long.count == count(BOARD, device="cpu", method="search").count


def test_few_clues_on_a_large_board_are_for_the_search() -> None:
    result = count(puzzle("4x4", 20, 1), device="cpu", limit=1000)
    assert (str(result), result.method) == ("1000+", "search")


@pytest.mark.parametrize("method", ["search", "contraction"])
def test_limits_mean_the_same(method: str) -> None:
    options: dict[str, Any] = {"device": "cpu", "method": method}
    for board in (GENERAL, puzzle("3x3", 24, 1)):
        total = count(board, **options).count
        for limit in (1, total - 1, total, total + 1):
            result = count(board, limit=limit, **options)
            assert (result.count, result.exact) == (min(total, limit), total < limit)
            assert str(next(iter(count_many([board], limit=limit, **options)))) == str(result)


@pytest.mark.parametrize("method", ["search", "contraction", "auto"])
def test_boards_of_all_shapes_alone_and_together(method: str) -> None:
    """With few solutions and with none."""
    boards = [puzzle(shape, clues, 1) for shape, clues in CLUES.items()]
    boards += [spoilt(puzzle(shape, clues, 3), 4) for shape, clues in CLUES.items()]
    boards += [spoilt(puzzle("3x3", 60, 5), 1), Board([1, 1] + [0] * 14)]
    expected = [naive.count(board) for board in boards]
    assert 0 in expected
    assert [count(board, device="cpu", method=method).count for board in boards] == expected
    results = count_many(boards, device="cpu", method=method)
    assert [result.count for result in results] == expected


def test_the_look_for_a_contraction_is_alike_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is bounded by counted work, not by the clock; a long one is announced."""
    monkeypatch.setattr(effort, "LONG_SECONDS", 0.0)
    board = puzzle("4x4", 102, 1)
    looks = list[float]()

    class Looks(Watch):
        def estimating(self, seconds: float) -> None:
            looks.append(seconds)

    with watching(Looks()):
        first, second = (choose(board, Options()) for _ in range(2))
    search = first.estimates.search_seconds
    assert looks == [search, search]
    assert first.estimates == second.estimates


@pytest.fixture
def price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Price:
    """Let compiling the search, or the contraction, take so many seconds, and the search half.

    How long searches took is kept nowhere else, and is not known yet: what is there is damaged.
    """
    store = Store(tmp_path / "kept", b"state")
    store.write("waited-nine", b"nonsense")
    monkeypatch.setattr(jit, "store", lambda: store)
    monkeypatch.setattr(choosing, "PATIENCE", patience())
    monkeypatch.setattr(SearchPlan, "seconds", 0.5)

    def set_price(search: float, contraction: float) -> None:
        def seconds(kernels: Iterable[Kernel]) -> float:
            names = [kernel.name or "" for kernel in kernels]
            return contraction if any("contraction" in name for name in names) else search

        monkeypatch.setattr(choosing, "compiling_seconds", seconds)

    return set_price


@pytest.mark.parametrize(
    ("search", "contraction", "threads", "method"),
    [
        (0.0, 0.0, 1, "contraction"),
        (4.0, 10.0, 1, "search"),
        (10.0, 4.0, 1, "contraction"),
        (10.0, 10.0, 1, "contraction"),  # what differs is the search itself
        (0.0, 0.3, 1, "contraction"),
        (0.0, 0.3, 2, "search"),
    ],
)
def test_what_takes_less_with_compiling(
    price: Price, search: float, contraction: float, threads: int, method: str
) -> None:
    price(search, contraction)
    assert choose(BOARD, Options(), engine=CpuEngine(threads)).method == method
    for asked in ("search", "contraction"):
        assert choose(BOARD, Options(method=asked)).method == asked


def test_searches_do_not_go_on_for_ever(price: Price, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once they took as long as compiling would, that is done: in whatever process."""
    price(0.0, 1.6)
    chosen = []
    for _ in range(5):
        chosen.append(choose(BOARD, Options(), engine=CpuEngine(1)))
        monkeypatch.setattr(choosing, "PATIENCE", patience())
    assert [plan.method for plan in chosen] == ["search"] * 3 + ["contraction"] * 2
    estimates = chosen[0].estimates
    assert (estimates.search_seconds, estimates.contraction_seconds) == (0.5, None)
    assert estimates.no_contraction == NOT_COMPILED
