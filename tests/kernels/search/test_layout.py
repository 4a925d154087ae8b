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


@pytest.mark.parametrize(
    "shape",
    [(1, 1), (2, 1), (1, 5), (2, 3), (3, 3), (6, 2), (4, 4), (5, 5), (6, 6), (9, 7), (8, 8)],
    ids=str,
)
def test_masks_are_the_plane_without_the_peers(shape: tuple[int, int]) -> None:
    layout, geometry = Layout(*shape), Geometry(*shape)
    kept = np.unpackbits(layout.nonpeers.view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert kept.shape == (64 * layout.plane_words, 64 * layout.plane_words)
    cells = np.zeros(len(kept), bool)
    cells[layout.index_of] = True
    assert cells.sum() == geometry.cells
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
