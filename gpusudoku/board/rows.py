"""Rows of text that have much in common, written by the million without an object for each."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.fields import Fields
from gpusudoku.board.text import DIGITS, as_characters
from gpusudoku.kernels.text.values import WIDE

FEW = 1 << 9
"""Fewer rows are put together by Python, which is quicker than to load what is compiled."""


class Rows:
    """Rows of bytes, each of the same number of pieces.

    Pieces are given one after the other, for all rows at once, from left to right. They are put
    together at the end.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._data: list[NDArray[np.uint8]] = []
        self._size = 0
        self._starts: list[NDArray[np.int64]] = []
        self._ends: list[NDArray[np.int64]] = []
        self._boards: list[bool] = []
        """Which of the pieces are boards as values of their cells."""

    def texts(self, texts: Sequence[bytes], which: NDArray[np.intp] | None = None) -> None:
        """One of few texts in every row: that with the index ``which``, intp (B), or the first."""
        ends = np.cumsum([0, *map(len, texts)])
        ends += self._held(np.frombuffer(b"".join(texts), np.uint8))
        if which is None or len(texts) == 1:
            self._piece(np.full(self._rows, ends[0]), np.full(self._rows, ends[1]))
        else:
            self._piece(ends[:-1][which], ends[1:][which])

    def boards(self, cells: NDArray[np.uint8], where: NDArray[np.bool_] | None = None) -> None:
        """The canonical line of every board, uint8 (B, n * n), of at most 35 digits.

        Nothing where ``where``, bool (B), is false.
        """
        size = cells.shape[1]
        few = self._rows < FEW
        start = self._held((as_characters(cells) if few else cells).ravel())
        starts = np.arange(start, start + len(cells) * size, size)
        self._piece(starts, starts + (size if where is None else size * where), not few)

    def numbers(self, numbers: NDArray[np.int64]) -> None:
        """Decimal numbers, int64 (B), not negative; nothing for 0."""
        width = len(str(numbers.max(initial=1)))
        digits = np.empty((self._rows, width), np.uint8)
        rest = numbers
        for column in reversed(range(width)):
            tenth = rest // 10
            digits[:, column] = rest - 10 * tenth
            rest = tenth
        digits += ord("0")
        start = self._held(digits.ravel())
        ends = np.arange(start + width, start + width * (self._rows + 1), width)
        powers = 10 ** np.arange(width)
        self._piece(ends - np.searchsorted(powers, numbers, side="right"), ends)

    def fields(
        self, fields: Fields, before: Sequence[Sequence[bytes]], which: NDArray[np.intp]
    ) -> None:
        """The first columns of a table, and before each field one of few texts, as for ``texts``.

        Where that text is empty, the field is left out, too.
        """
        starts, ends = fields.starts, fields.ends
        first = int(starts.min(initial=len(fields.data)))
        last = int(ends.max(initial=first))
        place = self._held(fields.data[first:last]) - first
        for column, texts in enumerate(before):
            self.texts(texts, which)
            start, end = starts[:, column], ends[:, column]
            if not all(texts):
                end = np.where(np.array([bool(text) for text in texts])[which], end, start)
            self._piece(start + place, end + place)

    def replace(self, rows: NDArray[np.bool_], texts: Sequence[bytes]) -> None:
        """Give whole rows in place of all pieces so far: those for which bool (B) is true."""
        for starts, ends in zip(self._starts, self._ends, strict=True):
            ends[rows] = starts[rows]
        which = np.zeros(self._rows, np.intp)
        which[rows] = np.arange(1, len(texts) + 1)
        self.texts([b"", *texts], which)

    def joined(self) -> memoryview:
        """All rows, one behind the other."""
        data = np.concatenate([*self._data, np.zeros(WIDE, np.uint8)])
        starts, ends = np.array(self._starts), np.array(self._ends)
        if self._rows < FEW:
            whole = data.tobytes()
            spans = zip(starts.T.ravel().tolist(), ends.T.ravel().tolist(), strict=True)
            return memoryview(b"".join([whole[start:end] for start, end in spans]))
        from gpusudoku.kernels.text.write import join

        size = int(ends.sum() - starts.sum())
        out = np.empty(size + WIDE, np.uint8)
        join(data, np.array(self._boards), starts, ends, out)
        return out.data[:size]

    def _held(self, data: NDArray[np.uint8]) -> int:
        """Keep some bytes; returns their place in all that is kept."""
        place = self._size
        self._data.append(data)
        self._size += len(data)
        return place

    def _piece(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64], is_board: bool = False
    ) -> None:
        self._starts.append(starts)
        self._ends.append(ends)
        self._boards.append(is_board)


def odd_rows(fields: Fields, columns: int, sign: str) -> NDArray[np.bool_]:
    """Which rows of a table have more than plain ASCII, or a quote, or the sign, in some columns.

    Returns
    -------
    bool (B)
    """
    odd = np.zeros(len(fields), np.bool_)
    if columns == 0:
        return odd
    from gpusudoku.kernels.text.write import find_odd

    starts, ends = (
        np.ascontiguousarray(each[:, :columns]) for each in (fields.starts, fields.ends)
    )
    find_odd(fields.data, starts, ends, ord(sign), odd)
    return odd


def write_lines(
    cells: NDArray[np.uint8],
    tails: Sequence[bytes] = (b"",),
    which: NDArray[np.intp] | None = None,
) -> bytes:
    """Write the canonical lines of many boards, uint8 (B, n * n), each with a newline.

    ``tails`` are few texts, one of which stands at the end of each line: that with the index
    ``which``, intp (B), or the first.
    """
    if isqrt(cells.shape[1]) > len(DIGITS):
        indices = [0] * len(cells) if which is None else which.tolist()
        rows = zip(cells.tolist(), indices, strict=True)
        return b"".join(
            [b"%b%b\n" % (",".join(map(str, row)).encode(), tails[index]) for row, index in rows]
        )
    if which is None and not tails[0]:
        lines = as_characters(cells, room=1)
        lines[:, -1] = ord("\n")
        return lines.tobytes()
    written = Rows(len(cells))
    written.boards(cells)
    written.texts([tail + b"\n" for tail in tails], which)
    return bytes(written.joined())


def distinct_numbers(numbers: NDArray[Any]) -> tuple[list[int], NDArray[np.intp]]:
    """Few numbers of which many rows have one, integers (B), not negative.

    Returns
    -------
    The numbers in ascending order, each once, and the index of every row's number, intp (B).
    """
    most = numbers.max(initial=0)
    if numbers.dtype == object or most > 4 * len(numbers):
        found, which = np.unique(numbers, return_inverse=True)
        return found.tolist(), which
    there = np.zeros(most + 1, np.bool_)  # quicker than to sort
    there[numbers] = True
    return np.flatnonzero(there).tolist(), (np.cumsum(there) - 1)[numbers]
