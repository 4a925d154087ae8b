"""Kernels that run as plain Python for the first few boards, so that nothing is compiled for these.

Kernels are plain Python, too, and where a board takes that a few milliseconds, compiling pays
from some thousand boards on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.kernel import Kernel

FEW = 16
"""Boards that a kernel takes in a process before it is compiled."""


class Warming:
    """A kernel that runs as plain Python at first if it is not kept, and compiled later.

    Parameters
    ----------
    kernel
        The kernel.
    few
        The boards for which it is not compiled.
    """

    def __init__(self, kernel: Kernel, few: int = FEW) -> None:
        self._kernel, self._left = kernel, few

    def of(self, boards: int) -> Callable[..., Any]:
        """Return the function to call for so many boards."""
        self._left -= boards
        if self._left < 0 or self._kernel.fetch():
            return self._kernel
        # Python tells of numbers that pass 64 bits, which kernels do on purpose.
        return np.errstate(over="ignore")(self._kernel.python)
