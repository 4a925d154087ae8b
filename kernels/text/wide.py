"""Many bytes looked at, or copied, together, wherever they begin: a few instructions on the CPU.

The plain functions say what is meant. Compiled for the CPU they become vectors of LLVM. Nobody
checks that there are so many bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from gpusudoku.kernels.parts import INLINED
from gpusudoku.kernels.text.values import QUOTE, SPACE, WIDE

ZERO, EMPTY = ord("0"), ord(".")
LETTERS = ord("A") - ord("9") - 1
"""What stands between the digits and the letters."""

_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BYTES = ir.VectorType(_I8, WIDE)


def stops(data: Any, place: int, stop: int, last: int = 255) -> np.uint64:
    """The bytes from a place on that are ``stop``, a quote, below a blank or above ``last``.

    They are given as bits.
    """
    some = data[place : place + WIDE]
    return _bits((some == stop) | (some == QUOTE) | (some < SPACE) | (some > last))


def differences(data: Any, place: int, others: Any, other: int) -> np.uint64:
    """The bytes from a place on that are not those from another place on, as bits."""
    return _bits(data[place : place + WIDE] != others[other : other + WIDE])


def copy(data: Any, place: int, others: Any, other: int) -> None:
    """Copy the bytes from a place on to another place."""
    others[other : other + WIDE] = data[place : place + WIDE]


def unite_three(data: Any, place: Any, byte: Any, out: Any, at: Any) -> None:
    """Write the union of the bits of each of three bytes and those of one byte, a uint8."""
    out[at : at + 3] = data[place : place + 3] | byte


def unite(data: Any, place: Any, others: Any, other: Any, out: Any, at: Any) -> None:
    """Write the union of the bits of the bytes from a place on and those from another place on."""
    out[at : at + WIDE] = data[place : place + WIDE] | others[other : other + WIDE]


def write_cells(data: Any, place: int, others: Any, other: int) -> None:
    """Copy values of cells, up to 35, from a place on, as the characters of a board's line."""
    cells = data[place : place + WIDE]
    digits = cells + (ZERO + LETTERS * (cells > 9))
    others[other : other + WIDE] = np.where(cells == 0, EMPTY, digits)


def _bits(mask: Any) -> np.uint64:
    return np.uint64(sum(1 << k for k in np.flatnonzero(mask).tolist()))


def _address(
    context: Any, builder: Any, array: Any, data: Any, place: Any, kind: Any = _BYTES
) -> Any:
    first = context.make_array(array)(context, builder, data).data
    return builder.bitcast(builder.gep(first, [place]), kind.as_pointer())


def _loaded(context: Any, builder: Any, kind: Any, data: Any, place: Any) -> Any:
    return builder.load(_address(context, builder, kind, data, place), align=1)


def _everywhere(builder: Any, value: Any) -> Any:
    nothing = ir.Constant(_BYTES, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(_I32, WIDE), [0] * WIDE)
    )


def _as_bits(builder: Any, mask: Any) -> Any:
    return builder.zext(builder.bitcast(mask, ir.IntType(WIDE)), _I64)


@intrinsic
def _stops(typing_context, data, place, stop, last):
    def generate(context, builder, signature, args):
        some = _loaded(context, builder, signature.args[0], *args[:2])
        quote, space = (ir.Constant(_BYTES, [code] * WIDE) for code in (QUOTE, SPACE))
        found = builder.icmp_unsigned("==", some, _everywhere(builder, args[2]))
        found = builder.or_(found, builder.icmp_unsigned("==", some, quote))
        found = builder.or_(found, builder.icmp_unsigned("<", some, space))
        above = builder.icmp_unsigned(">", some, _everywhere(builder, args[3]))
        return _as_bits(builder, builder.or_(found, above))

    return types.uint64(data, types.int64, types.uint8, types.uint8), generate


@intrinsic
def _differences(typing_context, data, place, others, other):
    def generate(context, builder, signature, args):
        kinds = signature.args
        some = _loaded(context, builder, kinds[0], *args[:2])
        return _as_bits(
            builder,
            builder.icmp_unsigned("!=", some, _loaded(context, builder, kinds[2], *args[2:])),
        )

    return types.uint64(data, types.int64, others, types.int64), generate


@intrinsic
def _copy(typing_context, data, place, others, other):
    def generate(context, builder, signature, args):
        kinds = signature.args
        some = _loaded(context, builder, kinds[0], *args[:2])
        builder.store(some, _address(context, builder, kinds[2], *args[2:]), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, others, types.int64), generate


@intrinsic
def _unite_three(typing_context, data, place, byte, out, at):
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
def _unite(typing_context, data, place, others, other, out, at):
    def generate(context, builder, signature, args):
        kinds = signature.args
        some = _loaded(context, builder, kinds[0], *args[:2])
        more = _loaded(context, builder, kinds[2], *args[2:4])
        address = _address(context, builder, kinds[4], *args[4:])
        builder.store(builder.or_(some, more), address, align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, others, types.int64, out, types.int64), generate


@intrinsic
def _write_cells(typing_context, data, place, others, other):
    def generate(context, builder, signature, args):
        kinds = signature.args
        cells = _loaded(context, builder, kinds[0], *args[:2])
        zero, empty, letters, nine, nothing = (
            ir.Constant(_BYTES, [value] * WIDE) for value in (ZERO, EMPTY, LETTERS, 9, 0)
        )
        beyond = builder.select(builder.icmp_unsigned(">", cells, nine), letters, nothing)
        digits = builder.add(builder.add(cells, zero), beyond)
        text = builder.select(builder.icmp_unsigned("==", cells, nothing), empty, digits)
        builder.store(text, _address(context, builder, kinds[2], *args[2:]), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, others, types.int64), generate


@overload(stops, target="cpu", jit_options=INLINED)
def _stops_cpu(data, place, stop, last=255):
    return lambda data, place, stop, last=255: _stops(data, place, stop, last)


@overload(differences, target="cpu", jit_options=INLINED)
def _differences_cpu(data, place, others, other):
    return lambda data, place, others, other: _differences(data, place, others, other)


@overload(copy, target="cpu", jit_options=INLINED)
def _copy_cpu(data, place, others, other):
    return lambda data, place, others, other: _copy(data, place, others, other)


@overload(unite_three, target="cpu", jit_options=INLINED)
def _unite_three_cpu(data, place, byte, out, at):
    return lambda data, place, byte, out, at: _unite_three(data, place, byte, out, at)


@overload(unite, target="cpu", jit_options=INLINED)
def _unite_cpu(data, place, others, other, out, at):
    return lambda data, place, others, other, out, at: _unite(data, place, others, other, out, at)


@overload(write_cells, target="cpu", jit_options=INLINED)
def _write_cells_cpu(data, place, others, other):
    return lambda data, place, others, other: _write_cells(data, place, others, other)
