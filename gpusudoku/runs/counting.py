"""A count in tasks: all or a part, here or on a cluster, in memory or in a file, and resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.engines.make import engine_for, refuse_both
from gpusudoku.errors import Cancelled, ClusterError, InputError, Interrupted
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.jobs.watch import Progress, current_watch, reporting
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from gpusudoku.planning.plan import Plan, Portion
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import Count, Stats, decimal_digits
from gpusudoku.runs.cluster.machine import OnCluster
from gpusudoku.runs.identity import Identity, board_of_identity, identity_of_board
from gpusudoku.runs.keeper import InMemory, Keeper
from gpusudoku.runs.kept import Kept, read_run
from gpusudoku.runs.ledger import SqliteRunStore
from gpusudoku.runs.local import work

if TYPE_CHECKING:
    from distributed import Client

KIND = "count"
"""The ``kind`` in the setup of such a run."""
PATIENCE_SECONDS = 10.0
"""The longest time from Ctrl-C until all is saved: the workers of some plans stop slowly."""


@dataclass(frozen=True)
class Checkpoint:
    """The file in which a count is kept."""

    path: str | os.PathLike[str]
    setup: Mapping[str, Any] | None = None
    """See ``SqliteRunStore.begin``; None for that of ``setup_of_count``."""


@dataclass(frozen=True)
class How:
    """The options of a count in tasks."""

    part: tuple[int, int] = (1, 1)
    """The number of the part of all tasks, from 1 on, and how many parts there are."""
    checkpoint: Checkpoint | None = None
    """The file that keeps it; None for memory."""
    facts: Mapping[str, Any] | None = None
    """More options on which the written result depends, as JSON."""


@dataclass(frozen=True)
class Counted:
    """The result of a count in tasks."""

    count: Count
    """Of the part, if it is one."""
    identity: Identity
    portion: Portion
    """All that was to be done."""
    plan_stats: Stats
    """The statistics of the plan before any task."""
    tally: WorkCounters
    """The work done for the tasks."""
    seconds: float
    """The time that took."""


def count_in_tasks(
    board: Board, options: Options, machine: Engine | OnCluster, how: How
) -> Counted:
    """Count a board, or a part of it, in numbered tasks; errors are raised when all is saved."""
    if options.limit is not None:
        raise InputError(f"limit {options.limit}: a count in tasks is of all solutions")
    keeper: Keeper | None = None
    with nullcontext() if how.checkpoint is None else SqliteRunStore(how.checkpoint.path) as ledger:
        try:
            make = partial(choose, board, options, parts=how.part[1])
            plan = make()
            identity, portion = identity_of_count(board, options, plan, how), plan.part(*how.part)
            keeper = _begun(ledger, how, identity, options, portion)
            expected = plan.estimate.nodes if isinstance(plan, SearchPlan) else inf
            keeper.nodes = expected / how.part[1]
            if keeper.done < 1:
                current_watch().planned(plan, board)
            with patient_interrupts(PATIENCE_SECONDS):
                if isinstance(machine, OnCluster):
                    machine.work(plan, make, options, keeper)
                else:
                    work(plan, machine, keeper)
        except (KeyboardInterrupt, Interrupted) as error:
            kind = type(error) if isinstance(error, Interrupted) else Interrupted
            found, hint = (0, "") if keeper is None else (keeper.count, keeper.hint)
            message = "cancelled" if kind is Cancelled else "interrupted"
            message += f": at least {decimal_digits(found)} solutions" if found else ""
            raise kind(f"{message}{hint}", found) from None
        except ClusterError as error:
            raise ClusterError(f"{error}{'' if keeper is None else keeper.hint}") from None
    stats = plan.stats(keeper.tally, keeper.seconds, getattr(machine, "utilisation", ()))
    count = Count(board, keeper.count, True, machine.name, machine.workers, stats, plan.estimates)
    before = plan.stats(WorkCounters(), 0.0)
    return Counted(count, identity, portion, before, keeper.tally, keeper.seconds)


def count_for_python(
    board: Board, options: Options, engine: Engine | None, cluster: Client | str | None, how: How
) -> Count:
    """Count a board in tasks, on an engine or a cluster given as for ``count``, but not on both."""
    refuse_both(engine, cluster)
    if cluster is None:
        return count_in_tasks(board, options, engine_for(options, engine), how).count
    from gpusudoku.runs.cluster.connect import connected  # imported lazily: few need it

    with connected(cluster, options.jobs) as client:
        return count_in_tasks(board, options, OnCluster(client), how).count


def setup_of_count(options: Options) -> dict[str, Any]:
    """Return the facts needed to go on with a count, besides the board."""
    return {"kind": KIND, "options": asdict(options)}


def identity_of_count(board: Board, options: Options, plan: Plan, how: How) -> Identity:
    """Return all that a count in tasks depends on; the method is the one that was chosen."""
    facts = {
        **options.search_facts(),
        "method": plan.method,
        "memory": None if plan.method == "search" else options.memory,
        "tasks": plan.tasks(),
        "parts": how.part[1],
        **(how.facts or {}),
    }
    return Identity("count", identity_of_board(board), facts)


def _begun(
    ledger: SqliteRunStore | None, how: How, identity: Identity, options: Options, portion: Portion
) -> Keeper:
    """Begin a run in a ledger, or go on with the one in it; without one begin a run in memory."""
    if ledger is None or how.checkpoint is None:
        return InMemory(portion)
    is_old = ledger.identity is not None
    number, parts = how.part
    if parts > 1:  # all parts are of one identity, but a file has one of them
        identity = replace(identity, options={**identity.options, "part": number})
    ledger.begin(identity, how.checkpoint.setup or setup_of_count(options), portion)
    if is_old:
        current_watch().resumed(ledger)
    return ledger


@dataclass(frozen=True)
class KeptCount:
    """The board and the options of a count, as they were when it began."""

    board: Board
    options: Options
    part: tuple[int, int] | None
    """The number of the part, and how many there are; None for all."""


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
    kept, _ = read_run(path)
    file = os.fspath(path)
    changed: dict[str, Any] = {"device": device, "jobs": jobs, "gpus": gpus}
    changed = {name: value for name, value in changed.items() if value is not None}
    if cluster is not None:  # its workers have threads of their own
        changed.setdefault("jobs", None)
    if kept.setup["kind"] != KIND:
        raise InputError(f"{file}: keeps a command: 'gpusudoku resume {file}' goes on with it")
    before = kept_count(file, kept, changed)
    if before.part is not None:
        raise InputError(f"{file}: a part of a count: 'gpusudoku resume {file}' goes on with it")
    how = How(checkpoint=Checkpoint(path))
    with cancelling(cancel), reporting(progress):
        return count_for_python(before.board, before.options, engine, cluster, how)


def kept_count(path: str, kept: Kept, changed: Mapping[str, Any]) -> KeptCount:
    """Read the board and the options of a count from its file; some options may be changed."""
    setup = kept.setup
    try:
        before, part = setup["options"], setup.get("part")
        gpus = before["gpus"]
        gpus = None if gpus is None or "device" in changed else tuple(gpus)
        options = Options(**{**before, "gpus": gpus, **changed})
        board = board_of_identity(kept.identity.boards)
        if part is not None:
            number, parts = part
            part = int(number), int(parts)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise InputError(f"{path}: {error}") from None
        raise InputError(f"{path}: damaged: it does not tell what was counted") from None
    return KeptCount(board, options, part)
