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

FOUR = 4

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
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


def unite_four(data: Any, place: int, more: Any, out: Any, at: int) -> None:
    """Write the union of the bits of four bytes and of those that a uint32 has in memory."""
    extra = np.array([more], np.uint32).view(np.uint8)
    out[at : at + FOUR] = data[place : place + FOUR] | extra


def unite(data: Any, place: int, others: Any, other: int, out: Any, at: int) -> None:
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
def _unite_four(typing_context, data, place, more, out, at):
    def generate(context, builder, signature, args):
        kinds = signature.args
        source = _address(context, builder, kinds[0], *args[:2], kind=_I32)
        value = builder.or_(builder.load(source, align=1), args[2])
        builder.store(value, _address(context, builder, kinds[3], *args[3:], kind=_I32), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint32, out, types.int64), generate


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


@overload(unite_four, target="cpu", jit_options=INLINED)
def _unite_four_cpu(data, place, more, out, at):
    return lambda data, place, more, out, at: _unite_four(data, place, more, out, at)


@overload(unite, target="cpu", jit_options=INLINED)
def _unite_cpu(data, place, others, other, out, at):
    return lambda data, place, others, other, out, at: _unite(data, place, others, other, out, at)


@overload(write_cells, target="cpu", jit_options=INLINED)
def _write_cells_cpu(data, place, others, other):
    return lambda data, place, others, other: _write_cells(data, place, others, other)
