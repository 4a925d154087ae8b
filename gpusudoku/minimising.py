"""Minimal puzzles: redundant clues are removed while the solution stays the only one."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import Cancelled, InputError, Interrupted
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.options import Options
from gpusudoku.orders.sampling import SEED_BITS, Uniform
from gpusudoku.planning.batch import search_block
from gpusudoku.solving import solve_board


@dataclass(frozen=True, repr=False)
class Minimised:
    """The result of ``minimise``: a puzzle without redundant clues."""

    puzzle: Board
    """The board that was given."""
    board: Board
    """The minimal puzzle: without any one of its clues it has several solutions."""
    removed: tuple[int, ...]
    """The cells of the removed clues, in the order in which they were removed."""
    seed: int
    """The seed of the order: the same board and seed give the same puzzle again."""

    def __repr__(self) -> str:
        return f"<Minimised: {self._in_words()}>"

    def _repr_html_(self) -> str:
        return draw(self.board.geometry, self.board.cells, caption=self._in_words())

    def _in_words(self) -> str:
        return f"{self.board.clues} of {self.puzzle.clues} clues left, with seed {self.seed}"

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON types; ``board`` is the minimal puzzle, the seed a string."""
        return {
            "puzzle": str(self.puzzle),
            "board": str(self.board),
            "box": str(self.board.geometry),
            "clues": self.board.clues,
            "removed": list(self.removed),
            "seed": str(self.seed),
        }


def minimise(
    board: BoardLike,
    *,
    seed: int | None = None,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    cancel: CancelToken | None = None,
) -> Minimised:
    """Remove redundant clues from a board with one solution, which stays the only one.

    Every clue is tried once, in a random order, and removed if the others leave no other solution.
    So every clue that is left is necessary: the puzzle is minimal, though another order may lead to
    one with fewer clues. A full grid gives a random minimal puzzle. The result depends on board and
    seed alone, never on the engine. A board of 9x9 cells takes about a tenth of a second, one of
    16x16 some seconds; with 25x25 the search for another solution may take very long.

    Parameters
    ----------
    board, box
        As for ``count``. Candidates that are given for empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    seed
        From 0 to below 2^128; by default a new one every time.
    engine
        The device that searches, made by ``make_engine``; by default all cores of the CPU, even
        where there is a GPU, because most searches take less than a millisecond.
    progress
        Called after every clue with the number of clues tried, and that of all.
    cancel
        Stops it, whichever thread cancels it: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, or has no solution or several; or if the seed is out of range.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    clues = np.flatnonzero(puzzle.cells)
    uniform = Uniform(seed, max(1, len(clues)))
    order = chain.from_iterable(clues[some].tolist() for some in uniform.distinct(len(clues)))
    engine = engine_for(Options(device="cpu" if engine is None else "auto"), engine)
    given, any_digit = puzzle.given_candidates, puzzle.geometry.all_digits
    cells, removed = puzzle.cells.copy(), list[int]()
    masks = None if given is None else given.copy()
    try:
        with cancelling(cancel):
            found = solve_board(puzzle, Options(limit=2), engine)
            if not found.unique:
                number = "no solution" if found.board is None else "several solutions"
                raise InputError(f"the board has {number}, expected exactly one")
            for tried, cell in enumerate(order, 1):
                digit, cells[cell] = int(cells[cell]), 0
                if masks is not None:
                    masks[cell] = any_digit
                batch = Batch(puzzle.geometry, cells[None], None if masks is None else masks[None])
                [number] = search_block(batch, Options(limit=2), engine).numbers
                if number > 1:
                    cells[cell] = digit
                else:
                    removed.append(cell)
                if progress is not None:
                    progress(tried, len(clues))
    except Cancelled:
        raise
    except (Interrupted, KeyboardInterrupt):  # the count of a search means nothing here
        raise Interrupted("interrupted") from None
    board = Board(cells, puzzle.geometry, candidates=masks)
    return Minimised(puzzle, board, tuple(removed), int(seed))


minimize = minimise
