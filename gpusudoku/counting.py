"""Counting: one board, or many."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Unpack

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for, refuse_both
from gpusudoku.formats.coerce import BoardLike, batches_of, board_of
from gpusudoku.iterating import Results, with_bad_boards
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import OptionFields, Options, takes_options
from gpusudoku.planning.count import count_batches, count_board
from gpusudoku.planning.plan import Plan
from gpusudoku.results import Count, ResultBlock

if TYPE_CHECKING:
    from distributed import Client


@takes_options
def count(
    board: BoardLike,
    *,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    cluster: Client | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    planned: Callable[[Plan], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
    **options: Unpack[OptionFields],
) -> Count:
    """Count all solutions of a board, exactly.

    A call takes some tens of microseconds besides the search. ``count_many`` counts many boards
    together, in less than a tenth of that for each.

    Parameters
    ----------
    board
        A ``Board``, a string in any form that ``parse`` reads, a ``pathlib.Path`` of a file with
        one board, or n * n numbers (0, None or NaN for an empty cell) or strings in a flat list, a
        list of rows, or an array of any library: one on a GPU is copied to main memory. A board
        with contradicting clues has 0 solutions.
    box
        The shape of the boxes, as a ``Geometry`` or as ``"RxC"``; by default that of the ``Board``,
        or guessed.
    engine
        Made by ``make_engine`` before, to count several boards; by default made for this call.
    cluster
        Has the board counted by the workers of a Dask cluster: a ``distributed.Client``, which
        stays open, the address of a scheduler, or ``local`` for a process on each core.
    checkpoint
        A file that keeps what is found and what is left, saved every few seconds and at the end. If
        it has this count already, that goes on, on any device; so does ``resume``.
    planned
        Told the plan, with its method and estimates, before anything is counted.
    progress
        Called about twenty times a second with an object that has ``done``, a share from 0 to 1,
        ``count`` and ``seconds``.
    cancel
        Stops the count, whichever thread cancels it: see ``CancelToken``.
    **options
        The fields of ``Options``; no limit with a cluster or a checkpoint.

    Raises
    ------
    InputError
        If what is given is no board, or an option's value is out of range or of another type; if
        the checkpoint holds something else, which stays as it is, or cannot be written.
    DeviceError, TooExpensive
        If CUDA, or a contraction, is asked for and cannot be used, or is too expensive.
    ClusterError, SaveError
        If the cluster cannot be used, or is lost; if the count can be saved no more.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled; ``count`` of it is a lower bound.
    """
    found = board_of(board, box)
    chosen = Options(**options)
    with cancelling(cancel), reporting(progress, planned):
        if cluster is None and checkpoint is None:
            return count_board(found, chosen, engine_for(chosen, engine))
        # Imported lazily: few need it.
        from gpusudoku.runs.counting import count_for_python

        return count_for_python(found, chosen, engine, cluster, checkpoint)


@takes_options
def count_many(
    boards: Iterable[BoardLike] | os.PathLike[str],
    *,
    box: Geometry | str | None = None,
    on_error: str = "raise",
    engine: Engine | None = None,
    cluster: Client | str | None = None,
    cancel: CancelToken | None = None,
    **options: Unpack[OptionFields],
) -> Results[Count]:
    """Count the solutions of many boards, in their order; options as for ``count``.

    Boards are counted in blocks, one on each thread, or one after the other where they take long,
    and the ``stats`` of a result are those of its block. Memory is bounded by two blocks for each
    thread, however many boards there are. A block is searched for a few solutions of every board.
    Boards with more are counted by themselves: with method ``auto`` those of 9x9 cells are
    contracted, and the others counted by whatever takes less.

    The results are an iterator over a ``Count`` for every board. Its method ``blocks`` gives a
    ``ResultBlock`` of many boards instead, and ``numbers`` one array of all counts: neither makes
    an object for a board.

    Parameters
    ----------
    boards
        Any iterable of what ``count`` takes: a list, a generator, an open file with a board on
        every line, a NumPy array of strings, a column of pandas, Arrow or polars; or the
        ``pathlib.Path`` of a file. In an array of numbers of two dimensions every row is a board,
        in one of three every grid. If it is one of PyTorch, JAX or CuPy, arrays of results are too.
    box
        The shape of the boxes of all boards; by default each has its own, or it is guessed.
    on_error
        What happens at a board that cannot be read. ``raise``: the results end with its error, once
        all boards before it are counted. ``record``: a ``BadBoard`` with the error stands in its
        place, and all others are counted; their ``error`` is None.
    engine
        As for ``count``.
    cluster
        As for ``count``. Blocks are counted by the workers side by side, and a board that takes one
        of them long by all. It is connected from the first result on to the last, or to ``close``.
    cancel
        Stops the work on all boards whose results were not taken yet.
    **options
        The fields of ``Options``.

    Raises
    ------
    InputError
        At once, if no boards are given, or an option's value is wrong. If one of the boards is no
        board, as ``on_error`` says; ``board 17: ...`` names it by its index, from 0.
    DeviceError, TooExpensive, ClusterError, Interrupted, Cancelled
        As ``count`` does.
    """
    refuse_both(engine, cluster)
    with cancelling(cancel):
        found = batches_of(boards, box)
        chosen = Options(**options)
        if cluster is not None:
            chosen.refuse_seconds("a cluster")

        def counts(batches: Iterator[Batch]) -> Generator[ResultBlock, None, None]:
            if cluster is None:
                return count_batches(batches, chosen, engine_for(chosen, engine))
            return _count_many_on(cluster, batches, chosen)

        return Results(with_bad_boards(found, counts, on_error), cancel, boards)


def _count_many_on(
    cluster: Client | str, batches: Iterable[Batch], options: Options
) -> Generator[ResultBlock, None, None]:
    """Count many boards on a cluster."""
    from gpusudoku.runs.cluster import connected
    from gpusudoku.runs.tasks import count_batches_on

    with (
        connected(cluster, options.jobs) as machine,
        closing(count_batches_on(batches, options, machine)) as counts,
    ):
        yield from counts
