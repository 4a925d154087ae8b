"""The search compiled for the CPU, one set of functions per geometry and settings, kept on disk.

The geometry is a set of constants to the compiler: it unrolls the loops over digits and words,
which makes the search twice as fast as one compiled for all geometries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import typeof, types

from gpusudoku.kernels.jit import compiled
from gpusudoku.kernels.parts import inlined
from gpusudoku.kernels.search.arguments import Found, Stack, Work
from gpusudoku.kernels.search.expand import Children, build_expand
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.loop import Scratch
from gpusudoku.kernels.search.pack import build_pack
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings

_BOARDS = types.uint64[:, ::1]


def _claim(counter):
    value = counter[0]
    counter[0] = value + 1
    return value


def _add(array, i, value):
    array[i] += value


@cache
def pack(layout: Layout) -> Callable[..., None]:
    """Compile, or load, ``pack.build_pack``: it packs boards."""
    signature = types.uint8[:, ::1], types.int64[::1], _BOARDS, _BOARDS
    return compiled(build_pack(layout, inlined), signature)


@cache
def expand(layout: Layout, settings: SearchSettings) -> Callable[..., int]:
    """Compile, or load, ``expand.build_expand``: it splits boards in two."""
    children = typeof(Children.empty(0, layout.words))
    scratch = typeof(Scratch(layout.nonpeers, np.empty(layout.scratch_words, np.uint64)))
    signature = _BOARDS, types.float64, types.boolean, children, scratch
    return compiled(build_expand(layout, settings, inlined), signature)


@cache
def run(layout: Layout, settings: SearchSettings) -> Callable[..., None]:
    """Compile, or load, the loop of the search for these boards; see ``loop.build_run``."""
    search = search_for(layout, settings)
    loop = search.build_run(inlined, inlined(_claim), inlined(_add))
    groups: tuple[Any, ...] = (
        Work.empty(layout.words),
        Stack.empty(0, search.words, search.word),
        Found.empty(0, 0, layout.n**2),
    )
    signature = *map(typeof, groups), types.int64, types.uint64, typeof(search.scratch())
    return compiled(loop, signature)
