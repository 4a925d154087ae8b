"""Shares: how many solutions have each digit in each cell, compared to the naive list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpusudoku import Board, Options
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import digit_masks
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration import in_memory, shares
from gpusudoku.enumeration.share_queries import share_batches, share_block
from gpusudoku.enumeration.shares import contracted_shares, counted_shares
from gpusudoku.errors import InputError, MismatchError, TooExpensive
from gpusudoku.results import ResultBlock
from tests.boards import puzzle, with_wrong_clue
from tests.enumeration.short import (
    naive_solutions,
    shares_of,
    short_lists,
    short_parts,
    solution_set_of,
)

SIX = puzzle("2x3", 9, 0)
NINE = puzzle("3x3", 29, 3)


def assert_shares(actual: Any, board: Board) -> None:
    expected = shares_of(naive_solutions(board), board.n)
    assert actual.shape == expected.shape
    assert {*map(type, actual.flat)} == {int}
    assert (actual == expected).all()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    monkeypatch.setattr(in_memory, "BLOCK_ROWS", 7)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("jobs", [1, 2])
def test_nine_by_nine(jobs: int) -> None:
    assert_shares(solution_set_of(NINE, jobs).shares, NINE)


@pytest.mark.usefixtures("uncompiled")
def test_few_solutions_and_none() -> None:
    for board in (SIX, puzzle("2x3", 36, 0), with_wrong_clue(puzzle("2x3", 30, 0), 1)):
        assert_shares(solution_set_of(board).shares, board)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("max_visited", [0, 10**9])
def test_nine_by_nine_with_candidates(max_visited: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not contracted: its solutions are visited, or counted for each candidate."""
    monkeypatch.setattr(shares, "VISITED_SOLUTIONS", max_visited)
    rows = naive_solutions(NINE)
    cell = int(np.flatnonzero((rows[0] != rows).any(axis=0))[0])
    candidates = np.where(NINE.cells > 0, digit_masks(NINE.cells), NINE.candidates)
    candidates[cell] &= ~digit_masks(rows[0])[cell]
    board = Board(NINE.cells, candidates=candidates)
    remaining_rows = rows[rows[:, cell] != rows[0, cell]]
    assert 5 < len(remaining_rows) < len(rows)
    assert (solution_set_of(board).shares == shares_of(remaining_rows, 9)).all()


def test_every_candidate_counted() -> None:
    assert_shares(counted_shares(NINE, Options(), CpuEngine(1)), NINE)


WAYS = {
    "contraction": ["contracted_shares"],
    "visit": ["visited_shares"],
    "refused": ["contracted_shares", "visited_shares"],
    "counts": ["contracted_shares", "counted_shares"],
}


@pytest.mark.usefixtures("short", "uncompiled")
@pytest.mark.parametrize("way", WAYS)
def test_other_shapes_take_the_cheapest_way(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If that way is refused, they take another one."""

    def refuse(*_: Any) -> Any:
        raise TooExpensive("too expensive")

    called_names: list[str] = []
    for name in ("contracted_shares", "visited_shares", "counted_shares"):
        function = getattr(shares, name)
        monkeypatch.setattr(
            shares,
            name,
            lambda *arguments, f=function, n=name: called_names.append(n) or f(*arguments),
        )
    monkeypatch.setattr(shares, "VISITED_PER_SECOND", 1e9 if way == "visit" else 1e-9)
    if way in ("refused", "counts"):
        monkeypatch.setattr(shares, "count_join_shares", refuse)
    if way == "counts":
        monkeypatch.setattr(shares, "VISITED_SOLUTIONS", 5)
    assert_shares(solution_set_of(SIX).shares, SIX)
    assert called_names == WAYS[way]


@pytest.mark.usefixtures("uncompiled")
def test_the_shares_of_parts_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    short_parts(monkeypatch)
    parts = Parts(SIX, 1 << 28, TooExpensive("too expensive to contract: said for a test"))
    assert_shares(contracted_shares(parts, SIX, len(naive_solutions(SIX)), 2), SIX)


@pytest.mark.usefixtures("short")
def test_a_wrong_sum_is_not_kept_as_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gpusudoku.contraction.nine.shares.count_nine_shares",
        lambda *_: np.arange(729).reshape(81, 9),
    )
    orders = solution_set_of(NINE)
    with pytest.raises(MismatchError, match="do not add up"):
        _ = orders.shares
    assert orders.count == len(naive_solutions(NINE))


@pytest.mark.parametrize("shape", ["2x2", "3x3"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_many_boards_together(shape: str, jobs: int) -> None:
    """Boards with no, few and many solutions are in one block."""
    clues = {"2x2": (0, 2, 9), "3x3": (28, 30, 40)}[shape]
    boards = [puzzle(shape, number, 1) for number in clues]
    boards.insert(1, with_wrong_clue(puzzle(shape, clues[-1], 3), 2))
    boards.append(Board([1, 1, *[0] * (boards[0].cells.size - 2)]))
    board_shares = share_block(Batch.of(boards), Options(device="cpu"), CpuEngine(jobs)).shares
    for board, actual in zip(boards, board_shares, strict=True):
        assert_shares(actual, board)


def test_boards_with_many_solutions_have_the_shares_of_single_boards() -> None:
    boards = [puzzle("3x3", 22, seed) for seed in range(2)]
    board_shares = share_block(Batch.of(boards), Options(device="cpu"), CpuEngine(2)).shares
    for board, actual in zip(boards, board_shares, strict=True):
        assert (actual == solution_set_of(board, 2).shares).all()


@pytest.mark.usefixtures("uncompiled")
def test_candidates_in_a_batch() -> None:
    plain = puzzle("2x2", 1, 0)
    board = Board(plain.cells, candidates=np.where(plain.cells == 0, 15, 1 << plain.cells >> 1))
    assert_shares(
        share_block(Batch.of([board]), Options(device="cpu"), CpuEngine(1)).shares[0], plain
    )


@pytest.mark.usefixtures("uncompiled")
def test_batches_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.enumeration.share_queries.BLOCK_BOARDS", 3)
    boards = [puzzle(shape, 5, seed) for shape in ("2x2", "1x4") for seed in range(7)]

    def batches() -> Iterator[Batch]:
        yield Batch.of(boards[:7])
        yield Batch.of(boards[7:])
        raise InputError("no board")

    blocks: list[ResultBlock] = []
    with pytest.raises(InputError, match="no board"):
        blocks.extend(share_batches(batches(), Options(device="cpu")))
    results = [
        actual for block in blocks for actual in zip(block.boards, block.shares, strict=True)
    ]
    assert [board for board, _ in results] == boards
    for board, actual in results:
        assert_shares(actual, board)
