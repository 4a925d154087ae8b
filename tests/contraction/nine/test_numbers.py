"""The contraction order: every rank has its own solution, the same with any number of threads.

``NineSolutionWriter`` writes the same solutions in the same order.
"""

from __future__ import annotations

import threading
from contextlib import closing
from itertools import islice, pairwise
from random import Random
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import collection
from gpusudoku.contraction.nine import order as nine_order
from gpusudoku.contraction.nine.order import NineOrder, NineSolutionWriter
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

SMALL_BOARDS = [(23, 9), (24, 0), (24, 3)]
"""Clues and seeds of boards with thousands of solutions; one has a symmetry."""
LARGE_BOARDS = [0, 2, 11, 14, 17]
"""Clues of boards with up to 6.7e21 solutions, with many or few symmetries."""
CHECKSUMS = {"empty": 2578832199, "top-band-twisted": 3526596738, "1a": 368641612,
              "1f": 816199637, "2c": 3685146566}  # fmt: skip
"""The checksum of some solutions of boards of the collection, by name."""


def spread_ranks(count: int, size: int) -> list[int]:
    """Draw the first rank, the last, and others evenly spread between them, in no order."""
    fractions = (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, size - 1))
    return [0, count - 1, *(fraction * count >> 64 for fraction in fractions)]


def written(order: NineOrder, *bounds: int, threads: int | None = None) -> NDArray[np.uint8]:
    """Write all solutions, or those between two ranks, into one array."""
    return np.concatenate([*NineSolutionWriter(order).rows(*bounds, threads=threads)])


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks end within triples, and locate a few blocks at a time."""
    monkeypatch.setattr(nine_order, "BLOCK_SOLUTIONS", 97)
    monkeypatch.setattr(nine_order, "FIRST_LOCATED_BLOCKS", 2)
    monkeypatch.setattr(nine_order, "MAX_LOCATED_BLOCKS", 4)


@pytest.mark.parametrize(("clues", "seed"), SMALL_BOARDS)
def test_every_solution_has_one_rank(clues: int, seed: int) -> None:
    """The grids are distinct solutions, as many as the search finds, so they are all solutions.

    The same holds for the transposed board, and without symmetries.
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
    transposed = order_of(board.transposed()).at(range(order.count))
    transposed_back = transposed.reshape(-1, 9, 9).swapaxes(1, 2).reshape(-1, 81)
    assert (as_texts(transposed_back) == as_texts(grids)).all()


@pytest.mark.parametrize("name", CHECKSUMS)
def test_the_order_does_not_change(name: str) -> None:
    """A rank saved by an earlier version leads to the same solution."""
    order = order_of(board_of(0) if name == "empty" else collection.load(name))
    assert crc32(order.at(spread_ranks(order.count, 500)).tobytes()) == CHECKSUMS[name]


@pytest.mark.parametrize("clues", LARGE_BOARDS)
def test_boards_with_many_solutions(clues: int) -> None:
    """Other ranks of the same call, threads and width do not change a solution."""
    board = board_of(clues)
    order = order_of(board, threads=2)
    assert order.count == contracted(board)
    ranks = sorted({*spread_ranks(order.count, 1000), *range(500)})
    grids = order.at(ranks)
    assert_solutions(grids, board)
    shuffled = np.random.default_rng(1).permutation(len(ranks))
    assert (order.at([ranks[i] for i in shuffled]) == grids[shuffled]).all()
    for i in 0, 1, 77:
        assert (order.at([ranks[i]] * 2) == grids[i]).all()
    for same_order in order_of(board), order_of(board, wide=True):
        assert (same_order.at(ranks[::9]) == grids[::9]).all()


def test_digits_are_spread_evenly_over_the_empty_board() -> None:
    """81 chi-square tests with 8 degrees of freedom, of the digits of each cell."""
    order = order_of(board_of(0), threads=2)
    draw = Random(3).randrange
    grids = order.at([draw(GRIDS) for _ in range(20_000)])
    counts = np.stack([(grids == digit).sum(axis=0) for digit in range(1, 10)])
    expected = 20_000 / 9
    squares = ((counts - expected) ** 2 / expected).sum(axis=0)
    assert squares.max() < 35
    assert 6.5 < squares.mean() < 9.5


def test_ranks_may_have_any_type_and_must_exist() -> None:
    order = order_of(puzzle(NINE, 24, 3))
    expected = order.at([5, 3, 8])
    for dtype in np.int64, np.uint64, np.int32, object:
        assert (order.at(np.array([5, 3, 8], dtype)) == expected).all()
    assert order.at([]).shape == (0, 81)
    for checked in order, order_of(board_of(0)):
        for rank in (checked.count, -1, 10**30, -(10**30)):
            message = rf"no solution {rank}: there are {checked.count}"
            with pytest.raises(IndexError, match=message):
                checked.at([0, rank, 1])


def test_boards_with_at_most_one_solution() -> None:
    board = puzzle(NINE, 60, 1)
    order = order_of(board)
    assert order.count == 1
    assert_solutions(order.at([0]), board)
    empty_order = NineOrder(np.ones(81, np.uint64))
    assert empty_order.count == 0
    assert empty_order.at([]).shape == (0, 81)
    with pytest.raises(IndexError, match="no solution 0: there are 0"):
        empty_order.at([0])


@pytest.mark.parametrize("clues", [0, 7, 12, 16, 20, 24])
@pytest.mark.usefixtures("small_blocks")
def test_products_are_in_contraction_order(clues: int) -> None:
    """At the start, in the middle and at the end; as digits and as lines."""
    order = order_of(board_of(clues), 2)
    rng = np.random.default_rng(clues)
    length = min(order.count, 500)
    middle = int(rng.random() * (order.count - length))
    for start in {0, middle, order.count - length}:
        rows = written(order, start, start + length)
        assert (rows == order.at([*range(start, start + length)])).all()
        blocks = NineSolutionWriter(order).rows(start, start + length, text=True, threads=2)
        lines = b"".join(block.tobytes() for block in blocks)
        assert lines == b"".join(bytes(row + ord("0")) + b"\n" for row in rows)


@pytest.mark.usefixtures("small_blocks")
def test_members_of_an_orbit_are_relabelled() -> None:
    order = order_of(board_of(0), 2)
    pair_solutions = order.count // 280**2  # approximately
    for start in (k * pair_solutions // 3 for k in (1, 700, 54_321, 200_000)):
        ranks = range(start, start + 200)
        assert (written(order, start, start + 200) == order.at([*ranks])).all()


@pytest.mark.usefixtures("small_blocks")
def test_neither_threads_nor_ranges_change_solutions() -> None:
    order = order_of(board_of(22), 2)
    whole = written(order)
    bounds = [0, 1, order.count // 3, order.count - 2, order.count]
    assert (written(order, threads=3) == whole).all()
    chunks = [written(order, start, stop) for start, stop in pairwise(bounds)]
    assert (np.concatenate(chunks) == whole).all()
    assert [*NineSolutionWriter(order).rows(7, 7)] == []


def test_blocks_do_not_share_memory() -> None:
    writer = NineSolutionWriter(order_of(board_of(16), 2))
    with closing(writer.rows(threads=2)) as generator:
        blocks = [*islice(generator, 3)]
        copies = [block.copy() for block in blocks]
        _ = [*islice(generator, 12)]
    for block, copy in zip(blocks, copies, strict=True):
        assert len(block) == nine_order.BLOCK_SOLUTIONS
        assert block.flags.c_contiguous
        assert (block == copy).all()


@pytest.mark.parametrize("bounds", [(-1, 5), (5, 4), (0, 10**9)])
def test_ranks_that_do_not_exist_raise_at_once(bounds: tuple[int, int]) -> None:
    order = order_of(board_of(20))
    with pytest.raises(IndexError, match=f"there are {order.count} solutions"):
        NineSolutionWriter(order).rows(*bounds)


@pytest.mark.parametrize("dropped", [False, True])
def test_threads_end_with_the_generator(dropped: bool) -> None:
    threads = set(threading.enumerate())
    blocks = NineSolutionWriter(order_of(board_of(0))).rows(threads=3)
    next(blocks)
    assert len(set(threading.enumerate()) - threads) == 2
    if dropped:
        del blocks
    else:
        blocks.close()
    assert set(threading.enumerate()) <= threads
