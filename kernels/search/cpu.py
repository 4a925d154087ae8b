"""The search compiled for the CPU, one set of functions per geometry and settings, kept on disk.

The geometry is a set of constants to the compiler: it unrolls the loops over digits and words,
which makes the search twice as fast as one compiled for all geometries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numba import typeof, types

from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.parts import inlined
from gpusudoku.kernels.search.arguments import Found, Stack, Work
from gpusudoku.kernels.search.expand import Children, build_expand
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.loop import Scratch
from gpusudoku.kernels.search.pack import build_pack
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings

PACK_SECONDS, EXPAND_SECONDS, RUN_SECONDS = 0.3, 1.6, 1.8
"""What compiling each takes."""

Built = tuple[Callable[..., Any], tuple[Any, ...]]

_BOARDS = types.uint64[:, ::1]
_CELLS = types.Array(types.uint8, 2, "C", readonly=True)


def _claim(counter):
    value = counter[0]
    counter[0] = value + 1
    return value


def _add(array, i, value):
    array[i] += value


@cache
def pack(layout: Layout) -> Kernel:
    """The kernel of ``pack.build_pack``: it packs boards."""
    return _kernel(pack, _build_pack, layout, seconds=PACK_SECONDS)


@cache
def expand(layout: Layout, settings: SearchSettings) -> Kernel:
    """The kernel of ``expand.build_expand``: it splits boards in two."""
    return _kernel(expand, _build_expand, layout, settings, seconds=EXPAND_SECONDS)


@cache
def run(layout: Layout, settings: SearchSettings) -> Kernel:
    """The kernel of the loop of the search for these boards; see ``loop.build_run``."""
    return _kernel(run, _build_run, layout, settings, seconds=RUN_SECONDS)


def _kernel(
    maker: Callable[..., Kernel],
    build: Callable[..., Built],
    layout: Layout,
    *settings: SearchSettings,
    seconds: float,
) -> Kernel:
    words = [f"search.{maker.__name__}", f"{layout.box_rows}x{layout.box_columns}"]
    words += [f"t{s.techniques}-s{s.strategy}" for s in settings]
    arguments = layout, *settings
    return Kernel(
        "-".join(words),
        partial(build, *arguments),
        (maker, arguments),
        seconds=seconds,
        subject=f"the search of {layout.n}x{layout.n} boards",
    )


def _build_pack(layout: Layout) -> Built:
    return build_pack(layout, inlined), (_CELLS, types.int64[::1], _BOARDS, _BOARDS)


def _build_expand(layout: Layout, settings: SearchSettings) -> Built:
    children = typeof(Children.empty(0, layout.words))
    scratch = typeof(Scratch(layout.nonpeers, np.empty(layout.scratch_words, np.uint64)))
    signature = _BOARDS, types.float64, types.boolean, children, scratch
    return build_expand(layout, settings, inlined), signature


def _build_run(layout: Layout, settings: SearchSettings) -> Built:
    search = search_for(layout, settings)
    loop = search.build_run(inlined, inlined(_claim), inlined(_add))
    groups: tuple[Any, ...] = (
        Work.empty(layout.words),
        Stack.empty(0, search.words, search.word),
        Found.empty(0, 0, layout.n**2),
    )
    signature = *map(typeof, groups), types.int64, types.uint64, typeof(search.scratch())
    return loop, signature
