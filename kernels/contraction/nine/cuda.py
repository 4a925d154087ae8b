"""The sum over pairs of partitions on a GPU: one block of threads a pair. Special to 3x3 boxes.

The sum is that of ``nine_sum``, and so is the argument why nothing overflows. A block brings the
two slabs of its pair into shared memory, COLUMNS pairs of maps at a time, and every thread adds up
some of the maps of C: random rows of two small tables, which is what shared memory is good at.
The pair's sum is added up in 64 bits; times the size of its orbit it may need more, which is left
to the host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import cuda, int32, int64

from gpusudoku.kernels.contraction.nine.arrays import PARTITIONS

SIGNATURE = (
    "void(int64, int32[:,::1], int16[::1], int16[::1], int16[::1], int64[:,::1],"
    " int16[:,:,::1], int64[:,::1], int64, uint64[::1])"
)
"""Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""

COLUMNS = 16
ROW = COLUMNS + 1
"""Entries of a row in shared memory: one more than used, so that rows start in different banks."""
SLAB = PARTITIONS * ROW

# Rows of the argument ``sizes``: how many partitions A, B and C have at P, Q and R.
HEIGHT, WIDTH, DEPTH = range(3)


def build_kernel() -> Callable[..., None]:
    """Make ``kernel(first, pairs, p, q, r, sizes, maps, start, terms, sums)``.

    first    the pair of the first block; block i takes ``pairs[first + i]``
    pairs    int32 (pairs, 3): b, a, and a size that is not looked at
    p, q, r  int16, the tensors, indexed [c][a][b]
    sizes    int64 (3, 3): HEIGHT (of a), WIDTH (of b) and DEPTH (of c) of each
    maps     int16 (3, MOST_MAPS, 4), start int64 (3, 281): as in ``Space``
    terms    maps of C
    sums     uint64 (blocks): the sums, zero before
    """

    @cuda.jit(device=True)
    def bring(role, begin, a, b, tensor, sizes, maps, start, slab):
        """Columns from ``begin`` on of the slab of Q (role 1) or R (2), zeros past the last."""
        first_k, first_l = start[0, a], start[1, b]
        length = start[1, b + 1] - first_l
        columns = (start[0, a + 1] - first_k) * length
        for i in range(cuda.threadIdx.x, sizes[DEPTH, role] * COLUMNS, cuda.blockDim.x):
            c, at = i // COLUMNS, begin + i % COLUMNS
            value = int32(0)
            if at < columns:
                k, l = first_k + at // length, first_l + at % length  # noqa: E741
                row = c * sizes[HEIGHT, role] + maps[0, k, role]
                value = int32(tensor[row * sizes[WIDTH, role] + maps[1, l, role]])
                if role == 2:
                    value = int32(value * maps[0, k, 3] * maps[1, l, 3])
            slab[c * ROW + i % COLUMNS] = value

    def kernel(first, pairs, p, q, r, sizes, maps, start, terms, sums):
        left = cuda.shared.array(SLAB, int32)
        right = cuda.shared.array(SLAB, int32)
        column = cuda.shared.array(PARTITIONS, int32)
        thread, threads = cuda.threadIdx.x, cuda.blockDim.x
        b, a = pairs[first + cuda.blockIdx.x, 0], pairs[first + cuda.blockIdx.x, 1]
        for c in range(thread, sizes[DEPTH, 0], threads):
            column[c] = p[(c * sizes[HEIGHT, 0] + a) * sizes[WIDTH, 0] + b]
        columns = (start[0, a + 1] - start[0, a]) * (start[1, b + 1] - start[1, b])
        total = int64(0)
        for begin in range(0, columns, COLUMNS):
            cuda.syncthreads()  # all are done with the slabs, and see the column
            bring(1, begin, a, b, q, sizes, maps, start, left)
            bring(2, begin, a, b, r, sizes, maps, start, right)
            cuda.syncthreads()
            for e in range(thread, terms, threads):
                factor = int64(column[maps[2, e, 0]]) * maps[2, e, 3]
                if factor != 0:
                    u, v = maps[2, e, 1] * ROW, maps[2, e, 2] * ROW
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
    return cuda.jit(build_kernel())
