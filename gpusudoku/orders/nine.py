"""The quick order of 9x9 boards with many solutions. Special to 3x3 boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.quick import QuickOrder
from gpusudoku.orders.protocol import as_texts

BLOCK = 1 << 14
"""Solutions that are handed on together."""


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
        self._order = QuickOrder(candidates, threads)

    @property
    def count(self) -> int:
        """See ``Ordered``."""
        return self._order.count

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``Ordered``."""
        return self._order.at(numbers)

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """See ``Ordered``."""
        last = self.count if last is None else min(last, self.count)
        for start in range(first, last, BLOCK):
            yield self.at(np.array(range(start, min(start + BLOCK, last)), object))

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        """See ``Ordered``."""
        return as_texts(self.rows(first, last))
