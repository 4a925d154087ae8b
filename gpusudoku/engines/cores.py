"""How many processor cores this process may use."""

from __future__ import annotations

import os
from math import inf
from pathlib import Path


def usable_cores() -> int:
    """Cores this process may use: its affinity and, on Linux, its cgroup's quota."""
    if hasattr(os, "process_cpu_count"):
        cores = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return int(max(1, min(cores, _cgroup_cores())))


def _cgroup_cores() -> float:
    """CPU quota of the control group in cores (version 2, then 1), infinite if there is none."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        folder = Path("/sys/fs/cgroup/cpu")
        try:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return inf
    return int(quota) / int(period) if quota not in ("max", "-1") else inf
