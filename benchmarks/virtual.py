"""The search on virtual cores: its compiled scheduler under virtual clocks, on one real core.

Every virtual thread has a stack and lanes of its own, and all share one pool, as real threads do.
The thread whose clock is the earliest calls the compiled search, the same code that a user runs,
for a few nodes, in which it takes boards from the pool and gives some to threads that wait. Its
clock then moves on by those nodes, each of which takes as long as on a real core on average. A
thread that has to wait returns at once, and its clock moves on by the pauses and sleeps of compiled
code. So boards pass from thread to thread as they would on as many cores, but for a call's time.

What one thread does before the others start, and starting them one after the other, are charged as
measured. Left out are memory and caches that cores share, clocks that sink when all cores are
busy, lanes with few boards, in which a node takes longer, and the calls of Python with which one
thread reports progress.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from gpusudoku import collection
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cpu_search import SearchWorker, SharedSearch
from gpusudoku.engines.engine import WorkCounters
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.arguments import GIVEN, NODES, PLACE
from gpusudoku.kernels.search.pool import SLEEP_MICROSECONDS, SLEEPS
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.signature import block_of, result_of
from gpusudoku.options import Options
from gpusudoku.planning.direct import search_directly
from gpusudoku.planning.search import TASKS
from gpusudoku.search.frontier import Cutoff, Frontier

SETTINGS = SearchSettings()
CALL_NODES = 500
"""The nodes of a call: some tens of microseconds."""
PAUSE_SECONDS = 5e-6
"""What the pauses before the first sleep take, about."""
BOARDS = ("1c", "1d", "2d", "a6", "b6")
"""The boards whose nodes are measured."""
SHORT_BOARD = "1a"
"""A board of hardly any nodes, of which all else is measured."""
REPEATS = 20
LONG_SECONDS = 1.0
"""What takes longer is not repeated: what disturbs a part of it hardly matters."""
STARTED_THREADS = 32


class Costs(NamedTuple):
    """Seconds of a core."""

    node: float
    """A node of a 9x9 board."""
    call: float
    """Calling the compiled search for the beginning, whatever it does."""
    search: float
    """What Python does for a search on one thread."""
    thread: float
    """Starting a thread with its memory, and ending it; one at a time does so."""
    sleep: float
    """What a sleep takes longer than it should."""


class Beginning(NamedTuple):
    """What one thread does of a search before the others start."""

    frontier: Frontier
    """The boards that are left; none if that was all."""
    count: int
    """The solutions so far."""
    nodes: int
    """The nodes that the compiled search visited."""
    seconds: float
    """The time of making the frontier of what it left, or of the board with a cutoff."""


class Outcome(NamedTuple):
    """What a search on virtual cores did."""

    count: int
    seconds: float
    spent: dict[str, float]
    """Seconds charged, by what for, of all threads together, but for those in which they wait."""
    trace: list[tuple[str, float, float]]
    """Every charge: what for, from when, until when."""


def begin(board: Board, cutoff: float | None = None) -> Beginning:
    """Begin a search, as the program does."""
    options = Options(method="search", cutoff=cutoff)
    frontier = Frontier.of([board])
    direct = search_directly(Batch.of([board]), options, CpuEngine(1))
    if direct is not None and direct.left is None:
        return Beginning(frontier.part(0, 0), direct.number, direct.stats.nodes, 0.0)
    count, nodes = 0, 0
    if direct is not None and direct.left is not None:
        frontier, count, nodes = direct.left.frontier, direct.number, direct.stats.nodes
    bound = None if cutoff is None else Cutoff(cutoff, by_empty=False)
    expanded = frontier.expanded(SETTINGS, TASKS, bound)
    seconds = least_seconds(lambda: frontier.expanded(SETTINGS, TASKS, bound))
    return Beginning(expanded, count, nodes, seconds)


def simulate(beginning: Beginning, threads: int, costs: Costs, *, sharing: bool = True) -> Outcome:
    """Search what is left after the beginning on virtual cores, one for each thread.

    Without ``sharing`` threads only take boards from the frontier, and end when all are taken.
    """
    search = SharedSearch(beginning.frontier, SETTINGS, Job(1, dtype=np.uint64), threads)
    if not sharing:
        search.pool.state[GIVEN] = 1 << 62  # beyond any place that is taken
    trace: list[tuple[str, float, float]] = []
    end = 0.0

    def charge(what: str, start: float, seconds: float) -> None:
        nonlocal end
        trace.append((what, start, start + seconds))
        end = max(end, start + seconds)

    if beginning.nodes:
        charge("search", 0.0, costs.call + beginning.nodes * costs.node)
    charge("frontier", end, beginning.seconds)
    if search.tasks:
        charge("threads", end, costs.search)
    # Threads are started one after the other, until the search is over.
    is_over = False
    step = costs.thread if threads > 1 else 0.0
    queue = [(end + (number + 1) * step, number) for number in range(len(search.tasks))]
    turns = [0] * threads
    blocks: dict[int, Any] = {}  # of the calls: to make one takes longer than the call
    given_at: dict[int, float] = {}
    while queue:
        clock, number = heappop(queue)
        if number == len(search.workers):
            if is_over:
                break
            search.workers.append(SearchWorker(search))
            charge("threads", clock - step, step)
        worker = search.workers[number]
        stack = worker.stack
        awaited, given = int(stack.state[PLACE]), int(search.pool.state[GIVEN])
        nodes = int(stack.tally[NODES])
        if number not in blocks:
            # The word that recalls a thread is the place that it waits for: so it never waits long.
            called = worker.found, stack.state[PLACE : PLACE + 1], -1, CALL_NODES
            arguments = search.pool, stack, *called, worker.limit, worker.lanes
            blocks[number] = block_of(worker.run.signature, arguments)
        worker.run.call(blocks[number])
        has_more = result_of(blocks[number], worker.run.returns)
        worker._make_room()
        if worker.stack is not stack:
            del blocks[number]
        place = int(stack.state[PLACE])
        if awaited >= 0 and place != awaited:
            clock = max(clock, given_at[awaited])
            turns[number] = 0
        seconds = (int(stack.tally[NODES]) - nodes) * costs.node
        if seconds > 0:
            charge("search", clock, seconds)
            clock += seconds
        given_at |= dict.fromkeys(range(given, int(search.pool.state[GIVEN])), clock)
        end = max(end, clock)
        is_over = is_over or not has_more
        if not has_more or (place >= 0 and not sharing):
            continue
        if place >= 0:
            turn = turns[number] % (SLEEPS + 1)
            clock += 1e-6 * SLEEP_MICROSECONDS * turn + costs.sleep if turn else PAUSE_SECONDS
            turns[number] += 1
        heappush(queue, (clock, number))
    search.end()
    assert not search.job.left
    spent: dict[str, float] = {}
    for what, start, stop in trace:
        spent[what] = spent.get(what, 0.0) + stop - start
    return Outcome(beginning.count + search.job.total, end, spent, trace)


def least_seconds(
    function: Callable[[], Any], clock: Callable[[], float] = time.thread_time
) -> float:
    """Return the least seconds that a function takes of some repeats, by default of this thread."""
    seconds: list[float] = []
    while len(seconds) < REPEATS and sum(seconds) < LONG_SECONDS:
        start = clock()
        function()
        seconds.append(clock() - start)
    return min(seconds)


def explore(frontier: Frontier, threads: int, limit: int | None = None) -> WorkCounters:
    """Search a frontier on real threads."""
    return CpuEngine(threads).explore(frontier, SETTINGS, Job(1, limit, dtype=np.uint64))


def start_threads(frontier: Frontier) -> None:
    """Start threads that make their memory, and end them."""
    search = SharedSearch(frontier, SETTINGS, Job(1, dtype=np.uint64), STARTED_THREADS)
    for _ in range(STARTED_THREADS):
        thread = threading.Thread(target=SearchWorker, args=(search,))
        thread.start()
        thread.join()


def measured_costs() -> Costs:
    """Measure what a search takes on a core of this machine.

    All but the sleep are seconds of the processor, which other programs change less than those of
    the clock.
    """
    nodes = []
    for name in BOARDS:
        frontier = begin(collection.load(name)).frontier
        visited = explore(frontier, 1).nodes
        nodes.append(least_seconds(partial(explore, frontier, 1)) / visited)
    short = Batch.of([collection.load(SHORT_BOARD)])
    options = Options(method="search")
    calls = [search_directly(short, options, CpuEngine(1)) for _ in range(REPEATS)]
    call = min(direct.stats.seconds for direct in calls if direct is not None)
    frontier = Frontier.of(short)
    # With a limit of 0 threads drop all boards.
    search = least_seconds(lambda: explore(frontier, 1, 0))
    threads = least_seconds(lambda: start_threads(frontier), time.process_time)
    asked = 1e-6 * SLEEP_MICROSECONDS
    sleep = least_seconds(lambda: time.sleep(asked), time.perf_counter) - asked
    return Costs(median(nodes), call, search, threads / STARTED_THREADS, sleep)
