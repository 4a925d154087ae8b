"""Solutions of many boards from Python: the same as board by board, read and given as needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import FIRST_BOARDS
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.solving import solve_batches
from gpusudoku.streaming import FEW, list_batches
from tests import naive
from tests.boards import full_grid, puzzle, spoilt

FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))
BOARDS = [puzzle("2x3", 8 + seed % 12, seed) for seed in range(60)]
BOARDS[20:20] = [FULL, spoilt(FULL, 1)]
SOLUTIONS = [list(naive.solutions(board)) for board in BOARDS]


def listed(boards: list[Board], **options: Any) -> list[tuple[int, ...]]:
    with closing(list_batches([Batch.of(boards)], Options(device="cpu", **options))) as found:
        return [tuple(row) for each in found for block in each.solutions for row in block.tolist()]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("check_unique", [True, False])
def test_solved_as_one_by_one(check_unique: bool, jobs: int) -> None:
    options = Options(device="cpu", jobs=jobs)
    results = list(solve_batches([Batch.of(BOARDS)], options, check_unique=check_unique))
    assert [board for each in results for board in each.boards] == BOARDS
    counts = np.concatenate([each.numbers for each in results]).tolist()
    assert counts == [min(len(found), 1 + check_unique) for found in SOLUTIONS]
    rows = [tuple(row) for each in results for row in each.solutions.tolist()]
    for row, found in zip(rows, SOLUTIONS, strict=True):
        assert row in found if found else not any(row)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("limit", [None, 1, 2, FEW - 1, FEW, FEW + 1])
def test_listed_board_by_board(limit: int | None, jobs: int) -> None:
    rest = listed(BOARDS, limit=limit, jobs=jobs)
    assert {len(found) > FEW for found in SOLUTIONS} == {True, False}
    for found in SOLUTIONS:
        number = len(found) if limit is None else min(limit, len(found))
        these, rest = rest[:number], rest[number:]
        assert len(set(these)) == number
        assert set(these) <= set(found)
        if len(found) < FEW:
            assert these == found[:number]
    assert rest == []


def test_which_boards_have_none() -> None:
    with closing(list_batches([Batch.of(BOARDS)], Options(device="cpu"))) as found:
        doubtful = [board for each in found for board in each.doubtful]
    none = [board for board, found in zip(BOARDS, SOLUTIONS, strict=True) if not found]
    assert spoilt(FULL, 1) in none
    assert doubtful == none


@pytest.mark.parametrize("function", [solve_batches, list_batches])
def test_boards_are_read_as_they_are_needed(function: Any) -> None:
    read = 0

    def endless() -> Iterator[Batch]:
        nonlocal read
        while True:
            read += 1
            yield Batch.of([FULL])

    with closing(function(endless(), Options(device="cpu"))) as results:
        first = next(results)
        assert len(first.boards) == FIRST_BOARDS
        assert read == FIRST_BOARDS


@pytest.mark.parametrize("function", [solve_batches, list_batches])
def test_an_error_comes_after_the_boards_before_it(function: Any) -> None:
    def broken() -> Iterator[Batch]:
        yield Batch.of([FULL, FULL])
        raise InputError("no board")

    results = function(broken(), Options(device="cpu"))
    assert len(next(results).boards) == 2
    with pytest.raises(InputError, match="no board"):
        next(results)


def test_closing_early_stops_the_workers() -> None:
    before = set(threading.enumerate())
    huge = Board.empty(Geometry(3, 3))
    found = list_batches([Batch.of([huge, huge])], Options(device="cpu", jobs=2))
    blocks = iter(next(found).solutions)
    assert len(list(islice(blocks, 3))) == 3
    assert set(threading.enumerate()) - before
    found.close()
    assert set(threading.enumerate()) <= before
