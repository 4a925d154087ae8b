"""The cells that have clues: symmetries of a board, and patterns of cells."""

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
"""The name of all of them together."""

_EMPTY = ".0_-"
_MARKS = re.compile(r"[.0_1-9xXoO#-]*")
"""The characters of cells."""
_BETWEEN = re.compile(r"[\s|+,;]+")
"""What may separate the cells of a pattern."""
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
    words = [str(w).strip() for w in (names.split(",") if isinstance(names, str) else names)]
    for word in words or [""]:
        if word not in (*SYMMETRIES, ALL):
            names_in_words = ", ".join([*SYMMETRIES, ALL])
            raise InputError(f"unknown symmetry {shown(word)}: expected {names_in_words}")
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)
    # The first cell of each cell's unit, as known so far: repeated until nothing changes.
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


def pattern_of(pattern: Any, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return the cells of a pattern, bool (cells).

    A pattern is a text, or a ``pathlib.Path`` of a file, with a character for each cell: ``x``,
    ``o``, ``#`` or a digit for those that are in it, ``.``, ``0``, ``_`` or ``-`` for the others;
    blanks, commas, bars and lines between cells do not count. Any other text is read as a
    board, whose clues are the pattern. A list of texts has the rows. Or it is an array or list of
    truth values.

    Raises
    ------
    InputError
        If it has not as many cells as the geometry, or as any square board.
    """
    if isinstance(pattern, Path):
        try:
            pattern = pattern.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{pattern}: cannot be read: {error.strerror}") from None
    if isinstance(pattern, list | tuple) and all(isinstance(row, str) for row in pattern):
        pattern = "".join(pattern)
    if isinstance(pattern, str):
        text = _BETWEEN.sub("", _BORDER.sub("", pattern))
        are_marks = _MARKS.fullmatch(text) is not None
        cells = np.array([character not in _EMPTY for character in text], np.bool_)
        fits = Geometry.of_cells(len(text)) if geometry is None else len(text) == geometry.cells
        if not (are_marks and fits):
            try:
                cells = parse(pattern, geometry).cells > 0
            except InputError:
                if are_marks:
                    return _of_geometry(cells, geometry)
                raise InputError(
                    f"pattern {shown(pattern)}: neither a pattern, with x for a clue and . for"
                    " none, nor a board"
                ) from None
    elif isinstance(pattern, list | tuple | np.ndarray):
        cells = np.asarray(pattern).astype(np.bool_).ravel()
    else:
        raise InputError(f"pattern {described(pattern)}: expected a text, a path or truth values")
    return _of_geometry(cells, geometry)


def _of_geometry(cells: NDArray[np.bool_], geometry: Geometry | None) -> NDArray[np.bool_]:
    """Return the cells of a pattern; an InputError if they are not as many as there should be."""
    if geometry is None and Geometry.of_cells(len(cells)) is None:
        raise InputError(f"a pattern of {len(cells)} cells, expected those of a square board")
    if geometry is not None and len(cells) != geometry.cells:
        raise InputError(f"a pattern of {len(cells)} cells, expected {geometry.cells}")
    return cells


def kept_cells(keep: str | Iterable[int], geometry: Geometry) -> NDArray[np.bool_]:
    """Return the cells whose clues must stay, bool (cells).

    ``keep`` has their numbers, row by row from 0; or is a text such as ``r1c9,r5c5``, or a pattern.

    Raises
    ------
    InputError
        If there is no such cell.
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
            return pattern_of(keep, geometry)
        except InputError:
            raise InputError(
                f"keep {shown(keep)}: expected cells such as r1c1,r5c5, or a pattern of"
                f" {geometry.cells} cells"
            ) from None
    is_kept = np.zeros((geometry.n, geometry.n), np.bool_)
    for word in words:
        match = _CELL.fullmatch(word)
        row, column = (int(match[1]), int(match[2])) if match else (0, 0)
        if not (1 <= row <= geometry.n and 1 <= column <= geometry.n):
            corner = f"r{geometry.n}c{geometry.n}"
            raise InputError(f"keep {shown(word)}: expected cells from r1c1 to {corner}")
        is_kept[row - 1, column - 1] = True
    return is_kept.ravel()


def twin_of(pattern: NDArray[np.bool_], geometry: Geometry) -> str | None:
    """Say why no puzzle has clues in exactly these cells, if two empty lines show it; else None.

    Two empty rows of a band can be exchanged in any solution, and so can two empty columns of a
    stack. If boxes have one row, any two rows can be exchanged.
    """
    n = geometry.n
    grid = pattern.reshape(n, n)
    band = geometry.box_rows if geometry.box_rows > 1 else n
    stack = geometry.box_columns if geometry.box_columns > 1 else n
    for lines, size, word in ((grid, band, "rows"), (grid.T, stack, "columns")):
        for start in range(0, n, size):
            empty = [start + i + 1 for i in range(size) if not lines[start + i].any()]
            if len(empty) > 1:
                return (
                    f"{word} {empty[0]} and {empty[1]} are empty, and could change places in any"
                    " solution"
                )
    return None
