"""Threads that share the boards of a search: no board is lost, none is searched twice.

``TestModel`` runs the functions as plain Python. Only one thread runs at a time: before each atomic
operation, a random one is chosen to continue. ``TestSearches`` runs the compiled functions.
"""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from functools import partial
from itertools import cycle
from random import Random
from typing import Any

import numpy as np
import pytest

from gpusudoku.counting import count
from gpusudoku.engines import cpu
from gpusudoku.engines.cpu import CpuEngine, SharedSearch
from gpusudoku.jobs.cancel import Deadline
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search import pool
from gpusudoku.kernels.search.arguments import BELOW_BOTTOM, TOP, CpuPool, Stack
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.search.frontier import Frontier
from tests.boards import not_compiled, puzzle

ATOMIC = ("load", "load_relaxed", "store", "add", "compare_exchange", "pause", "sleep")
SHAPE = Shape(2, 2)
SETTINGS = SearchSettings()


class Scheduler:
    """Runs one of several threads at a time. At each step it chooses a random one."""

    def __init__(self, chance: Random, max_steps: int) -> None:
        self._chance = chance
        self._steps_left = max_steps
        self._turns: dict[int, threading.Semaphore] = {}
        self._all_done = threading.Event()
        self.errors: list[BaseException] = []

    def run(self, functions: list[Callable[[], None]]) -> None:
        """Run each function on a thread of its own, until all have returned."""
        threads = [
            threading.Thread(target=self._run_one, args=(function,)) for function in functions
        ]
        for thread in threads:
            thread.start()
        while len(self._turns) < len(threads):  # until every thread waits for its turn
            pass
        self._choose_next()
        assert self._all_done.wait(60)
        for thread in threads:
            thread.join()
        assert not self.errors

    def step(self) -> None:
        """Let a random thread continue, this one or another."""
        self._steps_left -= 1
        if self._steps_left < 0:
            raise RuntimeError("the threads wait for each other forever")
        own_turn = self._turns[threading.get_ident()]
        self._choose_next()
        own_turn.acquire()

    def _choose_next(self) -> None:
        """Give the turn to a random thread that has not finished."""
        if self._turns:
            self._chance.choice([*self._turns.values()]).release()
        else:
            self._all_done.set()

    def _run_one(self, function: Callable[[], None]) -> None:
        own_turn = self._turns[threading.get_ident()] = threading.Semaphore(0)
        own_turn.acquire()
        try:
            function()
        except BaseException as error:
            self.errors.append(error)
        del self._turns[threading.get_ident()]
        self._choose_next()


class TestModel:
    """A model of boards: a board of weight w has w leaves, and is halved until its weight is 1."""

    @pytest.mark.parametrize("threads", [1, 2, 3, 5])
    @pytest.mark.parametrize("suspends", [False, True])
    def test_every_leaf_is_counted_once(
        self, threads: int, suspends: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pool, "PAUSES", 2)
        monkeypatch.setattr(pool, "SLEEPS", 2)
        plain_functions = {name: getattr(pool, name) for name in ATOMIC}
        boards_given = 0
        for seed in range(40):
            chance = Random(seed)
            scheduler = Scheduler(chance, 100_000)

            def stepping(name: str, *arguments: Any, scheduler: Scheduler = scheduler) -> Any:
                scheduler.step()
                if name in ("pause", "sleep"):
                    return None
                return plain_functions[name](*arguments)

            for name in ATOMIC:
                monkeypatch.setattr(pool, name, partial(stepping, name))
            weights = [chance.randrange(1, 40) for _ in range(chance.randrange(1, 12))]
            model = Model(weights, threads, chance)
            scheduler.run([partial(model.work, stack, suspends) for stack in model.stacks])
            assert model.leaves + model.remaining_leaves() == sum(weights)
            assert suspends or not model.remaining_leaves()
            boards_given += model.boards_given
        assert boards_given > 10 or threads == 1


class Model:
    """Threads that share model boards. The first word and the root of a board are its weight."""

    def __init__(self, weights: list[int], threads: int, chance: Random) -> None:
        boards = np.zeros((len(weights), SHAPE.words), SHAPE.word)
        boards[:, 0] = weights
        # A pool for one thread has fewer rows, so each row is soon reused.
        pool_threads = chance.choice([1, threads])
        self.pool = CpuPool.of(boards, np.array(weights, np.int64), pool_threads, SHAPE)
        self.stacks = [Stack.empty(200, SHAPE) for _ in range(threads)]
        self.leaves = 0
        self.boards_given = 0
        self._chance = chance
        self._recalls = np.zeros(1, np.int64)
        self._is_ending = False

    def work(self, stack: Stack, suspends: bool) -> None:
        """Do what a thread does. At random times, recall all threads, and end if ``suspends``."""
        # Looked up now, when the atomic operations are those that call the scheduler.
        take, receive, give = pool.build_sharing(SHAPE, not_compiled)
        self.pool.state[pool.JOINED] += 1
        height = 0
        low = 0
        while not self._is_ending:
            recalls_seen = int(self._recalls[0])
            if height == low:
                low = 0
                height = take(self.pool, stack)
                if height == 0:
                    height = receive(self.pool, stack, self._recalls, recalls_seen)
                if height == pool.NONE_LEFT:
                    return
            if height - low >= 2:
                board_count = give(self.pool, stack, low, height)
                low += board_count
                self.boards_given += board_count
            if height > low:
                height = self._search(stack, height)
            if self._chance.randrange(200) == 0:
                self._recalls += 1
                self._is_ending = suspends
            stack.state[TOP] = height - 1
            stack.state[BELOW_BOTTOM] = low - 1

    def _search(self, stack: Stack, height: int) -> int:
        weight = int(stack.boards[height - 1, 0])
        assert stack.roots[height - 1] == weight, "a board was read while it was written"
        if weight == 1:
            self.leaves += 1
            return height - 1
        halves = weight // 2, weight - weight // 2
        for row, half in zip((height - 1, height), halves, strict=True):
            stack.boards[row, 0] = stack.roots[row] = half
        return height + 1

    def remaining_leaves(self) -> int:
        """Add up the weights of all boards that remain in the pool and on the stacks."""
        boards, roots = self.pool.remaining()
        assert (boards[:, 0] == roots).all()
        total = int(roots.sum())
        for stack in self.stacks:
            total += int(stack.roots[stack.state[BELOW_BOTTOM] + 1 : stack.state[TOP] + 1].sum())
        return total


@pytest.fixture(scope="module")
def cases() -> list[tuple[Frontier, int]]:
    """Return boards that take a hundred to ten thousand nodes, and their solution counts."""
    boards = [puzzle("3x3", clues, seed) for seed in range(20) for clues in (23, 24, 25)]
    boards += [puzzle("2x3", clues, seed) for seed in range(5) for clues in (5, 6, 7)]
    cases = []
    for board in boards:
        solution_count = count(board, device="cpu", method="contraction").count
        if 50 < solution_count < 20_000:
            cases.append((Frontier.of([board]), solution_count))
    assert len(cases) > 20
    return cases


class TestSearches:
    def test_a_thousand_on_2_to_16_threads(self, cases: list[tuple[Frontier, int]]) -> None:
        thread_counts = cycle(range(2, 17))
        searches = zip(cycle(cases), thread_counts, range(1000), strict=False)
        for (root, solution_count), threads, _ in searches:
            job = Job(1, dtype=np.uint64)
            CpuEngine(threads).explore(root, SETTINGS, job)
            assert job.counts == [solution_count]
            assert not any(len(task.payload) for task in job.remaining_tasks)

    def test_solutions_are_listed_once(self, cases: list[tuple[Frontier, int]]) -> None:
        for (root, solution_count), threads in zip(cases, cycle([2, 3, 7, 16]), strict=False):
            rows: list[bytes] = []
            job = Job(
                1,
                on_solutions=lambda block, _, rows=rows: rows.extend(map(bytes, block)),
                dtype=np.uint64,
            )
            CpuEngine(threads).explore(root, SETTINGS, job)
            assert len(rows) == len({*rows}) == solution_count

    def test_suspended_searches_are_continued(self, cases: list[tuple[Frontier, int]]) -> None:
        """Each search is suspended many times, at random, and counts each solution once."""
        remaining_tasks = 0
        chance = Random(1)
        searches = zip(cases * 3, cycle([1, 2, 5, 16]), strict=False)
        for (root, solution_count), threads in searches:
            frontier = root
            total = 0
            while len(frontier):
                job = Job(1, dtype=np.uint64, deadline=Deadline(chance.uniform(0, 0.003)))
                timer = threading.Timer(chance.uniform(0, 0.003), job.suspend)
                timer.start()
                CpuEngine(threads).explore(frontier, SETTINGS, job)
                timer.cancel()
                total += job.total
                frontiers = [task.payload for task in job.remaining_tasks if len(task.payload)]
                remaining_tasks += len(frontiers)
                boards = [root.boards[:0], *(remaining.boards for remaining in frontiers)]
                roots = [root.roots[:0], *(remaining.roots for remaining in frontiers)]
                frontier = Frontier(root.shape, np.concatenate(boards), np.concatenate(roots))
            assert total == solution_count
        assert remaining_tasks > 10

    @pytest.mark.parametrize("threads", [1, 2])
    def test_its_memory_is_freed_at_once(
        self, threads: int, cases: list[tuple[Frontier, int]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A list of boards makes a search for each block. Cycles would keep the boards of all."""
        searches: list[Any] = []

        class Watched(SharedSearch):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                searches.append(weakref.ref(self))

        monkeypatch.setattr(cpu, "SharedSearch", Watched)
        gc.disable()
        try:
            CpuEngine(threads).explore(cases[0][0], SETTINGS, Job(1, dtype=np.uint64))
            assert [search() for search in searches] == [None]
        finally:
            gc.enable()

    def test_limits_of_several_roots(self, cases: list[tuple[Frontier, int]]) -> None:
        """No root is searched far beyond its limit, and all below it are searched completely."""
        nine = [case for case in cases if case[0].shape.n == 9]
        boards = np.concatenate([root.boards for root, _ in nine])
        roots = Frontier(nine[0][0].shape, boards, np.arange(len(nine)))
        solution_counts = [solution_count for _, solution_count in nine]
        for threads in (1, 2, 16):
            job = Job(len(nine), limit=1000, dtype=np.uint64)
            CpuEngine(threads).explore(roots, SETTINGS, job)
            for job_count, solution_count in zip(job.counts, solution_counts, strict=True):
                # All lanes of all threads may find two when the limit is reached.
                max_count = min(solution_count, 1000 + 2 * threads * roots.shape.lanes)
                assert min(solution_count, 1000) <= job_count <= max_count
            pairs = zip(job.counts, solution_counts, strict=True)
            assert any(job_count < solution_count for job_count, solution_count in pairs)
