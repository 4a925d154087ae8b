"""Compiling for CUDA with Numba. This module is imported only where something is compiled.

The output is machine code, which ``cuda_driver`` caches, loads and launches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numba import config, cuda, int64

from gpusudoku.kernels.compile_cpu import call_all
from gpusudoku.kernels.kernel import registrations

if not (config.ENABLE_CUDASIM or hasattr(np, "row_stack")):
    # This module of numba-cuda uses row_stack when it is imported. NumPy 2.5 has removed it.
    np.row_stack = np.vstack
    try:
        import_module("numba.cuda.np.arrayobj")
    finally:
        del np.row_stack


def kernel(function: Callable[..., Any], signature: tuple[Any, ...], **options: Any) -> Any:
    """Return a function that compiles a kernel for the current GPU and returns a ``Code``.

    In the simulator, return Numba's dispatcher instead.

    Parameters
    ----------
    function
        The Python function.
    signature
        The types of its arguments.
    options
        The options of ``cuda.jit``.
    """
    if config.ENABLE_CUDASIM:
        return cuda.jit(function)
    call_all(registrations)
    dispatcher = cuda.jit(function, **options)  # with the signature, it would compile at once
    return partial(_compile, dispatcher, signature)


def _compile(dispatcher: Any, signature: tuple[Any, ...]) -> Any:
    """Compile a kernel for the current GPU. Return its ``Code``."""
    # Imported lazily: the driver's package need not be there when Numba's simulator is used.
    from gpusudoku.kernels.cuda_driver import Code, current_device

    with cuda.gpus[current_device()]:
        dispatcher.compile(signature)
        [compiled] = dispatcher.overloads.values()
        library = compiled._codelibrary
        cubin = library.get_cubin()
        ptx = library.get_asm_str()
    [entry] = re.findall(r"\.visible \.entry (\S+?)\(", ptx)
    # Some versions of numba-cuda return an object with the bytes in ``code``, others the bytes.
    return Code(entry, bytes(getattr(cubin, "code", cubin)), ptx)


def trial(number: int) -> Any:
    """Return the compiling function of a kernel that shows whether a GPU is usable at all.

    The kernel writes the number to ``numbers[0]``.
    """

    def write(numbers):
        numbers[0] = number

    return kernel(write, (int64[::1],))
