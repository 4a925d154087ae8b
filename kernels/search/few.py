"""Packing and simplifying a few boards without compiling anything for them.

Kernels are plain Python, too, and a 9x9 board takes that a millisecond. Compiling takes more than a
second, for every set of techniques anew, which pays from some thousand boards on; loading what was
compiled before takes as long as ten boards.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.expand import build_expand
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.pack import build_pack
from gpusudoku.kernels.search.settings import SearchSettings

FEW = 16
"""Boards that a kernel takes in a process before it is compiled."""
MOST_WORDS = 400
"""Words of the largest boards that are taken, those of 25x25: larger ones take Python longer than
loading what was compiled before."""


class Warming:
    """A kernel that runs as plain Python at first, and compiled once it has more to do.

    Parameters
    ----------
    layout
        That of its boards.
    plain
        The function as it is written.
    compiled
        Compiles it, or loads it from disk; from the second time on it returns at once.
    """

    def __init__(
        self, layout: Layout, plain: Callable[..., Any], compiled: Callable[[], Callable[..., Any]]
    ) -> None:
        # Python tells of numbers that pass 64 bits, which kernels do on purpose.
        self._plain, self._compiled = np.errstate(over="ignore")(plain), compiled
        self._left = FEW if layout.words <= MOST_WORDS else 0

    def of(self, boards: int) -> Callable[..., Any]:
        """The function to call for so many boards."""
        self._left -= boards
        return self._plain if self._left >= 0 else self._compiled()


@cache
def pack(layout: Layout) -> Warming:
    """``cpu.pack``, warming."""
    return Warming(layout, build_pack(layout, _as_it_is), lambda: cpu.pack(layout))


@cache
def expand(layout: Layout, settings: SearchSettings) -> Warming:
    """``cpu.expand``, warming."""
    plain = build_expand(layout, settings, _as_it_is)
    return Warming(layout, plain, lambda: cpu.expand(layout, settings))


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take the place of the compiler."""
    return function
