"""Many boards in step: one word of each of LANES boards as one SIMD value, a *lane* per board.

A step of the search that has no branches does the same to every board, so it can be written once,
on *lanes* instead of on words. Rows of uint32 (rows, lanes) arrays are loaded, combined with
``& | ^ ~ + - << >>`` and whole numbers, and stored. What a value of lanes is depends on who runs:

* compiled for the CPU, LLVM's vector of LANES 32-bit integers: instructions of 512 bits where the
  processor has them, else as many narrower ones as it takes;
* compiled for CUDA, where every thread has a board of its own, the word of that board;
* not compiled, or in the CUDA simulator, a NumPy array, however many lanes it has.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

LANES = 32
"""Boards that a CPU thread advances at once: two registers of 512 bits for every word, so that
one can be worked on while the other waits for its last result."""

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_I32, LANES)


def load(rows: Any, row: int) -> Any:
    """Row ``row`` of a uint32 (rows, lanes) array."""
    return rows[row].copy()


def store(rows: Any, row: int, value: Any) -> None:
    """Write a row."""
    rows[row] = value


def nonzero(value: Any) -> np.uint64:
    """The lanes that are not 0, as bits of a uint64."""
    return np.uint64(sum(1 << lane for lane in np.flatnonzero(value).tolist()))


class _Lanes(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _Lanes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _in_all_lanes(builder: Any, value: Any, kind: Any) -> Any:
    """A value of lanes; a whole number is the same in all of them."""
    if isinstance(kind, _Lanes):
        return value
    word = builder.trunc(value, _I32) if value.type.width > 32 else value
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, word, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(_VECTOR, [0] * LANES))


def _define(operation: Callable[..., Any], instruction: str) -> None:
    """Let a Python operator stand for LLVM's instruction on lanes."""

    @intrinsic
    def both(typing_context, x, y):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            a, b = map(_in_all_lanes, [builder] * 2, args, signature.args)
            return getattr(builder, instruction)(a, b)

        return _LANES(x, y), generate

    @overload(operation, inline="always")
    def _operate(x, y):  # type: ignore[no-untyped-def]
        return (lambda x, y: both(x, y)) if isinstance(x, _Lanes) else None


for _operation, _instruction in {
    operator.and_: "and_",
    operator.or_: "or_",
    operator.xor: "xor",
    operator.add: "add",
    operator.sub: "sub",
    operator.lshift: "shl",
    operator.rshift: "lshr",
}.items():
    _define(_operation, _instruction)


@intrinsic
def _not(typing_context, x):  # type: ignore[no-untyped-def]
    return x(x), lambda context, builder, signature, args: builder.not_(args[0])


@overload(operator.invert, inline="always")
def _invert(x):  # type: ignore[no-untyped-def]
    return (lambda x: _not(x)) if isinstance(x, _Lanes) else None


def _address(context: Any, builder: Any, kind: Any, rows: Any, row: Any) -> Any:
    data = context.make_array(kind)(context, builder, rows).data
    first = builder.gep(data, [builder.mul(row, ir.Constant(_I64, LANES))])
    return builder.bitcast(first, _VECTOR.as_pointer())


@intrinsic
def _load(typing_context, rows, row):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load(_address(context, builder, signature.args[0], *args), align=4)

    return _LANES(rows, types.int64), generate


@intrinsic
def _store(typing_context, rows, row, value):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address = _address(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], address, align=4)
        return context.get_dummy_value()

    return types.void(rows, types.int64, value), generate


@intrinsic
def _nonzero(typing_context, value):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.icmp_unsigned("!=", args[0], ir.Constant(_VECTOR, [0] * LANES))
        return builder.zext(builder.bitcast(bits, ir.IntType(LANES)), _I64)

    return types.uint64(value), generate


@overload(load, target="cpu", inline="always")
def _load_cpu(rows, row):  # type: ignore[no-untyped-def]
    return lambda rows, row: _load(rows, row)


@overload(store, target="cpu", inline="always")
def _store_cpu(rows, row, value):  # type: ignore[no-untyped-def]
    return lambda rows, row, value: _store(rows, row, value)


@overload(nonzero, target="cpu", inline="always")
def _nonzero_cpu(value):  # type: ignore[no-untyped-def]
    return lambda value: _nonzero(value)


def register_cuda() -> None:
    """Teach the CUDA compiler the three names. Not for the simulator."""

    # Signed words of 64 bits, because Numba turns mixed signs into floating point; the values are
    # below 2^32, which the compiler sees, and it computes in 32 bits.
    @overload(load, target="cuda")
    def _load_cuda(rows, row):  # type: ignore[no-untyped-def]
        return lambda rows, row: np.int64(rows[row, 0])

    @overload(store, target="cuda")
    def _store_cuda(rows, row, value):  # type: ignore[no-untyped-def]
        def store_word(rows, row, value):  # type: ignore[no-untyped-def]
            rows[row, 0] = np.uint32(value)

        return store_word

    @overload(nonzero, target="cuda")
    def _nonzero_cuda(value):  # type: ignore[no-untyped-def]
        return lambda value: np.uint64(value & 0xFFFFFFFF != 0)
