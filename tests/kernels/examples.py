"""Kernels that compile quickly, in this process and in processes that tests start."""

from __future__ import annotations

from gpusudoku.kernels.arguments import int64
from gpusudoku.kernels.kernel import Kernel


def times(factor: int, seconds: float = 3.0) -> Kernel:
    """Return a kernel that multiplies by ``factor``: a new one, as a new process would have it."""

    def multiply(x: int) -> int:
        return factor * x

    name = f"test.times-{factor}"
    rebuild = times, (factor, seconds)  # lets another process build the same kernel
    return Kernel(name, (int64,), lambda: multiply, rebuild, returns=int64, seconds=seconds)
