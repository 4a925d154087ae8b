"""What runs a step: vectors of a CPU, a thread of a GPU, or NumPy. The step is written once.

A step does the same to every lane of a memory, so it is written on whole rows: loaded, combined
with ``& | ^ ~ + - << >>`` and whole numbers, and stored. A function that does this is plain Python
on values, ``function(shape, machine, ...)``, and a machine says what a value is:

* ``NumpyMachine``: a NumPy array, a row of the memory. This is what runs uncompiled, and a witness;
* ``LlvmMachine``: a name of LLVM's, for a vector of all lanes. The function runs once, while it is
  compiled, and every operation writes an instruction: one of the processor's, or two where lanes
  take two registers;
* ``CudaMachine``: the same for the one board of a thread.

Loops of Python are unrolled that way. Those over ``machine.each`` become loops of the compiled
code, unless they are to be unrolled; what changes in them is kept in ``machine.words``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from gpusudoku.kernels.kernel import when_compiling
from gpusudoku.kernels.search.shape import CACHE_LINE, Shape

_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


class Machine(Protocol):
    """What a step may do, besides combining values."""

    def value(self, number: int) -> Any:
        """The same number in all lanes."""

    def load(self, row: Any) -> Any:
        """A row of the memory."""

    def store(self, row: Any, value: Any) -> None:
        """Write a row."""

    def words(self, count: int, value: int = 0) -> Any:
        """A list of values that may change in loops."""

    def each(self, count: Any, unrolled: bool = False) -> Iterator[Any]:
        """The numbers below ``count``, which is not 0."""

    def digits(self, count: int) -> Iterator[Any]:
        """The same for the loop in which a step does most of its work."""
        yield from self.each(count)

    def when(self, value: Any) -> Iterator[None]:
        """Once if the value is not 0 in some lane, else not at all."""

    def nonzero(self, value: Any) -> Any:
        """The lanes that are not 0, as bits of a uint64."""

    def filled(self, value: Any, fields: int) -> Any:
        """All bits of those equal fields of a word that are not 0."""

    def least(self, x: Any, y: Any, fields: int) -> Any:
        """A number for each field that is 0 where x or y is: the smaller one, or any other.

        All bits of x are set, or it is what ``least`` returned before.
        """

    def without_lowest(self, x: Any, fields: int) -> Any:
        """X without the lowest bit of each field."""

    def union(self, x: Any, y: Any) -> Any:
        """X | y of values without a common bit."""
        return x | y

    def below(self, x: Any, n: int) -> Any:
        """For each bit the n bits below it; the n lowest bits of x are 0."""
        return x - (x >> n)

    def spread(self, x: Any, n: int) -> Any:
        """For each bit n bits, itself the lowest; the others of them are 0 in x."""
        return (x << n) - x

    def repeated(self, x: Any, times: int, distance: int) -> Any:
        """The lowest bits again and again at a distance that they do not reach."""
        found = x
        for i in range(1, times):
            found = found | (x << i * distance)
        return found


class NumpyMachine(Machine):
    """Rows of a NumPy array."""

    def __init__(self, shape: Shape, memory: NDArray[Any]) -> None:
        self._memory = memory
        self._bits = shape.bits

    def value(self, number: int) -> Any:
        return np.full(self._memory.shape[1], number & ((1 << self._bits) - 1), self._memory.dtype)

    def load(self, row: int) -> Any:
        return self._memory[row].copy()

    def store(self, row: int, value: Any) -> None:
        self._memory[row] = value

    def words(self, count: int, value: int = 0) -> list[Any]:
        return [self.value(value) for _ in range(count)]

    def each(self, count: int, unrolled: bool = False) -> Iterator[int]:
        yield from range(count)

    def when(self, value: Any) -> Iterator[None]:
        if value.any():
            yield

    def nonzero(self, value: Any) -> np.uint64:
        return np.uint64(sum(1 << lane for lane in np.flatnonzero(value).tolist()))

    def _fields(self, x: Any, fields: int) -> Any:
        return x.view(f"u{self._bits // fields // 8}")

    def filled(self, value: Any, fields: int) -> Any:
        parts = self._fields(value, fields)
        return np.where(parts != 0, ~np.zeros_like(parts), 0).view(value.dtype)

    def least(self, x: Any, y: Any, fields: int) -> Any:
        return np.minimum(self._fields(x, fields), self._fields(y, fields)).view(x.dtype)

    def without_lowest(self, x: Any, fields: int) -> Any:
        parts = self._fields(x, fields)
        return (parts & (parts - 1)).view(x.dtype)


class Value:
    """A value of LLVM's; each operator writes an instruction."""

    __slots__ = ("_machine", "llvm")

    def __init__(self, machine: LlvmMachine, llvm: Any) -> None:
        self._machine = machine
        self.llvm = llvm

    def _of(self, other: Any) -> Any:
        return other.llvm if isinstance(other, Value) else self._machine.constant(other)

    def _by(self, write: Callable[..., Any], other: Any) -> Value:
        return Value(self._machine, write(self.llvm, self._of(other)))

    def __and__(self, other: Any) -> Value:
        return self._by(self._machine.builder.and_, other)

    def __or__(self, other: Any) -> Value:
        return self._by(self._machine.builder.or_, other)

    def __xor__(self, other: Any) -> Value:
        return self._by(self._machine.builder.xor, other)

    def __add__(self, other: Any) -> Value:
        return self._by(self._machine.add, other)

    def __sub__(self, other: Any) -> Value:
        return self._by(self._machine.subtract, other)

    def __lshift__(self, n: int) -> Value:
        return self._by(self._machine.builder.shl, n)

    def __rshift__(self, n: int) -> Value:
        return Value(self._machine, self._machine.shift_right(self.llvm, n))

    def __invert__(self) -> Value:
        return Value(self._machine, self._machine.builder.not_(self.llvm))


class Index:
    """The number of a loop of LLVM's, and sums and products of it."""

    __slots__ = ("_builder", "llvm")

    def __init__(self, builder: Any, llvm: Any) -> None:
        self._builder = builder
        self.llvm = llvm

    def __add__(self, other: Any) -> Index:
        return Index(self._builder, self._builder.add(self.llvm, _number(other)))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Index:
        return Index(self._builder, self._builder.mul(self.llvm, _number(other)))

    __rmul__ = __mul__


def _number(number: Any) -> Any:
    return number.llvm if isinstance(number, Index) else _I64(number)


class _Words:
    """Values in memory of the function's own, which the compiler turns into registers if it can."""

    def __init__(self, machine: LlvmMachine, count: int, value: int) -> None:
        self._machine = machine
        builder = machine.builder
        with builder.goto_entry_block():
            self._first = builder.alloca(ir.ArrayType(machine.kind, count))
        for j in machine.each(count, count <= MAX_SET):
            self[j] = machine.value(value)

    def _place(self, j: Any) -> Any:
        return self._machine.builder.gep(self._first, [_I32(0), _number(j)], inbounds=True)

    def __getitem__(self, j: Any) -> Value:
        return Value(self._machine, self._machine.builder.load(self._place(j)))

    def __setitem__(self, j: Any, value: Value) -> None:
        self._machine.builder.store(value.llvm, self._place(j))


MAX_SET = 16
"""Values that are set one by one, not in a loop."""


class LlvmMachine(Machine):
    """Vectors of LLVM's, of a word of each lane; the builder writes instructions for them."""

    def __init__(self, shape: Shape, lanes: int, builder: Any, memory: Any) -> None:
        self.builder = builder
        self._memory = memory
        self._lanes = lanes
        self.align = min(CACHE_LINE, lanes * shape.bits // 8)
        self._bits, self._word = shape.bits, ir.IntType(shape.bits)
        self.kind: Any = ir.VectorType(self._word, lanes)
        if lanes > 1:
            self._align_stack()

    def _align_stack(self) -> None:
        """Keep a vector on the stack, which makes LLVM align the stack to vectors.

        LLVM decides about that before it knows which registers it has to spill. Without this, half
        of the spilled vectors cross cache lines in some processes, and none in others. The empty
        assembly code takes the address, so that the vector is not removed.
        """
        with self.builder.goto_entry_block():
            vector = self.builder.alloca(self.kind)
            vector.align = self.align
        takes_address = ir.FunctionType(ir.VoidType(), [vector.type])
        self.builder.asm(takes_address, "", "r", [vector], side_effect=True)

    def constant(self, number: int) -> Any:
        """A number in all lanes, for LLVM."""
        return ir.Constant(self.kind, [number & ((1 << self._bits) - 1)] * self._lanes)

    def add(self, x: Any, y: Any) -> Any:
        """Write a sum."""
        return self.builder.add(x, y)

    def subtract(self, x: Any, y: Any) -> Any:
        """Write a difference."""
        return self.builder.sub(x, y)

    def shift_right(self, x: Any, n: int) -> Any:
        """Write a shift."""
        return self.builder.lshr(x, self.constant(n))

    def value(self, number: int) -> Value:
        return Value(self, self.constant(number))

    def _place(self, row: Any) -> Any:
        first = self.builder.mul(_number(row), _I64(self._lanes))
        return self.builder.bitcast(self.builder.gep(self._memory, [first]), self.kind.as_pointer())

    def load(self, row: Any) -> Value:
        return Value(self, self.builder.load(self._place(row), align=self.align))

    def store(self, row: Any, value: Value) -> None:
        self.builder.store(value.llvm, self._place(row), align=self.align)

    def words(self, count: int, value: int = 0) -> _Words:
        return _Words(self, count, value)

    def each(self, count: Any, unrolled: bool = False) -> Iterator[Any]:
        if unrolled:
            yield from range(count)
            return
        builder = self.builder
        before = self.builder.block
        head = builder.append_basic_block("each")
        builder.branch(head)
        builder.position_at_end(head)
        number = builder.phi(_I64)
        number.add_incoming(_I64(0), before)
        yield Index(builder, number)
        following = builder.add(number, _I64(1))
        number.add_incoming(following, builder.block)
        after = builder.append_basic_block("after")
        builder.cbranch(builder.icmp_unsigned("<", following, _number(count)), head, after)
        builder.position_at_end(after)

    def when(self, value: Value) -> Iterator[None]:
        builder = self.builder
        some = builder.icmp_unsigned("!=", self.nonzero(value), _I64(0))
        inside = builder.append_basic_block("when")
        after = builder.append_basic_block("after")
        builder.cbranch(some, inside, after)
        builder.position_at_end(inside)
        yield
        builder.branch(after)
        builder.position_at_end(after)

    def nonzero(self, value: Value) -> Any:
        bits = self.builder.icmp_unsigned("!=", value.llvm, ir.Constant(self.kind, None))
        bits = self.builder.bitcast(bits, ir.IntType(self._lanes))
        return bits if self._lanes == 64 else self.builder.zext(bits, _I64)

    def _fields(self, x: Value, fields: int) -> Any:
        part = ir.VectorType(ir.IntType(self._bits // fields), self._lanes * fields)
        return self.builder.bitcast(x.llvm, part)

    def _joined(self, parts: Any) -> Value:
        return Value(self, self.builder.bitcast(parts, self.kind))

    def filled(self, value: Value, fields: int) -> Value:
        parts = self._fields(value, fields)
        some = self.builder.icmp_unsigned("!=", parts, ir.Constant(parts.type, None))
        return self._joined(self.builder.sext(some, parts.type))

    def least(self, x: Value, y: Value, fields: int) -> Value:
        one = self._fields(x, fields)
        other = self._fields(y, fields)
        smaller = self.builder.icmp_unsigned("<", one, other)
        return self._joined(self.builder.select(smaller, one, other))

    def without_lowest(self, x: Value, fields: int) -> Value:
        parts = self._fields(x, fields)
        ones = ir.Constant(parts.type, [-1] * parts.type.count)
        return x & self._joined(self.builder.add(parts, ones))


UNROLLED_DIGITS = 4
"""The most digits of one turn of a loop over digits on a GPU. One turn for all digits would need
twice as many registers, so half as many threads could run at once; a turn for each digit takes more
instructions."""


class CudaMachine(LlvmMachine):
    """The words of one board, which is the first column of the memory.

    A multiprocessor has as many units that multiply and add as it has for everything else on whole
    numbers, and a step needs the latter only. So additions and shifts to the right of words of 32
    bits are multiplications by powers of two: x + y is x * 1 + y, and x >> n is the high half of
    x * 2^(32 - n). Compilers know that as well as we do and would turn them back: the 1 is one that
    they cannot know, as it would be 2 in a thread whose number is not below the size of its block.
    As it could differ between threads, it is in a register of each, which all instructions take.
    """

    def __init__(self, shape: Shape, builder: Any, memory: Any) -> None:
        super().__init__(shape, 1, builder, memory.data)
        self._row_bytes = builder.extract_value(memory.strides, 0)
        self.kind = self._word
        self._multiplies = shape.bits == 32
        # Where planes take loops, several digits a turn made the code of 64x64 twice as long.
        self._max_turn = UNROLLED_DIGITS if shape.unrolled else 1

    def _place(self, row: Any) -> Any:
        builder = self.builder
        offset = builder.mul(_number(row), self._row_bytes)
        start = builder.bitcast(self._memory, ir.IntType(8).as_pointer())
        return builder.bitcast(builder.gep(start, [offset]), self._word.as_pointer())

    def digits(self, count: int) -> Iterator[Any]:
        turn_digits = max(k for k in range(1, self._max_turn + 1) if count % k == 0)
        for turn in self.each(count // turn_digits):
            for i in range(turn_digits):
                yield turn * turn_digits + i

    def constant(self, number: int) -> Any:
        """A number, for LLVM."""
        return ir.Constant(self.kind, number & ((1 << self._bits) - 1))

    def _one(self) -> Any:
        builder = self.builder
        kind = ir.FunctionType(_I32, [])
        thread, threads = (
            builder.call(self._declared(f"llvm.nvvm.read.ptx.sreg.{name}.x", kind), [])
            for name in ("tid", "ntid")
        )
        is_outside = builder.icmp_unsigned(">=", thread, threads)
        return builder.add(builder.zext(is_outside, _I32), _I32(1))

    def _high_half(self, x: Any, y: Any) -> Any:
        kind = ir.FunctionType(_I32, [_I32, _I32])
        return self.builder.call(self._declared("llvm.nvvm.mulhi.ui", kind), [x, y])

    def _declared(self, name: str, kind: Any) -> Any:
        """A function of LLVM's, declared in the module that is built if it is not yet."""
        module = self.builder.module
        return module.globals.get(name) or ir.Function(module, kind, name)

    def add(self, x: Any, y: Any) -> Any:
        """Write a sum."""
        if self._multiplies:
            x = self.builder.mul(x, self._one())
        return self.builder.add(x, y)

    def subtract(self, x: Any, y: Any) -> Any:
        """Write a difference."""
        if isinstance(y, ir.Constant):
            return self.add(x, self.builder.neg(y))
        return self.builder.sub(x, y)

    def shift_right(self, x: Any, n: int) -> Any:
        """Write a shift."""
        if self._multiplies and n:
            return self._high_half(x, self.builder.shl(self._one(), _I32(32 - n)))
        return self.builder.lshr(x, self.constant(n))

    def nonzero(self, value: Value) -> Any:
        bit = self.builder.icmp_unsigned("!=", value.llvm, ir.Constant(self.kind, 0))
        return self.builder.zext(bit, _I64)

    def filled(self, value: Value, fields: int) -> Value:
        bits = self._bits // fields
        if fields == 1:
            some = self.builder.icmp_unsigned("!=", value.llvm, self.constant(0))
            return Value(self, self.builder.sext(some, self.kind))
        tops = sum(1 << (bits * field + bits - 1) for field in range(fields))
        below = ((1 << self._bits) - 1) & ~tops
        some_value = (((value & below) + below) | value) & tops
        return (some_value << 1) - (some_value >> (bits - 1))

    def _one_less(self, x: Value, fields: int) -> tuple[Value, int]:
        """Subtract 1 from each field with its highest bit set; also return these bits.

        The highest bit is then still set unless the others were 0.
        """
        bits = self._bits // fields
        firsts = sum(1 << (bits * field) for field in range(fields))
        highest = firsts << (bits - 1)
        return (x | highest) - firsts, highest

    def least(self, x: Value, y: Value, fields: int) -> Value:
        less, highest = self._one_less(y, fields)
        return x & ((less | y) & highest)

    def without_lowest(self, x: Value, fields: int) -> Value:
        less, _ = self._one_less(x, fields)
        return x & less

    def union(self, x: Value, y: Value) -> Value:
        return x + y

    def below(self, x: Value, n: int) -> Any:
        if not self._multiplies:
            return super().below(x, n)
        power = self.builder.shl(self._one(), _I32(32 - n))
        return Value(self, self._high_half(x.llvm, self.builder.neg(power)))

    def repeated(self, x: Value, times: int, distance: int) -> Any:
        if not self._multiplies or times == 1:
            return super().repeated(x, times, distance)
        one = self._one()
        factor = one
        for i in range(1, times):
            factor = self.builder.add(factor, self.builder.shl(one, _I32(i * distance)))
        return Value(self, self.builder.mul(x.llvm, factor))


class CudaHalvesMachine(CudaMachine):
    """The words of one board, of 64 bits, with fields of 16 or 32 bits and no guard bits.

    Nothing is carried from one half of such a word to the other. So each is a word of 32 bits, for
    which there are products.
    """

    def _halves(self, change: Callable[..., Any], *words: Any) -> Any:
        """Apply a function to the lower halves of some words, and then to their upper halves."""
        builder = self.builder
        lower = change(*(builder.trunc(word, _I32) for word in words))
        upper = change(*(builder.trunc(builder.lshr(word, _I64(32)), _I32) for word in words))
        return builder.or_(
            builder.zext(lower, _I64), builder.shl(builder.zext(upper, _I64), _I64(32))
        )

    def _sum(self, x: Any, y: Any) -> Any:
        return self.builder.add(self.builder.mul(x, self._one()), y)

    def shift_right(self, x: Any, n: int) -> Any:
        """Write a shift. If n < 16, bits that cross from the upper half to the lower are lost.

        Callers mask these bits, which leave their fields.
        """
        if not 0 < n < 16:
            return super().shift_right(x, n)
        return self._halves(
            lambda half: self._high_half(half, self.builder.shl(self._one(), _I32(32 - n))), x
        )

    def union(self, x: Value, y: Value) -> Value:
        return Value(self, self._halves(self._sum, x.llvm, y.llvm))

    def spread(self, x: Value, n: int) -> Value:
        factor = _I32((1 << n) - 1)
        return Value(self, self._halves(lambda half: self.builder.mul(half, factor), x.llvm))

    def filled(self, value: Value, fields: int) -> Value:
        if fields == 1:
            return super().filled(value, fields)
        builder = self.builder
        bits = self._bits // fields
        highest = sum(1 << (bits * field + bits - 1) for field in range(fields // 2))

        def fill(half: Any) -> Any:
            if fields == 2:
                return builder.sext(builder.icmp_unsigned("!=", half, _I32(0)), _I32)
            others = _I32(~highest & 0xFFFFFFFF)
            carried = builder.or_(self._sum(builder.and_(half, others), others), half)
            power = builder.shl(self._one(), _I32(33 - bits))
            lowest = self._high_half(builder.and_(carried, _I32(highest)), power)
            return builder.mul(lowest, _I32((1 << bits) - 1))

        return Value(self, self._halves(fill, value.llvm))

    def _one_less(self, x: Value, fields: int) -> tuple[Value, int]:
        bits = self._bits // fields
        firsts = sum(1 << (bits * field) for field in range(fields // 2))
        highest = firsts << (bits - 1)

        def subtract(half: Any) -> Any:
            return self._sum(self.builder.or_(half, _I32(highest)), _I32(-firsts))

        return Value(self, self._halves(subtract, x.llvm)), highest << 32 | highest


def traced(
    function: Callable[..., Any], results: int, shape: Shape, lanes: int, *arguments: Any
) -> Callable[[NDArray[Any]], Any]:
    """Make ``run(memory)``, which runs ``function(shape, machine, *arguments)`` on a memory.

    Kernels call it, compiled for so many lanes, or for CUDA if there is one. As it is, it runs on
    NumPy; but in CUDA's simulator it is compiled for the CPU. ``results`` is the number of values
    that the function returns: uint64 each.
    """

    def run(memory):
        return function(shape, NumpyMachine(shape, memory), *arguments)

    def compiled(intrinsic: Any, make: Callable[[Any, Any], LlvmMachine]) -> Any:
        from numba import types

        @intrinsic
        def call(typing_context, memory):
            kind = types.uint64 if results == 1 else types.UniTuple(types.uint64, results)

            def generate(context, builder, signature, args):
                array = context.make_array(signature.args[0])(context, builder, args[0])
                found = function(shape, make(builder, array), *arguments)
                return found if results == 1 else context.make_tuple(builder, kind, found)

            return kind(memory), generate

        return lambda memory: lambda memory: call(memory)

    if lanes > 1:

        @when_compiling
        def register() -> None:
            from numba.extending import intrinsic, overload

            from gpusudoku.kernels.compile_cpu import INLINED

            made = compiled(intrinsic, lambda b, array: LlvmMachine(shape, lanes, b, array.data))
            overload(run, target="cpu", jit_options=INLINED)(made)

        return run

    from numba import config, extending, njit

    if config.ENABLE_CUDASIM:  # NumPy would take hundreds of times as long for one board
        alone = compiled(extending.intrinsic, lambda b, array: LlvmMachine(shape, 1, b, array.data))
        return njit(alone(None))  # type: ignore[no-any-return]

    from numba.cuda.extending import intrinsic, overload

    has_halves = shape.bits == 64 and shape.field in (16, 32) and not shape.has_guards
    machine = CudaHalvesMachine if has_halves else CudaMachine
    thread = compiled(intrinsic, lambda b, array: machine(shape, b, array))
    # What Numba's own ``overload`` inlines for CUDA, it would inline for the CPU, too.
    overload(run, target="cuda", inline="always")(thread)
    return run
