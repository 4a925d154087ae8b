"""Packing and simplifying a few boards without compiling anything for them.

A 9x9 board takes plain Python a millisecond. Compiling takes more than a second, for every set of
techniques anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from gpusudoku.kernels.few import FEW, Warming
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.expand import build_expand
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.pack import build_pack
from gpusudoku.kernels.search.settings import SearchSettings

MOST_WORDS = 400
"""Words of the largest boards that are taken, those of 25x25: larger ones take Python longer than
loading what was compiled before."""


@cache
def pack(layout: Layout) -> Warming:
    """``cpu.pack``, warming."""
    return _warming(layout, build_pack(layout, _as_it_is), lambda: cpu.pack(layout))


@cache
def expand(layout: Layout, settings: SearchSettings) -> Warming:
    """``cpu.expand``, warming."""
    plain = build_expand(layout, settings, _as_it_is)
    return _warming(layout, plain, lambda: cpu.expand(layout, settings))


def _warming(
    layout: Layout, plain: Callable[..., Any], compiled: Callable[[], Callable[..., Any]]
) -> Warming:
    return Warming(plain, compiled, FEW if layout.words <= MOST_WORDS else 0)


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take the place of the compiler."""
    return function
