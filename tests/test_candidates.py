"""Boards that carry candidates: what is counted are the solutions that the candidates allow."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import InputError
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.checking import cross_check
from gpusudoku.counting import count, count_many
from gpusudoku.listing import solutions
from gpusudoku.simplifying import simplify
from gpusudoku.solving import solve
from tests import naive
from tests.boards import CLUES, puzzle


def with_candidates(shape: str, seed: int) -> Board:
    """A puzzle whose empty cells allow some digits only; an even seed leaves a solution."""
    board = puzzle(shape, CLUES[shape], seed)
    allowed = np.random.default_rng(seed).random((board.cells.size, board.n)) < 0.9
    allowed[board.cells > 0] = True
    if seed % 2 == 0:
        solution = np.array(next(naive.solutions(board)))
        allowed[np.arange(board.cells.size), solution - 1] = True
    masks = (allowed.astype(np.uint64) << np.arange(board.n, dtype=np.uint64)).sum(axis=1)
    return Board(board.cells, board.geometry, candidates=masks.astype(np.uint64))


def allowed_solutions(board: Board) -> list[tuple[int, ...]]:
    """The oracle's solutions of the clues, those with another digit left out."""
    masks = [int(mask) for mask in board.given_candidates]
    return [
        cells
        for cells in naive.solutions(Board(board.cells, board.geometry))
        if all(mask >> (digit - 1) & 1 for mask, digit in zip(masks, cells, strict=True))
    ]


@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x3"])
def test_counts_and_lists_equal_the_oracle(shape: str) -> None:
    totals = set()
    for seed in range(6):
        board = with_candidates(shape, seed)
        expected = allowed_solutions(board)
        totals.add(len(expected))
        result = count(board, device="cpu", jobs=2)
        assert (result.count, result.method) == (len(expected), "search")
        listed = sorted(tuple(found.cells.tolist()) for found in solutions(board, device="cpu"))
        assert listed == sorted(expected)
        assert (solve(board, device="cpu").board is None) == (not expected)
    assert len(totals) > 1


def test_batches_keep_them() -> None:
    """Also where only some of the boards carry candidates, and where a batch is cut."""
    plain = [puzzle("2x2", CLUES["2x2"], seed) for seed in range(4)]
    boards = [*plain[:2], with_candidates("2x2", 1), *plain[2:], with_candidates("2x2", 2)]
    expected = [
        naive.count(board) if board.given_candidates is None else len(allowed_solutions(board))
        for board in boards
    ]
    assert [result.count for result in count_many(boards, device="cpu")] == expected
    batch = Batch.joined([Batch.of(boards[:3]), Batch.of(boards[3:])])
    assert list(batch) == boards
    assert list(batch.part(1, 4)) == boards[1:4]
    assert list(batch.chosen(np.array(expected) > 0)) == [
        board for board, total in zip(boards, expected, strict=True) if total
    ]


def test_a_contraction_is_refused_in_one_line() -> None:
    board = with_candidates("2x2", 1)
    with pytest.raises(InputError, match=r"^a contraction counts boards of clues"):
        count(board, device="cpu", method="contraction")
    with pytest.raises(InputError, match=r"^a contraction counts boards of clues"):
        list(count_many([board], device="cpu", method="contraction"))


def test_a_cross_check_finds_another_way() -> None:
    result = count(with_candidates("2x3", 3), device="cpu")
    assert cross_check(result, device="cpu") not in (None, "method contraction")


def test_a_cell_without_candidates_leaves_nothing() -> None:
    masks = np.full(16, 15, np.uint64)
    masks[5] = 0
    board = Board(np.zeros(16, np.uint8), Geometry(2, 2), candidates=masks)
    assert count(board, device="cpu").count == 0
    assert simplify(board).contradictory


def test_simplifying_starts_from_them() -> None:
    masks = np.full(16, 15, np.uint64)
    masks[0] = 4
    simplified = simplify(Board(np.zeros(16, np.uint8), Geometry(2, 2), candidates=masks))
    assert simplified.board.cells.tolist() == [3] + [0] * 15
    assert simplified.candidates[1] == 0b1011


def test_one_board_with_candidates_does_not_slow_down_its_neighbours() -> None:
    """Only it is searched: the empty board would take for ever."""
    empty = Board.empty(Geometry(3, 3))
    found = list(count_many([empty, with_candidates("3x3", 2)], device="cpu"))
    assert [result.method for result in found] == ["contraction", "search"]
    assert found[0].count == 6670903752021072936960
