"""Many boards of one geometry as one array, and the texts and places beside them."""

from __future__ import annotations

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
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


ROWS = [("a", "ä€"), ("", "x,y"), ("\udce9", "\ud800")]


def test_rows_of_texts_come_back():
    fields = Fields.of(ROWS)
    assert (len(fields), fields.columns) == (3, 2)
    assert [fields.row(index) for index in range(3)] == ROWS
    assert fields.only(slice(1, 3)).row(0) == ROWS[1]
    assert fields.only(np.array([True, False, True])).row(1) == ROWS[2]
    fields = Fields.joined([Fields.of(ROWS), Fields.none(1), Fields.of([("1", "2", "3")])])
    assert [fields.row(index) for index in range(5)] == [
        *((*row, "") for row in ROWS), ("", "", ""), ("1", "2", "3")
    ]  # fmt: skip


def test_places_of_several_inputs():
    one, two = Origin("one"), Origin("two", ("name",))
    places = Places.joined([
        Places.of(one, [1, 2]),
        Places.of(two, [5], Fields.of([("x",)])),
        Places.of(one, [0]),
    ])  # fmt: skip
    assert [places.name(index) for index in range(4)] == ["one:1", "one:2", "two:5", "one"]
    assert [places.beside(index) for index in range(4)] == [(), (), ("x",), ()]
    assert places.only(slice(2, 4)).name(0) == "two:5"
    assert places.only(slice(2, 4)).beside(0) == ("x",)
