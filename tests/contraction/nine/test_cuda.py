"""The sum of a 9x9 contraction by the CUDA kernel, in Numba's simulator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability, engine
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.kernels.contraction.nine import pair_sums
from tests.boards import puzzle, spoilt
from tests.contraction.nine.counted import candidates_of, multiplied, searched, summed

pytestmark = pytest.mark.skipif(
    not availability.simulated(), reason="a GPU is there: see test_gpu.py"
)


def both(board: Board) -> tuple[int, int]:
    """Count by contraction in the simulator and on the CPU."""
    options: dict[str, Any] = {"method": "contraction"}
    return count(board, device="cuda", **options).count, count(board, device="cpu", **options).count


@pytest.mark.parametrize(
    "board",
    [puzzle("3x3", 24, 24), puzzle("3x3", 45, 45), puzzle("2x3", 9, 1),
     *(spoilt(puzzle("3x3", 30, seed), seed) for seed in range(2))],
    ids=["24 clues", "45 clues", "another shape, on threads", "spoilt", "spoilt, too"],
)  # fmt: skip
def test_counts(board: Board) -> None:
    simulated, compiled = both(board)
    assert simulated == compiled


def test_pairs_of_many_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SUM_TASKS", 2)
    board = puzzle("3x3", 25, 3)
    nine = Nine(candidates_of(board))
    total, products = summed(nine, CudaEngine())
    assert nine.pairs > 4
    assert products >= nine.pairs
    assert total == searched(board)


@pytest.mark.parametrize(("wide", "times"), [(True, 1), (False, 1000)])
def test_entries_of_any_width(wide: bool, times: int) -> None:
    """The wide kernel is asked for, or multiplicities are too large for 16 bits."""
    board = puzzle("3x3", 26, 1)
    nine = multiplied(Nine(candidates_of(board), wide=wide), times)
    assert summed(nine, CudaEngine())[0] == times**2 * searched(board)


@pytest.mark.parametrize(
    ("largest", "multiplicities", "narrow"),
    [
        ((288, 288, 288), (2, 2, 2), (True, True)),  # no clues
        ((1, 1, 65_535), (1, 1, 1), (True, False)),
        ((1, 1, 32_767), (1, 1, 1), (True, True)),
        ((1, 1, 32_768), (2, 1, 1), (False, False)),  # a column
        ((1, 1, 32_768), (1, 2, 1), (False, False)),
        ((1_191, 1, 65_535), (1, 1, 1), (True, False)),
        ((1_192, 1, 65_535), (1, 1, 1), (False, False)),  # 55 times 1,192 times that
        ((1_000, 1, 65_535), (1, 1, 2), (False, False)),
        ((1, 1 << 30, 1), (1, 1, 1), (True, False)),
    ],
)
def test_what_is_narrow(
    largest: tuple[int, ...], multiplicities: tuple[int, ...], narrow: tuple[bool, bool]
) -> None:
    """For the GPU and for the CPU.

    Given are the largest entries of the tensors of P, Q and R, and the largest multiplicities of A,
    B and C. All lines change places, and roles with them.
    """
    tensors: Any = SimpleNamespace(largest=np.array(largest[::-1]))
    lists: Any = SimpleNamespace(largest=np.array([0, 0, 0, *multiplicities[::-1]]))
    roles: Any = SimpleNamespace(tensor=np.array([2, 1, 0]), summed=np.array([5, 4, 3]))
    bounds = pair_sums.narrow_on_gpu, pair_sums.narrow_enough
    found = (is_narrow(lists, roles, tensors) for is_narrow in bounds)
    assert (*map(bool, found),) == narrow
