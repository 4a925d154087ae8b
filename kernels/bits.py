"""Two operations on 64-bit masks: one name each, three meanings.

The plain functions below say what is meant and are what runs under the CUDA simulator. Compiled
for the CPU they become one instruction each (popcnt, tzcnt) through LLVM; compiled for CUDA they
become its own (popc; brev and clz).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusudoku.kernels.kernel import when_compiling

ONE = np.uint64(1)
ZERO = np.uint64(0)


def ones(count: int) -> np.uint64:
    """The uint64 whose ``count`` lowest bits are set, 0 <= count <= 64."""
    mask: np.uint64 = np.uint64((1 << count) - 1)
    return mask


def popcount(x: Any) -> int:
    """Number of set bits of a uint64."""
    return int(x).bit_count()


def lowest_index(x: Any) -> int:
    """Index of the lowest set bit of a uint64 that is not 0."""
    value = int(x)
    return (value & -value).bit_length() - 1


@when_compiling
def _register_cpu() -> None:
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
    """Teach the CUDA compiler both names. Not for the simulator, which runs the functions above."""
    from numba import cuda
    from numba.extending import overload

    @overload(popcount, target="cuda")
    def _popcount_cuda(x):
        return lambda x: np.int64(cuda.popc(x))

    @overload(lowest_index, target="cuda")
    def _lowest_index_cuda(x):
        return lambda x: np.int64(cuda.clz(cuda.brev(x)))
