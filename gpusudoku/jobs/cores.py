"""The number of processor cores that this process may use, and memory for their threads."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

CACHE_LINE_PAIR = 128
"""Bytes of two cache lines: processors fetch them in pairs."""


def isolated(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return zeros (count) in cache lines of their own.

    A core that writes to a cache line takes it from all other cores. So what one thread writes all
    the time must not share a line with what another one uses.
    """
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
