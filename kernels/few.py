"""Kernels that run as plain Python for the first few boards, so that nothing is compiled for these.

Kernels are plain Python, too, and where a board takes that a few milliseconds, compiling pays
from some thousand boards on; loading what was compiled before takes as long as a few boards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FEW = 16
"""Boards that a kernel takes in a process before it is compiled."""


class Warming:
    """A kernel that runs as plain Python at first, and compiled once it has more to do.

    Parameters
    ----------
    plain
        The function as it is written.
    compiled
        Compiles it, or loads it from disk; from the second time on it returns at once.
    few
        The boards for which it is not compiled.
    """

    def __init__(
        self, plain: Callable[..., Any], compiled: Callable[[], Callable[..., Any]], few: int = FEW
    ) -> None:
        # Python tells of numbers that pass 64 bits, which kernels do on purpose.
        self._plain, self._compiled = np.errstate(over="ignore")(plain), compiled
        self._left = few

    def of(self, boards: int) -> Callable[..., Any]:
        """The function to call for so many boards."""
        self._left -= boards
        return self._plain if self._left >= 0 else self._compiled()
