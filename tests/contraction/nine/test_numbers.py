"""The contraction order: every number has a solution of its own, the same with any threads.

``Products`` writes the same solutions, in the same order, as products of words.
"""

from __future__ import annotations

import threading
from contextlib import closing
from itertools import islice
from random import Random
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import collection
from gpusudoku.contraction.nine import order as nine_order
from gpusudoku.contraction.nine.order import NineOrder, Products
from tests.boards import puzzle
from tests.contraction.nine.counted import (
    GRIDS,
    NINE,
    as_texts,
    assert_solutions,
    board_of,
    contracted,
    order_of,
    searched,
)

FEW = [(23, 9), (24, 0), (24, 3)]
"""Clues and seeds of boards with thousands of solutions; one has a symmetry."""
MANY = [0, 2, 11, 14, 17]
"""Clues of boards with up to 6.7e21 solutions, many or few symmetries."""
CHECK_SUMS = {"empty": 2578832199, "top-band-twisted": 3526596738, "1a": 368641612,
              "1f": 816199637, "2c": 3685146566}  # fmt: skip
"""Boards of the collection, and the check sum of some of their solutions."""


def spread(count: int, numbers: int) -> list[int]:
    """Draw the first number, the last, and others from all between, evenly, but in disorder."""
    steps = (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, numbers - 1))
    return [0, count - 1, *(step * count >> 64 for step in steps)]


def written(order: NineOrder, *part: int, threads: int | None = None) -> NDArray[np.uint8]:
    """Write solutions, all blocks in one array."""
    return np.concatenate([*Products(order).rows(*part, threads=threads)])


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks end within cells, and places be looked up a few at a time."""
    monkeypatch.setattr(nine_order, "BLOCK", 97)
    monkeypatch.setattr(nine_order, "FIRST_PLACES", 2)
    monkeypatch.setattr(nine_order, "MAX_PLACES", 4)


@pytest.mark.parametrize(("clues", "seed"), FEW)
def test_every_solution_has_one_number(clues: int, seed: int) -> None:
    """As many as the search finds, all different, all solutions: so these are all.

    Also of the transposed board, and without symmetries.
    """
    board = puzzle(NINE, clues, seed)
    order = order_of(board)
    assert order.count == searched(board)
    grids = order.at(range(order.count))
    assert_solutions(grids, board)
    assert (written(order, threads=2) == grids).all()
    wide = order_of(board, wide=True)
    assert (wide.at(range(order.count)) == grids).all()
    plain = order_of(board, symmetric=False)
    assert (as_texts(plain.at(range(order.count))) == as_texts(grids)).all()
    others = order_of(board.transposed()).at(range(order.count))
    turned = others.reshape(-1, 9, 9).swapaxes(1, 2).reshape(-1, 81)
    assert (as_texts(turned) == as_texts(grids)).all()


@pytest.mark.parametrize("name", CHECK_SUMS)
def test_the_order_does_not_change(name: str) -> None:
    """A number that was kept leads to the same solution again."""
    order = order_of(board_of(0) if name == "empty" else collection.load(name))
    assert crc32(order.at(spread(order.count, 500)).tobytes()) == CHECK_SUMS[name]


@pytest.mark.parametrize("clues", MANY)
def test_boards_with_many_solutions(clues: int) -> None:
    """Neighbours and company, threads and width do not matter."""
    board = board_of(clues)
    order = order_of(board, threads=2)
    assert order.count == contracted(board)
    numbers = sorted({*spread(order.count, 1000), *range(500)})
    grids = order.at(numbers)
    assert_solutions(grids, board)
    shuffled = np.random.default_rng(1).permutation(len(numbers))
    assert (order.at([numbers[i] for i in shuffled]) == grids[shuffled]).all()
    for i in 0, 1, 77:
        assert (order.at([numbers[i]] * 2) == grids[i]).all()
    for other in order_of(board), order_of(board, wide=True):
        assert (other.at(numbers[::9]) == grids[::9]).all()


def test_digits_are_spread_evenly_over_the_empty_board() -> None:
    """Each of 9 digits in each of 81 cells: chi-square of 8 degrees, 81 times."""
    order = order_of(board_of(0), threads=2)
    draw = Random(3).randrange
    grids = order.at([draw(GRIDS) for _ in range(20_000)])
    found = np.stack([(grids == digit).sum(axis=0) for digit in range(1, 10)])
    expected = 20_000 / 9
    squares = ((found - expected) ** 2 / expected).sum(axis=0)
    assert squares.max() < 35
    assert 6.5 < squares.mean() < 9.5


def test_numbers_of_any_type_are_taken_but_no_others_than_there_are() -> None:
    order = order_of(puzzle(NINE, 24, 3))
    expected = order.at([5, 3, 8])
    for dtype in np.int64, np.uint64, np.int32, object:
        assert (order.at(np.array([5, 3, 8], dtype)) == expected).all()
    assert order.at([]).shape == (0, 81)
    for made in order, order_of(board_of(0)):
        for wrong in (made.count, -1, 10**30, -(10**30)):
            with pytest.raises(IndexError, match=rf"no solution {wrong}: there are {made.count}"):
                made.at([0, wrong, 1])


def test_boards_with_one_solution_or_none() -> None:
    board = puzzle(NINE, 60, 1)
    order = order_of(board)
    assert order.count == 1
    assert_solutions(order.at([0]), board)
    nothing = NineOrder(np.ones(81, np.uint64))
    assert nothing.count == 0
    assert nothing.at([]).shape == (0, 81)
    with pytest.raises(IndexError, match="no solution 0: there are 0"):
        nothing.at([0])


@pytest.mark.parametrize("clues", [0, 7, 12, 16, 20, 24])
@pytest.mark.usefixtures("small_blocks")
def test_products_are_those_of_the_contraction_order(clues: int) -> None:
    """At the beginning, at the end, and between; as digits and as lines."""
    order = order_of(board_of(clues), 2)
    rng = np.random.default_rng(clues)
    length = min(order.count, 500)
    middle = int(rng.random() * (order.count - length))
    for first in {0, middle, order.count - length}:
        rows = written(order, first, first + length)
        assert (rows == order.at([*range(first, first + length)])).all()
        blocks = Products(order).rows(first, first + length, text=True, threads=2)
        lines = b"".join(block.tobytes() for block in blocks)
        assert lines == b"".join(bytes(row + ord("0")) + b"\n" for row in rows)


@pytest.mark.usefixtures("small_blocks")
def test_members_of_an_orbit_are_relabelled() -> None:
    order = order_of(board_of(0), 2)
    solutions = order.count // 280**2  # of a pair of partitions, about
    for first in (k * solutions // 3 for k in (1, 700, 54_321, 200_000)):
        numbers = range(first, first + 200)
        assert (written(order, first, first + 200) == order.at([*numbers])).all()


@pytest.mark.usefixtures("small_blocks")
def test_threads_change_nothing_and_parts_make_up_the_whole() -> None:
    order = order_of(board_of(22), 2)
    whole = written(order)
    ends = [0, 1, order.count // 3, order.count - 2, order.count]
    assert (written(order, threads=3) == whole).all()
    parts = [written(order, *ends[i : i + 2]) for i in range(4)]
    assert (np.concatenate(parts) == whole).all()
    assert [*Products(order).rows(7, 7)] == []


def test_blocks_stay_as_they_are() -> None:
    found = Products(order_of(board_of(16), 2))
    with closing(found.rows(threads=2)) as blocks:
        some = [*islice(blocks, 3)]
        before = [block.copy() for block in some]
        _ = [*islice(blocks, 12)]
    assert all(len(block) == nine_order.BLOCK and block.flags.c_contiguous for block in some)
    assert all((block == copy).all() for block, copy in zip(some, before, strict=True))


@pytest.mark.parametrize("part", [(-1, 5), (5, 4), (0, 10**9)])
def test_solutions_that_are_not_there_are_an_error_at_once(part: tuple[int, int]) -> None:
    order = order_of(board_of(20))
    with pytest.raises(IndexError, match=f"there are {order.count} solutions"):
        Products(order).rows(*part)


@pytest.mark.parametrize("dropped", [False, True])
def test_threads_end_with_the_generator(dropped: bool) -> None:
    before = set(threading.enumerate())
    blocks = Products(order_of(board_of(0))).rows(threads=3)
    next(blocks)
    assert len(set(threading.enumerate()) - before) == 2
    if dropped:
        del blocks
    else:
        blocks.close()
    assert set(threading.enumerate()) <= before
