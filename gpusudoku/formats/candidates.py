"""Boards that are written as the candidates of every cell.

* A *cube*: one character for every digit of every cell, ``n * n * n`` in all. Each digit is at its
  own position among the n characters of the cell, or a sign for empty if it is excluded (tdoku).
* SudokuWiki's string of 162 characters.
* A *group* of digits for every cell: in braces, as :func:`~gpusudoku.board.text.write_candidates`
  writes them, or between blanks, as HoDoKu, Simple Sudoku and SudoCue (``.sdx``) do.

A cell with one candidate is filled with it. Candidates are omitted if they only exclude digits that
the clues exclude, too: every method can count the same board without candidates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.formats.symbols import CHARACTERS

DIGITS_OF_CUBE = {n**3: n for n in range(2, len(DIGITS) + 1)}
"""The number of digits of a cube, by its length."""
_MAX_SINGLE_FIGURE = 9
"""The maximum number of digits of a board whose digits have one figure each."""
_WIKI_DIGITS = 9
_WIKI = re.compile(rb"[0-9A-Va-v]{162}")


def board_of_masks(masks: NDArray[np.uint64], geometry: Geometry) -> Board:
    """Make a board of candidates, uint64 (n * n): bit d - 1 of a mask is digit d."""
    cells = single_digits(masks)
    board = Board(cells, geometry)
    if not (board.candidates & ~masks).any():
        return board  # The masks exclude no more digits than the clues do.
    return Board(cells, geometry, candidates=masks)


def are_candidates(values: NDArray[np.uint8], n: int) -> NDArray[np.bool_]:
    """Tell for each line, uint8 (B, n * n * n), whether every digit is at its own position."""
    expected = np.tile(np.arange(1, n + 1, dtype=np.uint8), n * n)
    are_cubes: NDArray[np.bool_] = ((values == 0) | (values == expected)).all(axis=1)
    return are_cubes


def may_be_candidates(values: NDArray[np.uint8], n: int) -> Any:
    """Tell whether lines, uint8 (..., n * n * n), may be candidates with errors.

    They have no digit above n, and at least n * n digits. Few larger boards have so many clues.
    """
    return (values.max(axis=-1) <= n) & ((values > 0).sum(axis=-1) >= n * n)


def find_misplaced(text: bytes, n: int) -> int:
    """Return the index of the first character that is not a candidate at its position."""
    values = np.frombuffer(text.translate(CHARACTERS), np.uint8)
    return int(np.argmax((values != 0) & (values != np.tile(np.arange(1, n + 1), n * n))))


def masks_of_line(text: bytes, n: int) -> NDArray[np.uint64] | None:
    """Read ``n * n * n`` characters; None if a digit is at the position of another one."""
    values = np.frombuffer(text.translate(CHARACTERS), np.uint8)
    if not are_candidates(values[None], n)[0]:
        return None
    bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
    masks: NDArray[np.uint64] = (values.reshape(-1, n) > 0) @ bits
    return masks


def masks_of_wiki(text: bytes) -> NDArray[np.uint64] | None:
    """Read SudokuWiki's string of a 9x9 board; None if the text is not such a string.

    Each cell has two digits of base 32, a number of 10 bits: bit 0 marks a clue, bits 1 to 9 are
    the candidates mask. Two 9x9 boards of figures, one after the other, are not such a string: they
    have no cell with just the candidate 9, which needs a letter.

    The form is described at https://www.sudokuwiki.org/Sudoku_String_Definitions.
    """
    if not _WIKI.fullmatch(text):
        return None
    numbers = np.array([int(text[i : i + 2], 32) for i in range(0, len(text), 2)], np.uint64)
    masks = numbers >> np.uint64(1)
    has_nine = (masks >> np.uint64(_WIKI_DIGITS - 1) == 1).any()  # the highest bit of a mask
    return masks if has_nine and masks.all() else None


def masks_of_groups(groups: Sequence[bytes], n: int) -> NDArray[np.uint64] | None:
    """Read a group of digits for every cell; None if one of them is not a group."""
    masks = [mask_of_group(group, n) for group in groups]
    if any(mask is None for mask in masks):
        return None
    return np.array(masks, np.uint64)


def mask_of_group(group: bytes, n: int) -> int | None:
    """Read distinct digits up to n, in any order; None if the group is anything else.

    ``u`` before a digit marks one that the user placed (``.sdx``).
    """
    if n <= _MAX_SINGLE_FIGURE and len(group) == len(b"u1"):
        group = group.removeprefix(b"u")
    if n > len(DIGITS):
        numbers = group.split(b",") if group else []
        digits = [int(number) if number.isdigit() else 0 for number in numbers]
    else:
        digits = [CHARACTERS[symbol] for symbol in group]
    if len({*digits}) < len(digits) or not all(0 < digit <= n for digit in digits):
        return None
    return sum(1 << digit - 1 for digit in digits)
