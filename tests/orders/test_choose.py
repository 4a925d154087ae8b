"""Who numbers solutions: the same numbers whatever counts and searches, and however many."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import Board, Geometry, Options, Solutions, collection
from gpusudoku.board.batch import sort_keys
from gpusudoku.board.cells import digit_masks
from gpusudoku.errors import InputError
from gpusudoku.listing import solutions
from gpusudoku.orders import choose
from gpusudoku.orders.ascending import Ascending
from gpusudoku.orders.few import Few
from gpusudoku.orders.nine import QuickNine
from gpusudoku.orders.shares import counted_shares
from tests import naive
from tests.boards import puzzle, streamed
from tests.orders.chances import assert_uniform
from tests.orders.short import short_lists

BOARD = puzzle("3x3", 28, 1)
ROWS = np.array(list(naive.solutions(BOARD)), np.uint8)
PART = Board([1, 2, 3, 4, *[0] * 12])
"""A board of 4x4 cells with twelve solutions."""


def keys(rows: NDArray[np.uint8]) -> list[bytes]:
    return [row.tobytes() for row in rows]


class TestNine:
    """A 9x9 board whose solutions are few for the tests, and not for the program."""

    @pytest.fixture
    def whole(self, monkeypatch: pytest.MonkeyPatch) -> Solutions:
        short_lists(monkeypatch)
        found = solutions(BOARD, device="cpu", jobs=2)
        assert isinstance(found._orders.quick, QuickNine)
        assert isinstance(found._orders.ascending, Ascending)
        return found

    def test_both_orders_have_every_solution_once(self, whole: Solutions) -> None:
        assert whole.count == len(ROWS)
        quick = np.concatenate(list(whole.blocks()))
        assert sorted(keys(quick)) == keys(ROWS)
        assert (np.asarray(whole) == ROWS).all()
        text = b"".join(whole.lines())
        assert text.decode().split() == ["".join(map(str, row)) for row in quick.tolist()]

    def test_parts(self, whole: Solutions) -> None:
        quick, count = np.concatenate(list(whole.blocks())), len(ROWS)
        ends = [count * part // 7 for part in range(8)]
        parts = [np.concatenate(list(whole.blocks(a, b))) for a, b in pairwise(ends)]
        assert (np.concatenate(parts) == quick).all()
        assert list(whole.blocks(5, 5)) == []
        lines = b"".join(whole.lines(100, 103)).split()
        assert lines == [b"".join(b"%d" % d for d in row) for row in quick[100:103]]

    @pytest.mark.parametrize("ends", [(-1, 5), (5, 4), (0, len(ROWS) + 1), (0.5, 1), (0, "9")])
    def test_wrong_parts(self, whole: Solutions, ends: tuple[Any, Any]) -> None:
        with pytest.raises(InputError, match=rf"expected two numbers from 0 to {len(ROWS)}$"):
            whole.blocks(*ends)

    def test_shares(self, whole: Solutions) -> None:
        wanted = Few(ROWS, 9).shares()
        assert (whole.shares() == wanted).all()

    def test_threads_do_not_matter(self, whole: Solutions) -> None:
        alone = solutions(BOARD, device="cpu", jobs=1)
        assert (np.concatenate(list(alone.blocks())) == np.concatenate(list(whole.blocks()))).all()
        assert (alone.sample(300, seed=3) == whole.sample(300, seed=3)).all()
        assert (alone.shares() == whole.shares()).all()
        assert all(alone[k] == whole[k] for k in range(0, len(ROWS), 20))


@pytest.mark.parametrize("most", [0, 10**9])
def test_shares_of_a_board_that_is_not_contracted(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """They are visited, or each is counted."""
    short_lists(monkeypatch)
    monkeypatch.setattr(choose, "MOST_VISITED", most)
    cell = int(np.flatnonzero((ROWS[0] != ROWS).any(axis=0))[0])
    digit = int(ROWS[0, cell])
    candidates = np.where(BOARD.cells > 0, digit_masks(BOARD.cells), BOARD.candidates)
    candidates[cell] &= ~digit_masks(ROWS[0])[cell]
    board = Board(BOARD.cells, BOARD.geometry, candidates=candidates)
    left = ROWS[ROWS[:, cell] != digit]
    assert 5 < len(left) < len(ROWS)
    assert (solutions(board, device="cpu").shares() == Few(left, 9).shares()).all()


def test_counts_give_the_same_shares() -> None:
    board = puzzle("3x3", 28, 7)
    found = solutions(board, device="cpu")
    counted = counted_shares(board, Options(), found._orders._engine)
    assert (counted == found.shares()).all()


def test_few_solutions_are_listed() -> None:
    found = solutions(BOARD, device="cpu")
    assert isinstance(found._orders.quick, Few)
    assert (np.concatenate(list(found.blocks())) == ROWS).all()


def test_the_number_of_solutions_decides_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was known before or not."""
    monkeypatch.setattr(choose, "LEAF", 5)
    for most, kind in [(len(ROWS), Few), (len(ROWS) - 1, QuickNine)]:
        monkeypatch.setattr(choose, "ONE_ORDER", most)
        for known in (False, True):
            found = solutions(BOARD, device="cpu")
            assert not known or found.count == len(ROWS)
            assert type(found._orders.quick) is kind


@pytest.mark.usefixtures("uncompiled")
def test_boards_that_are_not_contracted_are_in_ascending_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short_lists(monkeypatch)
    monkeypatch.setattr(choose, "contracted", lambda board: None)
    board = puzzle("2x2", 1, 0)
    rows = np.array(list(naive.solutions(board)), np.uint8)
    found = solutions(board, device="cpu")
    assert isinstance(found._orders.quick, Ascending)
    assert (np.concatenate(list(found.blocks())) == rows).all()
    picked = found.sample(40, seed=1)
    assert set(keys(picked)) <= set(keys(rows))


@pytest.mark.usefixtures("uncompiled")
class TestSamples:
    def test_a_longer_sample_begins_as_a_shorter_one(self) -> None:
        found = solutions(PART, device="cpu")
        whole = found.sample(200, seed=9)
        assert whole.shape == (200, 16)
        assert whole.dtype == np.uint8
        for n in (0, 1, 17):
            assert (found.sample(n, seed=9) == whole[:n]).all()
        assert (found.sample(200, seed=10) != whole).any()
        assert (found.sample(50) != found.sample(50)).any()
        blocks = list(found.sample_blocks(200, seed=9))
        assert (np.concatenate(blocks) == whole).all()

    def test_distinct(self) -> None:
        found = solutions(PART, device="cpu")
        picked = keys(found.sample(12, seed=5, distinct=True))
        assert len(set(picked)) == 12
        with_repeats = keys(found.sample(300, seed=5))
        assert list(dict.fromkeys(with_repeats)) == picked
        assert keys(found.sample(4, seed=5, distinct=True)) == picked[:4]
        with pytest.raises(ValueError, match="13 distinct solutions: there are only 12"):
            found.sample(13, distinct=True)

    @pytest.mark.parametrize("n", [-1, 1.5, "7", None, True])
    def test_wrong_sizes(self, n: Any) -> None:
        with pytest.raises(InputError, match="expected an integer from 0 up"):
            solutions(PART, device="cpu").sample_blocks(n)

    def test_wrong_seeds(self) -> None:
        with pytest.raises(InputError, match="seed -1: expected an integer"):
            solutions(PART, device="cpu").sample(3, seed=-1)

    def test_as_many_as_one_likes(self) -> None:
        blocks = solutions(PART, device="cpu").sample_blocks(10**9, seed=1)
        assert sum(len(next(blocks)) for _ in range(3)) > 1000

    @pytest.mark.parametrize("board", [PART, Board.empty(Geometry(2, 2))])
    def test_every_solution_has_the_same_chance(self, board: Board) -> None:
        found = solutions(board, device="cpu")
        known = {key: place for place, key in enumerate(keys(np.asarray(found)))}
        picked = keys(found.sample(40 * found.count, seed=12))
        assert_uniform([known[key] for key in picked], found.count)


def test_samples_of_the_contraction_are_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    found = solutions(BOARD, device="cpu")
    known = {key: place for place, key in enumerate(keys(ROWS))}
    picked = keys(found.sample(40 * len(ROWS), seed=12))
    assert_uniform([known[key] for key in picked], len(ROWS))


@pytest.mark.parametrize("kind", [Few, QuickNine])
def test_samples_of_a_million_solutions_are_uniform(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a thousand runs of ranks; and from one to the next, and the one after that."""
    rows = np.asarray(solutions(collection.load("2d"), device="cpu"))
    assert len(rows) == collection.entry("2d").count > 10**6
    if kind is Few:
        monkeypatch.setattr(choose, "ONE_ORDER", 1 << 20)
    found = solutions(collection.load("2d"), device="cpu")
    drawn = found.sample(200_000, seed=12)
    assert type(found._orders.quick) is kind
    ranks = np.searchsorted(sort_keys(rows), sort_keys(drawn))
    assert (rows[ranks] == drawn).all()
    assert_uniform(ranks * 1000 // len(rows), 1000)
    for lag in (1, 2):
        tenths = ranks * 10 // len(rows)
        assert_uniform(tenths[:-lag] * 10 + tenths[lag:], 100)


def test_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of a board that is transposed, and of one with other digits."""
    short_lists(monkeypatch)
    shares = solutions(BOARD, device="cpu").shares()
    turned = solutions(BOARD.transposed(), device="cpu").shares()
    assert (turned.reshape(9, 9, 9).transpose(1, 0, 2).reshape(81, 9) == shares).all()
    digits = [3, 1, 2, 9, 8, 7, 4, 6, 5]
    others = solutions(BOARD.relabelled(digits), device="cpu").shares()
    assert (others[:, np.array(digits) - 1] == shares).all()


def test_a_full_list_of_thirty_thousand() -> None:
    """Every number and every rank, in both orders."""
    board = puzzle("3x3", 24, 3)
    rows = np.array(sorted(streamed(board, device="cpu")), np.uint8)
    assert len(rows) == 30_014
    found = solutions(board, device="cpu")
    assert (np.asarray(found) == rows).all()
    order = found._orders.ascending
    mixed = np.random.default_rng(0).permutation(len(rows))
    assert (order.at(mixed) == rows[mixed]).all()
    assert (order.at(np.arange(len(rows))) == rows).all()
    assert [order.rank(row) for row in rows] == list(range(len(rows)))
    assert (found.shares() == Few(rows, 9).shares()).all()


def test_a_search_alone_numbers_boards_with_candidates() -> None:
    board = Board(BOARD.cells, candidates=[0b111111110, *[511] * 80])
    rows = [row for row in ROWS.tolist() if row[0] != 1]
    found = solutions(board, device="cpu")
    assert np.asarray(found).tolist() == rows
