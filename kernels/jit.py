"""Compiling for the CPU, and keeping what was compiled.

There is a folder for each state of all kernel sources, Numba's version and the processor, so an
edit of any of them is noticed. CUDA kernels are not kept: they are compiled anew in every process.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_name
from numba import njit
from numba.core import event

from gpusudoku.jobs.interrupts import interruptibly

Jit = Callable[[Callable[..., Any]], Callable[..., Any]]
"""The decorator that a compiler wants on a function that kernels call."""


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
    for path in sorted(Path(__file__).parent.rglob("*.py")):
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
    options = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
    dispatcher: Any = njit(**options)(function)
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
    interruptibly(lambda: dispatcher.compile(signature))
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
