"""What is given for the cells of a board, checked: digits, and masks of digits.

In every mask of this project bit d - 1 stands for digit d.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sized
from math import isqrt
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError, described


def array_of(given: ArrayLike) -> NDArray[Any]:
    """The array of nested lists or the like: of integers, or else of objects.

    Where a value is missing, as NaN is, there is None, and whole floats are integers.

    Raises
    ------
    InputError
        If there are rows of different lengths, or no cells at all, or a mask over some.
    """
    refuse_arrays(given, *(given if isinstance(given, list | tuple) else ()))
    try:
        values = np.asarray(given)
    except ValueError:
        raise InputError(_uneven(given)) from None
    except TypeError as error:  # an array that is elsewhere, on a GPU for example
        raise InputError(f"no array of cells: {error}") from None
    if values.ndim == 0:
        raise InputError(f"expected integers for the cells, found {described(given)}")
    if values.dtype.kind in "iu":
        return values
    values = np.asarray(given, object)  # NumPy makes text or floats of all of what is mixed
    found: NDArray[Any] = np.frompyfunc(_cell, 1, 1)(values)
    return found


def _cell(value: object) -> object:
    """Return a value of a cell: None for one that is missing, an integer for a whole float."""
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else int(value) if value.is_integer() else value
    return None if type(value).__name__ == "NAType" else value  # of pandas


def refuse_arrays(*given: object) -> None:
    """Complain about arrays in GPU memory, and masked ones: NumPy would show what is masked.

    Raises
    ------
    InputError
        If there is one.
    """
    if any(isinstance(each, np.ma.MaskedArray) for each in given):
        raise InputError("a masked array, expected a plain one: fill it, with 0 for empty cells")
    if any(hasattr(each, "__cuda_array_interface__") for each in given):
        raise InputError("an array in GPU memory: copy it to main memory first, with cupy.asnumpy")


def digits_of(given: ArrayLike, geometry: Geometry | None) -> tuple[NDArray[np.uint8], Geometry]:
    """The digits of a board's cells, uint8 (n * n), None taken for 0, and its geometry.

    Raises
    ------
    InputError
        If they are no digits of a board, or of one of another geometry.
    """
    values = _integers(array_of(given).ravel())
    if geometry is None:
        n = isqrt(values.size)
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
            f"{geometry.cell_name(cell)} holds {values[cell]}: digits run from 1 to {geometry.n}"
        )
    return values.astype(np.uint8), geometry


def masks_of(given: ArrayLike, cells: NDArray[np.uint8], geometry: Geometry) -> NDArray[np.uint64]:
    """Given candidates, uint64 (n * n); those of a filled cell are its digit alone.

    Raises
    ------
    InputError
        If they are no masks of digits, or exclude the digit of a filled cell.
    """
    try:
        values = array_of(given).ravel()
    except InputError as error:
        raise InputError(f"candidates: {error}") from None
    if values.dtype.kind not in "iu" and not all(type(value) is int for value in values):
        raise InputError("candidates must be integers")
    if values.size != geometry.cells:
        raise InputError(f"candidates for {values.size} cells, but the board has {geometry.cells}")
    wrong = np.flatnonzero((values < 0) | (values > int(geometry.all_digits)))
    if wrong.size:
        cell = int(wrong[0])
        raise InputError(
            f"{geometry.cell_name(cell)} has the candidates {int(values[cell]):#x}:"
            f" only the lowest {geometry.n} bits stand for digits"
        )
    masks = values.astype(np.uint64)
    digits = digit_masks(cells)
    excluded = np.flatnonzero(digits & ~masks)
    if excluded.size:
        cell = int(excluded[0])
        raise InputError(
            f"{geometry.cell_name(cell)} holds {cells[cell]}, which is not among its candidates"
        )
    return np.where(cells > 0, digits, masks)


def digit_masks(cells: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """uint64 (n * n): the mask of every filled cell's digit alone, 0 for an empty cell."""
    bits = np.uint64(1) << (np.maximum(cells, 1).astype(np.uint64) - np.uint64(1))
    return np.where(cells > 0, bits, np.uint64(0))


def single_digits(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The digits of masks that have one bit, 0 for others; uint8, of the shape of the masks."""
    # A mask of one bit, less 1, has all bits below.
    digits = np.bitwise_count(masks - np.uint64(1)) + 1
    return np.where(np.bitwise_count(masks) == 1, digits, 0).astype(np.uint8)


def name_of(cell: int, cells: int) -> str:
    """The name of one of so many cells, though it is not known what board they make."""
    n = isqrt(cells)
    return f"r{cell // n + 1}c{cell % n + 1}" if n * n == cells else f"cell {cell + 1}"


def _integers(values: NDArray[Any]) -> NDArray[Any]:
    """The values as integers, 0 where there is None."""
    if values.dtype.kind in "iu":
        return values
    found = [0 if value is None else value for value in values.tolist()]
    for cell, value in enumerate(found):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise InputError(
                f"{name_of(cell, len(found))} holds {described(value)}: cells must be integers,"
                " 0 for an empty one"
            )
    return np.array(found)


def _uneven(given: Any) -> str:
    """What is wrong with rows of which NumPy makes no array."""
    sizes = [len(row) if _is_row(row) else None for row in given] if _is_row(given) else []
    common = Counter(size for size in sizes if size is not None).most_common(1)
    for place, size in enumerate(sizes):
        if size is None:
            return f"row {place + 1} is no list of cells"
        if size != common[0][0]:
            return f"row {place + 1} has {size} cells, expected {common[0][0]}"
    return "expected a list of integers, or of rows of integers"


def _is_row(value: object) -> bool:
    return isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, str)
