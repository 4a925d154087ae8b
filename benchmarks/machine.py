"""Files of results, which describe the machine, and the present clock rate of its cores."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import Any

import numba

from gpusudoku.bench.suite import heading, machine
from gpusudoku.errors import InputError

__all__ = [
    "RESULTS",
    "heading",
    "machine",
    "measure_gigahertz",
    "read_results",
    "record",
    "source_line",
    "write_results",
]

RESULTS = Path(__file__).parent / "results"


def record(path: Path, runs: list[dict[str, Any]], **more: object) -> None:
    """Write runs to a file with the description of the machine, to which ``more`` is added."""
    write_results(path, {"machine": {**machine(), **more}, "runs": runs})


def write_results(path: Path, results: dict[str, Any]) -> None:
    """Write results to a JSON file.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def read_results(path: Path) -> dict[str, Any]:
    """Read the results that ``write_results`` wrote.

    Raises
    ------
    InputError
        If the file cannot be read or has no results.
    """
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}, expected a file of results") from None
    except ValueError:
        raise InputError(f"{path}: not JSON, expected a file of results") from None
    if not (isinstance(results, dict) and isinstance(results.get("machine"), dict)):
        raise InputError(f"{path}: no description of a machine, expected a file of results")
    return results


def source_line(path: Path, default_command: str) -> str:
    """Return the line under a table that says where its results are from.

    It has the machine, the date, the clock rate if it was measured, the release, the commit, and
    the recorded command or ``default_command``.

    Raises
    ------
    InputError
        If the file cannot be read or has no results.
    """
    results = read_results(path)
    description = results["machine"]
    parts = [heading(description)]

    # The clock was measured before and after all runs, or in each run.
    clocks_of_runs = [run["gigahertz"] for run in results.get("runs", ()) if "gigahertz" in run]
    if "gigahertz" in description:
        before, after = description["gigahertz"]
        parts.append(f"a core got {before:.2f} GHz before and {after:.2f} GHz after")
    elif clocks_of_runs:
        parts.append(f"{median(clocks_of_runs):.2f} GHz per core")

    release = f"release {description.get('gpusudoku')}"
    commit = description.get("commit")
    parts.append(f"{release}, commit {commit}" if commit else release)
    return f"*{'; '.join(parts)}; `{description.get('command', default_command)}`*"


CYCLES_PER_STEP = 6
"""Cycles that a step of ``_spin`` takes: three shifts and three exclusive ors."""


@numba.njit(nogil=True)
def _spin(steps):  # type: ignore[no-untyped-def]
    """Compute a chain of instructions, each of which takes a cycle and needs the previous result.

    A core cannot start one of them early, so the time tells the clock rate. The chain is
    xorshift64, a generator of random numbers by Marsaglia.
    """
    x = numba.uint64(88172645463325252)
    for _ in range(steps):
        x ^= x << numba.uint64(13)
        x ^= x >> numba.uint64(7)
        x ^= x << numba.uint64(17)
    return x


def measure_gigahertz(threads: int) -> float:
    """Return the median clock rate, in GHz, of ``threads`` threads that run at the same time."""
    steps = 20_000_000
    all_ready = Barrier(threads)
    _spin(1)  # compile

    def measure_rate(_: int) -> float:
        # New threads may share a core at first. The system moves them apart while they warm up.
        _spin(steps)
        all_ready.wait()
        start = time.perf_counter()
        _spin(steps)
        seconds = time.perf_counter() - start
        return CYCLES_PER_STEP * steps / seconds / 1e9

    with ThreadPoolExecutor(threads) as pool:
        return median(pool.map(measure_rate, range(threads)))
