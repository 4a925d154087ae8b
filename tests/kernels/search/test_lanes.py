"""The search in lanes: against all that can count, and however it is left and entered again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.counting import count, count_many
from gpusudoku.engines import cpu as cpu_engine
from gpusudoku.engines import quick_search
from gpusudoku.enumeration.stream import Stream
from gpusudoku.kernels.search import shape as shape_module
from gpusudoku.kernels.search.arguments import Stack
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.options import Options
from tests import naive
from tests.boards import puzzle, run_uncompiled, with_wrong_clue


def random_boards(clues: int, boards: int, seed: int) -> list[Board]:
    return [puzzle("3x3", clues, 1000 * seed + k) for k in range(boards)]


def test_counts_equal_the_contraction() -> None:
    boards = [b for clues in (22, 24, 26, 28) for b in random_boards(clues, 60, clues)]
    boards += [with_wrong_clue(board, seed) for seed, board in enumerate(boards[:60])]
    search_counts = [result.count for result in count_many(boards, device="cpu", method="search")]
    contraction_counts = [
        result.count for result in count_many(boards, device="cpu", method="contraction")
    ]
    assert search_counts == contraction_counts
    assert min(search_counts) == 0
    assert max(search_counts) > 10_000


@pytest.mark.parametrize(
    ("strategy", "propagate", "nodes"),
    [("min", "naked-single", 287), ("min", "singles", 94), ("first", "singles", 102),
     ("min", "locked", 94), ("min", "naked-single,locked-candidates", 177), ("min", "all", 92)],
)  # fmt: skip
def test_techniques_and_strategies_save_nodes(
    strategy: str, propagate: str, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as they did before."""
    run_uncompiled(monkeypatch)
    monkeypatch.setattr(cpu_engine, "WIDTH", 2)
    visited_nodes = 0
    for board in [puzzle("3x3", 27, 2), with_wrong_clue(puzzle("3x3", 28, 5), 1)]:
        expected = naive.count(board)
        for limit in None, 3:
            result = count(board, device="cpu", jobs=1, method="search", limit=limit,
                          strategy=strategy, propagate=propagate)  # fmt: skip
            assert result.count == min(expected, limit or expected)
            visited_nodes += 0 if limit else result.stats.nodes
    assert visited_nodes == nodes


@pytest.mark.parametrize(("shape", "clues"), [("3x3", 27), ("3x4", 75), ("4x4", 158)])
def test_counts_are_the_same_on_any_number_of_lanes(
    shape: str, clues: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_engine, "WIDTH", 2)
    boards = [puzzle(shape, clues, seed) for seed in range(2)] + [
        with_wrong_clue(puzzle(shape, clues, 2), 1)
    ]
    outcomes = []
    for is_wide in True, False:
        monkeypatch.setattr(shape_module, "has_avx512", lambda is_wide=is_wide: is_wide)
        run_uncompiled(monkeypatch)
        counts = [count(board, device="cpu", jobs=1, method="search") for board in boards]
        outcomes.append([(result.count, result.stats.nodes) for result in counts])
    assert outcomes[0] == outcomes[1]
    assert max(number for number, _ in outcomes[0]) > 1


def test_the_order_on_one_thread_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the search is left and entered again, with boards in all lanes."""
    board = puzzle("3x3", 25, 12)
    listings = []
    for seconds, room in [(1e9, 1 << 20), (0.0, 1 << 20), (1e-4, 40 * 81)]:
        monkeypatch.setattr(cpu_engine, "CALL_SECONDS", seconds)
        monkeypatch.setattr(cpu_engine, "ROOM_BYTES", room)
        blocks = list(Stream(board, Options(device="cpu", jobs=1)))
        listings.append(np.concatenate(blocks))
    assert len(listings[0]) > 20 * Shape(3, 3).lanes
    assert all((listing == listings[0]).all() for listing in listings)
    assert len({row.tobytes() for row in listings[0]}) == len(listings[0])


def test_a_board_shared_among_threads_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads leave the search all the time, and what they share comes from lanes and stack."""
    monkeypatch.setattr(cpu_engine, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(cpu_engine, "WIDTH", 1)
    board = puzzle("3x3", 23, 3)
    expected = count(board, device="cpu", method="contraction").count
    for jobs in (2, 5):
        result = count(board, device="cpu", jobs=jobs, method="search")
        assert result.count == expected > 1000


def test_a_stack_that_is_too_low_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    depth = 3 * Shape(3, 3).lanes

    class LowStack(Stack):
        @classmethod
        def empty(cls, boards: int, *arguments: Any) -> Stack:
            return Stack.empty(depth, *arguments)

    monkeypatch.setattr(quick_search, "Stack", LowStack)
    board = puzzle("3x3", 23, 3)
    expected = count(board, device="cpu", method="contraction").count
    result = count(board, device="cpu", jobs=1, cutoff=1e300, method="search")
    assert result.count == expected > 1000
    assert result.stats.deepest > depth
