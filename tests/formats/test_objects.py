"""JSON objects, one on every line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import Way, read_text_batches


def read(text: str, box: Geometry | None = None) -> list[Any]:
    return list(read_text_batches(text, Way("f", box)))


def told(box: str) -> str:
    return json.dumps({"board": "." * 36, "box": box})


def test_what_stands_beside_a_board_is_kept() -> None:
    text = (
        '{"id": 7, "puzzle": "1....2....3.....", "note": "a, \\"b\\"", "level": null}\n\n'
        '{"puzzle": [[0,4,0,0],[0,0,0,0],[2,0,0,0],[0,1,0,0]], "tags": ["x"]}\n'
    )
    first, second = read(text)
    assert [str(batch[0]) for batch in (first, second)] == [
        "1....2....3.....", ".4......2....1..",
    ]  # fmt: skip
    assert first.places.origin(0).columns == ("id", "note", "level")
    assert first.places.beside(0) == ("7", 'a, "b"', "")
    assert second.places.origin(0).columns == ("tags",)
    assert second.places.beside(0) == ('["x"]',)
    assert [batch.places.lines[0] for batch in (first, second)] == [1, 3]


def test_a_bad_one_is_an_error_in_its_place() -> None:
    text = '{"puzzle": "1...."}\n{"id": 1}\n{"puzzle": "1....2....3....."}\n[1]\n'
    *errors, batch, last = read(text)
    assert [str(error).partition(" ")[0] for error in [*errors, last]] == [
        "f:1:", "f:2:", "f:4:",
    ]  # fmt: skip
    assert str(batch[0]) == "1....2....3....."


@pytest.mark.parametrize("broken", ['{"puzzle": ', "garbage", "[1]", "{} x"])
def test_a_broken_line_hides_no_others(broken: str) -> None:
    """What wrote them may have been stopped in the middle of a line."""
    right = '{"puzzle": "1....2....3....."}\n'
    first, error, last = read(f"{right}{broken}\n{right}")
    assert str(error).startswith("f:2: ")
    assert str(first[0]) == str(last[0]) == "1....2....3....."
    assert last.places.lines[0] == 3
    assert len(read(f"{broken}\n{right}")) == 1, "these are no JSON lines"


def test_the_box_that_is_told_counts() -> None:
    """So that what the program writes is the same board when it is read again."""
    [batch] = read(told("3x2"))
    assert batch.geometry == Geometry(3, 2)
    [error] = read(told("3x3"))
    assert "36 cells, expected 81" in str(error)
    [error] = read(told("no"))
    assert str(error).startswith("f:1: ")
    [batch] = read(told("3x2"), Geometry(2, 3))
    assert batch.geometry == Geometry(2, 3)
    for box, shape in (([3, 2], Geometry(3, 2)), (None, Geometry(2, 3))):
        [batch] = read(json.dumps({"board": "." * 36, "box": box}))
        assert batch.geometry == shape
    for wrong in (3, [3], {"rows": 3}, True, [3, "y"]):
        [error] = read(json.dumps({"board": "." * 36, "box": wrong}))
        assert str(error).startswith("f:1: box ")
