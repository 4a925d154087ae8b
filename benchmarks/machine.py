"""The machine: its description beside recorded results, and how fast a core is at present."""

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
    "gigahertz",
    "heading",
    "machine",
    "record",
    "recorded",
    "source",
    "write",
]

RESULTS = Path(__file__).parent / "results"


def record(path: Path, runs: list[dict[str, Any]], **more: object) -> None:
    """Write runs to a file, with the description of the machine and more that belongs to it."""
    write(path, {"machine": {**machine(), **more}, "runs": runs})


def write(path: Path, results: dict[str, Any]) -> None:
    """Write results to a file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def recorded(path: Path) -> dict[str, Any]:
    """Read the results that ``write`` wrote.

    Raises
    ------
    InputError
        If the file cannot be read, or holds no results.
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


def source(path: Path, command: str) -> str:
    """The line under a table: machine and date, the clock if it was measured, commit, command.

    The command is ``command`` unless one is recorded.

    Raises
    ------
    InputError
        If the file cannot be read, or holds no results.
    """
    results = recorded(path)
    described = results["machine"]
    parts = [heading(described)]
    clocks = [run["gigahertz"] for run in results.get("runs", ()) if "gigahertz" in run]
    if "gigahertz" in described:
        before, after = described["gigahertz"]
        parts.append(f"a core got {before:.2f} GHz before and {after:.2f} GHz after")
    elif clocks:
        parts.append(f"{median(clocks):.2f} GHz per core")
    commit = described.get("commit")
    release = f"release {described.get('gpusudoku')}"
    parts.append(f"{release}, commit {commit}" if commit else release)
    return f"*{'; '.join(parts)}; `{described.get('command', command)}`*"


@numba.njit(nogil=True)
def _spin(steps):  # type: ignore[no-untyped-def]
    """A chain in which every step waits for the last: shifts and exclusive ors, a cycle each."""
    x = numba.uint64(88172645463325252)
    for _ in range(steps):
        x ^= x << numba.uint64(13)
        x ^= x >> numba.uint64(7)
        x ^= x << numba.uint64(17)
    return x


def gigahertz(threads: int) -> float:
    """Measure the clock rate in GHz that each of some threads gets at the same time.

    New threads may begin on one core, and are moved apart while they warm up.
    """
    steps = 20_000_000
    ready = Barrier(threads)
    _spin(1)

    def rate(_: int) -> float:
        _spin(steps)
        ready.wait()
        start = time.perf_counter()
        _spin(steps)
        return 6 * steps / (time.perf_counter() - start) / 1e9

    with ThreadPoolExecutor(threads) as pool:
        return median(pool.map(rate, range(threads)))
