"""Atomic operations on 64-bit words that several threads read and write, and waiting.

The plain functions define the meaning and run where nothing is compiled; a lock makes them atomic.
Compiled for the CPU, they become LLVM's atomic instructions. All are sequentially consistent, which
suffices on processors that reorder memory accesses, such as ARM's: whatever a thread wrote before
``store``, ``add`` or a successful ``compare_exchange`` is visible to any thread that has then read
the new value by ``load``. The exceptions are ``load_relaxed`` and ``store_relaxed``, for a word
that says nothing about other memory: they are as cheap as ordinary accesses, but the compiler
neither caches nor postpones them.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from typing import Any

from gpusudoku.kernels.kernel import when_compiling

_lock = threading.Lock()


def load(array: Any, i: int) -> Any:
    """Read an entry."""
    return array[i]


def load_relaxed(array: Any, i: int) -> Any:
    """Read an entry without ordering other accesses."""
    return array[i]


def store(array: Any, i: int, value: Any) -> None:
    """Write an entry."""
    with _lock:
        array[i] = value


def store_relaxed(array: Any, i: int, value: Any) -> None:
    """Write an entry without ordering other accesses."""
    array[i] = value


def add(array: Any, i: int, value: Any) -> Any:
    """Add to an entry; return its former value."""
    with _lock:
        former = array[i]
        array[i] = former + value
    return former


def compare_exchange(array: Any, i: int, expected: Any, value: Any) -> bool:
    """Write an entry if it has the expected value; return whether it had."""
    with _lock:
        equal: bool = array[i] == expected
        if equal:
            array[i] = value
    return equal


def pause() -> None:
    """Tell the core that this thread waits for another one, which may share the core."""


def sleep(microseconds: int) -> None:
    """Leave the core to other threads for at least this time."""
    time.sleep(1e-6 * microseconds)


@when_compiling
def _register_cpu() -> None:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload

    from gpusudoku.kernels.compile_cpu import INLINED

    alignment = 8
    int32 = ir.IntType(32)
    nothing = ir.VoidType()

    def pointer(context: Any, builder: Any, array_type: Any, array: Any, i: Any) -> Any:
        data = context.make_array(array_type)(context, builder, array).data
        return cgutils.gep(builder, data, i)

    def loading(order: str) -> Any:
        @intrinsic
        def read(typing_context, array, i):
            def generate(context, builder, signature, args):
                place = pointer(context, builder, signature.args[0], *args)
                return builder.load_atomic(place, order, alignment)

            return array.dtype(array, types.int64), generate

        return read

    def storing(order: str) -> Any:
        @intrinsic
        def write(typing_context, array, i, value):
            def generate(context, builder, signature, args):
                place = pointer(context, builder, signature.args[0], *args[:2])
                builder.store_atomic(args[2], place, order, alignment)
                return context.get_dummy_value()

            return types.void(array, types.int64, array.dtype), generate

        return write

    load_ordered = loading("seq_cst")
    load_unordered = loading("monotonic")
    store_ordered = storing("seq_cst")
    store_unordered = storing("monotonic")

    @intrinsic
    def fetch_add(typing_context, array, i, value):
        def generate(context, builder, signature, args):
            place = pointer(context, builder, signature.args[0], *args[:2])
            return builder.atomic_rmw("add", place, args[2], "seq_cst")

        return array.dtype(array, types.int64, array.dtype), generate

    @intrinsic
    def exchange(typing_context, array, i, expected, value):
        def generate(context, builder, signature, args):
            place = pointer(context, builder, signature.args[0], *args[:2])
            outcome = builder.cmpxchg(place, args[2], args[3], "seq_cst", "seq_cst")
            return builder.extract_value(outcome, 1)

        return types.boolean(array, types.int64, array.dtype, array.dtype), generate

    @intrinsic
    def relax(typing_context):
        def generate(context, builder, signature, args):
            machine = platform.machine().lower()
            if machine in ("x86_64", "amd64"):
                function = ir.FunctionType(nothing, [])
                name = "llvm.x86.sse2.pause"
                builder.call(cgutils.get_or_insert_function(builder.module, function, name), [])
            elif machine in ("aarch64", "arm64"):
                function = ir.FunctionType(nothing, [int32])
                name = "llvm.aarch64.hint"
                hint = cgutils.get_or_insert_function(builder.module, function, name)
                builder.call(hint, [int32(1)])  # the instruction "yield"
            return context.get_dummy_value()

        return types.void(), generate

    @intrinsic
    def nap(typing_context, microseconds):
        def generate(context, builder, signature, args):
            duration = args[0]
            if os.name == "nt":  # milliseconds, rounded up
                name = "Sleep"
                returned = nothing
                word = duration.type
                duration = builder.udiv(builder.add(duration, word(999)), word(1000))
            else:
                name = "usleep"
                returned = int32
            function = ir.FunctionType(returned, [int32])
            call = cgutils.get_or_insert_function(builder.module, function, name)
            builder.call(call, [builder.trunc(duration, int32)])
            return context.get_dummy_value()

        return types.void(types.int64), generate

    @overload(load, target="cpu", jit_options=INLINED)
    def load_cpu(array, i):
        return lambda array, i: load_ordered(array, i)

    @overload(load_relaxed, target="cpu", jit_options=INLINED)
    def load_relaxed_cpu(array, i):
        return lambda array, i: load_unordered(array, i)

    @overload(store, target="cpu", jit_options=INLINED)
    def store_cpu(array, i, value):
        return lambda array, i, value: store_ordered(array, i, value)

    @overload(store_relaxed, target="cpu", jit_options=INLINED)
    def store_relaxed_cpu(array, i, value):
        return lambda array, i, value: store_unordered(array, i, value)

    @overload(add, target="cpu", jit_options=INLINED)
    def add_cpu(array, i, value):
        return lambda array, i, value: fetch_add(array, i, value)

    @overload(compare_exchange, target="cpu", jit_options=INLINED)
    def compare_exchange_cpu(array, i, expected, value):
        return lambda array, i, expected, value: exchange(array, i, expected, value)

    @overload(pause, target="cpu", jit_options=INLINED)
    def pause_cpu():
        return lambda: relax()

    @overload(sleep, target="cpu", jit_options=INLINED)
    def sleep_cpu(microseconds):
        return lambda microseconds: nap(microseconds)
