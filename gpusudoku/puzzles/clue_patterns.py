"""Sets of cells for clues: symmetries of a board, patterns, and the option ``keep``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError, described, shown
from gpusudoku.formats import parse
from gpusudoku.options import is_integer

SYMMETRIES: dict[str, Callable[[int, Any, Any], tuple[Any, Any]]] = {
    "rotational": lambda end, row, column: (end - row, end - column),
    "quarter-turn": lambda end, row, column: (column, end - row),
    "left-right": lambda end, row, column: (row, end - column),
    "top-bottom": lambda end, row, column: (end - row, column),
    "diagonal": lambda end, row, column: (column, row),
    "antidiagonal": lambda end, row, column: (end - column, end - row),
}
"""The row and column to which each symmetry moves a cell; ``end`` is the last row or column."""
ALL = "all"
"""The name for all symmetries together."""

_EMPTY = ".0_-"
"""The characters of empty cells."""
_MARKS = re.compile(r"[.0_1-9xXoO#-]*")
"""The characters of all cells."""
_BETWEEN = re.compile(r"[\s|+,;]+")
"""Characters that may separate the cells of a pattern."""
_BORDER = re.compile(r"^[-=+|\s]*\+[-=+|\s]*$", re.MULTILINE)
"""A line between boxes."""
_CELL = re.compile(r"r(\d+)c(\d+)", re.IGNORECASE)


def symmetric_units(geometry: Geometry, names: str | Iterable[str]) -> NDArray[np.int64]:
    """Return the units of cells that symmetries exchange: int64 (U, most cells), padded with -1.

    Raises
    ------
    InputError
        If a symmetry is unknown.
    """
    if not isinstance(names, Iterable):
        raise InputError(f"symmetry {described(names)}: expected names, separated by commas")
    if isinstance(names, str):
        names = names.split(",")
    words = [str(name).strip() for name in names]
    for word in words or [""]:  # no names are an error, too
        if word not in (*SYMMETRIES, ALL):
            valid_names = ", ".join([*SYMMETRIES, ALL])
            raise InputError(f"unknown symmetry {shown(word)}: expected {valid_names}")
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)

    # Each unit is identified by its first cell. Cells that a symmetry exchanges get the smaller of
    # their first cells, until nothing changes.
    first_cell = np.arange(geometry.cells)
    previous = np.zeros(0, np.int64)
    while not np.array_equal(first_cell, previous):
        previous = first_cell
        for word in SYMMETRIES if ALL in words else words:
            to_row, to_column = SYMMETRIES[word](geometry.n - 1, row, column)
            moved = to_row * geometry.n + to_column
            first_cell = np.minimum(first_cell, first_cell[moved])
            np.minimum.at(first_cell, moved, first_cell)

    members = [np.flatnonzero(first_cell == cell) for cell in np.unique(first_cell)]
    units = np.full((len(members), max(map(len, members))), -1, np.int64)
    for unit, cells in zip(units, members, strict=True):
        unit[: len(cells)] = cells
    return units


def parse_pattern(pattern: Any, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return the cells of a pattern, bool (cells).

    Parameters
    ----------
    pattern
        One of these:

        - A text, or a ``pathlib.Path`` of a file, with a character for each cell: ``x``, ``o``,
          ``#`` or a digit for a cell of the pattern, ``.``, ``0``, ``_`` or ``-`` for another one.
          Blanks, commas, bars and lines between cells are ignored.
        - Any other text that is a board: its clues are the pattern.
        - A list of such texts, one per row.
        - An array or list of truth values.
    geometry
        The shape of the board; None if the number of cells determines it.

    Raises
    ------
    InputError
        If the pattern has another number of cells than the geometry, or than any square board.
    """
    if isinstance(pattern, Path):
        try:
            pattern = pattern.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{pattern}: cannot be read: {error.strerror}") from None
    if isinstance(pattern, list | tuple) and all(isinstance(row, str) for row in pattern):
        pattern = "".join(pattern)
    if isinstance(pattern, str):
        return _parse_text(pattern, geometry)
    if isinstance(pattern, list | tuple | np.ndarray):
        cells = np.asarray(pattern).astype(np.bool_).ravel()
        return _check_size(cells, geometry)
    raise InputError(f"pattern {described(pattern)}: expected a text, a path or truth values")


def _parse_text(pattern: str, geometry: Geometry | None) -> NDArray[np.bool_]:
    """Return the cells of a pattern that is a text; see ``parse_pattern``."""
    text = _BETWEEN.sub("", _BORDER.sub("", pattern))
    are_marks = _MARKS.fullmatch(text) is not None
    marked_cells = np.array([character not in _EMPTY for character in text], np.bool_)
    if geometry is None:
        has_valid_size = Geometry.of_cells(len(text)) is not None
    else:
        has_valid_size = len(text) == geometry.cells
    if are_marks and has_valid_size:
        return marked_cells
    try:
        return _check_size(parse(pattern, geometry).cells > 0, geometry)
    except InputError:
        if are_marks:  # a pattern of the wrong size: that is the error to report
            return _check_size(marked_cells, geometry)
        raise InputError(
            f"pattern {shown(pattern)}: neither a pattern, with x for a clue and . for none, nor a"
            " board"
        ) from None


def _check_size(cells: NDArray[np.bool_], geometry: Geometry | None) -> NDArray[np.bool_]:
    """Return the cells of a pattern; raise an InputError if their number is wrong."""
    if geometry is None and Geometry.of_cells(len(cells)) is None:
        raise InputError(f"a pattern of {len(cells)} cells, expected those of a square board")
    if geometry is not None and len(cells) != geometry.cells:
        raise InputError(f"a pattern of {len(cells)} cells, expected {geometry.cells}")
    return cells


def parse_keep(keep: str | Iterable[int], geometry: Geometry) -> NDArray[np.bool_]:
    """Return the cells whose clues must not be removed, bool (cells).

    ``keep`` contains their numbers, row by row from 0, or is a text such as ``r1c9,r5c5``, or the
    text of a pattern.

    Raises
    ------
    InputError
        If a cell does not exist, or the text is invalid.
    """
    if not isinstance(keep, str):
        numbers = [*keep]
        for cell in numbers:
            if not is_integer(cell) or not 0 <= cell < geometry.cells:
                raise InputError(
                    f"keep {described(cell)}: expected cells from 0 to {geometry.cells - 1}"
                )
        return np.isin(np.arange(geometry.cells), numbers)
    words = keep.replace(",", " ").split()
    if words and not any(map(_CELL.fullmatch, words)):
        try:
            return parse_pattern(keep, geometry)
        except InputError:
            raise InputError(
                f"keep {shown(keep)}: expected cells such as r1c1,r5c5, or a pattern of"
                f" {geometry.cells} cells"
            ) from None
    is_kept = np.zeros((geometry.n, geometry.n), np.bool_)
    for word in words:
        match = _CELL.fullmatch(word)
        if match:
            row = int(match[1])
            column = int(match[2])
        else:
            row = column = 0  # out of range, like a cell outside of the board
        if not (1 <= row <= geometry.n and 1 <= column <= geometry.n):
            corner = f"r{geometry.n}c{geometry.n}"
            raise InputError(f"keep {shown(word)}: expected cells from r1c1 to {corner}")
        is_kept[row - 1, column - 1] = True
    return is_kept.ravel()


def describe_empty_twins(pattern: NDArray[np.bool_], geometry: Geometry) -> str | None:
    """Name two empty lines that rule out a puzzle with this pattern; None if there are none.

    Two empty rows of a band can be exchanged in any solution, which gives a second one. So can two
    empty columns of a stack. If boxes have one row, any two rows can be exchanged; the same holds
    for columns.
    """
    n = geometry.n
    grid = pattern.reshape(n, n)
    band_rows = geometry.box_rows if geometry.box_rows > 1 else n
    stack_columns = geometry.box_columns if geometry.box_columns > 1 else n
    for lines, size, word in ((grid, band_rows, "rows"), (grid.T, stack_columns, "columns")):
        for start in range(0, n, size):
            empty_lines = [start + i + 1 for i in range(size) if not lines[start + i].any()]
            if len(empty_lines) > 1:
                return (
                    f"{word} {empty_lines[0]} and {empty_lines[1]} are empty, and could change"
                    " places in any solution"
                )
    return None
