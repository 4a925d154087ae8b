"""Boards of other shapes by number: the contraction's order, whole and in parts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gpusudoku import Board, Geometry
from gpusudoku.contraction.general import parts
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.errors import MismatchError, TooExpensive
from gpusudoku.listing import solutions
from gpusudoku.orders import general
from gpusudoku.orders.few import Few
from gpusudoku.orders.general import QuickGeneral, contracted, general_shares
from tests import naive
from tests.boards import puzzle
from tests.orders.chances import assert_uniform
from tests.orders.short import short_lists

BOARD = puzzle("2x3", 8, 1)
ROWS = np.array(list(naive.solutions(BOARD)), np.uint8)
WHOLE = TooExpensive("too expensive to contract: said for a test")


def keys(rows):
    return [row.tobytes() for row in rows]


class TestNumbers:
    """A 6x6 board whose solutions are few for the tests, and not for the program."""

    @pytest.fixture
    def found(self, monkeypatch):
        short_lists(monkeypatch)
        found = solutions(BOARD, device="cpu", jobs=2)
        assert isinstance(found._orders.quick, QuickGeneral)
        return found

    def test_every_solution_once(self, found):
        quick = np.concatenate(list(found.blocks()))
        assert sorted(keys(quick)) == keys(ROWS)
        text = b"".join(found.lines())
        assert text.decode().split() == ["".join(map(str, row)) for row in quick.tolist()]
        split = [np.concatenate(list(found.blocks(*found.part(i, 3)))) for i in (1, 2, 3)]
        assert (np.concatenate(split) == quick).all()

    def test_shares(self, found):
        assert (found.shares() == Few(ROWS, 6).shares()).all()

    def test_samples(self, found):
        known = {key: place for place, key in enumerate(keys(ROWS))}
        assert_uniform(
            [known[key] for key in keys(found.sample(40 * len(ROWS), seed=4))], len(ROWS)
        )
        assert (found.sample(10, seed=4) == found.sample(100, seed=4)[:10]).all()

    def test_threads_and_pickling_do_not_matter(self, found):
        sample = found.sample(50, seed=1)
        assert (solutions(BOARD, device="cpu", jobs=1).sample(50, seed=1) == sample).all()
        again = pickle.loads(pickle.dumps(found))
        assert (again.sample(50, seed=1) == sample).all()


def in_parts(monkeypatch, board):
    """The contraction of a board in parts, of which some are divided further."""
    monkeypatch.setattr(parts, "PART_MAPS", 30)
    monkeypatch.setattr(parts, "TASK_LISTINGS", 1e-3)
    return Parts(board, 1 << 28, WHOLE)


def test_parts_have_every_solution_once(monkeypatch):
    order = QuickGeneral(in_parts(monkeypatch, BOARD), 2)
    assert len(order._parts) > 3
    assert order.count == len(ROWS)
    rows = order.at(np.arange(len(ROWS)))
    assert sorted(keys(rows)) == keys(ROWS)
    mixed = np.random.default_rng(0).permutation(len(ROWS))
    assert (order.at(mixed) == rows[mixed]).all()
    assert (np.concatenate(list(order.rows(3, 40))) == rows[3:40]).all()


def test_another_count_is_a_mismatch():
    join = contracted(BOARD)
    assert QuickGeneral(join, 1, len(ROWS)).count == len(ROWS)
    with pytest.raises(MismatchError, match=f"has {len(ROWS)} solutions, not {len(ROWS) + 1}: "):
        QuickGeneral(join, 1, len(ROWS) + 1)


def test_shares_of_parts_add_up(monkeypatch):
    shares = general_shares(in_parts(monkeypatch, BOARD), BOARD, len(ROWS), 2)
    assert (shares == Few(ROWS, 6).shares()).all()


def test_what_is_contracted(monkeypatch):
    assert isinstance(contracted(Board.empty(Geometry(2, 3))), Join)
    assert contracted(Board.empty(Geometry(3, 3))) is None
    assert contracted(Board([0] * 16, candidates=[15] * 15 + [7])) is None
    monkeypatch.setattr(general, "MOST_SECONDS", -1.0)
    assert contracted(Board.empty(Geometry(2, 3))) is None


@pytest.mark.parametrize("what", ["sample", "shares"])
def test_a_huge_board_is_refused_in_one_line(what):
    """Nothing is begun that would not end."""
    found = solutions(Board.empty(Geometry(4, 4)), device="cpu")
    with pytest.raises(TooExpensive, match=r"^too expensive: .*take about"):
        found.sample(1) if what == "sample" else found.shares()
