"""The search compiled for CUDA: the loop of ``thread``, one thread per stack.

Threads are persistent: each takes boards from the pool by an atomic add until none is left or its
budget of rounds is spent. Stacks live in global memory, each in one place; what is on them and in
the pool when the kernel ends is what has not been explored, and the next launch goes on from there.
At its end a thread may give a board to the pool. So a few boards become as many as there are
threads, and those that run dry are fed, by launches alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import config, cuda, typeof, types

from gpusudoku.kernels import bits, cuda_jit
from gpusudoku.kernels.search import thread
from gpusudoku.kernels.search.arguments import POOL_STATES, STATES, TALLIES, Found, Pool, Stack
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape

if not config.ENABLE_CUDASIM:
    bits.register_cuda()
    thread.register_cuda()


class LaunchSettings(NamedTuple):
    """How a kernel uses a multiprocessor."""

    is_shared: bool
    """Whether boards are in shared memory; else in local memory."""
    block: int
    """Threads of a block."""
    registers: int | None
    """The most registers that a thread may have."""


def launch_settings(shape: Shape, capability: tuple[int, int]) -> LaunchSettings:
    """Return the launch settings that are best for a shape on GPUs of a compute capability."""
    return LaunchSettings(False, 128, None)


WHOLE_WARP = 0xFFFFFFFF
"""All 32 threads of a warp, as bits."""


def _claim(array, i):
    return cuda.atomic.add(array, i, 1)


def _add(array, i, value):
    cuda.atomic.add(array, i, value)


if config.ENABLE_CUDASIM:

    def _any_of_warp(condition):
        return condition  # the simulator has no warps: every thread is one of its own

else:

    def _any_of_warp(condition):
        return cuda.any_sync(WHOLE_WARP, condition)


def signature(shape: Shape) -> tuple[Any, ...]:
    """Argument types of the kernel. Not given to ``cuda.jit``, which would compile at import."""
    stacks = Stack(
        np.empty((1, 1, shape.words), shape.word),
        np.empty((1, 1), np.int64),
        np.empty((STATES, 1), np.int64),
        np.empty((TALLIES, 1), np.uint64),
    )
    boards, roots = np.empty((1, shape.words), shape.word), np.empty(1, np.int64)
    pool = Pool(boards, roots, np.empty(POOL_STATES, np.int64))
    groups = pool, stacks, Found.empty(1, 0, shape.n**2)
    return *map(typeof, groups), types.int64, types.int64, types.uint64


def build_kernel(
    shape: Shape, settings: SearchSettings, launch: LaunchSettings | None = None
) -> Callable[..., None]:
    """Make the plain function ``kernel(pool, stacks, found, budget, gives, limit)``.

    ``arguments`` describes the groups and ``thread.build_run`` the rest. ``stacks`` is a ``Stack``
    with an axis for the threads: its boards are (threads, depth, words) and its roots
    (threads, depth); state and tally are (..., threads).

    More threads may be launched than there are stacks, but both in whole warps: the threads of a
    warp wait for each other, and one that has gone would be waited for.
    """
    jit = cuda.jit(device=True)
    run = thread.build_run(shape, settings, jit, jit(_claim), jit(_add), jit(_any_of_warp))
    memory_rows, word = shape.memory_rows, shape.word

    def kernel(pool, stacks, found, budget, gives, limit):
        number = cuda.grid(1)
        if number >= stacks.state.shape[1]:
            return
        boards, roots = stacks.boards[number], stacks.roots[number]
        stack = Stack(boards, roots, stacks.state[:, number], stacks.tally[:, number])
        memory = cuda.local.array((memory_rows, 1), word)
        run(pool, stack, found, budget, gives, limit, memory)

    return kernel


@cache
def kernel(shape: Shape, settings: SearchSettings, launch: LaunchSettings | None = None) -> Any:
    """The kernel, compiled, to be launched as ``kernel[blocks, threads_per_block](...)``."""
    name = f"search.cuda-{shape.box_rows}x{shape.box_columns}"
    name += f"-t{settings.techniques}-s{settings.strategy}"
    options = {"max_registers": launch.registers} if launch and launch.registers else {}
    function = build_kernel(shape, settings, launch)
    return cuda_jit.kernel(name, function, signature(shape), **options)
