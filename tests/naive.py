"""The naive reference implementation: slow and obviously right. Tests compare all others to it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry


def count(board: Board, limit: int | None = None) -> int:
    """Return the number of solutions, or ``limit`` as soon as that many are found."""
    return sum(1 for _ in islice(solutions(board), limit))


def solutions(board: Board) -> Iterator[tuple[int, ...]]:
    """Yield every solution of a board, as its cells row by row, in ascending order."""
    cells = board.cells.tolist()
    if not _are_clues_consistent(cells, board.geometry):
        return
    for solution in _fill(cells, board.geometry):
        if _has_candidates(board, solution):
            yield solution


def _are_clues_consistent(cells: list[int], geometry: Geometry) -> bool:
    """Return whether no unit has a clue twice."""
    # The digits of a cell's units include the cell itself once for its row, column and box.
    return all(
        _digits_of_units(cells, cell, geometry).count(digit) == 3
        for cell, digit in enumerate(cells)
        if digit
    )


def _has_candidates(board: Board, solution: tuple[int, ...]) -> bool:
    """Return whether each digit of a solution is among the candidates of the board, if given."""
    masks = board.given_candidates
    if masks is None:
        return True
    return all(int(mask) >> digit - 1 & 1 for mask, digit in zip(masks, solution, strict=True))


def _fill(cells: list[int], geometry: Geometry) -> Iterator[tuple[int, ...]]:
    """Fill the first empty cell with each possible digit, and then the other cells recursively."""
    if 0 not in cells:
        yield tuple(cells)
        return
    cell = cells.index(0)
    peer_digits = _digits_of_units(cells, cell, geometry)
    for digit in range(1, geometry.n + 1):
        if digit not in peer_digits:
            cells[cell] = digit
            yield from _fill(cells, geometry)
    cells[cell] = 0


def _digits_of_units(cells: list[int], cell: int, geometry: Geometry) -> list[int]:
    """Return the contents of the row, the column and the box of a cell, the cell included."""
    n = geometry.n
    height = geometry.box_rows
    width = geometry.box_columns
    row, column = divmod(cell, n)
    top = row - row % height
    left_column = column - column % width

    in_row = cells[row * n : (row + 1) * n]
    in_column = cells[column::n]
    in_box = []
    for box_row in range(top, top + height):
        start = box_row * n + left_column
        in_box += cells[start : start + width]
    return in_row + in_column + in_box
