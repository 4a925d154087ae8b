"""Many bytes united at once, wherever they begin: a few instructions on the CPU.

The plain functions say what is meant. Compiled for the CPU they become vectors of LLVM. Nobody
checks that there are so many bytes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from gpusudoku.kernels.kernel import when_compiling

WIDE = 32
"""How many bytes are united together: two registers at most of any processor."""

_I8, _I16, _I64 = (ir.IntType(bits) for bits in (8, 16, 64))
_BYTES = ir.VectorType(_I8, WIDE)


def unite_three(data: Any, place: Any, byte: Any, out: Any, at: Any) -> None:
    """Write the union of the bits of each of three bytes and those of one byte, a uint8."""
    out[at : at + 3] = data[place : place + 3] | byte


def unite(data: Any, place: Any, others: Any, other: Any, out: Any, at: Any) -> None:
    """Write the union of the bits of the bytes from a place on and those from another place on."""
    out[at : at + WIDE] = data[place : place + WIDE] | others[other : other + WIDE]


def _address(
    context: Any, builder: Any, array: Any, data: Any, place: Any, kind: Any = _BYTES
) -> Any:
    first = context.make_array(array)(context, builder, data).data
    return builder.bitcast(builder.gep(first, [place]), kind.as_pointer())


@when_compiling
def _register() -> None:
    from numba import types
    from numba.extending import intrinsic, overload

    from gpusudoku.kernels.compile_cpu import INLINED

    @intrinsic
    def three(typing_context, data, place, byte, out, at):
        def generate(context, builder, signature, args):
            kinds, byte = signature.args, args[2]
            twice = builder.mul(builder.zext(byte, _I16), _I16(0x0101))
            for shift, kind, more in (0, _I16, twice), (2, _I8, byte):
                source = builder.add(args[1], _I64(shift))
                target = builder.add(args[4], _I64(shift))
                value = builder.load(
                    _address(context, builder, kinds[0], args[0], source, kind), align=1
                )
                address = _address(context, builder, kinds[3], args[3], target, kind)
                builder.store(builder.or_(value, more), address, align=1)
            return context.get_dummy_value()

        return types.void(data, types.int64, types.uint8, out, types.int64), generate

    @intrinsic
    def many(typing_context, data, place, others, other, out, at):
        def generate(context, builder, signature, args):
            kinds = signature.args
            some, more = (
                builder.load(_address(context, builder, kinds[k], *args[k : k + 2]), align=1)
                for k in (0, 2)
            )
            address = _address(context, builder, kinds[4], *args[4:])
            builder.store(builder.or_(some, more), address, align=1)
            return context.get_dummy_value()

        return types.void(data, types.int64, others, types.int64, out, types.int64), generate

    @overload(unite_three, target="cpu", jit_options=INLINED)
    def _unite_three_cpu(data, place, byte, out, at):
        return lambda data, place, byte, out, at: three(data, place, byte, out, at)

    @overload(unite, target="cpu", jit_options=INLINED)
    def _unite_cpu(data, place, others, other, out, at):
        return lambda data, place, others, other, out, at: many(data, place, others, other, out, at)
