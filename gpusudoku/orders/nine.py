"""The quick order of 9x9 boards with many solutions. Special to 3x3 boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.quick import Products, QuickOrder
from gpusudoku.jobs.cancel import Turns

SHORT = 16
"""So few solutions are looked up, which takes less time than to make ready to write many."""


class QuickNine:
    """The contraction's order; see ``Ordered``.

    Parameters
    ----------
    candidates
        uint64 (81), as ``contraction.nine.sum.Nine`` takes them.
    threads
        How many work at it.
    """

    def __init__(self, candidates: NDArray[np.uint64], threads: int) -> None:
        self._order, self._threads = QuickOrder(candidates, threads), threads
        self._lock = Turns()
        self._made: Products | None = None

    @property
    def count(self) -> int:
        """See ``Ordered``."""
        return self._order.count

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``Ordered``."""
        return self._order.at(numbers)

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """See ``Ordered``."""
        last = self._end(last)
        if last - first <= SHORT:
            return iter([self.at(np.array(range(first, last), object))] if first < last else [])
        return self._products.rows(first, last, threads=self._threads)

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        """See ``Ordered``."""
        last = self._end(last)
        for lines in self._products.rows(first, last, text=True, threads=self._threads):
            yield lines.reshape(-1).data

    def _end(self, last: int | None) -> int:
        return self.count if last is None else min(last, self.count)

    @property
    def _products(self) -> Products:
        with self._lock:
            if self._made is None:
                self._made = Products(self._order)
            return self._made
