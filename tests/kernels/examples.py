"""Kernels that are soon compiled, here and in processes that tests start."""

from __future__ import annotations

from gpusudoku.kernels.arguments import int64
from gpusudoku.kernels.kernel import Kernel


def times(factor: int, seconds: float = 3.0) -> Kernel:
    """Make a new kernel each time, as a process that starts now has it."""

    def multiply(x: int) -> int:
        return factor * x

    name = f"test.times-{factor}"
    again = times, (factor, seconds)
    return Kernel(name, (int64,), lambda: multiply, again, returns=int64, seconds=seconds)
