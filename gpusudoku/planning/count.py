"""Counting one board by a plan, and counting blocks of boards.

All boards of a block are first searched together, for a few solutions of each. Boards with more
solutions are then counted individually, so that no other board waits for them. With method
``auto``, 9x9 boards are contracted, and a plan is chosen for other boards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import Deferred, in_blocks
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import is_nine
from gpusudoku.engines.engine import BegunSearch, Engine
from gpusudoku.errors import Cancelled, Interrupted, TooExpensive
from gpusudoku.jobs.cancel import Deadline, any_cancelled
from gpusudoku.jobs.forks import delayed_forks
from gpusudoku.jobs.watch import current_watch, watching
from gpusudoku.options import Options
from gpusudoku.planning.choose import (
    FEW_SOLUTIONS,
    choose_in_time,
    contractible,
    has_low_limit,
    likely_searched,
    only_searches,
    ready_search,
)
from gpusudoku.planning.plan import FinishedPlan, Outcome, Plan
from gpusudoku.planning.search import SearchPlan, quick_outcome, search_settings
from gpusudoku.results import (
    ContractionStats,
    Count,
    Estimates,
    ResultBlock,
    SearchStats,
    Stats,
    numbers_of,
)
from gpusudoku.search.frontier import Frontier, node_seconds

CONTRACTED_BOARDS = 1 << 10
"""Boards that are contracted together. More would not be faster, and the boards at the end of a
block can take a hundred times as long as those at its start."""
MIXED_BOARDS = 1 << 14
"""Boards of a block in which some may be contracted."""
SEARCHED_SOLUTIONS = 64
"""Boards of a batch with fewer solutions are searched, because that is faster than contracting."""
TOGETHER_SECONDS = 1.0
"""The time limit of a search of several boards, if each board has a time limit. Such searches
rarely take as long. A board that does would keep the other boards of its block waiting."""


def count_batches(
    batches: Iterable[Batch],
    options: Options,
    engine: Engine,
    lines_of: Callable[[ResultBlock], bytes | memoryview] | None = None,
) -> Generator[ResultBlock, None, None]:
    """Count boards in blocks, in their order.

    ``lines_of`` makes the ``lines`` of results. It runs in the threads that count them.
    """
    must_contract = options.method == "contraction"
    if only_searches(options):
        max_boards = engine.max_boards
    elif must_contract:
        max_boards = CONTRACTED_BOARDS
    else:
        max_boards = MIXED_BOARDS

    def count(block: Batch, alone: bool) -> Generator[Any, None, None]:
        for results in count_block(block, options, engine, alone=alone):
            if lines_of is not None and isinstance(results, ResultBlock):
                results = replace(results, lines=lines_of(results))
            yield results

    # All threads contract a block together, so only one block is in work then.
    blocks_in_work = 1 if must_contract else engine.parallel_blocks
    return in_blocks(batches, max_boards, count, blocks_in_work)


def count_each(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ResultBlock, None, None]:
    """Count every board individually, so that each has its own statistics."""
    for batch in batches:
        for board in batch.singles():
            yield ResultBlock.of(board, count_alone(board, options, engine), options.limit)


def count_block(
    block: Batch,
    options: Options,
    engine: Engine,
    max_seconds: float = inf,
    *,
    alone: bool = False,
) -> Generator[ResultBlock | Deferred[ResultBlock], None, None]:
    """Count boards of one geometry. Slow boards are counted one by one, when their result is read.

    ``alone`` means that one thread counts the block while others count other blocks. Then slow
    boards are deferred: all threads count them together.

    Raises
    ------
    TooExpensive
        As ``count_board`` does.
    """
    if options.method == "contraction":
        for index, count in enumerate(_contracted(block, options, engine, max_seconds)):
            yield ResultBlock.of(block.part(index, index + 1), count, options.limit)
        return
    # A GPU that the user asked for searches more solutions than a CPU would.
    prefers_search = options.method == "search" or engine.has_gpu
    search_limit = FEW_SOLUTIONS if prefers_search else SEARCHED_SOLUTIONS
    is_limited = has_low_limit(options)
    limited_options = options if is_limited else replace(options, limit=search_limit)
    searcher = engine.for_block if alone else engine
    outcome = search_block(block, together(limited_options), searcher)
    is_slow = np.zeros(len(block), bool)
    if not is_limited:
        is_slow = outcome.numbers >= search_limit
    is_slow[list(outcome.unfinished)] = True
    results = _mixed(block, outcome, is_slow, options, engine, max_seconds)
    if alone and is_slow.any():
        yield Deferred(results)
    else:
        yield from results


def count_alone(board: Batch, options: Options, engine: Engine, max_seconds: float = inf) -> Count:
    """Count the only board of a batch as ``count_board`` does, and show the watch that board."""
    # The progress of a batch then shows that one board takes long.
    with current_watch().working_on(board):
        return count_board(board[0], options, engine, max_seconds)


def together(options: Options) -> Options:
    """Return the options for a search of several boards: the time limit may be shorter."""
    if options.seconds is None:
        return options
    return replace(options, seconds=min(options.seconds, TOGETHER_SECONDS))


def find_solutions(
    block: Batch, options: Options, engine: Engine, *, watched: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.int64], Outcome[SearchStats]]:
    """Search the boards of a block together, with a limit.

    Returns
    -------
    solutions
        uint8 (k, n * n), in the order in which they were found. There may be a few more than the
        limit of a board.
    boards
        int64 (k), the index of the board of each solution.
    outcome
        The outcome of the search.
    """
    chunks: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []

    def append(rows: NDArray[np.uint8], roots: NDArray[np.int64]) -> None:
        chunks.append((rows, roots))

    outcome = search_block(block, options, engine, append, watched=watched)
    # The usual case, for which nothing is copied.
    if len(chunks) == 1:
        return *chunks[0], outcome
    all_rows = [np.empty((0, block.geometry.cells), np.uint8), *(rows for rows, _ in chunks)]
    all_roots = [np.empty(0, np.int64), *(roots for _, roots in chunks)]
    return np.concatenate(all_rows), np.concatenate(all_roots), outcome


def search_block(
    block: Batch,
    options: Options,
    engine: Engine,
    on_solutions: Callable[[Any, Any], None] | None = None,
    *,
    watched: bool = False,
) -> Outcome[SearchStats]:
    """Search all boards of a block as one frontier. A single board has a quick search first.

    ``on_solutions`` is that of ``SearchPlan.run``. Progress is reported only if ``watched``:
    progress of one block of a batch would be misleading.
    """
    begun = None
    with nullcontext() if watched else watching(None):
        if len(block) == 1:
            begun = quick_search(block, options, engine, listed=on_solutions is not None)
        if begun is not None and on_solutions is not None:
            on_solutions(begun.solutions, np.zeros(begun.number, np.int64))
        if begun is not None and begun.is_finished:
            return quick_outcome(begun, options, engine)
        roots = Frontier.of(block) if begun is None else begun.roots
        plan = SearchPlan(roots, options, begun=begun)
        deadline = Deadline(options.seconds or inf)  # paused while kernels are compiled
        return plan.run(engine, on_solutions=on_solutions, deadline=deadline)


def quick_search(
    board: Batch, options: Options, engine: Engine, *, listed: bool = False
) -> BegunSearch | None:
    """Search the only board of a batch for a short time; None if the options exclude that.

    ``listed`` means that the search also returns its solutions.
    """
    # A cutoff asks for a frontier, which a quick search does not make.
    if options.method == "contraction" or options.cutoff is not None:
        return None

    # A board that will be contracted needs no compiled search, and compiling takes seconds.
    def compile_search() -> None:
        if likely_searched(board[0], options):
            ready_search(board[0], options, engine)

    return engine.quick_search(
        board,
        search_settings(options),
        options.limit,
        listed=listed,
        compile_search=compile_search,
    )


def _mixed(
    block: Batch,
    outcome: Outcome[SearchStats],
    is_slow: NDArray[np.bool_],
    options: Options,
    engine: Engine,
    max_seconds: float,
) -> Generator[ResultBlock, None, None]:
    """Yield the counts of boards that the search finished, and count each slow board."""
    all_nine = is_nine(block.geometry, block.candidates)
    slow_boards: list[int] = np.flatnonzero(is_slow).tolist()
    # With a time limit each board is counted alone, so that it is searched if a contraction does
    # not end in time.
    if all_nine and not only_searches(options) and slow_boards and options.seconds is None:
        counts = _contracted(block.select(is_slow), options, engine, max_seconds)
    else:
        counts = (
            count_alone(block.part(index, index + 1), options, engine, max_seconds)
            for index in slow_boards
        )
    # At most the limit of that search: boards that are searched together may exceed it a little.
    lower_bounds = np.minimum(outcome.numbers[is_slow], SEARCHED_SOLUTIONS).tolist()
    slow_results = (
        ResultBlock.of(block.part(index, index + 1), _at_least(bound, count), options.limit)
        for index, bound, count in zip(slow_boards, lower_bounds, counts, strict=True)
    )
    return in_turn(counts_of(block, outcome, options, engine), slow_boards, slow_results)


def in_turn(
    results: ResultBlock, slow_boards: Sequence[int], slow_results: Iterator[ResultBlock]
) -> Generator[ResultBlock, None, None]:
    """Yield results in the order of the boards, those of slow boards from ``slow_results``."""
    start = 0
    continued = False
    for index in [*slow_boards, len(results)]:
        if start < index:
            yield replace(results.part(start, index), continued=continued)
            continued = True
        # After the last slow board ``slow_results`` is exhausted, and this yields nothing.
        yield from islice(slow_results, 1)
        start = index + 1


def _at_least(lower_bound: int, count: Count) -> Count:
    """Return a count, raised to a lower bound that an earlier search proved, unless it is exact."""
    if count.exact or count.count >= lower_bound:
        return count
    return replace(count, count=lower_bound)


def _contracted(
    block: Batch, options: Options, engine: Engine, max_seconds: float
) -> Iterator[Count]:
    """Contract every board: cheap 9x9 boards one per thread, other boards on all threads."""
    options = replace(options, method="contraction")
    all_nine = is_nine(block.geometry, block.candidates)
    for start in range(0, len(block), CONTRACTED_BOARDS):
        boards = block.part(start, start + CONTRACTED_BOARDS)
        counts = [0] * len(boards)
        expensive = set(range(len(boards)))
        seconds = 0.0
        if all_nine:
            with delayed_forks():
                from gpusudoku.contraction.nine.batch import (
                    count_cheap_boards,  # imported lazily, too
                )

            start_time = time.perf_counter()
            counts, remaining = count_cheap_boards(boards, engine.threads, options.memory)
            expensive = set(remaining)
            seconds = time.perf_counter() - start_time
        stats = ContractionStats(products=0, seconds=seconds, utilisation=())
        cheap_outcome = Outcome(numbers_of(counts), stats)
        for index, count in enumerate(counts_of(boards, cheap_outcome, options, engine)):
            if index in expensive:
                count = count_alone(boards.part(index, index + 1), options, engine, max_seconds)
            yield count


def count_board(board: Board, options: Options, engine: Engine, max_seconds: float = inf) -> Count:
    """Count a board: by a quick search, or else by choosing a plan and running it.

    Raises
    ------
    TooExpensive
        As ``choose`` does, and if the count is expected to take more than ``max_seconds`` on the
        reference core.
    Interrupted
        After Ctrl-C. Its ``count`` is a lower bound.
    """
    lower_bound = 0
    try:
        quick = quick_search(Batch.of([board]), options, engine)
        if quick is not None and quick.is_finished:
            return _quick_count(board, quick, options, engine)
        if quick is not None:
            lower_bound = quick.number
        deadline = Deadline(options.seconds or inf)
        plan = choose_in_time(board, options, engine, deadline, max_seconds, quick)
        # ``plan.seconds`` may cost an estimate, so it is not read without need.
        if max_seconds < inf and plan.seconds > max_seconds:
            raise TooExpensive(
                "too expensive: this needs counts of solutions, and one of these should take about"
                f" {plan.seconds:.1e} s",
                plan.seconds / engine.threads,
            )
        # Starting a GPU takes seconds, which do not count as work on the board.
        with deadline.paused():
            current_watch().planned(plan, board)
            # A search with a low limit is too short for a GPU.
            if not has_low_limit(options):
                engine = engine.best(plan, board.geometry)
        return _at_least(lower_bound, run_plan(plan, board, options, engine, deadline))
    except Cancelled:
        if any_cancelled():
            raise
        # The time limit passed before the first task.
        stats = ContractionStats(products=0, seconds=options.seconds or 0.0, utilisation=())
        count = Count(board, lower_bound, False, "cpu", engine.threads, stats)
        return replace(count, ended_after=options.seconds)
    except KeyboardInterrupt:
        raise interrupted(lower_bound) from None


def _quick_count(board: Board, quick: BegunSearch, options: Options, engine: Engine) -> Count:
    """Return the count of a finished quick search, with its exact time in place of an estimate."""
    # Computed from nodes, not measured, so that the same board always shows the same estimate.
    seconds = quick.counters.nodes * node_seconds(quick.remaining.shape)
    estimates = Estimates(seconds) if contractible(board, options) else Estimates()
    current_watch().planned(FinishedPlan("search", seconds, estimates), board)
    return _count_of(board, quick_outcome(quick, options, engine), estimates, options, engine)


def run_plan(
    plan: Plan, board: Board, options: Options, engine: Engine, deadline: Deadline | None = None
) -> Count:
    """Run the plan of a board. After Ctrl-C, ``count`` of the Interrupted is a lower bound."""
    try:
        outcome = plan.run(engine, deadline=deadline)
    except Cancelled:
        raise  # a subclass of Interrupted, with a message of its own
    except Interrupted as error:
        raise interrupted(error.count) from None
    return _count_of(board, outcome, plan.estimates, options, engine)


def _count_of(
    board: Board, outcome: Outcome[Stats], estimates: Estimates, options: Options, engine: Engine
) -> Count:
    """Return the count of one board. Threads may have found more solutions than the limit."""
    limit = options.limit
    [count] = outcome.counts
    stats = outcome.stats
    ended_after = options.seconds if outcome.unfinished else None
    exact = ended_after is None and (limit is None or count < limit)
    if limit is not None:
        count = min(count, limit)
    device, jobs = worked_on(stats, engine)
    return Count(board, count, exact, device, jobs, stats, estimates, ended_after)


def counts_of(
    boards: Batch, outcome: Outcome[Stats], options: Options, engine: Engine
) -> ResultBlock:
    """Return the counts of boards that were counted together, none above the limit."""
    limit = options.limit
    numbers = outcome.numbers
    stats = outcome.stats
    # A search adds solutions one or two at a time, so its counts are far below 2^63.
    if numbers.dtype == np.uint64:
        numbers = numbers.astype(np.int64)
    if limit is not None and (numbers.dtype == object or limit < 1 << 63):
        numbers = np.minimum(numbers, limit)
    return ResultBlock(boards, numbers, limit, *worked_on(stats, engine), stats)


def worked_on(stats: Stats, engine: Engine) -> tuple[str, int]:
    """Return the device that did the work of an engine, and the number of its workers."""
    device = engine.kind
    workers = engine.workers
    # GPUs do not add the products of every contraction.
    if isinstance(stats, ContractionStats) and device == "cuda" and not stats.on_gpu:
        device = "cpu"
        workers = engine.threads
    return device, len(stats.utilisation) or workers


def interrupted(lower_bound: int) -> Interrupted:
    """Return the error for an interrupted count with a lower bound."""
    message = "interrupted"
    if lower_bound:
        message += f": at least {lower_bound} solutions"
    return Interrupted(message, lower_bound)
