"""Machines run a step: on vectors of a CPU, in a thread of a GPU, or on NumPy arrays.

A step does the same to every lane of a memory. So it is written once, on whole rows of the memory:
plain Python, ``function(shape, machine, ...)``, that loads rows as *values*, combines them with
``& | ^ ~ + - << >>`` and whole numbers, and stores them. The machine defines the type of a value:

    memory          lane 0  lane 1  lane 2  ...
    row w               .       .       .          a value: word w of all boards
    row w + 1           .       .       .

* ``NumpyMachine``: a NumPy array with a word of each lane. It runs uncompiled, and is the reference
  implementation.
* ``LlvmMachine``: a value of LLVM, a vector with a word of each lane. The function runs once, while
  Numba compiles. Every operation writes one instruction: one of the processor, or two if the lanes
  take two registers.
* ``CudaMachine``: the same for a word of the one board of a thread.

So Python loops are unrolled. Loops over ``machine.each`` become loops of the compiled code, unless
they are to be unrolled, too. Variables that change in such a loop must be in ``machine.words``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from gpusudoku.kernels.search.shape import CACHE_LINE, Shape

I32 = ir.IntType(32)
I64 = ir.IntType(64)
"""Types of LLVM."""


class Machine(Protocol):
    """The operations of a step, besides the operators of values.

    Some work on *fields*: equal parts of each word, which are whole numbers of their own.
    """

    def value(self, number: int) -> Any:
        """Return the same number in all lanes."""

    def load(self, row: Any) -> Any:
        """Return a row of the memory."""

    def store(self, row: Any, value: Any) -> None:
        """Write a row of the memory."""

    def words(self, count: int, value: int = 0) -> Any:
        """Return a list of values that may change in loops, all set to a number."""

    def each(self, count: Any, unrolled: bool = False) -> Iterator[Any]:
        """Iterate over the numbers below ``count``, which is not 0."""

    def digits(self, count: int) -> Iterator[Any]:
        """Do the same for the loop in which a step does most of its work."""
        yield from self.each(count)

    def when(self, value: Any) -> Iterator[None]:
        """Run the body of ``for _ in machine.when(value)`` if a lane of the value is not 0.

        A loop, and no ``if``, because the machine of the compiler runs the body in any case: the
        body then writes the instructions that the compiled code may skip.
        """

    def nonzero(self, value: Any) -> Any:
        """Return the lanes that are not 0, as bits of a uint64."""

    def filled(self, value: Any, field_count: int) -> Any:
        """Set all bits of the fields that are not 0."""

    def keep_zeros(self, x: Any, y: Any, field_count: int) -> Any:
        """Return a value whose fields are 0 where those of x or y are, and otherwise not 0.

        All bits of x are set, or it is the result of ``keep_zeros``.
        """

    def without_lowest(self, x: Any, field_count: int) -> Any:
        """Clear the lowest bit of each field."""

    def union(self, x: Any, y: Any) -> Any:
        """Return x | y, of values without a common bit."""
        return x | y

    def below(self, x: Any, n: int) -> Any:
        """Return for each bit the n bits below it; the n lowest bits of x are 0."""
        return x - (x >> n)

    def spread(self, x: Any, n: int) -> Any:
        """Return for each bit n bits, of which it is the lowest; the others are 0 in x."""
        return (x << n) - x

    def repeated(self, x: Any, times: int, distance: int) -> Any:
        """Return copies of the lowest bits at multiples of a distance, which they do not reach."""
        copies = x
        for i in range(1, times):
            copies = copies | (x << i * distance)
        return copies


class NumpyMachine(Machine):
    """Values are rows of a NumPy array."""

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

    def _as_fields(self, x: Any, field_count: int) -> Any:
        return x.view(f"u{self._bits // field_count // 8}")

    def filled(self, value: Any, field_count: int) -> Any:
        fields = self._as_fields(value, field_count)
        return np.where(fields != 0, ~np.zeros_like(fields), 0).view(value.dtype)

    def keep_zeros(self, x: Any, y: Any, field_count: int) -> Any:
        smaller = np.minimum(self._as_fields(x, field_count), self._as_fields(y, field_count))
        return smaller.view(x.dtype)

    def without_lowest(self, x: Any, field_count: int) -> Any:
        fields = self._as_fields(x, field_count)
        return (fields & (fields - 1)).view(x.dtype)


class Value:
    """A value of LLVM. Each operator writes an instruction."""

    __slots__ = ("_machine", "llvm")

    def __init__(self, machine: LlvmMachine, llvm: Any) -> None:
        self._machine = machine
        self.llvm = llvm

    # Python calls these operators only with a value on the left. The right operand may be a number.

    def _llvm_of(self, operand: Any) -> Any:
        return operand.llvm if isinstance(operand, Value) else self._machine.constant(operand)

    def _combine(self, write: Callable[..., Any], operand: Any) -> Value:
        return Value(self._machine, write(self.llvm, self._llvm_of(operand)))

    def __and__(self, operand: Any) -> Value:
        return self._combine(self._machine.builder.and_, operand)

    def __or__(self, operand: Any) -> Value:
        return self._combine(self._machine.builder.or_, operand)

    def __xor__(self, operand: Any) -> Value:
        return self._combine(self._machine.builder.xor, operand)

    def __add__(self, operand: Any) -> Value:
        return self._combine(self._machine.add, operand)

    def __sub__(self, operand: Any) -> Value:
        return self._combine(self._machine.subtract, operand)

    def __lshift__(self, n: int) -> Value:
        return self._combine(self._machine.builder.shl, n)

    def __rshift__(self, n: int) -> Value:
        return Value(self._machine, self._machine.shift_right(self.llvm, n))

    def __invert__(self) -> Value:
        return Value(self._machine, self._machine.builder.not_(self.llvm))


class Index:
    """The counter of a loop of LLVM, or a sum or product of it. It numbers rows and words."""

    __slots__ = ("_builder", "llvm")

    def __init__(self, builder: Any, llvm: Any) -> None:
        self._builder = builder
        self.llvm = llvm

    def __add__(self, operand: Any) -> Index:
        return Index(self._builder, self._builder.add(self.llvm, llvm_index(operand)))

    __radd__ = __add__

    def __mul__(self, operand: Any) -> Index:
        return Index(self._builder, self._builder.mul(self.llvm, llvm_index(operand)))

    __rmul__ = __mul__


def llvm_index(index: Any) -> Any:
    """Return a number, or the counter of a loop, as a value of LLVM."""
    return index.llvm if isinstance(index, Index) else I64(index)


class _Words:
    """Values in local memory of the function. The compiler turns them into registers if it can."""

    def __init__(self, machine: LlvmMachine, count: int, value: int) -> None:
        self._machine = machine
        builder = machine.builder
        # In the first block of the function, so that a loop does not allocate again and again.
        with builder.goto_entry_block():
            self._array = builder.alloca(ir.ArrayType(machine.value_type, count))
        for j in machine.each(count, count <= MAX_UNROLLED_STORES):
            self[j] = machine.value(value)

    def _address(self, j: Any) -> Any:
        return self._machine.builder.gep(self._array, [I32(0), llvm_index(j)], inbounds=True)

    def __getitem__(self, j: Any) -> Value:
        return Value(self._machine, self._machine.builder.load(self._address(j)))

    def __setitem__(self, j: Any, value: Value) -> None:
        self._machine.builder.store(value.llvm, self._address(j))


MAX_UNROLLED_STORES = 16
"""Longer lists of words are set to their first value by a loop."""


class LlvmMachine(Machine):
    """Values are vectors of LLVM, with a word of each lane. The builder writes the instructions."""

    def __init__(self, shape: Shape, lanes: int, builder: Any, memory: Any) -> None:
        self.builder = builder
        self._memory = memory
        self._lanes = lanes
        self.align = min(CACHE_LINE, lanes * shape.bits // 8)
        self._bits = shape.bits
        self._word = ir.IntType(shape.bits)
        self.value_type: Any = ir.VectorType(self._word, lanes)
        if lanes > 1:
            self._align_stack()

    def _align_stack(self) -> None:
        """Keep a vector on the stack, which makes LLVM align the stack to vectors.

        LLVM decides about that before it knows which registers it has to spill. Without this, half
        of the spilled vectors cross cache lines in some processes, and none in others. The empty
        assembly code takes the address, so that the vector is not removed.
        """
        with self.builder.goto_entry_block():
            vector = self.builder.alloca(self.value_type)
            vector.align = self.align
        takes_address = ir.FunctionType(ir.VoidType(), [vector.type])
        self.builder.asm(takes_address, "", "r", [vector], side_effect=True)

    def constant(self, number: int) -> Any:
        """Return a constant of LLVM: a number in all lanes."""
        return ir.Constant(self.value_type, [number & ((1 << self._bits) - 1)] * self._lanes)

    def add(self, x: Any, y: Any) -> Any:
        """Write an addition."""
        return self.builder.add(x, y)

    def subtract(self, x: Any, y: Any) -> Any:
        """Write a subtraction."""
        return self.builder.sub(x, y)

    def shift_right(self, x: Any, n: int) -> Any:
        """Write a shift to the right."""
        return self.builder.lshr(x, self.constant(n))

    def value(self, number: int) -> Value:
        return Value(self, self.constant(number))

    def _address(self, row: Any) -> Any:
        # The memory is contiguous: its rows have a word for each lane.
        first_word = self.builder.mul(llvm_index(row), I64(self._lanes))
        address = self.builder.gep(self._memory, [first_word])
        return self.builder.bitcast(address, self.value_type.as_pointer())

    def load(self, row: Any) -> Value:
        return Value(self, self.builder.load(self._address(row), align=self.align))

    def store(self, row: Any, value: Value) -> None:
        self.builder.store(value.llvm, self._address(row), align=self.align)

    def words(self, count: int, value: int = 0) -> _Words:
        return _Words(self, count, value)

    def each(self, count: Any, unrolled: bool = False) -> Iterator[Any]:
        if unrolled:
            yield from range(count)
            return
        builder = self.builder
        entry_block = self.builder.block
        loop_block = builder.append_basic_block("each")
        builder.branch(loop_block)
        builder.position_at_end(loop_block)
        counter = builder.phi(I64)
        counter.add_incoming(I64(0), entry_block)
        # The caller's loop body runs once, and writes the instructions of the compiled loop body.
        yield Index(builder, counter)
        next_counter = builder.add(counter, I64(1))
        counter.add_incoming(next_counter, builder.block)  # the body may have added blocks
        exit_block = builder.append_basic_block("after")
        is_below = builder.icmp_unsigned("<", next_counter, llvm_index(count))
        builder.cbranch(is_below, loop_block, exit_block)
        builder.position_at_end(exit_block)

    def when(self, value: Value) -> Iterator[None]:
        # The caller's loop body runs once, and writes the instructions of the block "when".
        builder = self.builder
        is_any = builder.icmp_unsigned("!=", self.nonzero(value), I64(0))
        body_block = builder.append_basic_block("when")
        exit_block = builder.append_basic_block("after")
        builder.cbranch(is_any, body_block, exit_block)
        builder.position_at_end(body_block)
        yield
        builder.branch(exit_block)
        builder.position_at_end(exit_block)

    def nonzero(self, value: Value) -> Any:
        bits = self.builder.icmp_unsigned("!=", value.llvm, ir.Constant(self.value_type, None))
        # A vector of single bits is an integer, whose lowest bit is that of lane 0.
        bits = self.builder.bitcast(bits, ir.IntType(self._lanes))
        return bits if self._lanes == 64 else self.builder.zext(bits, I64)

    def _as_fields(self, x: Value, field_count: int) -> Any:
        field = ir.IntType(self._bits // field_count)
        return self.builder.bitcast(x.llvm, ir.VectorType(field, self._lanes * field_count))

    def _as_words(self, fields: Any) -> Value:
        return Value(self, self.builder.bitcast(fields, self.value_type))

    def filled(self, value: Value, field_count: int) -> Value:
        fields = self._as_fields(value, field_count)
        # A comparison has a bit for each field. Extended by its sign, a 1 becomes all ones.
        is_nonzero = self.builder.icmp_unsigned("!=", fields, ir.Constant(fields.type, None))
        return self._as_words(self.builder.sext(is_nonzero, fields.type))

    def keep_zeros(self, x: Value, y: Value, field_count: int) -> Value:
        # The smaller one: processors have an instruction for it.
        x_fields = self._as_fields(x, field_count)
        y_fields = self._as_fields(y, field_count)
        is_smaller = self.builder.icmp_unsigned("<", x_fields, y_fields)
        return self._as_words(self.builder.select(is_smaller, x_fields, y_fields))

    def without_lowest(self, x: Value, field_count: int) -> Value:
        # Subtracting 1 clears the lowest bit, and changes only bits below it, which are 0 in x.
        fields = self._as_fields(x, field_count)
        minus_ones = ir.Constant(fields.type, [-1] * fields.type.count)
        return x & self._as_words(self.builder.add(fields, minus_ones))
