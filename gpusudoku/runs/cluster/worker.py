"""What a worker of a cluster does: it works at something for a while and tells what came of it.

All of this runs in the workers' processes, and Dask calls it by name. Nothing is imported before
it is needed: a worker that cannot be used is to tell why.
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
    from gpusudoku.planning.plan import Plan
    from gpusudoku.planning.portion import Portion, Step
    from gpusudoku.results import ResultBlock

_at_work = threading.Lock()
"""One step at a time has all threads of a process, and a plan is for one thread at a time."""
MOST_TOKENS = 256
_tokens: dict[str, CancelToken] = {}
"""Of the last runs that this process has worked at: what was sent before a run ended may come."""
_keeping = threading.Lock()


@dataclass(frozen=True)
class Run:
    """What workers are to know of a run to work at its portions."""

    key: str
    """Another one for every run."""
    plan: Callable[[], Plan] = field(compare=False)
    """Makes the plan, the same on every machine."""
    tasks: int = field(compare=False)
    """How many the plan has."""
    options: Options = field(compare=False)
    """They tell the device; the threads are the worker's."""


class Worked(NamedTuple):
    """What came of working at a portion, and on what."""

    step: Step
    device: str


class CountedBlock(NamedTuple):
    """What came of counting the boards of a block."""

    counts: Sequence[ResultBlock]
    """Those of its first boards, in their order, without the boards themselves."""
    seconds: float
    """How long that took."""


def versions() -> dict[str, str]:
    """What must be the same in all processes."""
    return {
        "gpusudoku": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "NumPy": np.__version__.partition(".")[0],
    }


def work(run: Run, portion: Portion, seconds: float, threads: int) -> Worked:
    """Work at a portion for about so many seconds, on so many threads.

    It depends on the portion only what is found in the end: whoever loses what came of it may have
    it done again by another worker.
    """
    token = _token(run.key)
    with _at_work, token, watching(Silence()):  # a worker may have the user's terminal
        plan, engine = _plan(run), _engine(replace(run.options, jobs=threads))
        return Worked(plan.step(engine, portion, seconds=seconds), engine.name)


def count_some(
    key: str, options: Options, block: Batch, seconds: float, threads: int
) -> CountedBlock:
    """Count boards in their order for so many seconds, on so many threads.

    It ends before a board that takes longer, or is too expensive.
    """
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
    """What stops the work for a run."""
    with _keeping:
        token = _tokens[key] = _tokens.pop(key, CancelToken())
        while len(_tokens) > MOST_TOKENS:
            del _tokens[next(iter(_tokens))]
        return token


@lru_cache(maxsize=1)
def _plan(run: Run) -> Plan:
    """The plan of a run, whose frontier, lists and tensors are made once in a process."""
    plan = run.plan()
    if (tasks := plan.tasks()) != run.tasks:
        raise GpusudokuError(f"a plan of {tasks} tasks was made, not one of {run.tasks}")
    return plan


@lru_cache(maxsize=1)
def _engine(options: Options) -> Engine:
    from gpusudoku.engines.make import engine_for

    return engine_for(options)
