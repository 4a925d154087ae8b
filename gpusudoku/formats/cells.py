"""Boards made of rows of cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.rows import Row
from gpusudoku.formats.source import FormatError
from gpusudoku.formats.symbols import CHARACTERS, character_values, is_blank, number_values


def board_of(rows: Sequence[Row], width: int, geometry: Geometry) -> Board:
    """Make a board from the cells of the rows, ``width`` in each.

    Raises
    ------
    FormatError
        If a symbol is unknown, or its digit is out of range, or some cells are empty because
        nothing stands there, and others by a sign.
    """
    cells = [cell for row in rows for cell in row.cells(width)]
    text = b"".join(cells)
    # Separated numbers may all have one figure, but none of them is a letter.
    separated = any(row.separated(width) for row in rows)
    letters = text.upper() != text.lower()
    if 1 < geometry.n <= 9 and not text.lower().strip(b"x123456789"):
        letters = False  # each x is an empty cell
    numbers = len(text) > len(cells) or (separated and not letters)
    if not numbers and geometry.n > len(DIGITS):
        raise FormatError(
            f"characters stand for at most {len(DIGITS)} digits, "
            f"expected numbers from 0 to {geometry.n}, separated by commas or blanks",
            rows[0].line,
        )
    _check_signs(rows, cells, width)
    n = geometry.n
    values = number_values(cells, n) if numbers else character_values(text, n)
    try:
        return Board(values, geometry)
    except InputError:
        for row in rows:
            row.check_characters()
        index = int(np.flatnonzero(values > n)[0])
        row = rows[index // width]
        symbol = cells[index]
        expected = (
            f"expected a number from 0 to {n}"
            if numbers
            else f"which is digit {CHARACTERS[symbol[0]]}, expected 1 to {n}"
        )
        raise FormatError(
            f"{geometry.cell_name(index)} holds {shown(symbol)}, {expected}",
            row.line,
            row.column_of_cell(index % width, width),
        ) from None


def _check_signs(rows: Sequence[Row], cells: Sequence[bytes], width: int) -> None:
    """Refuse signs for empty cells beside cells where nothing stands: some may have been lost."""
    filled = [row for row in rows if row.filled]
    if not filled:
        return
    empty = sum(row.filled - (row.ends_in_gap and len(row.tokens) != width) for row in filled)
    if sum(map(is_blank, cells)) > empty > 0:
        raise FormatError(
            "a cell without anything, and other cells with a sign for empty", filled[0].line
        )
