"""Solutions written as products of words: those that ``QuickOrder`` has, in its order."""

from __future__ import annotations

import threading
from contextlib import closing
from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine import products
from gpusudoku.contraction.nine.products import Products
from gpusudoku.contraction.nine.quick import QuickOrder
from gpusudoku.options import Options
from gpusudoku.streaming import Stream
from tests.boards import puzzle
from tests.contraction.nine.counted import NINE, candidates_of


def ordered(board: Board) -> QuickOrder:
    """The quick order of a board."""
    return QuickOrder(candidates_of(board), 2)


def board_with(clues: int) -> Board:
    """A board with so many clues."""
    return puzzle(NINE, clues, clues) if clues else Board.empty(NINE)


def written(order: QuickOrder, *part: int, threads: int | None = None) -> NDArray[np.uint8]:
    """Solutions, all blocks in one array."""
    return np.concatenate([*Products(order).rows(*part, threads=threads)])


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that end within cells, and places that are looked up a few at a time."""
    monkeypatch.setattr(products, "BLOCK", 97)
    monkeypatch.setattr(products, "FIRST_PLACES", 2)
    monkeypatch.setattr(products, "MOST_PLACES", 4)


@pytest.mark.parametrize("clues", [0, 7, 12, 16, 20, 24])
@pytest.mark.usefixtures("small_blocks")
def test_solutions_are_those_of_the_quick_order(clues: int) -> None:
    order = ordered(board_with(clues))
    rng, length = np.random.default_rng(clues), min(order.count, 1_000)
    middle = int(rng.random() * (order.count - length))
    for first in {0, middle, order.count - length}:
        rows = written(order, first, first + length)
        assert (rows == order.at([*range(first, first + length)])).all()


@pytest.mark.parametrize("seed", range(3))
def test_they_are_all_solutions(seed: int) -> None:
    board = puzzle(NINE, 22, seed)
    order = ordered(board)
    rows = written(order, threads=2)
    found = np.concatenate([*Stream(board, Options(device="cpu"))])
    assert len(rows) == order.count == len(found)
    assert {*map(bytes, rows)} == {*map(bytes, found)}


@pytest.mark.usefixtures("small_blocks")
def test_members_of_an_orbit_are_relabelled() -> None:
    board = Board.empty(NINE)
    order = ordered(board)
    orbits = order.nine.workspace.orbits
    solutions = order.count // int(orbits.first[order.nine.pairs])  # of a pair, about
    for first in (k * solutions // 3 for k in (1, 700, 54_321, 200_000)):
        numbers = range(first, first + 200)
        assert (written(order, first, first + 200) == order.at([*numbers])).all()


@pytest.mark.usefixtures("small_blocks")
def test_lines_say_what_digits_say() -> None:
    order = ordered(board_with(20))
    found = Products(order)
    rows = written(order, 5, 500)
    lines = b"".join(block.tobytes() for block in found.rows(5, 500, text=True, threads=2))
    assert lines == b"".join(bytes(row + ord("0")) + b"\n" for row in rows)


@pytest.mark.usefixtures("small_blocks")
def test_threads_change_nothing() -> None:
    order = ordered(board_with(16))
    one, three = (written(order, 1_000, 9_000, threads=n) for n in (1, 3))
    assert (one == three).all()


def test_blocks_stay_as_they_are() -> None:
    found = Products(ordered(board_with(16)))
    with closing(found.rows(threads=2)) as blocks:
        some = [*islice(blocks, 3)]
        before = [block.copy() for block in some]
        _ = [*islice(blocks, 12)]
    assert all(len(block) == products.BLOCK and block.flags.c_contiguous for block in some)
    assert all((block == copy).all() for block, copy in zip(some, before, strict=True))


def test_parts_make_up_the_whole() -> None:
    order = ordered(board_with(22))
    whole, ends = written(order), [0, 1, order.count // 3, order.count - 2, order.count]
    parts = [written(order, *ends[i : i + 2]) for i in range(4)]
    assert (np.concatenate(parts) == whole).all()


def test_no_solutions_are_no_blocks() -> None:
    order = ordered(board_with(20))
    assert [*Products(order).rows(7, 7)] == []


@pytest.mark.parametrize("part", [(-1, 5), (5, 4), (0, 10**9)])
def test_solutions_that_are_not_there_are_an_error_at_once(part: tuple[int, int]) -> None:
    order = ordered(board_with(20))
    with pytest.raises(IndexError, match=f"there are {order.count} solutions"):
        Products(order).rows(*part)


@pytest.mark.usefixtures("small_blocks")
def test_numbers_may_be_of_any_size() -> None:
    order = ordered(Board.empty(NINE))
    first = order.count - 500
    assert first > 1 << 64
    assert (written(order, first) == order.at([*range(first, order.count)])).all()


@pytest.mark.parametrize("dropped", [False, True])
def test_threads_end_with_the_generator(dropped: bool) -> None:
    before = set(threading.enumerate())
    blocks = Products(ordered(Board.empty(NINE))).rows(threads=3)
    next(blocks)
    assert len(set(threading.enumerate()) - before) == 2
    if dropped:
        del blocks
    else:
        blocks.close()
    assert set(threading.enumerate()) <= before


def test_an_error_of_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_strips(text: bool) -> None:
        raise MemoryError

    monkeypatch.setattr(products, "make_strips", no_strips)
    with pytest.raises(MemoryError):
        next(Products(ordered(board_with(20))).rows())
