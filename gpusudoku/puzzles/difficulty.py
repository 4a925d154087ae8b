"""How hard a puzzle is: the techniques that solve it, and the guesses where none suffice.

The techniques are tried in groups, each with all of those before it. A puzzle that they do not
solve is searched with all of them at every node. As it has one solution and the whole tree is gone
through, the number of guesses depends neither on an order nor on threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import SearchSettings, shape_of
from gpusudoku.search.frontier import CALL_BYTES, Frontier
from gpusudoku.search.techniques import parse_techniques
from gpusudoku.solving import only_solution

LEVELS = ("easy", "medium", "hard", "expert", "extreme")
"""The levels, from the lowest."""
GROUPS = ("singles", "locked", "all")
"""The techniques that suffice for each of the levels below expert."""
EXPERT, EXTREME = 3, 4
"""The levels of puzzles that need guesses."""
EXPERT_GUESSES = 10
"""The most guesses of an expert puzzle: one in 200 random minimal 9x9 puzzles needs more."""
MOST_GUESSES = 1000
"""Guesses that are counted: on large boards there may be more than anybody waits for."""


class Ratings(NamedTuple):
    """How hard the puzzles of a batch are."""

    levels: NDArray[np.uint8]
    """uint8 (B): indices into LEVELS."""
    guesses: NDArray[np.int64]
    """int64 (B): the boards that a search splits in two; 0 below expert, MOST_GUESSES for more."""


class Rating(NamedTuple):
    """How hard a puzzle is."""

    level: str
    """``easy``, ``medium``, ``hard``, ``expert`` or ``extreme``."""
    guesses: int
    """The boards that a search with all techniques splits in two; 0 below expert, 1000 for more."""


def rate(board: BoardLike, *, box: Geometry | str | None = None) -> Rating:
    """Say how hard a puzzle is.

    It is easy if naked and hidden singles solve it, medium if locked candidates are needed, too,
    and hard if naked or hidden pairs are. Otherwise guesses are needed: it is expert, or extreme if
    there are more than ten. They are those of a search that applies all these techniques at every
    node and visits its whole tree; no more than a thousand are counted.

    Parameters
    ----------
    board, box
        As for ``count``.

    Raises
    ------
    InputError
        If the board cannot be read, or has no solution or several.
    """
    puzzle = board_of(board, box)
    only_solution(puzzle, CpuEngine())
    levels, guesses = rate_batch(Batch.of([puzzle]))
    return Rating(LEVELS[levels[0]], int(guesses[0]))


def rate_kernels(geometry: Geometry) -> list[Kernel]:
    """List the kernels that rate puzzles of a geometry."""
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    settings = (SearchSettings(parse_techniques(group)) for group in GROUPS)
    return [cpu.pack(shape), *(cpu.expand(shape, each) for each in settings)]


def rate_batch(batch: Batch) -> Ratings:
    """Rate boards that are known to have one solution each."""
    levels, guesses = np.full(len(batch), EXPERT, np.uint8), np.zeros(len(batch), np.int64)
    geometry = batch.geometry
    size = CALL_BYTES // shape_of(geometry.box_rows, geometry.box_columns).row_bytes
    for start in range(0, len(batch), size):
        todo = Frontier.of(batch.part(start, start + size))
        for level, group in enumerate(GROUPS):
            todo = todo.simplified(SearchSettings(parse_techniques(group)))
            solved = todo.candidates_left == geometry.cells
            levels[start + todo.roots[solved]] = level
            todo = Frontier(todo.shape, todo.boards[~solved], todo.roots[~solved])
        guesses[start : start + size] = _guesses(todo, min(size, len(batch) - start), size)
    levels[guesses > EXPERT_GUESSES] = EXTREME
    return Ratings(levels, guesses)


def _guesses(frontier: Frontier, roots: int, size: int) -> NDArray[np.int64]:
    """Count the boards below each root that a search splits, in steps of at most so many boards.

    The last boards are split first: as many as the tree is deep wait then, not as it is wide.
    """
    settings = SearchSettings(parse_techniques("all"))
    guesses, waiting = np.zeros(roots, np.int64), [frontier]
    while waiting:
        todo = waiting.pop()
        if len(todo) > size:
            waiting.append(todo.part(0, len(todo) - size))
            todo = todo.part(len(todo) - size, len(todo))
        if len(todo):
            _, halves = todo.split(settings)
            guesses += np.bincount(halves.roots, minlength=roots) // 2
            open_ = guesses[halves.roots] < MOST_GUESSES
            waiting.append(Frontier(halves.shape, halves.boards[open_], halves.roots[open_]))
    return np.minimum(guesses, MOST_GUESSES)
