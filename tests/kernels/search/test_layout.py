"""How boards are packed: every cell has a bit of its own, and masks hold what they should."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.kernels.bits import ones
from gpusudoku.kernels.search.layout import Layout

SHAPES = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 5), (5, 1), (2, 3), (3, 2), (3, 3), (2, 5), (2, 6)]
SHAPES += [(6, 2), (4, 4), (2, 8), (3, 7), (5, 5), (4, 8), (6, 6), (7, 9), (9, 7), (1, 63)]
SHAPES += [(8, 8), (4, 16), (16, 4), (2, 32), (1, 64), (64, 1)]

every_shape = pytest.mark.parametrize(
    "layout", [Layout(*shape) for shape in SHAPES], ids=lambda at: f"{at.box_rows}x{at.box_columns}"
)


def planes(layout: Layout, words: np.ndarray) -> np.ndarray:
    """Bool (..., W * 64): the bits of the words along the last axis, by index."""
    bits = words[..., None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    return bits.reshape(*words.shape[:-1], -1).astype(bool)


@every_shape
def test_every_cell_has_a_slot_of_its_own(layout: Layout) -> None:
    indices = layout.index_of
    assert len(indices) == layout.n**2
    assert len(set(indices.tolist())) == layout.n**2
    assert indices.min() >= 0
    assert indices.max() < 64 * layout.plane_words


@every_shape
def test_the_cells_fill_the_words_that_the_masks_say(layout: Layout) -> None:
    filled = [0] * layout.plane_words
    for index in layout.index_of.tolist():
        filled[index // 64] |= 1 << index % 64
    assert filled[-1] == int(layout.last_word)
    assert all(word == int(layout.whole_word) for word in filled[:-1])


@every_shape
def test_words_hold_whole_rows_and_as_many_as_fit(layout: Layout) -> None:
    n, rows, per_word = layout.n, layout.box_rows, layout.rows_per_word
    assert 1 <= per_word <= n
    assert per_word * n <= 64
    if rows * n <= 64:  # a band fits
        assert per_word % rows == 0
        assert per_word == n or (per_word + rows) * n > 64
    else:
        assert per_word == n or (per_word + 1) * n > 64
    for row in range(n):
        first = 64 * (row // per_word) + row % per_word * n
        assert layout.index_of[row * n : row * n + n].tolist() == list(range(first, first + n))


@every_shape
def test_the_parts_of_a_board_follow_one_another(layout: Layout) -> None:
    assert layout.fixed == layout.n * layout.plane_words
    assert layout.pending == layout.fixed + layout.plane_words
    assert layout.words == layout.pending + 1


@every_shape
def test_keep_is_the_plane_without_the_peers(layout: Layout) -> None:
    geometry = Geometry(layout.box_rows, layout.box_columns)
    kept = planes(layout, layout.nonpeers)
    assert layout.nonpeers.shape == (64 * layout.plane_words, layout.plane_words)
    cells = np.zeros(64 * layout.plane_words, bool)
    cells[layout.index_of] = True
    assert not kept[:, ~cells].any(), "bits that stand for no cell"
    assert not kept[~cells].any(), "indices that are no cell's"
    of_cells = kept[layout.index_of][:, layout.index_of]
    for cell, peers in enumerate(geometry.peers):
        expected = np.ones(geometry.cells, bool)
        expected[peers] = False
        assert (of_cells[cell] == expected).all(), geometry.cell_name(cell)
        assert of_cells[cell, cell]


def test_nine_by_nine_is_packed_as_drawn() -> None:
    layout = Layout(3, 3)
    assert (layout.rows_per_word, layout.plane_words, layout.words) == (6, 2, 21)
    index = layout.index_of.reshape(9, 9)
    assert index[0, 0] == 0
    assert index[2, 8] == 26
    assert index[3, 0] == 27
    assert index[5, 8] == 53
    assert index[6, 0] == 64


def test_sixty_four_digits_use_whole_words() -> None:
    layout = Layout(8, 8)
    assert (layout.rows_per_word, layout.plane_words) == (1, 64)
    assert int(layout.whole_word) == int(layout.last_word) == 2**64 - 1
    assert layout.index_of[-1] == 64 * 64 - 1


def test_ones() -> None:
    for count in range(65):
        assert ones(count) == 2**count - 1
        assert ones(count).dtype == np.uint64
