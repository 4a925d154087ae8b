"""The naive oracle: slow and obviously right. Every faster counter is held against it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry


def count(board: Board, limit: int | None = None) -> int:
    """The number of solutions, or ``limit`` as soon as that many are found."""
    return sum(1 for _ in islice(solutions(board), limit))


def solutions(board: Board) -> Iterator[tuple[int, ...]]:
    """Every solution of a board of any geometry, as its cells row by row, in ascending order."""
    cells = board.cells.tolist()
    # A clue is seen three times if its row, its column and its box each hold it only once.
    if all(_seen(cells, i, board.geometry).count(d) == 3 for i, d in enumerate(cells) if d):
        masks = board.given_candidates
        for found in _filled(cells, board.geometry):
            if masks is None or all(
                int(mask) >> d - 1 & 1 for mask, d in zip(masks, found, strict=True)
            ):
                yield found


def _filled(cells: list[int], geometry: Geometry) -> Iterator[tuple[int, ...]]:
    """Fill the first empty cell with every digit it does not see, then the rest alike."""
    if 0 not in cells:
        yield tuple(cells)
        return
    cell = cells.index(0)
    seen = _seen(cells, cell, geometry)
    for digit in range(1, geometry.n + 1):
        if digit not in seen:
            cells[cell] = digit
            yield from _filled(cells, geometry)
    cells[cell] = 0


def _seen(cells: list[int], cell: int, geometry: Geometry) -> list[int]:
    """What stands in the row, in the column and in the box of a cell, the cell itself included."""
    n = geometry.n
    height = geometry.box_rows
    width = geometry.box_columns
    row, column = divmod(cell, n)
    top = row - row % height
    left = column - column % width
    in_row = cells[row * n : (row + 1) * n]
    in_column = cells[column::n]
    in_box = [cells[r * n + left + k] for r in range(top, top + height) for k in range(width)]
    return in_row + in_column + in_box
