"""The search compiled for the CPU, one set of functions per geometry and settings, kept on disk.

The geometry is a set of constants to the compiler: it unrolls the loops over digits and words,
which makes the search twice as fast as one compiled for all geometries.
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
from gpusudoku.kernels.kernel import PYTHON_BOARDS, Kernel, inlined
from gpusudoku.kernels.search.arguments import Children, CpuPool, Found, Lanes, Stack
from gpusudoku.kernels.search.shape import SearchSettings, Shape

TEMPLATES = {
    "pack": ("moves", 0.6),
    "expand": ("lanes", 2.6),
    "run": ("lanes", 3.5),
    "minimise": ("minimise", 6.5),
    "placements": ("placements", 3.2),
}
"""The module of each kernel's template, and the kernel's price."""
MAX_PYTHON_WORDS = 64
"""Words of the largest boards that Python simplifies, those of 16x16: larger ones take it long."""


@cache
def pack(shape: Shape) -> Kernel:
    """The kernel of ``moves.build_pack``: it packs boards."""
    boards = memory = Array(np.dtype(shape.word), 2)
    signature = uint8[:, ::1], *map(kind_of, shape.places), boards, memory
    return _kernel(pack, signature, shape)


@cache
def expand(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of ``lanes.build_expand``: it splits boards in two."""
    children = kind_of(Children.empty(0, shape))
    memory = Array(np.dtype(shape.word), 2)
    signature = children.boards, float64, boolean, children, memory
    return _kernel(expand, signature, shape, settings, returns=int64)


@cache
def run(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of the loop of the search for these boards; see ``lanes.build_run``."""
    boards = np.empty((0, shape.words), shape.word)
    roots = np.empty(0, np.int64)
    pool = CpuPool.of(boards, roots, 1, shape)
    groups = pool, Stack.empty(0, shape), Found.empty(0, 0, shape.n**2)
    lanes = kind_of(Lanes.empty(shape))
    signature = *map(kind_of, groups), int64[::1], int64, int64, uint64, lanes
    return _kernel(run, signature, shape, settings, returns=boolean)


@cache
def minimise(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of ``minimise.build_minimise``."""
    from gpusudoku.kernels.search.minimise import PuzzleArrays, Trials

    signature = kind_of(PuzzleArrays.empty(shape)), kind_of(Trials.empty(shape, 0)), *[int64] * 3
    return _kernel(minimise, signature, shape, settings, returns=boolean)


@cache
def placements(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of ``placements.build_placements``."""
    from gpusudoku.kernels.search.placements import PlacementArrays, Searches

    signature = kind_of(PlacementArrays.empty(shape)), kind_of(Searches.empty(shape)), int64
    return _kernel(placements, signature, shape, settings, returns=boolean)


def _kernel(
    maker: Callable[..., Kernel],
    signature: tuple[Kind, ...],
    shape: Shape,
    *settings: SearchSettings,
    returns: Number | None = None,
) -> Kernel:
    module, seconds = TEMPLATES[maker.__name__]
    parts = [f"search.{maker.__name__}", f"{shape.box_rows}x{shape.box_columns}"]
    parts += [f"t{s.techniques}-s{s.strategy}" for s in settings]
    arguments = shape, *settings
    return Kernel(
        "-".join(parts),
        signature,
        partial(_build, module, maker.__name__, *arguments),
        (maker, arguments),
        returns=returns,
        seconds=seconds,
        subject=f"the search of {shape.n}x{shape.n} boards",
        python_boards=PYTHON_BOARDS if shape.words <= MAX_PYTHON_WORDS else 0,
    )


def _build(module: str, name: str, *arguments: Any) -> Callable[..., Any]:
    """Build a kernel's function. Its module is imported lazily: most processes need none."""
    build = getattr(import_module(f"gpusudoku.kernels.search.{module}"), f"build_{name}")
    return build(*arguments, inlined)  # type: ignore[no-any-return]
