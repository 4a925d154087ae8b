"""A board as a container: indexing, rows, arrays; and as a drawn grid."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.formats import parse
from tests.boards import LINE_4X4, full_grid

BOARD = parse(LINE_4X4)


def test_cells_rows_and_parts() -> None:
    assert (BOARD[0, 0], BOARD[1, 1], BOARD[-2, 2], BOARD[3, 3]) == (1, 2, 3, 0)
    assert type(BOARD[0, 0]) is int
    with pytest.raises(IndexError):
        BOARD[4, 0]
    assert BOARD[1].tolist() == [0, 2, 0, 0]
    assert BOARD[:, 2].tolist() == [0, 0, 3, 0]
    assert BOARD[:2, :2].tolist() == [[1, 0], [0, 2]]
    assert not BOARD[1].flags.writeable
    assert len(BOARD) == 4
    assert [row.tolist() for row in BOARD] == BOARD.grid.tolist()
    assert 3 in BOARD
    assert 4 not in BOARD
    assert bool(Board.empty(Geometry(1, 1)))


def test_as_an_array_the_grid_is_shared_and_read_only() -> None:
    array = np.asarray(BOARD)
    assert array.dtype == np.uint8
    assert array.tolist() == BOARD.grid.tolist()
    assert not array.flags.writeable
    assert np.shares_memory(array, BOARD.cells)
    assert np.array([BOARD, BOARD]).shape == (2, 4, 4)
    copied = np.array(BOARD)
    copied[0, 0] = 4
    assert BOARD[0, 0] == 1
    assert np.asarray(BOARD, dtype=np.int64).dtype == np.int64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(BOARD, dtype=float, copy=False)


def drawn(page: str) -> list[list[tuple[str, bool, str]]]:
    """Read the table back: rows of (text, bold, style)."""
    assert not re.search(r"color|#|rgb|<style|<script|class=|src=|href=", page)  # suits any theme
    cell = r'<td style="([^"]*)">(<b>)?([^<]*)(?:</b>)?</td>'
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.DOTALL)
    return [[(t, bool(b), style) for style, b, t in re.findall(cell, row)] for row in rows]


@pytest.mark.parametrize("shape", ["2x2", "1x5", "3x2", "6x6"])
def test_digits_and_boxes_are_drawn(shape: str) -> None:
    geometry = Geometry.parse(shape)
    cells = full_grid(geometry, 1).ravel()
    cells[::3] = 0
    board = Board(cells, geometry)
    rows = drawn(board._repr_html_())
    empty, line = ("0", str(board).split(",")) if geometry.n > 35 else (".", [*str(board)])
    assert [text or empty for row in rows for text, _, _ in row] == line
    assert all(bold == bool(text) for row in rows for text, bold, _ in row)
    for r, row in enumerate(rows):
        for c, (_, _, style) in enumerate(row):
            assert ("border-top:2px" in style) == (r > 0 and r % geometry.box_rows == 0)
            assert ("border-left:2px" in style) == (c > 0 and c % geometry.box_columns == 0)


def test_clues_of_another_board_are_bold() -> None:
    full = full_grid(Geometry(2, 2), 1).ravel().astype(np.uint8)
    rows = drawn(draw(Geometry(2, 2), full, BOARD.cells > 0, "a caption"))
    bold = [(r, c) for r in range(4) for c in range(4) if rows[r][c][1]]
    assert bold == [(0, 0), (1, 1), (2, 2)]
    assert "candidates" not in BOARD._repr_html_()
    board = Board(BOARD.cells, candidates=[15] * 16)
    assert "Given candidates are not drawn." in board._repr_html_()


def test_in_words() -> None:
    restricted = Board([0] * 16, candidates=[1] * 16)
    assert parse("1" + "." * 63, "2x4").describe() == "an 8x8 board with 1 clue"
    assert restricted.describe() == "a 4x4 board with 0 clues and given candidates"
