"""True candidates: the digits that at least one solution has in a cell.

A search for a solution with one candidate decides many others, too, because every solution has a
digit in each cell. A finished search without a solution excludes its candidate from later searches.

The time to a first solution has a heavy tail: most searches on large boards find one at once, and a
few take almost forever. So a search ends after a short time, and is repeated with the digits in
another random order (Gomes, Selman, Crato and Kautz: Heavy-tailed phenomena in satisfiability and
constraint satisfaction problems, Journal of Automated Reasoning 24, 2000). The random order also
makes solutions differ in most cells.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import digit_masks
from gpusudoku.engines.engine import Engine
from gpusudoku.jobs.watch import Progress, current_watch
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.count import find_solutions
from gpusudoku.search.frontier import Frontier

LISTED = 64
"""The candidates of a board with fewer solutions come from a list of them."""
MIN_SEARCHES = 64
"""Searches of the first block: several for each lane. Blocks grow while all their searches end."""
MAX_PLACEMENTS = 1 << 22
"""The most placements on all boards of a block of more than MIN_SEARCHES."""
SEARCH_SECONDS = 0.1
"""The time limit of the first block. It doubles after each block that decides no candidate."""
MAX_PLAIN_DIGITS = 16
"""Larger boards are searched with locked candidates: without them, some take 100 times as long."""


def find_true_candidates(block: Batch, options: Options, engine: Engine) -> NDArray[np.bool_]:
    """Return the true candidates of boards of one geometry, bool (B, cells, n).

    They do not depend on time limits and random orders. The current watch receives the progress.
    """
    geometry = block.geometry
    n = geometry.n
    if n > MAX_PLAIN_DIGITS:
        options = replace(options, propagate="locked")
    cells = np.arange(geometry.cells)
    bits = digit_masks(np.arange(1, n + 1, dtype=np.uint8))
    rng = default_rng(0)
    start = time.perf_counter()
    seconds = SEARCH_SECONDS
    size = MIN_SEARCHES

    is_true = np.zeros((len(block), geometry.cells, n), bool)
    is_possible = np.zeros_like(is_true)
    simplified = Frontier.of(block).simplified(SearchSettings())
    is_possible[simplified.roots] = (simplified.candidates[:, :, None] & bits) > 0
    limited_options = replace(options, limit=LISTED, seconds=seconds * len(block))
    rows, boards, outcome = find_solutions(block, limited_options, engine)
    is_true[boards[:, None], cells, rows - 1] = True
    is_listed = np.bincount(boards, minlength=len(block)) < LISTED
    is_listed[list(outcome.unfinished)] = False
    is_possible[is_listed] = is_true[is_listed]
    solution_count = len(rows)

    while len(unknown := np.argwhere(is_possible & ~is_true)):
        block_start = time.perf_counter()
        placements = rng.choice(unknown, min(size, len(unknown)), replace=False)
        boards, placed_cells, digits = placements.T
        searches = np.arange(len(placements))
        allowed = is_possible[boards]
        allowed[searches, placed_cells] = False
        allowed[searches, placed_cells, digits] = True
        # Digit d of a search is digit orders[search, d] of its board, both from 0.
        orders = rng.permuted(np.tile(np.arange(n), (len(placements), 1)), axis=1)
        masks = np.take_along_axis(allowed, orders[:, None], axis=2) @ bits
        batch = Batch(geometry, np.zeros(masks.shape, np.uint8), masks)
        limited_options = replace(options, limit=1, seconds=seconds)
        rows, roots, outcome = find_solutions(batch, limited_options, engine)
        solution_digits = np.take_along_axis(orders[roots], rows - 1, axis=1)
        is_true[boards[roots, None], cells, solution_digits] = True
        is_false = np.ones(len(placements), bool)
        is_false[[*roots, *outcome.unfinished]] = False
        is_possible[tuple(placements[is_false].T)] = False

        unknown_count = int(np.count_nonzero(is_possible & ~is_true))
        decided_count = len(unknown) - unknown_count
        if not outcome.unfinished:
            size = min(2 * size, max(MIN_SEARCHES, MAX_PLACEMENTS // n**3))
        elif not decided_count:
            seconds *= 2
        # The other candidates are expected to take as long as those of this block.
        now = time.perf_counter()
        seconds_left = (now - block_start) * unknown_count / max(1, decided_count)
        done = (now - start) / (now - start + seconds_left) if decided_count else 0.0
        solution_count += len(rows)
        current_watch().progress(Progress(done, solution_count, now - start))
    return is_true
