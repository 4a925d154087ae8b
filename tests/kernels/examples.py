"""Kernels that compile quickly, in this process and in processes that tests start."""

from __future__ import annotations

from gpusudoku.kernels.arguments import int64
from gpusudoku.kernels.kernel import Kernel


def times(factor: int, seconds: float = 3.0) -> Kernel:
    """Make a new kernel that is not loaded, as in a process that has just started."""

    def multiply(x: int) -> int:
        return factor * x

    name = f"test.times-{factor}"
    factory = times, (factor, seconds)
    return Kernel(name, (int64,), lambda: multiply, factory, returns=int64, seconds=seconds)
