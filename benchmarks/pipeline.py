"""How long a search takes on a GPU from the board to the count: computed, without a GPU.

The engine is the program's own, and so are its launches: 101,376 threads, as many as an H100 or an
H200 runs at once. The kernel is the one that NVIDIA's compiler made, run here as native code
(``tests/ptx``), so the count is right or the script fails. What is made up is the clock. A launch
is charged with what Python and the driver take for it, and with its rounds: a round takes as long
as all threads together take to look at so many nodes, at the rate that ``gpu.py`` recorded on an
H100. The CPU's part, the estimate and the first 128 boards, is measured here.

    python benchmarks/pipeline.py            ten minutes; needs the packages of the tests
    python benchmarks/pipeline.py --show     what was recorded before
"""

from __future__ import annotations

import sys
import time
from math import inf
from pathlib import Path
from typing import Any

import click
from machine import RESULTS, record, recorded
from script import Run, board_names, check, script, table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

BOARDS, TRIED = ["1f", "2f"], "1e"
"""The second tells how many nodes a round has."""
MULTIPROCESSORS, BLOCKS = 132, 6
"""Those of an H100 or an H200, and the blocks of 128 threads for which one has registers."""
HOST_SECONDS = 1e-4
"""What Python takes for a launch and two copies of a few words. Measured with a driver that does
nothing, on a core of a busy machine."""
DRIVER_SECONDS = 1e-5
"""What the driver takes for a launch, and to wait for it: NVIDIA names 9.6 microseconds for a short
kernel with both (Getting started with CUDA graphs, 2019)."""
BYTES_SECOND = 25e9
"""Bytes a second over PCIe, of the 64e9 of its fifth generation in one direction."""


class Clock:
    """A clock that launches are charged to."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        """Return the seconds."""
        return self.now


def rate_of_h100() -> float:
    """Return the nodes a second of an H100 whose threads are all busy, as recorded."""
    kernel = recorded(RESULTS / "gpu-h100.json")["kernel"]
    rate: float = min(run["nodes"] for run in kernel if "16x16" not in run["case"])
    return rate


def searched(name: str, rate: float, nodes_of_round: float) -> Run:
    """Search a board as a GPU of this rate would, and tell what it takes.

    In a round all threads look at ``nodes_of_round`` nodes each, on average.
    """
    import pytest

    from gpusudoku import collection
    from gpusudoku.engines.cpu import WIDTH
    from gpusudoku.engines.cuda import search
    from gpusudoku.engines.cuda.device import Gpu
    from gpusudoku.jobs.job import Job
    from gpusudoku.kernels.search.arguments import NODES
    from gpusudoku.kernels.search.settings import SearchSettings
    from gpusudoku.search.frontier import Frontier, estimate_search
    from tests.ptx.card import Card

    settings, clock, board = SearchSettings(), Clock(), collection.load(name)
    launches: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        Card((9, 0), workers=2, checked=False).insert(patch, MULTIPROCESSORS * BLOCKS, 128)
        patch.setattr(Gpu, "free_bytes", lambda self: 80 << 30)
        patch.setattr(search, "time", clock)
        # Blocks run one after the other here: the first one must not stop the others.
        patch.setattr(search, "NONE_STOPPED", -1 << 40)
        seconds = inf
        for _ in range(10):  # the machine may be busy, and the first time loads what it needs
            start = time.perf_counter()
            roots = Frontier.of([board])
            estimate_search(roots, settings)
            frontier = roots.expanded(settings, WIDTH)
            seconds = min(seconds, time.perf_counter() - start)
        clock.now = seconds
        device = search.DeviceSearch(Gpu(0), frontier, settings, Job(1, dtype="uint64"))
        round_seconds = device.threads * nodes_of_round / rate
        kernel, goes_on, nodes = device._launch, True, 0

        def charged(*arguments: Any) -> None:
            rounds = arguments[0]
            kernel(*arguments)
            clock.now += HOST_SECONDS + DRIVER_SECONDS + rounds * round_seconds

        device._launch = charged
        while goes_on:
            rounds, before = device._rounds, device.boards
            goes_on = device.launch()
            done = int(device.stacks.tally[NODES].sum())
            counts = {"before": before, "boards": device.boards, "nodes": done - nodes}
            launches.append({"rounds": rounds, "busy": device._busy / device.threads, **counts})
            nodes = done
        clock.now += device.stacks.tally.nbytes / BYTES_SECOND
        found = int(device.haul().counts[0])
    check(f"@{name}", found, collection.entry(name).count)
    return {
        "board": f"@{name}",
        "count": str(found),
        "cpu_seconds": seconds,
        "seconds": clock.now,
        "threads": device.threads,
        "nodes": nodes,
        "launches": launches,
    }


def nodes_of_round(launches: list[dict[str, Any]], threads: int) -> float:
    """Return the nodes of a thread in a round while nearly all are busy."""
    full = [each for each in launches if each["busy"] > 0.95 and each["before"] > threads]
    return sum(each["nodes"] for each in full) / sum(each["rounds"] for each in full) / threads


@script("pipeline", lambda path: show(path))
@click.argument("boards", nargs=-1)
def main(path: Path, boards: tuple[str, ...]) -> None:
    """Compute how long searches take on a GPU, from the board to the count."""
    rate, runs = rate_of_h100(), list[Run]()
    tried = searched(TRIED, rate, 1.0)
    per_round = nodes_of_round(tried["launches"], tried["threads"])
    for name in board_names(boards) or BOARDS:
        run = searched(name, rate, per_round)
        runs.append({**run, "rate": rate, "nodes of a round": per_round})
        record(path, runs)


def show(path: Path) -> None:
    """Print how long each search would take."""
    rows = []
    for run in recorded(path)["runs"]:
        full = next(i for i, one in enumerate(run["launches"]) if one["boards"] >= run["threads"])
        pure = run["nodes"] / run["rate"]
        cells = [f"{1000 * each:.1f}" for each in (run["seconds"], run["cpu_seconds"], pure)]
        rows.append([run["board"], *cells, f"{len(run['launches'])}", f"{full + 1}"])
    heads = ["board", "ms", "CPU's part, ms", "nodes alone, ms", "launches"]
    table([*heads, "until boards for all"], rows)


if __name__ == "__main__":
    main()
