"""How boards are packed: every cell has a bit of its own, and masks hold what they should."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.kernels.search import few
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier
from tests.boards import puzzle, spoilt

SHAPES = [(1, 1), (2, 1), (2, 2), (1, 5), (2, 3), (3, 3), (2, 5), (6, 2), (4, 4), (3, 7), (5, 5)]
SHAPES += [(4, 8), (6, 6), (9, 7), (8, 8), (1, 64), (64, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_cell_has_a_bit_of_its_own(shape: tuple[int, int]) -> None:
    layout = Layout(*shape)
    n, per_word = layout.n, layout.rows_per_word
    for row in range(n):
        first = 64 * (row // per_word) + row % per_word * n
        assert layout.index_of[row * n : row * n + n].tolist() == list(range(first, first + n))
    filled = [0] * layout.plane_words
    for index in layout.index_of.tolist():
        filled[index // 64] |= 1 << index % 64
    assert filled == [int(layout.whole_word)] * (len(filled) - 1) + [int(layout.last_word)]
    # Words hold whole rows, as many as fit, and whole bands if one fits.
    assert 1 <= per_word <= n
    step = layout.box_rows if layout.box_rows * n <= 64 else 1
    assert per_word % step == 0
    assert per_word * n <= 64
    assert per_word == n or (per_word + step) * n > 64
    # The parts of a board follow one another.
    assert layout.fixed == n * layout.plane_words
    assert layout.words == layout.pending + 1 == layout.fixed + layout.plane_words + 1


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if 64 not in shape], ids=str)
def test_masks_are_the_plane_without_the_peers(shape: tuple[int, int]) -> None:
    layout, geometry = Layout(*shape), Geometry(*shape)
    kept = np.unpackbits(layout.nonpeers.view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert kept.shape == (64 * layout.plane_words, 64 * layout.plane_words)
    cells = np.zeros(len(kept), bool)
    cells[layout.index_of] = True
    assert not kept[:, ~cells].any(), "bits that stand for no cell"
    assert not kept[~cells].any(), "indices that are no cell's"
    expected = np.ones((geometry.cells, geometry.cells), bool)
    for cell, peers in enumerate(geometry.peers):
        expected[cell, peers] = False
    assert (kept[layout.index_of][:, layout.index_of] == expected).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("shape", ["2x3", "3x3"])
def test_a_few_boards_come_out_as_many_do(shape: str) -> None:
    """The first boards of a process are not compiled for."""
    settings = SearchSettings()
    boards = [puzzle(shape, clues, clues) for clues in (0, 9, 20, 30)]
    boards += [spoilt(boards[-1], 1), Board([1, 1, *boards[0].cells[2:]], boards[0].geometry)]
    for name in "pack", "expand":
        getattr(few, name).cache_clear()
    roots = Frontier.of(boards)
    found = roots.simplified(settings)
    many = Frontier.of(boards * few.FEW)
    assert (many.boards[: len(boards)] == roots.boards).all()
    again = many.simplified(settings)
    assert 4 <= len(found) < len(boards)
    assert (again.boards[: len(found)] == found.boards).all()
