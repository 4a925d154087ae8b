"""The contraction's sum as NVIDIA's compiler makes it, run by the executor under the engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import NineContraction
from gpusudoku.counting import count
from gpusudoku.engines.cuda import engine
from gpusudoku.engines.cuda.engine import CudaEngine
from tests.boards import puzzle, with_wrong_clue
from tests.contraction.nine.counted import candidates_of, multiplied, summed
from tests.ptx.card import Card
from tests.ptx.compiled import DIALECTS, WAITING

pytestmark = WAITING
Insert = Callable[..., Card]
EACH_DIALECT = pytest.mark.parametrize("capability", DIALECTS, ids=str)


def counted(board: Board) -> int:
    return count(board, device="cuda", method="contraction").count


def on_cpu(board: Board) -> int:
    return count(board, device="cpu", method="contraction").count


@EACH_DIALECT
def test_counts(capability: tuple[int, int], insert: Insert) -> None:
    card = insert(*capability, threads=64)
    for clues in (17, 30):
        board = puzzle("3x3", clues, clues)
        assert counted(board) == on_cpu(board) > 0
    assert counted(with_wrong_clue(board, 1)) == on_cpu(with_wrong_clue(board, 1))
    assert card.launches


@pytest.mark.parametrize(("threads", "seed"), [(32, 0), (96, 1), (512, 1)])
def test_blocks_of_any_size(
    threads: int, seed: int, insert: Insert, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads wait for each other, whichever comes first."""
    monkeypatch.setattr(engine, "SUM_TASKS", 3)
    card = insert(10, 0, seed=seed, workers=2, threads=threads)
    board = puzzle("3x3", 22, 3)
    assert counted(board) == on_cpu(board)
    assert {launched.threads for launched in card.launches} == {threads}


@pytest.mark.parametrize(
    ("name", "capability"),
    [("1f", (10, 0)), ("2f", (9, 0)), ("top-band-cyclic", (10, 0)), ("empty", (9, 0))],
)
def test_boards_of_the_collection(name: str, capability: tuple[int, int], insert: Insert) -> None:
    """Blocks of the size that a card runs; the empty board's count has 22 digits."""
    insert(*capability, threads=256)
    assert counted(collection.load(name)) == collection.entry(name).count


@EACH_DIALECT
@pytest.mark.parametrize("kind", ["narrow", "wide", "too wide"])
def test_entries_of_any_width(kind: str, capability: tuple[int, int], insert: Insert) -> None:
    """Multiplicities too large for 16 bits, and sums too large for 32."""
    card = insert(*capability, threads=64)
    times = 1000 if kind == "too wide" else 1
    board = puzzle("3x3", 22, 1)
    nine = multiplied(NineContraction(candidates_of(board), wide=kind == "wide"), times)
    assert summed(nine, CudaEngine())[0] == times**2 * on_cpu(board)
    assert card.sums == {kind != "narrow"}
