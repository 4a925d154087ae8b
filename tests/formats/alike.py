"""Input read in two ways: line by line by the parsers, and together by kernels."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from gpusudoku.board.batch import Batch
from gpusudoku.formats import Way
from gpusudoku.formats.read import _read


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self.stream, self.size = io.BytesIO(data), size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.stream.read(min(self.size, len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


class Found:
    """Reads all there is, and counts what was read together."""

    def __init__(self, stream: BinaryIO, way: Way) -> None:
        self.together = 0
        self.all = list(self._of(stream, way))

    def _of(self, stream: BinaryIO, way: Way) -> Iterator[Any]:
        for found in _read(stream, way):
            if not isinstance(found, Batch):
                yield str(found)
                continue
            assert found.places is not None
            self.together += len(found) > 1
            for k, board in enumerate(found):
                origin = found.places.origin(k)
                yield board, int(found.places.lines[k]), origin, found.places.beside(k)


def assert_alike(data: bytes, way: Way) -> int:
    """Read bytes line by line, all at once and in pieces; returns what was read together."""
    slow = Found(io.BytesIO(data), way)
    assert slow.together == 0
    fast = Found(io.BufferedReader(io.BytesIO(data)), way)  # type: ignore[arg-type]
    assert fast.all == slow.all
    assert Found(io.BufferedReader(Trickle(data, 700)), way).all == slow.all
    return fast.together
