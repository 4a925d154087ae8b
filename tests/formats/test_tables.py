"""Tables and JSON lines: what holds the board, what stands beside it, and what is no row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import parse, read_batches, read_text
from tests.formats.forms import SOLUTION
from tests.formats.samples import BOARD, LINE, ROWS, SYMBOLS, changed, no_box, report


def columns_of(path: Path, text: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the names of the other columns, and what is in them."""
    path.write_text(text)
    names = ()
    extra_texts = []
    for batch in read_batches(str(path)):
        assert isinstance(batch, Batch)
        assert batch.locations is not None
        assert all(board == BOARD for board in batch)
        names = batch.locations.source(0).extra_columns
        extra_texts += map(batch.locations.extra_texts_of, range(len(batch)))
    return names, extra_texts


@pytest.mark.parametrize(
    ("text", "names", "extra_texts"),
    [
        (f"{LINE};a;9.0\n{LINE};b;1\n", ("field2", "field3"), [("a", "9.0"), ("b", "1")]),
        (f'{LINE};"a; b"\n', ("name",), [("a; b",)]),
        (f"{LINE};a # b\n", ("name",), [("a # b",)]),
        (f"{LINE},{SOLUTION}\n", ("solution",), [(SOLUTION,)]),
        (f"{SOLUTION}\t{LINE}\t7\n", ("solution", "field3"), [(SOLUTION, "7")]),
        (f"1,{LINE}\n", ("field1",), [("1",)]),
        (f"Nr;Puzzle;é\n1;{LINE};ü\n", ("Nr", "é"), [("1", "ü")]),
        (f"a,b\n{LINE},1\n", ("b",), [("1",)]),
        (f"puzzle\n{LINE}\n", (), [()]),
        (
            f'{{"id": 7, "puzzle": "{LINE}", "a": "b, \\"c\\"", "level": null, "tags": ["x"]}}\n',
            ("id", "a", "level", "tags"),
            [("7", 'b, "c"', "", '["x"]')],
        ),
    ],
)
def test_other_columns(
    text: str, names: tuple[str, ...], extra_texts: list[tuple[str, ...]], tmp_path: Path
) -> None:
    assert columns_of(tmp_path / "f", text) == (names, extra_texts)


def test_bad_rows() -> None:
    """Each is an error with the place in the line."""
    wrong = changed(LINE, 1, 81, "!")
    text = (
        f"id,puzzle,name\n1,{LINE},a\n2é,{wrong},b\n3,{LINE}\n4,,c\n"
        f'5,"{LINE},d\n"6,6","{wrong}",e\n7,{LINE[1:]},f\n8,1,{LINE},2\n9,{ROWS[0]},9\n\n1,{LINE},'
    )
    assert report(text) == [
        "board 2",
        f"f:3:84: unknown character '!', {SYMBOLS}",
        "f:4: 2 fields, expected 3",
        "f:5: column 2 is empty, expected a board",
        "f:6: unexpected end of data, expected every quoted field to end",
        f"f:7:88: unknown character '!', {SYMBOLS}",
        "f:8: 80 cells make no board, the nearest is 9x9 with 81",
        "f:9: 4 fields, expected 3",
        "f:10: 9 cells: " + no_box(3),
        "board 12",
    ]
    # Without quotes the first of 81 numbers would be a board by itself.
    assert report("id,puzzle\n1," + ",".join(LINE)) == ["f:2: 82 fields, expected 2"]
    # The first row tells the number of fields where there is no header.
    assert report(f"{LINE};a\n{LINE}\n{LINE};c\n") == [
        "board 1", "f:2: 1 fields, expected 2", "board 3",
    ]  # fmt: skip


TWO = f"id,First,second\n1,{LINE},{LINE[::-1]}\n"


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (TWO, "First"),
        (TWO, " FIRST "),
        (f"a,A\n{LINE},{LINE[::-1]}", "a"),
        (f"start\n{LINE}\n", "start"),
        (f'{{"a": "{LINE}", "board": 1}}', "a"),
    ],
)
def test_the_column_that_is_asked_for(text: str, column: str) -> None:
    assert list(read_text(text, column=column)) == [BOARD]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (TWO, "third", "f:1: no column 'third', the columns are 'id', 'First', 'second'"),
        (f"a,A\n{LINE},{LINE}", "Á", "f:1: no column 'Á', the columns are 'a', 'A'"),
        (f"a,a\n{LINE},{LINE}", "a", "f:1: two columns 'a', the columns are 'a', 'a'"),
        (f"{LINE}\n", "a", "f:1: no table with a header, so no column 'a'"),
        ("[1]\n", "a", "f:1: no table with a header, so no column 'a'"),
        ('{"b": 1}\n', "a", "f:1: a JSON object with no board, expected one name"),
        (TWO, None, f"f:1: an ambiguous table, 'First' with {LINE} or"),
    ],
)
def test_no_such_column(text: str, column: str | None, message: str) -> None:
    with pytest.raises(InputError) as error:
        list(read_text(text, column=column, source="f"))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "broken", ['{"puzzle": ', '{"puzzle": "1...."}', '{"id": 1}', "garbage", "[1]", "{} x"]
)
def test_a_broken_line_hides_no_others(broken: str) -> None:
    """What wrote them may have been stopped in the middle of a line."""
    right = f'{{"puzzle": "{LINE}"}}\n'
    first, error, last = report(f"{right}{broken}\n{right}")
    assert (first, last) == ("board 1", "board 3")
    assert error.startswith("f:2: ")


def test_the_box_of_an_object_counts() -> None:
    """So that what the program writes is the same board when it is read again."""

    def read(box: Any, options: Geometry | None = None) -> str:
        text = json.dumps({"board": "." * 36, "box": box})
        try:
            return str(parse(text, options).geometry)
        except InputError as error:
            return str(error)

    assert read("3x2") == read([3, 2]) == "3x2"
    assert read("3x2", Geometry(2, 3)) == read(None) == "2x3"
    assert "36 cells, expected 81" in read("3x3")
    for wrong in ("no", 3, [3], {"rows": 3}, True, [3, "y"]):
        assert read(wrong).startswith("<text>:1: box ")
