"""Many boards of one geometry in one array: what is done to boards by the thousand is done to it.

A batch that is read, counted and written never has an object for each of its boards.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError

FIRST_BOARDS = 16
"""Boards in the first block: whoever streams boards that take long sees the first results soon."""
BLOCK_SECONDS = 0.25
"""Blocks grow until one takes about this long."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Boards of one geometry, in order.

    ``cells`` is uint8 (B, n * n), C-contiguous, one board a row: 0 for an empty cell, else a
    digit 1 .. n. Nothing is checked here: whoever makes a batch knows that the digits are right.
    """

    geometry: Geometry
    cells: NDArray[np.uint8]

    @classmethod
    def of(cls, boards: Batch | Sequence[Board]) -> Batch:
        """The batch of some boards, at least one, all of one geometry; a batch is its own."""
        if isinstance(boards, Batch):
            return boards
        return cls(boards[0].geometry, np.stack([board.cells for board in boards]))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """All boards of some batches, at least one, all of one geometry."""
        if len(batches) == 1:
            return batches[0]
        return cls(batches[0].geometry, np.concatenate([batch.cells for batch in batches]))

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, index: int) -> Board:
        return Board(self.cells[index], self.geometry)

    def __iter__(self) -> Iterator[Board]:
        return (Board(cells, self.geometry) for cells in self.cells)

    @property
    def clues(self) -> int:
        """Number of filled cells of all boards."""
        return int(np.count_nonzero(self.cells))

    def part(self, start: int, end: int) -> Batch:
        """The boards from start to before end."""
        return Batch(self.geometry, self.cells[start:end])

    def chosen(self, mask: NDArray[np.bool_]) -> Batch:
        """The boards for which the mask, bool (B), is true."""
        return Batch(self.geometry, self.cells[mask])


class Blocks:
    """Batches, cut and joined to blocks that are worth an engine's while. An iterable.

    A block has one geometry and FIRST_BOARDS boards at first. Whoever takes blocks says how long
    each took: they grow while they are quick. Fewer boards come where the geometry changes, at
    the end, and before an InputError, which is raised once all boards before it were given.

    Parameters
    ----------
    batches
        Read as they are needed.
    most
        Boards in a block, at most.
    """

    def __init__(self, batches: Iterable[Batch], most: int) -> None:
        self._batches, self._most, self._size = batches, most, min(FIRST_BOARDS, most)
        self._given, self._reading = 0, 0.0  # boards of the last block, seconds to read them

    def __iter__(self) -> Iterator[Batch]:
        blocks = self._blocks()
        while True:
            start = time.perf_counter()
            block = next(blocks, None)
            self._reading = time.perf_counter() - start
            if block is None:
                return
            self._given = len(block)
            yield block

    def took(self, seconds: float) -> None:
        """Set the size of the next block by how long the last one took, reading included."""
        seconds += self._reading
        if seconds < BLOCK_SECONDS and self._given == self._size:
            self._size = min(2 * self._size, self._most)
        elif seconds > 4 * BLOCK_SECONDS:
            self._size = max(1, self._size // 2)

    def _blocks(self) -> Iterator[Batch]:
        held: list[Batch] = []
        boards = 0
        error = None
        try:
            for batch in self._batches:
                if held and batch.geometry != held[0].geometry:
                    yield Batch.joined(held)
                    held, boards = [], 0
                start = 0
                while boards + len(batch) - start >= self._size:
                    end = start + self._size - boards
                    yield Batch.joined([*held, batch.part(start, end)])
                    held, boards, start = [], 0, end
                if start < len(batch):
                    held.append(batch.part(start, len(batch)))
                    boards += len(batch) - start
        except InputError as caught:
            error = caught
        if held:
            yield Batch.joined(held)
        if error is not None:
            raise error
