"""The 9x9 search of a GPU's thread as plain Python: alone, and with a warp that waits for all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.kernels.search.arguments import NODES, TOP, Found, Stack, Work, limit_of
from gpusudoku.kernels.search.nine import thread as nine_thread
from gpusudoku.kernels.search.nine.planes import MEMORY_ROWS, NINE, WORDS, boards_of
from gpusudoku.kernels.search.nine.rows import ROW_WORDS, rows_of
from gpusudoku.kernels.search.settings import FIRST, MIN, SearchSettings
from gpusudoku.search.frontier import Frontier
from gpusudoku.search.techniques import parse_techniques
from tests import naive
from tests.boards import as_it_is, full_grid, puzzle, run_uncompiled, spoilt

BOARDS = [puzzle("3x3", 31, 1), spoilt(puzzle("3x3", 30, 5), 1), puzzle("3x3", 35, 3)]
BOARDS += [Board(full_grid(puzzle("3x3", 0, 0).geometry, 7)), puzzle("3x3", 31, 6)]


@pytest.fixture
def frontier(monkeypatch: pytest.MonkeyPatch) -> Frontier:
    """The boards."""
    run_uncompiled(monkeypatch)
    return Frontier.of(BOARDS)


class Warp:
    """Threads that search boards together, each a thread of Python's."""

    def __init__(self, frontier: Frontier, threads: int, depth: int = 83, room: int = 0) -> None:
        self.work = Work(rows_of(frontier.boards), frontier.roots, np.zeros(1, np.int64))
        self.found = Found.empty(len(BOARDS), room, 81)
        self.stacks = [Stack.empty(depth, ROW_WORDS, np.uint32) for _ in range(threads)]
        for stack in self.stacks:
            stack.boards[...] = 0xA5A5A5A5  # whatever was there
        self._threads, self._lock, self._said = threads, threading.Lock(), [False] * threads
        self._barrier = threading.Barrier(threads, timeout=200)
        self.votes = [0] * threads

    def launch(self, settings: SearchSettings, budget: int, limit: int | None = None) -> None:
        """Run the threads until all return; nobody else may vote in the meantime."""
        failed: list[BaseException] = []

        def run(thread: int) -> None:
            loop = nine_thread.build_thread_run(
                settings, as_it_is, self._claim, self._add, self._voter(thread)
            )
            memory = np.full((MEMORY_ROWS, 1), 0xA5A5A5A5, np.uint32)
            try:
                with np.errstate(over="ignore"):
                    arguments = self.work, self.stacks[thread], self.found, budget
                    loop(*arguments, limit_of(limit), memory)
            except BaseException as error:
                failed.append(error)
                self._barrier.abort()

        runners = [threading.Thread(target=run, args=(thread,)) for thread in range(self._threads)]
        for runner in runners:
            runner.start()
        for runner in runners:
            runner.join()
        assert not failed, failed
        assert len(set(self.votes)) == 1, "all threads are asked equally often"

    def _voter(self, thread: int) -> Callable[[Any], bool]:
        def any_of_warp(condition: Any) -> bool:
            self.votes[thread] += 1
            self._said[thread] = bool(condition)
            self._barrier.wait()
            verdict = any(self._said)
            self._barrier.wait()
            return verdict

        return any_of_warp

    def _claim(self, counter: NDArray[np.int64]) -> int:
        with self._lock:
            counter[0] += 1
            return int(counter[0]) - 1

    def _add(self, array: NDArray[np.uint64], i: int, value: np.uint64) -> None:
        with self._lock:
            array[i] += value

    @property
    def is_done(self) -> bool:
        """Whether all boards are taken, and nothing is left of them."""
        taken = self.work.cursor[0] >= len(self.work.boards)
        return bool(taken and all(stack.state[TOP] < 0 for stack in self.stacks))


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("budget", [3, 1 << 40])
@pytest.mark.parametrize(("strategy", "techniques"), [(MIN, "singles"), (FIRST, "naked-single")])
def test_counts(
    strategy: int, techniques: str, budget: int, threads: int, frontier: Frontier
) -> None:
    """Launch after launch, and more threads than boards."""
    settings = SearchSettings(parse_techniques(techniques), strategy)
    warp, launches = Warp(frontier, threads), 0
    while not warp.is_done:
        before = sum(int(stack.tally[NODES]) for stack in warp.stacks)
        warp.launch(settings, budget)
        launches += 1
        nodes = sum(int(stack.tally[NODES]) for stack in warp.stacks) - before
        assert nodes <= budget * threads
    assert warp.found.counts.tolist() == [naive.count(board) for board in BOARDS]
    assert (launches == 1) == (budget > 3)


@pytest.mark.parametrize("limit", [1, 4, 10, 11, 100])
def test_limits(limit: int, frontier: Frontier) -> None:
    """A root that has enough is left; what threads had found by then may be a little more."""
    warp = Warp(frontier, 2)
    while not warp.is_done:
        warp.launch(SearchSettings(), 20, limit)
    for board, found in zip(BOARDS, warp.found.counts.tolist(), strict=True):
        total = naive.count(board)
        assert min(total, limit) <= found <= min(total, 3 * limit)


def test_a_thread_with_a_full_stack_holds_up_nobody(frontier: Frontier) -> None:
    """It waits with its board; the others find the rest."""
    warp = Warp(frontier, 2, depth=2)
    warp.stacks[1] = Stack.empty(83, ROW_WORDS, np.uint32)
    warp.launch(SearchSettings(), 1 << 40)
    assert warp.work.cursor[0] > len(BOARDS)
    assert [int(stack.state[TOP]) for stack in warp.stacks] == [1, -1]
    stack = warp.stacks[0]
    left = Frontier(NINE, boards_of(stack.boards[:, :WORDS]), np.zeros(2, np.int64))
    again = Warp(left, 3)
    again.launch(SearchSettings(), 1 << 40)
    [root] = set(stack.roots.tolist())
    warp.found.counts[root] += again.found.counts[0]
    assert warp.found.counts.tolist() == [naive.count(board) for board in BOARDS]


def test_solutions_while_there_is_room(frontier: Frontier) -> None:
    warp, found = Warp(frontier, 3, room=4), []
    while not warp.is_done:
        warp.launch(SearchSettings(), 1 << 40)
        rows = min(4, int(warp.found.used[0]))
        roots = warp.found.roots[:rows].tolist()
        found += zip(roots, map(tuple, warp.found.solutions[:rows].tolist()), strict=True)
        warp.found.used[0] = 0
    expected = [(root, each) for root, b in enumerate(BOARDS) for each in naive.solutions(b)]
    assert sorted(found) == sorted(expected)
