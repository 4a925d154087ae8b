"""The search's kernel alone on a GPU: launch after launch, and many puzzles in its memory."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from script import Run, check

from gpusudoku import Board, collection
from gpusudoku.board.geometry import NINE
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.search import DeviceSearch
from gpusudoku.errors import InputError
from gpusudoku.formats import read_text
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.arguments import BUSY, NODES
from gpusudoku.kernels.search.cpu import pack
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import shape_of
from gpusudoku.search.frontier import Frontier

SETTINGS = SearchSettings()
LIMIT = 2
"""Solutions after which a puzzle of a batch is known to be improper."""
BUSY_BOARDS = (
    ("2f", 3, "1b"),
    ("16x16-solutions", 4, "16x16-few"),
    ("box3x4-many", 4, "box3x4-many"),
    ("25x25-few", 20, "25x25-few"),
)
"""Boards that keep all threads of a GPU busy for long, without so many of their last clues; and
small boards of the same shape, by which a kernel is checked."""
CPU_SHARE, CORE_SHARE = 10, 100
"""All cores count one in this many puzzles of a batch, and one core one in this many."""
PUZZLE_BYTES = 512
"""Bytes of a GPU's free memory for every puzzle of a batch: four times what it takes."""
BLOCK = 1 << 20
"""Puzzles made at a time."""
SWAPS = np.array(list(permutations(range(3))))


class Launch(NamedTuple):
    """A launch of the kernel: its length, what it did, and what there was after it."""

    rounds: int
    seconds: float
    solutions: int
    nodes: int
    boards: int
    busy: float
    """The share of the threads that have boards left."""


@contextmanager
def search_of(board: Board, engine: CudaEngine) -> Iterator[DeviceSearch]:
    """Begin a search of a board on the first GPU, with the frontier that the program makes."""
    roots, gpu = Frontier.of([board]), engine.gpus[0]
    frontier = roots.expanded(SETTINGS, engine.prepare(roots, SETTINGS))
    with gpu.errors(), gpu.current():
        yield DeviceSearch(gpu, frontier, SETTINGS, Job(1))


def launches(search: DeviceSearch) -> Iterator[Launch]:
    """Launch a search of one board until nothing is left of it."""
    gpu, solutions, nodes, goes_on = search.gpu, 0, 0, True
    while search.boards and goes_on:
        rounds, start = search._rounds, time.perf_counter()
        goes_on = search.launch()
        seconds, before = time.perf_counter() - start, (solutions, nodes)
        solutions = int(gpu.host(search.found.counts)[0])
        nodes = int(gpu.host(search.stacks.tally)[NODES].sum())
        busy = int(gpu.host(search.pool.state)[BUSY]) / search.threads
        done = solutions - before[0], nodes - before[1]
        yield Launch(rounds, seconds, *done, search.boards, busy)


def puzzles(path: Path) -> NDArray[np.uint8]:
    """Read the 9x9 puzzles of a file, uint8 (puzzles, 81); InputError if it has none, or others."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"{path}: {reason}, expected a file of puzzles") from None
    boards = [board.cells for board in read_text(text, geometry=NINE, source=str(path))]
    if not boards:
        raise InputError(f"{path}: no puzzles in it")
    return np.stack(boards)


def own_puzzles() -> NDArray[np.uint8]:
    """Return the 9x9 puzzles with one solution that come with the program, uint8 (puzzles, 81)."""
    names = [each.name for each in collection.entries() if (each.box, each.count) == (NINE, 1)]
    boards = [collection.load(name) for name in names]
    return np.stack([board.cells for board in boards if board.empty_cells])


def relabelled(cells: NDArray[np.uint8], number: int) -> Iterable[NDArray[np.uint8]]:
    """Make puzzles of those given, in turn and in blocks: shuffle digits, and rows of bands."""
    rng = np.random.default_rng(0)
    for start in range(0, number, BLOCK):
        which = np.arange(start, min(number, start + BLOCK))
        rows = SWAPS[rng.integers(len(SWAPS), size=(len(which), 3))] + 3 * np.arange(3)[:, None]
        grids = cells[which % len(cells)].reshape(-1, 9, 9)
        grids = np.take_along_axis(grids, rows.reshape(-1, 9, 1), axis=1)
        digits = np.zeros((len(which), 10), np.uint8)
        digits[:, 1:] = 1 + rng.random((len(which), 9)).argsort(axis=1)
        yield np.take_along_axis(digits, grids.reshape(-1, 81), axis=1)


def packed(blocks: Iterable[NDArray[np.uint8]], number: int) -> Frontier:
    """Make a frontier of ``number`` puzzles, none of which is split."""
    shape = shape_of(3, 3)
    boards = np.empty((number, shape.words), shape.word)
    memory, start = shape.memory(shape.lanes), 0
    for cells in blocks:
        end = start + len(cells)
        pack(shape)(cells, *shape.places, boards[start:end], memory)
        start = end
    return Frontier(shape, boards, np.arange(number))


def batch(case: str, given: NDArray[np.uint8], most: int, engine: CudaEngine) -> Iterator[Run]:
    """Count puzzles in the memory of the first GPU, and some on all cores and on one.

    As many are made from those given as are wanted, or as there is memory for. A MismatchError if
    GPU and CPU disagree.
    """
    gpu = engine.gpus[0]
    with gpu.errors(), gpu.current():
        number = min(most, max(1, gpu.free_bytes() // PUZZLE_BYTES))
    frontier = packed(relabelled(given, number), number)
    some = frontier.part(0, max(min(len(given), number), number // CPU_SHARE))
    few = some.part(0, max(1, number // CORE_SHARE))
    right, cpu = count_on(CpuEngine(), some)
    engine.prepare(few, SETTINGS)
    count_on_gpu(frontier, engine)  # this warms up
    counts, run = count_on_gpu(frontier, engine)
    # Every puzzle has as many solutions as the one that it was made from.
    expected = np.concatenate([right, right[np.arange(len(some), number) % len(given)]])
    for wrong in np.flatnonzero(counts != expected)[:1]:
        clues = "".join(map(str, given[wrong % len(given)].tolist()))
        what = f"puzzle {wrong} of {number}, made from {clues}, on cuda"
        check(what, int(counts[wrong]), int(expected[wrong]))
    yield {"case": case, "device": "cuda", **run}
    yield {"case": case, "device": "cpu", **cpu}
    yield {"case": case, "device": "core", **count_on(CpuEngine(1), few)[1]}


def count_on(engine: CpuEngine, frontier: Frontier) -> tuple[NDArray[np.uint64], Run]:
    """Count every board of a frontier on cores, up to the limit; return the time, too."""
    engine.prepare(frontier, SETTINGS)
    job = Job(len(frontier), LIMIT, dtype=np.uint64)
    start = time.perf_counter()
    engine.explore(frontier, SETTINGS, job)
    seconds = time.perf_counter() - start
    return np.minimum(job.numbers, LIMIT), {"number": len(frontier), "seconds": seconds}


def count_on_gpu(frontier: Frontier, engine: CudaEngine) -> tuple[NDArray[np.uint64], Run]:
    """Bring a frontier to the first GPU, count all there, and bring the counts back."""
    gpu = engine.gpus[0]
    with gpu.errors(), gpu.current():
        start = time.perf_counter()
        search = DeviceSearch(gpu, frontier, SETTINGS, Job(len(frontier), LIMIT))
        gpu.host(search.pool.state)  # waits until all is there
        there = time.perf_counter()
        while search.boards and search.launch():
            pass
        seconds = time.perf_counter() - there
        counts = np.minimum(gpu.host(search.found.counts), np.uint64(LIMIT))
        transfer = time.perf_counter() - start - seconds
    return counts, {"number": len(frontier), "seconds": seconds, "transfer": transfer}
