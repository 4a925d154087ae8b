"""Counting one board by a plan, or blocks of boards, together where that is quicker.

All boards of a block are searched for a few solutions, and boards with more are counted one by one,
so that no other waits for them. With method ``auto`` those of 9x9 cells are contracted, and the
others planned.
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
"""The most boards that are contracted together: later ones of a block may cost a hundred times the
earlier ones."""
MIXED_BOARDS = 1 << 14
"""The most boards in a block of which some may be contracted."""
SEARCHED_SOLUTIONS = 64
"""Boards of a batch with fewer solutions are not worth contracting."""
TOGETHER_SECONDS = 1.0
"""With a time limit boards are searched together for no longer, and then each by itself: blocks
seldom take that long, and a board that takes longer than its time keeps its block waiting."""


def count_batches(
    batches: Iterable[Batch],
    options: Options,
    engine: Engine,
    lines_of: Callable[[ResultBlock], bytes | memoryview] | None = None,
) -> Generator[ResultBlock, None, None]:
    """Count boards in blocks, in their order.

    ``lines_of`` makes the ``lines`` of results, in the threads that count them.
    """
    contracts = options.method == "contraction"
    most = CONTRACTED_BOARDS if contracts else MIXED_BOARDS

    def count(block: Batch, alone: bool) -> Generator[Any, None, None]:
        for results in count_block(block, options, engine, alone=alone):
            if lines_of is not None and isinstance(results, ResultBlock):
                results = replace(results, lines=lines_of(results))
            yield results

    return in_blocks(
        batches,
        engine.most_boards if only_searches(options) else most,
        count,
        1 if contracts else engine.side_by_side,
    )


def count_each(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ResultBlock, None, None]:
    """Count every board by itself, so that its statistics are its own."""
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
    """Count boards of one geometry; those that take long one by one, as they are asked for.

    If the block is searched ``alone``, beside others, those that take long are deferred. A
    TooExpensive as of ``count_board``.
    """
    if options.method == "contraction":
        for index, count in enumerate(_contracted(block, options, engine, max_seconds)):
            yield ResultBlock.of(block.part(index, index + 1), count, options.limit)
    else:
        # A GPU that was asked for is not to be idle.
        visits = options.method == "search" or engine.has_gpu
        few = FEW_SOLUTIONS if visits else SEARCHED_SOLUTIONS
        is_limited = has_low_limit(options)
        limited = options if is_limited else replace(options, limit=few)
        searcher = engine.for_block if alone else engine
        searched = search_block(block, together(limited), searcher)
        many = (searched.numbers >= few) & (not is_limited)
        many[list(searched.unfinished)] = True
        rest = _mixed(block, searched, many, options, engine, max_seconds)
        if alone and many.any():
            yield Deferred(rest)
        else:
            yield from rest


def count_alone(board: Batch, options: Options, engine: Engine, max_seconds: float = inf) -> Count:
    """Count the board of a batch of one as ``count_board`` does, and tell the watch which it is."""
    with current_watch().working_on(board):
        return count_board(board[0], options, engine, max_seconds)


def together(options: Options) -> Options:
    """Return the options with the time limit of boards that are searched together."""
    seconds = options.seconds
    return options if seconds is None else replace(options, seconds=min(seconds, TOGETHER_SECONDS))


def find_solutions(
    block: Batch, options: Options, engine: Engine, *, watched: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.int64], Outcome[SearchStats]]:
    """Search the boards of a block together, up to a limit that is set or a little beyond.

    Returns the solutions, uint8 (k, n * n), and the indices of their boards, int64 (k), both in the
    order in which they were found, and the outcome of the search.
    """
    found: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []
    outcome = search_block(
        block, options, engine, lambda *solutions: found.append(solutions), watched=watched
    )
    if len(found) == 1:
        return *found[0], outcome
    rows = [np.empty((0, block.geometry.cells), np.uint8), *(rows for rows, _ in found)]
    roots = [np.empty(0, np.int64), *(roots for _, roots in found)]
    return np.concatenate(rows), np.concatenate(roots), outcome


def search_block(
    block: Batch,
    options: Options,
    engine: Engine,
    on_solutions: Callable[[Any, Any], None] | None = None,
    *,
    watched: bool = False,
) -> Outcome[SearchStats]:
    """Search all boards of a block as one frontier, a single board quickly at first.

    ``on_solutions`` is that of ``SearchPlan.run``. Progress is reported only if ``watched``: that
    of a block of a batch would mislead.
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
        deadline = Deadline(options.seconds or inf)  # without the time of compiling
        return plan.run(engine, on_solutions=on_solutions, deadline=deadline)


def quick_search(
    board: Batch, options: Options, engine: Engine, *, listed: bool = False
) -> BegunSearch | None:
    """Search the board of a batch of one quickly; None if it is to be planned from the start.

    Its solutions are listed if that is asked for.
    """
    if options.method == "contraction" or options.cutoff is not None:
        return None

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
    searched: Outcome[SearchStats],
    many: NDArray[np.bool_],
    options: Options,
    engine: Engine,
    max_seconds: float,
) -> Generator[ResultBlock, None, None]:
    """Take the counts of boards with few solutions, and count the others as suits each."""
    are_nine = is_nine(block.geometry, block.candidates)
    slow: list[int] = np.flatnonzero(many).tolist()
    # With a time limit each is counted alone, to search where a contraction does not end in time.
    if are_nine and not only_searches(options) and slow and options.seconds is None:
        counts = _contracted(block.chosen(many), options, engine, max_seconds)
    else:
        counts = (
            count_alone(block.part(index, index + 1), options, engine, max_seconds)
            for index in slow
        )
    # Boards that are searched together may exceed the limit a little.
    known = np.minimum(searched.numbers[many], SEARCHED_SOLUTIONS).tolist()
    others = (
        ResultBlock.of(block.part(index, index + 1), _at_least(number, count), options.limit)
        for index, number, count in zip(slow, known, counts, strict=True)
    )
    return in_turn(counts_of(block, searched, options, engine), slow, others)


def in_turn(
    results: ResultBlock, slow: Sequence[int], others: Iterator[ResultBlock]
) -> Generator[ResultBlock, None, None]:
    """Yield results in the order of the boards; those of slow boards come from ``others``."""
    start, continued = 0, False
    for index in [*slow, len(results)]:
        if start < index:
            yield replace(results.part(start, index), continued=continued)
            continued = True
        yield from islice(others, 1)  # after the last slow board there are none
        start = index + 1


def _at_least(known: int, count: Count) -> Count:
    """Raise a count that ended early to a number of solutions that are known."""
    return count if count.exact or count.count >= known else replace(count, count=known)


def _contracted(
    block: Batch, options: Options, engine: Engine, max_seconds: float
) -> Iterator[Count]:
    """Contract every board: cheap 9x9 boards each on one thread, others each on all."""
    options = replace(options, method="contraction")
    are_nine = is_nine(block.geometry, block.candidates)
    for first in range(0, len(block), CONTRACTED_BOARDS):
        boards = block.part(first, first + CONTRACTED_BOARDS)
        counts = [0] * len(boards)
        expensive = set(range(len(boards)))
        seconds = 0.0
        if are_nine:
            with delayed_forks():
                from gpusudoku.contraction.nine.batch import contract_cheap  # imported lazily, too

            start = time.perf_counter()
            counts, left = contract_cheap(boards, engine.threads, options.memory)
            expensive = set(left)
            seconds = time.perf_counter() - start
        stats = ContractionStats(products=0, seconds=seconds, utilisation=())
        cheap = Outcome(numbers_of(counts), stats)
        for index, count in enumerate(counts_of(boards, cheap, options, engine)):
            if index in expensive:
                count = count_alone(boards.part(index, index + 1), options, engine, max_seconds)
            yield count


def count_board(board: Board, options: Options, engine: Engine, max_seconds: float = inf) -> Count:
    """Search a board quickly; if that does not finish it, choose a plan, and run it.

    A TooExpensive as of ``choose``, or if it should take more than ``max_seconds`` on one core;
    after Ctrl-C an Interrupted, whose ``count`` is a lower bound.
    """
    known = 0
    try:
        quick = quick_search(Batch.of([board]), options, engine)
        if quick is not None and quick.is_finished:
            return _quick_count(board, quick, options, engine)
        if quick is not None:
            known = quick.number
        deadline = Deadline(options.seconds or inf)
        plan = choose_in_time(board, options, engine, deadline, max_seconds, quick)
        # Without a bound, the time of a plan is not estimated for this.
        if max_seconds < inf and plan.seconds > max_seconds:
            raise TooExpensive(
                "too expensive: this needs counts of solutions, and one of these should take about"
                f" {plan.seconds:.1e} s",
                plan.seconds / engine.threads,
            )
        with deadline.paused():
            current_watch().planned(plan, board)
            if not has_low_limit(options):  # else it is short
                engine = engine.best(plan, board.geometry)
        return _at_least(known, run_plan(plan, board, options, engine, deadline))
    except Cancelled:
        if any_cancelled():
            raise
        # The time limit passed before the first task.
        stats = ContractionStats(products=0, seconds=options.seconds or 0.0, utilisation=())
        count = Count(board, known, False, "cpu", engine.threads, stats)
        return replace(count, ended_after=options.seconds)
    except KeyboardInterrupt:
        raise interrupted(known) from None


def _quick_count(board: Board, quick: BegunSearch, options: Options, engine: Engine) -> Count:
    """Make the count of a quick search that is finished, whose time is known exactly now."""
    seconds = quick.counters.nodes * node_seconds(quick.remaining.shape)
    estimates = Estimates(seconds) if contractible(board, options) else Estimates()
    current_watch().planned(FinishedPlan("search", seconds, estimates), board)
    return _count_of(board, quick_outcome(quick, options, engine), estimates, options, engine)


def run_plan(
    plan: Plan, board: Board, options: Options, engine: Engine, deadline: Deadline | None = None
) -> Count:
    """Run the plan of a board; after Ctrl-C the ``count`` of the Interrupted is a lower bound."""
    try:
        outcome = plan.run(engine, deadline=deadline)
    except Cancelled:
        raise
    except Interrupted as error:
        raise interrupted(error.count) from None
    return _count_of(board, outcome, plan.estimates, options, engine)


def _count_of(
    board: Board, outcome: Outcome[Stats], estimates: Estimates, options: Options, engine: Engine
) -> Count:
    limit = options.limit
    [count] = outcome.counts
    stats = outcome.stats
    ended_after = options.seconds if outcome.unfinished else None
    exact = ended_after is None and (limit is None or count < limit)
    shown = count if limit is None else min(count, limit)
    device, jobs = worked_on(stats, engine)
    return Count(board, shown, exact, device, jobs, stats, estimates, ended_after)


def counts_of(
    boards: Batch, outcome: Outcome[Stats], options: Options, engine: Engine
) -> ResultBlock:
    """The counts of boards that were counted together, none above the limit."""
    limit = options.limit
    numbers = outcome.numbers
    stats = outcome.stats
    if numbers.dtype == np.uint64:  # found by ones and twos, and so far below 2^63
        numbers = numbers.astype(np.int64)
    if limit is not None and (numbers.dtype == object or limit < 1 << 63):
        numbers = np.minimum(numbers, limit)
    return ResultBlock(boards, numbers, limit, *worked_on(stats, engine), stats)


def worked_on(stats: Stats, engine: Engine) -> tuple[str, int]:
    """Name the device that did some work of an engine, and tell how many workers it had."""
    device = engine.kind
    workers = engine.workers
    if isinstance(stats, ContractionStats) and device == "cuda" and not stats.on_gpu:
        device = "cpu"
        workers = engine.threads
    return device, len(stats.utilisation) or workers


def interrupted(least: int) -> Interrupted:
    """Make the error of an interrupted count that had found so many solutions."""
    found = f": at least {least} solutions" if least else ""
    return Interrupted(f"interrupted{found}", least)
