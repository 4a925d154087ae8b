"""From a board to an exact count: choose the engine, search, check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Unpack

from gpusudoku.board import Board
from gpusudoku.chunks import Interrupted, Progress
from gpusudoku.engines import Engine, driver
from gpusudoku.errors import DeviceError, MismatchError
from gpusudoku.exploring import explore
from gpusudoku.options import OptionFields, Options
from gpusudoku.results import Count, Stats

BLOCK_SECONDS = 0.25
"""Boards of a batch are counted in blocks that grow until one takes about this long."""
BLOCK_BOARDS = 1 << 14
"""Boards in a block at most."""


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
    if options.device == "cuda" or (options.device == "auto" and driver.unusable_because() is None):
        from gpusudoku.engines.cuda import CudaEngine

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
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound.
    """
    settings = Options(**options)
    return _count(board, settings, engine or make_engine(settings), progress)


def count_many(
    boards: Iterable[Board], *, engine: Engine | None = None, **options: Unpack[OptionFields]
) -> Iterator[Count]:
    """Count the solutions of many boards, in their order; options as for ``count``.

    Boards are counted in blocks, as one frontier, and the ``stats`` of a result are those of its
    block. Memory is bounded by a block, however many boards there are.
    """
    settings = Options(**options)
    engine = engine or make_engine(settings)
    size = 16
    block: list[Board] = []

    def flush() -> Iterator[Count]:
        nonlocal size
        counts, stats = explore(block, engine, settings)
        for board, found in zip(block, counts, strict=True):
            yield _result(board, found, engine, settings, stats)
        if stats.seconds < BLOCK_SECONDS:
            size = min(2 * size, BLOCK_BOARDS)
        elif stats.seconds > 4 * BLOCK_SECONDS:
            size = max(1, size // 2)
        block.clear()

    for board in boards:
        if block and (board.geometry != block[0].geometry or len(block) >= size):
            yield from flush()
        block.append(board)
    if block:
        yield from flush()


def cross_check(result: Count, **options: Unpack[OptionFields]) -> str:
    """Count again another way, on the other device or else by the other strategy; say which.

    Raises
    ------
    MismatchError
        If the two counts differ.
    """
    settings = Options(**options)
    other = "cpu" if result.device == "cuda" else "cuda"
    if other == "cpu" or driver.unusable_because() is None:
        settings = replace(settings, device=other)
        way = f"device {other}"
    else:
        strategy = "first" if settings.strategy == "min" else "min"
        settings = replace(settings, strategy=strategy)
        way = f"strategy {strategy}"
    again = _count(result.board, settings, make_engine(settings))
    if (again.count, again.exact) != (result.count, result.exact):
        raise MismatchError(f"cross-check failed: {result} solutions, but {again} by {way}")
    return way


def _count(
    board: Board,
    settings: Options,
    engine: Engine,
    progress: Callable[[Progress], None] | None = None,
) -> Count:
    try:
        counts, stats = explore([board], engine, settings, progress=progress)
    except Interrupted as error:
        bound = f"interrupted: at least {error.count} solutions"
        raise Interrupted(bound, error.count) from None
    stats.describe(board)
    return _result(board, counts[0], engine, settings, stats)


def _result(board: Board, found: int, engine: Engine, options: Options, stats: Stats) -> Count:
    exact = options.limit is None or found < options.limit
    shown = found if exact or options.limit is None else options.limit
    return Count(board, shown, exact, "search", engine.name, engine.workers, stats)
