"""The sweep of ``gpu.py``: which launch settings make the search kernel fastest on a GPU.

A candidate has three settings: the memory of the boards (shared or local), the number of threads in
a block, and a limit of registers. Each candidate first counts a small board. Then its rate is
measured while all threads are busy. The first candidate of a shape is the program's own choice. The
next ones are those that differ least from the best so far, so the sweep may end at any time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from operator import ne
from unittest.mock import patch

from gpu_figures import SETTINGS, measure_rate
from gpu_steps import Bench, OutOfTime, Step, board_without, count_known
from script import Run, print_table

from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.search import load_kernel
from gpusudoku.errors import Interrupted, MismatchError, printable
from gpusudoku.kernels.search.launch import LaunchSettings
from gpusudoku.kernels.search.shape import Shape, shape_of

SWEEP = "sweep"
CANDIDATE_SECONDS = 30.0
"""The maximum time of a candidate."""
MAX_REGISTERS = 255
"""The registers of a thread that a GPU has at most."""
ATTRIBUTES = {
    "registers of a thread": "NUM_REGS",
    "local bytes of a thread": "LOCAL_SIZE_BYTES",
    "shared bytes of a block": "SHARED_SIZE_BYTES",
}
"""Attributes of a compiled kernel: the recorded names, and those of the driver."""


def sweeps(bench: Bench) -> list[Step]:
    """Return the sweeps, one for each shape."""
    boards = bench.sizes.swept
    steps = []
    for index, (name, clues, small_board) in enumerate(boards):
        remaining_shapes = len(boards) - index
        runs = partial(sweep, bench, name, clues, small_board, remaining_shapes)
        steps.append(Step(SWEEP, f"sweep of @{name}", runs))
    return steps


def sweep(
    bench: Bench, name: str, clues: int, small_board: str, remaining_shapes: int
) -> Iterator[Run]:
    """Try candidates for a shape, in an equal share of the remaining time of all shapes."""
    deadline = bench.deadline
    start = time.perf_counter()
    shape_deadline = start + (deadline - start) / remaining_shapes
    board, case = board_without(name, clues)
    shape = shape_of(board.geometry.box_rows, board.geometry.box_columns)
    gpu = bench.gpus[0]
    # The simulator has no shared memory for the kernel.
    uses_shared_memory = (False,) if gpu.simulated else (True, False)
    values = uses_shared_memory, bench.sizes.blocks, bench.sizes.registers
    candidates = [LaunchSettings(*candidate) for candidate in product(*values)]
    best = gpu.launch_settings(shape)  # the program's own choice
    best_rate = 0.0
    # Registers of the kernel without a limit, by memory and threads of a block.
    unlimited_registers: dict[tuple[bool, int], int] = {}

    while candidates and time.perf_counter() < shape_deadline:
        settings = min(candidates, key=lambda candidate: sum(map(ne, candidate, best)))
        candidates.remove(settings)
        registers = unlimited_registers.get((settings.is_shared, settings.block), MAX_REGISTERS)
        if settings.registers and registers <= settings.registers:
            continue  # the limit would change nothing
        run = {"case": case, "shape": f"{shape.n}x{shape.n}", "gpu": gpu.card.name,
               "memory": "shared" if settings.is_shared else "local", "block": settings.block,
               "limit": settings.registers}  # fmt: skip
        bench.deadline = min(deadline, time.perf_counter() + CANDIDATE_SECONDS)
        try:
            # Everything that the program launches now has the settings of the candidate.
            with patch.object(Gpu, "launch_settings", lambda *_, settings=settings: settings):
                run |= resources(gpu, shape)
                count_known(bench, small_board)
                run |= measure_rate(bench, board, bench.sizes.sweep_seconds)
        except (Interrupted, MismatchError):
            raise
        except OutOfTime:
            if time.perf_counter() >= deadline:
                return
            run["failed"] = "took too long"
        except Exception as error:  # also errors of CuPy and the driver: not all candidates can run
            run["failed"] = printable(str(error) or type(error).__name__)
        yield run
        if run.get("rate", 0.0) > best_rate:
            best = settings
            best_rate = run["rate"]
        # Without a limit, the compiler tells how many registers the kernel needs.
        if settings.registers is None and "registers of a thread" in run:
            key = (settings.is_shared, settings.block)
            unlimited_registers[key] = run["registers of a thread"]


def resources(gpu: Gpu, shape: Shape) -> Run:
    """Return the resources of the search kernel, as it is compiled for a GPU."""
    with gpu.errors(), gpu.current():
        kernel = load_kernel(gpu, shape, SETTINGS)
        block = gpu.launch_settings(shape).block
        run: Run = {"threads at once": block * gpu.blocks_at_once(kernel, block)}
        if not gpu.simulated:
            run |= {name: kernel.attribute(attribute) for name, attribute in ATTRIBUTES.items()}
        return run


def show_sweep(runs: Sequence[Run]) -> None:
    """Print all candidates, the fastest of each shape first."""
    if not runs:
        return
    rows: list[list[str]] = []
    for shape in dict.fromkeys(run["shape"] for run in runs):
        candidates = [run for run in runs if run["shape"] == shape]
        candidates.sort(key=lambda run: -run.get("rate", 0.0))
        for run in candidates:
            rate = f"{run['rate'] / 1e6:.1f}" if "rate" in run else run["failed"]
            cells = [run["case"], run["memory"], run["block"], run["limit"] or "none", rate]
            cells += [run.get("threads at once", ""), *map(run.get, ATTRIBUTES)]
            rows.append([str(cell) for cell in cells])
    heads = ["sweep", "memory", "block", "limit", "M solutions/s", "threads at once"]
    print_table([*heads, *ATTRIBUTES], rows, text_columns=2)
    print()
