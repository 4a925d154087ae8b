"""Packing and simplifying a few boards without compiling anything for them.

A step of 9x9 boards takes NumPy two milliseconds. Compiling takes more than a second, for every set
of techniques anew.
"""

from __future__ import annotations

from functools import cache

from gpusudoku.kernels.few import FEW, Warming
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape

MOST_WORDS = 64
"""Words of the largest boards that are taken, those of 16x16: larger ones take NumPy long."""


@cache
def pack(shape: Shape) -> Warming:
    """Return ``cpu.pack``, warming."""
    return _warming(shape, cpu.pack(shape))


@cache
def expand(shape: Shape, settings: SearchSettings) -> Warming:
    """Return ``cpu.expand``, warming."""
    return _warming(shape, cpu.expand(shape, settings))


def _warming(shape: Shape, kernel: Kernel) -> Warming:
    return Warming(kernel, FEW if shape.words <= MOST_WORDS else 0)
