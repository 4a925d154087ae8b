"""Redundant clues are removed from many puzzles of one shape, so that solutions stay unique."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.choose import MAX_PLAIN
from gpusudoku.kernels.search.minimise import PuzzleArrays, Trials
from gpusudoku.kernels.search.shape import LOCKED_CANDIDATES, SearchSettings, shape_of
from gpusudoku.options import checked_seed
from gpusudoku.search.frontier import node_seconds

CALL_SECONDS = 0.01
"""A call of the kernel takes about this long. An interrupt waits until it returns."""


def minimise_kernel(geometry: Geometry) -> Kernel:
    """Return the kernel that removes clues from boards of a geometry."""
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    settings = SearchSettings()
    # Locked candidates pay off if there are many digits: they halve the time of 16x16 boards.
    if shape.n > MAX_PLAIN:
        settings = settings._replace(techniques=settings.techniques | LOCKED_CANDIDATES)
    return cpu.minimise(shape, settings)


def order_seeds(cells: NDArray[np.uint8], seed: int) -> NDArray[np.uint64]:
    """Return the seed of the order in which clues are tried, for each puzzle, uint8 (B, cells).

    It is a hash of the puzzle and a seed below 2^128. So the order depends only on these, not on
    the other puzzles. The hash multiplies by an odd number and folds, word by word.
    """
    seed = checked_seed(seed)
    # Eight cells per word.
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


def remove_redundant_clues(
    puzzles: Batch,
    solutions: NDArray[np.uint8],
    seeds: NDArray[np.uint64],
    *,
    units: NDArray[np.int64] | None = None,
    min_clues: int = 0,
    max_guesses: int = -1,
) -> NDArray[np.uint8]:
    """Remove redundant clues from puzzles with one solution each.

    Parameters
    ----------
    puzzles
        The puzzles. Candidates of empty cells stay as they are; a cell whose clue is removed may
        have any digit.
    solutions
        Their solutions, uint8 (B, cells).
    seeds
        The seeds of the orders in which units are tried, uint64 (B).
    units
        Sets of cells whose clues are removed together, int64 (U, cells per unit), padded with -1.
        By default each cell is a unit.
    min_clues
        The number of clues that always remain.
    max_guesses
        The maximum number of guesses for a unit. A unit stays if they do not decide whether it is
        redundant. -1 for no maximum.

    Returns
    -------
    The puzzles without these clues, uint8 (B, cells).

    Raises
    ------
    Cancelled
        When a token of this thread is cancelled.
    """
    geometry = puzzles.geometry
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    kernel = minimise_kernel(geometry)
    clues = (puzzles.cells > 0).astype(np.uint8)
    # The digits that cells may have without their clues: one row for all puzzles, if all may.
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
    # Each call works for a number of rounds, and returns True when all puzzles are finished.
    check_cancelled()
    while not kernel(arrays, trials, min_clues, max_guesses, rounds):
        check_cancelled()
    return puzzles.cells * clues
