"""The sum over pairs of partitions on a GPU.

The sum is that of ``pair_sums``, with the loop over the entries of C inside. Let a *column* be an
entry k of A and an entry l of B that belong to the pair (a, b), and let Q and R stand for their
numbers there. The sum of a pair is the sum over all columns, and all numbers x of C at Q, of

    Q's tensor at [k][l][x] * inner sum
    inner sum = sum over the entries of C that have x at Q, and any y at R, of
                (P's tensor at [a][b] * multiplicity) * (R's tensor at [k][l][y] * multiplicities)

The first factor of the inner sum, a *term*, is the same for all columns. So each thread of a warp
has columns of its own, and all threads take the same term at a time: what is spent on a term counts
for all of them, and they read a row of shared memory side by side. A block brings there what R's
tensor has for as many columns as fill a warp, and its warps share the numbers x.

In memory of the GPU the numbers of C are the last axis of a tensor, filled up to whole words.

Exactness. No term is negative, so nothing passes what its type holds unless the result does. Two
columns share a word of shared memory, and inner sums have 32 bits, where the actual maxima leave
room for that (``narrow_on_gpu``): at most PER_PARTITION entries have x at Q. If not, the wide
kernel takes a word a column, and 64 bits: R's tensor times the multiplicities is at most 248,832,
a term 12 * 1,728, and so the inner sum below 2^39. The sum of a pair stays below 2^57
(``pair_sums``); times the size of its orbit it may pass 2^64, which is left to the host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, cuda, int16, int32, int64, types, uint32, uint64

from gpusudoku.kernels import compile_cuda
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
from gpusudoku.kernels.contraction.nine.pair_sums import (
    FOUR,
    MAX_THREADS,
    DeviceOperands,
    RoleTensors,
)

LANES = 1 if config.ENABLE_CUDASIM else 32
"""Threads of a warp; the simulator has no warps, and every thread is one of its own."""
WHOLE_WARP = 0xFFFFFFFF
"""All threads of a warp, as bits."""
MAX_REGISTERS = 64
"""Registers of a thread, at most: more, and fewer blocks would run at once than have shared memory.
What does not fit is needed outside the inner loops only."""
ROOM = 64
"""Room for terms that a warp has in shared memory: for PER_PARTITION of them."""
SLAB = PARTITIONS * LANES
STAGED = MAX_THREADS // LANES * ROOM
"""Words of shared memory for the columns of a block, of 32 bits, and for its terms, of 64: together
43 KB, less than a block may have on any GPU."""
BITS, FIELD = 16, 0xFFFF
"""The length of the FOUR fields of a word in bits, and the lowest of them."""
ROW = 0xFFFFFFFF
"""The half of a term's word that says where its row of shared memory begins."""


SIGNATURE = (
    int64,
    int64,
    int32[:, ::1],
    int64[:, ::1],
    types.NamedTuple((int16[:, :, ::1], int64[::1], int64[:, ::1]), DeviceOperands),
    types.NamedTuple((int16[::1], int64[::1], int64[::1]), RoleTensors),
    uint64[::1],
)
"""Argument types of the kernels. Not given to ``cuda.jit``, which would compile at import."""


if config.ENABLE_CUDASIM:

    def _ballot(condition):
        return int(condition)

    def _together():
        pass

else:

    def _ballot(condition):
        return cuda.ballot_sync(WHOLE_WARP, condition)

    def _together():
        cuda.syncwarp(WHOLE_WARP)


def build_kernel(wide: bool = False) -> Callable[..., None]:
    """Make ``kernel(first, parts, pairs, shape, operands, tensors, sums)``; it adds to ``sums``.

    It is launched in blocks of whole warps, MAX_THREADS at most.

    first     the pair of the first block
    parts     the number of blocks of a pair, each of which has a part of its columns; they follow
              each other, then come those of the next pair
    pairs     int32 (pairs, 3): b, a, and a size that is not looked at
    shape     int64 (3, 3): as in ``Roles``
    operands  ``DeviceOperands``
    tensors   ``RoleTensors``
    sums      uint64 (blocks / parts): the sum of every pair; zero before
    """
    per_word = 1 if wide else 2
    columns_at_once = per_word * LANES
    total = int64 if wide else uint32
    # Indices are made unsigned where it matters: Numba looks whether any other one is negative.
    ballot = cuda.jit(device=True)(_ballot)
    together = cuda.jit(device=True)(_together)

    @cuda.jit(device=True)
    def words_of(numbers):
        return (numbers + FOUR - 1) // FOUR

    @cuda.jit(device=True)
    def column(at, crossing, pair, shape, operands):
        """The first word of Q's or R's tensor for a column, and its multiplicities multiplied.

        Past the last column they are 0.
        """
        entries = operands.entries
        start = operands.start
        (b, a) = pair
        length = start[B, b + 1] - start[B, b]
        if at >= (start[A, a + 1] - start[A, a]) * length:
            return 0, 0
        k, l = start[A, a] + at // length, start[B, b] + at % length  # noqa: E741
        row = entries[A, k, crossing] * shape[B, crossing] + entries[B, l, crossing]
        times = int64(entries[A, k, MULTIPLICITY]) * entries[B, l, MULTIPLICITY]
        return row * words_of(shape[C, crossing]), times

    @cuda.jit(device=True)
    def bring(at, pair, shape, operands, tensor, right):
        """Write a thread's columns to its words of shared memory, with zeros past the last."""
        warp = cuda.threadIdx.x // LANES
        warps = cuda.blockDim.x // LANES
        first, times = column(at, R, pair, shape, operands)
        second, second_times = column(at + 1, R, pair, shape, operands)
        for four in range(warp, words_of(shape[C, R]), warps):
            numbers = tensor[uint64(first + four)]
            others = tensor[uint64(second + four)]
            for i in range(FOUR):
                word = (numbers & FIELD) * times
                if per_word > 1:
                    word |= (others & FIELD) * second_times << BITS
                right[uint32((FOUR * four + i) * LANES)] = uint32(word)
                numbers = numbers >> BITS
                others = others >> BITS

    @cuda.jit(device=True)
    def stage(c, pivot, operands, pivots, staged):
        """Write the terms that a number of C has at Q, without zeros; return how many there are.

        A term is the upper half of a word; where its row begins in shared memory is the lower one.
        """
        lane = cuda.threadIdx.x % LANES
        count = uint64(0)
        first = operands.start[C, c]
        end = operands.start[C, c + 1]
        together()  # all have read what was staged before
        while first < end:
            term = uint32(0)
            row = int64(0)
            if first + lane < end:
                word = operands.words[uint64(first + lane)]
                pivot_entry = pivots[uint64(pivot + (word & FIELD))]
                term = uint32(pivot_entry * (word >> BITS * MULTIPLICITY))
                row = (word >> BITS * R & FIELD) * LANES
            some = ballot(term != 0)
            if term != 0:
                before = cuda.popc(uint32(some & ((1 << lane) - 1)))
                staged[count + uint64(before)] = int64(term) << 32 | row
            count += uint64(cuda.popc(uint32(some)))
            first += LANES
        together()
        return count

    def kernel(first, parts, pairs, shape, operands, tensors, sums):
        slab = cuda.shared.array(SLAB, uint32)
        staged = cuda.shared.array(STAGED, int64)
        lane = cuda.threadIdx.x % LANES
        warp = cuda.threadIdx.x // LANES
        warps = cuda.blockDim.x // LANES
        right = slab[lane:]
        terms = staged[warp * ROOM :]
        number = cuda.blockIdx.x // parts
        part = cuda.blockIdx.x % parts
        b = pairs[first + number, 0]
        a = pairs[first + number, 1]
        start = operands.start
        pivot = (a * shape[B, P] + b) * words_of(shape[C, P]) * FOUR
        columns = (start[A, a + 1] - start[A, a]) * (start[B, b + 1] - start[B, b])
        result = int64(0)
        for begin in range(part * columns_at_once, columns, parts * columns_at_once):
            at = begin + lane * per_word
            cuda.syncthreads()  # all are done with the last columns
            bring(at, (b, a), shape, operands, tensors.r, right)
            cuda.syncthreads()
            left, _ = column(at, Q, (b, a), shape, operands)
            second_left, _ = column(at + 1, Q, (b, a), shape, operands)
            for four in range(warp, words_of(shape[C, Q]), warps):
                numbers = tensors.q[uint64(left + four)]
                others = tensors.q[uint64(second_left + four)]
                for c in range(FOUR * four, min(FOUR * four + FOUR, shape[C, Q])):
                    i = uint64(0)
                    low = total(0)
                    high = total(0)
                    count = stage(c, pivot, operands, tensors.p, terms)
                    while i < count:
                        term = terms[i]
                        times = term >> 32
                        word = int64(right[uint64(term & ROW)])
                        low = total(low + times * word)
                        if per_word > 1:
                            high = total(high + times * (word >> BITS))
                        i += uint64(1)
                    if per_word > 1:
                        low = total(int64(low) - (int64(high) << BITS))  # it was of whole words
                        result += int64(high) * (others & FIELD)
                    result += int64(low) * (numbers & FIELD)
                    numbers = numbers >> BITS
                    others = others >> BITS
        cuda.atomic.add(sums, number, np.uint64(result))

    return kernel


@cache
def kernel(wide: bool) -> Any:
    """Return what compiles the kernel; see ``compile_cuda.kernel``."""
    return compile_cuda.kernel(build_kernel(wide), SIGNATURE, max_registers=MAX_REGISTERS)
