"""The sum over pairs of partitions on a GPU.

The sum is that of ``pair_sums``, with the loop over the entries of C inside. Let a *column* be an
entry k of A and an entry l of B that belong to the pair (a, b). The sum of a pair is the sum, over
all columns and over all indices x of C at Q, of

    Q's tensor at [k's index][l's index][x] * inner sum
    inner sum = sum over the entries of C that have x at Q, and any y at R, of
                (P's tensor at [a][b][index at P] * multiplicity)
                * (R's tensor at [k's index][l's index][y] * multiplicities of k and l)

The first factor of the inner sum, a *term*, is the same for all columns. So each thread of a warp
has its own columns, and all threads take the same term at a time: they share the work for a term,
and read a row of shared memory side by side. A block copies to shared memory the elements of R's
tensor for as many columns as one warp takes. Its warps divide the indices x among themselves.

    shared memory     thread 0       thread 1       ...  thread 31
    row y = 0         its columns    its columns         its columns      one word of 32 bits each
    row y = 1         its columns    its columns         its columns

A thread's word has two columns of 16 bits, or one of 32 bits in the wide kernel.

In memory of the GPU the indices of C are the last axis of a tensor; ``RoleTensors`` has a drawing.

Exactness. No term is negative, so no partial sum overflows its type unless the result does. Two
columns share a word, and inner sums have 32 bits, where the actual maxima allow it
(``is_narrow_on_gpu``): at most PER_PARTITION entries have x at Q. If not, the wide kernel takes one
column a word, and 64 bits: R's tensor times the multiplicities is at most 248,832, a term
12 * 1,728, and so the inner sum stays below 2^39. The sum of a pair stays below 2^57
(``pair_sums``). Times the size of its orbit it may pass 2^64, so the host multiplies.
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
    FIELDS_PER_WORD,
    MAX_THREADS,
    DeviceOperands,
    RoleTensors,
)

LANES = 1 if config.ENABLE_CUDASIM else 32
"""Threads of a warp. The simulator has no warps, so there every thread is its own."""
WHOLE_WARP = 0xFFFFFFFF
"""All threads of a warp, as bits."""
MAX_REGISTERS = 64
"""Maximum number of registers of a thread. With more, registers and not shared memory would limit
the blocks that run at once. Values that do not fit are needed outside the inner loops only."""
WARP_TERMS = 64
"""Room for terms that a warp has in shared memory. It needs PER_PARTITION."""
SLAB_WORDS = PARTITIONS * LANES
"""Words of 32 bits of shared memory for the columns of a block."""
BLOCK_TERMS = MAX_THREADS // LANES * WARP_TERMS
"""Words of 64 bits of shared memory for the terms of a block. Together with the columns they take
43 KB, less than the limit of any GPU for a block."""
FIELD_BITS = 16
"""Bits of each of the FIELDS_PER_WORD fields of a word of 64 bits."""
FIELD_MASK = 0xFFFF
"""The lowest field of a word."""
ROW_MASK = 0xFFFFFFFF
"""The lower half of a term's word:

    bits     63 ... 32                     31 ... 0
    value    the term: P's tensor times    where the row of the entry's y
             the entry's multiplicity      begins in shared memory
"""


SIGNATURE = (
    int64,
    int64,
    int32[:, ::1],
    int64[:, ::1],
    types.NamedTuple((int16[:, :, ::1], int64[::1], int64[:, ::1]), DeviceOperands),
    types.NamedTuple((int16[::1], int64[::1], int64[::1]), RoleTensors),
    uint64[::1],
)
"""Argument types of the kernels. ``cuda.jit`` does not get them, as it would compile at import."""


if config.ENABLE_CUDASIM:

    @cuda.jit(device=True)
    def _ballot(condition):
        return int(condition)

    @cuda.jit(device=True)
    def _sync_warp():
        pass

else:

    @cuda.jit(device=True)
    def _ballot(condition):
        return cuda.ballot_sync(WHOLE_WARP, condition)

    @cuda.jit(device=True)
    def _sync_warp():
        cuda.syncwarp(WHOLE_WARP)


# Indices are made unsigned where it matters: for signed ones Numba adds code that tests whether
# they are negative.


@cuda.jit(device=True)
def _word_count(indices):
    """Return the words that a row of a tensor has for this number of indices."""
    return (indices + FIELDS_PER_WORD - 1) // FIELDS_PER_WORD


@cuda.jit(device=True)
def _locate_column(column, crossing_role, pair, shape, operands):
    """Return the first word of Q's or R's tensor for a column, and the multiplicity of k and l.

    Past the last column both are 0.
    """
    entries = operands.entries
    start = operands.start
    (b, a) = pair
    l_count = start[B, b + 1] - start[B, b]
    if column >= (start[A, a + 1] - start[A, a]) * l_count:
        return 0, 0
    a_entry = start[A, a] + column // l_count
    b_entry = start[B, b] + column % l_count
    a_index = entries[A, a_entry, crossing_role]
    b_index = entries[B, b_entry, crossing_role]
    row = a_index * shape[B, crossing_role] + b_index
    a_multiplicity = int64(entries[A, a_entry, MULTIPLICITY])
    multiplicity = a_multiplicity * entries[B, b_entry, MULTIPLICITY]
    return row * _word_count(shape[C, crossing_role]), multiplicity


@cuda.jit(device=True)
def _list_terms(c, pivot_start, operands, pivots, terms):
    """Write the terms of an index c of C at Q, without zeros; return the number of terms.

    ``pivot_start`` is where the elements of the pair begin in P's tensor, ``pivots``.
    ROW_MASK shows the layout of ``terms``. All threads of a warp call this together, each for its
    own entry.
    """
    lane = cuda.threadIdx.x % LANES
    count = uint64(0)
    entry = operands.start[C, c]
    end = operands.start[C, c + 1]
    _sync_warp()  # all threads have read the terms of the previous c
    while entry < end:
        term = uint32(0)
        row = int64(0)
        if entry + lane < end:
            word = operands.words[uint64(entry + lane)]
            pivot = pivots[uint64(pivot_start + (word & FIELD_MASK))]
            term = uint32(pivot * (word >> FIELD_BITS * MULTIPLICITY))
            row = (word >> FIELD_BITS * R & FIELD_MASK) * LANES
        # Each thread with a term writes it behind those of the threads before it.
        threads_with_term = _ballot(term != 0)
        if term != 0:
            terms_before = cuda.popc(uint32(threads_with_term & ((1 << lane) - 1)))
            terms[count + uint64(terms_before)] = int64(term) << 32 | row
        count += uint64(cuda.popc(uint32(threads_with_term)))
        entry += LANES
    _sync_warp()
    return count


def build_copy_columns(per_word: int) -> Any:
    """Make ``copy_columns`` for a number of columns in a word of shared memory."""

    @cuda.jit(device=True)
    def copy_columns(column, pair, shape, operands, tensor, right):
        """Write a thread's columns to its words of shared memory, with zeros past the last.

        The warps of the block divide the words of the tensor's rows among themselves.
        """
        warp = cuda.threadIdx.x // LANES
        warps = cuda.blockDim.x // LANES
        low_start, low_factor = _locate_column(column, R, pair, shape, operands)
        high_start, high_factor = _locate_column(column + 1, R, pair, shape, operands)
        for word in range(warp, _word_count(shape[C, R]), warps):
            low_fields = tensor[uint64(low_start + word)]
            high_fields = tensor[uint64(high_start + word)]
            for i in range(FIELDS_PER_WORD):
                columns = (low_fields & FIELD_MASK) * low_factor
                if per_word > 1:
                    columns |= (high_fields & FIELD_MASK) * high_factor << FIELD_BITS
                right[uint32((FIELDS_PER_WORD * word + i) * LANES)] = uint32(columns)
                low_fields = low_fields >> FIELD_BITS
                high_fields = high_fields >> FIELD_BITS

    return copy_columns


def build_kernel(wide: bool = False) -> Callable[..., None]:
    """Make the kernel, for one column a word if ``wide``; it adds to ``sums``.

    The kernel is launched in blocks of whole warps, with MAX_THREADS at most. Its parameters are

    first_pair       the pair of the first block
    blocks_per_pair  the number of consecutive blocks that divide the columns of a pair
    pairs            int32 (pairs, 3): as in ``Orbits``; the sizes are not read
    shape            int64 (3, 3): as in ``Roles``
    operands         ``DeviceOperands``
    tensors          ``RoleTensors``
    sums             uint64 (blocks / blocks_per_pair): the sum of every pair; zero before
    """
    per_word = 1 if wide else 2
    columns_at_once = per_word * LANES
    total = int64 if wide else uint32
    copy_columns = build_copy_columns(per_word)

    def kernel(first_pair, blocks_per_pair, pairs, shape, operands, tensors, sums):
        slab = cuda.shared.array(SLAB_WORDS, uint32)
        block_terms = cuda.shared.array(BLOCK_TERMS, int64)
        lane = cuda.threadIdx.x % LANES
        warp = cuda.threadIdx.x // LANES
        warps = cuda.blockDim.x // LANES
        # The thread's column of shared memory, and its warp's room for terms.
        right = slab[lane:]
        terms = block_terms[warp * WARP_TERMS :]
        # Consecutive blocks have the same pair, and take its columns in turn.
        pair_of_launch = cuda.blockIdx.x // blocks_per_pair
        block_of_pair = cuda.blockIdx.x % blocks_per_pair
        b = pairs[first_pair + pair_of_launch, 0]
        a = pairs[first_pair + pair_of_launch, 1]
        start = operands.start
        pivot_start = (a * shape[B, P] + b) * _word_count(shape[C, P]) * FIELDS_PER_WORD
        column_count = (start[A, a + 1] - start[A, a]) * (start[B, b + 1] - start[B, b])
        pair_sum = int64(0)
        for first_column in range(
            block_of_pair * columns_at_once, column_count, blocks_per_pair * columns_at_once
        ):
            column = first_column + lane * per_word
            cuda.syncthreads()  # all threads are done with the previous columns
            copy_columns(column, (b, a), shape, operands, tensors.r, right)
            cuda.syncthreads()
            low_start, _ = _locate_column(column, Q, (b, a), shape, operands)
            high_start, _ = _locate_column(column + 1, Q, (b, a), shape, operands)
            # The warps of the block have the same columns, and take the words of a row in turn.
            for word in range(warp, _word_count(shape[C, Q]), warps):
                low_fields = tensors.q[uint64(low_start + word)]
                high_fields = tensors.q[uint64(high_start + word)]
                first_c = FIELDS_PER_WORD * word
                for c in range(first_c, min(first_c + FIELDS_PER_WORD, shape[C, Q])):
                    i = uint64(0)
                    low_sum = total(0)
                    high_sum = total(0)
                    count = _list_terms(c, pivot_start, operands, tensors.p, terms)
                    while i < count:
                        packed_term = terms[i]
                        term = packed_term >> 32
                        columns = int64(right[uint64(packed_term & ROW_MASK)])
                        low_sum = total(low_sum + term * columns)
                        if per_word > 1:
                            high_sum = total(high_sum + term * (columns >> FIELD_BITS))
                        i += uint64(1)
                    if per_word > 1:
                        # low_sum has added up whole words. Modulo 2^32 that is its own sum plus
                        # 2^16 times high_sum.
                        low_sum = total(int64(low_sum) - (int64(high_sum) << FIELD_BITS))
                        pair_sum += int64(high_sum) * (high_fields & FIELD_MASK)
                    pair_sum += int64(low_sum) * (low_fields & FIELD_MASK)
                    low_fields = low_fields >> FIELD_BITS
                    high_fields = high_fields >> FIELD_BITS
        # The sum of this thread's columns and c; the total is below 2^57.
        cuda.atomic.add(sums, pair_of_launch, np.uint64(pair_sum))

    return kernel


@cache
def kernel(wide: bool) -> Any:
    """Return the kernel with its compiler; see ``compile_cuda.kernel``."""
    return compile_cuda.kernel(build_kernel(wide), SIGNATURE, max_registers=MAX_REGISTERS)
