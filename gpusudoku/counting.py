"""The functions ``count`` and ``count_many``."""

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

    A call adds some tens of microseconds to the time of the search. ``count_many`` counts many
    boards together and adds less than a tenth of that for each.

    Parameters
    ----------
    board
        A ``Board``, a string in any format that ``parse`` reads, the ``pathlib.Path`` of a file
        with one board, or n * n numbers (0, None or NaN for an empty cell) or strings, in a flat
        list, a list of rows, or an array of any library. An array on a GPU is copied to main
        memory. A board with contradicting clues has 0 solutions.
    box
        The shape of the boxes, as a ``Geometry`` or as ``"RxC"``. The default is that of the
        ``Board``, or a guess from the size.
    engine
        An engine of ``make_engine``, to share it between calls. By default each call makes one.
    cluster
        The Dask cluster whose workers count the board: a ``distributed.Client``, which stays open,
        the address of a scheduler, or ``local`` for a process on each core.
    checkpoint
        A file that stores the count so far and the remaining work, saved every few seconds and at
        the end. If it already contains this count, the count continues, on any device. ``resume``
        continues it, too.
    planned
        A function that is called with the plan, its method and estimates, before counting starts.
    progress
        A function that is called about twenty times a second with an object that has ``done``, a
        fraction from 0 to 1, ``count`` and ``seconds``.
    cancel
        A token that stops the count when any thread cancels it: see ``CancelToken``.
    **options
        The fields of ``Options``. A cluster or a checkpoint excludes a limit.

    Raises
    ------
    InputError
        If ``board`` is not a board, or an option has the wrong type or is out of range. If the
        checkpoint cannot be written, or contains something else; then the file is not changed.
    DeviceError
        If the options require CUDA and it cannot be used.
    TooExpensive
        If the options require a contraction and it would take too much time or memory.
    ClusterError
        If the cluster cannot be used, or is lost.
    SaveError
        If the count can no longer be saved.
    Interrupted, Cancelled
        After Ctrl-C, or when ``cancel`` is cancelled. ``count`` of the error is a lower bound.
    """
    # Errors of the arguments come first, before anything is reported or cancelled.
    converted_board = board_of(board, box)
    checked_options = Options(**options)
    with cancelling(cancel), reporting(progress, planned):
        if cluster is None and checkpoint is None:
            return count_board(
                converted_board, checked_options, engine_for(checked_options, engine)
            )
        # Imported lazily: few counts need it, and it imports SQLite.
        from gpusudoku.runs.counting import count_for_python

        return count_for_python(converted_board, checked_options, engine, cluster, checkpoint)


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
    """Count the solutions of many boards, in their order, with the options of ``count``.

    Boards are counted in blocks, one block per thread, or one board after the other if they take
    long. The ``stats`` of a result are those of its block. However many boards there are, memory is
    bounded by two blocks per thread. Each block is first searched for a few solutions of every
    board. Boards with more solutions are then counted individually: with method ``auto``, 9x9
    boards by contraction, and other boards by the faster method.

    The results are an iterator over a ``Count`` for every board. Its method ``blocks`` yields a
    ``ResultBlock`` of many boards instead, and ``numbers`` returns one array of all counts. Neither
    of them makes an object per board.

    Parameters
    ----------
    boards
        Any iterable of boards as ``count`` takes them: a list, a generator, an open file with a
        board on every line, a NumPy array of strings, a column of pandas, Arrow or polars; or the
        ``pathlib.Path`` of a file. In an array of numbers with two dimensions every row is a board,
        with three dimensions every grid. For an array of PyTorch, JAX or CuPy, arrays of results
        are of the same library.
    box
        The shape of the boxes of all boards. By default each board has its own, or it is guessed.
    on_error
        ``raise``: the results end with the error of the first board that cannot be read, after the
        boards before it. ``record``: the result of such a board is a ``BadBoard`` with the error,
        and the other boards are counted; their ``error`` is None.
    engine
        As for ``count``.
    cluster
        As for ``count``. Each worker counts blocks; a board that takes one worker long is counted
        by all of them. The connection lasts from the first result to the last, or until ``close``.
    cancel
        A token that stops the work on all boards whose results have not been read.
    **options
        The fields of ``Options``.

    Raises
    ------
    InputError
        Immediately, if ``boards`` is not an iterable of boards, or an option is wrong. Later, with
        ``on_error="raise"``, if one of the boards cannot be read; ``board 17: ...`` names its
        index, from 0.
    DeviceError, TooExpensive, ClusterError, Interrupted, Cancelled
        As ``count`` does.
    """
    refuse_both(engine, cluster)
    with cancelling(cancel):
        batches_and_errors = batches_of(boards, box)
        checked_options = Options(**options)
        if cluster is not None:
            checked_options.refuse_seconds("a cluster")

        # Called when the first result is read, so that no work is done before.
        def counts(batches: Iterator[Batch]) -> Generator[ResultBlock, None, None]:
            if cluster is None:
                return count_batches(batches, checked_options, engine_for(checked_options, engine))
            return _count_many_on(cluster, batches, checked_options)

        return Results(with_bad_boards(batches_and_errors, counts, on_error), cancel, boards)


def _count_many_on(
    cluster: Client | str, batches: Iterable[Batch], options: Options
) -> Generator[ResultBlock, None, None]:
    """Count many boards on a cluster."""
    from gpusudoku.runs.cluster import connect_cluster
    from gpusudoku.runs.tasks import count_batches_on

    with (
        connect_cluster(cluster, options.jobs) as machine,
        closing(count_batches_on(batches, options, machine)) as counts,
    ):
        yield from counts
