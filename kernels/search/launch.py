"""How the CUDA kernel of a search is compiled and launched: its kind of memory, its block size.

A thread indexes the words of its current board by numbers that differ between the threads of a
warp. So the board cannot be in registers. In shared memory, the words with the same number of all
threads of a block are next to each other:

              thread 0   thread 1   thread 2   ...
    word 0       0          1          2              one bank for each thread of a warp,
    word 1     block     block+1    block+2           whichever words they access
    ...

Local memory is the fallback for boards that are too large. There every store goes to the
second-level cache: on an H200, the stores of 9x9 boards took 79 % of its bandwidth.
"""

from __future__ import annotations

from typing import NamedTuple

from gpusudoku.kernels.search.shape import Shape

WARP = 32
"""Threads of a warp."""
MAX_BLOCK = 128
"""The most threads of a block. With boards in local memory, an H100 was 1 or 2 % faster with half
or twice as many. With shared memory that was not measured."""
MAX_BLOCK_BYTES = 48 << 10
"""The most shared memory of a block that a kernel may have without opting in."""
RESERVED_BYTES = 1 << 10
"""Shared memory of a block that CUDA reserves, from compute capability 8.0 on."""
SHARED_BYTES = {
    (7, 0): 96 << 10,
    (7, 5): 64 << 10,
    (8, 0): 164 << 10,
    (8, 6): 100 << 10,
    (8, 7): 164 << 10,
    (8, 9): 100 << 10,
    (9, 0): 228 << 10,
    (10, 0): 228 << 10,
    (10, 3): 228 << 10,
    (11, 0): 228 << 10,
    (12, 0): 100 << 10,
    (12, 1): 100 << 10,
}
"""Shared memory of a multiprocessor by compute capability: the table of technical specifications in
NVIDIA's CUDA C++ programming guide."""
MIN_SHARED_BYTES = 64 << 10
"""Shared memory of a multiprocessor of any other GPU, at least."""
MIN_WARPS = 4
"""Shared memory is used if at least this many warps fit on a multiprocessor: one per scheduler."""


class LaunchSettings(NamedTuple):
    """How a kernel is compiled and launched."""

    is_shared: bool
    """True if the threads' current boards are in shared memory, False if in local memory."""
    block: int
    """Threads of a block: a multiple of WARP."""
    registers: int | None = None
    """The most registers of a thread; None leaves it to the compiler."""


def warps_in_shared_memory(shape: Shape, capability: tuple[int, int], block: int) -> int:
    """Return the number of warps that fit in a multiprocessor's shared memory, in such blocks."""
    block_bytes = block * shape.memory_rows * shape.bits // 8
    if block_bytes > MAX_BLOCK_BYTES:
        return 0
    # CUDA reserves some memory for every block, so small blocks waste more of it.
    available = SHARED_BYTES.get(capability, MIN_SHARED_BYTES)
    return available // (block_bytes + RESERVED_BYTES) * (block // WARP)


def launch_settings(shape: Shape, capability: tuple[int, int]) -> LaunchSettings:
    """Choose the settings for a shape and the compute capability of a GPU.

    The block size is the one for which the most warps fit in shared memory; if there are several,
    the largest of them.
    """
    blocks = (MAX_BLOCK, MAX_BLOCK // 2, WARP)  # descending: max returns the first of equal ones
    block = max(blocks, key=lambda block: warps_in_shared_memory(shape, capability, block))
    if warps_in_shared_memory(shape, capability, block) < MIN_WARPS:
        return LaunchSettings(is_shared=False, block=MAX_BLOCK)
    return LaunchSettings(is_shared=True, block=block)
