"""A solution of a board, or of each of many, and whether it is the only one."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import Work
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import InputError
from gpusudoku.formats.coerce import BoardLike, batches_of, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import OptionFields, Options, takes_options
from gpusudoku.planning.batch import find_solutions
from gpusudoku.results import Results, SearchStats, recording
from gpusudoku.streaming import Stream


@dataclass(frozen=True, repr=False)
class Solution:
    """The outcome of ``solve``, true if there is a solution."""

    error: ClassVar[InputError | None] = None
    """None; a ``BadBoard`` has its error here."""
    puzzle: Board
    """The board that was solved."""
    board: Board | None
    """A solution, None if there is none."""
    unique: bool | None
    """Whether there is exactly one; None if there is one, and nobody looked for another."""
    stats: SearchStats
    """What was done; for a board of many, for all boards that were solved together."""

    def __bool__(self) -> bool:
        return self.board is not None

    @property
    def solvable(self) -> bool:
        """Tell whether there is a solution."""
        return bool(self)

    def __str__(self) -> str:
        """In words: ``the only solution``, ``one of several solutions`` and so on."""
        if self.board is None:
            return "no solution"
        names = {True: "the only solution", False: "one of several solutions", None: "a solution"}
        return names[self.unique]

    def __repr__(self) -> str:
        return f"<Solution: {self} of {self.puzzle.describe()}>"

    def _repr_html_(self) -> str:
        board = self.puzzle if self.board is None else self.board
        return draw(board.geometry, board.cells, self.puzzle.cells > 0, f"{self}".capitalize())


@dataclass(frozen=True)
class Solved:
    """What came of boards that were solved together."""

    boards: Batch
    solutions: NDArray[np.uint8]
    """uint8 (B, n * n): a solution of every board that has one, 0 in all cells of the others."""
    numbers: NDArray[np.int64]
    """int64 (B): solutions found, at most 2; at most 1 if no more was asked."""
    second: bool
    """Whether a second solution was looked for, too."""
    stats: SearchStats
    """What was done for all of them."""

    @classmethod
    def of(cls, board: Batch, found: Solution) -> Solved:
        """What came of a single board, which the batch holds."""
        cells, count = np.zeros_like(board.cells[0]), 0
        if found.board is not None:
            cells, count = found.board.cells, 2 if found.unique is False else 1
        second = found.unique is not None
        return cls(board, cells[None], np.array([count]), second, found.stats)

    def part(self, start: int, end: int) -> Solved:
        """What came of the boards from start to before end."""
        these = slice(start, end)
        boards, solutions = self.boards.part(start, end), self.solutions[these]
        return replace(self, boards=boards, solutions=solutions, numbers=self.numbers[these])

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Solution]:
        rows = zip(self.boards, self.solutions, self.numbers.tolist(), strict=True)
        for puzzle, cells, count in rows:
            board = Board(cells, puzzle.geometry) if count else None
            unique = count == 1 if self.second or not count else None
            yield Solution(puzzle, board, unique, self.stats)


@takes_options
def solve(
    board: BoardLike,
    *,
    box: Geometry | str | None = None,
    check_unique: bool = True,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
    **options: Unpack[OptionFields],
) -> Solution:
    """Find a solution and, unless told not to, say whether it is the only one.

    Parameters
    ----------
    board, box, engine, progress, cancel
        As for ``count``.
    check_unique
        Look for a second solution; without it all workers stop at the first.
    **options
        The fields of ``Options`` but the limit.

    Raises
    ------
    InputError, DeviceError, Interrupted, Cancelled
        As ``count`` does.
    """
    found, chosen = board_of(board, box), Options(**options)
    with cancelling(cancel):
        engine = engine_for(chosen, engine)
        with reporting(progress):
            return solve_board(found, chosen, engine, check_unique=check_unique)


@takes_options
def solve_many(
    boards: Iterable[BoardLike] | os.PathLike[str],
    *,
    box: Geometry | str | None = None,
    on_error: str = "raise",
    check_unique: bool = True,
    engine: Engine | None = None,
    cancel: CancelToken | None = None,
    **options: Unpack[OptionFields],
) -> Results[Solved, Solution]:
    """Find a solution of each of many boards, in their order.

    Boards are solved in blocks, one on each thread, or one after the other where they take long,
    and the ``stats`` of a result are those of its block. Memory is bounded by two blocks for each
    thread, however many boards there are. The results are an iterator over a ``Solution`` for every
    board. Its method ``blocks`` gives a ``Solved`` of many boards instead, as arrays.

    Parameters
    ----------
    boards, box, on_error, engine, cancel
        As for ``count_many``.
    check_unique, **options
        As for ``solve``.

    Raises
    ------
    InputError, DeviceError, Interrupted, Cancelled
        As ``count_many`` does.
    """
    with cancelling(cancel):
        found, chosen = batches_of(boards, box), Options(**options)

        def solved(batches: Iterator[Batch]) -> Generator[Solved, None, None]:
            work = solve_work(chosen, engine_for(chosen, engine), check_unique=check_unique)
            return work.on(batches)

        return Results(recording(found, solved, on_error), cancel, boards)


def solve_board(
    board: Board, options: Options, engine: Engine, *, check_unique: bool = True
) -> Solution:
    """Do what ``solve`` does."""
    limited = replace(options, limit=2 if check_unique else 1)
    with closing(Stream(board, limited, engine=engine)) as stream:
        found = [cells for block in stream for cells in block]
    stats = stream.stats
    assert stats is not None  # the stream was read to its end
    if not found:
        return Solution(board, None, False, stats)
    unique = len(found) == 1 if check_unique else None
    return Solution(board, Board(found[0], board.geometry), unique, stats)


def solve_work(options: Options, engine: Engine, *, check_unique: bool = True) -> Work:
    """Make the work that solves boards, which gives what was ``Solved``."""
    limited = replace(options, limit=2 if check_unique else 1)
    return Work(
        lambda block, alone: _solved(block, limited, CpuEngine(1) if alone else engine),
        engine.most_boards,
        engine.side_by_side,
    )


def _solved(block: Batch, options: Options, engine: Engine) -> Generator[Solved, None, None]:
    rows, roots, stats = find_solutions(block, options, engine)
    solutions = np.zeros_like(block.cells)
    solutions[roots[::-1]] = rows[::-1]  # the last to be written, the first found, remains
    numbers = np.minimum(np.bincount(roots, minlength=len(block)), options.limit or 0)
    yield Solved(block, solutions, numbers, options.limit == 2, stats)
