"""Tables: which column holds the boards, what stands beside them, and many rows at once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.errors import InputError
from gpusudoku.formats import read_batches, read_stream, read_text
from gpusudoku.formats.read import BUFFER_BYTES
from tests.formats.forms import SOLUTION
from tests.formats.samples import BOARD, LINE


def columns_of(path: Path, text: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The names of the other columns, and what is in them."""
    path.write_text(text)
    names, others = (), []
    for batch in read_batches(str(path)):
        assert isinstance(batch, Batch)
        assert batch.places is not None
        assert all(board == BOARD for board in batch)
        names = batch.places.origin(0).columns
        others += map(batch.places.beside, range(len(batch)))
    return names, others


@pytest.mark.parametrize(
    ("text", "names", "others"),
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
    ],
)
def test_other_columns(
    text: str, names: tuple[str, ...], others: list[tuple[str, ...]], tmp_path: Path
) -> None:
    assert columns_of(tmp_path / "f", text) == (names, others)


@pytest.mark.parametrize(
    "odd",
    ["", "# comment", f'7,"{LINE}",x', f"7,{LINE[1:]},x", f"7,{LINE[1:]}!,x", f"7,{LINE}", "7,,x",
     f"7,{LINE},\xff", f"7,{LINE},x\r", f"7,{'-' * 81},x", f"7,{LINE[1:]}\t,x", "7,8,9,10"],
)  # fmt: skip
def test_rows_read_together_are_read_as_alone(odd: str) -> None:
    rows = [f"{k},{LINE},text {k}" for k in range(60)]
    for place in (1, 30, 59):
        text = "\n".join(["id,puzzle,name", *rows[:place], odd, *rows[place:]]).encode("latin-1")
        results = [
            [str(e) if isinstance(e, InputError) else e for e in read_stream(stream, "f")]
            for stream in (io.BytesIO(text), io.BufferedReader(io.BytesIO(text), BUFFER_BYTES))
        ]
        assert results[0][0] == results[1][0]
        assert results[0] == results[1]


def test_many_rows_are_one_batch(tmp_path: Path) -> None:
    rows = [f"{k},{LINE},{SOLUTION}" for k in range(5000)]
    names, others = columns_of(tmp_path / "f", "\n".join(["id,quizzes,solutions", *rows]) + "\n")
    assert names == ("id", "solutions")
    assert others == [(str(k), SOLUTION) for k in range(5000)]
    batches = list(read_batches(str(tmp_path / "f")))
    assert len(batches) < 300
    lines = [line for b in batches if isinstance(b, Batch) and b.places for line in b.places.lines]
    assert lines == list(range(2, 5002))


def test_a_row_with_more_or_fewer_fields(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(f"{LINE};a\n{LINE}\n{LINE};a;b\n{LINE};c\n")
    found = [str(e) if isinstance(e, InputError) else len(e) for e in read_batches(str(path))]
    assert found == [1, f"{path}:2: 1 fields, expected 2", f"{path}:3: 3 fields, expected 2", 1]


class TestColumn:
    TEXT = f"id,First,second\n1,{LINE},{LINE[::-1]}\n"

    @pytest.mark.parametrize("name", ["First", "first", " FIRST "])
    def test_a_name(self, name: str) -> None:
        assert list(read_text(self.TEXT, column=name)) == [BOARD]

    @pytest.mark.parametrize(
        ("text", "column", "message"),
        [
            (TEXT, "third", "f:1: no column 'third', the columns are 'id', 'First', 'second'"),
            (f"a,A\n{LINE},{LINE}", "Á", "f:1: no column 'Á', the columns are 'a', 'A'"),
            (f"a,a\n{LINE},{LINE}", "a", "f:1: two columns 'a', the columns are 'a', 'a'"),
            (f"{LINE}\n", "a", "f:1: no table with a header, so no column 'a'"),
            ("[1]\n", "a", "f:1: no table with a header, so no column 'a'"),
            ('{"b": 1}\n', "a", "f:1: a JSON object with no board, expected one name"),
            (TEXT, None, f"f:1: a table that reads two ways, 'First' with {LINE} or"),
        ],
    )
    def test_errors(self, text: str, column: str | None, message: str) -> None:
        with pytest.raises(InputError) as error:
            list(read_text(text, column=column, source="f"))
        assert str(error.value).startswith(message)

    def test_objects(self) -> None:
        assert list(read_text(f'{{"a": "{LINE}", "board": 1}}', column="a")) == [BOARD]

    def test_a_table_of_one_column(self) -> None:
        assert list(read_text(f"start\n{LINE}\n", column="start")) == [BOARD]

    def test_names_that_differ_in_case(self) -> None:
        text = f"a,A\n{LINE},{LINE[::-1]}"
        assert list(read_text(text, column="a")) == [BOARD]
