"""Many boards of one geometry as one array, and the texts and places beside them."""

from __future__ import annotations

import numpy as np

from gpusudoku.board.batch import Batch, Origin, Places
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
    assert list(batch.select(np.array([True, False, False, True, False]))) == boards[0:4:3]
    assert list(Batch.joined([batch, batch.part(0, 2)])) == boards + boards[:2]


def test_places_of_several_inputs():
    one = Origin("one")
    two = Origin("two", ("name",))
    places = Places.joined([
        Places.of(one, [1, 2]),
        Places.of(two, [5, 6], [("ä€",), ("\ud800",)]),
        Places.of(one, [0]),
    ])  # fmt: skip
    assert [*map(places.name, range(5))] == ["one:1", "one:2", "two:5", "two:6", "one"]
    assert [*map(places.beside, range(5))] == [(), (), ("ä€",), ("\ud800",), ()]
    some = places.select(slice(2, 4))
    assert (some.name(0), some.beside(0)) == ("two:5", ("ä€",))
    some = places.select(np.array([False, True, False, True, True]))
    assert [*map(some.beside, range(3))] == [(), ("\ud800",), ()]
