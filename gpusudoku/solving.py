"""A solution of a board, or of each of many, and whether it is the only one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import in_blocks
from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.job import Progress
from gpusudoku.listing import Listing, find_solutions
from gpusudoku.options import OptionFields, Options
from gpusudoku.results import SearchStats


@dataclass(frozen=True)
class Solution:
    """The outcome of ``solve``."""

    board: Board | None
    """A solution, None if there is none."""
    unique: bool | None
    """Whether it is the only one; None if that was not asked, or if there is none."""
    stats: SearchStats
    """What was done."""


@dataclass(frozen=True)
class Solved:
    """What came of boards that were solved together."""

    boards: Batch
    solutions: NDArray[np.uint8]
    """uint8 (B, n * n): a solution of every board that has one, 0 in all cells of the others."""
    counts: NDArray[np.int64]
    """int64 (B): solutions found, at most 2; at most 1 if no more was asked."""
    stats: SearchStats
    """What was done for all of them."""

    @classmethod
    def of(cls, board: Batch, found: Solution) -> Solved:
        """What came of a single board, which the batch holds."""
        cells, count = np.zeros_like(board.cells[0]), 0
        if found.board is not None:
            cells, count = found.board.cells, 2 if found.unique is False else 1
        return cls(board, cells[None], np.array([count]), found.stats)

    def __len__(self) -> int:
        return len(self.counts)


def solve(
    board: Board,
    *,
    check_unique: bool = True,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[OptionFields],
) -> Solution:
    """Find a solution and, unless told not to, say whether it is the only one.

    All workers stop at the second solution, or at the first if uniqueness is not asked.
    Options are the fields of ``Options`` but the limit, and the others as for ``count``.

    Raises
    ------
    InputError, DeviceError
        As ``count`` does.
    """
    chosen = Options(**options)
    engine = engine or make_engine(chosen)
    return solve_board(board, chosen, engine, check_unique=check_unique, progress=progress)


def solve_board(
    board: Board,
    options: Options,
    engine: Engine,
    *,
    check_unique: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Do what ``solve`` does."""
    limited = replace(options, limit=2 if check_unique else 1)
    with closing(Listing(board, limited, engine=engine, progress=progress)) as listing:
        found = [cells for block in listing for cells in block]
    stats = listing.stats
    assert stats is not None  # the listing was read to its end
    if not found:
        return Solution(None, None, stats)
    unique = len(found) == 1 if check_unique else None
    return Solution(Board(found[0], board.geometry), unique, stats)


def solve_batches(
    batches: Iterable[Batch],
    options: Options,
    engine: Engine | None = None,
    *,
    check_unique: bool = True,
) -> Generator[Solved, None, None]:
    """Find a solution of every board and, unless told not to, see whether there is another.

    An InputError that reading the batches raises is raised once all boards before it are solved.
    """
    limited = replace(options, limit=2 if check_unique else 1)
    device = engine or make_engine(limited)
    return in_blocks(batches, device.most_boards, lambda block: _solved(block, limited, device))


def _solved(block: Batch, options: Options, engine: Engine) -> Generator[Solved, None, None]:
    rows, roots, stats = find_solutions(block, options, engine)
    solutions = np.zeros_like(block.cells)
    solutions[roots[::-1]] = rows[::-1]  # the last to be written, the first found, remains
    counts = np.minimum(np.bincount(roots, minlength=len(block)), options.limit or 0)
    yield Solved(block, solutions, counts, stats)
