"""The contraction's sum as NVIDIA's compiler makes it, run by the executor under the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.counting import count
from gpusudoku.engines.cuda.device import SIMULATED
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.kernels.contraction.nine.arrays import A, B
from tests.boards import puzzle, spoilt
from tests.contraction.nine.counted import candidates_of, summed
from tests.ptx.card import Card
from tests.ptx.compiled import CAPABILITIES

pytestmark = pytest.mark.timeout(300)  # the first to need a kernel waits for the compiler
Insert = Callable[..., Card]


def counted(board: Board, **tuning: int) -> int:
    engine = CudaEngine(tuning=replace(SIMULATED, **tuning))  # type: ignore[arg-type]
    return count(board, engine=engine, method="contraction").count


@pytest.mark.parametrize("capability", CAPABILITIES, ids=str)
def test_counts(capability: tuple[int, int], insert: Insert) -> None:
    card = insert(*capability)
    for clues in (17, 24, 30):
        board = puzzle("3x3", clues, clues)
        assert counted(board) == count(board, device="cpu", method="contraction").count > 0
    assert counted(spoilt(board, 1)) == count(spoilt(board, 1), device="cpu").count
    assert card.launches


@pytest.mark.parametrize("threads", [1, 33, 128, 1024])
@pytest.mark.parametrize("seed", [0, 1])
def test_blocks_of_any_size(threads: int, seed: int, insert: Insert) -> None:
    """Threads wait for each other, whichever comes first; warps may be incomplete."""
    insert(10, 0, seed=seed, workers=2)
    board = puzzle("3x3", 22, 3)
    wanted = count(board, device="cpu", method="contraction").count
    assert counted(board, sum_threads_per_block=threads, sum_tasks_per_multiprocessor=3) == wanted


@pytest.mark.parametrize("capability", [(9, 0), (10, 0)], ids=str)
@pytest.mark.parametrize("name", ["1a", "1f", "2d", "2f", "top-band-cyclic", "full-error", "empty"])
def test_boards_of_the_collection(name: str, capability: tuple[int, int], insert: Insert) -> None:
    """Blocks of the size that a card runs; the empty board's count has 22 digits."""
    insert(*capability)
    board, wanted = collection.load(name), collection.entry(name).count
    assert counted(board, sum_threads_per_block=128) == wanted


@pytest.mark.parametrize("capability", [(9, 0), (10, 0)], ids=str)
def test_entries_of_any_width(capability: tuple[int, int], insert: Insert) -> None:
    """Multiplicities too large for 16 bits, and sums too large for 32."""
    insert(*capability)
    board = puzzle("3x3", 22, 1)
    sums = []
    for times in (1, 1000):
        nine = Nine(candidates_of(board))
        for line in nine.workspace.roles.summed[[A, B]]:
            nine.workspace.lists.multiplicity[line] *= times
        sums.append(summed(nine, CudaEngine())[0])
    assert sums[1] == 1000**2 * sums[0] > 2**32
