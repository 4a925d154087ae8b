"""A board as a container: indexing, rows, arrays; and as a drawn grid."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.drawing import draw
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import parse
from tests.boards import LINE_4X4, full_grid

BOARD = parse(LINE_4X4)


class TestIndexing:
    def test_a_cell_is_an_integer(self) -> None:
        assert (BOARD[0, 0], BOARD[1, 1], BOARD[-2, 2], BOARD[3, 3]) == (1, 2, 3, 0)
        assert type(BOARD[0, 0]) is int
        with pytest.raises(IndexError):
            BOARD[4, 0]

    def test_rows_columns_and_parts(self) -> None:
        assert BOARD[1].tolist() == [0, 2, 0, 0]
        assert BOARD[:, 2].tolist() == [0, 0, 3, 0]
        assert BOARD[:2, :2].tolist() == [[1, 0], [0, 2]]
        assert not BOARD[1].flags.writeable

    def test_rows(self) -> None:
        assert len(BOARD) == 4
        assert [row.tolist() for row in BOARD] == BOARD.grid.tolist()
        assert 3 in BOARD
        assert 4 not in BOARD
        assert bool(Board.empty(Geometry(1, 1)))


class TestArrays:
    def test_the_grid_is_shared_and_read_only(self) -> None:
        array = np.asarray(BOARD)
        assert array.dtype == np.uint8
        assert array.tolist() == BOARD.grid.tolist()
        assert not array.flags.writeable
        assert np.shares_memory(array, BOARD.cells)
        assert np.array([BOARD, BOARD]).shape == (2, 4, 4)

    def test_copies_and_types(self) -> None:
        copied = np.array(BOARD)
        copied[0, 0] = 4
        assert BOARD[0, 0] == 1
        assert np.asarray(BOARD, dtype=np.int64).dtype == np.int64
        assert np.asarray(BOARD, copy=False).tolist() == BOARD.grid.tolist()
        with pytest.raises(ValueError, match="copy"):
            np.asarray(BOARD, dtype=float, copy=False)


class Grid(HTMLParser):
    """Reads the table back: rows of (text, bold, style)."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, bool, str]]] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append(("", False, dict(attrs)["style"] or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.rows[-1][-1] = (data, "b" in self.open, self.rows[-1][-1][2])


class TestDrawing:
    @pytest.mark.parametrize("shape", ["2x2", "1x5", "3x2", "6x6"])
    def test_digits_and_boxes(self, shape: str) -> None:
        geometry = Geometry.parse(shape)
        cells = full_grid(geometry, 1).ravel()
        cells[::3] = 0
        board = Board(cells, geometry)
        drawn = Grid(board._repr_html_()).rows
        empty, line = ("0", str(board).split(",")) if geometry.n > 35 else (".", [*str(board)])
        assert [text or empty for row in drawn for text, _, _ in row] == line
        assert all(bold == bool(text) for row in drawn for text, bold, _ in row)
        for r, row in enumerate(drawn):
            for c, (_, _, style) in enumerate(row):
                assert ("border-top:2px" in style) == (r > 0 and r % geometry.box_rows == 0)
                assert ("border-left:2px" in style) == (c > 0 and c % geometry.box_columns == 0)

    def test_clues_of_another_board_are_bold(self) -> None:
        full = full_grid(Geometry(2, 2), 1).ravel().astype(np.uint8)
        drawn = Grid(draw(Geometry(2, 2), full, BOARD.cells > 0, "a caption"))
        bold = [(r, c) for r in range(4) for c in range(4) if drawn.rows[r][c][1]]
        assert bold == [(0, 0), (1, 1), (2, 2)]

    def test_it_suits_every_theme(self) -> None:
        """It is whole in itself, and has no colour of its own."""
        page = BOARD._repr_html_()
        assert not re.search(r"color|#|rgb|<style|<script|class=|src=|href=", page)

    def test_given_candidates_are_not_hidden(self) -> None:
        assert "candidates" not in BOARD._repr_html_()
        board = Board(BOARD.cells, candidates=[15] * 16)
        assert "Given candidates are not drawn." in board._repr_html_()


@pytest.mark.parametrize(
    ("board", "words"),
    [
        (BOARD, "a 4x4 board with 3 clues"),
        (parse("1" + "." * 63, "2x4"), "an 8x8 board with 1 clue"),
        (Board([0] * 16, candidates=[1] * 16), "a 4x4 board with 0 clues and given candidates"),
    ],
)
def test_in_words(board: Board, words: str) -> None:
    assert board.describe() == words
