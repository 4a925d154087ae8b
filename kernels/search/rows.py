"""Boards moved between rows of arrays and the memory of a CUDA thread, 16 bytes at a time.

A thread's memory is the first column of an array, (rows, columns). If the threads of a block share
the array, ``from_column`` makes the thread's own column the first one.
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
"""The most vectors that are loaded before the first of them is stored: loads overlap."""


def from_column(memory: Any, column: int) -> Any:
    """Return the array, (rows, columns), without the columns before the given one."""
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
    """Functions that move a packed board in batches.

    A board of 9x9, 28 words of 32 bits, has 7 vectors of 4 words, which are one batch:

        word      0 ... 3  | 4 ... 7  | ... | 24 ... 27
        vector    0        | 1        | ... | 6              16 bytes each

    A thread loads all vectors of a batch before it stores the first of them.
    """

    batches: int
    """The number of batches of a board."""
    load: Callable[..., None]
    """``load(rows, row, memory, 0, batch)`` copies a batch from a row of an array to a memory. The
    few words that follow the planes in a row are copied, too: they go to rows of the memory behind
    the planes, which the caller or the next step overwrites."""
    store: Callable[..., None]
    """``store(memory, 0, rows, row, batch)`` does the reverse."""
    copy: Callable[..., None]
    """``copy(rows, row, target_rows, target_row, batch)`` copies a batch to a row of an array."""


def build_row_moves(shape: Shape) -> RowMoves:
    """Make the functions: plain Python, which the CUDA compiler replaces by its own code."""
    vectors = shape.row_bytes // ROW_BYTES
    # The largest divisor, so that all batches have the same size.
    vectors_per_batch = max(number for number in range(1, MAX_BATCH + 1) if vectors % number == 0)
    words_per_vector = shape.words // vectors
    batch_words = words_per_vector * vectors_per_batch

    def load(rows, row, memory, column, batch):
        words = slice(batch * batch_words, (batch + 1) * batch_words)
        memory[words, column] = rows[row, words]

    def store(memory, column, rows, row, batch):
        words = slice(batch * batch_words, (batch + 1) * batch_words)
        rows[row, words] = memory[words, column]

    def copy(rows, row, target_rows, target_row, batch):
        words = slice(batch * batch_words, (batch + 1) * batch_words)
        target_rows[target_row, words] = rows[row, words]

    if not config.ENABLE_CUDASIM:
        vector = ir.VectorType(ir.IntType(shape.bits), words_per_vector)
        _register(load, _RowBatch, _ColumnBatch, vectors_per_batch, vector)
        _register(store, _ColumnBatch, _RowBatch, vectors_per_batch, vector)
        _register(copy, _RowBatch, _RowBatch, vectors_per_batch, vector)
    return RowMoves(vectors // vectors_per_batch, load, store, copy)


def _register(
    function: Callable[..., None],
    source_kind: type[_RowBatch | _ColumnBatch],
    target_kind: type[_RowBatch | _ColumnBatch],
    vectors: int,
    vector: Any,
) -> None:
    """Let the CUDA compiler replace a function by one that loads a whole batch, then stores it.

    ``vectors`` is the number of vectors of a batch, and ``vector`` their LLVM type.
    """
    from numba.cuda.extending import intrinsic, overload

    @intrinsic
    def move(typing_context, source, source_number, target, target_number, batch):
        def generate(context, builder, signature, args):
            def make_batch(kind: Any, argument: int) -> Any:
                """Make a batch of the array at a position in the arguments, its number next."""
                array = context.make_array(signature.args[argument])(
                    context, builder, args[argument]
                )
                return kind(builder, array, args[argument + 1], args[4], vectors, vector)

            source_batch = make_batch(source_kind, 0)
            target_batch = make_batch(target_kind, 2)
            values = [source_batch.load(index) for index in range(vectors)]
            for index, value in enumerate(values):
                target_batch.store(index, value)
            return context.get_dummy_value()

        integer = types.int64
        return types.void(source, integer, target, integer, integer), generate

    @overload(function, target="cuda", inline="always")
    def _move(source, source_number, target, target_number, batch):
        return lambda source, source_number, target, target_number, batch: move(
            source, source_number, target, target_number, batch
        )


class _RowBatch:
    """Code for a batch in a row of an array. Each vector takes one instruction."""

    def __init__(
        self, builder: Any, array: Any, row: Any, batch: Any, vectors: int, vector: Any
    ) -> None:
        self._builder = builder
        row_words = builder.extract_value(array.shape, 1)
        row_start = builder.gep(array.data, [builder.mul(row, row_words)])
        row_vectors = builder.bitcast(row_start, vector.as_pointer())
        self._start = builder.gep(row_vectors, [builder.mul(batch, _I64(vectors))])

    def load(self, index: int) -> Any:
        # Rows of arrays are a multiple of ROW_BYTES, so every vector is aligned.
        address = self._builder.gep(self._start, [_I64(index)])
        return self._builder.load(address, align=ROW_BYTES)

    def store(self, index: int, value: Any) -> None:
        address = self._builder.gep(self._start, [_I64(index)])
        self._builder.store(value, address, align=ROW_BYTES)


class _ColumnBatch:
    """Code for a batch in the first column of an array. Each word takes one instruction."""

    def __init__(
        self, builder: Any, array: Any, _column: Any, batch: Any, vectors: int, vector: Any
    ) -> None:
        self._builder = builder
        self._data = array.data
        self._vector = vector
        self._columns = builder.extract_value(array.shape, 1)
        self._first_row = builder.mul(batch, _I64(vectors * vector.count))

    def _addresses(self, index: int) -> list[Any]:
        """Write code for the addresses of the words of a vector."""
        builder = self._builder
        words = self._vector.count
        rows = [builder.add(self._first_row, _I64(index * words + i)) for i in range(words)]
        return [builder.gep(self._data, [builder.mul(row, self._columns)]) for row in rows]

    def load(self, index: int) -> Any:
        value = ir.Constant(self._vector, ir.Undefined)
        for i, address in enumerate(self._addresses(index)):
            value = self._builder.insert_element(value, self._builder.load(address), _I32(i))
        return value

    def store(self, index: int, value: Any) -> None:
        for i, address in enumerate(self._addresses(index)):
            self._builder.store(self._builder.extract_element(value, _I32(i)), address)
