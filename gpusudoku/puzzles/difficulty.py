"""The difficulty of puzzles: the techniques that solve them, and the guesses of a search.

The techniques are tried in groups, each together with the groups before it. A puzzle that they do
not solve is searched with all of them at every node. The search visits its whole tree, so the
number of guesses depends neither on the order of the search nor on threads.
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
"""The levels, easiest first."""
GROUPS = ("singles", "locked", "all")
"""The techniques that suffice for each of the levels below expert, as ``parse_techniques`` reads
them."""
EXPERT, EXTREME = 3, 4
"""The levels of puzzles that need guesses, as indices into LEVELS."""
EXPERT_GUESSES = 10
"""The maximum number of guesses of an expert puzzle. One in 200 random minimal 9x9 puzzles needs
more."""
MAX_GUESSES = 1000
"""No more guesses are counted: on large boards counting all would take too long."""


class Ratings(NamedTuple):
    """The difficulty of the puzzles of a batch."""

    levels: NDArray[np.uint8]
    """uint8 (B): indices into LEVELS."""
    guesses: NDArray[np.int64]
    """int64 (B): the number of boards that a search splits in two, at most MAX_GUESSES. 0 below the
    level expert."""


class Rating(NamedTuple):
    """The difficulty of a puzzle."""

    level: str
    """``easy``, ``medium``, ``hard``, ``expert`` or ``extreme``."""
    guesses: int
    """The number of boards that a search with all techniques splits in two, at most 1000. 0 below
    the level expert."""


def rate(board: BoardLike, *, box: Geometry | str | None = None) -> Rating:
    """Rate the difficulty of a puzzle.

    A puzzle is easy if naked and hidden singles solve it, medium if it also needs locked
    candidates, and hard if it also needs naked or hidden pairs. Any other puzzle needs guesses: it
    is expert, or extreme if there are more than ten. The guesses are those of a search that applies
    all these techniques at every node and visits its whole tree. At most a thousand are counted.

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
    """Rate boards that are known to have exactly one solution each."""
    levels = np.full(len(batch), EXPERT, np.uint8)
    guesses = np.zeros(len(batch), np.int64)
    geometry = batch.geometry
    size = CALL_BYTES // shape_of(geometry.box_rows, geometry.box_columns).row_bytes
    for start in range(0, len(batch), size):
        end = min(start + size, len(batch))
        unsolved = Frontier.of(batch.part(start, end))
        for level, group in enumerate(GROUPS):
            unsolved = unsolved.simplified(SearchSettings(parse_techniques(group)))
            # A solution is known to exist, so a board with one candidate per cell is solved.
            is_solved = unsolved.candidates_left == geometry.cells
            levels[start + unsolved.roots[is_solved]] = level
            unsolved = Frontier(
                unsolved.shape, unsolved.boards[~is_solved], unsolved.roots[~is_solved]
            )
        guesses[start:end] = _count_guesses(unsolved, end - start, size)
    levels[guesses > EXPERT_GUESSES] = EXTREME
    return Ratings(levels, guesses)


def _count_guesses(frontier: Frontier, root_count: int, size: int) -> NDArray[np.int64]:
    """Count the boards that a search splits below each root, int64 (root_count).

    It splits at most ``size`` boards at a time.
    """
    settings = SearchSettings(parse_techniques("all"))
    guesses = np.zeros(root_count, np.int64)
    # The last boards are split first, so the stack grows with the depth of the tree, not its width.
    stack = [frontier]
    while stack:
        boards = stack.pop()
        if len(boards) > size:
            stack.append(boards.part(0, len(boards) - size))
            boards = boards.part(len(boards) - size, len(boards))
        if len(boards):
            _, halves = boards.split(settings)
            # Both halves of a board have its root.
            guesses += np.bincount(halves.roots, minlength=root_count) // 2
            is_open = guesses[halves.roots] < MAX_GUESSES
            stack.append(Frontier(halves.shape, halves.boards[is_open], halves.roots[is_open]))
    return np.minimum(guesses, MAX_GUESSES)
