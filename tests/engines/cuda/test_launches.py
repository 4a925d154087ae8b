"""Launch after launch: budgets, short stacks, and boards gathered and dealt out anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cuda import device, launch
from gpusudoku.engines.cuda.device import SIMULATED
from gpusudoku.kernels.search import loop
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle, streamed
from tests.engines.cuda.simulator import (
    CLUES,
    MANY,
    ON_SIMULATOR,
    counted,
    limit_budgets,
    limit_memory,
    tuned,
)

pytestmark = ON_SIMULATOR


@pytest.mark.parametrize("shape", ["2x3", "3x3"])
def test_contiguous_stacks(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacks that lie in memory the other way, gathered and dealt out again."""
    limit_budgets(3, monkeypatch)
    board = puzzle(shape, CLUES[shape] - 4, 6)
    engine = tuned(stacks="contiguous")
    assert counted(board, cutoff=1e300, engine=engine) == naive.count(board)


def test_budgets_that_run_out(monkeypatch: pytest.MonkeyPatch, launches: Any) -> None:
    """A thread goes on in the next launch where the last one left it."""
    engine = tuned(launch_seconds=1e-9)  # every launch is too long
    limit_budgets(4, monkeypatch)
    monkeypatch.setattr(loop, "SLICE", 2)
    total = naive.count(MANY)
    assert counted(MANY, cutoff=1e30, strategy="first", engine=engine) == total
    assert {launched.budget for launched in launches} == {0, 4, 2, 1}
    assert len(launches) > 10


def test_the_next_budget_fits_the_time(monkeypatch: pytest.MonkeyPatch, launches: Any) -> None:
    engine = tuned(launch_seconds=1e9)
    limit_budgets(2, monkeypatch)
    assert counted(MANY, cutoff=1e30, engine=engine) == naive.count(MANY)
    assert 4 in {launched.budget for launched in launches}


def test_what_is_left_is_expanded_anew(monkeypatch: pytest.MonkeyPatch, launches: Any) -> None:
    """One thread has all the work: it is gathered from its stack and dealt to all."""
    limit_budgets(3, monkeypatch)
    gathered = []
    expanded = Frontier.expanded

    def watched(self: Frontier, *arguments: Any, **options: Any) -> Frontier:
        gathered.append(len(self))
        return expanded(self, *arguments, **options)

    monkeypatch.setattr(Frontier, "expanded", watched)
    board = puzzle("2x3", 8, 6)
    result = count(board, device="cuda", method="search", cutoff=1e30)
    assert result.count == naive.count(board)
    assert len(gathered) > 1
    assert max(gathered[1:]) > 1, "boards came back from a stack"
    # The guesses of the expansions in between are guesses, too.
    plain = count(board, device="cpu", method="search", jobs=1, cutoff=1e30)
    assert result.stats.boards_explored == plain.stats.boards_explored


@pytest.mark.parametrize("levels", [0, 16, 24, 40])
def test_short_stacks(levels: int, monkeypatch: pytest.MonkeyPatch, launches: Any) -> None:
    """A GPU with hardly any memory: threads stop at a full stack, and all goes on."""
    limit_memory(levels, MANY.geometry, monkeypatch)
    board = puzzle("2x3", 8, 6)
    # One that can be stopped: a search that gets nowhere would launch for ever.
    assert counted(board, cutoff=1e30, strategy="first") == naive.count(board)
    assert {launched.depth for launched in launches} == {max(2, levels // 8)}
    assert {launched.threads for launched in launches} == {8 if levels else 1}


def test_short_stacks_with_a_wide_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_memory(16, MANY.geometry, monkeypatch)
    board = puzzle("2x3", 8, 6)
    assert counted(board, strategy="first") == naive.count(board)


@pytest.mark.parametrize(("levels", "stacks"), [(0, "interleaved"), (16, "contiguous")])
def test_short_stacks_of_9x9_boards(
    levels: int, stacks: str, monkeypatch: pytest.MonkeyPatch, launches: Any
) -> None:
    """The search of 9x9 boards has the current board elsewhere, but stops at two rows, too."""
    limit_memory(levels, Geometry(3, 3), monkeypatch)
    board = puzzle("3x3", 28, 7)
    engine = tuned(stacks=stacks)
    assert counted(board, cutoff=1e300, strategy="first", engine=engine) == naive.count(board)
    assert {launched.depth for launched in launches} == {max(2, levels // 8)}
    assert {launched.threads for launched in launches} == {8 if levels else 1}
    assert len(launches) > 3, "threads stopped, and boards were dealt out anew"


@pytest.mark.parametrize(("levels", "threads", "depth"), [(0, 3, 2), (16, 6, 2), (400, 12, 33)])
def test_whole_warps(
    levels: int, threads: int, depth: int, monkeypatch: pytest.MonkeyPatch, launches: Any
) -> None:
    """Threads that wait for each other are all there, and have stacks: here in warps of three."""
    limit_memory(levels, MANY.geometry, monkeypatch)
    engine = tuned()
    engine.gpus[0].warp = 3
    assert counted(puzzle("2x3", 12, 6), cutoff=1e30, engine=engine) > 0
    assert {(launched.threads, launched.depth) for launched in launches} == {(threads, depth)}


def test_quick_launches_do_not_raise_budgets_without_end(
    monkeypatch: pytest.MonkeyPatch, launches: Any
) -> None:
    """A launch that ends early says nothing of how long the next may be.

    It would hold the GPU for hours, deaf to Ctrl-C, and one day the budget overflows.
    """
    monkeypatch.setattr(launch, "ROOM_BYTES", 16)  # room for one solution
    monkeypatch.setattr(device, "SIMULATED", replace(SIMULATED, launch_seconds=1e9))
    found = streamed(Board.empty(Geometry(2, 2)), device="cuda", limit=70)
    assert len(found) == 70
    assert len(launches) >= 64
    assert max(launched.budget for launched in launches) < 2**40
