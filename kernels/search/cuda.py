"""The search compiled for CUDA: the same loop as on the CPU, one thread per stack.

Threads are persistent: each takes frontier boards by an atomic add until none is left or its
budget of nodes is spent. Stacks live in global memory; what is on them when the kernel ends is what
has not been explored, and a later launch goes on from there. They lie there in one of two ways:
with the thread as the first axis, so that a board is in one place however deep the neighbours are,
or as the last, so that neighbouring threads at the same depth touch neighbouring words. The search
of 9x9 boards moves whole boards and has the first; the other takes either.
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
from gpusudoku.kernels.search.nine import rows
from gpusudoku.kernels.search.select import gpu_search_for
from gpusudoku.kernels.search.settings import SearchSettings

if not config.ENABLE_CUDASIM:
    bits.register_cuda()
    lanes.register_cuda()
    rows.register_cuda()

WHOLE_WARP = 0xFFFFFFFF
"""All 32 threads of a warp, as bits."""


def _claim(counter):
    return cuda.atomic.add(counter, 0, 1)


def _add(array, i, value):
    cuda.atomic.add(array, i, value)


if config.ENABLE_CUDASIM:

    def _any_of_warp(condition):
        return condition  # the simulator has no warps: every thread is one of its own

else:

    def _any_of_warp(condition):
        return cuda.any_sync(WHOLE_WARP, condition)


def signature(layout: Layout, settings: SearchSettings) -> tuple[Any, ...]:
    """Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""
    search = gpu_search_for(layout, settings)
    work = Work.empty(search.words, search.word)
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
    (depth, threads), or (threads, ...) both if ``contiguous`` or the search wants that; state and
    tally are (..., threads). Boards are rows of the ``GpuSearch``.

    More threads may be launched than there are stacks, but both in whole warps: the threads of a
    warp wait for each other, and one that has gone would be waited for.
    """
    jit = cuda.jit(device=True)
    search = gpu_search_for(layout, settings)
    run = search.build_run(jit, jit(_claim), jit(_add), jit(_any_of_warp))
    contiguous = contiguous or search.contiguous

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
