"""Plans of all kinds, and the counts of their boards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.counting import count
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import Deadline
from gpusudoku.options import MEMORY, Options
from gpusudoku.planning.choose import choose
from gpusudoku.planning.contraction import HybridPlan
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import full_grid, puzzle

NINE = puzzle("3x3", 26, 3)
GENERAL = puzzle("2x3", 8, 1)
LARGE = puzzle("2x5", 30, 1)
"""A board whose contraction is long enough to be cut into tasks: it has 25 million solutions."""
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))


class AfterPolls(Deadline):
    """A deadline that passes after ``polls`` reads of ``cancelled``."""

    def __init__(self, polls: int) -> None:
        super().__init__(inf)
        self._polls = polls

    @property
    def cancelled(self) -> bool:
        self._polls -= 1
        return self._polls < 0


def search(board: Board, **options: float | str | None) -> SearchPlan:
    return SearchPlan(Frontier.of([board]), Options(**options))  # type: ignore[arg-type]


def contraction(board: Board) -> Plan:
    return choose(board, Options(method="contraction"))


def in_parts(board: Board) -> Plan:
    parts = Parts(board, 1 << 28, TooExpensive("too expensive"))
    return HybridPlan(parts, MEMORY)


PLANS: dict[str, Callable[[], Plan]] = {
    "search 3x3": lambda: search(NINE),
    "search 2x3 to empty cells": lambda: search(GENERAL, cutoff=12, cutoff_by="empty"),
    "contraction 3x3": lambda: contraction(NINE),
    "contraction 2x5": lambda: contraction(LARGE),
    "contraction 2x3 in parts": lambda: in_parts(GENERAL),
}
every_plan = pytest.mark.parametrize("make", PLANS.values(), ids=list(PLANS))
BOARDS = {"3x3": NINE, "2x3": GENERAL, "2x5": LARGE}


@cache
def total(board: Board) -> int:
    """Count all solutions: naively, or by both methods if that takes too long.

    A search of LARGE takes too long, too.
    """
    if board == GENERAL:
        return naive.count(board)
    methods = ["contraction"] if board == LARGE else ["search", "contraction"]
    # The unpacking checks that the methods agree.
    [solution_count] = {count(board, device="cpu", method=method).count for method in methods}
    return solution_count
