"""What is written looks as it should, and reads back as the same board."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import (
    FORMATS,
    header,
    parse,
    write,
    write_batch,
)
from tests.boards import full_grid, puzzle
from tests.formats.samples import BOXES, GEOMETRIES, read, read_stream, solution


@st.composite
def boards(draw: st.DrawFn, geometries: list[Geometry]) -> Board:
    """Solutions, and boards of any filling factor, some of small digits only, with conflicts."""
    geometry = draw(st.sampled_from(geometries))
    if draw(st.integers(0, 4)) == 0:
        return solution(geometry)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = draw(st.integers(1, geometry.n))
    cells = random.integers(1, most + 1, geometry.cells)
    full = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    return Board(np.where(random.random(geometry.cells) < full, cells, 0), geometry)


def reads_back_from_hex(board: Board) -> bool:
    """Tell whether the rule by which hexadecimal is told holds for a board of 16 digits."""
    ones = board.grid == 1
    once = (ones.sum(0) == 1).all() and (ones.sum(1) == 1).all()
    mixed = bool(ones.any()) and not board.is_full
    return mixed or board.clues == 0 or bool(board.is_full and once)


def written(board: Board, form: str) -> str | None:
    """Write the board with the header of its form; None where the form is too narrow for it."""
    wide = board.n > 35 if form == "letters" else form == "hex" and board.n != 16
    if wide or (form == "hex" and not reads_back_from_hex(board)):
        with pytest.raises(InputError):
            write(board, form)
        return None
    return f"{header(form)}\n{write(board, form)}\n"


@pytest.mark.parametrize("form", FORMATS)
@given(data=st.data())
def test_what_is_written_is_read_as_the_same_board(form: str, data: st.DataObject) -> None:
    """With the geometry given; without it, too, or an ambiguous text asks for it."""
    board = data.draw(boards([Geometry(4, 4), *GEOMETRIES] if form != "hex" else [Geometry(4, 4)]))
    text = written(board, form)
    if text is None:
        return
    assert [entry.board for entry in read(text, board.geometry)] == [board]
    if Geometry.of_cells(board.geometry.cells) != board.geometry:
        return
    [entry] = read_stream(io.BytesIO(text.encode()), "text")
    if form in ("csv", "tsv") and board.n == 1:  # the sign of a missing board
        assert str(entry).endswith('give box="1x1"')
    elif isinstance(entry, InputError):
        assert form in ("grid", "integers", "sdk")
        assert board.cells.max() <= board.n**0.5
        assert f'box="{board.geometry}" for one of {board.n}x{board.n}' in str(entry)
    else:
        assert entry.board == board


def test_written_forms() -> None:
    """What the forms look like."""
    board = Board([[4, 0, 2, 0], [0, 0, 4, 1], [1, 0, 0, 0], [0, 0, 1, 4]])
    assert {form: write(board, form) for form in FORMATS if form not in ("hex", "pretty")} == {
        "line": "4.2...411.....14",
        "grid": "4.2.\n..41\n1...\n..14",
        "integers": "4 0 2 0\n0 0 4 1\n1 0 0 0\n0 0 1 4",
        "letters": "4.2...411.....14",
        "sdk": "[Puzzle]\n4.2.\n..41\n1...\n..14",
        "csv": "4.2...411.....14",
        "tsv": "4.2...411.....14",
    }
    assert write(board, "pretty").splitlines() == [
        " ===== =====",
        "| 4 * | 2 * |",
        "| * * | 4 1 |",
        " ===== =====",
        "| 1 * | * * |",
        "| * * | 1 4 |",
        " ===== =====",
    ]
    assert write(solution(Geometry(4, 4)), "hex")[:16] == "0123456789ABCDEF"
    assert str(Board.empty(Geometry(6, 6))) == ",".join(["0"] * 1296)
    assert write(Board.empty(Geometry(6, 6)), "csv") == '"' + ",".join(["0"] * 1296) + '"'
    assert {form: header(form) for form in FORMATS if header(form)} == {
        "csv": "puzzle",
        "tsv": "puzzle",
    }


@pytest.mark.parametrize("function", [lambda name: write(Board([1]), name), header])
def test_unknown_format(function: Callable[[str], str]) -> None:
    """The names of the formats are given."""
    with pytest.raises(InputError, match=r"^format 'png': expected one of line, grid, integers, "):
        function("png")


def test_boards_too_wide_for_a_format() -> None:
    """Letters and hexadecimal have their limits."""
    with pytest.raises(InputError, match=r"^a board of 36 digits: letters stand for at most 35$"):
        write(Board.empty(Geometry(6, 6)), "letters")
    with pytest.raises(InputError, match=r"^a board of 9 digits: hexadecimal is for 16$"):
        write(Board.empty(BOXES), "hex")
    with pytest.raises(InputError, match=r"^this board would not read back from hexadecimal"):
        write(Board([2] + [0] * 255), "hex")


@pytest.mark.parametrize("form", list(FORMATS))
@pytest.mark.parametrize("shape", ["2x2", "4x4", "6x6"])
def test_many_boards_are_written_as_each_is(form, shape):
    """Or refused, after those before."""
    several = [puzzle(shape, clues, clues) for clues in (15, 9, 16, 12)]
    full = Board(full_grid(Geometry.parse(shape), 1), Geometry.parse(shape))
    for some in (several, [*several, full], [full, *several]):
        expected = []
        error = None
        for board in some:
            try:
                expected.append(f"{write(board, form)}\n".encode())
            except InputError as caught:
                error = str(caught)
                break
        found = []
        with pytest.raises(InputError) if error else nullcontext() as refused:
            for text in write_batch(Batch.of(some), form):
                found.append(text)
        assert b"".join(found) == b"".join(expected)
        assert error is None or str(refused.value) == error


@pytest.mark.parametrize("shape", ["2x2", "3x3", "2x5", "4x4", "5x7", "6x6"])
def test_given_candidates(shape: str) -> None:
    """They are written by a few formats, and read back from these."""
    geometry = Geometry.parse(shape)
    masks = np.full(geometry.cells, geometry.all_digits)
    masks[:2] = 1, 0  # a clue, and a cell without any candidate
    masks[2 : geometry.n] = 7
    board = Board(single_digits(masks), geometry, candidates=masks)
    for form in FORMATS:
        if form in ("line", "csv", "tsv"):
            text = write(board, form)
            assert parse(text if header(form) == "" else f"{header(form)}\n{text}") == board
            assert list(write_batch(Batch.of([board, board]), form)) == [f"{text}\n".encode()] * 2
        elif form != "pretty":
            with pytest.raises(InputError, match=r"given candidates: only line, pretty, csv, tsv"):
                write(board, form)
    assert parse(str(board)) == board
    with pytest.raises(InputError, match=r"^pretty shows candidates of at most 35 digits"):
        write(board, "pretty")
    if geometry.n <= 35:
        masks[1] = 6
        board = Board(single_digits(masks), geometry, candidates=masks)
        assert parse(write(board, "pretty")) == board
