"""The search compiled for the CPU, one set of functions per geometry and settings, kept on disk.

The geometry is a set of constants to the compiler: it unrolls the loops over digits and words,
which makes the search twice as fast as one compiled for all geometries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.parts import inlined
from gpusudoku.kernels.search.arguments import Children, CpuPool, Found, Lanes, Stack
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.signature import (
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

PACK_SECONDS, EXPAND_SECONDS, RUN_SECONDS = 0.6, 2.6, 3.5
MINIMISE_SECONDS, PLACEMENTS_SECONDS = 6.5, 3.2
"""What compiling each takes."""


@cache
def pack(shape: Shape) -> Kernel:
    """The kernel of ``pack.build_pack``: it packs boards."""
    boards = memory = Array(np.dtype(shape.word), 2)
    signature = uint8[:, ::1], *map(kind_of, shape.places), boards, memory
    return _kernel(pack, signature, _build_pack, shape, seconds=PACK_SECONDS)


@cache
def expand(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of ``lanes.build_expand``: it splits boards in two."""
    children, memory = kind_of(Children.empty(0, shape)), Array(np.dtype(shape.word), 2)
    signature = children.boards, float64, boolean, children, memory
    build, seconds = _build_expand, EXPAND_SECONDS
    return _kernel(expand, signature, build, shape, settings, seconds=seconds, returns=int64)


@cache
def run(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of the loop of the search for these boards; see ``lanes.build_run``."""
    boards, roots = np.empty((0, shape.words), shape.word), np.empty(0, np.int64)
    pool = CpuPool.of(boards, roots, 1, shape)
    groups = pool, Stack.empty(0, shape), Found.empty(0, 0, shape.n**2)
    lanes = kind_of(Lanes.empty(shape))
    signature = *map(kind_of, groups), int64[::1], int64, int64, uint64, lanes
    build, seconds = _build_run, RUN_SECONDS
    return _kernel(run, signature, build, shape, settings, seconds=seconds, returns=boolean)


@cache
def minimise(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of ``minimise.build_minimise``."""
    from gpusudoku.kernels.search.minimise import PuzzleArrays, Trials

    signature = kind_of(PuzzleArrays.empty(shape)), kind_of(Trials.empty(shape, 0)), *[int64] * 3
    build, seconds = _build_minimise, MINIMISE_SECONDS
    return _kernel(minimise, signature, build, shape, settings, seconds=seconds, returns=boolean)


@cache
def placements(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of ``placements.build_placements``."""
    from gpusudoku.kernels.search.placements import PlacementArrays, Searches

    signature = kind_of(PlacementArrays.empty(shape)), kind_of(Searches.empty(shape)), int64
    build, seconds = _build_placements, PLACEMENTS_SECONDS
    return _kernel(placements, signature, build, shape, settings, seconds=seconds, returns=boolean)


def _kernel(
    maker: Callable[..., Kernel],
    signature: tuple[Kind, ...],
    build: Callable[..., Callable[..., Any]],
    shape: Shape,
    *settings: SearchSettings,
    seconds: float,
    returns: Number | None = None,
) -> Kernel:
    words = [f"search.{maker.__name__}", f"{shape.box_rows}x{shape.box_columns}"]
    words += [f"t{s.techniques}-s{s.strategy}" for s in settings]
    arguments = shape, *settings
    return Kernel(
        "-".join(words),
        signature,
        partial(build, *arguments),
        (maker, arguments),
        returns=returns,
        seconds=seconds,
        subject=f"the search of {shape.n}x{shape.n} boards",
    )


# Imported lazily: most processes find all kernels on disk.


def _build_pack(shape: Shape) -> Callable[..., Any]:
    from gpusudoku.kernels.search.pack import build_pack

    return build_pack(shape, inlined)


def _build_expand(shape: Shape, settings: SearchSettings) -> Callable[..., Any]:
    from gpusudoku.kernels.search.lanes import build_expand

    return build_expand(shape, settings, inlined)


def _build_run(shape: Shape, settings: SearchSettings) -> Callable[..., Any]:
    from gpusudoku.kernels.search.lanes import build_run

    return build_run(shape, settings, inlined)


def _build_minimise(shape: Shape, settings: SearchSettings) -> Callable[..., Any]:
    from gpusudoku.kernels.search.minimise import build_minimise

    return build_minimise(shape, settings, inlined)


def _build_placements(shape: Shape, settings: SearchSettings) -> Callable[..., Any]:
    from gpusudoku.kernels.search.placements import build_placements

    return build_placements(shape, settings, inlined)
