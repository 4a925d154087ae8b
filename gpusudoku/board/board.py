"""An immutable board: clues and geometry, and what follows from them without any search.

In every candidate mask of this project bit d - 1 is set while digit d is still possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import write_candidates, write_cells
from gpusudoku.errors import InputError


class Conflict(NamedTuple):
    """Two clues of the same digit in one unit: their cells and the digit."""

    first: int
    second: int
    digit: int

    def describe(self, geometry: Geometry) -> str:
        """The conflict in words: ``r1c1 and r1c5 both hold 7``."""
        first, second = geometry.cell_name(self.first), geometry.cell_name(self.second)
        return f"{first} and {second} both hold {self.digit}"


class Board:
    """Clues on a grid and, if need be, the candidates that are given for its cells.

    Parameters
    ----------
    cells
        n * n integers, row by row in any shape: 0 for an empty cell, else a digit 1 .. n.
    geometry
        The box shape; guessed from the number of cells if not given.
    candidates
        n * n masks of the digits that are allowed in the cells, in any shape: bit d - 1 stands for
        digit d. If not given, every digit is allowed everywhere.

    Raises
    ------
    InputError
        If the number of cells is no square, does not fit the geometry, or a digit is out of range.
        Clues that contradict each other are no error: such a board has no solution.
        If there is not one mask for every cell, a mask has bits beyond digit n, or that of a filled
        cell excludes its digit. An empty cell without any candidate is no error: again, such a
        board has no solution.
    """

    def __init__(
        self,
        cells: ArrayLike,
        geometry: Geometry | None = None,
        *,
        candidates: ArrayLike | None = None,
    ) -> None:
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
        self._given = None if candidates is None else self._checked(candidates)

    def _checked(self, candidates: ArrayLike) -> NDArray[np.uint64]:
        """Check given candidates; returns uint64 (n * n), in filled cells the digit alone."""
        values = np.asarray(candidates).ravel()
        if values.dtype.kind == "f":  # NumPy rounds a list with integers below and above 2^63
            values = np.asarray(candidates, object).ravel()
        if values.dtype.kind not in "iu" and not all(type(value) is int for value in values):
            raise InputError("candidates must be integers")
        if values.size != self.geometry.cells:
            raise InputError(
                f"candidates for {values.size} cells, but the board has {self.geometry.cells}"
            )
        wrong = np.flatnonzero((values < 0) | (values > (1 << self.n) - 1))
        if wrong.size:
            cell = int(wrong[0])
            raise InputError(
                f"{self.geometry.cell_name(cell)} has the candidates {int(values[cell]):#x}:"
                f" only the lowest {self.n} bits stand for digits"
            )
        masks = values.astype(np.uint64)
        digits = _masks_of(self.cells)
        excluded = np.flatnonzero(digits & ~masks)
        if excluded.size:
            cell = int(excluded[0])
            raise InputError(
                f"{self.geometry.cell_name(cell)} holds {self.cells[cell]},"
                " which is not among its candidates"
            )
        masks = np.where(self.cells > 0, digits, masks)
        masks.setflags(write=False)
        return masks

    @classmethod
    def empty(cls, geometry: Geometry) -> Board:
        """The board without any clue."""
        return cls(np.zeros(geometry.cells, np.uint8), geometry)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Geometry, bytes, bytes | None]:
        """Everything that makes two boards equal."""
        given = None if self._given is None else self._given.tobytes()
        return self.geometry, self.cells.tobytes(), given

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array forgets that it is read-only: the board is made anew.
        return partial(Board, candidates=self._given), (self.cells, self.geometry)

    def __str__(self) -> str:
        """The canonical line; with given candidates those of every cell, which is not read back."""
        if self._given is None:
            return write_cells(self.cells)
        return write_candidates(self._given, self.n)

    def __repr__(self) -> str:
        if self._given is None:
            return f"parse({str(self)!r}, box={str(self.geometry)!r})"
        return f"<board with candidates {self}, box={self.geometry}>"

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
        """The share of filled cells among all cells, from 0 to 1."""
        return self.clues / self.geometry.cells

    @property
    def given_candidates(self) -> NDArray[np.uint64] | None:
        """uint64 (n * n), read-only: the masks that were given; None if none were.

        The mask of a filled cell is that of its digit alone.
        """
        return self._given

    @cached_property
    def candidates(self) -> NDArray[np.uint64]:
        """uint64 (n * n), read-only: per cell the mask of allowed digits; 0 in filled cells.

        Digits are allowed that stand in none of the cell's units, and that are among its given
        candidates, if there are any.
        """
        digits = _masks_of(self.cells)
        used = np.bitwise_or.reduce(digits[self.geometry.units], axis=1)
        taken = np.bitwise_or.reduce(used[self.geometry.unit_of], axis=1)
        allowed = np.uint64((1 << self.n) - 1) if self._given is None else self._given
        masks: NDArray[np.uint64] = np.where(self.cells == 0, allowed & ~taken, np.uint64(0))
        masks.setflags(write=False)
        return masks

    @property
    def candidate_counts(self) -> NDArray[np.int64]:
        """int64 (n * n): the number of candidates of every cell; 0 in filled cells."""
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
        """Whether no cell is empty; there may be conflicts."""
        return self.empty_cells == 0

    def transposed(self) -> Board:
        """The board mirrored at its main diagonal; boxes of R x C become C x R."""
        given = None if self._given is None else self._given.reshape(self.n, self.n).T
        return Board(self.grid.T, self.geometry.transposed, candidates=given)

    def relabelled(self, digits: Iterable[int]) -> Board:
        """The board with digit d replaced by the d-th of ``digits``, a permutation of 1 .. n.

        Raises
        ------
        InputError
            If ``digits`` is no permutation of 1 .. n.
        """
        new = list(digits)
        if sorted(new) != list(range(1, self.n + 1)):
            raise InputError(f"a relabelling must be a permutation of 1 .. {self.n}")
        given = None
        if self._given is not None:
            bits = self._given[:, None] >> np.arange(self.n, dtype=np.uint64) & np.uint64(1)
            given = np.bitwise_or.reduce(bits << (np.array(new, np.uint64) - np.uint64(1)), axis=1)
        cells = np.array([0, *new], np.uint8)[self.cells]
        return Board(cells, self.geometry, candidates=given)


def single_digits(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The digits of masks that have one bit, 0 for others; uint8, of the shape of the masks."""
    # A mask of one bit, less 1, has all bits below.
    digits = np.bitwise_count(masks - np.uint64(1)) + 1
    return np.where(np.bitwise_count(masks) == 1, digits, 0).astype(np.uint8)


def _masks_of(cells: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """uint64 (n * n): the mask of every filled cell's digit alone, 0 for an empty cell."""
    bits = np.uint64(1) << (np.maximum(cells, 1).astype(np.uint64) - np.uint64(1))
    return np.where(cells > 0, bits, np.uint64(0))
