"""Whatever the bytes are, they are read to the end, and every error is one line with the place."""

from __future__ import annotations

import io

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import FORMATS, Entry, header, read_stream, write
from tests.formats.samples import BOXES

BOXED = [None, BOXES, Geometry(2, 2), Geometry(4, 4), Geometry(1, 1)]


@settings(deadline=None)
@given(
    st.binary() | st.text('123456789.A0G*_ |,=-\n:#\t"é[]\r').map(str.encode),
    st.sampled_from(BOXED),
)
@example(b"\n|\n", None)
@example(b",\n,\n", None)
@example(b"|-\n-", None)
def test_garbage(data: bytes, geometry: Geometry | None) -> None:
    """Whatever the bytes are: at least one entry, every error one line with the place."""
    check(data, geometry)


@settings(deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_mutilated_boards(form: str, data: st.DataObject) -> None:
    """Likewise of boards with a few bytes replaced, inserted or cut out."""
    geometry = Geometry(4, 4) if form == "hex" else Geometry(2, 2)
    board = Board.empty(geometry)
    text = f"{header(form)}\n{write(board, form)}\n\n".encode() * 2
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 3))
        new = data.draw(st.binary(max_size=2) | st.sampled_from([b"\n", b"|", b"1", b"  ", b"=="]))
        text = text[:start] + new + text[start + length :]
    check(text, data.draw(st.sampled_from([None, geometry])))


def check(data: bytes, geometry: Geometry | None) -> None:
    """Read bytes to the end and look at the shape of what comes."""
    entries = list(read_stream(io.BytesIO(data), "name.txt", geometry))
    assert entries
    for entry in entries:
        if isinstance(entry, Entry):
            assert geometry in (None, entry.board.geometry)
            assert 1 <= entry.line <= data.count(b"\n") + 1
        else:
            assert str(entry).startswith("name.txt:")
            assert str(entry).isprintable()
