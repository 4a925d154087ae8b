"""A while of work at a portion, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.engine import Tally
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs.job import Job, part_of
from gpusudoku.planning.portion import Found, Portion, Step, runs


def step_of(
    job: Job,
    found: Iterable[Found],
    left: Portion,
    tally: Tally,
    interrupted: Interrupted | None,
) -> Step:
    """What came of the job of a step."""
    return Step(
        found=tuple(found),
        left=left,
        tally=tally,
        seconds=job.seconds,
        idle_seconds=len(job.busy) * job.seconds - sum(job.busy),
        workers=max(1, len(job.busy)),
        interrupted=interrupted,
    )


def found_of(tasks: Sequence[int], solutions: Sequence[int], left: Portion) -> list[Found]:
    """What was found of each of some tasks, unless it is nothing of one that is not finished."""
    unfinished = left.unfinished
    return [
        Found(range(task, task + 1), number)
        for task, number in zip(tasks, solutions, strict=True)
        if number or task not in unfinished
    ]


def rest_of(
    boards: NDArray[np.uint64], task_of: NDArray[np.int64], whole: NDArray[np.uint64]
) -> Portion:
    """What is left, of which a board that is its whole task has not been begun.

    Parameters
    ----------
    boards
        uint64 (k, words): those that are left.
    task_of
        int64 (k): the task of each.
    whole
        uint64 (tasks, words): the board of every task.
    """
    begun = (boards != whole[task_of]).any(axis=1)
    fresh = Portion.of(runs(np.sort(task_of[~begun]).tolist()))
    return Portion(fresh.tasks, boards[begun], task_of[begun])


def check_part(number: int, parts: int) -> None:
    """Complain about a part that there is not, ``number`` being from 1 to ``parts``.

    Raises
    ------
    InputError
        If there is none.
    """
    if not 1 <= number <= parts:
        raise InputError(f"part {number} of {parts}: expected one from 1 to the second")


def check_portion(portion: Portion, tasks: int, words: int) -> None:
    """Complain about a portion that is none of a plan with so many tasks, boards of so many words.

    Raises
    ------
    InputError
        If it has tasks that there are not, or one twice, or boards of another size.
    """
    whole, begun = portion.tasks, portion.task_of
    # Looked at before any set is made of them: they may come from a file that is damaged.
    right = all(0 <= run.start < run.stop <= tasks and run.step == 1 for run in whole)
    right = right and sum(map(len, whole)) <= tasks
    if right and len(begun):
        right = begun.min() >= 0 and begun.max() < tasks
        right = right and portion.boards.shape == (len(begun), words)
    if right:
        right = sum(map(len, whole)) + len(set(begun.tolist())) == len(portion.unfinished)
    if not right:
        raise InputError(f"no portion of a plan of {tasks} tasks")


def run_of_tasks(tasks: int, number: int, parts: int) -> Portion:
    """A part of so many tasks that follow each other."""
    check_part(number, parts)
    return Portion.of([part_of(tasks, number, parts)])
