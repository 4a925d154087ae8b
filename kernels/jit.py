"""Numba's side of compiling for the CPU: machine code made, put into bytes, and taken out again.

``store`` keeps the bytes; ``cuda_jit`` does the same for CUDA.
"""

from __future__ import annotations

import gc
import hashlib
import itertools
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name, parse_assembly
from numba import njit
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps

from gpusudoku.errors import InputError
from gpusudoku.kernels.store import Store

SETTINGS = ("CPU_NAME", "CPU_FEATURES", "OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "ENABLE_AVX",
            "LOOP_VECTORIZE", "SLP_VECTORIZE")  # fmt: skip
"""Numba's settings on which machine code depends."""

Jit = Callable[[Callable[..., Any]], Callable[..., Any]]
"""The decorator that a compiler wants on a function that kernels call."""


@cache
def store() -> Store | None:
    """Where compiled code is kept; None if this user has no home.

    A folder in GPUSUDOKU_CACHE_DIR, else in the user's cache; one for each state of all that
    decides what machine code comes out.
    """
    state = _state()
    try:
        return Store(base_folder() / state.hex()[:16], state)
    except RuntimeError:
        return None


def base_folder() -> Path:
    """The folder in which there is one for each state."""
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GPUSUDOKU_CACHE_DIR") or Path(user_cache) / "gpusudoku").absolute()


def _state() -> bytes:
    """A digest of the sources, the compilers, Python, the processor and Numba's settings."""
    settings = [getattr(numba.config, name, None) for name in SETTINGS]
    python = sys.implementation.cache_tag, sys.version, getattr(sys, "abiflags", ""), sys.platform
    processor = get_host_cpu_name(), get_host_cpu_features().flatten()
    versions = numba.__version__, llvmlite.__version__
    digest = hashlib.sha256(repr((versions, python, processor, settings)).encode())
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()


def compiled(function: Callable[..., Any], signature: tuple[Any, ...]) -> Callable[..., Any]:
    """The function compiled for Numba types: it takes no others.

    Raises
    ------
    InputError
        If Numba is told not to compile.
    """
    dispatcher = _dispatcher(function)
    with global_compiler_lock, _without_garbage():
        _name_apart()
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def address(compiled: Any, signature: Any) -> int:
    """Where a compiled function is in memory, to be called with that signature and no other."""
    [result] = compiled.overloads.values()
    made = result.signature
    expected = signature.return_type, signature.args
    assert (made.return_type, made.args) == expected, f"{made} is called as {signature}"
    found: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return found


def as_bytes(compiled: Any) -> bytes:
    """What ``compiled`` gave, for the same versions of everything to load again.

    Numba would add LLVM's form of the code, for other functions that call this one, and a text of
    the types. Nobody asks for either, and to read them takes longer than all else.
    """
    [result] = compiled.overloads.values()
    # Addresses of this process would be in the code.
    assert not result.library.has_dynamic_globals, "a kernel must not use large global arrays"
    (name, kind, (code, _)), *others = result._replace(type_annotation="")._reduce()
    content: bytes = dumps(((name, kind, (code, _names_alone(result.fndesc))), *others))
    return content


def _names_alone(descriptor: Any) -> bytes:
    """A module of LLVM with the functions that are called from outside, and nothing in them.

    From such a module Numba learns what the machine code has.
    """
    names = descriptor.llvm_func_name, descriptor.llvm_cpython_wrapper_name
    text = "".join(f'define void @"{name}"() {{ ret void }}\n' for name in names)
    bitcode: bytes = parse_assembly(text).as_bitcode()
    return bitcode


def from_bytes(function: Callable[..., Any], content: bytes) -> Callable[..., Any]:
    """The function as it was when ``as_bytes`` took it; any error if that is not possible.

    Numba itself would first import its hundreds of implementations of Python functions, which takes
    longer than all else in a short run. They are only needed to compile.
    """
    dispatcher = _dispatcher(function)
    with global_compiler_lock:
        dispatcher.add_overload(
            CompileResult._rebuild(dispatcher.targetctx, *pickle.loads(content))
        )
    dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def _dispatcher(function: Callable[..., Any]) -> Any:
    if numba.config.DISABLE_JIT:
        raise InputError("NUMBA_DISABLE_JIT is set, but this needs compiling: unset it")
    # Nothing is allocated, so nothing needs counting of references, which would cost time.
    # Nobody calls kernels from C.
    return njit(nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)(function)


@contextmanager
def _without_garbage() -> Iterator[None]:
    """Look for no garbage: compiling makes millions of objects that stay, and a tenth is saved."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _name_apart() -> None:
    """Let the symbols of what is compiled next be no other's, in whatever process.

    Numba tells functions of the same name apart by counting them, in every process from 1. When
    machine code of two processes meets in a third, functions of one would be called for those of
    the other: templates for two shapes of boards have the same names, for example.
    """
    assert hasattr(FunctionIdentity, "_unique_ids"), "this version of Numba is not known"
    FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(6)))
