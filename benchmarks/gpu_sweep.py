"""The sweep of ``gpu.py``: which launch settings make the search kernel fastest on a GPU.

A candidate is a place of the boards, shared or local memory, a number of threads in a block, and a
limit of registers. Each counts a small board first, and then its rate is taken while all threads
are busy. The first candidate of a shape is what the program would choose; after it come those that
differ least from the best so far. So the sweep may end at any time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any
from unittest.mock import patch

from gpu_steps import Bench, Steps, known, steady, taken_by, without
from script import Run, table

from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.errors import Interrupted, MismatchError, printable
from gpusudoku.kernels.search.launch import LaunchSettings
from gpusudoku.kernels.search.shape import Shape, shape_of

SWEEP = "sweep"
CANDIDATE_SECONDS = 30.0
"""The time that a candidate may take."""
SETTINGS = ("memory", "block", "limit")
FIGURES = ("registers of a thread", "local bytes of a thread", "shared bytes of a block",
           "threads at once")  # fmt: skip


def sweeps(bench: Bench) -> Steps:
    """List the sweeps, one for each shape."""
    boards = bench.sizes.swept
    return [
        (SWEEP, f"sweep of @{name}", sweep, name, clues, small, len(boards) - number)
        for number, (name, clues, small) in enumerate(boards)
    ]


def sweep(bench: Bench, name: str, clues: int, small: str, shapes: int) -> Iterator[Run]:
    """Try candidates in this shape's share of the time that is left for so many shapes."""
    end = bench.end
    shape_end = time.perf_counter() + (end - time.perf_counter()) / shapes
    board, case = without(name, clues)
    box, card = board.geometry, bench.gpus[0].card
    shape = shape_of(box.box_rows, box.box_columns)
    remaining = candidates(bench)
    about = {"case": case, "shape": f"{shape.n}x{shape.n}", "gpu": card.name}
    about["capability"] = ".".join(map(str, card.capability))
    runs = list[Run]()
    default = bench.gpus[0].launch_settings(shape)
    near: tuple[Any, ...] = default.is_shared, default.block, default.registers
    while remaining and time.perf_counter() < shape_end:
        candidate = min(remaining, key=lambda other: unlike(other, near))
        remaining.remove(candidate)
        run = {**about, **described(candidate)}
        if is_same(run, runs):
            continue
        bench.end = min(end, time.perf_counter() + CANDIDATE_SECONDS)
        try:
            with launched(bench, shape, candidate):
                run |= tried(bench, name, clues, small)
        except (Interrupted, MismatchError):
            raise
        except Exception as error:  # CuPy's and the driver's, too: some candidates cannot run
            run["failed"] = printable(str(error) or type(error).__name__)
        runs.append(run)
        yield run
        if best := best_of(runs):
            near = best["memory"] == "shared", best["block"], best["limit"]
    if best := best_of(runs):
        yield {**best, "winner": True}


def candidates(bench: Bench) -> list[tuple[bool, int, int | None]]:
    """List all candidates: in shared memory, threads of a block, and the limit of registers."""
    return list(product((True, False), bench.sizes.blocks, bench.sizes.registers))


def unlike(candidate: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    """Return in how many settings two candidates differ."""
    return sum(setting != wanted for setting, wanted in zip(candidate, other, strict=True))


def described(candidate: tuple[bool, int, int | None]) -> Run:
    """Return a candidate as it is recorded."""
    is_shared, block, limit = candidate
    return {"memory": "shared" if is_shared else "local", "block": block, "limit": limit}


def is_same(run: Run, runs: list[Run]) -> bool:
    """Tell whether a limit would limit nothing, by the kernel that has none."""
    limit = run["limit"]
    for other in runs:
        if all(other[name] == run[name] for name in ("memory", "block")) and not other["limit"]:
            return limit is not None and other.get("registers of a thread", limit + 1) <= limit
    return False


@contextmanager
def launched(bench: Bench, shape: Shape, candidate: tuple[bool, int, int | None]) -> Iterator[None]:
    """Let searches of a shape have some launch settings for a while."""
    launch = LaunchSettings(*candidate)
    if bench.gpus[0].simulated:  # it has no shared memory that the kernel could use
        launch = launch._replace(is_shared=False)
    settings_of = Gpu.launch_settings

    def chosen(gpu: Gpu, other: Shape) -> LaunchSettings:
        return launch if other == shape else settings_of(gpu, other)

    with patch.object(Gpu, "launch_settings", chosen):
        yield


def tried(bench: Bench, name: str, clues: int, small: str) -> Run:
    """Count a small board with the current launch settings, and take the rate of a busy one."""
    board, _ = without(name, clues)
    figures = taken_by(bench.gpus[0], board.geometry)
    figures["threads at once"] = figures["threads of a block"] * figures["blocks at once"]
    known(bench, small, {"method": "search"})
    return {**figures, **steady(bench, board, bench.sizes.sweep_seconds)}


def best_of(runs: list[Run]) -> Run | None:
    """Return the fastest of some runs; None if all of them failed."""
    return max((run for run in runs if "rate" in run), key=lambda run: run["rate"], default=None)


def show_sweep(runs: list[Run]) -> None:
    """Print all candidates, the fastest of each shape first, and then the fastest ones."""
    rows, winners = [], []
    for shape in dict.fromkeys(run["shape"] for run in runs):
        some = [run for run in runs if run["shape"] == shape and "winner" not in run]
        some.sort(key=lambda run: -run.get("rate", 0.0))
        for run in some:
            settings = [str(run[name] or "none") for name in SETTINGS]
            rate = f"{run['rate'] / 1e6:.1f}" if "rate" in run else run["failed"]
            rows.append([run["case"], *settings, rate, *(str(run.get(k, "")) for k in FIGURES)])
        if best := best_of(some):
            winners.append(
                f"Fastest for {shape} on {best['gpu']}, compute capability {best['capability']}:"
                f" {best['memory']} memory, blocks of {best['block']}, registers"
                f" {best['limit'] or 'not limited'}; {best['rate'] / 1e6:.1f} M solutions/s."
            )
    table(["sweep", *SETTINGS, "M solutions/s", *FIGURES], rows, left=2)
    print("\n" + "\n".join(winners) + "\n")
