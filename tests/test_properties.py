"""What must not change a count: new names for the digits, and every symmetry of the grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from tests.boards import CLUES, full_grid, run_uncompiled, spoilt

ENGINE = CpuEngine(jobs=1)
SHAPES = ["2x2", "2x3", "3x2", "3x3"]


@st.composite
def boards(draw: st.DrawFn, shapes: list[str] = SHAPES) -> Board:
    """Boards with solutions, and now and then one without."""
    shape = draw(st.sampled_from(shapes))
    geometry = Geometry.parse(shape)
    seed = draw(st.integers(0, 10**6))
    grid = full_grid(geometry, seed).ravel()
    clues = draw(st.integers(CLUES[shape] - 2, CLUES[shape] + 8))
    kept = draw(st.permutations(range(geometry.cells)))[:clues]
    cells = np.zeros(geometry.cells, np.int64)
    cells[kept] = grid[kept]
    board = Board(cells, geometry)
    return spoilt(board, seed) if draw(st.integers(0, 4)) == 0 else board


def counted(board: Board) -> int:
    return count(board, engine=ENGINE).count


def rearranged(board: Board, change: Callable[[NDArray[np.uint8]], NDArray[np.uint8]]) -> Board:
    return Board(change(board.grid), board.geometry)


@given(boards(), st.randoms(use_true_random=False))
def test_digits_relabelled(board: Board, random) -> None:  # type: ignore[no-untyped-def]
    digits = list(range(1, board.n + 1))
    random.shuffle(digits)
    assert counted(board.relabelled(digits)) == counted(board)


@given(boards())
def test_transposed(board: Board) -> None:
    other = board.transposed()
    assert other.geometry == board.geometry.transposed
    assert counted(other) == counted(board)


@given(boards(), st.data())
def test_rows_of_a_band_swapped(board: Board, data: st.DataObject) -> None:
    size = board.geometry.box_rows
    band = data.draw(st.integers(0, board.n // size - 1))
    rows = list(range(board.n))
    part = slice(band * size, band * size + size)
    rows[part] = data.draw(st.permutations(rows[part]))
    assert counted(rearranged(board, lambda grid: grid[rows])) == counted(board)


@given(boards(), st.data())
def test_columns_of_a_stack_swapped(board: Board, data: st.DataObject) -> None:
    size = board.geometry.box_columns
    stack = data.draw(st.integers(0, board.n // size - 1))
    columns = list(range(board.n))
    part = slice(stack * size, stack * size + size)
    columns[part] = data.draw(st.permutations(columns[part]))
    assert counted(rearranged(board, lambda grid: grid[:, columns])) == counted(board)


@given(boards(), st.data())
def test_bands_swapped(board: Board, data: st.DataObject) -> None:
    size = board.geometry.box_rows
    bands = data.draw(st.permutations(range(board.n // size)))
    rows = [band * size + row for band in bands for row in range(size)]
    assert counted(rearranged(board, lambda grid: grid[rows])) == counted(board)


@given(boards(), st.data())
def test_stacks_swapped(board: Board, data: st.DataObject) -> None:
    size = board.geometry.box_columns
    stacks = data.draw(st.permutations(range(board.n // size)))
    columns = [stack * size + column for stack in stacks for column in range(size)]
    assert counted(rearranged(board, lambda grid: grid[:, columns])) == counted(board)


@given(boards(["2x2", "2x3"]))
def test_more_techniques(board: Board) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if board.n == 4:  # compiled for one shape only
            run_uncompiled(patch)
        more = count(board, engine=ENGINE, propagate="all").count
    assert more == counted(board)


@given(boards(["2x2", "2x3", "3x2"]), st.data())
def test_one_cell_tried_with_every_digit(board: Board, data: st.DataObject) -> None:
    """The counts of a board with a cell filled in every way add up to that of the board."""
    cell = data.draw(st.integers(0, board.geometry.cells - 1))
    if board.cells[cell]:
        return
    total = 0
    for digit in range(1, board.n + 1):
        cells = board.cells.copy()
        cells[cell] = digit
        total += counted(Board(cells, board.geometry))
    assert total == counted(board)
