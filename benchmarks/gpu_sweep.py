"""The sweep of ``gpu.py``: which launch settings make the search kernel fastest on a GPU.

A candidate is a place of the boards (shared or local memory), a number of threads in a block, and a
limit of registers. Each counts a small board first, and then its rate is taken while all threads
are busy. The first candidate of a shape is what the program would choose; after it come those that
differ least from the best so far, so the sweep may end at any time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from operator import ne
from typing import Any
from unittest.mock import patch

from gpu_figures import SETTINGS, measure_rate
from gpu_steps import Bench, OutOfTime, Step, board_without, count_known
from script import Run, table

from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.search import load_kernel
from gpusudoku.errors import Interrupted, MismatchError, printable
from gpusudoku.kernels.search.launch import LaunchSettings
from gpusudoku.kernels.search.shape import Shape, shape_of

SWEEP = "sweep"
CANDIDATE_SECONDS = 30.0
"""The time that a candidate may take."""
ATTRIBUTES = {
    "registers of a thread": "NUM_REGS",
    "local bytes of a thread": "LOCAL_SIZE_BYTES",
    "shared bytes of a block": "SHARED_SIZE_BYTES",
}
"""Attributes of a compiled kernel, as they are recorded and as the driver calls them."""


def sweeps(bench: Bench) -> list[Step]:
    """List the sweeps, one for each shape."""
    boards = bench.sizes.swept
    return [
        Step(SWEEP, f"sweep of @{name}", partial(sweep, bench, name, clues, small, number))
        for number, (name, clues, small) in zip(range(len(boards), 0, -1), boards, strict=True)
    ]


def sweep(bench: Bench, name: str, clues: int, small: str, shapes: int) -> Iterator[Run]:
    """Try candidates for one of the ``shapes`` that are left, in its share of the time."""
    end = bench.end
    shape_end = time.perf_counter() + (end - time.perf_counter()) / shapes
    board, case = board_without(name, clues)
    shape = shape_of(board.geometry.box_rows, board.geometry.box_columns)
    gpu = bench.gpus[0]
    places = (not gpu.simulated, False)  # the simulator has no shared memory for the kernel
    values = dict.fromkeys(places), bench.sizes.blocks, bench.sizes.registers
    candidates = [LaunchSettings(*candidate) for candidate in product(*values)]
    best = gpu.launch_settings(shape)
    best_rate = 0.0
    registers: dict[tuple[bool, int], int] = {}
    while candidates and time.perf_counter() < shape_end:
        settings = min(candidates, key=lambda candidate: sum(map(ne, candidate, best)))
        candidates.remove(settings)
        unlimited = registers.get((settings.is_shared, settings.block), 255)
        if settings.registers and unlimited <= settings.registers:
            continue  # the limit would change nothing
        run = {"case": case, "shape": f"{shape.n}x{shape.n}", "gpu": gpu.card.name,
               "memory": "shared" if settings.is_shared else "local", "block": settings.block,
               "limit": settings.registers}  # fmt: skip
        bench.end = min(end, time.perf_counter() + CANDIDATE_SECONDS)
        try:
            with patch.object(Gpu, "launch_settings", lambda *_, settings=settings: settings):
                run |= resources(gpu, shape)
                count_known(bench, small)
                run |= measure_rate(bench, board, bench.sizes.sweep_seconds)
        except (Interrupted, MismatchError):
            raise
        except OutOfTime:
            if time.perf_counter() >= end:
                return
            run["failed"] = "took too long"
        except Exception as error:  # of CuPy and the driver, too: some candidates cannot run
            run["failed"] = printable(str(error) or type(error).__name__)
        yield run
        if run.get("rate", 0.0) > best_rate:
            best = settings
            best_rate = run["rate"]
        if settings.registers is None and "registers of a thread" in run:
            registers[settings.is_shared, settings.block] = run["registers of a thread"]


def resources(gpu: Gpu, shape: Shape) -> Run:
    """Return what the kernel of a search takes, as it is compiled for a GPU."""
    with gpu.errors(), gpu.current():
        kernel = load_kernel(gpu, shape, SETTINGS)
        block = gpu.launch_settings(shape).block
        run: Run = {"threads at once": block * gpu.blocks_at_once(kernel, block)}
        if not gpu.simulated:
            run |= {name: kernel.attribute(key) for name, key in ATTRIBUTES.items()}
        return run


def show_sweep(runs: Sequence[Run]) -> None:
    """Print all candidates, the fastest of each shape first."""
    rows: list[list[Any]] = []
    for shape in dict.fromkeys(run["shape"] for run in runs):
        of_shape = [run for run in runs if run["shape"] == shape]
        for run in sorted(of_shape, key=lambda run: -run.get("rate", 0.0)):
            rate = f"{run['rate'] / 1e6:.1f}" if "rate" in run else run["failed"]
            row = [run["case"], run["memory"], run["block"], run["limit"] or "none", rate]
            rows.append([*row, run.get("threads at once", ""), *map(run.get, ATTRIBUTES)])
    if rows:
        heads = ["sweep", "memory", "block", "limit", "M solutions/s", "threads at once"]
        table([*heads, *ATTRIBUTES], [[str(cell) for cell in row] for row in rows], left=2)
        print()
