"""The kernels compiled for the CPU, one set per geometry and settings, kept on disk.

The geometry is a set of constants to the compiler: it unrolls the loops over digits and words,
which makes the search twice as fast as one compiled for all geometries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

from numba.extending import register_jitable

from gpusudoku.kernels.jit import compiled
from gpusudoku.kernels.search.expand import build_expand, build_load
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings

LOAD = "void(uint8[:,::1], int64[::1], uint64[:,::1], uint64[:,::1])"
EXPAND = (
    "int64(uint64[:,::1], float64, boolean, uint64[:,::1], int64[::1], boolean[::1],"
    " uint64[:,::1], uint64[::1])"
)
RUN = (
    "void(uint64[:,::1], int64[::1], int64[::1], {word}[:,::1], int64[::1], int64[::1], int64,"
    " uint64, uint64[::1], uint8[:,::1], int64[::1], int64[::1], uint64[::1], {workspace})"
)


def _claim(counter):
    value = counter[0]
    counter[0] = value + 1
    return value


def _add(array, i, value):
    array[i] += value


class Kernels:
    """The compiled functions for one geometry and settings, each compiled (or loaded) at first use.

    See the ``build_`` function of the same name for what each does.
    """

    def __init__(self, layout: Layout, settings: SearchSettings) -> None:
        self._layout, self._settings = layout, settings
        self._jit = register_jitable(_nrt=False, forceinline=True)

    @cached_property
    def load(self) -> Callable[..., None]:
        """Pack boards."""
        return compiled(build_load(self._layout, self._jit), LOAD)

    @cached_property
    def expand(self) -> Callable[..., int]:
        """Split boards in two."""
        return compiled(build_expand(self._layout, self._settings, self._jit), EXPAND)

    @cached_property
    def run(self) -> Callable[..., None]:
        """Search boards."""
        search = search_for(self._layout, self._settings)
        run = search.build_run(self._jit, self._jit(_claim), self._jit(_add))
        workspace = ", ".join(
            f"{array.dtype}[{':,' * (array.ndim - 1)}::1]" for array in search.workspace()
        )
        return compiled(run, RUN.format(word=search.word.__name__, workspace=workspace))


@cache
def kernels(layout: Layout, settings: SearchSettings) -> Kernels:
    """The compiled functions for boards of a layout."""
    return Kernels(layout, settings)
