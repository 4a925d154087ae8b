"""Small limits, with which small boards take the code paths of large ones; and naive results."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.general import parts
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration import in_memory, lexicographic, solution_set
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.options import Options
from tests import naive


def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat only boards with very few solutions as boards with few."""
    monkeypatch.setattr("gpusudoku.enumeration.lexicographic.LISTED", 5)
    for name in ("SEARCHED_FIRST", "SEARCHED_BEFORE_LOADING", "IN_MEMORY_NINE", "IN_MEMORY"):
        monkeypatch.setattr(solution_set, name, 5)


def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search for, sort and return only a few solutions together."""
    for name, value in {"SPLIT_FIRST": 2, "SPLIT_LATER": 5, "TOGETHER": 3}.items():
        monkeypatch.setattr(lexicographic, name, value)
    for name, value in {"BLOCK_ROWS": 7, "SORTED_ROWS": 2, "COMPARED_ROWS": 1}.items():
        monkeypatch.setattr(in_memory, name, value)


def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a contraction in parts have many parts, even for a small board."""
    monkeypatch.setattr(parts, "PART_MAPS", 15)
    monkeypatch.setattr(parts, "TASK_LISTINGS", 0.3)


def solution_set_of(board: Board, jobs: int = 1, count: int | None = None) -> SolutionSet:
    """Return the set of a board's solutions."""
    return SolutionSet(board, Options(device="cpu", jobs=jobs), CpuEngine(jobs), count)


@cache
def naive_solutions(board: Board) -> NDArray[np.uint8]:
    """Return all solutions of a board, one a row, in ascending order."""
    rows = np.array(list(naive.solutions(board)), np.uint8)
    return rows.reshape(-1, board.geometry.cells)


def shares_of(rows: NDArray[np.uint8], n: int) -> NDArray[np.int64]:
    """Count how many solutions have each digit in each cell."""
    return np.stack([(rows == digit).sum(axis=0) for digit in range(1, n + 1)], axis=1)
