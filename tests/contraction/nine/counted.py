"""How the tests of the 9x9 contraction count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.contraction.nine.arrays import A, B
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

NINE = Geometry(3, 3)
GRIDS = 6670903752021072936960
"""Felgenhauer and Jarvis, 2005."""


def candidates_of(board: Board) -> NDArray[np.uint64]:
    """uint64 (81): the candidates that singles leave of a board that has a solution."""
    return Frontier.of([board]).simplified(SearchSettings()).candidates[0]


def contracted(board: Board, **how: bool) -> int:
    """The count by contraction, on two threads."""
    simplified = Frontier.of([board]).simplified(SearchSettings())
    if not len(simplified):
        return 0
    return summed(Nine(simplified.candidates[0], **how), CpuEngine(2))[0]


def summed(nine: Nine, engine: Engine) -> tuple[int, int]:
    """The count by an engine, and the number of products that it added up."""
    job = Job(1)
    nine.prepare(engine.threads)
    tasks = [range(nine.tasks)] if nine.tasks else []
    tally = engine.contract(nine, tasks, job, 1 << 30, [])
    return job.counts[0], tally.products


def multiplied(nine: Nine, times: int) -> Nine:
    """The same with all multiplicities of A and B so many times as large, before it is prepared."""
    lists, lines = nine.workspace.lists, nine.workspace.roles.summed[[A, B]]
    lists.multiplicity[lines] *= times
    lists.largest[lines] *= times
    return nine


def searched(board: Board) -> int:
    """The count by search."""
    return count(board, device="cpu", method="search").count
