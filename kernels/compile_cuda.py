"""Compiling for CUDA with Numba. This module is imported only where something is compiled.

The result is machine code, which ``cuda_driver`` keeps, loads and launches.
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
    # numba-cuda asks for row_stack where it is imported, and NumPy 2.5 no longer has it.
    np.row_stack = np.vstack
    try:
        import_module("numba.cuda.np.arrayobj")
    finally:
        del np.row_stack


def kernel(function: Callable[..., Any], signature: tuple[Any, ...], **options: Any) -> Any:
    """Return a function that compiles a kernel for the current GPU: its ``cuda_driver.Code``.

    In the simulator it is Numba's dispatcher.

    Parameters
    ----------
    function
        As it is written.
    signature
        The types of its arguments. Not given to ``cuda.jit``, which would compile them at import.
    options
        Those of ``cuda.jit``.
    """
    if config.ENABLE_CUDASIM:
        return cuda.jit(function)
    call_all(registrations)
    return partial(_compile, cuda.jit(function, **options), signature)


def _compile(dispatcher: Any, signature: tuple[Any, ...]) -> Any:
    """Compile a kernel for the current GPU."""
    from gpusudoku.kernels.cuda_driver import Code, current_device

    with cuda.gpus[current_device()]:
        dispatcher.compile(signature)
        [compiled] = dispatcher.overloads.values()
        library = compiled._codelibrary
        binary = library.get_cubin()
        ptx = library.get_asm_str()
    [entry] = re.findall(r"\.visible \.entry (\S+?)\(", ptx)
    return Code(entry, bytes(getattr(binary, "code", binary)), ptx)


def trial(number: int) -> Any:
    """Return what compiles a kernel that shows whether a GPU can be used at all.

    It writes the number to ``numbers[0]``.
    """

    def write(numbers):
        numbers[0] = number

    return kernel(write, (int64[::1],))
