"""The search compiled for CUDA: the same loop as on the CPU, one thread per stack.

Threads are persistent: each takes frontier boards by an atomic add until none is left or its
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
from numba import config, cuda, typeof, types

from gpusudoku.kernels import bits, cuda_jit, lanes
from gpusudoku.kernels.search.arguments import STATES, TALLIES, Found, Stack, Work
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings

if not config.ENABLE_CUDASIM:
    bits.register_cuda()
    lanes.register_cuda()


def _claim(counter):
    return cuda.atomic.add(counter, 0, 1)


def _add(array, i, value):
    cuda.atomic.add(array, i, value)


def signature(layout: Layout, settings: SearchSettings) -> tuple[Any, ...]:
    """Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""
    search = search_for(layout, settings, lanes=1)
    work = Work.empty(layout.words)
    stacks = Stack(
        np.empty((1, search.words, 1), search.word),
        np.empty((1, 1), np.int64),
        np.empty((STATES, 1), np.int64),
        np.empty((TALLIES, 1), np.uint64),
    )
    found = Found.empty(1, 0, layout.n**2)
    groups = typeof(work), typeof(stacks), typeof(found)
    return *groups, types.int64, types.uint64, types.uint64[:, ::1]


def build_kernel(
    layout: Layout, settings: SearchSettings, contiguous: bool = False
) -> Callable[..., None]:
    """Make the plain function ``kernel(work, stacks, found, budget, limit, nonpeers)``.

    ``arguments`` describes the groups and ``loop.build_run`` the rest. ``stacks`` is a ``Stack``
    with an axis for the threads: its boards are (depth, words, threads) and its roots
    (depth, threads), or (threads, ...) both if ``contiguous``; state and tally are (..., threads).
    More threads may be launched than there are stacks.
    """
    jit = cuda.jit(device=True)
    run = search_for(layout, settings, lanes=1).build_gpu_run(jit, jit(_claim), jit(_add))

    def kernel(work, stacks, found, budget, limit, nonpeers):
        thread = cuda.grid(1)
        if thread >= stacks.state.shape[1]:
            return
        if contiguous:
            boards, roots = stacks.boards[thread], stacks.roots[thread]
        else:
            boards, roots = stacks.boards[:, :, thread], stacks.roots[:, thread]
        stack = Stack(boards, roots, stacks.state[:, thread], stacks.tally[:, thread])
        run(work, stack, found, budget, limit, nonpeers)

    return kernel


@cache
def kernel(
    layout: Layout,
    settings: SearchSettings,
    contiguous: bool = False,
    max_registers: int | None = None,
) -> Any:
    """The kernel, compiled, to be launched as ``kernel[blocks, threads_per_block](...)``."""
    shape = f"{layout.box_rows}x{layout.box_columns}"
    search = f"t{settings.techniques}-s{settings.strategy}-c{contiguous:d}"
    function = build_kernel(layout, settings, contiguous)
    name = f"search.cuda-{shape}-{search}"
    arguments = signature(layout, settings)
    return cuda_jit.kernel(name, function, arguments, max_registers=max_registers)
