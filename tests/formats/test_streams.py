"""Files, streams and texts: read as they come, in little memory, and refused in one line."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import Entry, read_batches, read_stream, read_text
from gpusudoku.formats.grids import blocks
from gpusudoku.formats.source import Lines
from tests.formats.samples import BOARD, GRID, LINE, read


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
        ([], ["# comment", "", LINE + ":1"]),
        ([], [*GRID.split(), ""]),
        (["id,puzzle"], [f"1,{LINE}"]),
    ],
    ids=["lines", "lines with comments", "grids", "csv"],
)
def test_batches_are_streamed(head: list[str], lines: list[str]) -> None:
    """Boards come before the input ends, soon after their lines."""
    stream = Endless(itertools.chain(head, itertools.cycle(lines)))
    entries = list(itertools.islice(read_stream(stream, "endless"), 500))
    assert all(isinstance(entry, Entry) and entry.board == BOARD for entry in entries)
    last = entries[-1]
    assert isinstance(last, Entry)
    assert stream.taken <= last.line + 130
    start = lines.index(LINE + ":1") if LINE + ":1" in lines else 0
    assert last.line == len(head) + 499 * len(lines) + start + 1


def test_memory_is_bounded() -> None:
    """Of a block that is far too long only as many rows are kept as show that."""
    [block] = blocks(enumerate([LINE.encode()] * 1000, 1))
    assert len(block.rows) == 65


def test_comments_before_the_first_board() -> None:
    """However many there are, they do not hide what follows."""
    comments = "# no board\n\n" * 5000
    assert read(comments + GRID) == [Entry(BOARD, 10001)]
    assert read(comments + LINE + "\n" + LINE)[1].line == 10002


def test_read_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file and from standard input."""
    path = tmp_path / "boards.txt"
    path.write_text(GRID)
    assert [board for batch in read_batches(str(path)) for board in batch] == [BOARD]
    tall = Geometry(9, 1)
    [batch] = read_batches(str(path), tall)
    assert list(batch) == [Board(BOARD.cells, tall)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINE.encode() + b"\n!")))
    good, error = read_batches("-")
    assert list(good) == [BOARD]
    assert str(error).startswith("<stdin>:2:1: unknown character '!'")


def test_read_text() -> None:
    """Boards until the first error, which is raised."""
    read_boards = read_text(f"{LINE}\n{LINE[1:]}\n{LINE}", source="here")
    assert next(read_boards) == BOARD
    with pytest.raises(InputError, match=r"^here:2: 80 cells make no board"):
        next(read_boards)
    [board] = read_text("." * 36, geometry=Geometry(3, 2))
    assert board.geometry == Geometry(3, 2)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a directory are one error each that names them."""
    missing = tmp_path / "missing.txt"
    for path in (missing, tmp_path):
        [error] = read_batches(str(path))
        assert isinstance(error, InputError)
        assert str(error).startswith(f"{path}: ")
        assert str(error).endswith(", expected a file that can be read")


def test_read_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that breaks off is an error too."""

    class Broken(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", lambda *_: Broken())
    [error] = read_batches("disk")
    assert str(error) == "disk: Input/output error, expected a file that can be read"


def test_surrogates() -> None:
    """A text that cannot be encoded is an error like any other."""
    with pytest.raises(InputError, match=r"^<text>:1:81: unknown character "):
        list(read_text(LINE[:-1] + "\udcff"))


def test_lines_that_are_passed_over() -> None:
    """Also of lines that no stream has buffered."""
    lines = Lines([(3, b"a\n"), (4, b"b\n"), (7, b"c\n")])
    assert lines.skip(2, 4) == 3
    assert list(lines) == [(7, b"c\n")]
