"""The search on a GPU beside all CPU cores: one long search, and many puzzles in its memory.

Only ``packed``, ``count_on_cpu`` and ``count_on_gpu`` reach into frontiers, kernels and engines.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import numpy as np
from generated import thinned
from numpy.typing import NDArray
from script import Run, check, table

import gpusudoku
from gpusudoku import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import MismatchError
from gpusudoku.formats import read_text
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import TOP
from gpusudoku.kernels.search.layout import Layout, layout_of
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.search import search_settings
from gpusudoku.search.frontier import Frontier

BOARD, LONG, SHORT = "2f", 3, 0
"""The board, and the number of last clues it lacks: 68,365,997,844 and 48,794,239 solutions."""
LIMIT = 2
"""Solutions after which a puzzle of a batch is known to be improper."""
CPU_SHARE = 100
"""The CPU counts one in this many puzzles of a batch."""
BLOCK = 1 << 20
"""Puzzles made at a time."""
SWAPS = np.array(list(permutations(range(3))))


def long_search(engines: dict[str, Engine]) -> list[Run]:
    """Search a board on every device, on GPUs with fewer clues, so that both take a while."""
    runs = []
    for device, engine in engines.items():
        for without in (SHORT, LONG if device == "cuda" else SHORT):  # the first warms up
            board = thinned(BOARD, without)
            options = {"engine": engine, "device": device}
            result = gpusudoku.count(board, method="search", **options)
        expected = gpusudoku.count(board, method="contraction", **options).count
        check(f"{board} on {device}", result.count, expected)
        runs.append(
            {
                "case": f"@{BOARD} without {without} clues, solutions",
                "device": device,
                "number": result.count,
                "seconds": result.stats.seconds,
                "expansion": result.stats.expansion_seconds,
            }
        )
    return runs


def puzzles(path: Path) -> NDArray[np.uint8]:
    """The 9x9 puzzles of a file, in any form that is read.

    Returns
    -------
    uint8 (puzzles, 81)

    Raises
    ------
    InputError
        If there is anything else, or nothing.
    """
    boards = read_text(path.read_text(), geometry=Geometry(3, 3), source=str(path))
    return np.stack([board.cells for board in boards])


def relabelled(cells: NDArray[np.uint8], number: int, seed: int = 0) -> Iterable[NDArray[np.uint8]]:
    """Blocks of puzzles made from those given, in turn: digits, and rows of bands, are shuffled."""
    rng = np.random.default_rng(seed)
    for start in range(0, number, BLOCK):
        which = np.arange(start, min(number, start + BLOCK))
        rows = SWAPS[rng.integers(len(SWAPS), size=(len(which), 3))] + 3 * np.arange(3)[:, None]
        grids = cells[which % len(cells)].reshape(-1, 9, 9)
        grids = np.take_along_axis(grids, rows.reshape(-1, 9, 1), axis=1)
        digits = np.zeros((len(which), 10), np.uint8)
        digits[:, 1:] = np.arange(1, 10)
        rng.permuted(digits[:, 1:], axis=1, out=digits[:, 1:])
        yield np.take_along_axis(digits, grids.reshape(-1, 81), axis=1)


def packed(blocks: Iterable[NDArray[np.uint8]], number: int) -> Frontier:
    """A frontier of ``number`` puzzles, none of which is split."""
    layout: Layout = layout_of(3, 3)
    boards = np.empty((number, layout.words), np.uint64)
    start = 0
    for cells in blocks:
        end = start + len(cells)
        cpu.pack(layout)(cells, layout.index_of, layout.nonpeers, boards[start:end])
        start = end
    return Frontier(layout, boards, np.arange(number))


def batch(path: Path, number: int, engine: CudaEngine) -> list[Run]:
    """Count puzzles in the memory of the first GPU, and some on the CPU; both must agree."""
    settings, given = search_settings(Options()), puzzles(path)
    frontier = packed(relabelled(given, number), number)
    some = frontier.part(0, max(min(len(given), number), number // CPU_SHARE))
    right, seconds = count_on_cpu(some, settings)
    engine.prepare(frontier.part(0, 1), settings)
    for _ in range(2):  # the first warms up
        counts, times = count_on_gpu(frontier, settings, engine)
    wrong = np.flatnonzero(counts != right[np.arange(number) % len(given)])
    if len(wrong) or (counts[: len(some)] != right).any():
        raise MismatchError(f"{path}: {len(wrong)} of {number} counts of the GPU differ")
    case = f"puzzles of {path.name}, at most {LIMIT} solutions"
    return [
        {"case": case, "device": "cuda", "number": number, **times},
        {"case": case, "device": "cpu", "number": len(some), "seconds": seconds},
    ]


def count_on_cpu(frontier: Frontier, settings: SearchSettings) -> tuple[NDArray[np.uint64], float]:
    """Count every board of a frontier on all cores, up to the limit; also gives the seconds."""
    engine = CpuEngine()
    engine.prepare(frontier, settings)
    job = Job(len(frontier), LIMIT)
    start = time.perf_counter()
    engine.explore(frontier, settings, job)
    seconds = time.perf_counter() - start
    return np.minimum(job.counts, LIMIT), seconds


def count_on_gpu(
    frontier: Frontier, settings: SearchSettings, engine: CudaEngine
) -> tuple[NDArray[np.uint64], dict[str, float]]:
    """Bring a frontier to the first GPU, count all there at once, and bring the counts back."""
    gpu = engine.gpus[0]
    with gpu.current():
        clock = [time.perf_counter()]
        launch = Launch(gpu, frontier, settings, Job(len(frontier), LIMIT), budget=1 << 12)
        gpu.finish()
        clock.append(time.perf_counter())
        work, stacks = launch.work, launch.stacks
        while int(work.cursor[0]) < len(frontier) or int(stacks.state[TOP].max()) >= 0:
            launch.again()
            stacks.tally[...] = 0  # a launch finds there whether its budget was spent
        clock.append(time.perf_counter())
        counts = np.minimum(gpu.host(launch.found.counts), np.uint64(LIMIT))
        clock.append(time.perf_counter())
    there, seconds, back = np.diff(clock).tolist()
    return counts, {"seconds": seconds, "transfer": there + back}


def show(runs: list[Run]) -> None:
    """Print the table of recorded runs."""
    rows = []
    for run in runs:
        rate = run["number"] / run["seconds"] / 1e6
        cells = [run["case"], run["device"], f"{run['number']:,}", f"{run['seconds']:.3f}"]
        cells += [f"{rate:.3f}"]
        cells += [f"{run[name]:.3f}" if name in run else "" for name in ("expansion", "transfer")]
        rows.append(cells)
    print()
    heads = ["search", "device", "number", "s", "M/s", "expansion s", "transfer s"]
    table(heads, rows, left=2)
