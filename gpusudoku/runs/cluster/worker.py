"""The functions that workers of a cluster run: each works for a while and returns what it found.

All of this runs in the workers' processes, and Dask calls it by name. Imports are lazy, so that a
worker that cannot be used says why.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

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

_at_work = threading.Lock()
"""Held by the step that has all threads of a process; a plan is for one thread at a time."""
MOST_TOKENS = 256
_tokens: dict[str, CancelToken] = {}
"""Of the last runs of this process: work that was sent before a run ended may come later."""
_keeping = threading.Lock()


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


class Worked(NamedTuple):
    """The step that came of working on a portion, and the device."""

    step: StepResult
    device: str


class CountedBlock(NamedTuple):
    """The counts of the first boards of a block."""

    counts: Sequence[ResultBlock]
    """In their order, without the boards themselves."""
    seconds: float


def versions() -> dict[str, str]:
    """Return the versions that must be the same in all processes."""
    return {
        "gpusudoku": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "NumPy": np.__version__.partition(".")[0],
    }


def work(run: ClusterRun, portion: Portion, seconds: float, threads: int) -> Worked:
    """Work on a portion for about so many seconds, on so many threads."""
    token = _token(run.key)
    with _at_work, token, watching(Silence()):  # a worker may have the user's terminal
        plan, engine = _plan(run), _engine(replace(run.options, jobs=threads))
        return Worked(plan.step(engine, portion, seconds=seconds), engine.name)


def count_some(
    key: str, options: Options, block: Batch, seconds: float, threads: int
) -> CountedBlock:
    """Count boards in their order for so many seconds; end before one that is too expensive."""
    from gpusudoku.planning.batch import count_block

    token = _token(key)
    counts: list[ResultBlock] = []
    with _at_work, token, watching(Silence()):
        engine, start = _engine(replace(options, jobs=threads)), time.perf_counter()
        try:
            with Deadline(seconds):
                for some in cast("Iterator[ResultBlock]", count_block(block, options, engine)):
                    counts.append(replace(some, boards=block.part(0, 0)))
        except (Cancelled, TooExpensive):
            check_cancelled()
    return CountedBlock(counts, time.perf_counter() - start)


def dismiss(key: str) -> None:
    """Stop what this process does for a run, now or later, and keep nothing of it."""
    _token(key).cancel()
    _plan.cache_clear()


def _token(key: str) -> CancelToken:
    """Return the token that stops the work for a run."""
    with _keeping:
        token = _tokens[key] = _tokens.pop(key, CancelToken())
        while len(_tokens) > MOST_TOKENS:
            del _tokens[next(iter(_tokens))]
        return token


@lru_cache(maxsize=1)
def _plan(run: ClusterRun) -> Plan:
    """Make the plan of a run, whose frontier, lists and tensors are made once in a process."""
    plan = run.plan()
    if (tasks := plan.tasks()) != run.tasks:
        raise GpusudokuError(f"a plan of {tasks} tasks was made, not one of {run.tasks}")
    return plan


@lru_cache(maxsize=1)
def _engine(options: Options) -> Engine:
    from gpusudoku.engines.make import engine_for

    return engine_for(options)
