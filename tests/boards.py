"""Random boards, packed boards read back in plain Python, and searches on uncompiled kernels.

Each combination of box shape, techniques and strategy has its own kernel, which takes seconds to
compile. Tests therefore use few combinations, and try others with ``uncompiled`` kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.stream import Stream
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.lanes import build_expand, build_run
from gpusudoku.kernels.search.minimise import build_minimise
from gpusudoku.kernels.search.moves import build_pack
from gpusudoku.kernels.search.placements import build_placements
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.options import Options
from gpusudoku.planning.plan import Outcome
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import SearchStats
from gpusudoku.search.frontier import Frontier

SHAPES = ["2x2", "1x4", "1x5", "2x3", "3x2", "3x3", "2x5", "4x4"]
"""The box shapes that tests compile the search for; the largest, 8x8, has tests of its own."""

CLUES = {"2x2": 3, "1x4": 3, "1x5": 6, "2x3": 9, "3x2": 9, "3x3": 33, "2x5": 48, "4x4": 158}
"""Numbers of clues that leave few solutions, so that ``naive.count`` is quick."""

LINE_4X4 = "1....2....3....."
"""A 4x4 board with six solutions."""
UNIQUE = "123434122143432."
"""A 4x4 board with one solution."""
SEVERAL = "." * 16
"""A 4x4 board with 288 solutions."""
NONE = "11" + "." * 14
"""A 4x4 board without solutions."""
PUZZLE = "8..2.3..6.5.7....9..4...1..79..5...4...8.6...1...7..95..3...2..5....7.6.4..6.9..1"
"""A 9x9 board with one solution."""


def shape_of(geometry: Geometry) -> Shape:
    return Shape(geometry.box_rows, geometry.box_columns)


def pattern(geometry: Geometry) -> NDArray[np.int64]:
    """Return a full grid without conflicts: each row is the previous one, shifted."""
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)
    # Rows of a band differ by a box width, so that no digit is twice in a box; bands differ by 1.
    shift = row % geometry.box_rows * geometry.box_columns + row // geometry.box_rows
    return ((shift + column) % geometry.n + 1).reshape(geometry.n, geometry.n)


def full_grid(geometry: Geometry, seed: int) -> NDArray[np.int64]:
    """Return the pattern with shuffled digits, bands, stacks, and rows and columns within them."""
    rng = np.random.default_rng(seed)

    def shuffled_lines(group_count: int, group_size: int) -> NDArray[np.int64]:
        """Return an order of rows (or columns) that keeps those of a band (or stack) together."""
        groups = rng.permutation(group_count)
        return np.concatenate([g * group_size + rng.permutation(group_size) for g in groups])

    rows = shuffled_lines(geometry.box_columns, geometry.box_rows)
    columns = shuffled_lines(geometry.box_rows, geometry.box_columns)
    digits = np.concatenate([[0], 1 + rng.permutation(geometry.n)])  # digits[0]: an empty cell
    return digits[pattern(geometry)[rows][:, columns]]


def puzzle(geometry: Geometry | str, clues: int, seed: int) -> Board:
    """Return a board with at least one solution: a full grid reduced to ``clues`` clues."""
    if isinstance(geometry, str):
        geometry = Geometry.parse(geometry)
    cells = full_grid(geometry, seed).ravel()
    removed = np.random.default_rng(seed + 1).permutation(geometry.cells)[clues:]
    cells[removed] = 0
    return Board(cells, geometry)


def with_wrong_clue(board: Board, seed: int) -> Board:
    """Return the board with one clue changed to another digit: often it has no solution."""
    if board.n == 1:
        return board
    rng = np.random.default_rng(seed)
    cells = board.cells.astype(np.int64)
    cell = rng.choice(np.flatnonzero(cells))
    cells[cell] = (cells[cell] - 1 + rng.integers(1, board.n)) % board.n + 1
    return Board(cells, board.geometry)


def unpack_candidates(shape: Shape, packed: NDArray[Any]) -> list[set[int]]:
    """Return the candidates of each cell of a packed board, as digits from 1.

    A packed board has one plane of words for each digit; ``Shape`` draws their layout.
    """
    words = [int(word) for word in packed]
    cells = []
    for row, column in np.ndindex(shape.n, shape.n):
        band, row_in_band = divmod(row, shape.box_rows)
        group, field = divmod(band, shape.bands)
        word = row_in_band * shape.groups + group
        bit = field * shape.field + column
        digit_words = [words[digit * shape.plane_words + word] for digit in range(shape.n)]
        cells.append({digit for digit, w in enumerate(digit_words, 1) if w >> bit & 1})
    return cells


def search_space(shape: Shape, packed: NDArray[Any]) -> int:
    """Return the product of the candidate counts of all cells of a packed board."""
    return prod(len(candidates) for candidates in unpack_candidates(shape, packed))


def search_boards(
    boards: Batch | Sequence[Board], engine: Engine, options: Options | None = None, **run: Any
) -> Outcome[SearchStats]:
    """Search boards together; return their counts and statistics."""
    return SearchPlan(Frontier.of(boards), options or Options()).run(engine, **run)


def stream_solutions(board: Board, **options: Any) -> list[tuple[int, ...]]:
    """Return the solutions of a board in the order in which a search finds them."""
    with closing(Stream(board, Options(**options))) as stream:
        return [tuple(row) for block in stream for row in block.tolist()]


class Uncompiled:
    """A stand-in for ``Kernel`` that runs the Python function without compiling it."""

    name = ""
    seconds = 0.0
    is_cached = True

    def __init__(self, python: Callable[..., Any]) -> None:
        self._python = python

    def __call__(self, *arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # in compiled code, words overflow silently
            return self._python(*arguments)

    def load(self) -> None:
        """Do nothing: there is nothing to load."""

    def load_from_cache(self) -> bool:
        """Report that the kernel is loaded."""
        return True

    def for_boards(self, count: int) -> Uncompiled:
        """Return the kernel itself, whatever the number of boards."""
        return self


def run_uncompiled(patch: pytest.MonkeyPatch) -> None:
    """Run every search on uncompiled kernels, that is, on plain Python functions."""
    patch.setattr(cpu, "pack", cache(lambda shape: Uncompiled(build_pack(shape, not_compiled))))
    patch.setattr(cpu, "expand", cache(_uncompiled_expand))
    patch.setattr(cpu, "run", _uncompiled_run)
    patch.setattr(cpu, "minimise", cache(_uncompiled_minimise))
    patch.setattr(cpu, "placements", cache(_uncompiled_placements))
    # A quick search calls the machine code of its kernel by address, so it cannot run uncompiled.
    patch.setattr("gpusudoku.planning.count.quick_search", lambda *_, **__: None)


def _uncompiled_expand(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_expand(shape, settings, not_compiled))


def _uncompiled_run(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_run(shape, settings, not_compiled))


def _uncompiled_minimise(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_minimise(shape, settings, not_compiled))


def _uncompiled_placements(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_placements(shape, settings, not_compiled))


def not_compiled(function):  # type: ignore[no-untyped-def]
    """Return a function unchanged, in place of Numba's ``jit``."""
    return function
