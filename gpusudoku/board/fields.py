"""Texts in rows and columns, as bytes in one buffer: millions of them cost no object each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Fields:
    """The other columns of a table, for every board.

    The text in row b and column c is ``data[starts[b, c] : ends[b, c]]``, as a rule UTF-8. Rows
    may have fewer texts than there are columns: the others are empty.
    """

    data: NDArray[np.uint8]
    """uint8: the bytes of all texts, and whatever stands between them."""
    starts: NDArray[np.int64]
    """int64 (B, columns)."""
    ends: NDArray[np.int64]
    """int64 (B, columns)."""

    @classmethod
    def none(cls, rows: int) -> Fields:
        """Rows without any column."""
        nothing = np.zeros((rows, 0), np.int64)
        return cls(np.zeros(0, np.uint8), nothing, nothing)

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]]) -> Fields:
        """Some rows of texts, which may have lone surrogates, all of one length."""
        texts = [text.encode(errors="surrogatepass") for row in rows for text in row]
        ends = np.cumsum([0, *map(len, texts)])
        columns = len(rows[0]) if rows else 0
        shape = len(rows), columns
        data = np.frombuffer(b"".join(texts), np.uint8)
        return cls(data, ends[:-1].reshape(shape), ends[1:].reshape(shape))

    @classmethod
    def joined(cls, parts: Sequence[Fields]) -> Fields:
        """All rows of some; columns that a row lacks are empty."""
        columns = max(part.columns for part in parts)
        if columns == 0:
            return cls.none(sum(map(len, parts)))
        starts: list[NDArray[np.int64]] = []
        ends: list[NDArray[np.int64]] = []
        place = 0
        for part in parts:
            for whole, some in (starts, part.starts), (ends, part.ends):
                row = np.zeros((len(part), columns), np.int64)
                row[:, : part.columns] = some + place
                whole.append(row)
            place += len(part.data)
        data = np.concatenate([part.data for part in parts])
        return cls(data, np.concatenate(starts), np.concatenate(ends))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return int(self.starts.shape[1])

    def only(self, which: Any) -> Fields:
        """Some rows: a slice, or a mask, bool (B)."""
        return Fields(self.data, self.starts[which], self.ends[which])

    def without(self, column: int) -> Fields:
        """All columns but one."""
        starts, ends = (np.delete(each, column, axis=1) for each in (self.starts, self.ends))
        return Fields(self.data, starts, ends)

    def row(self, index: int) -> tuple[str, ...]:
        """The texts of a row."""
        ends = zip(self.starts[index].tolist(), self.ends[index].tolist(), strict=True)
        return tuple(_text(self.data[start:end].tobytes()) for start, end in ends)


def _text(data: bytes) -> str:
    """The text of some bytes; what is no text is replaced, but surrogates stay."""
    try:
        return data.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return data.decode(errors="replace")
