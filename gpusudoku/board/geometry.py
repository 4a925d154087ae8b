"""The shape of a board: boxes of R rows by C columns, n = R * C digits, n x n cells.

Cells are numbered 0 .. n*n-1, row by row. Row, column and box i of a board are its units
i, n + i and 2n + i. Box numbers run row by row too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isqrt
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import Hint, InputError, described, shown
from gpusudoku.jobs.forks import cached_property

MAX_DIGITS = 64
"""The maximum number of digits of a board: a set of digits is a 64-bit mask."""


@dataclass(frozen=True, order=True)
class Geometry:
    """Boxes of ``box_rows`` rows by ``box_columns`` columns.

    Raises
    ------
    InputError
        If a side is below 1 or the board would have more than 64 digits.
    """

    box_rows: int
    box_columns: int

    def __post_init__(self) -> None:
        for side in (self.box_rows, self.box_columns):
            if not isinstance(side, Integral) or isinstance(side, bool):
                raise InputError(f"box side {described(side)}: expected an integer")
            if int(side).bit_length() > 64:  # too long for a message
                raise InputError(f"box side {described(side)}: at most {MAX_DIGITS} digits")
        if self.box_rows < 1 or self.box_columns < 1:
            raise InputError(f"box {self}: both sides must be at least 1")
        if self.n > MAX_DIGITS:
            raise InputError(f"box {self}: {self.n} digits, at most {MAX_DIGITS} are supported")

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the tables: pickled arrays lose their read-only flag.
        return Geometry, (self.box_rows, self.box_columns)

    def __str__(self) -> str:
        return f"{self.box_rows}x{self.box_columns}"

    @property
    def n(self) -> int:
        """Number of digits, which is also the number of rows, of columns and of boxes."""
        return self.box_rows * self.box_columns

    @property
    def cells(self) -> int:
        """Number of cells, n * n."""
        return self.n * self.n

    @property
    def all_digits(self) -> np.uint64:
        """The mask of all digits, bit d - 1 for digit d."""
        mask: np.uint64 = np.uint64((1 << self.n) - 1)
        return mask

    @property
    def transposed(self) -> Geometry:
        """The geometry of the board mirrored at its main diagonal."""
        return Geometry(self.box_columns, self.box_rows)

    @cached_property
    def unit_of(self) -> NDArray[np.int64]:
        """int64 (cells, 3): the row unit, column unit and box unit of every cell."""
        row, column = np.divmod(np.arange(self.cells), self.n)
        box = row // self.box_rows * self.box_rows + column // self.box_columns
        return _read_only(np.stack([row, self.n + column, 2 * self.n + box], axis=1))

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """int64 (3n, n): the cells of every unit, in ascending order."""
        # Sorting the cells by unit puts the n cells of each unit next to each other.
        order = np.argsort(self.unit_of.T, axis=1, kind="stable")
        return _read_only(order.reshape(3 * self.n, self.n))

    @cached_property
    def peers(self) -> tuple[NDArray[np.int64], ...]:
        """For every cell the other cells that share a unit with it, in ascending order."""
        return tuple(
            _read_only(np.setdiff1d(self.units[self.unit_of[cell]], cell))
            for cell in range(self.cells)
        )

    def cell_name(self, cell: int) -> str:
        """Name a cell: ``r1c1`` for cell 0."""
        return f"r{cell // self.n + 1}c{cell % self.n + 1}"

    @classmethod
    def of_size(cls, n: int) -> Geometry:
        """Guess the box of an n x n board: R <= C, as square as possible, R >= 2 unless n = 1.

        Raises
        ------
        InputError
            If n is out of range or has no such box (a prime number, for example).
        """
        if not 1 <= n <= MAX_DIGITS:
            raise InputError(f"a board of {n} rows: from 1 to {MAX_DIGITS} are supported")
        if n == 1:
            return cls(1, 1)
        for rows in range(int(n**0.5), 1, -1):
            if n % rows == 0:
                return cls(rows, n // rows)
        raise InputError(
            (
                f"a board of {n} rows has no boxes of at least 2 rows: give the box (",
                Hint("box", f"1x{n}"),
                " is a Latin square)",
            )
        )

    @classmethod
    def of_cells(cls, cells: int) -> Geometry | None:
        """Guess the box shape of a board by its number of cells; None if no box shape fits."""
        n = isqrt(cells)
        try:
            return cls.of_size(n) if n * n == cells else None
        except InputError:
            return None

    @classmethod
    def of(cls, box: Geometry | str | None) -> Geometry | None:
        """Return the geometry of a box shape: of ``RxC``, of a ``Geometry``, or None for None."""
        if box is None or isinstance(box, Geometry):
            return box
        if not isinstance(box, str):
            raise InputError(f"box {described(box)}: expected ROWSxCOLUMNS, such as 3x3")
        return cls.parse(box)

    @classmethod
    def parse(cls, text: str) -> Geometry:
        """Read ``RxC``, rows first.

        Raises
        ------
        InputError
            If the text has another form, or the geometry is out of range.
        """
        match = re.fullmatch(r"\s*(\d{1,3})\s*[xX*]\s*(\d{1,3})\s*", text)
        if match is None:
            raise InputError(f"box {shown(text)}: expected ROWSxCOLUMNS, such as 3x3")
        return cls(int(match[1]), int(match[2]))


NINE = Geometry(3, 3)
FEWEST_CLUES = 17
"""No 9x9 board with fewer clues has exactly one solution (McGuire, Tugemann and Civario, There is
no 16-clue Sudoku, 2014)."""


def is_nine(geometry: Geometry, candidates: NDArray[np.uint64] | None) -> bool:
    """Tell whether boards have 9x9 cells and no given candidates, so that all can be contracted."""
    return geometry == NINE and candidates is None


def _read_only(table: NDArray[np.int64]) -> NDArray[np.int64]:
    table.setflags(write=False)
    return table
