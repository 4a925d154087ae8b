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

import inspect
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.extending import models, register_model

LANES = 32
"""Boards that a CPU thread advances at once: two registers of 512 bits for every word, so that
one can be worked on while the other waits for its last result."""

_I32, _I64 = ir.IntType(32), ir.IntType(64)


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
    """What the compilers take a value of lanes for; one for the CPU and one for CUDA."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _machine_type(kind.width))


def _machine_type(width: int) -> Any:
    return ir.VectorType(_I32, width) if width > 1 else _I32


OPERATORS = {
    operator.and_: "and_",
    operator.or_: "or_",
    operator.xor: "xor",
    operator.add: "add",
    operator.sub: "sub",
    operator.lshift: "shl",
    operator.rshift: "lshr",
}
"""LLVM's instruction for every operator."""


Define = Callable[[Callable[..., Any], int, Callable[..., Any], Callable[..., Any]], None]
"""Teaches a compiler a function: its name, how many arguments it has, its signature from the types
of these (None for types that are not ours), and what writes its instructions."""


def _teach(lanes: _Lanes, define: Define) -> None:
    """Teach a compiler what can be done with values of lanes."""
    kind = _machine_type(lanes.width)

    def in_all_lanes(builder: Any, value: Any) -> Any:
        """A value of lanes; a whole number is the same in all of them."""
        if value.type == kind:
            return value
        word = builder.trunc(value, _I32)
        if lanes.width == 1:
            return word
        nothing = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(nothing, word, ir.Constant(_I32, 0))
        return builder.shuffle_vector(first, nothing, ir.Constant(kind, [0] * lanes.width))

    def define_operator(operation: Callable[..., Any], instruction: str) -> None:
        def generate(context, builder, signature, args):
            a, b = (in_all_lanes(builder, value) for value in args)
            return getattr(builder, instruction)(a, b)

        define(operation, lambda x, y: lanes if x == lanes else None, generate)

    for operation, instruction in OPERATORS.items():
        define_operator(operation, instruction)

    def invert(context, builder, signature, args):
        return builder.not_(args[0])

    define(operator.invert, lambda x: lanes if x == lanes else None, invert)

    def address(context: Any, builder: Any, rows_type: Any, rows: Any, row: Any) -> Any:
        data = context.make_array(rows_type)(context, builder, rows).data
        first = builder.gep(data, [builder.mul(row, ir.Constant(_I64, lanes.width))])
        return builder.bitcast(first, kind.as_pointer())

    def load_all(context, builder, signature, args):
        return builder.load(address(context, builder, signature.args[0], *args), align=4)

    define(load, lambda rows, row: lanes, load_all)

    def store_all(context, builder, signature, args):
        place = address(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], place, align=4)
        return context.get_dummy_value()

    define(store, lambda rows, row, value: types.void, store_all)

    def nonzero_all(context, builder, signature, args):
        bits = builder.icmp_unsigned("!=", args[0], args[0].type(None))
        if lanes.width > 1:
            bits = builder.bitcast(bits, ir.IntType(lanes.width))
        return builder.zext(bits, _I64)

    define(nonzero, lambda value: types.uint64, nonzero_all)


def _define_cpu(function, typer, generate):
    arity = len(inspect.signature(typer).parameters)
    extending.type_callable(function)(lambda context: typer)
    extending.lower_builtin(function, *[types.Any] * arity)(generate)


register_model(_Lanes)(_LanesModel)
_teach(_Lanes(LANES), _define_cpu)


def register_cuda() -> None:
    """Teach the CUDA compiler, too. Not for the simulator."""
    from numba.cuda.extending import intrinsic
    from numba.cuda.models import register_model

    register_model(_Lanes)(_LanesModel)
    _teach(_Lanes(1), partial(extending.overload, target="cuda"), intrinsic)
