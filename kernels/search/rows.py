"""Boards moved between rows of arrays and the memory of a CUDA thread, 16 bytes at a time.

A thread's memory is the first column of an array, (rows, columns). Where it is shared by a block,
``from_column`` finds this column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import config, types

from gpusudoku.kernels.search.shape import ROW_BYTES, Shape

_I32 = ir.IntType(32)
_I64 = ir.IntType(64)

MAX_BATCH = 8
"""The most parts of ROW_BYTES that are loaded before the first of them is stored."""


def from_column(memory: Any, column: int) -> Any:
    """Return an array, (rows, columns), whose first column is another one of an array."""
    return memory[:, column:]


def register_cuda() -> None:
    """Register ``from_column`` for the CUDA compiler. Not for the simulator."""
    from numba.cuda.extending import intrinsic, overload

    @intrinsic
    def shifted(typing_context, memory, column):
        # A slice would no longer be known to the compiler as shared memory.
        def generate(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            array.data = builder.gep(array.data, [args[1]])
            return array._getvalue()

        return memory(memory, types.int64), generate

    @overload(from_column, target="cuda", inline="always")
    def _from_column(memory, column):
        return lambda memory, column: shifted(memory, column)


class RowMoves(NamedTuple):
    """Functions that move a batch of the words of a row. A row has several batches."""

    batches: int
    load: Callable[..., None]
    """``load(rows, row, memory, 0, batch)`` copies a batch of a row to a memory. The few words that
    follow the planes in a row are copied, too: a memory has rows behind its planes, which the
    caller or the next step writes anew."""
    store: Callable[..., None]
    """``store(memory, 0, rows, row, batch)`` does the reverse."""
    copy: Callable[..., None]
    """``copy(rows, row, others, other, batch)`` copies a batch of a row to another row."""


def build_row_moves(shape: Shape) -> RowMoves:
    """Make the functions: plain Python, which the CUDA compiler replaces by its own code."""
    parts = shape.row_bytes // ROW_BYTES
    batch_parts = max(number for number in range(1, MAX_BATCH + 1) if parts % number == 0)
    size = shape.words // parts * batch_parts

    def load(rows, row, memory, column, batch):
        words = slice(batch * size, (batch + 1) * size)
        memory[words, column] = rows[row, words]

    def store(memory, column, rows, row, batch):
        words = slice(batch * size, (batch + 1) * size)
        rows[row, words] = memory[words, column]

    def copy(rows, row, others, other, batch):
        words = slice(batch * size, (batch + 1) * size)
        others[other, words] = rows[row, words]

    if not config.ENABLE_CUDASIM:
        part = ir.VectorType(ir.IntType(shape.bits), shape.words // parts)
        _register(load, _RowBatch, _ColumnBatch, batch_parts, part)
        _register(store, _ColumnBatch, _RowBatch, batch_parts, part)
        _register(copy, _RowBatch, _RowBatch, batch_parts, part)
    return RowMoves(parts // batch_parts, load, store, copy)


def _register(
    function: Callable[..., None], source_kind: Any, target_kind: Any, parts: int, part: Any
) -> None:
    """Let the CUDA compiler replace a function: it loads all parts of a batch, then stores them."""
    from numba.cuda.extending import intrinsic, overload

    @intrinsic
    def move(typing_context, source, source_number, target, target_number, batch):
        def generate(context, builder, signature, args):
            def made(kind: Any, first: int) -> Any:
                array = context.make_array(signature.args[first])(context, builder, args[first])
                return kind(builder, array, args[first + 1], args[4], parts, part)

            source = made(source_kind, 0)
            target = made(target_kind, 2)
            values = [source.load(number) for number in range(parts)]
            for number, value in enumerate(values):
                target.store(number, value)
            return context.get_dummy_value()

        integer = types.int64
        return types.void(source, integer, target, integer, integer), generate

    @overload(function, target="cuda", inline="always")
    def _move(source, source_number, target, target_number, batch):
        return lambda source, source_number, target, target_number, batch: move(
            source, source_number, target, target_number, batch
        )


class _RowBatch:
    """A batch of a row of an array: a part is one instruction."""

    def __init__(
        self, builder: Any, array: Any, row: Any, batch: Any, parts: int, part: Any
    ) -> None:
        self._builder = builder
        first_word = builder.mul(row, builder.extract_value(array.shape, 1))
        data = builder.bitcast(builder.gep(array.data, [first_word]), part.as_pointer())
        self._data = builder.gep(data, [builder.mul(batch, _I64(parts))])

    def load(self, number: int) -> Any:
        place = self._builder.gep(self._data, [_I64(number)])
        return self._builder.load(place, align=ROW_BYTES)

    def store(self, number: int, value: Any) -> None:
        place = self._builder.gep(self._data, [_I64(number)])
        self._builder.store(value, place, align=ROW_BYTES)


class _ColumnBatch:
    """A batch of the first column of an array: a part is an instruction for each word."""

    def __init__(self, builder: Any, array: Any, _: Any, batch: Any, parts: int, part: Any) -> None:
        self._builder = builder
        self._data = array.data
        self._part = part
        self._columns = builder.extract_value(array.shape, 1)
        self._first_row = builder.mul(batch, _I64(parts * part.count))

    def _places(self, number: int) -> list[Any]:
        builder = self._builder
        count = self._part.count
        rows = [builder.add(self._first_row, _I64(number * count + i)) for i in range(count)]
        return [builder.gep(self._data, [builder.mul(row, self._columns)]) for row in rows]

    def load(self, number: int) -> Any:
        value = ir.Constant(self._part, ir.Undefined)
        for i, place in enumerate(self._places(number)):
            value = self._builder.insert_element(value, self._builder.load(place), _I32(i))
        return value

    def store(self, number: int, value: Any) -> None:
        for i, place in enumerate(self._places(number)):
            self._builder.store(self._builder.extract_element(value, _I32(i)), place)
