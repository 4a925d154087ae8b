"""The sum of a 9x9 contraction by the CUDA kernel, in Numba's simulator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import NineContraction
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability, engine
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.kernels.contraction.nine import pair_sums
from tests.boards import puzzle, with_wrong_clue
from tests.contraction.nine.counted import candidates_of, multiplied, searched, summed

pytestmark = pytest.mark.skipif(
    not availability.simulated(), reason="a GPU is there: see test_gpu.py"
)


def counts_on_both(board: Board) -> tuple[int, int]:
    """Count by contraction in the simulator and on the CPU."""
    options: dict[str, Any] = {"method": "contraction"}
    return count(board, device="cuda", **options).count, count(board, device="cpu", **options).count


@pytest.mark.parametrize(
    "board",
    [puzzle("3x3", 24, 24), puzzle("3x3", 45, 45), puzzle("2x3", 9, 1),
     *(with_wrong_clue(puzzle("3x3", 30, seed), seed) for seed in range(2))],
    ids=["24 clues", "45 clues", "another shape, on threads", "a wrong clue", "another wrong clue"],
)  # fmt: skip
def test_counts(board: Board) -> None:
    simulated_count, cpu_count = counts_on_both(board)
    assert simulated_count == cpu_count


def test_a_sum_in_many_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SUM_TASKS", 2)
    board = puzzle("3x3", 25, 3)
    contraction = NineContraction(candidates_of(board))
    total, products = summed(contraction, CudaEngine())
    assert contraction.pairs > 4
    assert products >= contraction.pairs
    assert total == searched(board)


@pytest.mark.parametrize(("wide", "factor"), [(True, 1), (False, 1000)])
def test_wide_slabs(wide: bool, factor: int) -> None:
    """On request, or because multiplicities are too large for 16 bits."""
    board = puzzle("3x3", 26, 1)
    contraction = multiplied(NineContraction(candidates_of(board), wide=wide), factor)
    assert summed(contraction, CudaEngine())[0] == factor**2 * searched(board)


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
def test_bounds_of_narrow_slabs(
    largest: tuple[int, ...], multiplicities: tuple[int, ...], narrow: tuple[bool, bool]
) -> None:
    """The bounds of the GPU and of the CPU.

    ``largest`` has the largest elements of the tensors of P, Q and R, ``multiplicities`` the
    largest multiplicities of A, B and C. The lines of all roles are in reverse order.
    """
    tensors: Any = SimpleNamespace(largest=np.array(largest[::-1]))
    lists: Any = SimpleNamespace(largest=np.array([0, 0, 0, *multiplicities[::-1]]))
    roles: Any = SimpleNamespace(tensor=np.array([2, 1, 0]), summed=np.array([5, 4, 3]))
    bounds = pair_sums.is_narrow_on_gpu, pair_sums.is_narrow
    results = [bool(is_narrow(lists, roles, tensors)) for is_narrow in bounds]
    assert tuple(results) == narrow
