"""Bytes united bit by bit, many at once: the innermost operations of writing solutions.

``unite`` and ``unite_three`` work at any address, and check no bounds. The plain functions define
their meaning. Compiled for the CPU, they become vector instructions of LLVM.

Parts of the stage ``write_solutions``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from gpusudoku.kernels.kernel import when_compiling

WIDE = 32
"""The number of bytes that ``unite`` combines: at most two vector registers of any processor."""

_I8 = ir.IntType(8)
_I16 = ir.IntType(16)
_I64 = ir.IntType(64)
_BYTES = ir.VectorType(_I8, WIDE)


def unite_three(source: Any, start: Any, byte: Any, target: Any, target_start: Any) -> None:
    """Write three bytes, each united bit by bit with ``byte``, a uint8."""
    target[target_start : target_start + 3] = source[start : start + 3] | byte


def unite(
    bytes_1: Any, start_1: Any, bytes_2: Any, start_2: Any, target: Any, target_start: Any
) -> None:
    """Write WIDE bytes of ``bytes_1``, united bit by bit with as many bytes of ``bytes_2``."""
    loaded_1 = bytes_1[start_1 : start_1 + WIDE]
    loaded_2 = bytes_2[start_2 : start_2 + WIDE]
    target[target_start : target_start + WIDE] = loaded_1 | loaded_2


def _pointer(
    context: Any, builder: Any, array_type: Any, array: Any, index: Any, pointed_type: Any
) -> Any:
    """Return the LLVM pointer to an index of an array of bytes, seen as another type."""
    # Numba passes an array as a structure; ``data`` points to its first byte.
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), pointed_type.as_pointer())


@when_compiling
def _register() -> None:
    """Register the two functions' machine code with Numba."""
    from numba import types
    from numba.extending import intrinsic, overload

    from gpusudoku.kernels.compile_cpu import INLINED

    # Loads and stores have align=1: strips and solutions are at any address.

    @intrinsic
    def unite_three_in_llvm(typing_context, source, start, byte, target, target_start):
        def generate(context, builder, signature, args):
            source_type, _, _, target_type, _ = signature.args
            source, start, byte, target, target_start = args

            def unite_at(shift: int, integer_type: Any, operand: Any) -> None:
                from_index = builder.add(start, _I64(shift))
                to_index = builder.add(target_start, _I64(shift))
                from_pointer = _pointer(
                    context, builder, source_type, source, from_index, integer_type
                )
                to_pointer = _pointer(context, builder, target_type, target, to_index, integer_type)
                loaded = builder.load(from_pointer, align=1)
                builder.store(builder.or_(loaded, operand), to_pointer, align=1)

            # Two bytes at once, then the third. A row of a box is three bytes.
            byte_twice = builder.mul(builder.zext(byte, _I16), _I16(0x0101))
            unite_at(0, _I16, byte_twice)
            unite_at(2, _I8, byte)
            return context.get_dummy_value()

        return types.void(source, types.int64, types.uint8, target, types.int64), generate

    @intrinsic
    def unite_in_llvm(typing_context, bytes_1, start_1, bytes_2, start_2, target, target_start):
        def generate(context, builder, signature, args):
            type_1, _, type_2, _, target_type, _ = signature.args
            bytes_1, start_1, bytes_2, start_2, target, target_start = args
            pointer_1 = _pointer(context, builder, type_1, bytes_1, start_1, _BYTES)
            pointer_2 = _pointer(context, builder, type_2, bytes_2, start_2, _BYTES)
            target_pointer = _pointer(context, builder, target_type, target, target_start, _BYTES)
            loaded_1 = builder.load(pointer_1, align=1)
            loaded_2 = builder.load(pointer_2, align=1)
            builder.store(builder.or_(loaded_1, loaded_2), target_pointer, align=1)
            return context.get_dummy_value()

        signature = types.void(bytes_1, types.int64, bytes_2, types.int64, target, types.int64)
        return signature, generate

    @overload(unite_three, target="cpu", jit_options=INLINED)
    def _unite_three_cpu(source, start, byte, target, target_start):
        return lambda source, start, byte, target, target_start: unite_three_in_llvm(
            source, start, byte, target, target_start
        )

    @overload(unite, target="cpu", jit_options=INLINED)
    def _unite_cpu(bytes_1, start_1, bytes_2, start_2, target, target_start):
        return lambda bytes_1, start_1, bytes_2, start_2, target, target_start: unite_in_llvm(
            bytes_1, start_1, bytes_2, start_2, target, target_start
        )
