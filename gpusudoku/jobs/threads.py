"""Threads: the number of usable cores, memory that threads do not share, and starting threads."""

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
"""Bytes of two cache lines. Processors fetch them in pairs."""


def isolated(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an array (count) of zeros that shares no cache line with other data.

    A core that writes to a cache line removes it from the caches of all other cores. Data that one
    thread writes often must not share a line with data that another thread uses.
    """
    import numpy as np  # imported lazily: signals must be handled before

    padding = CACHE_LINE_PAIR // np.dtype(dtype).itemsize
    return np.zeros(count + 2 * padding, dtype)[padding : padding + count]


def usable_cores() -> int:
    """Return the number of cores that the process may use: by affinity and cgroup quota."""
    if hasattr(os, "process_cpu_count"):
        cores = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return int(max(1, min(cores, _cgroup_cores())))


@cache
def _cgroup_cores() -> float:
    """Return the CPU quota of the process's control groups (Linux) in cores; infinite without one.

    Version 2: the smallest quota from the process's group up to the root. Version 1: the quota of
    the root, which in a container is that of the container. Reading them takes longer than counting
    the solutions of a puzzle, so it is done once.
    """
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return inf
    group = next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), "")
    quotas = []
    for folder in (root / group, *(root / group).parents):
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


class ThreadStartError(GpusudokuError, RuntimeError):
    """A thread cannot be started: there are too many processes, or too little memory."""


def start_thread(thread: threading.Thread) -> None:
    """Start a thread, or raise ThreadStartError."""
    with suppress(RuntimeError, MemoryError):
        return thread.start()
    try:
        # Tried again: a thread that has just ended may still have counted against the limit.
        thread.start()
    except (RuntimeError, MemoryError):
        if thread.ident is not None:  # the error means that it was started before
            raise
        message = "allow more processes (ulimit -u) or more memory (ulimit -v)"
        raise ThreadStartError(f"no thread can be started: {message}") from None


def warn_fewer_threads() -> None:
    """Warn that the work continues with fewer threads. Python shows the warning only once."""
    warnings.warn(
        "no more threads can be started (see ulimit -u and ulimit -v): continuing with fewer",
        RuntimeWarning,
        stacklevel=1,
    )
