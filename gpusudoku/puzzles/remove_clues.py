"""Clues removed from many puzzles of one shape while their solutions stay the only ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.enumeration.sampling import checked_seed
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.choose import MAX_PLAIN
from gpusudoku.kernels.search.minimise import PuzzleArrays, Trials
from gpusudoku.kernels.search.shape import LOCKED_CANDIDATES, SearchSettings, shape_of
from gpusudoku.search.frontier import node_seconds

CALL_SECONDS = 0.01
"""A call of the kernel takes about this long: an interrupt waits until it returns."""


def minimise_kernel(geometry: Geometry) -> Kernel:
    """Return the kernel that removes clues of boards of a geometry.

    Locked candidates pay off if there are many digits: they halve the time of 16x16 boards.
    """
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    settings = SearchSettings()
    if shape.n > MAX_PLAIN:
        settings = settings._replace(techniques=settings.techniques | LOCKED_CANDIDATES)
    return cpu.minimise(shape, settings)


def order_seeds(cells: NDArray[np.uint8], seed: int) -> NDArray[np.uint64]:
    """Hash puzzles, uint8 (B, cells), with a seed below 2^128: the seed of each puzzle's order.

    So the order in which clues are tried depends only on the puzzle and the seed, not on the other
    puzzles. The hash multiplies by an odd number and folds, word by word.
    """
    seed = checked_seed(seed)
    padded = np.zeros((len(cells), -(-cells.shape[1] // 8) * 8), np.uint8)
    padded[:, : cells.shape[1]] = cells
    low = np.uint64(seed & (1 << 64) - 1)
    high = np.uint64(seed >> 64)
    words = np.concatenate([padded.view("<u8"), np.full((len(cells), 1), high)], axis=1)
    hashes = np.full(len(cells), low)
    for word in np.ascontiguousarray(words.T):
        hashes = (hashes ^ word) * np.uint64(0x9FB21C651E98DF25)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def reduced(
    puzzles: Batch,
    solutions: NDArray[np.uint8],
    seeds: NDArray[np.uint64],
    *,
    units: NDArray[np.int64] | None = None,
    min_clues: int = 0,
    max_guesses: int = -1,
) -> NDArray[np.uint8]:
    """Remove redundant clues of puzzles with one solution each; return them, uint8 (B, cells).

    Parameters
    ----------
    puzzles, solutions
        The puzzles, and uint8 (B, cells). Candidates of empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    seeds
        uint64 (B): the seeds of the orders in which units are tried.
    units
        int64 (U, most cells): cells whose clues go together, then -1; by default each by itself.
    min_clues
        The number of clues at which it stops.
    max_guesses
        Guesses for a unit, at most; the unit stays if they do not decide. -1 for no bound.

    Raises
    ------
    Cancelled
        By the tokens of this thread.
    """
    geometry = puzzles.geometry
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    kernel = minimise_kernel(geometry)
    clues = (puzzles.cells > 0).astype(np.uint8)
    candidates = np.zeros((1, shape.words), shape.word)
    candidates[0, : shape.planes] = shape.cells
    if puzzles.candidates is not None:
        masks = np.where(clues, geometry.all_digits, puzzles.candidates)
        candidates = shape.rows_of(masks)
    if units is None:
        units = np.arange(geometry.cells)[:, None]
    arrays = PuzzleArrays(
        np.ascontiguousarray(solutions), clues, seeds, candidates, np.ascontiguousarray(units)
    )
    trials = Trials.empty(shape, len(units))
    rounds = max(1, int(CALL_SECONDS / (node_seconds(shape) * shape.lanes)))
    check_cancelled()
    while not kernel(arrays, trials, min_clues, max_guesses, rounds):
        check_cancelled()
    return puzzles.cells * clues
