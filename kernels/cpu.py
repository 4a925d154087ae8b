"""The kernels compiled for the CPU, one set per geometry and rules, kept on disk.

The geometry is a set of constants to the compiler: it unrolls the loops over digits and words,
which makes the search twice as fast as one compiled for all geometries.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_name
from numba import njit
from numba.core import event
from numba.extending import register_jitable

from gpusudoku.interrupts import held_interrupts
from gpusudoku.kernels.layout import Layout
from gpusudoku.kernels.rules import Rules
from gpusudoku.kernels.searches import search_for
from gpusudoku.kernels.widen import build_expand, build_load

LOAD = "void(uint8[:,::1], int64[::1], uint64[:,::1], uint64[:,::1])"
EXPAND = (
    "int64(uint64[:,::1], float64, boolean, uint64[:,::1], int64[::1], boolean[::1],"
    " uint64[:,::1], uint64[::1])"
)
RUN = (
    "void(uint64[:,::1], int64[::1], int64[::1], {word}[:,::1], int64[::1], int64[::1], int64,"
    " uint64, uint64[::1], uint8[:,::1], int64[::1], int64[::1], uint64[::1], {workspace})"
)


def _claim(counter):  # type: ignore[no-untyped-def]
    value = counter[0]
    counter[0] = value + 1
    return value


def _add(array, i, value):  # type: ignore[no-untyped-def]
    array[i] += value


class Kernels:
    """The compiled functions for one geometry and rules, each compiled (or loaded) at first use.

    See the ``build_`` function of the same name for what each does.
    """

    def __init__(self, layout: Layout, rules: Rules) -> None:
        self._layout, self._rules = layout, rules
        self._jit = register_jitable(_nrt=False, forceinline=True)

    @cached_property
    def load(self) -> Callable[..., None]:
        """Pack boards."""
        return compiled(build_load(self._layout, self._jit), LOAD)

    @cached_property
    def expand(self) -> Callable[..., int]:
        """Split boards in two."""
        return compiled(build_expand(self._layout, self._rules, self._jit), EXPAND)

    @cached_property
    def run(self) -> Callable[..., None]:
        """Search boards."""
        search = search_for(self._layout, self._rules)
        run = search.build_run(self._jit, self._jit(_claim), self._jit(_add))
        workspace = ", ".join(
            f"{array.dtype}[{':,' * (array.ndim - 1)}::1]" for array in search.workspace()
        )
        return compiled(run, RUN.format(word=search.word.__name__, workspace=workspace))


@cache
def kernels(layout: Layout, rules: Rules) -> Kernels:
    """The compiled functions for boards of a layout."""
    return Kernels(layout, rules)


def on_compile(tell: Callable[[], None]) -> None:
    """Call ``tell`` once, at the first function that is compiled and not loaded from disk."""

    class Listener(event.Listener):  # type: ignore[misc]
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told:
                self.told = True
                tell()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())


@cache
def cache_folder() -> Path | None:
    """Where compiled code is kept, None if no folder can be written.

    GPUSUDOKU_CACHE_DIR, else a folder in the user's cache. One folder per state of the kernel
    sources, Numba and processor: Numba itself would only notice edits in the file of the function.
    """
    digest = hashlib.sha256(f"{numba.__version__} {get_host_cpu_name()}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    try:
        user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        base = os.environ.get("GPUSUDOKU_CACHE_DIR") or Path(user_cache) / "gpusudoku"
        folder = Path(base) / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return None


def compiled(function: Callable[..., Any], signature: str | tuple[Any, ...]) -> Callable[..., Any]:
    """The function compiled for one signature (in words, or Numba types), or loaded from disk."""
    folder = cache_folder()
    # Nothing is allocated, so nothing needs counting of references, which would cost time.
    dispatcher: Any = njit(nogil=True, error_model="numpy", _nrt=False)(function)
    if folder is not None:
        # Numba reads its setting when caching is enabled; others' functions keep theirs.
        theirs = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            dispatcher.enable_caching()
        finally:
            numba.config.CACHE_DIR = theirs
        _load_quickly(dispatcher._cache)
    # An exception in the middle of LLVM's callbacks would be lost, or leave half a function.
    with held_interrupts():
        dispatcher.compile(signature)
    return dispatcher  # type: ignore[no-any-return]


def _load_quickly(cache: Any) -> None:
    """Have compiled code loaded without Numba's hundreds of implementations of Python functions.

    Numba imports them before it looks for compiled code, which takes longer than all else in a
    short run. They are only needed to compile, and then Numba asks for them by itself.
    """
    load = cache.load_overload

    def load_overload(signature: Any, context: Any) -> Any:
        context.refresh = lambda: None
        try:
            return load(signature, context)
        finally:
            del context.refresh

    cache.load_overload = load_overload
