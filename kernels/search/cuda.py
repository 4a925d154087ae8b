"""The search compiled for CUDA: the loop of ``thread``, one thread per stack.

Threads are persistent. Each takes boards from the pool by an atomic addition, until the pool is
empty, or its budget of rounds or that of another warp is spent. Stacks and the pool are in global
memory. When the kernel ends, they have all boards that have not been explored, and the next launch
continues with them. At its end a thread may give a board to the pool. So a few boards become as
many as there are threads, and idle threads get new ones: no code runs between launches for that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, cuda, typeof, types

from gpusudoku.kernels import bits, compile_cuda
from gpusudoku.kernels.search import rows, thread
from gpusudoku.kernels.search.arguments import (
    POOL_STATE_WORDS,
    STACK_STATE_WORDS,
    TALLY_WORDS,
    Pool,
    SearchResults,
    Stack,
)
from gpusudoku.kernels.search.launch import WARP, LaunchSettings
from gpusudoku.kernels.search.shape import SearchSettings, Shape

if not config.ENABLE_CUDASIM:
    bits.register_cuda()
    rows.register_cuda()

WHOLE_WARP = 0xFFFFFFFF
"""All 32 threads of a warp, as bits."""


def _atomic_add(array, index, value):
    return cuda.atomic.add(array, index, value)


if config.ENABLE_CUDASIM:  # the simulator has no warps: every thread is a warp of its own

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
    """Return the types of the kernel's arguments.

    ``compile_cuda`` compiles for them. With a signature, ``cuda.jit`` would compile at import.
    """
    stacks = Stack(
        np.empty((1, 1, shape.words), shape.word),
        np.empty((1, 1), np.int64),
        np.empty((STACK_STATE_WORDS, 1), np.int64),
        np.empty((TALLY_WORDS, 1), np.uint64),
    )
    boards = np.empty((1, shape.words), shape.word)
    roots = np.empty(1, np.int64)
    pool = Pool(boards, roots, np.empty(POOL_STATE_WORDS, np.int64))
    arrays = pool, stacks, SearchResults.empty(1, 0, shape.n**2)
    return *map(typeof, arrays), types.int64, types.int64, types.uint64


def build_kernel(
    shape: Shape, settings: SearchSettings, launch: LaunchSettings
) -> Callable[..., None]:
    """Make the plain function ``kernel(pool, stacks, results, budget, gives, limit)``.

    ``arguments`` describes the groups of arrays, and ``thread.build_run`` the other arguments.
    ``stacks`` is a ``Stack`` with an axis for the threads: its boards are (threads, depth, words)
    and its roots (threads, depth); state and tally are (..., threads).

    More threads may be launched than there are stacks, but the number of either must be a multiple
    of a warp: the threads of a warp wait for each other, and would wait forever for one that has
    returned. A block has at most ``launch.block`` threads.
    """
    jit = cuda.jit(device=True)
    helpers = thread.Helpers(jit(_atomic_add), jit(_any_of_warp), jit(_is_first_of_warp))
    run = thread.build_run(shape, settings, jit, helpers)
    memory_rows = shape.memory_rows
    word = shape.word
    is_shared = launch.is_shared
    block = launch.block

    def kernel(pool, stacks, results, budget, gives, limit):
        thread_index = cuda.grid(1)
        if thread_index >= stacks.state.shape[1]:
            return
        stack = Stack(
            stacks.boards[thread_index],
            stacks.roots[thread_index],
            stacks.state[:, thread_index],
            stacks.tally[:, thread_index],
        )
        if is_shared:
            memory = cuda.shared.array((memory_rows, block), word)
            memory = rows.from_column(memory, cuda.threadIdx.x)
        else:
            memory = cuda.local.array((memory_rows, 1), word)
        run(pool, stack, results, budget, gives, limit, memory)

    return kernel


@cache
def kernel(shape: Shape, settings: SearchSettings, launch: LaunchSettings) -> Any:
    """Return the object that compiles the kernel; see ``compile_cuda.kernel``."""
    options = {}
    if launch.registers is not None:
        options["max_registers"] = launch.registers
    function = build_kernel(shape, settings, launch)
    return compile_cuda.kernel(function, signature(shape), **options)
