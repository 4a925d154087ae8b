"""Many boards of one geometry as one array, and where they were read."""

from __future__ import annotations

import numpy as np

from gpusudoku.board.batch import Batch, InputSource, SourceLocations
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
    mask = np.array([True, False, False, True, False])
    assert list(batch.select(mask)) == list(batch.chosen(mask=mask)) == boards[0:4:3]
    assert list(Batch.joined([batch, batch.part(0, 2)])) == boards + boards[:2]


def test_locations_of_several_inputs():
    plain_file = InputSource("one")
    table = InputSource("two", ("name",))
    locations = SourceLocations.joined([
        SourceLocations.of(plain_file, [1, 2]),
        SourceLocations.of(table, [5, 6], [("ä€",), ("\ud800",)]),
        SourceLocations.of(plain_file, [0]),
    ])  # fmt: skip
    names = ["one:1", "one:2", "two:5", "two:6", "one"]
    assert [*map(locations.name, range(5))] == names
    texts = [(), (), ("ä€",), ("\ud800",), ()]
    assert [*map(locations.extra_texts_of, range(5))] == texts
    of_table = locations.select(slice(2, 4))
    assert (of_table.name(0), of_table.extra_texts_of(0)) == ("two:5", ("ä€",))
    odd_rows = locations.select(np.array([False, True, False, True, True]))
    assert [*map(odd_rows.extra_texts_of, range(3))] == [(), ("\ud800",), ()]
