"""Counting in numbered tasks: all or a part, on this machine or a cluster, in memory or a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, cast

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.errors import Cancelled, ClusterError, DeviceError, InputError, Interrupted
from gpusudoku.jobs.interrupts import interrupt_grace
from gpusudoku.jobs.watch import Progress, Watch, current_watch, watching
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from gpusudoku.planning.count import count_block, worked_on
from gpusudoku.planning.plan import Plan, StepResult
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import Count, Estimates, ResultBlock, decimal_digits
from gpusudoku.runs.cluster import Cluster
from gpusudoku.runs.identity import Identity, identity_of_board
from gpusudoku.runs.records import PartRecord
from gpusudoku.runs.store import RunStore

if TYPE_CHECKING:
    from gpusudoku.runs.worker import Answer

PATIENCE_SECONDS = 10.0
"""The longest time from Ctrl-C until everything is saved: the workers of some plans stop slowly."""


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
    """Count a board, or a part of it, in numbered tasks. Errors are raised after saving.

    ``part`` is the number of a part of all tasks, from 1 on, and the number of parts. ``setup`` has
    what ``resume`` needs, by default the options. ``facts`` are further options on which the
    written result depends, as JSON. ``place`` is the place of the board, for the record. A cluster
    may stop at a ``limit``.
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
            "method": plan.method,  # the chosen one, if it was auto
            "memory": None if plan.method == "search" else options.memory,
            "tasks": plan.tasks(),
            "parts": parts,
            **(facts or {}),
        }
        identity = Identity("count", identity_of_board(board), options_of_run)
        # All parts share an identity, but a run file holds one part.
        options_of_file = {**identity.options, "part": number} if parts > 1 else identity.options
        setup = setup or {"params": asdict(options)}
        store.begin(replace(identity, options=options_of_file), setup, portion)
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
        with interrupt_grace(PATIENCE_SECONDS), closing(work):
            for portion_number, step in work:
                store.save(portion_number, step)
    except (KeyboardInterrupt, Interrupted) as error:
        kind = type(error) if isinstance(error, Interrupted) else Interrupted
        count_so_far = store.state.count
        message = "cancelled" if kind is Cancelled else "interrupted"
        if count_so_far:
            message += f": at least {decimal_digits(count_so_far)} solutions"
        raise kind(f"{message}{store.hint}", count_so_far) from None
    except (ClusterError, DeviceError) as error:
        raise type(error)(f"{error}{store.hint}") from None
    state = store.state
    utilisation = getattr(machine, "utilisation", ())
    stats = plan.stats(state.tally, state.seconds, utilisation)
    if isinstance(machine, Cluster):
        device = machine.kind
        jobs = machine.workers
    else:
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
    """Run the remaining tasks of a plan in steps. The caller saves each step before the next.

    Yields the number of a portion, and the result of a step of it. ``on_solutions`` takes the
    solutions of a search, see ``SearchPlan.step``. After Ctrl-C, Interrupted is raised when
    everything is saved.

    All workers stop for a save, and the first ones wait for the last. So the time between two saves
    is short where stopping is cheap, and longer where it is not.
    """
    seconds = store.pause_after(0.0)
    do = plan.step
    if on_solutions is not None:
        do = partial(cast("SearchPlan", plan).step, on_solutions=on_solutions)
    for number, portion in store.split().items():
        while portion:
            with watching(_RunWatch(store)):
                step = do(engine, portion, seconds=seconds)
            start = time.perf_counter()
            yield number, step
            if step.interrupted is not None:
                raise step.interrupted
            cost = step.idle_seconds / step.workers + time.perf_counter() - start
            seconds = store.pause_after(cost)
            portion = step.remaining


class _RunWatch(Watch):
    """Reports the progress of a step to the outer watch, as progress of the whole run.

    The finished share of a step says little about the run: the remaining boards of a task come
    first, and are small. Only the first step reports its share, as nothing else is known then.
    """

    def __init__(self, store: RunStore) -> None:
        super().__init__(current_watch())
        self._before = store.state

    def progress(self, progress: Progress) -> None:
        """See ``Watch``."""
        before = self._before
        done = before.done if before.seconds else progress.done
        count = before.count + progress.count
        seconds = before.seconds + progress.seconds
        self.around.progress(Progress(done, count, seconds))


def count_batches_on(
    batches: Iterable[Batch], options: Options, engine: Cluster
) -> Generator[ResultBlock, None, None]:
    """Count boards on a cluster as ``count_batches`` does on this machine.

    A board that takes one worker long is counted in tasks, by all workers.
    """
    for results in engine.answers(batches, cast("Answer", count_block), options):
        if isinstance(results, ResultBlock):
            yield results
            continue
        board = results
        limit = options.limit
        unlimited = replace(options, limit=None)
        with current_watch().working_on(board):
            count, _ = count_in_tasks(board[0], unlimited, engine, RunStore(), limit=limit or inf)
        if limit is not None and count.count >= limit:
            count = replace(count, count=limit, exact=False)
        yield ResultBlock.of(board, count, limit)
