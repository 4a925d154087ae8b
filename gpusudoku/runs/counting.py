"""Functions for Python that count in tasks: with a checkpoint, on a cluster, or in parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Unpack, cast

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.engines.make import engine_for, refuse_both
from gpusudoku.errors import InputError, described
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import MAX_PARTS, OptionFields, Options, is_integer, takes_options
from gpusudoku.results import ContractionStats, Count, Estimates, SearchStats, Stats
from gpusudoku.runs.cluster import connect_cluster
from gpusudoku.runs.identity import board_of_identity
from gpusudoku.runs.records import DAMAGE_ERRORS, PartFile, PartRecord, in_order
from gpusudoku.runs.store import RunStore, read_run
from gpusudoku.runs.tasks import count_in_tasks

if TYPE_CHECKING:
    from distributed import Client

_STATS_CLASSES: dict[str, type[Stats]] = {"search": SearchStats, "contraction": ContractionStats}
"""The class of the statistics for each method."""


def count_for_python(
    board: Board,
    options: Options,
    engine: Engine | None,
    cluster: Client | str | None,
    checkpoint: str | os.PathLike[str] | None,
) -> Count:
    """Count a board in tasks, on an engine or on a cluster; both are as for ``count``."""
    refuse_both(engine, cluster)
    with RunStore(checkpoint) as store:
        if cluster is None:
            machine = engine_for(options, engine)
            count, _ = count_in_tasks(board, options, machine, store)
        else:
            with connect_cluster(cluster, options.jobs) as workers:
                count, _ = count_in_tasks(board, options, workers, store)
        return count


def resume(
    path: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    cluster: Client | str | None = None,
    device: str | None = None,
    jobs: int | None = None,
    gpus: tuple[int, ...] | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> Count:
    """Resume a count from its checkpoint, on this or on another machine.

    The file contains the board and the options. A finished count is returned at once.

    Parameters
    ----------
    path
        The file that you passed to ``count(board, checkpoint=path)``, or to the command
        ``gpusudoku count BOARD --checkpoint FILE``.
    engine, cluster, progress, cancel
        As for ``count``.
    device, jobs, gpus
        The fields of ``Options`` that you may change; None keeps the saved value.

    Raises
    ------
    InputError
        If the file does not hold the count of one board, or holds a part of it; and as in
        ``count``.
    DeviceError, TooExpensive, ClusterError, SaveError, Interrupted, Cancelled
        As in ``count``.
    """
    run = read_run(path)
    file = os.fspath(path)
    hint = f"'gpusudoku resume {file}' continues it"
    if run.identity.command != "count" or "cells" not in run.identity.boards:
        raise InputError(f"{file}: holds the run of a command: {hint}")
    # The result of a part is a record, not a `Count`.
    if "part" in run.identity.options:
        raise InputError(f"{file}: holds a part of a count: {hint}")
    params = options_of_resume(run.setup["params"], device, jobs, gpus, cluster)
    # A command also saves parameters that are no fields of `Options`.
    names = {field.name for field in fields(Options)}
    options = Options(**{name: value for name, value in params.items() if name in names})
    board = board_of_identity(run.identity.boards)
    with cancelling(cancel), reporting(progress):
        return count_for_python(board, options, engine, cluster, path)


def options_of_resume(
    saved_options: Mapping[str, Any],
    device: str | None,
    jobs: int | None,
    gpus: tuple[int, ...] | None,
    cluster: Client | str | None,
) -> dict[str, Any]:
    """Return the options of a saved run with the changes of a resume; None is no change.

    Another device does not keep the saved list of GPUs, nor a remote cluster the saved ``jobs``.
    """
    options = dict(saved_options)
    if device is not None:
        options |= {"device": device, "gpus": None}
    if gpus is not None or options.get("gpus") is not None:
        options["gpus"] = tuple(gpus or options["gpus"])  # JSON has made a list of it
    if jobs is not None or cluster not in (None, "local"):
        options["jobs"] = jobs
    return options


@takes_options
def count_part(
    board: BoardLike,
    number: int,
    parts: int,
    *,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    cancel: CancelToken | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[OptionFields],
) -> PartRecord:
    """Count the solutions in one of several parts of a board. ``merge`` adds the parts up.

    All parts have about the same size. They do not depend on the machine, its device or its number
    of threads. ``str`` of the returned object is its record, a line of JSON.

    Parameters
    ----------
    board, box, engine, progress
        As for ``count``.
    number
        The number of the part, from 1 to ``parts``.
    parts
        The number of parts, at most 65536.
    cancel
        Ends the count early, from another thread.
    **options
        The fields of ``Options``, without a limit.

    Raises
    ------
    InputError
        If there is no such part, if there is a limit, and as in ``count``.
    DeviceError, TooExpensive
        As in ``count``.
    Interrupted
        After Ctrl-C or a cancellation. Its ``count`` is a lower bound for this part.
    """
    puzzle = board_of(board, box)
    checked_options = Options(**options)
    if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts <= MAX_PARTS):
        raise InputError(
            f"part {described(number)} of {described(parts)}: expected a number from 1 to the"
            f" number of parts, which is at most {MAX_PARTS}"
        )
    part = (int(number), int(parts))
    engine = engine_for(checked_options, engine)
    with cancelling(cancel), reporting(progress):
        _, record = count_in_tasks(puzzle, checked_options, engine, RunStore(), part=part)
        return record


def merge(parts: Iterable[PartRecord | str]) -> Count:
    """Add up all parts of a count, in any order.

    Parameters
    ----------
    parts
        The objects that ``count_part`` returned, or their records as texts.

    Raises
    ------
    InputError
        If a part is missing, if two parts overlap, if parts differ in board, options or version, or
        if a record is damaged.
    """
    # A text is iterable, too: its characters would be taken for records.
    if isinstance(parts, str | bytes | PartRecord) or not isinstance(parts, Iterable):
        raise InputError(f"{described(parts)}: expected all parts of a count, such as a list")
    records = [part if isinstance(part, PartRecord) else PartRecord.parse(part) for part in parts]
    ordered = in_order(PartFile(f"part {record.number}", record, None) for record in records)
    return merge_records([part.record for part in ordered])


def merge_records(parts: list[PartRecord]) -> Count:
    """Add up all parts of a count, which ``in_order`` has checked.

    Raises
    ------
    InputError
        If they are parts of another command than a count, or a record is damaged.
    """
    identity = parts[0].identity
    if identity.command != "count" or not all(isinstance(part.found, int) for part in parts):
        raise InputError("a damaged record of a part: no count of a board")
    try:
        method = identity.options["method"]
        return Count(
            board=board_of_identity(identity.boards),
            count=sum(cast("int", part.found) for part in parts),
            exact=True,
            device=" and ".join(sorted({part.stats["device"] for part in parts})),
            jobs=sum(part.stats["jobs"] for part in parts),
            stats=_STATS_CLASSES[method](**_merge_stats(method, parts)),
            estimates=Estimates(**parts[0].stats["estimates"]),
        )
    except DAMAGE_ERRORS as error:
        if isinstance(error, InputError):
            raise
        raise InputError("a damaged record of a part: its statistics are invalid") from None


def _merge_stats(method: str, parts: list[PartRecord]) -> dict[str, Any]:
    """Return the fields of the statistics of all parts together."""
    # Every part has made the same plan, which is counted once, except for the time it took.
    stats = {**parts[0].stats["plan"], "utilisation": ()}
    stats["seconds"] = sum(part.stats["plan"]["seconds"] + part.stats["seconds"] for part in parts)
    counters = WorkCounters()
    for part in parts:
        counters.add(WorkCounters(**part.stats["done"]))
    if method == "search":
        stats["boards_explored"] += counters.guesses
        stats["nodes"] += counters.nodes
        stats["deepest"] = max(stats["deepest"], counters.deepest)
        stats |= counters.gpu_search
    else:
        stats["products"] += counters.products
        stats["gpu"] = ", ".join(counters.gpus)
        stats["on_gpu"] = bool(counters.gpus)
    return stats
