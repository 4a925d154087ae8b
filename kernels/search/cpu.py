"""The kernels of the search for the CPU: one set for each geometry and settings, kept on disk.

The compiler gets the geometry as constants. It unrolls the loops over digits and words, which makes
the search twice as fast as one that is compiled for all geometries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from gpusudoku.kernels.arguments import (
    Array,
    Kind,
    Number,
    boolean,
    float64,
    int64,
    kind_of,
    uint8,
    uint64,
)
from gpusudoku.kernels.kernel import MAX_PYTHON_BOARDS, Kernel, inlined
from gpusudoku.kernels.search.arguments import Children, CpuPool, Lanes, SearchResults, Stack
from gpusudoku.kernels.search.shape import SearchSettings, Shape

TEMPLATES = {
    "pack": ("moves", 0.6),
    "expand": ("lanes", 2.6),
    "run": ("lanes", 3.5),
    "minimise": ("minimise", 6.5),
    "placements": ("placements", 3.2),
    "walk": ("walks", 2.6),
}
"""The module of each kernel's template, and the kernel's price: seconds to compile it."""
MAX_PYTHON_WORDS = 64
"""The words of 16x16 boards. Larger boards take plain Python too long."""


@cache
def pack(shape: Shape) -> Kernel:
    """Return the kernel that packs boards; see ``moves.build_pack``."""
    boards = memory = Array(np.dtype(shape.word), 2)
    signature = uint8[:, ::1], *map(kind_of, shape.cell_positions), boards, memory
    return _kernel(pack, signature, shape)


@cache
def expand(shape: Shape, settings: SearchSettings) -> Kernel:
    """Return the kernel that splits boards in two; see ``lanes.build_expand``."""
    children = kind_of(Children.empty(0, shape))
    memory = Array(np.dtype(shape.word), 2)
    signature = children.boards, float64, boolean, children, memory
    return _kernel(expand, signature, shape, settings, returns=int64)


@cache
def run(shape: Shape, settings: SearchSettings) -> Kernel:
    """Return the kernel that searches boards; see ``lanes.build_run``."""
    boards = np.empty((0, shape.words), shape.word)
    roots = np.empty(0, np.int64)
    pool = CpuPool.of(boards, roots, 1, shape)
    arrays = pool, Stack.empty(0, shape), SearchResults.empty(0, 0, shape.n**2)
    recalls = int64[::1]
    lanes = kind_of(Lanes.empty(shape))
    signature = *map(kind_of, arrays), recalls, int64, int64, uint64, lanes
    return _kernel(run, signature, shape, settings, returns=boolean)


@cache
def minimise(shape: Shape, settings: SearchSettings) -> Kernel:
    """Return the kernel that removes clues; see ``minimise.build_minimise``."""
    from gpusudoku.kernels.search.minimise import PuzzleArrays, Trials

    puzzles = kind_of(PuzzleArrays.empty(shape))
    trials = kind_of(Trials.empty(shape, 0))
    signature = puzzles, trials, int64, int64, int64
    return _kernel(minimise, signature, shape, settings, returns=boolean)


@cache
def placements(shape: Shape, settings: SearchSettings) -> Kernel:
    """Return the kernel that searches for placements; see ``placements.build_placements``."""
    from gpusudoku.kernels.search.placements import PlacementArrays, Searches

    arrays = kind_of(PlacementArrays.empty(shape))
    searches = kind_of(Searches.empty(shape))
    signature = arrays, searches, int64
    return _kernel(placements, signature, shape, settings, returns=boolean)


@cache
def walk(shape: Shape, settings: SearchSettings) -> Kernel:
    """Return the kernel of random walks; see ``walks.build_walk``."""
    boards = memory = Array(np.dtype(shape.word), 2)
    signature = boards, int64, float64[::1], uint64[::1], int64[::1], float64[::1], memory
    return _kernel(walk, signature, shape, settings)


def _kernel(
    maker: Callable[..., Kernel],
    signature: tuple[Kind, ...],
    shape: Shape,
    *settings: SearchSettings,
    returns: Number | None = None,
) -> Kernel:
    """Make the kernel that a function of this module returns for a shape and its settings."""
    module, seconds = TEMPLATES[maker.__name__]
    # The name of the file on disk, for example search.run-3x3-t3-s1: techniques and strategy.
    name = f"search.{maker.__name__}-{shape.box_rows}x{shape.box_columns}"
    for techniques, strategy in settings:
        name += f"-t{techniques}-s{strategy}"
    arguments = shape, *settings
    return Kernel(
        name,
        signature,
        partial(_build, module, maker.__name__, *arguments),
        (maker, arguments),
        returns=returns,
        seconds=seconds,
        subject=f"the search of {shape.n}x{shape.n} boards",
        max_python_boards=MAX_PYTHON_BOARDS if shape.words <= MAX_PYTHON_WORDS else 0,
    )


def _build(module: str, name: str, *arguments: Any) -> Callable[..., Any]:
    """Build a kernel's function. The import is lazy: a kernel that is on disk needs no template."""
    template = import_module(f"gpusudoku.kernels.search.{module}")
    build = getattr(template, f"build_{name}")
    return build(*arguments, inlined)  # type: ignore[no-any-return]
