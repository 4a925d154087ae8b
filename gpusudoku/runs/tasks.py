"""Counting in numbered tasks: all of them or a part, on this machine or on a cluster.

The results and the remaining work are in a ``RunStore``, in memory or in a file.
"""

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

SAVE_GRACE_SECONDS = 10.0
"""The longest time from Ctrl-C to the last save: the workers of some plans stop slowly."""


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

    Parameters
    ----------
    part
        The number of the part, from 1, and the number of parts.
    setup
        What a resume needs, as JSON; by default the options.
    facts
        Further options on which the written result depends, as JSON.
    place
        The place from which the board was read, for the record.
    limit
        The number of solutions at which a cluster may stop.

    Raises
    ------
    InputError
        If the options have a limit or a time limit, or the store holds another run.
    Interrupted, Cancelled, ClusterError, DeviceError
        With the end of the message that says how to resume.
    """
    if options.limit is not None:
        raise InputError(
            f"limit {options.limit}: a count with a checkpoint, parts or a cluster has no limit"
        )
    options.refuse_seconds("a count with a checkpoint or in parts")
    part_number, part_count = part
    try:
        make_plan = partial(choose, board, options, parts=part_count)
        plan = make_plan()
        portion = plan.part(part_number, part_count)
        identity = _identity(board, options, plan, part_count, facts or {})
        file_identity = identity
        if part_count > 1:
            # All parts have the same identity, but a run file holds one part.
            file_options = {**identity.options, "part": part_number}
            file_identity = replace(identity, options=file_options)
        store.begin(file_identity, setup or {"params": asdict(options)}, portion)
        if store.snapshot is not None:
            current_watch().resumed(store)
        if isinstance(plan, SearchPlan):
            store.nodes = plan.estimate.nodes / part_count
        if not store.state.finished:
            current_watch().planned(plan, board)
        if isinstance(machine, Cluster):
            work = machine.run_steps(plan, make_plan, options, store, limit)
        else:
            # A finished run returns its count, for which no engine need start.
            if not store.state.finished:
                remaining_share = (1 - store.state.done) / part_count
                machine = machine.best(plan, board.geometry, remaining_share)
            work = steps(plan, machine, store)
        # Closed at once after an error, so that the workers stop before it is handled.
        with interrupt_grace(SAVE_GRACE_SECONDS), closing(work):
            for portion_number, step in work:
                store.save(portion_number, step)
    except (KeyboardInterrupt, Interrupted) as error:
        raise _interrupt_with_hint(error, store) from None
    except (ClusterError, DeviceError) as error:
        raise type(error)(f"{error}{store.hint}") from None
    count = _count_of(board, plan, machine, store)
    record = PartRecord(
        identity,
        part_number,
        portion.tasks,
        count.count,
        _record_stats(count, plan, store),
        place or {},
    )
    return count, record


def _count_of(board: Board, plan: Plan, machine: Engine | Cluster, store: RunStore) -> Count:
    """Return the result of a run that has ended."""
    state = store.state
    stats = plan.stats(state.tally, state.seconds, getattr(machine, "utilisation", ()))
    if isinstance(machine, Cluster):
        device = machine.kind
        jobs = machine.workers
    else:
        device, jobs = worked_on(stats, machine)
    return Count(board, state.count, True, device, jobs, stats, plan.estimates)


def _record_stats(count: Count, plan: Plan, store: RunStore) -> dict[str, Any]:
    """Return the statistics of a part for its record, as JSON.

    The plan and the work are apart: ``merge`` adds up the work of all parts, and counts the plan,
    which they share, only once.
    """
    return {
        "plan": asdict(plan.stats(WorkCounters(), 0.0)),
        "done": asdict(store.state.tally),
        "seconds": store.state.seconds,
        "device": count.device,
        "jobs": count.jobs,
        "estimates": asdict(count.estimates or Estimates()),
    }


def _identity(
    board: Board, options: Options, plan: Plan, part_count: int, facts: Mapping[str, Any]
) -> Identity:
    """Return the identity that all parts of a count have."""
    run_options = {
        **options.search_facts(),
        "method": plan.method,  # the chosen one, if the option was auto
        "memory": None if plan.method == "search" else options.memory,
        "tasks": plan.tasks(),
        "parts": part_count,
        **facts,
    }
    return Identity("count", identity_of_board(board), run_options)


def _interrupt_with_hint(error: BaseException, store: RunStore) -> Interrupted:
    """Return the Interrupted, or Cancelled, for an interrupted count, which says how to resume."""
    error_type = type(error) if isinstance(error, Interrupted) else Interrupted
    solution_count = store.state.count
    message = "cancelled" if error_type is Cancelled else "interrupted"
    if solution_count:
        message += f": at least {decimal_digits(solution_count)} solutions"
    return error_type(f"{message}{store.hint}", solution_count)


def steps(
    plan: Plan,
    engine: Engine,
    store: RunStore,
    on_solutions: Callable[[Any, Any], None] | None = None,
) -> Generator[tuple[int, StepResult], None, None]:
    """Run the remaining tasks of a plan in steps. The caller saves each step before the next.

    Yields the number of a portion and the result of a step. ``on_solutions`` takes the solutions of
    a search, see ``SearchPlan.step``. After Ctrl-C, Interrupted is raised once the step is saved.

    For a save, all workers stop, and the first ones wait for the last. So the time between two
    saves is short where stopping is cheap, and longer where it is not.
    """
    step_seconds = store.pause_after(0.0)
    run_step = plan.step
    if on_solutions is not None:
        run_step = partial(cast("SearchPlan", plan).step, on_solutions=on_solutions)
    for number, portion in store.split().items():
        remaining = portion
        while remaining:
            with watching(_RunWatch(store)):
                step = run_step(engine, remaining, seconds=step_seconds)
            start = time.perf_counter()
            yield number, step  # the caller saves it
            if step.interrupted is not None:
                raise step.interrupted
            saving_seconds = time.perf_counter() - start
            cost = step.idle_seconds / step.workers + saving_seconds
            step_seconds = store.pause_after(cost)
            remaining = step.remaining


class _RunWatch(Watch):
    """Reports the progress of a step to the outer watch, as progress of the whole run.

    The finished share of a step says little about the run: the remaining boards of a task come
    first, and are small. Only the first step reports its share, as nothing else is known then.
    """

    def __init__(self, store: RunStore) -> None:
        super().__init__(current_watch())
        self._saved_state = store.state

    def progress(self, progress: Progress) -> None:
        """See ``Watch``."""
        saved_state = self._saved_state
        share = saved_state.done if saved_state.seconds else progress.done
        count = saved_state.count + progress.count
        seconds = saved_state.seconds + progress.seconds
        self.around.progress(Progress(share, count, seconds))


def count_batches_on(
    batches: Iterable[Batch], options: Options, engine: Cluster
) -> Generator[ResultBlock, None, None]:
    """Count boards on a cluster as ``count_batches`` does on this machine.

    A board that takes one worker long is counted in tasks, by all workers.
    """
    limit = options.limit
    unlimited_options = replace(options, limit=None)
    for answer in engine.answers(batches, cast("Answer", count_block), options):
        if isinstance(answer, ResultBlock):
            yield answer
            continue
        batch = answer  # one board without a result
        with current_watch().working_on(batch):
            count, _ = count_in_tasks(
                batch[0], unlimited_options, engine, RunStore(), limit=limit or inf
            )
        # The workers stop at the limit only after a step, so that the count may exceed it.
        if limit is not None and count.count >= limit:
            count = replace(count, count=limit, exact=False)
        yield ResultBlock.of(batch, count, limit)
