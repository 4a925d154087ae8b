"""An immutable board: clues and geometry, and what can be derived from them without a search.

In all candidates masks of this project, bit d - 1 is set if digit d is possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sized
from functools import partial
from math import isqrt, prod
from numbers import Integral
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpusudoku.board.arrays import host_array
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw, write_candidates, write_cells
from gpusudoku.errors import InputError, described
from gpusudoku.jobs.forks import cached_property


class Conflict(NamedTuple):
    """Two clues of the same digit in one unit: their cells and the digit."""

    first: int
    second: int
    digit: int

    def describe(self, geometry: Geometry) -> str:
        """Describe the conflict in words: ``r1c1 and r1c5 both hold 7``."""
        first_name = geometry.cell_name(self.first)
        second_name = geometry.cell_name(self.second)
        return f"{first_name} and {second_name} both hold {self.digit}"


class Board:
    """Clues on a grid and, optionally, candidates for its cells.

    A board is immutable. ``board[r, c]`` is the digit in a cell, 0 if it is empty, with rows and
    columns from 0. ``board[r]`` is a row, and iterating yields the rows. ``numpy.asarray(board)``
    is the grid. A notebook draws the board.

    Parameters
    ----------
    cells
        n * n integers, row by row in any shape: 0 or None for an empty cell, else a digit 1 .. n.
        An array of any library is accepted.
    geometry
        The box shape; guessed from the number of cells if not given.
    candidates
        n * n masks of the digits that are allowed in the cells, in any shape: bit d - 1 is digit d.
        If not given, every digit is allowed everywhere.

    Raises
    ------
    InputError
        If the number of cells is not a square or does not fit the geometry, or a digit is out of
        range. Contradicting clues are not an error: such a board has no solution.
        If there is not one mask for every cell, a mask has bits beyond digit n, or the mask of a
        filled cell excludes its digit. An empty cell without any candidate is not an error: again,
        such a board has no solution.
    """

    _geometry: Geometry
    _cells: NDArray[np.uint8]
    _masks: NDArray[np.uint64] | None

    def __init__(
        self,
        cells: ArrayLike,
        geometry: Geometry | None = None,
        *,
        candidates: ArrayLike | None = None,
    ) -> None:
        if isinstance(cells, Board | str):
            raise InputError(f"cells are given as a {type(cells).__name__}, expected integers")
        digits, geometry = _digits_of(cells, geometry)
        masks = None if candidates is None else _masks_of(candidates, digits, geometry)
        for array in (digits, masks):
            if array is not None:
                array.setflags(write=False)
        # Assignment to attributes is forbidden, see __setattr__.
        vars(self).update(_geometry=geometry, _cells=digits, _masks=masks)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a board never changes: {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a board never changes: {name} cannot be deleted")

    @classmethod
    def of_digits(cls, cells: NDArray[np.uint8], geometry: Geometry) -> Board:
        """Make a board of cells, uint8 (n * n), without checks. The array must not change later."""
        board = object.__new__(cls)
        cells.setflags(write=False)
        vars(board).update(_geometry=geometry, _cells=cells, _masks=None)
        return board

    @classmethod
    def empty(cls, geometry: Geometry) -> Board:
        """Make the board without any clue."""
        return cls(np.zeros(geometry.cells, np.uint8), geometry)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Geometry, bytes, bytes | None]:
        """The values that are equal for equal boards."""
        masks = None if self._masks is None else self._masks.tobytes()
        return self.geometry, self.cells.tobytes(), masks

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array loses its read-only flag, so unpickling calls the constructor.
        return partial(Board, candidates=self._masks), (self.cells, self.geometry)

    def __len__(self) -> int:
        """Return the number of rows, n."""
        return self.n

    def __getitem__(self, index: Any) -> Any:
        """Return a part of the grid: ``board[r, c]`` is a digit or 0, ``board[r]`` a row."""
        part = self.grid[index]
        return int(part) if isinstance(part, np.integer) else part

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        """Yield the rows of the grid, read-only."""
        return iter(self.grid)

    def __contains__(self, digit: object) -> bool:
        """Tell whether a cell holds the digit; 0 is an empty cell."""
        return digit in self.cells.tolist()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the grid, uint8 (n, n), read-only unless it is copied."""
        return np.array(self.grid, dtype=dtype, copy=copy)

    def __str__(self) -> str:
        """Return the canonical line; for given candidates, those of all cells in braces."""
        if self._masks is None:
            return write_cells(self.cells)
        return write_candidates(self._masks, self.n)

    def __repr__(self) -> str:
        if self._masks is None:
            return f"parse({str(self)!r}, box={str(self.geometry)!r})"
        return f"<board with candidates {self}, box={self.geometry}>"

    def describe(self) -> str:
        """Describe the board in a few words: ``a 9x9 board with 30 clues``."""
        article = "an" if self.n in (8, 11, 18) else "a"  # as they are pronounced
        restricted = "" if self._masks is None else " and given candidates"
        clues = f"{self.clues} clue{'' if self.clues == 1 else 's'}"
        return f"{article} {self.n}x{self.n} board with {clues}{restricted}"

    def _repr_html_(self) -> str:
        caption = "" if self._masks is None else "Given candidates are not drawn."
        return draw(self.geometry, self.cells, caption=caption)

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
        """uint64 (n * n), read-only: the given masks; None if the board has no given candidates.

        The mask of a filled cell has its digit only.
        """
        return self._masks

    @cached_property
    def candidates(self) -> NDArray[np.uint64]:
        """uint64 (n * n), read-only: per cell the mask of allowed digits; 0 in filled cells.

        A digit is allowed if none of the cell's units contains it, and if it is among the given
        candidates of the cell or none are given.
        """
        digits = digit_masks(self.cells)
        # uint64 (3n): the digits in each unit; then, uint64 (n * n), in the units of each cell.
        digits_of_units = np.bitwise_or.reduce(digits[self.geometry.units], axis=1)
        excluded = np.bitwise_or.reduce(digits_of_units[self.geometry.unit_of], axis=1)
        allowed = np.uint64((1 << self.n) - 1) if self._masks is None else self._masks
        masks: NDArray[np.uint64] = np.where(self.cells == 0, allowed & ~excluded, np.uint64(0))
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
        return tuple(
            Conflict(int(cell), int(peer), int(self.cells[cell]))
            for cell in np.flatnonzero(self.cells)
            for peer in self.geometry.peers[cell]
            if peer > cell and self.cells[peer] == self.cells[cell]
        )

    @property
    def is_full(self) -> bool:
        """True if no cell is empty; there may be conflicts."""
        return self.empty_cells == 0

    def transposed(self) -> Board:
        """Return the board mirrored at its main diagonal; boxes of R x C become C x R."""
        masks = None if self._masks is None else self._masks.reshape(self.n, self.n).T
        return Board(self.grid.T, self.geometry.transposed, candidates=masks)

    def relabelled(self, digits: Iterable[int]) -> Board:
        """Return the board with the d-th of ``digits``, a permutation of 1 .. n, for digit d.

        Raises
        ------
        InputError
            If ``digits`` is not a permutation of 1 .. n.
        """
        new_digits = list(digits)
        if sorted(new_digits) != list(range(1, self.n + 1)):
            raise InputError(f"a relabelling must be a permutation of 1 .. {self.n}")
        masks = None
        if self._masks is not None:
            bits = self._masks[:, None] >> np.arange(self.n, dtype=np.uint64) & np.uint64(1)
            # Bit d - 1 of every mask moves to the bit of the new digit.
            new_bits = np.array(new_digits, np.uint64) - np.uint64(1)
            masks = np.bitwise_or.reduce(bits << new_bits, axis=1)
        cells = np.array([0, *new_digits], np.uint8)[self.cells]
        return Board(cells, self.geometry, candidates=masks)


def array_of(cells: ArrayLike) -> NDArray[Any]:
    """Convert cells, such as nested lists, to an array.

    The array has integers or, if values are missing, objects: integers and None.
    """
    cells = host_array(cells)
    if isinstance(cells, list | tuple) and {*map(type, cells)} - {int, list}:
        cells = [host_array(row) for row in cells]  # rows may be arrays of a library, too
    try:
        values = np.asarray(cells)
    except ValueError:
        raise InputError(_describe_uneven_rows(cells)) from None
    except TypeError as error:  # an object that does not become an array
        raise InputError(f"no array of cells: {error}") from None
    if values.ndim == 0:
        raise InputError(f"expected integers for the cells, found {described(cells)}")
    if values.dtype.kind in "iu":
        return values
    values = np.asarray(cells, object)  # NumPy converts mixed types to texts or floats
    objects: NDArray[Any] = np.frompyfunc(_cell_value, 1, 1)(values)
    return objects


def _cell_value(value: object) -> object:
    """Return the value of a cell: None for a missing value, an integer for a whole float."""
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return None if type(value).__name__ == "NAType" else value  # pandas.NA


def _describe_uneven_rows(rows: Any) -> str:
    """Describe the error in rows that NumPy cannot convert to an array."""
    sizes = [len(row) if _is_row(row) else None for row in rows] if _is_row(rows) else []
    most_common = Counter(size for size in sizes if size is not None).most_common(1)
    for number, size in enumerate(sizes, 1):
        if size is None:
            return f"row {number} is not a list of cells"
        if size != most_common[0][0]:
            return f"row {number} has {size} cells, expected {most_common[0][0]}"
    return "expected a list of integers, or of rows of integers"


def _is_row(value: object) -> bool:
    return isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, str)


def name_of(cell: int, cells: int) -> str:
    """Name a cell of a board if only its number of cells is known."""
    n = isqrt(cells)
    return f"r{cell // n + 1}c{cell % n + 1}" if n * n == cells else f"cell {cell + 1}"


def _digits_of(cells: ArrayLike, geometry: Geometry | None) -> tuple[NDArray[np.uint8], Geometry]:
    """Return the digits of a board, uint8 (n * n), 0 for an empty cell, and its geometry."""
    values = array_of(cells).ravel()
    if values.dtype.kind not in "iu":
        digits = [0 if value is None else value for value in values.tolist()]
        for cell, value in enumerate(digits):
            if not isinstance(value, Integral) or isinstance(value, bool):
                raise InputError(
                    f"{name_of(cell, len(digits))} holds {described(value)}: cells must be"
                    " integers, 0 for an empty one"
                )
        values = np.array(digits)
    if geometry is None:
        n = isqrt(values.size)
        if n * n != values.size:
            raise InputError(f"{values.size} cells do not make a square board")
        geometry = Geometry.of_size(n)
    if values.size != geometry.cells:
        raise InputError(
            f"{values.size} cells, but boxes of {geometry} make a board of {geometry.cells}"
        )
    for cell in np.flatnonzero((values < 0) | (values > geometry.n)).tolist():
        raise InputError(
            f"{geometry.cell_name(cell)} holds {values[cell]}: digits run from 1 to {geometry.n}"
        )
    return values.astype(np.uint8), geometry


def _masks_of(
    candidates: ArrayLike, cells: NDArray[np.uint8], geometry: Geometry
) -> NDArray[np.uint64]:
    """Check candidates and return their masks, uint64 (n * n); a filled cell has its digit only."""
    try:
        values = array_of(candidates).ravel()
    except InputError as error:
        raise InputError(f"candidates: {error}") from None
    if values.dtype.kind not in "iu" and not all(type(value) is int for value in values):
        raise InputError("candidates must be integers")
    if values.size != geometry.cells:
        raise InputError(f"candidates for {values.size} cells, but the board has {geometry.cells}")
    for cell in np.flatnonzero((values < 0) | (values > int(geometry.all_digits))).tolist():
        raise InputError(
            f"{geometry.cell_name(cell)} has the candidates {int(values[cell]):#x}:"
            f" only the lowest {geometry.n} bits are digits"
        )
    masks = values.astype(np.uint64)
    digits = digit_masks(cells)
    for cell in np.flatnonzero(digits & ~masks).tolist():
        raise InputError(
            f"{geometry.cell_name(cell)} holds {cells[cell]}, which is not among its candidates"
        )
    return np.where(cells > 0, digits, masks)


def digit_masks(cells: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return for every cell the mask that has its digit only, 0 for an empty cell."""
    # An empty cell counts as digit 1 here, because a shift by -1 is undefined.
    bits = np.uint64(1) << (np.maximum(cells, 1).astype(np.uint64) - np.uint64(1))
    return np.where(cells > 0, bits, np.uint64(0))


def single_digits(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the digits of masks with one bit, 0 for others, in the shape of the masks."""
    # A mask with one bit, minus 1, has all lower bits.
    digits = np.bitwise_count(masks - np.uint64(1)) + 1
    return np.where(np.bitwise_count(masks) == 1, digits, 0).astype(np.uint8)
