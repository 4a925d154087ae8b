"""Threads that share the boards of a search: no board is lost, none is searched twice.

``TestModel`` runs the functions as they are written, on threads of which one runs at a time: before
each atomic operation chance decides which one goes on. ``TestSearches`` runs them compiled.
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
from gpusudoku.kernels.search.arguments import BELOW, TOP, CpuPool, Stack
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.search.frontier import Frontier
from tests.boards import as_it_is, puzzle

ATOMIC = ("load", "load_relaxed", "store", "add", "compare_exchange", "pause", "sleep")
SHAPE = Shape(2, 2)
SETTINGS = SearchSettings()


class Scheduler:
    """Lets one of several threads run at a time; at each step chance decides which."""

    def __init__(self, chance: Random, max_steps: int) -> None:
        self._chance = chance
        self._steps_left = max_steps
        self._turns: dict[int, threading.Semaphore] = {}
        self._all_done = threading.Event()
        self.errors: list[BaseException] = []

    def run(self, functions: list[Callable[[], None]]) -> None:
        """Run functions on threads of their own until all have returned."""
        threads = [threading.Thread(target=self._run_one, args=(each,)) for each in functions]
        for thread in threads:
            thread.start()
        while len(self._turns) < len(threads):
            pass
        self._pass_on()
        assert self._all_done.wait(60)
        for thread in threads:
            thread.join()
        assert not self.errors

    def step(self) -> None:
        """Let any thread go on, this one or another."""
        self._steps_left -= 1
        if self._steps_left < 0:
            raise RuntimeError("the threads wait for each other")
        mine = self._turns[threading.get_ident()]
        self._pass_on()
        mine.acquire()

    def _pass_on(self) -> None:
        if self._turns:
            self._chance.choice([*self._turns.values()]).release()
        else:
            self._all_done.set()

    def _run_one(self, function: Callable[[], None]) -> None:
        mine = self._turns[threading.get_ident()] = threading.Semaphore(0)
        mine.acquire()
        try:
            function()
        except BaseException as error:
            self.errors.append(error)
        del self._turns[threading.get_ident()]
        self._pass_on()


class TestModel:
    """The boards are roots of trees: a board of weight w is w leaves, and is halved until w = 1."""

    @pytest.mark.parametrize("threads", [1, 2, 3, 5])
    @pytest.mark.parametrize("suspends", [False, True])
    def test_every_leaf_is_counted_once(
        self, threads: int, suspends: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pool, "PAUSES", 2)
        monkeypatch.setattr(pool, "SLEEPS", 2)
        plain = {name: getattr(pool, name) for name in ATOMIC}
        given = 0
        for seed in range(40):
            chance = Random(seed)
            scheduler = Scheduler(chance, 100_000)

            def stepping(name: str, *arguments: Any, scheduler: Scheduler = scheduler) -> Any:
                scheduler.step()
                return None if name in ("pause", "sleep") else plain[name](*arguments)

            for name in ATOMIC:
                monkeypatch.setattr(pool, name, partial(stepping, name))
            weights = [chance.randrange(1, 40) for _ in range(chance.randrange(1, 12))]
            state = Model(weights, threads, chance)
            scheduler.run([partial(state.work, stack, suspends) for stack in state.stacks])
            assert state.leaves + state.remaining_leaves() == sum(weights)
            assert suspends or not state.remaining_leaves()
            given += state.given
        assert given > 10 or threads == 1


class Model:
    """Threads that share boards whose first word is a weight and whose root tells it, too."""

    def __init__(self, weights: list[int], threads: int, chance: Random) -> None:
        boards = np.zeros((len(weights), SHAPE.words), SHAPE.word)
        boards[:, 0] = weights
        # One made for fewer threads has fewer rows, so each is used again before long.
        made_for = chance.choice([1, threads])
        self.pool = CpuPool.of(boards, np.array(weights, np.int64), made_for, SHAPE)
        self.stacks = [Stack.empty(200, SHAPE) for _ in range(threads)]
        self.leaves = self.given = 0
        self._chance = chance
        self._recalls = np.zeros(1, np.int64)
        self._is_ending = False

    def work(self, stack: Stack, suspends: bool) -> None:
        """Do what a thread does, and return to Python now and then."""
        # Looked up now: these are the stepping ones.
        take, receive, give = pool.build_sharing(SHAPE, as_it_is)
        self.pool.state[pool.JOINED] += 1
        height = low = 0
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
                number = give(self.pool, stack, low, height)
                low += number
                self.given += number
            if height > low:
                height = self._search(stack, height)
            if self._chance.randrange(200) == 0:
                self._recalls += 1
                self._is_ending = suspends
            stack.state[TOP], stack.state[BELOW] = height - 1, low - 1

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
        """Add up the weights of all boards that are left."""
        boards, roots = self.pool.remaining()
        assert (boards[:, 0] == roots).all()
        total = int(roots.sum())
        for stack in self.stacks:
            total += int(stack.roots[stack.state[BELOW] + 1 : stack.state[TOP] + 1].sum())
        return total


@pytest.fixture(scope="module")
def cases() -> list[tuple[Frontier, int]]:
    """Boards that take some hundred to some ten thousand nodes, and their numbers of solutions."""
    boards = [puzzle("3x3", clues, seed) for seed in range(20) for clues in (23, 24, 25)]
    boards += [puzzle("2x3", clues, seed) for seed in range(5) for clues in (5, 6, 7)]
    roots = [Frontier.of([board]) for board in boards]
    counts = [count(board, device="cpu", method="contraction").count for board in boards]
    chosen = [case for case in zip(roots, counts, strict=True) if 50 < case[1] < 20_000]
    assert len(chosen) > 20
    return chosen


class TestSearches:
    def test_a_thousand_on_2_to_16_threads(self, cases: list[tuple[Frontier, int]]) -> None:
        numbers = cycle(range(2, 17))
        for (root, number), threads, _ in zip(cycle(cases), numbers, range(1000), strict=False):
            job = Job(1, dtype=np.uint64)
            CpuEngine(threads).explore(root, SETTINGS, job)
            assert job.counts == [number]
            assert not any(len(task.payload) for task in job.left)

    def test_solutions_are_listed_once(self, cases: list[tuple[Frontier, int]]) -> None:
        for (root, number), threads in zip(cases, cycle([2, 3, 7, 16]), strict=False):
            rows: list[bytes] = []
            job = Job(
                1,
                on_solutions=lambda block, _, rows=rows: rows.extend(map(bytes, block)),
                dtype=np.uint64,
            )
            CpuEngine(threads).explore(root, SETTINGS, job)
            assert len(rows) == len({*rows}) == number

    def test_what_is_left_when_it_is_suspended(self, cases: list[tuple[Frontier, int]]) -> None:
        """Again and again, after any time: in the end each solution was counted once."""
        suspended = 0
        chance = Random(1)
        for (root, number), threads in zip(cases * 3, cycle([1, 2, 5, 16]), strict=False):
            frontier = root
            total = 0
            while len(frontier):
                job = Job(1, dtype=np.uint64, deadline=Deadline(chance.uniform(0, 0.003)))
                timer = threading.Timer(chance.uniform(0, 0.003), job.suspend)
                timer.start()
                CpuEngine(threads).explore(frontier, SETTINGS, job)
                timer.cancel()
                total += job.total
                left = [task.payload for task in job.left if len(task.payload)]
                suspended += len(left)
                boards = [root.boards[:0], *(rest.boards for rest in left)]
                roots = [root.roots[:0], *(rest.roots for rest in left)]
                frontier = Frontier(root.shape, np.concatenate(boards), np.concatenate(roots))
            assert total == number
        assert suspended > 10

    @pytest.mark.parametrize("threads", [1, 2])
    def test_its_memory_is_free_at_once(
        self, threads: int, cases: list[tuple[Frontier, int]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A list of boards makes a search for each block: cycles would keep all their boards."""
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
        """No root is searched far beyond its limit, and each below it to its end."""
        nine = [case for case in cases if case[0].shape.n == 9]
        boards = np.concatenate([root.boards for root, _ in nine])
        roots = Frontier(nine[0][0].shape, boards, np.arange(len(nine)))
        for threads in (1, 2, 16):
            job = Job(len(nine), limit=1000, dtype=np.uint64)
            CpuEngine(threads).explore(roots, SETTINGS, job)
            for found, (_, number) in zip(job.counts, nine, strict=True):
                # All lanes of all threads may find two when the limit is reached.
                most = min(number, 1000 + 2 * threads * roots.shape.lanes)
                assert min(number, 1000) <= found <= most
            assert any(found < number for found, (_, number) in zip(job.counts, nine, strict=True))
