"""A plan whose tasks take a while and are counted at once, and which kills workers on demand."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.contraction.general import parts
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import any_cancelled
from gpusudoku.options import MEMORY
from gpusudoku.planning.hybrid import HybridPlan
from gpusudoku.planning.portion import Found, Portion, Step
from gpusudoku.results import Estimates


@dataclass(frozen=True)
class Piecework:
    """Task ``k`` has ``k + 1`` pieces of one solution each, and every piece takes some seconds.

    What is left of a task is a board that holds the number of its pieces that are left. In
    ``folder`` every step leaves a file that names its process. A file ``hurry`` there lets pieces
    take no time. A task among the ``deadly`` ends the process in the middle.
    """

    number: int
    seconds: float
    folder: str
    deadly: tuple[int, ...] = ()

    method = "fake"

    def tasks(self) -> int:
        return self.number

    def part(self, number: int, parts: int) -> Portion:
        return Portion.of([range(self.number)])

    def step(
        self,
        engine: Engine,
        portion: Portion,
        *,
        seconds: float = inf,
        progress: Callable[[Any], None] | None = None,
    ) -> Step:
        folder, start = Path(self.folder), time.monotonic()
        (folder / f"at-{os.getpid()}").touch()
        pieces = portion.boards.ravel().tolist()
        todo = dict(zip(portion.task_of.tolist(), pieces, strict=True))
        todo |= {task: task + 1 for run in portion.tasks for task in run}
        found = dict.fromkeys(todo, 0)
        for task in todo:
            while todo[task] and time.monotonic() < start + seconds:
                if any_cancelled():
                    (folder / "cancelled").touch()
                    break
                if not (folder / "hurry").exists():
                    time.sleep(self.seconds)
                todo[task] -= 1
                found[task] += 1
                if task in self.deadly:
                    os._exit(1)
        left = {task: pieces for task, pieces in todo.items() if pieces}
        boards = np.array(list(left.values()), np.uint64).reshape(-1, 1)
        rest = Portion((), boards, np.array(list(left), np.int64))
        return Step(
            tuple(Found(range(task, task + 1), pieces) for task, pieces in found.items()),
            rest if left else Portion.of([]),
            seconds=time.monotonic() - start,
        )


def in_small_parts(board: Board) -> HybridPlan:
    """The plan of a board in many parts, in a process that makes no others."""
    parts.PART_MAPS, parts.TASK_LISTINGS = 10, 1
    return HybridPlan(parts.Parts(board, 1 << 28, TooExpensive("")), MEMORY, Estimates())
