"""The functions that workers of a cluster run: each works for a while and returns what it found.

All of this runs in the workers' processes, and Dask calls it by name. Imports are lazy, so that a
worker that cannot be used says why.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpusudoku import __version__
from gpusudoku.errors import Cancelled, GpusudokuError, TooExpensive
from gpusudoku.jobs.cancel import CancelToken, Deadline, check_cancelled
from gpusudoku.jobs.watch import Silence, watching
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Plan, Portion, StepResult
    from gpusudoku.results import ResultBlock

    Answer = Callable[[Batch, Options, Engine], Iterable[ResultBlock]]

_tokens: dict[str, CancelToken] = {}
"""Of all runs of this process: work that was sent before a run ended may come later."""
_at_work = threading.Lock()
"""Held by the unit that has all threads of a process; a plan is for one thread at a time."""


@dataclass(frozen=True)
class ClusterRun:
    """The facts of a run that workers need to work on its portions."""

    key: str
    """Another one for every run."""
    plan: Callable[[], Plan] = field(compare=False)
    """Makes the plan, the same on every machine."""
    tasks: int = field(compare=False)
    """The number of tasks of the plan."""
    options: Options = field(compare=False)
    """They have the device; the threads are the worker's."""


class WorkerReply(NamedTuple):
    """What a worker found and left, which it is, its device and its versions."""

    result: StepResult | list[ResultBlock]
    """A step of a portion; or the answers of the first boards of a block, without the boards."""
    seconds: float
    worker: str
    device: str
    versions: dict[str, str]


def versions() -> dict[str, str]:
    """Return the versions that must be the same in all processes."""
    return {
        "gpusudoku": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "NumPy": np.__version__.partition(".")[0],
    }


def work_at_portion(run: ClusterRun, portion: Portion, seconds: float) -> WorkerReply:
    """Work at a portion for about so many seconds, on all threads of this worker."""
    token = run_token(run.key)
    worker, threads = _self()
    with _at_work, token, watching(Silence()):  # a worker may have the user's terminal
        plan = _plan(run)
        engine = _engine(replace(run.options, jobs=threads))
        step = plan.step(engine, portion, seconds=seconds)
        return WorkerReply(step, step.seconds, worker, engine.kind, versions())


def work_at_block(
    key: str, answer: Answer, options: Options, block: Batch, seconds: float
) -> WorkerReply:
    """Answer boards in their order for so many seconds; end before one that is too expensive."""
    token = run_token(key)
    found = list["ResultBlock"]()
    worker, threads = _self()
    with _at_work, token, watching(Silence()):
        engine = _engine(replace(options, jobs=threads))
        start = time.perf_counter()
        try:
            with Deadline(seconds):
                for some in answer(block, options, engine):
                    found.append(replace(some, boards=block.part(0, 0)))
        except (Cancelled, TooExpensive):
            check_cancelled()
        seconds = time.perf_counter() - start
        return WorkerReply(found, seconds, worker, engine.kind, versions())


def dismiss(key: str) -> None:
    """Stop what this process does for a run, now or later, and keep nothing of it."""
    run_token(key).cancel()
    _plan.cache_clear()


def run_token(key: str) -> CancelToken:
    """Return the token that stops the work for a run."""
    return _tokens.setdefault(key, CancelToken())


def _self() -> tuple[str, int]:
    """Return the address of this worker, and the number of its threads."""
    from distributed import get_worker

    worker = get_worker()
    return worker.address, worker.state.nthreads


@lru_cache(maxsize=1)
def _plan(run: ClusterRun) -> Plan:
    """Make the plan of a run, whose frontier, lists and tensors are made once in a process."""
    plan = run.plan()
    if (tasks := plan.tasks()) != run.tasks:
        raise GpusudokuError(f"a plan of {tasks} tasks was made, not one of {run.tasks}")
    return plan


@lru_cache(maxsize=1)
def _engine(options: Options) -> Engine:
    """Make the engine; with ``auto`` the GPU, if there is one: what a cluster does takes long."""
    from gpusudoku.engines.make import engine_for

    return engine_for(options).for_long_work()
