"""The shares of many boards together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gpusudoku import Board, Options
from gpusudoku.board.batch import Batch
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError
from gpusudoku.orders import many
from gpusudoku.orders.choose import Orders
from gpusudoku.orders.many import Shared, share_batches, shared
from tests import naive
from tests.boards import puzzle, spoilt


def counted(board: Board) -> list[list[int]]:
    """The shares by the oracle."""
    rows = np.array([*naive.solutions(board), [0] * board.cells.size])
    return [(rows == digit).sum(axis=0).tolist() for digit in range(1, board.n + 1)]


@pytest.mark.parametrize("shape", ["2x2", "3x3"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_against_all_solutions(shape: str, jobs: int) -> None:
    """Boards with none, few and many solutions, in one block."""
    clues = {"2x2": (0, 2, 9), "3x3": (28, 30, 40)}[shape]
    boards = [puzzle(shape, number, seed) for seed in (1, 2) for number in clues]
    boards.insert(1, spoilt(puzzle(shape, clues[-1], 3), 2))
    boards.append(Board([1, 1, *[0] * (boards[0].cells.size - 2)]))
    shares = shared(Batch.of(boards), Options(device="cpu"), CpuEngine(jobs)).shares
    for board, found in zip(boards, shares, strict=True):
        assert found.T.tolist() == counted(board)


def test_boards_with_many_are_as_those_that_are_alone() -> None:
    boards = [puzzle("3x3", 22, seed) for seed in range(4)]
    engine, options = CpuEngine(2), Options(device="cpu")
    shares = shared(Batch.of(boards), options, engine).shares
    for board, found in zip(boards, shares, strict=True):
        assert (found == Orders(board, options, engine).shares).all()


@pytest.mark.usefixtures("uncompiled")
def test_candidates() -> None:
    plain = puzzle("2x2", 1, 0)
    board = Board(plain.cells, candidates=np.where(plain.cells == 0, 15, 1 << plain.cells >> 1))
    shares = shared(Batch.of([board]), Options(device="cpu"), CpuEngine(1)).shares
    assert shares[0].T.tolist() == counted(plain)


@pytest.mark.usefixtures("uncompiled")
def test_batches_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "BLOCK_BOARDS", 3)
    boards = [puzzle(shape, 5, seed) for shape in ("2x2", "1x4") for seed in range(7)]

    def batches() -> Iterator[Batch]:
        yield Batch.of(boards[:7])
        yield Batch.of(boards[7:])
        raise InputError("no board")

    found: list[Shared] = []
    with pytest.raises(InputError, match="no board"):
        found.extend(share_batches(batches(), Options(device="cpu")))
    given = [each for shared in found for each in zip(shared.boards, shared.shares, strict=True)]
    assert [board for board, _ in given] == boards
    assert all(shares.T.tolist() == counted(board) for board, shares in given)
    sizes = share_batches(
        [Batch.of(boards[:2])], Options(device="cpu"), then=lambda it: len(it.boards)
    )
    assert sum(sizes) == 2
