"""A plan whose tasks take no time: how they are worked at is under a test's control."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Progress
from gpusudoku.planning.portion import Found, Portion, Step
from gpusudoku.runs.identity import Identity

WORDS = 3
IDENTITY = Identity("count", {"box": "3x3", "cells": [0] * 81, "candidates": None}, {"tasks": 40})
SETUP = {"kind": "count"}


@dataclass
class FakePlan:
    """Boards of ``size`` solutions that are split in two until one is left, as a search does."""

    number: int = 40
    size: int = 1000 * 10**30
    scale: int = 1
    """What is found counts as so many solutions."""
    calls: int = 10
    seed: int = 0
    interrupt_at: int | None = None
    """The step that is interrupted."""
    error_at: int | None = None
    """The step in which something breaks."""
    asked: list[float] = field(default_factory=list)
    """Seconds of all steps."""
    tells: list[float] = field(default_factory=list)
    """The progress of each step."""
    method = "search"

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    @property
    def count(self) -> int:
        return self.scale * sum(self.size + task for task in range(self.number))

    def tasks(self) -> int:
        return self.number

    def part(self, number: int = 1, parts: int = 1) -> Portion:
        n = self.number
        return Portion.of([range(n * (number - 1) // parts, n * number // parts)])

    def step(self, engine, portion, *, seconds, progress=None):
        if len(self.asked) == self.error_at:
            raise RuntimeError("broken")
        self.asked.append(seconds)
        for done in self.tells:
            progress(Progress(done, 0, seconds * done))
        whole = [task for run in portion.tasks for task in run]
        boards = [
            (int(task), sum(int(word) << 64 * at for at, word in enumerate(board)))
            for task, board in zip(portion.task_of, portion.boards, strict=True)
        ]
        found: dict[int, int] = {}
        for _ in range(self.calls):
            if whole and (not boards or self._random.random() < 0.3):
                task = whole.pop(self._random.randrange(len(whole)))
                boards.append((task, self.size + task))
            elif boards:
                task, size = boards.pop(self._random.randrange(len(boards)))
                if size < 1 << 40 or self._random.random() < 0.55:
                    found[task] = found.get(task, 0) + size * self.scale
                else:
                    boards += [(task, size // 3), (task, size - size // 3)]
        left = Portion(
            tuple(range(task, task + 1) for task in sorted(whole)),
            np.array(
                [[size >> 64 * at & (1 << 64) - 1 for at in range(WORDS)] for _, size in boards],
                np.uint64,
            ).reshape(len(boards), WORDS if boards else 0),
            np.array([task for task, _ in boards], np.int64),
        )
        interrupted = len(self.asked) == self.interrupt_at
        return Step(
            tuple(Found(range(task, task + 1), found[task]) for task in sorted(found)),
            left,
            seconds=seconds,
            idle_seconds=0.0,
            workers=2,
            interrupted=Interrupted("interrupted") if interrupted else None,
        )


def worked(ledger, plan, steps=10**9):
    """Work at what is left in a ledger; as a machine alone does."""
    for number, portion in ledger.deal().items():
        while portion and steps:
            step = plan.step(None, portion, seconds=1.0)
            ledger.save(number, step)
            portion, steps = step.left, steps - 1
