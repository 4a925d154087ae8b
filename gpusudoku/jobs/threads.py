"""Threads: how many cores may run them, memory that they do not share, and starting them."""

from __future__ import annotations

import os
import threading
import warnings
from contextlib import suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku.errors import GpusudokuError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

CACHE_LINE_PAIR = 128
"""Bytes of two cache lines: processors fetch them in pairs."""


def isolated(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return zeros (count) in cache lines of their own.

    A core that writes to a cache line takes it from all other cores. So what one thread writes all
    the time must not share a line with what another one uses.
    """
    import numpy as np  # imported lazily: signals are handled before

    padding = CACHE_LINE_PAIR // np.dtype(dtype).itemsize
    return np.zeros(count + 2 * padding, dtype)[padding : padding + count]


def usable_cores() -> int:
    """Count the cores of the process's affinity or, on Linux, of its cgroup's quota if less."""
    if hasattr(os, "process_cpu_count"):
        cores = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return int(max(1, min(cores, _cgroup_cores())))


@cache
def _cgroup_cores() -> float:
    """Return the CPU quota of the process's control groups in cores, infinite if there is none.

    It is read once: that takes longer than to count the solutions of a puzzle.

    Version 2 where it is in use: the tightest quota from the process's own group up to the root.
    Version 1: that of the root, which in a container is the container's.
    """
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return inf
    own = next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), "")
    quotas = []
    for folder in (root / own, *(root / own).parents):
        with suppress(OSError, ValueError):
            quota, period = (folder / "cpu.max").read_text().split()
            quotas.append(inf if quota == "max" else int(quota) / int(period))
        if folder == root:
            break
    with suppress(OSError, ValueError):
        period = (root / "cpu" / "cpu.cfs_period_us").read_text().strip()
        quota = (root / "cpu" / "cpu.cfs_quota_us").read_text().strip()
        quotas.append(inf if quota == "-1" else int(quota) / int(period))
    return min(quotas, default=inf)


class NoThread(GpusudokuError, RuntimeError):  # noqa: N818 - it says what is missing
    """The system starts no more threads: too many processes, or too little memory."""


def start_thread(thread: threading.Thread) -> None:
    """Start a thread; raise NoThread if there can be no more."""
    with suppress(RuntimeError, MemoryError):
        return thread.start()
    try:
        thread.start()  # one that had just ended may have counted
    except (RuntimeError, MemoryError):
        if thread.ident is not None:  # it was started before
            raise
        message = "allow more processes (ulimit -u) or more memory (ulimit -v)"
        raise NoThread(f"no thread can be started: {message}") from None


def note_fewer() -> None:
    """Warn that work goes on with fewer threads than wanted; Python shows this only once."""
    warnings.warn(
        "no more threads can be started (see ulimit -u and ulimit -v): going on with fewer",
        RuntimeWarning,
        stacklevel=1,
    )
