"""What those who run a contraction need to know of it, whatever the shape of the board."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Contraction(Protocol):
    """A sum that counts the solutions of one board.

    It is the sum of independent, numbered tasks. They depend on the board alone, never on threads,
    device or speed; whoever runs them puts as many into one call as is worth while.
    """

    seconds: float
    """Estimated time on one core, in seconds of a machine of 2024: a price, no promise. 0 if it
    is known that there is no solution."""
    listing_seconds: float
    """What it took to find that out, without compiling."""

    @property
    def device_sum(self) -> Callable[[Any], Callable[[range], tuple[int, int]]] | None:
        """What brings the sum to a GPU; None if only threads can sum.

        It takes an ``engines.cuda.device.Gpu``, the current one, and returns what ``sum`` is there.
        """

    @property
    def factor(self) -> int:
        """What the sum of all tasks is to be multiplied by."""

    @property
    def tasks(self) -> int:
        """The number of tasks, once prepared; 0 if there is no solution."""

    def most_threads(self, memory: int) -> int:
        """How many threads can sum in so many bytes, at least 1."""

    def prepare(self, threads: int) -> None:
        """Make whatever must be there before the first task, on so many threads."""

    def scratch(self) -> Any:
        """Make what a thread needs to sum in."""

    def sum(self, tasks: range, scratch: Any, stop: NDArray[np.int64]) -> tuple[int, int]:
        """The exact sum of some consecutive tasks, and how many products were added up.

        The interpreter's lock is released meanwhile. Once ``stop[0]`` is not 0 the result does
        not matter any more, and is wanted soon.
        """
