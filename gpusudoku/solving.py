"""The functions ``solve`` and ``solve_many``: a solution of a board, and whether it is unique."""

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
        Whether to search for a second solution. If False, the search stops at the first.
    **options
        The fields of ``Options``, except the limit.

    Raises
    ------
    InputError, DeviceError, Interrupted, Cancelled
        As ``count`` does.
    """
    converted_board = board_of(board, box)
    checked_options = Options(**options)
    # Two solutions prove that a board has no unique one.
    limited_options = replace(checked_options, limit=2 if check_unique else 1)
    with cancelling(cancel), reporting(progress):
        return solve_board(converted_board, limited_options, engine_for(checked_options, engine))


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

    Boards are solved in blocks, one block per thread, or one board after the other if they take
    long. The ``stats`` of a result are those of its block. However many boards there are, memory is
    bounded by two blocks per thread. The results are an iterator over a ``Solution`` for every
    board. Its method ``blocks`` yields a ``ResultBlock`` of many boards instead, with arrays.

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
        batches_and_errors = batches_of(boards, box)
        checked_options = Options(**options)
        limited_options = replace(checked_options, limit=2 if check_unique else 1)
        if cluster is not None:
            checked_options.refuse_seconds("a cluster")

        def solutions(batches: Iterator[Batch]) -> Generator[ResultBlock, None, None]:
            if cluster is None:
                local_engine = engine_for(checked_options, engine)
                yield from solve_batches(batches, limited_options, local_engine)
                return
            # Imported lazily: few calls need it.
            from gpusudoku.runs.cluster import connect_cluster

            with connect_cluster(cluster, checked_options.jobs) as machine:
                yield from solve_batches_on(batches, limited_options, machine)

        return Results(with_bad_boards(batches_and_errors, solutions, on_error), cancel, boards)


def solve_board(board: Board, options: Options, engine: Engine) -> Solution:
    """Solve one board. The limit, 1 or 2, is the number of solutions to search for."""
    [solution] = solve_block(Batch.of([board]), options, engine, watched=True)
    return cast("Solution", solution)  # the block has solutions, so its rows are not counts


def not_one(number: int) -> InputError | None:
    """Return the error for a number of solutions that is not 1; None if it is 1."""
    if number == 1:
        return None
    solutions = "several solutions" if number else "no solution"
    return InputError(f"the board has {solutions}, expected exactly one")


def only_solution(board: Board, engine: Engine) -> Board:
    """Return the only solution of a board.

    Raises
    ------
    InputError
        If the board has no solution, or several.
    """
    solution = solve_board(board, Options(limit=2), engine)
    if solution.board is None:
        solution_count = 0
    else:
        solution_count = 1 if solution.unique else 2
    error = not_one(solution_count)
    if error is not None:
        raise error
    assert solution.board is not None
    return solution.board


def solve_batches(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ResultBlock, None, None]:
    """Solve boards in blocks, in their order, with the limit of ``solve_board``."""

    def solve(block: Batch, alone: bool) -> Generator[Any, None, None]:
        searcher = engine.for_block if alone else engine
        quick_results, slow_boards = _solve(block, together(options), searcher)
        slow_results = (
            solve_block(block.part(index, index + 1), options, engine) for index in slow_boards
        )
        results = in_turn(quick_results, slow_boards, slow_results)
        if alone and slow_boards:
            # One thread works on each block, and each slow board takes all threads.
            yield Deferred(results)
        else:
            yield from results

    return in_blocks(batches, engine.max_boards, solve, engine.parallel_blocks)


def solve_batches_on(
    batches: Iterable[Batch], options: Options, engine: Cluster
) -> Generator[ResultBlock, None, None]:
    """Solve boards on a cluster, as ``solve_batches`` does on this machine."""
    for answer in engine.answers(batches, _solve_whole, options):
        if isinstance(answer, ResultBlock):
            yield answer
        else:  # a board that takes long: one worker solves it without a time limit
            yield from cast(
                Generator[ResultBlock, None, None],
                engine.answers([answer], _solve_whole, options, inf),
            )


def solve_each(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ResultBlock, None, None]:
    """Solve every board individually, so that each has its own statistics."""
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
    results, unfinished = _solve(block, options, engine, watched=watched)
    return replace(results, ended_after=options.seconds) if unfinished else results


def _solve(
    block: Batch, options: Options, engine: Engine, *, watched: bool = False
) -> tuple[ResultBlock, Sequence[int]]:
    """Solve boards as ``solve_block`` does. Return the results and the indices of slow boards."""
    rows, roots, outcome = find_solutions(block, options, engine, watched=watched)
    solutions = np.zeros_like(block.cells)
    # Several rows can belong to a board. In reverse order the first solution is written last.
    solutions[roots[::-1]] = rows[::-1]
    # Boards that are searched together may have more solutions than the limit.
    numbers = np.minimum(np.bincount(roots, minlength=len(block)), options.limit or 0)
    results = ResultBlock(
        block,
        numbers,
        options.limit,
        engine.kind,
        engine.workers,
        outcome.stats,
        solutions=solutions,
    )
    return results, outcome.unfinished
