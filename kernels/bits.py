"""Operations on 64-bit masks that have one name on every device.

The plain functions below define the meaning, and run under the CUDA simulator. Compiled for the
CPU, they become one instruction each (popcnt, tzcnt) through LLVM. Compiled for CUDA, they become
its instructions popc, and brev and clz.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusudoku.kernels.kernel import when_compiling

ONE = np.uint64(1)
ZERO = np.uint64(0)


def ones(count: int) -> np.uint64:
    """Return the uint64 whose ``count`` lowest bits are set, 0 <= count <= 64."""
    mask: np.uint64 = np.uint64((1 << count) - 1)
    return mask


def popcount(x: Any) -> int:
    """Return the number of set bits of a uint64."""
    return int(x).bit_count()


def lowest_index(x: Any) -> int:
    """Return the index of the lowest set bit of a uint64 that is not 0."""
    mask = int(x)
    return (mask & -mask).bit_length() - 1


@when_compiling
def _register_cpu() -> None:
    """Register both functions with the compiler for the CPU."""
    from llvmlite import ir
    from numba.extending import intrinsic, overload

    from gpusudoku.kernels.compile_cpu import INLINED

    @intrinsic
    def ctpop(typing_context, x):
        def generate(context, builder, signature, args):
            return builder.ctpop(args[0])

        return x(x), generate

    @intrinsic
    def cttz(typing_context, x):
        def generate(context, builder, signature, args):
            # The result for 0 is left undefined, which saves a test on older processors.
            zero_is_undefined = ir.Constant(ir.IntType(1), 1)
            return builder.cttz(args[0], zero_is_undefined)

        return x(x), generate

    @overload(popcount, target="cpu", jit_options=INLINED)
    def popcount_cpu(x):
        return lambda x: np.int64(ctpop(x))

    @overload(lowest_index, target="cpu", jit_options=INLINED)
    def lowest_index_cpu(x):
        return lambda x: np.int64(cttz(x))


def register_cuda() -> None:
    """Register both functions with the CUDA compiler.

    The simulator needs no registration: it runs the plain functions.
    """
    from numba import cuda
    from numba.extending import overload

    @overload(popcount, target="cuda")
    def _popcount_cuda(x):
        return lambda x: np.int64(cuda.popc(x))

    @overload(lowest_index, target="cuda")
    def _lowest_index_cuda(x):
        return lambda x: np.int64(cuda.clz(cuda.brev(x)))
