"""Search or contraction: what takes less, compiling included; both count alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import effort, parts
from gpusudoku.contraction.prepare import contraction_of
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels import jit
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.store import Store
from gpusudoku.options import Options
from gpusudoku.planning import choose as choosing
from gpusudoku.planning.choose import NOT_COMPILED, choose
from gpusudoku.planning.patience import Patience
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import CLUES, puzzle, run_uncompiled, spoilt
from tests.planning.plans import GENERAL, in_parts

Price = Callable[[float, float], None]
BOARD = puzzle("3x3", 21, 1)
slow = pytest.mark.slow


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


@pytest.mark.parametrize(
    "shape", ["4x4", pytest.param("5x5", marks=slow), pytest.param("1x9", marks=slow)]
)
def test_too_expensive_in_one_line_with_figures(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shape == "1x9":  # compiled for nothing else
        run_uncompiled(monkeypatch)
    with pytest.raises(TooExpensive, match=r"too expensive to contract.*\d") as caught:
        count(Board.empty(Geometry.parse(shape)), device="cpu", method="contraction")
    assert "\n" not in str(caught.value)


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


def test_parts() -> None:
    """A board whose lists are too long is taken apart by clues, and its parts contracted."""
    for board in (puzzle("3x3", 26, 2), puzzle("2x3", 6, 2)):
        found = in_parts(board).run(CpuEngine(2)).counts
        assert found == [count(board, device="cpu", method="search").count]


@slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(
    ("shape", "clues"), [("1x8", 12), ("1x32", 900), ("1x64", 3584), ("32x1", 900)]
)
def test_skinny_boards_end_soon(shape: str, clues: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the method, what could take for ever is not begun."""
    monkeypatch.setattr(parts, "WALKERS", 1)  # each of them would meet the same bounds
    board = puzzle(shape, clues, 1)
    with suppress(TooExpensive):
        contraction = contraction_of(board, Frontier.of([board]), 1 << 28)
        assert contraction is None or contraction.seconds > 0


def test_the_look_for_a_contraction_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """By counted work, alike every time; and where it is long it is told."""
    monkeypatch.setattr(effort, "LONG_SECONDS", 0.0)
    board = puzzle("4x4", 102, 1)
    told = list[float]()
    first, second = (choose(board, Options(), looking=told.append) for _ in range(2))
    search = first.estimates.search_seconds
    assert told == [search, search]
    assert first.estimates == second.estimates


def patience() -> dict[bool, Patience]:
    """Make what a new process has."""
    return {True: Patience("nine"), False: Patience("general")}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Keep nowhere else how long searches took, and let them have taken no time yet."""
    store = Store(tmp_path / "kept", b"state")
    monkeypatch.setattr(jit, "store", lambda: store)
    monkeypatch.setattr(choosing, "PATIENCE", patience())
    return store


@pytest.fixture
def price(store: Store, monkeypatch: pytest.MonkeyPatch) -> Price:
    """Let compiling the search, or the contraction, take so many seconds, and the search half."""
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


def test_what_was_not_looked_at_is_said_to_be_not(price: Price) -> None:
    price(0.0, 10.0)
    estimates = choose(BOARD, Options()).estimates
    assert (estimates.search_seconds, estimates.contraction_seconds) == (0.5, None)
    assert estimates.no_contraction == NOT_COMPILED


def test_searches_do_not_go_on_for_ever(price: Price, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once they took as long as compiling would, that is done: in whatever process."""
    price(0.0, 1.6)
    methods = []
    for _ in range(5):
        methods.append(choose(BOARD, Options(), engine=CpuEngine(1)).method)
        monkeypatch.setattr(choosing, "PATIENCE", patience())
    assert methods == ["search"] * 3 + ["contraction"] * 2


def test_the_time_of_searches_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in (b"nonsense", b"", b"nan"):  # what cannot be read is no time
        store.write("waited-nine", kept)
        assert patience()[True].seconds == 0.0
    patience()[True].add(1.5)
    assert patience()[True].seconds == 1.5
    monkeypatch.setattr(jit, "store", lambda: None)  # without a folder this process counts
    waited = patience()[True]
    waited.add(1.0)
    waited.add(1.0)
    assert waited.seconds == 2.0
