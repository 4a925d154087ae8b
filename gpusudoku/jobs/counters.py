"""Exact counters, and whether all of them have reached a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Counters:
    """Counters that begin with 0; whoever adds to them holds a lock.

    Parameters
    ----------
    number
        How many there are.
    limit
        What all of them may reach; None for nothing.
    dtype
        See ``Job``.
    """

    def __init__(self, number: int, limit: int | None, dtype: DTypeLike) -> None:
        self.numbers: NDArray[Any] = np.zeros(number, dtype)
        """All counters, an array (number) of the dtype."""
        self._limit, self._below_limit = limit, number

    @property
    def are_full(self) -> bool:
        """Whether none is below the limit."""
        return self._below_limit == 0

    def add(self, numbers: NDArray[Any], counters: Any) -> None:
        """Add numbers to some counters, an index of the array that has none twice."""
        before = self.numbers[counters]
        after = before + numbers
        if self._limit is not None:
            reached = (before < self._limit) & (after >= self._limit)
            self._below_limit -= int(np.count_nonzero(reached))
        self.numbers[counters] = after
