"""Numba's side of compiling for CUDA: what comes out is kept, as it is for the CPU.

A kernel depends on the GPU's compute capability, on the types of its arguments and on NVIDIA's
compilers, besides what the store depends on anyway. Numba asks whoever stands where its own cache
would for a kernel, and gives it those that it compiled.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from numba import config, cuda, int64
from numba.core.serialize import dumps

from gpusudoku.kernels import cache as disk
from gpusudoku.kernels import jit

if not (config.ENABLE_CUDASIM or hasattr(np, "row_stack")):
    # numba-cuda asks for row_stack where it is imported, and NumPy 2.5 no longer has it.
    np.row_stack = np.vstack
    try:
        import_module("numba.cuda.np.arrayobj")
    finally:
        del np.row_stack


def kernel(
    name: str, function: Callable[..., Any], signature: tuple[Any, ...], **options: Any
) -> Any:
    """Numba's dispatcher of a kernel, compiled for the current GPU, or loaded from disk.

    It is compiled at once, so that its registers are known before it is launched.

    Parameters
    ----------
    name
        Unlike that of any other kernel, for the CPU or for CUDA; its files' names begin with it.
    function
        As it is written.
    signature
        The types of its arguments. Not given to ``cuda.jit``, which would compile them at import.
    options
        Those of ``cuda.jit``.
    """
    if config.ENABLE_CUDASIM:
        return cuda.jit(function)
    jit.learn()
    dispatcher = cuda.jit(function, **options)
    dispatcher._cache = _Kept(name, options)
    dispatcher.compile(signature)
    return dispatcher


TRIAL = 9
"""What the trial kernel writes."""


def _trial(numbers):
    numbers[0] = TRIAL


@cache
def trial() -> Any:
    """A kernel that shows whether a GPU can be used at all: it writes TRIAL to ``numbers[0]``."""
    return kernel("trial.cuda", _trial, (int64[::1],))


class _Kept:
    """What Numba takes for its cache.

    Whatever it may be that a version of Numba does otherwise: then nothing is kept, and kernels are
    compiled as if there were no folder for them.
    """

    cache_path = None

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self._name, self._options = name, options

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The kernel for these types of arguments on the current GPU, or None."""
        with suppress(Exception):
            store = disk.store()
            content = None if store is None else store.read(self._file(signature))
            if content is not None:
                from numba.cuda.dispatcher import _Kernel
                from numba.cuda.utils import numba_target_override

                with numba_target_override():  # as Numba's own cache does before it loads
                    target.refresh()
                    return _Kernel._rebuild(**pickle.loads(content))
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a kernel that was compiled for the current GPU."""
        with suppress(Exception):
            store = disk.store()
            if store is not None and not compiled.launch_config_sensitive:
                store.write(self._file(signature), dumps(compiled._reduce_states()))

    def flush(self) -> None:
        """Forget nothing: files that are no good are replaced."""

    def _file(self, signature: Any) -> str:
        from numba.cuda.cudadrv.nvvm import NVVM

        major, minor = cuda.get_current_device().compute_capability
        made_of = version("numba-cuda"), NVVM().get_ir_version(), self._options, signature
        digest = hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
        return f"{self._name}-sm{major}{minor}-{digest}"
