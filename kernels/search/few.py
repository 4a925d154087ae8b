"""Packing and simplifying a few boards without compiling anything for them.

A step of 9x9 boards takes NumPy two milliseconds. Compiling takes more than a second, for every set
of techniques anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from gpusudoku.kernels.few import FEW, Warming
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.lanes import build_expand
from gpusudoku.kernels.search.pack import build_pack
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape

MOST_WORDS = 64
"""Words of the largest boards that are taken, those of 16x16: larger ones take NumPy longer than
loading what was compiled before."""


@cache
def pack(shape: Shape) -> Warming:
    """``cpu.pack``, warming."""
    return _warming(shape, build_pack(shape, _as_it_is), lambda: cpu.pack(shape))


@cache
def expand(shape: Shape, settings: SearchSettings) -> Warming:
    """``cpu.expand``, warming."""
    plain = build_expand(shape, settings, _as_it_is)
    return _warming(shape, plain, lambda: cpu.expand(shape, settings))


def _warming(
    shape: Shape, plain: Callable[..., Any], compiled: Callable[[], Callable[..., Any]]
) -> Warming:
    return Warming(plain, compiled, FEW if shape.words <= MOST_WORDS else 0)


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take the place of the compiler."""
    return function
