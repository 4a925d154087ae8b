"""From a board to an exact count: choose engine and method, count, check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import Unpack

import numpy as np

from gpusudoku.board.batch import Batch, Blocks
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.batch import contract_cheap
from gpusudoku.contraction.prepare import NINE, contract, contraction_of
from gpusudoku.engines import Engine
from gpusudoku.engines.cores import usable_cores
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import DeviceError, MismatchError, TooExpensive
from gpusudoku.jobs.job import Interrupted, Progress
from gpusudoku.options import OptionFields, Options
from gpusudoku.planning.choose import FEW_SOLUTIONS, Choice, choose
from gpusudoku.planning.search import explore, search_settings
from gpusudoku.results import Count, Counts, Stats
from gpusudoku.search.estimate import estimate_search
from gpusudoku.search.frontier import Frontier

CONTRACTED_BOARDS = 1 << 10
"""Boards in a block, at most, where they may be contracted: those of a block may cost a hundred
times those before."""
AUTO_SOLUTIONS = 64
"""Boards of a batch with fewer solutions are not worth contracting."""
CHECK_SECONDS = 20.0
"""A cross-check by the other method may take this long,"""
CHECK_RATIO = 10.0
"""or so many times as long as the first count."""


def make_engine(
    options: Options, fallback: Callable[[DeviceError], None] = lambda error: None
) -> Engine:
    """The engine for the device that the options ask for.

    ``fallback`` is told why, where ``auto`` finds a GPU but cannot use it and takes the CPU.

    Raises
    ------
    DeviceError
        If CUDA is asked for and cannot be used.
    """
    # Imported here because CuPy takes a second to import.
    if options.device == "cuda" or (
        options.device == "auto" and availability.unusable_because() is None
    ):
        from gpusudoku.engines.cuda.engine import CudaEngine

        try:
            return CudaEngine(options.gpus)
        except DeviceError as error:
            if options.device == "cuda":
                raise
            fallback(error)
    from gpusudoku.engines.cpu import CpuEngine

    return CpuEngine(options.jobs)


def count(
    board: Board,
    *,
    engine: Engine | None = None,
    chosen: Callable[[Choice], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[OptionFields],
) -> Count:
    """Count all solutions of a board, exactly.

    Parameters
    ----------
    board
        Any board; one with contradicting clues has 0 solutions.
    engine
        Made by ``make_engine`` before, to count several boards; by default made for this call.
    chosen
        Told the method, and what was estimated, before anything is counted.
    progress
        Called about twenty times a second.
    **options
        The fields of ``Options``.

    Raises
    ------
    InputError
        If an option's value is out of range.
    DeviceError
        If CUDA is asked for and cannot be used.
    TooExpensive
        If a contraction is asked for and the board is too expensive for it.
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound.
    """
    settings = Options(**options)
    return _count(board, settings, engine or make_engine(settings), progress, chosen)


def count_many(
    boards: Iterable[Board], *, engine: Engine | None = None, **options: Unpack[OptionFields]
) -> Iterator[Count]:
    """Count the solutions of many boards, in their order; options as for ``count``.

    Boards are counted in blocks, and the ``stats`` of a result are those of its block. Memory is
    bounded by a block, however many boards there are. With method ``auto`` a block is searched
    as one frontier, and boards with AUTO_SOLUTIONS or more are then counted each by whatever
    takes less.
    """
    for counts in count_batches((Batch.of([board]) for board in boards), engine=engine, **options):
        yield from counts


def count_batches(
    batches: Iterable[Batch], *, engine: Engine | None = None, **options: Unpack[OptionFields]
) -> Iterator[Counts]:
    """Count as ``count_many`` does; the counts come together of boards that are counted together.

    An InputError that reading the batches raises is raised once all before it are counted.
    """
    settings = Options(**options)
    engine = engine or make_engine(settings)
    blocks = Blocks(batches, engine.most_boards if _only_searches(settings) else CONTRACTED_BOARDS)
    for block in blocks:
        seconds, start = 0.0, time.perf_counter()
        for counts in _count_block(block, settings, engine):
            seconds += time.perf_counter() - start
            yield counts  # what is done with it does not count
            start = time.perf_counter()
        blocks.took(seconds)


def _only_searches(settings: Options) -> bool:
    """Whether no board of a batch is contracted."""
    few = settings.limit is not None and settings.limit <= FEW_SOLUTIONS
    return settings.method == "search" or (settings.method == "auto" and few)


def _count_block(block: Batch, settings: Options, engine: Engine) -> Iterator[Counts]:
    """Count boards of one geometry; those that take long one by one, as they are asked for."""
    if settings.method == "contraction":
        for result in _contract_block(block, settings, engine):
            yield Counts.of(result, settings.limit)
        return
    if _only_searches(settings):
        counts, stats = explore(block, engine, settings)
        yield _results(block, counts, engine, settings, stats, "search")
        return
    counts, stats = explore(block, engine, replace(settings, limit=AUTO_SOLUTIONS))
    many = np.array(counts) >= AUTO_SOLUTIONS
    if block.geometry == NINE and many.any():
        others = _contract_block(block.chosen(many), settings, engine)
    else:
        others = (_count(board, settings, engine) for board in block.chosen(many))
    changes = np.flatnonzero(many[1:] != many[:-1]) + 1
    for start, end in pairwise([0, *changes.tolist(), len(block)]):
        if many[start]:
            for result in islice(others, end - start):
                yield Counts.of(result, settings.limit)
        else:
            few = block.part(start, end)
            yield _results(few, counts[start:end], engine, settings, stats, "search")


def _contract_block(block: Batch, settings: Options, engine: Engine) -> Iterator[Count]:
    """Contract every board; cheap 9x9 boards each on one thread, others on all."""
    stats = Stats()
    counts, left = [0] * len(block), list(range(len(block)))
    if block.geometry == NINE:
        start = time.perf_counter()
        threads = engine.workers if engine.name == "cpu" else usable_cores()
        counts, left = contract_cheap(block, threads, settings.memory)
        stats.seconds = time.perf_counter() - start
    dear = set(left)
    cheap = iter(_results(block, counts, engine, settings, stats, "contraction"))
    alone = replace(settings, method="contraction")
    for index, result in enumerate(cheap):
        yield _count(result.board, alone, engine) if index in dear else result


def cross_check(result: Count, **options: Unpack[OptionFields]) -> str | None:
    """Count again another way; say which, or None if none is affordable.

    The other method, if by its estimate it does not take much longer; else the same method on the
    other device; else, of a search, the other strategy.

    Raises
    ------
    MismatchError
        If the two counts differ.
    """
    settings = replace(Options(**options), method=result.method)
    patience = max(CHECK_SECONDS, CHECK_RATIO * result.stats.seconds)
    other = "cpu" if result.device == "cuda" else "cuda"
    if _affordable(result, settings, patience):
        method = "search" if result.method == "contraction" else "contraction"
        settings, way = replace(settings, method=method), f"method {method}"
    elif other == "cpu" or availability.unusable_because() is None:
        settings, way = replace(settings, device=other), f"device {other}"
    elif result.method == "search":
        strategy = "first" if settings.strategy == "min" else "min"
        settings, way = replace(settings, strategy=strategy), f"strategy {strategy}"
    else:
        return None
    again = _count(result.board, settings, make_engine(settings))
    if (again.count, again.exact) != (result.count, result.exact):
        raise MismatchError(f"cross-check failed: {result} solutions, but {again} by {way}")
    return way


def _affordable(result: Count, settings: Options, patience: float) -> bool:
    """Whether the method that did not give the result can be waited for, by its estimate."""
    if result.method == "contraction":
        rules = search_settings(settings)
        search = estimate_search(Frontier.of([result.board], rules), rules)
        return search.seconds(settings.limit) / result.jobs <= patience
    try:
        contraction = contraction_of(result.board, settings.memory, worth=patience)
    except TooExpensive:
        return False
    return contraction is None or contraction.seconds / result.jobs <= patience


def _count(
    board: Board,
    settings: Options,
    engine: Engine,
    progress: Callable[[Progress], None] | None = None,
    chosen: Callable[[Choice], None] | None = None,
) -> Count:
    try:
        choice = choose(board, settings)
        if chosen is not None:
            chosen(choice)
        if choice.method == "search":
            counts, stats = explore([board], engine, settings, progress=progress)
            found = counts[0]
            stats.describe(board)
        else:
            found, stats = contract(board, choice.contraction, engine, settings.memory, progress)
    except (Interrupted, KeyboardInterrupt) as error:
        least = error.count if isinstance(error, Interrupted) else 0
        raise Interrupted(f"interrupted: at least {least} solutions", least) from None
    stats.search_estimate = choice.search_seconds
    stats.contraction_estimate = choice.contraction_seconds
    stats.no_contraction = choice.note
    return _result(board, found, engine, settings, stats, choice.method)


def _result(
    board: Board, found: int, engine: Engine, settings: Options, stats: Stats, method: str
) -> Count:
    exact = settings.limit is None or found < settings.limit
    shown = found if exact or settings.limit is None else settings.limit
    workers = len(stats.utilisation) or engine.workers
    return Count(board, shown, exact, method, engine.name, workers, stats)


def _results(
    boards: Batch, found: list[int], engine: Engine, settings: Options, stats: Stats, method: str
) -> Counts:
    limit = settings.limit
    counts = found if limit is None else [min(number, limit) for number in found]
    workers = len(stats.utilisation) or engine.workers
    return Counts(boards, counts, limit, method, engine.name, workers, stats)
