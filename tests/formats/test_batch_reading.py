"""Boards by the thousand: read together just as they would be line by line."""

from __future__ import annotations

import io
from itertools import chain
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import Entry, parse
from gpusudoku.formats.read import BUFFER_BYTES
from tests.boards import CLUES, full_grid, puzzle

SHAPES = ["2x2", "2x3", "3x3", "4x4"]


def lines_of(shape: str, number: int) -> list[bytes]:
    return [str(puzzle(shape, CLUES[shape], seed)).encode() for seed in range(number)]


LINES = {shape: lines_of(shape, 20) for shape in SHAPES}


class ByLine(io.BytesIO):
    """A stream that is not buffered, so that nothing is at hand: every line is parsed."""


def read(stream: BinaryIO, geometry: Geometry | None = None) -> list[Entry | str]:
    found = formats.read_stream(stream, "f", geometry)
    return [str(each) if isinstance(each, InputError) else each for each in found]


def assert_read_alike(data: bytes, geometry: Geometry | None = None) -> list[Entry | str]:
    """Lines taken together give what lines give that are parsed one by one."""
    slow = read(ByLine(data), geometry)
    for size in (50, BUFFER_BYTES):  # less than a line at hand, and all of the text
        assert read(io.BufferedReader(io.BytesIO(data), size), geometry) == slow
    return slow


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("shape", SHAPES)
def test_plain_lines(shape: str, end: bytes) -> None:
    lines = LINES[shape] * 40
    boards = [parse(line.decode()) for line in lines]
    expected = [Entry(board, number) for number, board in enumerate(boards, 1)]
    assert assert_read_alike(end.join(lines)) == expected
    assert assert_read_alike(end.join(lines) + end) == expected


def test_they_are_read_together(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(LINES["3x3"] * 500))
    batches = list(formats.read_batches(str(path)))
    assert sum(map(len, batches)) == 10000
    assert max(map(len, batches)) > 500
    with path.open("rb") as stream:
        boards = [each.board for each in read(stream) if isinstance(each, Entry)]
    assert list(chain.from_iterable(batches)) == boards


@pytest.mark.parametrize(
    "odd",
    [
        b"# a comment",
        b"",
        b"  ",
        LINES["3x3"][0] + b":5",
        LINES["3x3"][0] + b" # a comment",
        b" " + LINES["3x3"][0][:-1],
        LINES["3x3"][0] + b"\r",
        LINES["3x3"][0][:-1],
        LINES["3x3"][0] + b".",
        b"!" + LINES["3x3"][0][1:],
        LINES["3x3"][0][1:] + b"A",
        LINES["3x3"][0][1:] + b"#",
        LINES["3x3"][0][1:] + b":",
        LINES["3x3"][0][1:] + b"\r",
        LINES["3x3"][0][1:] + b"\xff",
        LINES["3x3"][0][1:] + b"\0",
        b"0" * 81,
        b"." * 40 + b"*_0" + b"." * 38,
        b",".join(b"%d" % (k % 10) for k in range(81)),
        LINES["2x2"][0],
        LINES["4x4"][0],
        LINES["4x4"][0].lower(),
        b"123456789",
        b"---+---+---",
    ],
    ids=repr,
)
def test_an_odd_line_among_plain_ones(odd: bytes) -> None:
    lines = LINES["3x3"] * 3
    for place in (1, 17, 33, 50):
        mixed = [*lines[:place], odd, *lines[place:]]
        assert_read_alike(b"\n".join(mixed))
        assert_read_alike(b"\n".join(mixed), Geometry(3, 3))
        assert_read_alike(b"\r\n".join(mixed) + b"\r\n")


def test_hexadecimal_boards_are_told_one_by_one() -> None:
    grid = Board(full_grid(Geometry(4, 4), 1), Geometry(4, 4))
    open_grid = Board(np.where(grid.cells == 3, 0, grid.cells), Geometry(4, 4))
    letters = [formats.write(board, "letters").encode() for board in (grid, open_grid)]
    hexadecimal = [formats.write(board, "hex").encode() for board in (grid, open_grid)]
    zeros = letters[1].replace(b".", b"0")
    kinds = [*letters, *hexadecimal, zeros]
    rng = np.random.default_rng(1)
    lines = [letters[1]] * 40 + [kinds[k] for k in rng.integers(0, len(kinds), 100)]
    found = assert_read_alike(b"\n".join(lines))
    expected = [grid if line in (letters[0], hexadecimal[0]) else open_grid for line in lines]
    assert [each.board for each in found if isinstance(each, Entry)] == expected


def test_lines_change_their_end_and_their_case() -> None:
    lines = LINES["4x4"] * 4
    ends = [b"\n"] * 30 + [b"\r\n"] * 30 + [b" \n"] * 20
    cased = [line.lower() if k % 7 < 3 else line for k, line in enumerate(lines)]
    found = assert_read_alike(b"".join(chain(*zip(cased, ends, strict=True))))
    assert [each.board for each in found if isinstance(each, Entry)] == [
        parse(line.decode()) for line in lines
    ]


@given(st.data())
def test_any_mixture(data: st.DataObject) -> None:
    plain = st.sampled_from(["2x3", "3x3"]).flatmap(lambda shape: st.sampled_from(LINES[shape]))
    odd = st.sampled_from([b"", b"#", b"!", LINES["2x2"][0], LINES["3x3"][1] + b":1", b"12\0"])
    pieces = st.tuples(plain, st.integers(1, 40)).map(lambda piece: [piece[0]] * piece[1])
    runs = data.draw(st.lists(pieces | odd.map(lambda line: [line]), min_size=1, max_size=8))
    end = data.draw(st.sampled_from([b"\n", b"\r\n"]))
    assert_read_alike(end.join(chain.from_iterable(runs)))


def test_a_terminal_is_told_the_end_once() -> None:
    """A raw stream that goes on after its end is not asked again."""

    class Terminal(io.RawIOBase):
        def __init__(self) -> None:
            self.pieces = iter([LINES["3x3"][0] + b"\n"] * 3 + [b""] + [b"more\n"] * 9)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
            piece = next(self.pieces)
            buffer[: len(piece)] = piece
            return len(piece)

    terminal = Terminal()
    assert len(read(io.BufferedReader(terminal))) == 3
