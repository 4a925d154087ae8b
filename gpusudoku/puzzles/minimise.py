"""Minimal puzzles: redundant clues are removed, so that the solution stays the only one."""

from __future__ import annotations

import os
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
from gpusudoku.errors import InputError
from gpusudoku.formats.coerce import BoardLike, batches_of, board_of
from gpusudoku.iterating import only_row, rows_of, with_bad_boards
from gpusudoku.jobs.cancel import CancelToken, interruptible, iterate_in
from gpusudoku.jobs.job import call_on_threads, split_range
from gpusudoku.options import Options, checked_seed
from gpusudoku.puzzles.clue_patterns import parse_keep
from gpusudoku.puzzles.remove_clues import order_seeds, remove_redundant_clues
from gpusudoku.results import BadBoard
from gpusudoku.solving import not_one, solve_block

MAX_BOARDS = 1 << 12
"""Boards whose clues are removed together."""
CHUNKS = 4
"""Chunks of these boards per thread, so that all threads finish at about the same time."""


@dataclass(frozen=True, repr=False)
class Minimised:
    """The result of ``minimise``: a puzzle without redundant clues."""

    puzzle: Board
    """The board that was given."""
    board: Board
    """The minimal puzzle: if any one clue is removed, it has several solutions."""
    solution: Board
    """The only solution of both."""
    seed: int
    """The seed of the order in which clues are tried. Board and seed determine the puzzle."""

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
        """Return everything as JSON types: ``board`` is the minimal puzzle, the seed a string."""
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
    """Minimal puzzles of boards, in columns of B rows."""

    _COLUMNS = ("boards", "numbers", "puzzles", "solutions")
    boards: Batch
    numbers: NDArray[np.int64]
    """int64 (B): the number of solutions of each board, 2 for two or more. Clues are removed only
    from boards with one."""
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

    Every clue is tried once, in a random order, and removed if the other clues allow no other
    solution. So all remaining clues are necessary: the puzzle is minimal. Another order may lead to
    a puzzle with fewer clues; ``minimal_puzzles`` lists all of them. A full grid gives a random
    minimal puzzle. The result depends only on board and seed. A 9x9 board takes a millisecond, and
    a 16x16 board some hundredths of a second. On 25x25 boards the search for another solution may
    take very long.

    Parameters
    ----------
    board, box
        As for ``count``. Candidates that are given for empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    seed
        An integer from 0 to below 2^128; by default a random one.
    keep
        Cells whose clues are never removed, even if they are redundant: their numbers, row by row
        from 0, or a text such as ``r1c9,r5c5``, or the text of a pattern as for ``generate``.
    cancel
        A token that stops the work from any thread: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, or does not have exactly one solution, or if the seed or a cell
        is out of range.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    seed = checked_seed(seed)
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
    """Remove redundant clues from many boards, in their order; see ``minimise``.

    Parameters
    ----------
    boards, box, on_error
        As for ``count_many``. A board without exactly one solution is a bad board, too.
    seed, keep, cancel
        As for ``minimise``, for all boards. The result for each board depends only on it and on
        the seed, not on the other boards.
    jobs
        The number of threads; by default one per usable core.

    Raises
    ------
    InputError
        Immediately if a value is out of range, or when the iterator reaches the first bad board.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    threads = CpuEngine(Options(jobs=jobs).jobs).threads
    seed = checked_seed(seed)
    batches_or_errors = batches_of(boards, box)
    # An iterator could only be read for the first block.
    keep = keep if isinstance(keep, str) else [*keep]

    def work(batches: Iterator[Batch]) -> Generator[MinimisedBlock, None, None]:
        return minimise_batches(batches, seed, keep, threads)

    blocks = with_bad_boards(batches_or_errors, work, on_error)
    return iterate_in(lambda: interruptible(cancel), rows_of(blocks, on_error))


minimize = minimise


def minimise_batches(
    batches: Iterable[Batch], seed: int, keep: str | Iterable[int], threads: int
) -> Generator[MinimisedBlock, None, None]:
    """Minimise boards in blocks, in their order."""

    def minimise(block: Batch, by_one_thread: bool) -> Generator[MinimisedBlock, None, None]:
        yield _minimise_block(block, seed, keep, CpuEngine(1 if by_one_thread else threads))

    return in_blocks(batches, MAX_BOARDS, minimise, threads)


def _minimise_block(
    block: Batch, seed: int, keep: str | Iterable[int], engine: CpuEngine
) -> MinimisedBlock:
    """Minimise boards of one geometry by all threads of an engine."""
    # Each cell is tried by itself: units of one cell.
    units = np.flatnonzero(~parse_keep(keep, block.geometry))[:, None]
    # A limit of two shows which boards have exactly one solution.
    results = solve_block(block, Options(limit=2), engine)
    solutions = results.solutions
    assert solutions is not None
    unique_boards = np.flatnonzero(results.numbers == 1)
    seeds = order_seeds(block.cells, seed)
    puzzles = block.cells.copy()  # boards without exactly one solution stay as they are

    def reduce(chunk: range) -> None:
        rows = unique_boards[chunk.start : chunk.stop]
        puzzles[rows] = remove_redundant_clues(
            block.select(rows), solutions[rows], seeds[rows], units=units
        )

    threads = engine.threads
    chunks = split_range(range(len(unique_boards)), CHUNKS * threads if threads > 1 else 1)
    call_on_threads([partial(reduce, chunk) for chunk in chunks], threads)
    return MinimisedBlock(block, results.numbers, puzzles, solutions, seed)
