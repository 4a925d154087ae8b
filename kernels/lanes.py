"""Many boards in step: one word of each of LANES boards as one SIMD value, a *lane* per board.

A step of the search that has no branches does the same to every board, so it can be written once,
on *lanes* instead of on words. Rows of uint32 (rows, lanes) arrays are loaded, combined with
``& | ^ ~ + - << >>`` and whole numbers, and stored. What a value of lanes is depends on who runs:

* compiled for the CPU, LLVM's vector of LANES 32-bit integers: instructions of 512 bits where the
  processor has them, else as many narrower ones as it takes;
* compiled for CUDA, where every thread has a board of its own, the word of that board (and what is
  not ``& | ^ ~`` becomes multiplications where it can: see ``_on_the_multiplier``);
* not compiled, or in the CUDA simulator, a NumPy array, however many lanes it has.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.extending import models, register_model

from gpusudoku.kernels.parts import INLINED

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


def less_shifted(x: Any, n: int) -> Any:
    """For each bit the n bits below it: x - (x >> n). The n lowest bits of x are 0."""
    return x - (x >> n)


def thrice(x: Any, n: int) -> Any:
    """The same bits three times: x is lower than 2^n, and again n and 2 n bits higher up."""
    return x | (x << n) | (x << 2 * n)


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


Generate = Callable[[Any, Any, Any], Any]
"""Makes what computes a value from two others, with an LLVM builder."""


def _less_shifted(builder: Any, x: Any, n: Any) -> Any:
    return builder.sub(x, builder.lshr(x, n))


def _thrice(builder: Any, x: Any, n: Any) -> Any:
    higher = builder.or_(builder.shl(x, n), builder.shl(x, builder.add(n, n)))
    return builder.or_(x, higher)


def _by_one_instruction(name: str) -> Generate:
    return lambda builder, x, y: getattr(builder, name)(x, y)


GENERATE: dict[Callable[..., Any], Generate] = {
    **{operation: _by_one_instruction(name) for operation, name in OPERATORS.items()},
    less_shifted: _less_shifted,
    thrice: _thrice,
}
"""What can be done with a value of lanes and another one, or a whole number."""


def _teach(
    lanes: _Lanes, overload: Any, intrinsic: Any, generators: dict[Callable[..., Any], Generate]
) -> None:
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

    def define(operation: Callable[..., Any], generator: Generate) -> None:
        @intrinsic
        def both(typing_context, x, y):
            def generate(context, builder, signature, args):
                return generator(builder, *(in_all_lanes(builder, value) for value in args))

            return lanes(x, y), generate

        @overload(operation)
        def operate(x, y):
            return (lambda x, y: both(x, y)) if isinstance(x, _Lanes) else None

    for operation, generator in generators.items():
        define(operation, generator)

    @intrinsic
    def invert_all(typing_context, x):
        return x(x), lambda context, builder, signature, args: builder.not_(args[0])

    @overload(operator.invert)
    def invert(x):
        return (lambda x: invert_all(x)) if isinstance(x, _Lanes) else None

    def address(context: Any, builder: Any, rows_type: Any, rows: Any, row: Any) -> Any:
        data = context.make_array(rows_type)(context, builder, rows).data
        first = builder.gep(data, [builder.mul(row, ir.Constant(_I64, lanes.width))])
        return builder.bitcast(first, kind.as_pointer())

    @intrinsic
    def load_all(typing_context, rows, row):
        def generate(context, builder, signature, args):
            return builder.load(address(context, builder, signature.args[0], *args), align=4)

        return lanes(rows, types.int64), generate

    @intrinsic
    def store_all(typing_context, rows, row, value):
        def generate(context, builder, signature, args):
            place = address(context, builder, signature.args[0], *args[:2])
            builder.store(args[2], place, align=4)
            return context.get_dummy_value()

        return types.void(rows, types.int64, value), generate

    @intrinsic
    def nonzero_all(typing_context, value):
        def generate(context, builder, signature, args):
            bits = builder.icmp_unsigned("!=", args[0], args[0].type(None))
            if lanes.width > 1:
                bits = builder.bitcast(bits, ir.IntType(lanes.width))
            return builder.zext(bits, _I64)

        return types.uint64(value), generate

    @overload(load)
    def _load(rows, row):
        return lambda rows, row: load_all(rows, row)

    @overload(store)
    def _store(rows, row, value):
        return lambda rows, row, value: store_all(rows, row, value)

    @overload(nonzero)
    def _nonzero(value):
        return lambda value: nonzero_all(value)


register_model(_Lanes)(_LanesModel)
_teach(
    _Lanes(LANES),
    partial(extending.overload, target="cpu", jit_options=INLINED),
    extending.intrinsic,
    GENERATE,
)


def _on_the_multiplier() -> dict[Callable[..., Any], Generate]:
    """Additions and shifts to the right as multiplications by powers of two, for CUDA.

    A multiprocessor has as many units that multiply and add as it has for everything else on whole
    numbers, and a step needs the latter only. x + y is x * 1 + y, and x >> n is the high half of
    x * 2^(32 - n), but compilers know that as well as we do and would turn them back. So the 1
    is one that they cannot know: the third side of a block, whose threads lie in a row.
    """

    def one(builder: Any) -> Any:
        kind = ir.FunctionType(_I32, [])
        return builder.call(_declared(builder, "llvm.nvvm.read.ptx.sreg.ntid.z", kind), [])

    def power(builder: Any, exponent: Any) -> Any:
        return builder.shl(one(builder), exponent)

    def high_half(builder: Any, x: Any, y: Any) -> Any:
        kind = ir.FunctionType(_I32, [_I32, _I32])
        return builder.call(_declared(builder, "llvm.nvvm.mulhi.ui", kind), [x, y])

    def add(builder: Any, x: Any, y: Any) -> Any:
        return builder.add(builder.mul(x, one(builder)), y)

    def subtract(builder: Any, x: Any, y: Any) -> Any:
        return add(builder, x, builder.neg(y)) if isinstance(y, ir.Constant) else builder.sub(x, y)

    def shift_right(builder: Any, x: Any, n: Any) -> Any:
        return high_half(builder, x, power(builder, builder.sub(_I32(32), n)))

    def less_shifted_by(builder: Any, x: Any, n: Any) -> Any:
        return high_half(builder, x, builder.neg(power(builder, builder.sub(_I32(32), n))))

    def thrice_by(builder: Any, x: Any, n: Any) -> Any:
        factor = builder.add(_I32(1), builder.shl(_I32(1), n))
        return builder.mul(x, builder.add(factor, builder.shl(_I32(1), builder.add(n, n))))

    return {
        operator.add: add,
        operator.sub: subtract,
        operator.rshift: shift_right,
        less_shifted: less_shifted_by,
        thrice: thrice_by,
    }


def _declared(builder: Any, name: str, kind: Any) -> Any:
    """A function of LLVM's, declared in the module that is built if it is not yet."""
    module = builder.module
    return module.globals.get(name) or ir.Function(module, kind, name)


def register_cuda() -> None:
    """Teach the CUDA compiler, too. Not for the simulator."""
    from numba.cuda.extending import intrinsic
    from numba.cuda.models import register_model

    register_model(_Lanes)(_LanesModel)
    _teach(_Lanes(1), cuda_overload(), intrinsic, GENERATE | _on_the_multiplier())


def cuda_overload() -> Any:
    """numba-cuda's ``overload``, inlined. Not for the simulator.

    What Numba's own inlines for CUDA, it would inline for the CPU, too: a process that has compiled
    for one could not compile for the other.
    """
    from numba.cuda.extending import overload

    return partial(overload, target="cuda", inline="always")
