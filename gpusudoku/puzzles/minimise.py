"""Minimal puzzles: redundant clues are removed while the solution stays the only one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, RowBlock
from gpusudoku.board.blocks import in_blocks
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.sampling import SEED_BITS, checked_seed
from gpusudoku.errors import InputError
from gpusudoku.formats.coerce import BoardLike, batches_of, board_of
from gpusudoku.iterating import only_row, rows_of, with_bad_boards
from gpusudoku.jobs.cancel import CancelToken, interruptible, iterate_in
from gpusudoku.jobs.job import call_on_threads, split_range
from gpusudoku.options import Options
from gpusudoku.puzzles.clue_patterns import kept_cells
from gpusudoku.puzzles.remove_clues import order_seeds, reduced
from gpusudoku.results import BadBoard
from gpusudoku.solving import not_one, solve_block

MAX_BOARDS = 1 << 12
"""Boards whose clues are removed together."""
CHUNKS = 4
"""Chunks of such boards for each thread, so that all threads finish at about the same time."""


@dataclass(frozen=True, repr=False)
class Minimised:
    """The result of ``minimise``: a puzzle without redundant clues."""

    puzzle: Board
    """The board that was given."""
    board: Board
    """The minimal puzzle: without any one of its clues it has several solutions."""
    solution: Board
    """The only solution of both."""
    seed: int
    """The seed of the order: the same board and seed give the same puzzle again."""

    def __repr__(self) -> str:
        return f"<Minimised: {self._in_words()}>"

    def _repr_html_(self) -> str:
        return draw(self.board.geometry, self.board.cells, caption=self._in_words())

    def _in_words(self) -> str:
        return f"{self.board.clues} of {self.puzzle.clues} clues left, with seed {self.seed}"

    @property
    def removed(self) -> tuple[int, ...]:
        """The cells of the removed clues, row by row from 0."""
        cells = np.flatnonzero((self.puzzle.cells > 0) & (self.board.cells == 0))
        return tuple(cells.tolist())

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON types; ``board`` is the minimal puzzle, the seed a string."""
        return {
            "puzzle": str(self.puzzle),
            "board": str(self.board),
            "box": str(self.board.geometry),
            "clues": self.board.clues,
            "removed": list(self.removed),
            "solution": str(self.solution),
            "seed": str(self.seed),
        }


@dataclass(frozen=True)
class MinimisedBlock(RowBlock):
    """Minimal puzzles in some boards, in columns of B rows."""

    _COLUMNS = ("boards", "numbers", "puzzles", "solutions")
    boards: Batch
    numbers: NDArray[np.int64]
    """int64 (B): the solutions of each board, 2 for two or more. Clues are removed only from boards
    with one."""
    puzzles: NDArray[np.uint8]
    """uint8 (B, cells): the minimal puzzles."""
    solutions: NDArray[np.uint8]
    """uint8 (B, cells): their solutions."""
    seed: int

    def __iter__(self) -> Iterator[Minimised | InputError]:
        puzzles = self.boards.with_cells(self.puzzles)
        for index, board in enumerate(self.boards):
            if (error := not_one(int(self.numbers[index]))) is not None:
                yield error
                continue
            solution = Board.of_digits(self.solutions[index].copy(), board.geometry)
            yield Minimised(board, puzzles[index], solution, self.seed)


def minimise(
    board: BoardLike,
    *,
    seed: int | None = None,
    keep: str | Iterable[int] = (),
    box: Geometry | str | None = None,
    cancel: CancelToken | None = None,
) -> Minimised:
    """Remove redundant clues from a board with one solution, which stays the only one.

    Every clue is tried once, in a random order, and removed if the others leave no other solution.
    So every clue that is left is necessary: the puzzle is minimal, though another order may lead to
    one with fewer clues; ``minimal_puzzles`` lists all of them. A full grid gives a random minimal
    puzzle. The result depends on board and seed alone. A board of 9x9 cells takes a millisecond,
    one of 16x16 some hundredths of a second; with 25x25 the search for another solution may take
    very long.

    Parameters
    ----------
    board, box
        As for ``count``. Candidates that are given for empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    seed
        From 0 to below 2^128; by default a new one every time.
    keep
        Cells whose clues stay, necessary or not: their numbers, row by row from 0; or a text, such
        as ``r1c9,r5c5``, or that of a pattern as for ``generate``.
    cancel
        Stops it, whichever thread cancels it: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, or has no solution or several; if the seed or a cell is out of
        range.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    seed = secrets.randbits(SEED_BITS) if seed is None else checked_seed(seed)
    with interruptible(cancel):
        return only_row(_minimise_block(Batch.of([puzzle]), seed, keep, CpuEngine(1)))


def minimise_many(
    boards: Iterable[BoardLike] | os.PathLike[str],
    *,
    seed: int | None = None,
    keep: str | Iterable[int] = (),
    box: Geometry | str | None = None,
    on_error: str = "raise",
    jobs: int | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[Minimised | BadBoard]:
    """Remove redundant clues from each of many boards, as ``minimise`` does, in their order.

    Parameters
    ----------
    boards, box, on_error
        As for ``count_many``. A board without exactly one solution is a bad board, too.
    seed, keep, cancel
        As for ``minimise``, for all boards. The order of trials depends on board and seed alone.
    jobs
        Threads; by default as many as there are usable cores.

    Raises
    ------
    InputError
        At once if a value is out of range, or in the place of the first bad board.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    threads = CpuEngine(Options(jobs=jobs).jobs).threads
    seed = secrets.randbits(SEED_BITS) if seed is None else checked_seed(seed)
    batches_or_errors = batches_of(boards, box)
    kept = keep if isinstance(keep, str) else [*keep]

    def work(batches: Iterator[Batch]) -> Generator[MinimisedBlock, None, None]:
        return minimise_batches(batches, seed, kept, threads)

    blocks = with_bad_boards(batches_or_errors, work, on_error)
    return iterate_in(lambda: interruptible(cancel), rows_of(blocks, on_error))


minimize = minimise


def minimise_batches(
    batches: Iterable[Batch], seed: int, keep: str | Iterable[int], threads: int
) -> Generator[MinimisedBlock, None, None]:
    """Minimise boards in blocks, in their order."""

    def minimise(block: Batch, alone: bool) -> Generator[MinimisedBlock, None, None]:
        yield _minimise_block(block, seed, keep, CpuEngine(1 if alone else threads))

    return in_blocks(batches, MAX_BOARDS, minimise, threads)


def _minimise_block(
    block: Batch, seed: int, keep: str | Iterable[int], engine: CpuEngine
) -> MinimisedBlock:
    """Minimise boards of one geometry by all threads of an engine."""
    units = np.flatnonzero(~kept_cells(keep, block.geometry))[:, None]
    solved = solve_block(block, Options(limit=2), engine)
    solutions = solved.solutions
    assert solutions is not None
    unique = np.flatnonzero(solved.numbers == 1)
    seeds = order_seeds(block.cells, seed)
    puzzles = block.cells.copy()

    def reduce(chunk: range) -> None:
        rows = unique[chunk.start : chunk.stop]
        puzzles[rows] = reduced(block.select(rows), solutions[rows], seeds[rows], units=units)

    threads = engine.threads
    chunks = split_range(range(len(unique)), CHUNKS * threads if threads > 1 else 1)
    call_on_threads([partial(reduce, chunk) for chunk in chunks], threads)
    return MinimisedBlock(block, solved.numbers, puzzles, solutions, seed)
