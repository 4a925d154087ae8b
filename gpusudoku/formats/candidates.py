"""Boards that are written as the candidates of every cell.

* One character for every digit of every cell, ``n * n * n`` in all: each digit at its own place
  among the n characters of the cell, or a sign for empty where it is excluded (tdoku).
* SudokuWiki's string of 162 characters.
* A group of digits for every cell: in braces, as :func:`~gpusudoku.board.text.write_candidates`
  writes them, or between blanks, as HoDoKu, Simple Sudoku and SudoCue (``.sdx``) do.

A cell with one candidate is filled with it. Candidates are dropped where they exclude no digit
that the clues do not exclude: the same board without them can be counted by every method.
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
"""The number of digits, by the length of a line with a character for every candidate."""
_MAX_SINGLE_FIGURE = 9
_WIKI_DIGITS = 9
_WIKI = re.compile(rb"[0-9A-Va-v]{162}")


def board_of_masks(masks: NDArray[np.uint64], geometry: Geometry) -> Board:
    """Make the board of candidates, uint64 (n * n): bit d - 1 of a mask stands for digit d."""
    cells = single_digits(masks)
    board = Board(cells, geometry)
    if not (board.candidates & ~masks).any():
        return board
    return Board(cells, geometry, candidates=masks)


def are_candidates(values: NDArray[np.uint8], n: int) -> NDArray[np.bool_]:
    """Tell for each line, uint8 (B, n * n * n), whether every digit stands at its own place."""
    places = np.tile(np.arange(1, n + 1, dtype=np.uint8), n * n)
    matches: NDArray[np.bool_] = ((values == 0) | (values == places)).all(axis=1)
    return matches


def may_be_candidates(values: NDArray[np.uint8], n: int) -> Any:
    """Tell whether lines, uint8 (..., n * n * n), may be candidates with errors.

    They have no digit above n, and a digit for every cell; few larger boards have so many clues.
    """
    return (values.max(axis=-1) <= n) & ((values > 0).sum(axis=-1) >= n * n)


def find_misplaced(text: bytes, n: int) -> int:
    """Return the index of the first character that is no candidate at its place."""
    values = np.frombuffer(text.translate(CHARACTERS), np.uint8)
    return int(np.argmax((values != 0) & (values != np.tile(np.arange(1, n + 1), n * n))))


def masks_of_line(text: bytes, n: int) -> NDArray[np.uint64] | None:
    """Read ``n * n * n`` characters; None if a digit stands at the place of another one."""
    values = np.frombuffer(text.translate(CHARACTERS), np.uint8)
    if not are_candidates(values[None], n)[0]:
        return None
    bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
    masks: NDArray[np.uint64] = (values.reshape(-1, n) > 0) @ bits
    return masks


def masks_of_wiki(text: bytes) -> NDArray[np.uint64] | None:
    """Read SudokuWiki's string of a 9x9 board, None if it is none.

    Each cell has two digits of base 32, whose lowest bit marks a clue; the bits above it are the
    mask of its candidates. Two boards of figures, one behind the other, are no such string: they
    have no cell with the candidate 9, which would need a letter.

    The form is described at https://www.sudokuwiki.org/Sudoku_String_Definitions.
    """
    if not _WIKI.fullmatch(text):
        return None
    numbers = np.array([int(text[i : i + 2], 32) for i in range(0, len(text), 2)], np.uint64)
    masks = numbers >> np.uint64(1)
    has_nine = (masks >> np.uint64(_WIKI_DIGITS - 1) == 1).any()
    return masks if has_nine and masks.all() else None


def masks_of_groups(groups: Sequence[bytes], n: int) -> NDArray[np.uint64] | None:
    """Read a group of digits for every cell, None if one of them is none."""
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
