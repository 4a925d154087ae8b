"""Solutions of many boards, found a block at a time: each block is one search.

Only boards with many solutions are searched alone, one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, Blocks
from gpusudoku.board.board import Board
from gpusudoku.counting import make_engine
from gpusudoku.engines import Engine
from gpusudoku.jobs.job import Progress
from gpusudoku.listing import Listing, Solution
from gpusudoku.options import OptionFields, Options
from gpusudoku.planning.search import explore
from gpusudoku.results import Stats

FEW = 64
"""Boards of a block with fewer solutions are listed with the block."""
LISTED_BOARDS = 1 << 12
"""Boards in a block that is listed, at most: about so many times FEW solutions are kept at a time,
more where several threads find them."""


@dataclass(frozen=True)
class Solved:
    """What came of boards that were solved together."""

    boards: Batch
    solutions: NDArray[np.uint8]
    """uint8 (B, n * n): a solution of every board that has one, 0 in all cells of the others."""
    counts: NDArray[np.int64]
    """int64 (B): solutions found, at most 2; at most 1 if no more was asked."""
    stats: Stats
    """What was done for all of them."""

    @classmethod
    def of(cls, board: Board, found: Solution) -> Solved:
        """What came of a single board."""
        if found.board is None:
            return cls(
                Batch.of([board]),
                np.zeros((1, board.cells.size), np.uint8),
                np.array([0]),
                found.stats,
            )
        count = 2 if found.unique is False else 1
        return cls(Batch.of([board]), found.board.cells[None], np.array([count]), found.stats)

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class Listed:
    """Solutions of consecutive boards, in their order."""

    boards: Batch
    doubtful: Batch
    """Those of the boards that may have none; all others have some."""
    solutions: Iterable[NDArray[np.uint8]]
    """Blocks of uint8 (k, n * n), to be taken before the next boards are."""


def solve_batches(
    batches: Iterable[Batch],
    *,
    check_unique: bool = True,
    engine: Engine | None = None,
    **options: Unpack[OptionFields],
) -> Iterator[Solved]:
    """Find a solution of every board and, unless told not to, see whether there is another.

    Options are as for ``listing.solve``. An InputError that reading the batches raises is raised
    once all boards before it are solved.
    """
    options["limit"] = limit = 2 if check_unique else 1
    settings = Options(**options)
    engine = engine or make_engine(settings)
    blocks = Blocks(batches, engine.most_boards)
    for block in blocks:
        rows, owners, stats = _search(block, engine, settings)
        solutions = np.zeros_like(block.cells)
        solutions[owners[::-1]] = rows[::-1]  # the last to be written, the first found, remains
        counts = np.minimum(np.bincount(owners, minlength=len(block)), limit)
        blocks.took(stats.seconds)
        yield Solved(block, solutions, counts, stats)


def list_batches(
    batches: Iterable[Batch],
    *,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[OptionFields],
) -> Generator[Listed, None, None]:
    """List the solutions of every board, no more than the limit, in constant memory.

    Those of a board with fewer than FEW come in ascending order, those of others as a ``Listing``
    gives them, which has the same options. An InputError that reading the batches raises is
    raised once all boards before it are listed.
    """
    settings = Options(**options)
    engine = engine or make_engine(settings)
    blocks = Blocks(batches, LISTED_BOARDS)
    for block in blocks:
        begun = time.perf_counter()
        rows, owners, _ = _search(block, engine, replace(settings, limit=FEW))
        order = np.lexsort((rows.view(f"S{rows.shape[1]}").ravel(), owners))
        rows, owners = rows[order], owners[order]
        counts = np.bincount(owners, minlength=len(block))
        first = np.concatenate([[0], np.cumsum(counts)])
        rank = np.arange(len(rows)) - first[owners]
        wanted = np.full(len(rows), True) if settings.limit is None else rank < settings.limit
        blocks.took(time.perf_counter() - begun)
        start = 0
        for many in [*np.flatnonzero(counts >= FEW).tolist(), len(block)]:
            if start < many:
                boards, these = block.part(start, many), slice(first[start], first[many])
                unsolvable = boards.chosen(counts[start:many] == 0)
                yield Listed(boards, unsolvable, [rows[these][wanted[these]]])
            if many < len(block):
                listing = Listing(block[many], engine=engine, progress=progress, **options)
                with closing(listing):
                    yield Listed(block.part(many, many + 1), block.part(0, 0), listing)
            start = many + 1


def _search(
    block: Batch, engine: Engine, settings: Options
) -> tuple[NDArray[np.uint8], NDArray[np.int64], Stats]:
    """Search a block, up to a limit that is set or a little beyond.

    Returns the solutions found, uint8 (k, n * n), the indices of their boards, int64 (k), both in
    the order in which they were found, and what was done.
    """
    found: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = [
        (np.empty((0, block.geometry.cells), np.uint8), np.empty(0, np.int64))
    ]
    _, stats = explore(
        block, engine, settings, on_solutions=lambda *solutions: found.append(solutions)
    )
    rows, owners = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(owners), stats
