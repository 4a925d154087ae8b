"""What the steps of a search take on a core of this machine, for ``virtual_search``.

All but two are seconds of the processor, which other programs on the machine hardly change;
starting and waking a thread are by the clock. The least of some repeats counts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any

import numpy as np
from virtual_search import Costs

import gpusudoku
from gpusudoku import collection
from gpusudoku.engines import cpu as engine
from gpusudoku.jobs.job import Cost, Job, Task
from gpusudoku.kernels.search.arguments import NODES, TOP, Work
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

SETTINGS = SearchSettings()
BOARD = "2c"
"""A board of which all is measured but nodes: of 50,000 nodes."""
REPEATS = 9
LONG_SECONDS = 1.0
"""A search that takes longer is not repeated: what disturbs a part of it hardly matters."""
BUDGET = 500
"""Nodes of a call, when calls are what matters."""
MANY = 16_384
DEALT = 32
"""Tasks that are made, to learn what one takes."""


def least(
    function: Callable[[], Any],
    clock: Callable[[], float] = time.thread_time,
    repeats: int = REPEATS,
) -> float:
    """The least seconds that a function takes."""

    def once() -> float:
        start = clock()
        function()
        return clock() - start

    return min(once() for _ in range(repeats))


def new_job() -> Job:
    """A job of one counter."""
    return Job(1, None, None, np.uint64)


class Fixed(Cost):
    """What a node is said to take, so that all calls have the same budget."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._fixed = seconds

    def of(self, number: int) -> float:
        """Seconds; what was learnt is ignored."""
        return number * self._fixed


def worker_of(frontier: Frontier, budget: int | None = None) -> engine.SearchWorker:
    """A worker; of a fixed budget, if one is given."""
    node = Cost() if budget is None else Fixed(engine.CALL_SECONDS / budget)
    return engine.SearchWorker(frontier, SETTINGS, new_job(), node)


def run_through(worker: engine.SearchWorker, frontier: Frontier) -> tuple[float, int]:
    """Search a frontier as one task; seconds in compiled code, and the number of calls."""
    kernel, inside = worker.run, [0.0, 0]

    def timed(*arguments: Any) -> None:
        start = time.thread_time()
        kernel(*arguments)
        inside[0] += time.thread_time() - start
        inside[1] += 1

    worker.run = timed  # type: ignore[assignment]
    worker.do(Task(frontier, 1.0), new_job())
    worker.run = kernel
    return inside[0], int(inside[1])


def node_seconds(name: str, repeats: int = 3) -> tuple[float, int]:
    """Seconds for each node of a board, searched from end to end, and how many there are."""
    frontier = Frontier.of([collection.load(name)]).expanded(SETTINGS, engine.WIDTH)
    found: list[float] = []
    while len(found) < repeats and sum(found) < LONG_SECONDS:
        worker = worker_of(frontier)
        seconds, _calls = run_through(worker, frontier)
        found.append(seconds)
    nodes = int(worker.stack.tally[NODES])
    return min(found) / nodes, nodes


def measured_costs() -> Costs:
    """What all steps but nodes take."""
    root = Frontier.of([collection.load(BOARD)])
    small = root.expanded(SETTINGS, engine.WIDTH)
    worker = worker_of(small)
    nothing = Work(small.boards[:0], small.roots[:0], np.zeros(1, np.int64))
    worker.stack.state[:] = -1
    rest = worker.stack, worker.found, 1, worker.limit, worker.lanes
    enter = least(lambda: worker.run(nothing, *rest))
    loop, calls = _loop_seconds(small)
    task, share = _share_seconds(small)
    split_one = least(lambda: root.split(SETTINGS))
    grown = root.expanded(SETTINGS, MANY)
    expand = least(lambda: root.expanded(SETTINGS, MANY))
    rounds = MANY.bit_length()
    return Costs(
        call=max(0.0, _single_board_seconds(small) - enter),
        report=loop / calls + enter,
        take=_take_seconds(),
        task=task,
        share=share,
        worker=least(lambda: worker_of(small)),
        thread=_thread_seconds(),
        wake=_wake_seconds(),
        round=split_one,
        split=max(0.0, expand - rounds * split_one) / grown.nodes,
    )


def processor_seconds(name: str, threads: Sequence[int], repeats: int = 9) -> dict[str, float]:
    """Processor seconds, of all cores together, that real threads take for a board.

    By the number of threads; runs take turns.
    """
    board, found = collection.load(name), dict.fromkeys(threads, inf)
    for _ in range(repeats):
        for number in threads:
            cores = engine.CpuEngine(number)
            count = partial(gpusudoku.count, board, engine=cores, method="search", device="cpu")
            found[number] = min(found[number], least(count, time.process_time, 1))
    return {str(number): seconds for number, seconds in found.items()}


def _loop_seconds(frontier: Frontier) -> tuple[float, int]:
    """Seconds outside compiled code of a search in small calls, and the number of calls."""
    found = []
    for _ in range(REPEATS):
        worker = worker_of(frontier, BUDGET)
        start = time.thread_time()
        inside, calls = run_through(worker, frontier)
        found.append(time.thread_time() - start - inside)
    return min(found), calls


def _single_board_seconds(frontier: Frontier) -> float:
    """Seconds that a call takes longer for a task of one board than its nodes do."""
    node, _ = node_seconds(BOARD)
    extra = []
    for _ in range(REPEATS):
        worker, inside = worker_of(frontier), 0.0
        for index in range(len(frontier)):
            inside += run_through(worker, frontier.part(index, index + 1))[0]
        extra.append(inside - int(worker.stack.tally[NODES]) * node)
    return max(0.0, min(extra) / len(frontier))


def _take_seconds() -> float:
    def once() -> float:
        job = new_job()
        job.share(Task(None, 0.0) for _ in range(1000))
        return least(lambda: [job.take() for _ in range(1000)], repeats=1)

    return min(once() for _ in range(REPEATS)) / 1000


def _share_seconds(frontier: Frontier) -> tuple[float, float]:
    """Seconds of making a task of boards that are dealt out, and of all else about it."""

    def once(parts: int) -> float:
        worker, job = worker_of(frontier, BUDGET), new_job()
        work = Work(frontier.boards, frontier.roots, np.zeros(1, np.int64))
        worker.stack.state[:] = -1
        worker._call(work, job)
        assert worker.stack.state[TOP] >= 0
        whole, taken = Task(frontier, 1.0), min(int(work.cursor[0]), len(work.boards))
        return least(lambda: worker._share(whole, work, taken, parts, job), repeats=1)

    one, many = (min(once(parts) for _ in range(REPEATS)) for parts in (2, 2 + DEALT))
    task = max(0.0, many - one) / DEALT
    return task, max(0.0, one - task)


def _thread_seconds(threads: int = 32) -> float:
    def start() -> None:
        for _ in range(threads):
            threading.Thread(target=int, daemon=True).start()

    return least(start, time.perf_counter) / threads


def _wake_seconds(turns: int = 200) -> float:
    """Seconds until a thread runs that another one wakes."""
    change, mine = threading.Condition(), [False]

    def play(side: bool) -> None:
        for _ in range(turns):
            with change:
                while mine[0] is not side:
                    change.wait()
                mine[0] = not side
                change.notify_all()

    def game() -> None:
        other = threading.Thread(target=play, args=(True,), daemon=True)
        other.start()
        play(False)
        other.join()

    return least(game, time.perf_counter) / (2 * turns)
