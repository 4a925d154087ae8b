"""What gives random access to the solutions of a board, whatever numbers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.text import write_lines

MOST_BYTES = 1 << 40
"""No array is larger, whatever memory there is."""


class Ordered(Protocol):
    """All solutions of one board, numbered from 0; one number is one solution on every machine.

    Numbers that are out of range give no sensible result: whoever asks knows the count.
    """

    @property
    def count(self) -> int:
        """The number of solutions."""

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """The solutions of some numbers, in the order of these.

        Parameters
        ----------
        numbers
            int64 (k), or object (k) of Python's integers, in any order.

        Returns
        -------
        uint8 (k, cells), each row a solution, row by row.
        """

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """The solutions from number ``first`` to before ``last``, or to the end: in blocks.

        Each is uint8 (k, cells). Memory does not grow with their number.
        """

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        """The same as text: every solution in its canonical line, with a newline."""


class Ranked(Ordered, Protocol):
    """Solutions in ascending order."""

    def rank(self, cells: NDArray[np.uint8]) -> int:
        """The number of a solution, uint8 (cells)."""


def as_texts(blocks: Iterator[NDArray[np.uint8]]) -> Iterator[bytes | memoryview]:
    """The canonical lines of blocks of solutions."""
    return map(write_lines, blocks)


def joined(blocks: Iterator[NDArray[np.uint8]], board: Board, number: int) -> NDArray[np.uint8]:
    """Blocks of solutions in one array, uint8 (number, cells).

    Raises
    ------
    MemoryError
        If they are too many for that, before the first is found.
    """
    cells = board.geometry.cells
    if number * cells > MOST_BYTES:
        raise MemoryError(f"{number} solutions do not fit in memory: take them in blocks")
    found, start = np.empty((number, cells), np.uint8), 0
    for block in blocks:
        found[start : start + len(block)] = block
        start += len(block)
    return found
