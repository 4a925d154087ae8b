"""The sum over pairs of partitions on a GPU: one block of threads a pair. Special to 3x3 boxes.

The sum is that of ``dot``, and so is the argument why nothing overflows. A block brings the two
slabs of its pair into shared memory, COLUMNS pairs of entries at a time, and every thread adds up
some of the entries of C: random rows of two small tables, which is what shared memory is good at.
The pair's sum is added up in 64 bits; times the size of its orbit it may need more, which is left
to the host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int16, int32, int64, types, uint64

from gpusudoku.kernels import cuda_jit
from gpusudoku.kernels.contraction.nine.arrays import (
    MULTIPLICITY,
    PARTITIONS,
    A,
    B,
    C,
    P,
    Q,
    R,
)

COLUMNS = 16
"""Pairs of entries of A and B for which a block has the slabs at a time."""
ROW = COLUMNS + 1
"""Entries of a row in shared memory: one more than used, so that rows start in different banks."""
SLAB = PARTITIONS * ROW
"""Entries of a slab in shared memory."""


class DeviceOperands(NamedTuple):
    """The arrays of ``Operands``, in memory of the GPU."""

    entries: Any
    start: Any


class RoleTensors(NamedTuple):
    """The tensors of the three crossing roles, each int16 and indexed [c][a][b] by numbers."""

    p: Any
    """The tensor of P."""
    q: Any
    """The tensor of Q."""
    r: Any
    """The tensor of R."""


SIGNATURE = (
    int64,
    int32[:, ::1],
    int64[:, ::1],
    types.NamedTuple((int16[:, :, ::1], int64[:, ::1]), DeviceOperands),
    types.NamedUniTuple(int16[::1], 3, RoleTensors),
    int64,
    uint64[::1],
)
"""Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""


def build_kernel() -> Callable[..., None]:
    """Make ``kernel(first, pairs, shape, operands, tensors, terms, sums)``; it writes ``sums``.

    first     the pair of the first block; block i takes ``pairs[first + i]``
    pairs     int32 (pairs, 3): b, a, and a size that is not looked at
    shape     int64 (3, 3): as in ``Roles``
    operands  ``DeviceOperands``
    tensors   ``RoleTensors``
    terms     int64: the number of entries of C
    sums      uint64 (blocks): the sum of every block's pair; zero before
    """

    @cuda.jit(device=True)
    def bring(crossing, begin, a, b, shape, operands, tensor, slab):
        """Write columns from ``begin`` on of the slab of Q or R, with zeros past the last."""
        entries, start = operands.entries, operands.start
        first_k, first_l = start[A, a], start[B, b]
        length = start[B, b + 1] - first_l
        columns = (start[A, a + 1] - first_k) * length
        for i in range(cuda.threadIdx.x, shape[C, crossing] * COLUMNS, cuda.blockDim.x):
            c, at = i // COLUMNS, begin + i % COLUMNS
            value = int32(0)
            if at < columns:
                k, l = first_k + at // length, first_l + at % length  # noqa: E741
                row = c * shape[A, crossing] + entries[A, k, crossing]
                value = int32(tensor[row * shape[B, crossing] + entries[B, l, crossing]])
                if crossing == R:
                    times = entries[A, k, MULTIPLICITY]
                    value = int32(value * times * entries[B, l, MULTIPLICITY])
            slab[c * ROW + i % COLUMNS] = value

    def kernel(first, pairs, shape, operands, tensors, terms, sums):
        left = cuda.shared.array(SLAB, int32)
        right = cuda.shared.array(SLAB, int32)
        column = cuda.shared.array(PARTITIONS, int32)
        thread, threads = cuda.threadIdx.x, cuda.blockDim.x
        entries, start = operands.entries, operands.start
        b, a = pairs[first + cuda.blockIdx.x, 0], pairs[first + cuda.blockIdx.x, 1]
        for c in range(thread, shape[C, P], threads):
            column[c] = tensors.p[(c * shape[A, P] + a) * shape[B, P] + b]
        columns = (start[A, a + 1] - start[A, a]) * (start[B, b + 1] - start[B, b])
        total = int64(0)
        for begin in range(0, columns, COLUMNS):
            cuda.syncthreads()  # all are done with the slabs, and see the column
            bring(Q, begin, a, b, shape, operands, tensors.q, left)
            bring(R, begin, a, b, shape, operands, tensors.r, right)
            cuda.syncthreads()
            for e in range(thread, terms, threads):
                factor = int64(column[entries[C, e, P]]) * entries[C, e, MULTIPLICITY]
                if factor != 0:
                    u, v = entries[C, e, Q] * ROW, entries[C, e, R] * ROW
                    # 16 products below 2^29 each (1,728 * 248,832) need more than 32 bits.
                    dot = int64(0)
                    for i in range(COLUMNS):
                        dot += int64(left[u + i]) * int64(right[v + i])
                    total += factor * dot
        cuda.atomic.add(sums, cuda.blockIdx.x, np.uint64(total))

    return kernel


@cache
def kernel() -> Any:
    """The kernel, ready to be launched as ``kernel()[blocks, threads_per_block](...)``."""
    return cuda_jit.kernel("contraction.nine.cuda.kernel", build_kernel(), SIGNATURE)
