"""The join's order has every solution once: small boards of many shapes, whole and in pieces."""

from __future__ import annotations

import _thread
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import quick, words
from gpusudoku.contraction.general.graph import Graph
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.orientation import Orientation
from gpusudoku.contraction.general.quick import LOW, JoinOrder
from gpusudoku.contraction.general.words import line_words
from gpusudoku.errors import Interrupted, MismatchError, TooExpensive
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.numbers import (
    MISSED,
    STOPPED,
    TOO_LARGE,
    Found,
    find_terms,
    times,
)
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import after_singles, clues_only
from tests.jobs.test_job import wait_until

BOARDS = [
    ("2x2", 0, 0), ("2x2", 1, 3), ("1x4", 2, 1), ("4x1", 3, 2), ("1x5", 7, 0), ("5x1", 8, 1),
    ("1x6", 16, 2), ("2x3", 8, 1), ("2x3", 9, 2), ("3x2", 9, 3), ("2x4", 24, 1), ("4x2", 26, 2),
    ("3x3", 28, 3), ("2x5", 50, 1), ("3x4", 75, 1),
]  # fmt: skip
"""Shape, clues and seed of boards that the oracle lists."""


def order_of(board: Board, threads: int = 2, **options: Any) -> JoinOrder:
    candidates = after_singles(board) if board.clues else clues_only(board)
    return JoinOrder(Join(candidates, board.geometry, **options), threads)


def keys(rows: NDArray[np.uint8]) -> list[bytes]:
    return [row.tobytes() for row in rows]


@pytest.mark.parametrize(("shape", "clues", "seed"), BOARDS)
def test_every_solution_once(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    wanted = sorted(bytes(row) for row in naive.solutions(board))
    for options in {}, {"symmetric": False}, {"wide": True}:
        order = order_of(board, **options)
        assert order.count == len(wanted)
        assert sorted(keys(order.at(np.arange(order.count)))) == wanted


@pytest.mark.parametrize(("shape", "clues", "seed"), [("2x3", 8, 1), ("2x4", 24, 1), ("1x5", 7, 0)])
def test_numbers_in_any_order_and_however_the_sum_is_cut(
    monkeypatch: pytest.MonkeyPatch, shape: str, clues: int, seed: int
) -> None:
    board = puzzle(shape, clues, seed)
    order = order_of(board, 1)
    rows = order.at(np.arange(order.count))
    mixed = np.random.default_rng(1).integers(0, order.count, 500)
    assert (order.at(mixed) == rows[mixed]).all()
    assert order.at(mixed[:0]).shape == (0, board.geometry.cells)
    assert (order.at(np.array([order.count - 1], object)) == rows[-1:]).all()
    monkeypatch.setattr(quick, "CALL_NUMBERS", 3)
    for steps in 1, 50:
        monkeypatch.setattr(quick, "PIECE_STEPS", steps)
        cut = order_of(board, 3)
        assert len(cut._pieces.first) > 1 or shape == "1x5"
        assert (cut.at(mixed) == rows[mixed]).all()


def test_the_empty_board_of_6x6() -> None:
    """Every grid of it comes once: each member of an orbit, with its own solutions."""
    order = order_of(Board.empty(Geometry(2, 3)))
    assert order.count == 28_200_960
    numbers = np.random.default_rng(2).choice(order.count, 20_000, replace=False)
    rows = order.at(numbers)
    assert len(set(keys(rows))) == len(rows)
    assert (np.sort(rows[:, Geometry(2, 3).units], axis=2) == np.arange(1, 7)).all()
    first = np.bincount(rows[:, 0], minlength=7)[1:]
    assert abs(first - len(rows) / 6).max() < 300


def test_numbers_beyond_a_word() -> None:
    """Python's integers, which are used where counts pass 2^63, lead to the same solutions."""
    order = order_of(puzzle("1x5", 7, 0))
    rows = order.at(np.arange(order.count))
    order._dtype = np.dtype(object)
    order._starts, order._ends = order._starts.astype(object), order._ends.astype(object)
    order._solutions = order._solutions.astype(object)
    assert (order.at(np.arange(order.count)) == rows).all()


def test_a_product_beyond_a_word_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    one, most = np.uint64(1), np.uint64((1 << 63) - 1)
    assert times(one, most) == most
    assert times(np.uint64(1 << 32), np.uint64(1 << 31)) == 0
    assert times(np.uint64(0), np.uint64(7)) == 0
    board = puzzle("2x3", 8, 1)
    order = order_of(board)
    monkeypatch.setattr(quick, "find_terms", lambda *_: TOO_LARGE)
    with pytest.raises(TooExpensive, match="the products of this board's sum pass 64 bits"):
        order.at(np.arange(3))


def test_multiplicities_beyond_a_word_are_noticed() -> None:
    board = puzzle("2x3", 8, 1)
    join = Join(after_singles(board), board.geometry)
    way = join.orientation
    assert way is not None
    way.summed = [replace(line, multiplicity=line.multiplicity << 31) for line in way.summed]
    with pytest.raises(TooExpensive, match="the products of this board's sum pass 64 bits"):
        JoinOrder(join)


class TestTerms:
    """One branch, whose multiplicities are multiplied so that its sum passes two words."""

    @pytest.fixture
    def way(self) -> Orientation:
        board = puzzle("2x4", 20, 1)
        way = Join(after_singles(board), board.geometry, symmetric=False).orientation
        assert way is not None
        return way

    def found(
        self, way: Orientation, branch: int, numbers: list[int], shift: int = 0, stop: int = 0
    ) -> tuple[int, Found]:
        """What ``find_terms`` says of numbers in a branch, and what it found."""
        index = way.index
        multiplicity = index.multiplicity.copy()
        multiplicity[index.begin[-2] :] <<= np.uint64(shift)
        words = np.array([[each & LOW, each >> 64] for each in numbers], np.uint64)
        found = Found(
            entries=np.zeros((len(numbers), len(way.summed)), np.int64),
            totals=np.zeros((len(numbers), len(way.crossing)), np.int64),
            rest=np.zeros(len(numbers), np.uint64),
        )
        status = find_terms(
            index._replace(multiplicity=multiplicity), *way.scratch(),
            Branches(*(field[branch : branch + 1] for field in way.branches)),
            np.array([0, len(numbers)]), words, found, np.array([stop]),
        )  # fmt: skip
        return status, found

    def largest(self, way: Orientation) -> tuple[int, int]:
        """The branch with the largest sum, and this."""
        none = np.zeros(0, np.uint64)
        sums, _ = way.sum(way.branches, none, way.scratch(), np.zeros(1, np.int64))
        branch = int(sums[:, 0].argmax())
        return branch, int(sums[branch, 0])

    def test_numbers_of_two_words(self, way: Orientation) -> None:
        branch, whole = self.largest(way)
        shift = 66 - whole.bit_length()
        numbers = [*range(whole)]
        status, few = self.found(way, branch, numbers)
        assert status == 0
        assert len({row.tobytes() for row in few.entries}) > 2
        over = [7919 * k % (1 << shift) for k in numbers]
        many = [(k << shift) + rest for k, rest in zip(numbers, over, strict=True)]
        assert many[-1] >> 64
        status, found = self.found(way, branch, many, shift)
        assert status == 0
        assert (found.entries == few.entries).all()
        assert (found.totals == few.totals).all()
        wanted = [(int(r) << shift) + k for r, k in zip(few.rest, over, strict=True)]
        assert found.rest.tolist() == wanted

    def test_a_number_beyond_the_sum_is_an_error(self, way: Orientation) -> None:
        branch, whole = self.largest(way)
        assert self.found(way, branch, [0, whole - 1])[0] == 0
        assert self.found(way, branch, [0, whole])[0] == MISSED
        assert self.found(way, branch, [1 << 64])[0] == MISSED

    def test_it_stops(self, way: Orientation) -> None:
        assert self.found(way, 0, [0], stop=1)[0] == STOPPED


def test_a_number_that_is_missed_is_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    order = order_of(puzzle("2x3", 8, 1))
    monkeypatch.setattr(quick, "find_terms", lambda *_: MISSED)
    with pytest.raises(MismatchError, match="this is a bug"):
        order.at(np.arange(3))


def test_two_threads_that_are_the_first_list_the_words_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order, calls = order_of(puzzle("2x3", 8, 1)), []
    wanted = order_of(puzzle("2x3", 8, 1)).at(np.arange(5))

    def slow(join: Join) -> Any:
        calls.append(join)
        time.sleep(0.05)
        return line_words(join)

    monkeypatch.setattr(quick, "line_words", slow)
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(order.at, np.arange(5)) for _ in range(2)]
        assert all((each.result() == wanted).all() for each in found)
    assert len(calls) == 1


def test_equal_lines_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def graph(*given: Any) -> Graph:
        made.append(given)
        return Graph(*given)

    monkeypatch.setattr(words, "Graph", graph)
    geometry = Geometry(2, 2)
    line_words(Join(clues_only(Board.empty(geometry)), geometry))
    assert len(made) == 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["find_terms", "find_crossing"])
def test_an_interrupt_stops_the_numbers(
    monkeypatch: pytest.MonkeyPatch, name: str, threads: int
) -> None:
    order = order_of(puzzle("2x3", 8, 1), threads)
    kernel, ended = getattr(quick, name), []

    def waiting(*given: Any) -> Any:
        _thread.interrupt_main()
        wait_until(lambda: given[-1][0] != 0)
        status = kernel(*given)
        ended.append(status)
        return status

    monkeypatch.setattr(quick, name, waiting)
    with pytest.raises(Interrupted):
        order.at(np.arange(3))
    wait_until(lambda: bool(ended))
    assert ended == [STOPPED if name == "find_terms" else None]


def test_an_interrupt_stops_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    join, ended = Join(clues_only(Board.empty(Geometry(2, 3))), Geometry(2, 3)), []
    way = join.orientation
    assert way is not None
    sum_of = way.sum

    def waiting(*given: Any) -> Any:
        _thread.interrupt_main()
        wait_until(lambda: given[-1][0] != 0)
        sums, terms = sum_of(*given)
        ended.append(terms)
        return sums, terms

    monkeypatch.setattr(way, "sum", waiting)
    with pytest.raises(Interrupted):
        JoinOrder(join)
    wait_until(lambda: bool(ended))
    assert ended == [-1]


def test_no_solution() -> None:
    geometry = Geometry(2, 2)
    candidates = clues_only(Board.empty(geometry)).copy()
    candidates[-1] = 0
    assert JoinOrder(Join(candidates, geometry)).count == 0
