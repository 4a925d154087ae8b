"""Machines for CUDA: a step written for the one board of a thread. See ``machine``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir

from gpusudoku.kernels.search.machine import I32, I64, LlvmMachine, Value, llvm_index
from gpusudoku.kernels.search.shape import Shape

UNROLLED_DIGITS = 4
"""Maximum number of digits in one turn of a loop over digits. One turn for all digits would need
twice as many registers, so half as many threads could run at once. A turn for each digit takes more
instructions."""


def cuda_machine(shape: Shape, builder: Any, memory: Any) -> CudaMachine:
    """Make the machine for a shape."""
    has_halves = shape.bits == 64 and shape.field in (16, 32) and not shape.has_guards
    machine = CudaHalvesMachine if has_halves else CudaMachine
    return machine(shape, builder, memory)


class CudaMachine(LlvmMachine):
    """Values are words of one board, which is the first column of the memory.

    A multiprocessor has as many units that multiply and add as it has units for all other integer
    operations, and a step needs only the latter. So some of its operations on words of 32 bits are
    written as multiplications by powers of two:

        x + y     as    x * one + y
        x >> n    as    the high half of x * (one << 32 - n)

    Compilers would turn multiplications by constants back. So ``one`` is a 1 that they cannot know:
    it would be 2 in a thread whose number is not below the size of its block. As it could differ
    between threads, compilers keep it in a register of each thread, and all instructions accept
    such registers.
    """

    def __init__(self, shape: Shape, builder: Any, memory: Any) -> None:
        super().__init__(shape, 1, builder, memory.data)
        self._row_bytes = builder.extract_value(memory.strides, 0)
        self.value_type = self._word
        self._multiplies = shape.bits == 32
        # If planes are loops, too, several digits in a turn made the code of 64x64 twice as long.
        self._max_turn = UNROLLED_DIGITS if shape.unrolled else 1

    def _address(self, row: Any) -> Any:
        builder = self.builder
        offset = builder.mul(llvm_index(row), self._row_bytes)
        first_byte = builder.bitcast(self._memory, ir.IntType(8).as_pointer())
        return builder.bitcast(builder.gep(first_byte, [offset]), self._word.as_pointer())

    def digits(self, count: int) -> Iterator[Any]:
        # All turns have the same number of digits.
        turn_digits = max(k for k in range(1, self._max_turn + 1) if count % k == 0)
        for turn in self.each(count // turn_digits):
            for i in range(turn_digits):
                yield turn * turn_digits + i

    def constant(self, number: int) -> Any:
        """Return a constant of LLVM."""
        return ir.Constant(self.value_type, number & ((1 << self._bits) - 1))

    def _one(self) -> Any:
        """Write a 1 that compilers cannot know."""
        builder = self.builder
        thread = self._call_intrinsic("llvm.nvvm.read.ptx.sreg.tid.x")
        block_size = self._call_intrinsic("llvm.nvvm.read.ptx.sreg.ntid.x")
        is_outside = builder.icmp_unsigned(">=", thread, block_size)
        return builder.add(builder.zext(is_outside, I32), I32(1))

    def _high_half(self, x: Any, y: Any) -> Any:
        """Write the upper 32 bits of a product of 64 bits."""
        return self._call_intrinsic("llvm.nvvm.mulhi.ui", x, y)

    def _call_intrinsic(self, name: str, *arguments: Any) -> Any:
        """Write a call of a function of LLVM, all of whose types are 32-bit integers."""
        module = self.builder.module
        function = module.globals.get(name)
        if function is None:
            function = ir.Function(module, ir.FunctionType(I32, [I32] * len(arguments)), name)
        return self.builder.call(function, arguments)

    def add(self, x: Any, y: Any) -> Any:
        """Write an addition."""
        if self._multiplies:
            x = self.builder.mul(x, self._one())
        return self.builder.add(x, y)

    def subtract(self, x: Any, y: Any) -> Any:
        """Write a subtraction."""
        if isinstance(y, ir.Constant):  # as an addition, which may become a multiplication
            return self.add(x, self.builder.neg(y))
        return self.builder.sub(x, y)

    def shift_right(self, x: Any, n: int) -> Any:
        """Write a shift to the right."""
        if self._multiplies and n:
            return self._high_half(x, self.builder.shl(self._one(), I32(32 - n)))
        return self.builder.lshr(x, self.constant(n))

    def nonzero(self, value: Value) -> Any:
        bit = self.builder.icmp_unsigned("!=", value.llvm, ir.Constant(self.value_type, 0))
        return self.builder.zext(bit, I64)

    def filled(self, value: Value, field_count: int) -> Value:
        if field_count == 1:
            is_nonzero = self.builder.icmp_unsigned("!=", value.llvm, self.constant(0))
            return Value(self, self.builder.sext(is_nonzero, self.value_type))
        bits = self._bits // field_count
        highest_bits = self._highest_bits(field_count)
        lower_bits = ((1 << self._bits) - 1) & ~highest_bits
        # Adding the lower bits carries into the highest bit of a field unless its own are 0.
        nonzero_fields = (((value & lower_bits) + lower_bits) | value) & highest_bits
        return (nonzero_fields << 1) - (nonzero_fields >> (bits - 1))

    def _highest_bits(self, field_count: int) -> int:
        """Return the highest bit of each field, of words of the machine."""
        bits = self._bits // field_count
        return sum(1 << (bits * field + bits - 1) for field in range(field_count))

    def _subtract_one(self, x: Value, field_count: int) -> Value:
        """Set the highest bit of each field, and subtract 1 from the field.

        Nothing is borrowed from the next field. The highest bit is then still set unless all other
        bits of the field were 0.
        """
        highest_bits = self._highest_bits(field_count)
        lowest_bits = highest_bits >> (self._bits // field_count - 1)
        return (x | highest_bits) - lowest_bits

    def keep_zeros(self, x: Value, y: Value, field_count: int) -> Value:
        # Only the highest bit of each field is kept. It is set if y is not 0 there.
        difference = self._subtract_one(y, field_count)
        return x & ((difference | y) & self._highest_bits(field_count))

    def without_lowest(self, x: Value, field_count: int) -> Value:
        return x & self._subtract_one(x, field_count)

    def union(self, x: Value, y: Value) -> Value:
        return x + y  # which may become a multiplication

    def below(self, x: Value, n: int) -> Any:
        if not self._multiplies:
            return super().below(x, n)
        # x - (x >> n) is the high half of x * (2^32 - 2^(32 - n)).
        power = self.builder.shl(self._one(), I32(32 - n))
        return Value(self, self._high_half(x.llvm, self.builder.neg(power)))

    def repeated(self, x: Value, times: int, distance: int) -> Any:
        if not self._multiplies or times == 1:
            return super().repeated(x, times, distance)
        # The factor is the sum of 2^(i distance) for each copy i.
        one = self._one()
        factor = one
        for i in range(1, times):
            factor = self.builder.add(factor, self.builder.shl(one, I32(i * distance)))
        return Value(self, self.builder.mul(x.llvm, factor))


class CudaHalvesMachine(CudaMachine):
    """Values are words of one board, of 64 bits, with fields of 16 or 32 bits and no guard bits.

    No operation carries from one half of such a word to the other. So both halves are computed as
    words of 32 bits, for which there are multiplications.
    """

    def _map_halves(self, operation: Callable[..., Any], *words: Any) -> Any:
        """Apply an operation to the lower halves of some words, and then to their upper halves."""
        builder = self.builder
        lower = operation(*(builder.trunc(word, I32) for word in words))
        upper = operation(*(builder.trunc(builder.lshr(word, I64(32)), I32) for word in words))
        return builder.or_(builder.zext(lower, I64), builder.shl(builder.zext(upper, I64), I64(32)))

    def _add_halves(self, x: Any, y: Any) -> Any:
        return self.builder.add(self.builder.mul(x, self._one()), y)

    def shift_right(self, x: Any, n: int) -> Any:
        """Write a shift to the right. If n < 16, bits that leave the upper half are lost.

        Callers mask these bits anyway, because they leave their fields.
        """
        if not 0 < n < 16:
            return super().shift_right(x, n)

        def shift_half(half: Any) -> Any:
            return self._high_half(half, self.builder.shl(self._one(), I32(32 - n)))

        return self._map_halves(shift_half, x)

    def union(self, x: Value, y: Value) -> Value:
        return Value(self, self._map_halves(self._add_halves, x.llvm, y.llvm))

    def spread(self, x: Value, n: int) -> Value:
        factor = I32((1 << n) - 1)
        return Value(self, self._map_halves(lambda half: self.builder.mul(half, factor), x.llvm))

    def filled(self, value: Value, field_count: int) -> Value:
        if field_count == 1:
            return super().filled(value, field_count)
        builder = self.builder
        bits = self._bits // field_count
        highest_bits = self._highest_bits(field_count) & 0xFFFFFFFF  # those of one half

        def fill_half(half: Any) -> Any:
            if field_count == 2:  # the half is one field
                return builder.sext(builder.icmp_unsigned("!=", half, I32(0)), I32)
            # As in CudaMachine, but for the last line: each lowest bit times 2^bits - 1.
            lower_bits = I32(~highest_bits & 0xFFFFFFFF)
            carried = self._add_halves(builder.and_(half, lower_bits), lower_bits)
            carried = builder.or_(carried, half)
            power = builder.shl(self._one(), I32(33 - bits))
            nonzero_fields = builder.and_(carried, I32(highest_bits))
            lowest_bits = self._high_half(nonzero_fields, power)
            return builder.mul(lowest_bits, I32((1 << bits) - 1))

        return Value(self, self._map_halves(fill_half, value.llvm))

    def _subtract_one(self, x: Value, field_count: int) -> Value:
        bits = self._bits // field_count
        highest_bits = self._highest_bits(field_count) & 0xFFFFFFFF
        lowest_bits = highest_bits >> (bits - 1)

        def subtract_in_half(half: Any) -> Any:
            return self._add_halves(self.builder.or_(half, I32(highest_bits)), I32(-lowest_bits))

        return Value(self, self._map_halves(subtract_in_half, x.llvm))
