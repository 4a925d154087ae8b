"""The search compiled for the CPU, one set of functions per geometry and settings, kept on disk.

The geometry is a set of constants to the compiler: it unrolls the loops over digits and words,
which makes the search twice as fast as one compiled for all geometries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from numba import typeof, types

from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.parts import inlined
from gpusudoku.kernels.search.arguments import Found, Stack, Work
from gpusudoku.kernels.search.lanes import Children, Lanes, build_expand, build_run
from gpusudoku.kernels.search.pack import build_pack
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape

PACK_SECONDS, EXPAND_SECONDS, RUN_SECONDS = 0.3, 1.2, 1.4
"""What compiling each takes."""

Built = tuple[Callable[..., Any], tuple[Any, ...]]

_CELLS = types.Array(types.uint8, 2, "C", readonly=True)


def _claim(counter):
    value = counter[0]
    counter[0] = value + 1
    return value


def _add(array, i, value):
    array[i] += value


@cache
def pack(shape: Shape) -> Kernel:
    """The kernel of ``pack.build_pack``: it packs boards."""
    return _kernel(pack, _build_pack, shape, seconds=PACK_SECONDS)


@cache
def expand(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of ``lanes.build_expand``: it splits boards in two."""
    return _kernel(expand, _build_expand, shape, settings, seconds=EXPAND_SECONDS)


@cache
def run(shape: Shape, settings: SearchSettings) -> Kernel:
    """The kernel of the loop of the search for these boards; see ``lanes.build_run``."""
    return _kernel(run, _build_run, shape, settings, seconds=RUN_SECONDS)


def _kernel(
    maker: Callable[..., Kernel],
    build: Callable[..., Built],
    shape: Shape,
    *settings: SearchSettings,
    seconds: float,
) -> Kernel:
    words = [f"search.{maker.__name__}", f"{shape.box_rows}x{shape.box_columns}"]
    words += [f"t{s.techniques}-s{s.strategy}" for s in settings]
    arguments = shape, *settings
    return Kernel(
        "-".join(words),
        partial(build, *arguments),
        (maker, arguments),
        seconds=seconds,
        subject=f"the search of {shape.n}x{shape.n} boards",
    )


def _build_pack(shape: Shape) -> Built:
    words, bits = map(typeof, shape.places)
    return build_pack(shape, inlined), (_CELLS, words, bits, types.Array(bits.dtype, 2, "C"))


def _build_expand(shape: Shape, settings: SearchSettings) -> Built:
    children, memory = Children.empty(0, shape), shape.memory(shape.lanes)
    numbers = types.float64, types.boolean
    signature = typeof(children.boards), *numbers, typeof(children), typeof(memory)
    return build_expand(shape, settings, inlined), signature


def _build_run(shape: Shape, settings: SearchSettings) -> Built:
    groups: tuple[Any, ...] = (
        Work.empty(shape),
        Stack.empty(0, shape),
        Found.empty(0, 0, shape.n**2),
    )
    signature = *map(typeof, groups), types.int64, types.uint64, typeof(Lanes.empty(shape))
    return build_run(shape, settings, inlined, inlined(_claim), inlined(_add)), signature
