"""Helpers of the tests of the 9x9 contraction: counting boards, and checking solutions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.nine.order import NineOrder
from gpusudoku.contraction.nine.sum import NineContraction
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
    """Make a board with a number of clues; without clues, the empty board."""
    return puzzle(NINE, clues, clues if seed is None else seed) if clues else Board.empty(NINE)


def candidates_of(board: Board) -> NDArray[np.uint64]:
    """Return the candidates after singles, uint64 (81), of a board that has a solution."""
    return Frontier.of([board]).simplified(SearchSettings()).candidates[0]


def contracted(board: Board, **options: bool) -> int:
    """Count by contraction on two threads; the options are those of ``NineContraction``."""
    simplified = Frontier.of([board]).simplified(SearchSettings())
    if not len(simplified):
        return 0
    return summed(NineContraction(simplified.candidates[0], **options), CpuEngine(2))[0]


def summed(contraction: NineContraction, engine: Engine) -> tuple[int, int]:
    """Sum all tasks on an engine; return the sum and the number of products added up."""
    job = Job(1)
    contraction.prepare(engine.threads)
    tasks = [range(contraction.tasks)] if contraction.tasks else []
    tally = engine.contract(contraction, tasks, job, 1 << 30, [])
    return job.counts[0], tally.products


def multiplied(contraction: NineContraction, factor: int) -> NineContraction:
    """Multiply all multiplicities of A and B by a factor, before the contraction is prepared."""
    lists = contraction.workspace.lists
    lines = contraction.workspace.roles.summed[[A, B]]
    lists.multiplicity[lines] *= factor
    lists.largest[lines] *= factor
    return contraction


def searched(board: Board) -> int:
    """Count by search."""
    return count(board, device="cpu", method="search").count


def order_of(board: Board, threads: int = 1, **options: bool) -> NineOrder:
    """Make the contraction order of a board that has a solution."""
    return NineOrder(candidates_of(board), threads, **options)


def as_texts(grids: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Return grids as strings of 81 bytes, in ascending order."""
    return np.sort(np.ascontiguousarray(grids).view("S81").ravel())


def assert_solutions(grids: NDArray[np.uint8], board: Board) -> None:
    """Fail unless all grids, uint8 (grids, 81), are different solutions of a board."""
    clues = board.cells > 0
    assert (grids[:, clues] == board.cells[clues]).all()
    assert (np.sort(grids[:, board.geometry.units], axis=2) == np.arange(1, 10)).all()
    assert len(np.unique(as_texts(grids))) == len(grids)
