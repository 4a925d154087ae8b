"""A solution of a board, or of each of many, and whether it is the only one."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import Deferred, in_blocks
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for, refuse_both
from gpusudoku.errors import InputError
from gpusudoku.formats.coerce import BoardLike, batches_of, board_of
from gpusudoku.iterating import Results, with_bad_boards
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import OptionFields, Options, takes_options
from gpusudoku.planning.count import find_solutions, in_turn, together
from gpusudoku.results import ResultBlock, Solution

if TYPE_CHECKING:
    from distributed import Client

    from gpusudoku.runs.cluster import Cluster


@takes_options
def solve(
    board: BoardLike,
    *,
    box: Geometry | str | None = None,
    check_unique: bool = True,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
    **options: Unpack[OptionFields],
) -> Solution:
    """Find a solution and, by default, whether it is the only one.

    Parameters
    ----------
    board, box, engine, progress, cancel
        As for ``count``.
    check_unique
        Look for a second solution; without it all workers stop at the first.
    **options
        The fields of ``Options`` but the limit.

    Raises
    ------
    InputError, DeviceError, Interrupted, Cancelled
        As ``count`` does.
    """
    found = board_of(board, box)
    chosen = Options(**options)
    limited = replace(chosen, limit=2 if check_unique else 1)
    with cancelling(cancel), reporting(progress):
        return solve_board(found, limited, engine_for(chosen, engine))


@takes_options
def solve_many(
    boards: Iterable[BoardLike] | os.PathLike[str],
    *,
    box: Geometry | str | None = None,
    on_error: str = "raise",
    check_unique: bool = True,
    engine: Engine | None = None,
    cluster: Client | str | None = None,
    cancel: CancelToken | None = None,
    **options: Unpack[OptionFields],
) -> Results[Solution]:
    """Find a solution of each of many boards, in their order.

    Boards are solved in blocks, one on each thread, or one after the other where they take long,
    and the ``stats`` of a result are those of its block. Memory is bounded by two blocks for each
    thread, however many boards there are. The results are an iterator over a ``Solution`` for every
    board. Its method ``blocks`` gives a ``ResultBlock`` of many boards instead, as arrays.

    Parameters
    ----------
    boards, box, on_error, engine, cluster, cancel
        As for ``count_many``.
    check_unique, **options
        As for ``solve``.

    Raises
    ------
    InputError, DeviceError, ClusterError, Interrupted, Cancelled
        As ``count_many`` does.
    """
    refuse_both(engine, cluster)
    with cancelling(cancel):
        found = batches_of(boards, box)
        chosen = Options(**options)
        limited = replace(chosen, limit=2 if check_unique else 1)
        if cluster is not None:
            chosen.refuse_seconds("a cluster")

        def solved(batches: Iterator[Batch]) -> Generator[ResultBlock, None, None]:
            if cluster is None:
                yield from solve_batches(batches, limited, engine_for(chosen, engine))
                return
            from gpusudoku.runs.cluster import connected  # imported lazily: few need it

            with connected(cluster, chosen.jobs) as machine:
                yield from solve_batches_on(batches, limited, machine)

        return Results(with_bad_boards(found, solved, on_error), cancel, boards)


def solve_board(board: Board, options: Options, engine: Engine) -> Solution:
    """Search one board for as many solutions as the limit says, 1 or 2."""
    [solution] = solve_block(Batch.of([board]), options, engine, watched=True)
    return cast("Solution", solution)


def not_one(number: int) -> InputError | None:
    """Return the error of a board that has not one solution, but so many; None if it has one."""
    if number == 1:
        return None
    found = "several solutions" if number else "no solution"
    return InputError(f"the board has {found}, expected exactly one")


def only_solution(board: Board, engine: Engine) -> Board:
    """Return the solution of a board; an InputError if it has none, or several."""
    found = solve_board(board, Options(limit=2), engine)
    if (error := not_one(0 if found.board is None else 1 if found.unique else 2)) is not None:
        raise error
    assert found.board is not None
    return found.board


def solve_batches(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ResultBlock, None, None]:
    """Solve boards in blocks, in their order; the limit is as for ``solve_board``."""

    def solve(block: Batch, alone: bool) -> Generator[Any, None, None]:
        searcher = engine.for_block if alone else engine
        solved, slow = _solve(block, together(options), searcher)
        others = (solve_block(block.part(index, index + 1), options, engine) for index in slow)
        results = in_turn(solved, slow, others)
        if alone and slow:
            yield Deferred(results)
        else:
            yield from results

    return in_blocks(batches, engine.most_boards, solve, engine.side_by_side)


def solve_batches_on(
    batches: Iterable[Batch], options: Options, engine: Cluster
) -> Generator[ResultBlock, None, None]:
    """Solve boards on a cluster as ``solve_batches`` does here."""
    for found in engine.answers(batches, _solve_whole, options):
        if isinstance(found, ResultBlock):
            yield found
        else:  # a board that takes long: one worker has as long as it needs
            yield from cast(
                Generator[ResultBlock, None, None],
                engine.answers([found], _solve_whole, options, inf),
            )


def solve_each(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ResultBlock, None, None]:
    """Solve every board by itself, so that its statistics are its own."""
    for batch in batches:
        for board in batch.singles():
            yield solve_block(board, options, engine, watched=True)


def _solve_whole(block: Batch, options: Options, engine: Engine) -> list[ResultBlock]:
    """Solve a block in a worker of a cluster."""
    return [solve_block(block, options, engine)]


def solve_block(
    block: Batch, options: Options, engine: Engine, *, watched: bool = False
) -> ResultBlock:
    """Solve boards of one geometry together, or one with a time limit; the limit is 1 or 2."""
    solved, slow = _solve(block, options, engine, watched=watched)
    return replace(solved, ended_after=options.seconds) if slow else solved


def _solve(
    block: Batch, options: Options, engine: Engine, *, watched: bool = False
) -> tuple[ResultBlock, Sequence[int]]:
    """Solve boards as ``solve_block`` does; return the indices of those not finished, too."""
    rows, roots, outcome = find_solutions(block, options, engine, watched=watched)
    solutions = np.zeros_like(block.cells)
    solutions[roots[::-1]] = rows[::-1]  # the last to be written, the first found, remains
    numbers = np.minimum(np.bincount(roots, minlength=len(block)), options.limit or 0)
    workers = engine.workers
    stats = outcome.stats
    solved = ResultBlock(
        block, numbers, options.limit, engine.kind, workers, stats, solutions=solutions
    )
    return solved, outcome.unfinished
