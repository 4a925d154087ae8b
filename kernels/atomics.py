"""Atomic operations on 64-bit words that several threads read and write, and waiting.

The plain functions define the meaning, and run where nothing is compiled; a lock makes them atomic.
Compiled for the CPU, they become LLVM's atomic instructions. These are sequentially consistent,
also on processors that reorder memory accesses, such as ARM's: whatever a thread wrote before
``store``, ``add`` or a successful ``compare_exchange`` is visible to any thread that has read the
new value by ``load``. The exceptions are ``load_relaxed`` and ``store_relaxed``, for a word that
implies nothing about other memory: they are as cheap as ordinary accesses, but the compiler neither
caches nor postpones them.
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
    """Read an element."""
    return array[i]


def load_relaxed(array: Any, i: int) -> Any:
    """Read an element without ordering other accesses."""
    return array[i]


def store(array: Any, i: int, value: Any) -> None:
    """Write an element."""
    with _lock:
        array[i] = value


def store_relaxed(array: Any, i: int, value: Any) -> None:
    """Write an element without ordering other accesses."""
    array[i] = value


def add(array: Any, i: int, value: Any) -> Any:
    """Add to an element; return its previous value."""
    with _lock:
        previous = array[i]
        array[i] = previous + value
    return previous


def compare_exchange(array: Any, i: int, expected: Any, value: Any) -> bool:
    """Write an element if it has the expected value; return True if it had."""
    with _lock:
        is_equal: bool = array[i] == expected
        if is_equal:
            array[i] = value
    return is_equal


def pause() -> None:
    """Tell the core that this thread waits for another thread, which may share the core."""


def sleep(microseconds: int) -> None:
    """Release the core to other threads for at least some microseconds."""
    time.sleep(1e-6 * microseconds)


@when_compiling
def _register_cpu() -> None:
    """Register all functions with the compiler for the CPU."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload

    from gpusudoku.kernels.compile_cpu import INLINED

    alignment = 8  # bytes: elements are words of 64 bits
    int32 = ir.IntType(32)
    void = ir.VoidType()

    def pointer_to(context: Any, builder: Any, array_type: Any, array: Any, i: Any) -> Any:
        data = context.make_array(array_type)(context, builder, array).data
        return cgutils.gep(builder, data, i)

    def make_load(order: str) -> Any:
        """Make the intrinsic that loads an element with a memory order of LLVM."""

        @intrinsic
        def load_element(typing_context, array, i):
            def generate(context, builder, signature, args):
                pointer = pointer_to(context, builder, signature.args[0], *args)
                return builder.load_atomic(pointer, order, alignment)

            return array.dtype(array, types.int64), generate

        return load_element

    def make_store(order: str) -> Any:
        """Make the intrinsic that stores an element with a memory order of LLVM."""

        @intrinsic
        def store_element(typing_context, array, i, value):
            def generate(context, builder, signature, args):
                pointer = pointer_to(context, builder, signature.args[0], *args[:2])
                builder.store_atomic(args[2], pointer, order, alignment)
                return context.get_dummy_value()

            return types.void(array, types.int64, array.dtype), generate

        return store_element

    load_ordered = make_load("seq_cst")
    load_monotonic = make_load("monotonic")
    store_ordered = make_store("seq_cst")
    store_monotonic = make_store("monotonic")

    @intrinsic
    def fetch_add(typing_context, array, i, value):
        def generate(context, builder, signature, args):
            pointer = pointer_to(context, builder, signature.args[0], *args[:2])
            return builder.atomic_rmw("add", pointer, args[2], "seq_cst")

        return array.dtype(array, types.int64, array.dtype), generate

    @intrinsic
    def exchange(typing_context, array, i, expected, value):
        def generate(context, builder, signature, args):
            pointer = pointer_to(context, builder, signature.args[0], *args[:2])
            value_and_success = builder.cmpxchg(pointer, args[2], args[3], "seq_cst", "seq_cst")
            return builder.extract_value(value_and_success, 1)

        return types.boolean(array, types.int64, array.dtype, array.dtype), generate

    @intrinsic
    def pause_core(typing_context):
        def generate(context, builder, signature, args):
            machine = platform.machine().lower()
            if machine in ("x86_64", "amd64"):
                function_type = ir.FunctionType(void, [])
                name = "llvm.x86.sse2.pause"
                pause_function = cgutils.get_or_insert_function(builder.module, function_type, name)
                builder.call(pause_function, [])
            elif machine in ("aarch64", "arm64"):
                function_type = ir.FunctionType(void, [int32])
                name = "llvm.aarch64.hint"
                hint = cgutils.get_or_insert_function(builder.module, function_type, name)
                builder.call(hint, [int32(1)])  # the instruction "yield"
            # On other processors, pausing does nothing.
            return context.get_dummy_value()

        return types.void(), generate

    @intrinsic
    def sleep_thread(typing_context, microseconds):
        def generate(context, builder, signature, args):
            duration = args[0]
            if os.name == "nt":  # in milliseconds, rounded up
                name = "Sleep"
                return_type = void
                word = duration.type
                duration = builder.udiv(builder.add(duration, word(999)), word(1000))
            else:
                name = "usleep"
                return_type = int32
            function_type = ir.FunctionType(return_type, [int32])
            system_function = cgutils.get_or_insert_function(builder.module, function_type, name)
            builder.call(system_function, [builder.trunc(duration, int32)])
            return context.get_dummy_value()

        return types.void(types.int64), generate

    @overload(load, target="cpu", jit_options=INLINED)
    def load_cpu(array, i):
        return lambda array, i: load_ordered(array, i)

    @overload(load_relaxed, target="cpu", jit_options=INLINED)
    def load_relaxed_cpu(array, i):
        return lambda array, i: load_monotonic(array, i)

    @overload(store, target="cpu", jit_options=INLINED)
    def store_cpu(array, i, value):
        return lambda array, i, value: store_ordered(array, i, value)

    @overload(store_relaxed, target="cpu", jit_options=INLINED)
    def store_relaxed_cpu(array, i, value):
        return lambda array, i, value: store_monotonic(array, i, value)

    @overload(add, target="cpu", jit_options=INLINED)
    def add_cpu(array, i, value):
        return lambda array, i, value: fetch_add(array, i, value)

    @overload(compare_exchange, target="cpu", jit_options=INLINED)
    def compare_exchange_cpu(array, i, expected, value):
        return lambda array, i, expected, value: exchange(array, i, expected, value)

    @overload(pause, target="cpu", jit_options=INLINED)
    def pause_cpu():
        return lambda: pause_core()

    @overload(sleep, target="cpu", jit_options=INLINED)
    def sleep_cpu(microseconds):
        return lambda microseconds: sleep_thread(microseconds)
