"""An immutable board: clues and geometry, and what follows from them without any search.

In every candidate mask of this project bit d - 1 is set while digit d is still possible. The
arrays named ``used_*`` are the one exception: there it is set when d already stands in the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import write_cells
from gpusudoku.errors import InputError


class Conflict(NamedTuple):
    """Two clues of the same digit in one unit."""

    first: int
    second: int
    digit: int

    def describe(self, geometry: Geometry) -> str:
        """``r1c1 and r1c5 both hold 7``."""
        first, second = geometry.cell_name(self.first), geometry.cell_name(self.second)
        return f"{first} and {second} both hold {self.digit}"


class Board:
    """Clues on a grid.

    Parameters
    ----------
    cells
        n * n integers, row by row in any shape: 0 for an empty cell, else a digit 1 .. n.
    geometry
        The box shape; guessed from the number of cells if not given.

    Raises
    ------
    InputError
        If the number of cells is no square, does not fit the geometry, or a digit is out of range.
        Clues that contradict each other are no error: such a board has no solution.
    """

    def __init__(self, cells: ArrayLike, geometry: Geometry | None = None) -> None:
        values = np.asarray(cells).ravel()
        if values.size and values.dtype.kind not in "iu":
            raise InputError("cells must be integers")
        if geometry is None:
            n = int(values.size**0.5)
            if n * n != values.size:
                raise InputError(f"{values.size} cells do not make a square board")
            geometry = Geometry.of_size(n)
        if values.size != geometry.cells:
            raise InputError(
                f"{values.size} cells, but boxes of {geometry} make a board of {geometry.cells}"
            )
        wrong = np.flatnonzero((values < 0) | (values > geometry.n))
        if wrong.size:
            cell = int(wrong[0])
            raise InputError(
                f"{geometry.cell_name(cell)} holds {values[cell]}:"
                f" digits run from 1 to {geometry.n}"
            )
        self._geometry = geometry
        self._cells: NDArray[np.uint8] = values.astype(np.uint8)
        self._cells.setflags(write=False)

    @classmethod
    def empty(cls, geometry: Geometry) -> Board:
        """The board without any clue."""
        return cls(np.zeros(geometry.cells, np.uint8), geometry)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        return self.geometry == other.geometry and self.cells.tobytes() == other.cells.tobytes()

    def __hash__(self) -> int:
        return hash((self.geometry, self.cells.tobytes()))

    def __str__(self) -> str:
        return write_cells(self.cells)

    def __repr__(self) -> str:
        return f"parse({str(self)!r}, box={str(self.geometry)!r})"

    @property
    def geometry(self) -> Geometry:
        """The box shape."""
        return self._geometry

    @property
    def cells(self) -> NDArray[np.uint8]:
        """uint8 (n * n), read-only: 0 for an empty cell, else the digit."""
        return self._cells

    @property
    def n(self) -> int:
        """Number of digits."""
        return self.geometry.n

    @property
    def grid(self) -> NDArray[np.uint8]:
        """uint8 (n, n), read-only view of the cells."""
        return self.cells.reshape(self.n, self.n)

    @cached_property
    def clues(self) -> int:
        """Number of filled cells."""
        return int(np.count_nonzero(self.cells))

    @property
    def empty_cells(self) -> int:
        """Number of empty cells."""
        return self.geometry.cells - self.clues

    @property
    def filling_factor(self) -> float:
        """Filled cells as a share of all cells, from 0 to 1."""
        return self.clues / self.geometry.cells

    @cached_property
    def used(self) -> NDArray[np.uint64]:
        """uint64 (3n): the digits that stand in every unit, as masks (rows, columns, boxes)."""
        masks = np.zeros(3 * self.n, np.uint64)
        filled = np.flatnonzero(self.cells)
        bits = np.uint64(1) << (self.cells[filled].astype(np.uint64) - np.uint64(1))
        for kind in range(3):
            np.bitwise_or.at(masks, self.geometry.unit_of[filled, kind], bits)
        masks.setflags(write=False)
        return masks

    @cached_property
    def candidates(self) -> NDArray[np.uint64]:
        """uint64 (n * n): per cell the mask of digits in none of its units; 0 in filled cells."""
        full = np.uint64((1 << self.n) - 1)
        used = np.bitwise_or.reduce(self.used[self.geometry.unit_of], axis=1)
        masks: NDArray[np.uint64] = np.where(self.cells == 0, full & ~used, np.uint64(0))
        masks.setflags(write=False)
        return masks

    @property
    def candidate_counts(self) -> NDArray[np.int64]:
        """int64 (n * n): how many candidates every cell has; 0 in filled cells."""
        return np.bitwise_count(self.candidates).astype(np.int64)

    @cached_property
    def search_space(self) -> int:
        """The product of the candidate counts of all empty cells, exact (1 for a full board)."""
        return prod(self.candidate_counts[self.cells == 0].tolist())

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """All pairs of equal clues that share a unit, in ascending order of cells."""
        found = []
        for first in np.flatnonzero(self.cells):
            for second in self.geometry.peers[first]:
                if second > first and self.cells[second] == self.cells[first]:
                    found.append(Conflict(int(first), int(second), int(self.cells[first])))
        return tuple(found)

    @property
    def is_full(self) -> bool:
        """Whether no cell is empty (which says nothing of conflicts)."""
        return self.empty_cells == 0

    def transposed(self) -> Board:
        """The board mirrored at its main diagonal; boxes of R x C become C x R."""
        return Board(self.grid.T, self.geometry.transposed)

    def relabelled(self, digits: Sequence[int] | Iterable[int]) -> Board:
        """The board with digit d replaced by the d-th of ``digits``, a permutation of 1 .. n.

        Raises
        ------
        InputError
            If ``digits`` is no permutation of 1 .. n.
        """
        new = list(digits)
        if sorted(new) != list(range(1, self.n + 1)):
            raise InputError(f"a relabelling must be a permutation of 1 .. {self.n}")
        return Board(np.array([0, *new], np.uint8)[self.cells], self.geometry)
