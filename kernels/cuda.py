"""The kernels for CUDA: the same search as on the CPU, one thread per stack.

Threads are persistent: each fetches frontier boards by an atomic add until none is left or its
budget of nodes is spent. Stacks live in global memory with the thread as the last axis, so that
neighbouring threads at the same depth read neighbouring words; what is on them when the kernel
ends is what has not been explored, and a later launch goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, cuda

from gpusudoku.kernels import bits
from gpusudoku.kernels.layout import Layout
from gpusudoku.kernels.rules import Rules
from gpusudoku.kernels.search import build_run

SIGNATURE = (
    "void(uint64[:,::1], int64[::1], int64[::1], uint64[:,:,::1], int64[:,::1], int64, uint64,"
    " uint64[::1], uint64[:,::1], uint8[:,::1], int64[::1], uint64[:,::1])"
)
"""Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""

if not config.ENABLE_CUDASIM:
    bits.register_cuda()
    # Small cards, and cards short of memory, are launched with few blocks on purpose.
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


def _claim(counter):  # type: ignore[no-untyped-def]
    return cuda.atomic.add(counter, 0, 1)


def _add(array, i, value):  # type: ignore[no-untyped-def]
    cuda.atomic.add(array, i, value)


def build_kernel(layout: Layout, rules: Rules) -> Callable[..., None]:
    """Make the kernel as a plain function; see ``search.build_run`` for most of its arguments.

    ``kernel(boards, owners, cursor, stacks, states, budget, limit, counts, keep, solutions, used,
    tallies)``, where each thread has its part of

    stacks    uint64 (depth, words, threads)
    states    int64 (STATES, threads)
    tallies   uint64 (TALLIES, threads)

    and the number of threads launched may be larger than theirs.
    """
    jit = cuda.jit(device=True)
    run = build_run(layout, rules, jit, jit(_claim), jit(_add))
    scratch_words = layout.scratch_words

    def kernel(  # type: ignore[no-untyped-def]
        boards,
        owners,
        cursor,
        stacks,
        states,
        budget,
        limit,
        counts,
        keep,
        solutions,
        used,
        tallies,
    ):
        thread = cuda.grid(1)
        if thread >= stacks.shape[2]:
            return
        scratch = cuda.local.array(scratch_words, np.uint64)
        run(
            boards,
            owners,
            cursor,
            stacks[:, :, thread],
            states[:, thread],
            budget,
            limit,
            counts,
            keep,
            scratch,
            solutions,
            used,
            tallies[:, thread],
        )

    return kernel


@cache
def kernel(layout: Layout, rules: Rules) -> Any:
    """The kernel, ready to be launched as ``kernel[blocks, threads_per_block](...)``."""
    return cuda.jit(build_kernel(layout, rules))
