"""Boards in a GPU's memory: rows of 28 words of 32 bits, moved four words at a time. 9x9 only.

A row is the 27 words of a board, as ``planes`` draws it, and one that nobody reads. So a row is
seven times 16 bytes, the most that a thread moves with one instruction; and the memory behind the
caches is written in pieces of 32 bytes however few of them are meant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numpy.typing import NDArray

from gpusudoku.kernels.lanes import cuda_overload
from gpusudoku.kernels.search.nine.planes import ROW, ROW_BITS, WORDS

ROW_WORDS = 28
"""Words of a row."""
FOURS = ROW_WORDS // 4
"""Times that a row is moved by four."""

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_FOUR = ir.VectorType(_I32, 4)


def rows_of(boards: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Rows, uint32 (B, ROW_WORDS), from boards of the ``Layout``; arrays of NumPy or CuPy."""
    rows = np.empty_like(boards, np.uint32, shape=(len(boards), ROW_WORDS))
    row = np.uint64(ROW)
    for w in range(WORDS):
        low, high = boards[:, w // 3 * 2], boards[:, w // 3 * 2 + 1]
        shift = np.uint64(w % 3 * 9)
        first, second = low >> shift & row, low >> shift + np.uint64(27) & row
        rows[:, w] = first | second << np.uint64(ROW_BITS) | (high >> shift & row) << np.uint64(20)
    rows[:, WORDS:] = 0
    return rows


def load_four(rows: Any, row: int, four: int) -> tuple[Any, Any, Any, Any]:
    """Words 4 four to 4 four + 3 of a row. A row begins at a multiple of 16 bytes."""
    first = 4 * four
    return rows[row, first], rows[row, first + 1], rows[row, first + 2], rows[row, first + 3]


def store_four(rows: Any, row: int, four: int, words: tuple[Any, Any, Any, Any]) -> None:
    """Write these words."""
    rows[row, 4 * four : 4 * four + 4] = words


def register_cuda() -> None:
    """Teach the CUDA compiler to move four words at once. Not for the simulator."""
    from numba.cuda.extending import intrinsic

    overload = cuda_overload()

    def address(context: Any, builder: Any, rows_type: Any, arguments: Any) -> Any:
        rows, row, four = arguments
        data = context.make_array(rows_type)(context, builder, rows).data
        word = builder.add(builder.mul(row, _I64(ROW_WORDS)), builder.mul(four, _I64(4)))
        return builder.bitcast(builder.gep(data, [word]), _FOUR.as_pointer())

    @intrinsic
    def load(typing_context, rows, row, four):
        result = types.UniTuple(types.uint32, 4)

        def generate(context, builder, signature, args):
            words = builder.load(address(context, builder, signature.args[0], args), align=16)
            each = [builder.extract_element(words, _I32(i)) for i in range(4)]
            return context.make_tuple(builder, result, each)

        return result(rows, types.int64, types.int64), generate

    @intrinsic
    def store(typing_context, rows, row, four, words):
        def generate(context, builder, signature, args):
            four_words = ir.Constant(_FOUR, ir.Undefined)
            for i in range(4):
                word = builder.extract_value(args[3], i)
                four_words = builder.insert_element(four_words, word, _I32(i))
            place = address(context, builder, signature.args[0], args[:3])
            builder.store(four_words, place, align=16)
            return context.get_dummy_value()

        return types.void(rows, types.int64, types.int64, words), generate

    @overload(load_four)
    def _load_four(rows, row, four):
        return lambda rows, row, four: load(rows, row, four)

    @overload(store_four)
    def _store_four(rows, row, four, words):
        return lambda rows, row, four, words: store(rows, row, four, words)
