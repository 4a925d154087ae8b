"""Boards with given candidates: what is allowed, what follows, and how they are shown."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError

SMALL = Geometry(2, 2)
GEOMETRIES = [Geometry(1, 1), SMALL, Geometry(2, 3), Geometry(3, 3), Geometry(6, 6), Geometry(8, 8)]
ALL = 0b1111


def with_masks(changes: dict[int, int], cells: dict[int, int] | None = None) -> Board:
    """Make a 4x4 board of which some cells are restricted, and some filled."""
    cells = cells or {}
    filled = [cells.get(cell, 0) for cell in range(16)]
    return Board(filled, SMALL, candidates=[changes.get(cell, ALL) for cell in range(16)])


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """Fill some cells and give the others any candidates, filled ones others beside theirs."""
    geometry = draw(st.sampled_from(GEOMETRIES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    digits = rng.random((geometry.cells, geometry.n)) < 0.5
    cells = np.where(rng.random(geometry.cells) < 0.3, rng.integers(1, geometry.n + 1), 0)
    digits[np.flatnonzero(cells), cells[cells > 0] - 1] = True
    masks = [sum(1 << int(d) for d in np.flatnonzero(row)) for row in digits]
    return Board(cells, geometry, candidates=np.array(masks, np.uint64))


def test_clues_and_given_candidates_both_exclude() -> None:
    assert Board.empty(SMALL).given_candidates is None
    board = with_masks({1: 0b0011, 5: 0b1010, 15: 0}, cells={0: 1})
    counts = board.candidate_counts.reshape(4, 4).tolist()
    assert board.candidates.dtype == np.uint64
    assert board.candidates[[0, 1, 5, 10, 15]].tolist() == [0, 0b0010, 0b1010, ALL, 0]
    assert counts == [[0, 1, 3, 3], [3, 2, 4, 4], [3, 4, 4, 4], [3, 4, 4, 0]]
    assert (board.clues, board.empty_cells, board.search_space) == (1, 15, 0)
    assert with_masks({0: 0b0110, 1: 0b1000}).search_space == 2 * 4**14


def test_the_mask_of_a_filled_cell_is_its_digit() -> None:
    board = with_masks({0: 0b0101}, cells={0: 1, 1: 2})
    assert board.given_candidates is not None
    assert board.given_candidates[:3].tolist() == [0b0001, 0b0010, ALL]
    assert not board.given_candidates.flags.writeable
    assert not board.candidates.flags.writeable
    assert board == with_masks({0: 0b0001}, cells={0: 1, 1: 2})


def test_all_bits_of_64_digits() -> None:
    wide = Geometry(8, 8)
    masks = [1, 2**64 - 1] * (wide.cells // 2)
    for given_masks in (masks, np.array(masks, np.uint64)):
        board = Board([0] * wide.cells, wide, candidates=given_masks)
        assert board.candidates.tolist() == masks


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ([ALL] * 15, "candidates for 15 cells, but the board has 16"),
        ([0.5] * 16, "candidates must be integers"),
        ([True] * 16, "candidates must be integers"),
        ([ALL] * 15 + [16], "r4c4 has the candidates 0x10: only the lowest 4 bits are digits"),
        ([-1] + [ALL] * 15, "r1c1 has the candidates -0x1: only the lowest 4 bits are digits"),
        ([ALL] * 5 + [2**64 - 1] * 11, "r2c2 has the candidates 0xffffffffffffffff: only"),
        ([ALL, 0b1011] + [ALL] * 14, "r1c2 holds 3, which is not among its candidates"),
    ],
)
def test_bad_masks(masks: list[int], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Board([0, 3] + [0] * 14, SMALL, candidates=masks)
    assert str(caught.value).startswith(message)


def test_equality_and_hash() -> None:
    def made() -> list[Board]:
        restricted = [with_masks({}), with_masks({0: 0b0011}), with_masks({1: 0b0011})]
        return [Board.empty(SMALL), *restricted, with_masks({0: 0b0011}, cells={5: 2})]

    some = made()
    again = made()
    assert some == again
    assert list(map(hash, some)) == list(map(hash, again))
    assert len({*some, *again}) == len(some)


@given(boards())
def test_pickling(board: Board) -> None:
    for each in (board, Board.empty(board.geometry)):
        assert each.search_space >= 0  # which is kept beside the cells
        again = pickle.loads(pickle.dumps(each))
        assert again == each
        assert not again.cells.flags.writeable


@given(boards())
def test_transposed_and_relabelled(board: Board) -> None:
    n = board.n
    mirrored = board.transposed()
    assert (mirrored.candidates.reshape(n, n) == board.candidates.reshape(n, n).T).all()
    assert mirrored.given_candidates is not None
    assert mirrored.transposed() == board
    digits = 1 + np.random.default_rng(board.clues).permutation(n)
    changed = board.relabelled(digits.tolist())
    for before, after in zip(board.candidates.tolist(), changed.candidates.tolist(), strict=True):
        expected = {digits[d] - 1 for d in range(n) if before >> d & 1}
        assert {d for d in range(n) if after >> d & 1} == expected
    assert changed.relabelled((1 + np.argsort(digits)).tolist()) == board


def test_candidates_in_braces() -> None:
    text = str(with_masks({0: 0b0111, 2: 0b1010, 15: 0}, cells={1: 4}))
    assert text == "{123}{4}{24}" + "{1234}" * 12 + "{}"
    assert repr(with_masks({})) == f"<board with candidates {'{1234}' * 16}, box=2x2>"
    for side, expected in ((4, "{1AG}"), (6, "{1,10,16,36}")):
        box = Geometry(side, side)
        masks = [sum(1 << (d - 1) for d in (1, 10, 16, 36) if d <= box.n)] * box.cells
        assert str(Board([0] * box.cells, box, candidates=masks)) == expected * box.cells
