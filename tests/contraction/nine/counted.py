"""How the tests of the 9x9 contraction count, and look at solutions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.nine.order import NineOrder
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.contraction.nine.arrays import A, B
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier
from tests.boards import puzzle

NINE = Geometry(3, 3)
GRIDS = 6670903752021072936960
"""Felgenhauer and Jarvis, 2005."""


def board_of(clues: int, seed: int | None = None) -> Board:
    """Make a board with so many clues, or the empty one."""
    return puzzle(NINE, clues, clues if seed is None else seed) if clues else Board.empty(NINE)


def candidates_of(board: Board) -> NDArray[np.uint64]:
    """List the candidates, uint64 (81), that singles leave of a board that has a solution."""
    return Frontier.of([board]).simplified(SearchSettings()).candidates[0]


def contracted(board: Board, **how: bool) -> int:
    """Count by contraction, on two threads."""
    simplified = Frontier.of([board]).simplified(SearchSettings())
    if not len(simplified):
        return 0
    return summed(Nine(simplified.candidates[0], **how), CpuEngine(2))[0]


def summed(nine: Nine, engine: Engine) -> tuple[int, int]:
    """Count by an engine; returns the number of products that it added up, too."""
    job = Job(1)
    nine.prepare(engine.threads)
    tasks = [range(nine.tasks)] if nine.tasks else []
    tally = engine.contract(nine, tasks, job, 1 << 30, [])
    return job.counts[0], tally.products


def multiplied(nine: Nine, times: int) -> Nine:
    """Make all multiplicities of A and B so many times as large, before it is prepared."""
    lists = nine.workspace.lists
    lines = nine.workspace.roles.summed[[A, B]]
    lists.multiplicity[lines] *= times
    lists.largest[lines] *= times
    return nine


def searched(board: Board) -> int:
    """Count by search."""
    return count(board, device="cpu", method="search").count


def order_of(board: Board, threads: int = 1, **how: bool) -> NineOrder:
    """Make the contraction order of a board that has a solution."""
    return NineOrder(candidates_of(board), threads, **how)


def as_texts(grids: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Give the same grids, as one thing each, in ascending order."""
    return np.sort(np.ascontiguousarray(grids).view("S81").ravel())


def assert_solutions(grids: NDArray[np.uint8], board: Board) -> None:
    """Fail unless all grids, uint8 (grids, 81), are different solutions of a board."""
    clues = board.cells > 0
    assert (grids[:, clues] == board.cells[clues]).all()
    assert (np.sort(grids[:, board.geometry.units], axis=2) == np.arange(1, 10)).all()
    assert len(np.unique(as_texts(grids))) == len(grids)
