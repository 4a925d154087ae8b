"""The loop of a CUDA thread: that of a search, with the scratch in memory of the thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda

from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.loop import Scratch
from gpusudoku.kernels.search.nine.planes import MEMORY_ROWS, Lanes


def build_general_run(layout: Layout, jit: Jit, run: Callable[..., None]) -> Callable[..., None]:
    """Make ``run(work, stack, found, budget, limit, nonpeers)`` of any geometry's loop."""
    scratch_words = layout.scratch_words

    @jit
    def general_run(work, stack, found, budget, limit, nonpeers):
        scratch = Scratch(nonpeers, cuda.local.array(scratch_words, np.uint64))
        run(work, stack, found, budget, limit, scratch)

    return general_run


def build_nine_run(jit: Jit, run: Callable[..., None]) -> Callable[..., None]:
    """Make the same of the loop of 9x9 boards, with one lane; it needs no ``nonpeers``."""

    @jit
    def nine_run(work, stack, found, budget, limit, nonpeers):
        memory = cuda.local.array((MEMORY_ROWS, 1), np.uint32)
        lane = Lanes(memory, cuda.local.array(1, np.int64))
        run(work, stack, found, budget, limit, lane)

    return nine_run
