"""Counting: one board, many boards, and one board twice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import Any, Unpack

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import in_blocks
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for, make_engine
from gpusudoku.errors import InputError, MismatchError, TooExpensive, described
from gpusudoku.given import BoardLike, batches_of, board_of
from gpusudoku.jobs.job import Progress
from gpusudoku.options import STRATEGIES, OptionFields, Options, takes_options
from gpusudoku.planning.batch import CountsOne, count_block, most_boards, side_by_side
from gpusudoku.planning.choose import choose
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.run import count_board, run_plan
from gpusudoku.results import Count, Counts, Results

CHECK_SECONDS = 20.0
"""A cross-check by the other method may take this long."""
CHECK_RATIO = 10.0
"""It may also take this many times as long as the first count."""


@takes_options
def count(
    board: BoardLike,
    *,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    planned: Callable[[Plan], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[OptionFields],
) -> Count:
    """Count all solutions of a board, exactly.

    Parameters
    ----------
    board
        A ``Board``, a string in any form that ``parse`` reads, or n * n integers (0 or None for an
        empty cell) or strings in a flat list, a list of rows, or an array. A board with
        contradicting clues has 0 solutions.
    box
        The shape of the boxes, as a ``Geometry`` or as ``"RxC"``; by default that of the ``Board``,
        or guessed.
    engine
        Made by ``make_engine`` before, to count several boards; by default made for this call.
    planned
        Told the plan, with its method and estimates, before anything is counted.
    progress
        Called about twenty times a second.
    **options
        The fields of ``Options``.

    Raises
    ------
    InputError
        If what is given is no board, or an option's value is out of range or of another type.
    DeviceError
        If CUDA is asked for and cannot be used.
    TooExpensive
        If a contraction is asked for and the board is too expensive for it.
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound.
    """
    found, chosen = board_of(board, box), Options(**options)
    engine = engine_for(chosen, engine)
    return count_board(found, chosen, engine, planned=planned, progress=progress)


@takes_options
def count_many(
    boards: Iterable[BoardLike],
    *,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    **options: Unpack[OptionFields],
) -> Results[Counts, Count]:
    """Count the solutions of many boards, in their order; options as for ``count``.

    Boards are counted in blocks, one on each thread, or one after the other where they take long,
    and the ``stats`` of a result are those of its block. Memory is bounded by two blocks for each
    thread, however many boards there are. A block is searched for a few solutions of every board.
    Boards with more are counted by themselves: with method ``auto`` those of 9x9 cells are
    contracted, and the others counted by whatever takes less.

    What is returned is an iterator over a ``Count`` for every board. Its method ``blocks`` gives
    ``Counts`` of many boards instead, and ``numbers`` one array of all counts: neither makes an
    object for a board.

    Parameters
    ----------
    boards
        Any iterable of what ``count`` takes: a list, a generator, an open file with a board on
        every line, a NumPy array of strings, a column of pandas, Arrow or polars. In an array of
        integers of two dimensions every row is a board, in one of three every grid.
    box
        The shape of the boxes of all boards; by default each has its own, or it is guessed.
    engine
        As for ``count``.
    **options
        The fields of ``Options``.

    Raises
    ------
    InputError
        At once, if no boards are given, or an option's value is wrong. If one of the boards is no
        board, once all before it are counted; ``board 17: ...`` names it by its index, from 0.
    DeviceError, TooExpensive, Interrupted
        As ``count`` does.
    """
    batches = batches_of(boards, box)
    return Results(count_batches(batches, Options(**options), engine))


def count_batches(
    batches: Iterable[Batch],
    options: Options,
    engine: Engine | None = None,
    one: CountsOne | None = None,
    then: Callable[[Counts], Any] | None = None,
) -> Generator[Any, None, None]:
    """Count as ``count_many`` does; the counts of boards that are counted together come together.

    ``one`` counts those that are counted by themselves, by default without a word. What is given
    is what ``then`` makes of the ``Counts``, in the thread that has them; by default nothing. An
    InputError that reading the batches raises is raised once all boards before it are counted.
    """
    device = engine_for(options, engine)
    return in_blocks(
        batches,
        most_boards(options, device),
        lambda block, cancel: count_block(block, options, device, one, cancel),
        then,
        side_by_side(options, device),
    )


@takes_options
def cross_check(result: Count, **options: Unpack[OptionFields]) -> str | None:
    """Count again another way; say which, or None if none is affordable.

    The other method, if by its estimate it does not take much longer; else the same method on the
    other device; else, of a search, the other strategy. Options are those of the count; a limit
    need not be given again.

    Raises
    ------
    MismatchError
        If the two counts differ.
    """
    if not isinstance(result, Count):
        raise InputError(f"result {described(result)}: expected a Count, which count gives")
    return check_again(result, Options(**options))


def check_again(result: Count, options: Options) -> str | None:
    """Do what ``cross_check`` does."""
    limit = options.limit or (None if result.exact else result.count)
    chosen = replace(options, method=result.method, limit=limit)
    other = replace(chosen, method="search" if result.method == "contraction" else "contraction")
    plan = _affordable(result, other)
    if plan is not None:
        again = run_plan(plan, result.board, other, make_engine(other))
        way = f"method {plan.method}"
    else:
        changed = _other_way(result, chosen)
        if changed is None:
            return None
        way, chosen = changed
        again = count_board(result.board, chosen, make_engine(chosen))
    if (again.count, again.exact) != (result.count, result.exact):
        raise MismatchError(f"cross-check failed: {result} solutions, but {again} by {way}")
    return way


def _affordable(result: Count, options: Options) -> Plan | None:
    """The plan of the other method, if that can be waited for."""
    if options.method == "contraction" and result.board.given_candidates is not None:
        return None
    patience = max(CHECK_SECONDS, CHECK_RATIO * result.stats.seconds)
    try:
        plan = choose(result.board, options, worth=patience)
    except TooExpensive:
        return None
    return plan if plan.seconds / result.jobs <= patience else None


def _other_way(result: Count, options: Options) -> tuple[str, Options] | None:
    """The same method on another device or with another strategy, in words and as options."""
    device = "cpu" if result.device == "cuda" else "cuda"
    if device == "cpu" or availability.unusable_because() is None:
        return f"device {device}", replace(options, device=device)
    if result.method == "search":
        strategy = next(name for name in STRATEGIES if name != options.strategy)
        return f"strategy {strategy}", replace(options, strategy=strategy)
    return None
