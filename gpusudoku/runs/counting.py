"""A count in numbered tasks: all or a part, here or on a cluster, in memory or in a file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, fields, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Unpack, cast

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.engines.make import engine_for, refuse_both
from gpusudoku.errors import (
    Cancelled,
    ClusterError,
    DeviceError,
    InputError,
    Interrupted,
    described,
)
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.jobs.watch import Progress, Watch, current_watch, reporting, watching
from gpusudoku.options import MOST_PARTS, OptionFields, Options, is_integer, takes_options
from gpusudoku.planning.batch import count_block, worked_on
from gpusudoku.planning.choose import choose
from gpusudoku.planning.plan import Plan, StepResult
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import (
    ContractionStats,
    Count,
    Estimates,
    ResultBlock,
    SearchStats,
    Stats,
    decimal_digits,
)
from gpusudoku.runs.cluster import Cluster, connected
from gpusudoku.runs.identity import Identity, board_of_identity, identity_of_board
from gpusudoku.runs.records import DAMAGED, PartFile, PartRecord, in_order
from gpusudoku.runs.store import RunStore, read_run

if TYPE_CHECKING:
    from distributed import Client

    from gpusudoku.runs.worker import Answer

PATIENCE_SECONDS = 10.0
"""The longest time from Ctrl-C until all is saved: the workers of some plans stop slowly."""

_STATS: dict[str, type[Stats]] = {"search": SearchStats, "contraction": ContractionStats}


def count_in_tasks(
    board: Board,
    options: Options,
    machine: Engine | Cluster,
    store: RunStore,
    *,
    part: tuple[int, int] = (1, 1),
    setup: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
    place: Mapping[str, Any] | None = None,
    limit: float = inf,
) -> tuple[Count, PartRecord]:
    """Count a board, or a part of it, in numbered tasks; errors are raised when all is saved.

    ``part`` is the number of a part of all tasks, from 1 on, and how many parts there are;
    ``setup`` tells how to go on, by default by the options alone, and ``facts`` are more options on
    which the written result depends, as JSON. ``place`` is that of the board, for the record. A
    cluster may stop at a ``limit``.
    """
    if options.limit is not None:
        raise InputError(f"limit {options.limit}: a count in tasks is of all solutions")
    options.refuse_seconds("a count with a checkpoint or in parts")
    number, parts = part
    try:
        make = partial(choose, board, options, parts=parts)
        plan = make()
        portion = plan.part(number, parts)
        options_of_run = {
            **options.search_facts(),
            "method": plan.method,  # the one that was chosen
            "memory": None if plan.method == "search" else options.memory,
            "tasks": plan.tasks(),
            "parts": parts,
            **(facts or {}),
        }
        identity = Identity("count", identity_of_board(board), options_of_run)
        # All parts are of one identity, but a file has one of them.
        kept = {**identity.options, "part": number} if parts > 1 else identity.options
        setup = setup or {"params": asdict(options)}
        store.begin(replace(identity, options=kept), setup, portion)
        if store.snapshot is not None:
            current_watch().resumed(store)
        store.nodes = plan.estimate.nodes / parts if isinstance(plan, SearchPlan) else inf
        if not store.state.finished:
            current_watch().planned(plan, board)
        if isinstance(machine, Cluster):
            work = machine.steps(plan, make, options, store, limit)
        else:
            if not store.state.finished:
                machine = machine.best(plan, board.geometry, (1 - store.state.done) / parts)
            work = steps(plan, machine, store)
        with patient_interrupts(PATIENCE_SECONDS), closing(work):
            for unit, step in work:
                store.save(unit, step)
    except (KeyboardInterrupt, Interrupted) as error:
        kind = type(error) if isinstance(error, Interrupted) else Interrupted
        found = store.state.count
        message = "cancelled" if kind is Cancelled else "interrupted"
        message += f": at least {decimal_digits(found)} solutions" if found else ""
        raise kind(f"{message}{store.hint}", found) from None
    except (ClusterError, DeviceError) as error:
        raise type(error)(f"{error}{store.hint}") from None
    state = store.state
    utilisation = getattr(machine, "utilisation", ())
    stats = plan.stats(state.tally, state.seconds, utilisation)
    device, jobs = machine.kind, machine.workers
    if not isinstance(machine, Cluster):
        device, jobs = worked_on(stats, machine)
    count = Count(board, state.count, True, device, jobs, stats, plan.estimates)
    work_done = {
        "plan": asdict(plan.stats(WorkCounters(), 0.0)),
        "done": asdict(state.tally),
        "seconds": state.seconds,
        "device": count.device,
        "jobs": count.jobs,
        "estimates": asdict(count.estimates or Estimates()),
    }
    record = PartRecord(identity, number, portion.tasks, count.count, work_done, place or {})
    return count, record


def steps(
    plan: Plan,
    engine: Engine,
    store: RunStore,
    on_solutions: Callable[[Any, Any], None] | None = None,
) -> Generator[tuple[int, StepResult], None, None]:
    """Do all that is left of a plan, in steps, each for the caller to save before the next.

    Yields the number of a portion, and what came of it. ``on_solutions`` takes the solutions of a
    search, see ``SearchPlan.step``. After Ctrl-C Interrupted is raised once all is saved.

    A save is an interruption: all workers stop for it, and those that stop first wait for the last.
    So the time between two saves is short while that is cheap, and longer where it is not.
    """
    seconds, do = store.pause_after(0.0), plan.step
    if on_solutions is not None:
        do = partial(cast("SearchPlan", plan).step, on_solutions=on_solutions)
    for number, portion in store.deal().items():
        while portion:
            with watching(_Whole(store)):
                step = do(engine, portion, seconds=seconds)
            start = time.perf_counter()
            yield number, step
            if step.interrupted is not None:
                raise step.interrupted
            cost = step.idle_seconds / step.workers + time.perf_counter() - start
            seconds = store.pause_after(cost)
            portion = step.left


class _Whole(Watch):
    """Reports the progress of a step to the watch around it, as that of the whole run.

    The share of a step that is done says little of the run: boards that are left of a task come
    first, and are small. Only of the first step nothing else is known.
    """

    def __init__(self, store: RunStore) -> None:
        super().__init__(current_watch())
        self._before = store.state

    def progress(self, progress: Progress) -> None:
        """See ``Watch``."""
        before = self._before
        done = before.done if before.seconds else progress.done
        count, seconds = before.count + progress.count, before.seconds + progress.seconds
        self.around.progress(Progress(done, count, seconds))


def count_for_python(
    board: Board,
    options: Options,
    engine: Engine | None,
    cluster: Client | str | None,
    checkpoint: str | os.PathLike[str] | None,
) -> Count:
    """Count a board in tasks, on an engine or a cluster given as for ``count``, but not on both."""
    refuse_both(engine, cluster)
    with RunStore(checkpoint) as store:
        if cluster is None:
            return count_in_tasks(board, options, engine_for(options, engine), store)[0]
        with connected(cluster, options.jobs) as machine:
            return count_in_tasks(board, options, machine, store)[0]


def count_batches_on(
    batches: Iterable[Batch], options: Options, engine: Cluster
) -> Generator[ResultBlock, None, None]:
    """Count on a cluster as ``count_batches`` does here; all count a board that takes one long."""
    for found in engine.answers(batches, cast("Answer", count_block), options):
        if isinstance(found, ResultBlock):
            yield found
            continue
        limit, whole = options.limit, replace(options, limit=None)
        with current_watch().working_on(found):
            count, _ = count_in_tasks(found[0], whole, engine, RunStore(), limit=limit or inf)
        if limit is not None and count.count >= limit:
            count = replace(count, count=limit, exact=False)
        yield ResultBlock.of(found, count, limit)


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
    run, file = read_run(path), os.fspath(path)
    by_command = f"'gpusudoku resume {file}' goes on with it"
    if run.identity.command != "count" or "cells" not in run.identity.boards:
        raise InputError(f"{file}: keeps a command: {by_command}")
    if "part" in run.identity.options:
        raise InputError(f"{file}: a part of a count: {by_command}")
    params = changed_options(run.setup["params"], device, jobs, gpus, cluster)
    known = {each.name for each in fields(Options)}
    options = Options(**{name: value for name, value in params.items() if name in known})
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
    found, chosen = board_of(board, box), Options(**options)
    if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts <= MOST_PARTS):
        raise InputError(
            f"part {described(number)} of {described(parts)}: expected one from 1 to the second,"
            f" of at most {MOST_PARTS}"
        )
    part = int(number), int(parts)
    engine = engine_for(chosen, engine)
    with cancelling(cancel), reporting(progress):
        return count_in_tasks(found, chosen, engine, RunStore(), part=part)[1]


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
    found = [each if isinstance(each, PartRecord) else PartRecord.parse(each) for each in parts]
    ordered = in_order(PartFile(f"part {part.number}", part, None) for part in found)
    return merged([part.record for part in ordered])


def merged(parts: list[PartRecord]) -> Count:
    """Add up all parts of a count, in their order; refuse records of anything else."""
    first, done = parts[0], WorkCounters()
    if first.identity.command != "count" or not all(isinstance(p.found, int) for p in parts):
        raise InputError("a damaged record of a part: no count of a board")
    try:
        facts = {**first.stats["plan"], "utilisation": ()}
        for part in parts:
            done.add(WorkCounters(**part.stats["done"]))
        facts["seconds"] = sum(
            part.stats["plan"]["seconds"] + part.stats["seconds"] for part in parts
        )
        if (method := first.identity.options["method"]) == "search":
            facts["boards_explored"] += done.guesses
            facts["nodes"] += done.nodes
            facts["deepest"] = max(facts["deepest"], done.deepest)
            facts |= done.gpu_search
        else:
            facts["products"] += done.products
            facts["gpu"] = ", ".join(done.gpus)
            facts["on_gpu"] = bool(done.gpus)
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
