"""How hard a puzzle is: the techniques that solve it, and the guesses where none suffice.

The techniques are tried in groups, each together with the groups before it. A puzzle that they do
not solve is searched with all of them at every node. As it has one solution and the whole tree is
visited, the number of guesses depends neither on an order nor on threads.
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
MAX_GUESSES = 1000
"""Guesses that are counted, at most: on large boards counting all would take too long."""


class Ratings(NamedTuple):
    """How hard the puzzles of a batch are."""

    levels: NDArray[np.uint8]
    """uint8 (B): indices into LEVELS."""
    guesses: NDArray[np.int64]
    """int64 (B): the boards that a search splits in two; 0 below expert, MAX_GUESSES for more."""


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
    settings_of_groups = (SearchSettings(parse_techniques(group)) for group in GROUPS)
    expand_kernels = (cpu.expand(shape, settings) for settings in settings_of_groups)
    return [cpu.pack(shape), *expand_kernels]


def rate_batch(batch: Batch) -> Ratings:
    """Rate boards that are known to have one solution each."""
    levels = np.full(len(batch), EXPERT, np.uint8)
    guesses = np.zeros(len(batch), np.int64)
    geometry = batch.geometry
    size = CALL_BYTES // shape_of(geometry.box_rows, geometry.box_columns).row_bytes
    for start in range(0, len(batch), size):
        todo = Frontier.of(batch.part(start, start + size))
        for level, group in enumerate(GROUPS):
            todo = todo.simplified(SearchSettings(parse_techniques(group)))
            is_solved = todo.candidates_left == geometry.cells
            levels[start + todo.roots[is_solved]] = level
            todo = Frontier(todo.shape, todo.boards[~is_solved], todo.roots[~is_solved])
        guesses[start : start + size] = _guesses(todo, min(size, len(batch) - start), size)
    levels[guesses > EXPERT_GUESSES] = EXTREME
    return Ratings(levels, guesses)


def _guesses(frontier: Frontier, roots: int, size: int) -> NDArray[np.int64]:
    """Count the boards below each root that a search splits, at most ``size`` at a time.

    The last boards are split first, so the stack grows with the depth of the tree, not its width.
    """
    settings = SearchSettings(parse_techniques("all"))
    guesses = np.zeros(roots, np.int64)
    stack = [frontier]
    while stack:
        todo = stack.pop()
        if len(todo) > size:
            stack.append(todo.part(0, len(todo) - size))
            todo = todo.part(len(todo) - size, len(todo))
        if len(todo):
            _, halves = todo.split(settings)
            guesses += np.bincount(halves.roots, minlength=roots) // 2
            is_open = guesses[halves.roots] < MAX_GUESSES
            stack.append(Frontier(halves.shape, halves.boards[is_open], halves.roots[is_open]))
    return np.minimum(guesses, MAX_GUESSES)
