"""The loop of a CUDA thread: that of a search, with the scratch in memory of the thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda

from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.loop import Scratch
from gpusudoku.kernels.search.nine.planes import MEMORY_ROWS


def build_general_run(layout: Layout, jit: Jit, run: Callable[..., None]) -> Callable[..., None]:
    """Make ``run(work, stack, found, budget, limit, nonpeers)`` of any geometry's loop."""
    scratch_words = layout.scratch_words

    @jit
    def general_run(work, stack, found, budget, limit, nonpeers):
        scratch = Scratch(nonpeers, cuda.local.array(scratch_words, np.uint64))
        run(work, stack, found, budget, limit, scratch)

    return general_run


def build_nine_run(jit: Jit, run: Callable[..., None]) -> Callable[..., None]:
    """Make the same of the loop for 9x9 boards; it needs no ``nonpeers``."""

    @jit
    def nine_run(work, stack, found, budget, limit, nonpeers):
        memory = cuda.local.array((MEMORY_ROWS, 1), np.uint32)
        run(work, stack, found, budget, limit, memory)

    return nine_run
