"""What ran a measurement, in words, and how fast its cores are at the moment."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numba
import numpy

import gpusudoku
from gpusudoku import Board, library
from gpusudoku.engines.cores import usable_cores

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, object]:
    """What ran this, in words."""
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    return {
        "processor": model,
        "cores": usable_cores(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": numpy.__version__,
        "gpusudoku": gpusudoku.__version__,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def commit() -> str | None:
    """The state of the sources, None if they are in no repository."""
    try:
        command = ["git", "-C", str(RESULTS), "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def heading(described: dict[str, object]) -> str:
    """The line above a table: which machine, when."""
    return f"{described['processor']}, {described['cores']} cores, {described['date']}"


def record(path: Path, runs: list[dict[str, object]], **more: object) -> None:
    """Write runs to a file, beside the description of the machine."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": {**machine(), **more}, "runs": runs}, indent=1) + "\n")


def thinned(name: str, clues: int) -> Board:
    """A board of the library without so many of its last clues: with more solutions, that is."""
    board = library.load(name)
    cells = board.cells.copy()
    given = numpy.flatnonzero(cells)
    cells[given[max(0, len(given) - clues) :]] = 0
    return Board(cells, board.geometry)


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
    """Cycles that so many threads get at once, in 1e9 a second and thread: what is free now."""
    steps = 20_000_000
    _spin(1)

    def rate(_: int) -> float:
        start = time.perf_counter()
        _spin(steps)
        return 6 * steps / (time.perf_counter() - start) / 1e9

    with ThreadPoolExecutor(threads) as pool:
        return median(pool.map(rate, range(threads)))
