"""The functions that workers of a cluster run. Each works for some seconds and returns a reply.

Everything here runs in the processes of the workers, where Dask imports it by name. Some imports
are lazy, so that a worker that lacks a package can return the error.
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
"""The tokens of all runs of this process, by key. They are kept after the end of a run: work that
was sent before the end may arrive later."""
_work_lock = threading.Lock()
"""Held by the function that uses all threads of this process. Plans are not thread-safe."""


@dataclass(frozen=True)
class ClusterRun:
    """The facts of a run that workers need for its portions. Only the key takes part in hashes."""

    key: str
    """Unique to the run."""
    make_plan: Callable[[], Plan] = field(compare=False)
    """Makes the plan, which is the same on every machine."""
    task_count: int = field(compare=False)
    """The number of tasks of the plan."""
    options: Options = field(compare=False)
    """The options, with the device. The worker sets the number of threads."""


class WorkerReply(NamedTuple):
    """The results of a worker, with facts about the worker."""

    result: StepResult | list[ResultBlock]
    """A step of a portion; or the results of the first boards of a block, without the boards."""
    seconds: float
    worker: str
    """The address of the worker."""
    device: str
    versions: dict[str, str]


def versions() -> dict[str, str]:
    """Return the versions that must be the same in all processes."""
    return {
        "gpusudoku": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "NumPy": np.__version__.partition(".")[0],
    }


def work_on_portion(run: ClusterRun, portion: Portion, seconds: float) -> WorkerReply:
    """Run a step of a portion for about ``seconds``, on all threads of this worker."""
    token = run_token(run.key)
    address, threads = _this_worker()
    # Nothing is printed: a local worker shares the user's terminal.
    with _work_lock, token, watching(Silence()):
        plan = _plan_of(run)
        engine = _engine_for(replace(run.options, jobs=threads))
        step = plan.step(engine, portion, seconds=seconds)
        return WorkerReply(step, step.seconds, address, engine.kind, versions())


def work_on_block(
    key: str, answer: Answer, options: Options, block: Batch, seconds: float
) -> WorkerReply:
    """Compute the results of boards in their order, on all threads of this worker.

    This ends after ``seconds``, or before a board that is too expensive.
    """
    token = run_token(key)
    results = list["ResultBlock"]()
    address, threads = _this_worker()
    with _work_lock, token, watching(Silence()):
        engine = _engine_for(replace(options, jobs=threads))
        start = time.perf_counter()
        try:
            with Deadline(seconds):
                for result_block in answer(block, options, engine):
                    # The sender has the boards: they need not be sent back.
                    results.append(replace(result_block, boards=block.part(0, 0)))
        except (Cancelled, TooExpensive):
            check_cancelled()  # raises if the run has ended, not after the deadline above
        elapsed = time.perf_counter() - start
        return WorkerReply(results, elapsed, address, engine.kind, versions())


def stop_run(key: str) -> None:
    """Stop the work of this process for a run, now and later, and free its plan."""
    run_token(key).cancel()
    _plan_of.cache_clear()


def run_token(key: str) -> CancelToken:
    """Return the token that stops the work for a run."""
    return _tokens.setdefault(key, CancelToken())


def _this_worker() -> tuple[str, int]:
    """Return the address of this worker, and the number of its threads."""
    from distributed import get_worker

    worker = get_worker()
    return worker.address, worker.state.nthreads


@lru_cache(maxsize=1)
def _plan_of(run: ClusterRun) -> Plan:
    """Make the plan of a run. It is kept, as its frontier, lists and tensors take long to make."""
    plan = run.make_plan()
    task_count = plan.tasks()
    if task_count != run.task_count:
        raise GpusudokuError(f"a plan of {task_count} tasks was made, not one of {run.task_count}")
    return plan


@lru_cache(maxsize=1)
def _engine_for(options: Options) -> Engine:
    """Make the engine. With device ``auto`` it uses the GPU, if there is one: runs are long."""
    from gpusudoku.engines.make import engine_for

    return engine_for(options).for_long_work()
