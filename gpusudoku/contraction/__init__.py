"""Counting without visiting solutions: a sum over the maps of the stacks of a board.

``docs/contraction.md`` derives it. ``Nine`` is for boxes of 3x3, ``Join`` for any others,
``Hybrid`` for boards that are too dear for either as a whole; ``contracting`` chooses and runs.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.chunks import Chunk


class Contraction(Protocol):
    """What an engine needs to know of a sum that counts the solutions of one board."""

    seconds: float
    """Estimated time on one core, in seconds of a machine of 2024: a price, no promise. 0 if it
    is known that there is no solution."""
    listing_seconds: float
    """What it took to find that out, without compiling."""

    @property
    def factor(self) -> int:
        """What the sum of all chunks is to be multiplied by."""

    def most_threads(self, memory: int) -> int:
        """How many threads can sum in so many bytes, at least 1."""

    def prepare(self, threads: int) -> None:
        """Whatever must be made before the first chunk."""

    def chunks(self, threads: int) -> list[Chunk]:
        """Independent parts of the sum, weights adding up to 1; none if there is no solution."""

    def scratch(self) -> Any:
        """What a thread needs to sum in."""

    def sum(self, payload: Any, scratch: Any, flag: NDArray[np.int64]) -> tuple[int, int]:
        """The exact sum of a chunk, and how many products were added up.

        The interpreter's lock is released meanwhile. Once ``flag[0]`` is not 0 the result does
        not matter any more, and is wanted soon.
        """
