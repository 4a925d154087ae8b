"""Counts in tasks for Python: in parts, and resumed from a checkpoint."""

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
from gpusudoku.runs.cluster import connected
from gpusudoku.runs.identity import board_of_identity
from gpusudoku.runs.records import DAMAGED, PartFile, PartRecord, in_order
from gpusudoku.runs.store import RunStore, read_run
from gpusudoku.runs.tasks import count_in_tasks

if TYPE_CHECKING:
    from distributed import Client

_STATS: dict[str, type[Stats]] = {"search": SearchStats, "contraction": ContractionStats}


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
            return count_in_tasks(board, options, engine_for(options, engine), store)[0]
        with connected(cluster, options.jobs) as machine:
            return count_in_tasks(board, options, machine, store)[0]


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
    """Resume the count that a checkpoint holds, also on another machine.

    The board and the options are in the file: see ``count``. A finished count is returned at once.

    Parameters
    ----------
    path
        The file that was given to ``count(board, checkpoint=path)``, or to the command
        ``gpusudoku count BOARD --checkpoint FILE``.
    engine, cluster, progress, cancel
        As for ``count``.
    device, jobs, gpus
        The fields of ``Options`` that may be others than before; None: as before.

    Raises
    ------
    InputError
        If the file holds no count of one board, or a part of one; or as in ``count``.
    DeviceError, TooExpensive, ClusterError, SaveError, Interrupted, Cancelled
        As ``count`` does.
    """
    run = read_run(path)
    file = os.fspath(path)
    by_command = f"'gpusudoku resume {file}' goes on with it"
    if run.identity.command != "count" or "cells" not in run.identity.boards:
        raise InputError(f"{file}: keeps a command: {by_command}")
    if "part" in run.identity.options:
        raise InputError(f"{file}: a part of a count: {by_command}")
    params = changed_options(run.setup["params"], device, jobs, gpus, cluster)
    names = {field.name for field in fields(Options)}
    options = Options(**{name: value for name, value in params.items() if name in names})
    board = board_of_identity(run.identity.boards)
    with cancelling(cancel), reporting(progress):
        return count_for_python(board, options, engine, cluster, path)


def changed_options(
    before: Mapping[str, Any],
    device: str | None,
    jobs: int | None,
    gpus: tuple[int, ...] | None,
    cluster: Client | str | None,
) -> dict[str, Any]:
    """Change the options of a saved run: another device has other GPUs, a cluster its threads."""
    options = dict(before)
    if device is not None:
        options |= {"device": device, "gpus": None}
    if gpus is not None or options.get("gpus") is not None:
        options["gpus"] = tuple(gpus or options["gpus"])
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
    """Count a part of all solutions of a board, for ``merge`` to add up with the others.

    All parts are of about the same size, and the same ones on every machine, whatever its device
    and its number of threads. ``str`` of what is returned is a record of it, a line of JSON.

    Parameters
    ----------
    board, box, engine, progress
        As for ``count``.
    number
        Which part, from 1 to ``parts``.
    parts
        How many there are, at most 65536.
    cancel
        Ends the count early, from another thread.
    **options
        The fields of ``Options``, without a limit.

    Raises
    ------
    InputError
        If there is no such part, there is a limit, or as in ``count``.
    DeviceError, TooExpensive
        As ``count`` does.
    Interrupted
        After Ctrl-C or a cancellation; its ``count`` is a lower bound of what the part has.
    """
    puzzle = board_of(board, box)
    settings = Options(**options)
    if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts <= MAX_PARTS):
        raise InputError(
            f"part {described(number)} of {described(parts)}: expected one from 1 to the second,"
            f" of at most {MAX_PARTS}"
        )
    part = (int(number), int(parts))
    engine = engine_for(settings, engine)
    with cancelling(cancel), reporting(progress):
        return count_in_tasks(puzzle, settings, engine, RunStore(), part=part)[1]


def merge(parts: Iterable[PartRecord | str]) -> Count:
    """Add up all parts of a count, given in any order.

    Parameters
    ----------
    parts
        What ``count_part`` gave, or the records of it, as texts.

    Raises
    ------
    InputError
        If one is missing, two overlap, one is of another board, option or version, or a record is
        damaged.
    """
    if isinstance(parts, str | bytes | PartRecord) or not isinstance(parts, Iterable):
        raise InputError(f"{described(parts)}: expected all parts of a count, such as a list")
    records = [part if isinstance(part, PartRecord) else PartRecord.parse(part) for part in parts]
    ordered = in_order(PartFile(f"part {record.number}", record, None) for record in records)
    return merged([part.record for part in ordered])


def merged(parts: list[PartRecord]) -> Count:
    """Add up all parts of a count, in their order; refuse records of anything else."""
    first = parts[0]
    counters = WorkCounters()
    if first.identity.command != "count" or not all(isinstance(p.found, int) for p in parts):
        raise InputError("a damaged record of a part: no count of a board")
    try:
        facts = {**first.stats["plan"], "utilisation": ()}
        for part in parts:
            counters.add(WorkCounters(**part.stats["done"]))
        facts["seconds"] = sum(
            part.stats["plan"]["seconds"] + part.stats["seconds"] for part in parts
        )
        method = first.identity.options["method"]
        if method == "search":
            facts["boards_explored"] += counters.guesses
            facts["nodes"] += counters.nodes
            facts["deepest"] = max(facts["deepest"], counters.deepest)
            facts |= counters.gpu_search
        else:
            facts["products"] += counters.products
            facts["gpu"] = ", ".join(counters.gpus)
            facts["on_gpu"] = bool(counters.gpus)
        return Count(
            board=board_of_identity(first.identity.boards),
            count=sum(cast("int", part.found) for part in parts),
            exact=True,
            device=" and ".join(sorted({part.stats["device"] for part in parts})),
            jobs=sum(part.stats["jobs"] for part in parts),
            stats=_STATS[method](**facts),
            estimates=Estimates(**first.stats["estimates"]),
        )
    except DAMAGED as error:
        if isinstance(error, InputError):
            raise
        raise InputError("a damaged record of a part: its statistics are none") from None
