"""The search's kernel alone on a GPU: launch after launch, and many puzzles in its memory.

``packed``, ``launches``, ``count_on_cpu`` and ``count_on_gpu`` reach into frontiers, kernels and
engines; nothing else does.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from script import Run, check

from gpusudoku import Board, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda.device import one_line_errors
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.errors import InputError
from gpusudoku.formats import read_text
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import NODES, TOP
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import shape_of
from gpusudoku.options import Options
from gpusudoku.planning.search import search_settings
from gpusudoku.search.frontier import Frontier

LIMIT = 2
"""Solutions after which a puzzle of a batch is known to be improper."""
CPU_SHARE = 100
"""The CPU counts one in this many puzzles of a batch."""
PUZZLE_BYTES = 512
"""Bytes of a GPU's free memory for every puzzle of a batch: four times what it takes."""
BLOCK = 1 << 20
"""Puzzles made at a time."""
LAUNCHES = 24
"""Launches in which a kernel is timed; the first ones are short, and bring it up to speed."""
BUDGET = 256
"""Nodes of every thread in the first of them."""
SWAPS = np.array(list(permutations(range(3))))


class Launched(NamedTuple):
    """A launch of the kernel."""

    seconds: float
    solutions: int
    nodes: int
    busy: float
    """The share of the threads that have boards left."""


def launches(board: Board, engine: CudaEngine) -> Iterator[Launched]:
    """Launch the kernel on a board again and again, until all is done or it has been enough."""
    settings, roots = search_settings(Options()), Frontier.of([board])
    frontier = roots.expanded(settings, engine.prepare(roots, settings))
    gpu, found = engine.gpus[0], 0
    with one_line_errors(), gpu.current():
        launch = Launch(gpu, frontier, settings, Job(1), BUDGET)
        stacks = launch.stacks
        for _ in range(LAUNCHES):
            start = time.perf_counter()
            launch.again()
            seconds = time.perf_counter() - start
            before, found = found, int(gpu.host(launch.found.counts)[0])
            nodes = int(stacks.tally[NODES].sum())
            stacks.tally[...] = 0  # a launch finds there whether its budget was spent
            busy = float((gpu.host(stacks.state[TOP]) >= 0).mean())
            yield Launched(seconds, found - before, nodes, busy)
            if busy == 0:
                break


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
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"{path}: {reason}, expected a file of puzzles") from None
    given = read_text(text, geometry=Geometry(3, 3), source=str(path))
    boards = [board.cells for board in given]
    if not boards:
        raise InputError(f"{path}: no puzzles in it")
    return np.stack(boards)


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
    shape = shape_of(3, 3)
    boards = np.empty((number, shape.words), shape.word)
    start = 0
    for cells in blocks:
        end = start + len(cells)
        cpu.pack(shape)(cells, *shape.places, boards[start:end])
        start = end
    return Frontier(shape, boards, np.arange(number))


def batch(name: str, given: NDArray[np.uint8], most: int, engine: CudaEngine) -> list[Run]:
    """Count puzzles in the memory of the first GPU, and some on the CPU; both must agree.

    As many are made from those given as are wanted, or as there is memory for.
    """
    settings = search_settings(Options())
    with one_line_errors(), engine.gpus[0].current():
        number = min(most, max(1, engine.gpus[0].free_bytes() // PUZZLE_BYTES))
    frontier = packed(relabelled(given, number), number)
    some = frontier.part(0, max(min(len(given), number), number // CPU_SHARE))
    right, seconds = count_on_cpu(some, settings)
    engine.prepare(frontier.part(0, 1), settings)
    for _ in range(2):  # the first warms up
        counts, times = count_on_gpu(frontier, settings, engine)
    # Every puzzle has as many solutions as the one that it was made from.
    expected = np.concatenate([right, right[np.arange(len(some), number) % len(given)]])
    for wrong in np.flatnonzero(counts != expected)[:1]:
        clues = "".join(map(str, given[wrong % len(given)].tolist()))
        what = f"puzzle {wrong} of {number}, made from {clues}, on cuda"
        check(what, int(counts[wrong]), int(expected[wrong]))
    case = f"{name} puzzles, at most {LIMIT} solutions"
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
    with one_line_errors(), gpu.current():
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
