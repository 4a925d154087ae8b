"""Files, streams and texts: read as they come, in little time and memory."""

from __future__ import annotations

import io
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import parse, read_batches, read_text
from tests.formats import hostile
from tests.formats.samples import BOARD, GRID, LINE, SYMBOLS, Entry, read_stream, report


class Endless(io.BytesIO):
    """A stream that never ends, and knows how many lines were taken."""

    def __init__(self, lines: Iterator[str]) -> None:
        super().__init__()
        self.lines = lines
        self.taken = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        """Take the next line."""
        self.taken += 1
        return next(self.lines).encode() + b"\n"


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        ([], [LINE]),
        ([], [LINE + ":1", "# comment", ""]),
        ([], [*GRID.split(), ""]),
        (["id,puzzle"], [f"1,{LINE}"]),
    ],
    ids=["lines", "lines with comments", "grids", "csv"],
)
def test_boards_come_soon_after_their_lines(head: list[str], lines: list[str]) -> None:
    stream = Endless(itertools.chain(head, itertools.cycle(lines)))
    entries = list(itertools.islice(read_stream(stream, "endless"), 500))
    last = len(head) + 499 * len(lines) + 1
    assert all(isinstance(entry, Entry) and entry.board == BOARD for entry in entries)
    assert entries[-1] == Entry(BOARD, last)
    assert stream.taken <= last + 130


def test_files_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "boards.txt"
    path.write_text(GRID)
    assert [board for batch in read_batches(str(path)) for board in batch] == [BOARD]
    tall = Geometry(9, 1)
    [batch] = read_batches(str(path), tall)
    assert list(batch) == [Board(BOARD.cells, tall)]
    monkeypatch.setattr("sys.stdin", None)
    assert list(map(str, read_batches("-"))) == [
        "<stdin>: standard input is closed, expected boards"
    ]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINE.encode() + b"\n!")))
    good, error = read_batches("-")
    assert list(good) == [BOARD]
    assert str(error) == f"<stdin>:2:1: unknown character '!', {SYMBOLS}"


def test_texts() -> None:
    """Boards until the first error, which is raised."""
    read_boards = read_text(f"{LINE}\n{LINE[1:]}\n{LINE}", source="here")
    assert next(read_boards) == BOARD
    with pytest.raises(InputError, match=r"^here:2: 80 cells make no board"):
        next(read_boards)
    [board] = read_text("." * 36, geometry=Geometry(3, 2))
    assert board.geometry == Geometry(3, 2)
    with pytest.raises(InputError, match=r"^<text>:1:81: unknown character "):
        list(read_text(LINE[:-1] + "\udcff"))  # cannot be encoded


def test_one_board() -> None:
    assert parse("." * 36, "3x2") == parse("." * 36, Geometry(3, 2))
    with pytest.raises(InputError, match=r"^expected one board, found 2$"):
        parse(f"{LINE}\n{LINE}")
    with pytest.raises(InputError, match=r"^expected the text of a board, found 5$"):
        parse(5)  # type: ignore[arg-type]


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.txt", tmp_path):
        [error] = read_batches(str(path))
        assert str(error).startswith(f"{path}: ")
        assert str(error).endswith(", expected a file that can be read")
    assert list(map(str, read_batches("\0"))) == ["\\x00: expected a valid file name"]


LONG = 200_000
"""The square of it is too much for any test."""


@pytest.mark.parametrize("text", [
    "-" * LONG + "x", "+---" * (LONG // 4) + "x", ".---" * (LONG // 4) + "-",
    "|" + "-" * LONG + "x", " " * LONG + "x", "[" + " " * LONG + "1]",
    "a" + " " * LONG + "!,b\n1,2", "a" + " " * LONG + "=", "<a><!--" + "x \n" * LONG,
    "<a " + "b=''\n" * LONG, "<a>" + "<b>\n" * LONG, "1:" * (LONG // 2), "'" * LONG,
], ids=lambda text: ascii(text[:8]))  # fmt: skip
def test_long_lines_take_time_in_proportion_to_their_length(text: str) -> None:
    start = time.thread_time()
    assert report(text)
    assert time.thread_time() - start < 20  # a second is enough


def test_limits() -> None:
    assert report(f"{LINE}\n{'1' * 600_000}\n{LINE}\n") == [
        "board 1", "f:2: a line of 524288 bytes or more, expected a board", "board 3",
    ]  # fmt: skip
    assert report("1 2 3 4\n" * 3 + "\n" + "1" * 600_000)[1] == (
        "f:5: lines of 524288 bytes or more, expected rows of a grid"
    )
    assert report("." * (1 << 20)) == ["f:1: a line of 1048576 bytes or more, expected text"]
    assert report("<a>\n" * 300) == ["f:257: more than 256 nested XML tags"]
    assert report("<a><!--\n" + "x\n" * 40_000) == [
        "f:32770: a tag or a comment of 65536 bytes or more in XML"
    ]
    with hostile.limits(hostile.SMALL):
        assert report("[" + "1,\n" * 700) == ["f:1: a list of 600 bytes or more"]
        assert report("<a>\n" + "x\n" * 700)[-1] == "f:301: a text of 600 bytes or more in XML"
