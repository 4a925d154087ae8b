"""The search compiled for CUDA: the loop of ``thread``, one thread per stack.

Threads are persistent: each takes boards from the pool by an atomic add until none is left, or its
budget of rounds or that of another warp is spent. Stacks live in global memory, each in one place;
what is on them and in the pool when the kernel ends is what has not been explored, and the next
launch goes on from there. At its end a thread may give a board to the pool. So a few boards become
as many as there are threads, and those that run dry are fed, by launches alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, cuda, typeof, types

from gpusudoku.kernels import bits, compile_cuda
from gpusudoku.kernels.search import rows, thread
from gpusudoku.kernels.search.arguments import POOL_STATES, STATES, TALLIES, Found, Pool, Stack
from gpusudoku.kernels.search.launch import WARP, LaunchSettings
from gpusudoku.kernels.search.shape import SearchSettings, Shape

if not config.ENABLE_CUDASIM:
    bits.register_cuda()
    rows.register_cuda()

WHOLE_WARP = 0xFFFFFFFF
"""All 32 threads of a warp, as bits."""


def _add(array, i, value):
    return cuda.atomic.add(array, i, value)


if config.ENABLE_CUDASIM:  # the simulator has no warps: every thread is one of its own

    def _any_of_warp(condition):
        return condition

    def _is_first_of_warp():
        return True

else:

    def _any_of_warp(condition):
        return cuda.any_sync(WHOLE_WARP, condition)

    def _is_first_of_warp():
        return cuda.threadIdx.x % WARP == 0


def signature(shape: Shape) -> tuple[Any, ...]:
    """Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""
    stacks = Stack(
        np.empty((1, 1, shape.words), shape.word),
        np.empty((1, 1), np.int64),
        np.empty((STATES, 1), np.int64),
        np.empty((TALLIES, 1), np.uint64),
    )
    boards = np.empty((1, shape.words), shape.word)
    roots = np.empty(1, np.int64)
    pool = Pool(boards, roots, np.empty(POOL_STATES, np.int64))
    groups = pool, stacks, Found.empty(1, 0, shape.n**2)
    return *map(typeof, groups), types.int64, types.int64, types.uint64


def build_kernel(
    shape: Shape, settings: SearchSettings, launch: LaunchSettings
) -> Callable[..., None]:
    """Make the plain function ``kernel(pool, stacks, found, budget, gives, limit)``.

    ``arguments`` describes the groups and ``thread.build_run`` the rest. ``stacks`` is a ``Stack``
    with an axis for the threads: its boards are (threads, depth, words) and its roots
    (threads, depth); state and tally are (..., threads).

    More threads may be launched than there are stacks, but both in whole warps: the threads of a
    warp wait for each other, and one that has gone would be waited for. A block has no more threads
    than ``launch`` says.
    """
    jit = cuda.jit(device=True)
    helpers = thread.Helpers(*map(jit, (_add, _any_of_warp, _is_first_of_warp)))
    run = thread.build_run(shape, settings, jit, helpers)
    memory_rows, word, is_shared, block = shape.memory_rows, shape.word, *launch[:2]

    def kernel(pool, stacks, found, budget, gives, limit):
        number = cuda.grid(1)
        if number >= stacks.state.shape[1]:
            return
        boards = stacks.boards[number]
        roots = stacks.roots[number]
        stack = Stack(boards, roots, stacks.state[:, number], stacks.tally[:, number])
        if is_shared:
            memory = cuda.shared.array((memory_rows, block), word)
            memory = rows.from_column(memory, cuda.threadIdx.x)
        else:
            memory = cuda.local.array((memory_rows, 1), word)
        run(pool, stack, found, budget, gives, limit, memory)

    return kernel


@cache
def kernel(shape: Shape, settings: SearchSettings, launch: LaunchSettings) -> Any:
    """Return what compiles the kernel; see ``compile_cuda.kernel``."""
    options = {} if launch.registers is None else {"max_registers": launch.registers}
    function = build_kernel(shape, settings, launch)
    return compile_cuda.kernel(function, signature(shape), **options)
