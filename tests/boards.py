"""Random boards, and packed boards read back with plain Python.

Kernels are compiled anew for every shape of box, set of techniques and strategy, which takes
seconds; tests keep to few of each, and try other techniques with ``uncompiled`` kernels.
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
"""Boxes of the boards that the compiled search is tried on; the widest, 8x8, has its own tests."""

CLUES = {"2x2": 3, "1x4": 3, "1x5": 6, "2x3": 9, "3x2": 9, "3x3": 33, "2x5": 48, "4x4": 158}
"""Clues that leave so few solutions that the oracle is quick."""

LINE_4X4 = "1....2....3....."
"""A board of 4x4 cells with six solutions."""
UNIQUE = "123434122143432."
SEVERAL = "." * 16
NONE = "11" + "." * 14
"""Such boards with one solution, with 288 and with none."""
PUZZLE = "8..2.3..6.5.7....9..4...1..79..5...4...8.6...1...7..95..3...2..5....7.6.4..6.9..1"
"""A board of 9x9 cells with one solution."""


def shape_of(geometry: Geometry) -> Shape:
    return Shape(geometry.box_rows, geometry.box_columns)


def pattern(geometry: Geometry) -> NDArray[np.int64]:
    """A full grid without conflicts: every row is the one above, shifted."""
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)
    shift = row % geometry.box_rows * geometry.box_columns + row // geometry.box_rows
    return ((shift + column) % geometry.n + 1).reshape(geometry.n, geometry.n)


def full_grid(geometry: Geometry, seed: int) -> NDArray[np.int64]:
    """The pattern with its digits, bands, stacks and the lines in them shuffled."""
    rng = np.random.default_rng(seed)

    def shuffled(groups: int, size: int) -> NDArray[np.int64]:
        return np.concatenate([g * size + rng.permutation(size) for g in rng.permutation(groups)])

    rows = shuffled(geometry.box_columns, geometry.box_rows)
    columns = shuffled(geometry.box_rows, geometry.box_columns)
    digits = np.concatenate([[0], 1 + rng.permutation(geometry.n)])
    return digits[pattern(geometry)[rows][:, columns]]


def puzzle(geometry: Geometry | str, clues: int, seed: int) -> Board:
    """A board with at least one solution: a full grid of which some cells are kept."""
    geometry = Geometry.parse(geometry) if isinstance(geometry, str) else geometry
    cells = full_grid(geometry, seed).ravel()
    removed = np.random.default_rng(seed + 1).permutation(geometry.cells)[clues:]
    cells[removed] = 0
    return Board(cells, geometry)


def spoilt(board: Board, seed: int) -> Board:
    """The board with one clue changed to another digit: often without any solution."""
    if board.n == 1:
        return board
    rng = np.random.default_rng(seed)
    cells = board.cells.astype(np.int64)
    cell = rng.choice(np.flatnonzero(cells))
    cells[cell] = (cells[cell] - 1 + rng.integers(1, board.n)) % board.n + 1
    return Board(cells, board.geometry)


def unpacked(shape: Shape, packed: NDArray[Any]) -> list[set[int]]:
    """The candidates of every cell of a packed board, as digits from 1."""
    words = [int(word) for word in packed]
    cells = []
    for row, column in np.ndindex(shape.n, shape.n):
        band, k = divmod(row, shape.box_rows)
        group, field = divmod(band, shape.bands)
        word = k * shape.groups + group
        bit = field * shape.field + column
        planes = [words[d * shape.plane_words + word] for d in range(shape.n)]
        cells.append({d + 1 for d, plane in enumerate(planes) if plane >> bit & 1})
    return cells


def search_space(shape: Shape, packed: NDArray[Any]) -> int:
    """The product of the candidate counts of all cells of a packed board."""
    return prod(len(candidates) for candidates in unpacked(shape, packed))


def searched(
    boards: Batch | Sequence[Board], engine: Engine, options: Options | None = None, **run: Any
) -> Outcome[SearchStats]:
    """Search boards together: their counts, and what was done."""
    return SearchPlan(Frontier.of(boards), options or Options()).run(engine, **run)


def streamed(board: Board, **options: Any) -> list[tuple[int, ...]]:
    """The solutions of a board as a search finds them."""
    with closing(Stream(board, Options(**options))) as stream:
        return [tuple(row) for block in stream for row in block.tolist()]


class Uncompiled:
    """Takes the place of a ``Kernel``: the function as it is written, at once."""

    name, seconds, kept = "", 0.0, True

    def __init__(self, python: Callable[..., Any]) -> None:
        self._python = python

    def __call__(self, *arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # compiled words overflow silently
            return self._python(*arguments)

    def load(self) -> None:
        """There is nothing to load."""

    def fetch(self) -> bool:
        """Say that it is loaded."""
        return True

    def for_boards(self, count: int) -> Uncompiled:
        """Say that it is loaded, whatever the number of boards."""
        return self


def run_uncompiled(patch: pytest.MonkeyPatch) -> None:
    """Let every search run on kernels that are the plain Python functions they are written as."""
    patch.setattr(cpu, "pack", cache(lambda shape: Uncompiled(build_pack(shape, as_it_is))))
    patch.setattr(cpu, "expand", cache(_uncompiled_expand))
    patch.setattr(cpu, "run", _uncompiled_run)
    patch.setattr(cpu, "minimise", cache(_uncompiled_minimise))
    patch.setattr(cpu, "placements", cache(_uncompiled_placements))
    # A quick search calls its kernel by its address.
    patch.setattr("gpusudoku.planning.count.quick_search", lambda *_, **__: None)


def _uncompiled_expand(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_expand(shape, settings, as_it_is))


def _uncompiled_run(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_run(shape, settings, as_it_is))


def _uncompiled_minimise(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_minimise(shape, settings, as_it_is))


def _uncompiled_placements(shape: Shape, settings: SearchSettings) -> Uncompiled:
    return Uncompiled(build_placements(shape, settings, as_it_is))


def as_it_is(function):  # type: ignore[no-untyped-def]
    """Take the place of the compiler."""
    return function
