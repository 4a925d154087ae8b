"""Many boards of one geometry as one array."""

from __future__ import annotations

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from tests.boards import puzzle


def test_of_boards_and_back() -> None:
    boards = [puzzle("2x3", 9, seed) for seed in range(5)]
    batch = Batch.of(boards)
    assert Batch.of(batch) is batch
    assert (batch.geometry, len(batch), batch.cells.dtype) == (Geometry(2, 3), 5, np.uint8)
    assert list(batch) == boards
    assert batch[3] == boards[3]
    assert list(batch.part(1, 3)) == boards[1:3]
    assert list(batch.chosen(np.array([True, False, False, True, False]))) == boards[0:4:3]
    assert list(Batch.joined([batch, batch.part(0, 2)])) == boards + boards[:2]
