"""The kernels for CUDA: the same search as on the CPU, one thread per stack.

Threads are persistent: each fetches frontier boards by an atomic add until none is left or its
budget of nodes is spent. Stacks live in global memory; what is on them when the kernel ends is what
has not been explored, and a later launch goes on from there. They lie there in one of two ways:
with the thread as the last axis, so that neighbouring threads at the same depth touch neighbouring
words, or as the first, so that a board is in one place however deep the neighbours are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, cuda

from gpusudoku.kernels import bits, lanes
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.nine.planes import WORK_ROWS
from gpusudoku.kernels.search.select import NineSearch, search_for
from gpusudoku.kernels.search.settings import SearchSettings

if not config.ENABLE_CUDASIM:
    bits.register_cuda()
    lanes.register_cuda()
    # Small cards, and cards short of memory, are launched with few blocks on purpose.
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


def _claim(counter):
    return cuda.atomic.add(counter, 0, 1)


def _add(array, i, value):
    cuda.atomic.add(array, i, value)


def signature(layout: Layout, settings: SearchSettings) -> str:
    """Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""
    word = search_for(layout, settings).word.__name__
    return (
        f"void(uint64[:,::1], int64[::1], int64[::1], {word}[:,:,::1], int64[:,::1], int64[:,::1],"
        " int64, uint64, uint64[::1], uint8[:,::1], int64[::1], int64[::1], uint64[:,::1],"
        " uint64[:,::1])"
    )


def build_kernel(
    layout: Layout, settings: SearchSettings, contiguous: bool = False
) -> Callable[..., None]:
    """Make the kernel as a plain function; see ``search.build_run`` for most of its arguments.

    ``kernel(boards, roots, cursor, stacks, stack_roots, states, budget, limit, counts,
    solutions, solution_roots, used, tallies, nonpeers)``, where each thread has its part of

    stacks        (depth, words, threads)    words and their type as the ``Search`` has them
    stack_roots  int64 (depth, threads)     of both: (threads, ...) if ``contiguous``
    states        int64 (STATES, threads)
    tallies       uint64 (TALLIES, threads)

    and the number of threads launched may be larger than theirs.
    """
    jit = cuda.jit(device=True)
    search = search_for(layout, settings, lanes=1)
    run = search.build_run(jit, jit(_claim), jit(_add))
    nine = isinstance(search, NineSearch)
    scratch_words = layout.scratch_words

    def kernel(
        boards,
        roots,
        cursor,
        stacks,
        stack_roots,
        states,
        budget,
        limit,
        counts,
        solutions,
        solution_roots,
        used,
        tallies,
        nonpeers,
    ):
        thread = cuda.grid(1)
        if thread >= states.shape[1]:
            return
        if contiguous:
            stack, whose = stacks[thread], stack_roots[thread]
        else:
            stack, whose = stacks[:, :, thread], stack_roots[:, thread]
        # What the search of a thread needs besides: one lane's memory, or tables and scratch.
        if nine:
            one = cuda.local.array((WORK_ROWS, 1), np.uint32)
            two = cuda.local.array(1, np.int64)
        else:
            one = nonpeers
            two = cuda.local.array(scratch_words, np.uint64)
        run(
            boards,
            roots,
            cursor,
            stack,
            whose,
            states[:, thread],
            budget,
            limit,
            counts,
            solutions,
            solution_roots,
            used,
            tallies[:, thread],
            one,
            two,
        )

    return kernel


@cache
def kernel(
    layout: Layout,
    settings: SearchSettings,
    contiguous: bool = False,
    max_registers: int | None = None,
) -> Any:
    """The kernel, compiled, to be launched as ``kernel[blocks, threads_per_block](...)``."""
    function = build_kernel(layout, settings, contiguous)
    if config.ENABLE_CUDASIM:
        return cuda.jit(function)
    dispatcher = cuda.jit(function, max_registers=max_registers)
    dispatcher.compile(signature(layout, settings))  # now, so that its registers are known
    return dispatcher
