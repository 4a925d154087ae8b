"""The interface of every index: access to the solutions of a board by their numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.text import write_lines


class SolutionIndex(ABC):
    """All solutions of one board, numbered from 0. Numbers passed to it must be in range."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of solutions."""

    @abstractmethod
    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """Return solutions, uint8 (k, cells), by numbers, int64 or object (k), in any order."""

    @abstractmethod
    def rows(self, start: int, stop: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """Yield the solutions from ``start`` to before ``stop`` in blocks, each uint8 (k, cells).

        Without ``stop``, or if it exceeds the count, all solutions from ``start`` on.
        """

    def texts(self, start: int, stop: int | None = None) -> Iterator[bytes | memoryview]:
        """Yield ``rows`` as text: a line for every solution, with a newline."""
        return map(write_lines, self.rows(start, stop))

    def _range(self, start: int, stop: int | None) -> range:
        """Return the numbers from ``start`` to before ``stop`` that have a solution."""
        return range(start, self.count if stop is None else min(stop, self.count))
