"""Many 9x9 boards, each contracted by one thread. Special to 3x3 boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.contraction.nine.sum import SLABS_BYTES, WORKSPACE_BYTES, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import run_on_threads
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.contraction.nine.arrays import Workspace, make_workspace
from gpusudoku.kernels.contraction.nine.cpu import FACTOR, RESULT_COLUMNS, STATUS, UNCOUNTED
from gpusudoku.kernels.contraction.nine.pair_sums import HIGH, LOW, Slabs, make_slabs
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier

MAX_CHUNK_BOARDS = 8
"""The largest number of boards that a thread takes at a time."""
CHUNKS_PER_THREAD = 4
"""The number of chunks for each thread, so that all threads finish at about the same time."""
CHEAP_SECONDS = 0.005
"""Boards that cost at most this are counted together, by one call of the compiled code. More
expensive ones take a call each, so that an interrupt waits for one board only."""
EXPENSIVE_SECONDS = 0.05
"""A board that costs more than this is left out."""


def count_cheap_boards(boards: Batch, threads: int, memory: int) -> tuple[list[int], list[int]]:
    """Count the cheap boards of a batch of 9x9 boards.

    Returns the counts of all boards, and the indices of the boards that were left out because they
    are too expensive. The counts of these are 0.
    """
    simplified = Frontier.of(boards).simplified(SearchSettings())
    candidates = simplified.candidates
    threads = max(1, min(threads, memory // (WORKSPACE_BYTES + SLABS_BYTES)))
    scratch = [(make_workspace(), make_slabs(wide=False)) for _ in range(threads)]
    # Chunks are small if there are few boards, so that no thread is idle early.
    even_size = -(-len(candidates) // (CHUNKS_PER_THREAD * threads))
    size = min(MAX_CHUNK_BOARDS, even_size or 1)
    chunks = [candidates[start : start + size] for start in range(0, len(candidates), size)]
    load_kernels(stages().of_many_boards())
    results_of_chunks = run_on_threads(_count_chunk, chunks, scratch)
    rows = [row for results in results_of_chunks for row in results.tolist()]

    # Boards that singles show to have no solution have no row, and count 0.
    counts = [0] * len(boards)
    expensive = []
    for board, row in zip(simplified.roots.tolist(), rows, strict=True):
        if row[STATUS] == UNCOUNTED:
            expensive.append(board)
        else:
            counts[board] = ((row[HIGH] << 32) + row[LOW]) * row[FACTOR]
    return counts, expensive


def _count_chunk(
    candidates: NDArray[np.uint64], scratch: tuple[Workspace, Slabs], stop: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the boards of a chunk, unless they are too expensive: int64 (B, RESULT_COLUMNS)."""
    work, slabs = scratch

    def count(boards: NDArray[np.uint64], max_seconds: float) -> NDArray[np.int64]:
        results = np.empty((len(boards), RESULT_COLUMNS), np.int64)
        max_nanoseconds = max_seconds * 1e9
        stages().count_boards(
            boards, max_nanoseconds, tables(), work, stop, slabs, stages().addresses, results
        )
        return results

    results = count(candidates, CHEAP_SECONDS)
    # Boards that are too expensive for the common call get a call of their own.
    for index in np.flatnonzero(results[:, STATUS] == UNCOUNTED).tolist():
        check_cancelled()
        results[index] = count(candidates[index : index + 1], EXPENSIVE_SECONDS)[0]
    return results
