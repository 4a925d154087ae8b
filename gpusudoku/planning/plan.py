"""Plans: a count, ready to run, in numbered tasks that can run apart; and the state of such work.

A step of work at some tasks finds numbers of solutions that add up, and leaves a rest: tasks that
are not begun, and boards left of tasks that are. What was found and what is left always belong
together: saved together, they can be resumed by any process on any machine, and no solution is lost
or counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs.cancel import Deadline
from gpusudoku.results import Estimates, Stats

Done = TypeVar("Done", bound=Stats, covariant=True)


class Outcome(NamedTuple, Generic[Done]):
    """The result of running a plan."""

    numbers: NDArray[Any]
    """uint64 or object (roots): the solutions of every root, which may exceed the limit."""
    stats: Done
    unfinished: Sequence[int] = ()
    """The roots that are not finished, as the deadline passed: their numbers are lower bounds."""

    @property
    def counts(self) -> list[int]:
        """The numbers as a list."""
        counts: list[int] = self.numbers.tolist()
        return counts


class Plan(Protocol):
    """A way to count one board, ready to run: packed, priced, and split into tasks.

    Its tasks are numbered. They depend on the board, the options and the version alone, never on
    threads, device or speed, so that the counts of all tasks add up wherever each of them is run.
    An engine groups them, or splits them further, as suits it.
    """

    estimates: Estimates
    """The estimates made before this plan was chosen."""

    @property
    def method(self) -> str:
        """``search`` or ``contraction``."""

    @property
    def seconds(self) -> float:
        """The price: the expected time on one core, in seconds of a machine of 2024."""

    def tasks(self) -> int:
        """Return the number of tasks. To find it may take a part of the work."""

    def part(self, number: int, parts: int) -> Portion:
        """Return part ``number``, from 1 on, of all tasks in ``parts`` parts; some may be empty.

        InputError if there is no such part.
        """

    def run(self, engine: Engine, *, deadline: Deadline | None = None) -> Outcome[Stats]:
        """Run all tasks, or end at a deadline; for one thread at a time.

        Cancelled is raised if the deadline passes before the first task.
        After Ctrl-C or a cancellation Interrupted is raised; its ``count`` is a lower bound.
        """

    def step(self, engine: Engine, portion: Portion, *, seconds: float = inf) -> StepResult:
        """Work at a portion of a plan of one board for about so many seconds.

        The workers stop where that is no work lost: after hundredths of a second, or a second where
        boards are contracted in parts. Ctrl-C and cancellations do not raise, but end the step;
        unless Ctrl-C comes before or after its job: then the step has not been made.
        """

    def stats(
        self, tally: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> Stats:
        """Return the statistics of a run, in one go or in steps, in which so much was done."""


class FinishedPlan(NamedTuple):
    """The facts of a plan, for watches, of a search that was finished before it was planned."""

    method: str
    seconds: float
    estimates: Estimates


@dataclass(frozen=True, eq=False)
class Portion:
    """Some of a plan's work: whole tasks, and boards that are left of others.

    ``tasks`` are runs of task numbers, of step 1, none empty. ``boards`` is (k, words), one
    board a row as the plan packs it, and ``task_of``, int64 (k), the task that each descends from.
    No task is in both.
    """

    tasks: tuple[range, ...]
    boards: NDArray[Any]
    task_of: NDArray[np.int64]

    @classmethod
    def of(cls, tasks: Iterable[range]) -> Portion:
        """Make a portion of whole tasks."""
        runs = tuple(run for run in tasks if run)
        return cls(runs, np.zeros((0, 0), np.uint64), np.zeros(0, np.int64))

    @classmethod
    def of_boards(
        cls, boards: NDArray[Any], task_of: NDArray[np.int64], whole: NDArray[Any]
    ) -> Portion:
        """Make a portion of boards; one that is still the ``whole`` of its task becomes a task.

        The last is (tasks, words), the board of every task.
        """
        if not len(boards):
            return cls.of([])
        begun = (boards != whole[task_of]).any(axis=1)
        fresh = runs(np.sort(task_of[~begun]).tolist())
        return cls(tuple(fresh), boards[begun], task_of[begun])

    @classmethod
    def joined(cls, portions: Sequence[Portion]) -> Portion:
        """Join portions of one plan."""
        begun = [portion for portion in portions if len(portion.boards)]
        whole = cls.of(run for portion in portions for run in portion.tasks)
        if not begun:
            return whole
        boards = np.concatenate([portion.boards for portion in begun])
        return cls(whole.tasks, boards, np.concatenate([portion.task_of for portion in begun]))

    def __bool__(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.tasks) or len(self.boards) > 0

    def __len__(self) -> int:
        """Count the tasks that are not begun, and the boards: the most portions to be had."""
        return sum(map(len, self.tasks)) + len(self.boards)

    @property
    def unfinished(self) -> set[int]:
        """The numbers of all tasks that are not finished."""
        numbers = {number for run in self.tasks for number in run}
        return numbers | set(self.task_of.tolist())

    def split(self, max_portions: int) -> list[Portion]:
        """Divide it into at most ``max_portions`` portions, none empty, round-robin."""
        parts = max(1, min(max_portions, len(self)))
        numbers = [number for run in self.tasks for number in run]
        return [
            Portion(
                tuple(runs(numbers[part::parts])),
                self.boards[parts - 1 - part :: parts],
                self.task_of[parts - 1 - part :: parts],
            )
            for part in range(parts)
        ]

    def check(self, tasks: int, words: int) -> None:
        """Check that it is a portion of a plan with so many tasks, whose boards have so many words.

        It may come from a damaged file: InputError for tasks or boards that cannot be the plan's,
        or a task that is there twice.
        """
        # No set is made of the tasks before their bounds are known to be right.
        right = all(0 <= run.start < run.stop <= tasks and run.step == 1 for run in self.tasks)
        number = sum(map(len, self.tasks)) if right else 0
        right = right and number <= tasks
        if right and len(self.task_of):
            right = self.task_of.min() >= 0 and self.task_of.max() < tasks
            right = right and self.boards.shape == (len(self.task_of), words)
        if right:
            right = number + len(set(self.task_of.tolist())) == len(self.unfinished)
        if not right:
            raise InputError(f"no portion of a plan of {tasks} tasks")


class TaskCount(NamedTuple):
    """The solutions found of some tasks that follow each other."""

    tasks: range
    solutions: int
    """Exact at any size; of a task that is not finished, those so far."""


@dataclass(frozen=True)
class StepResult:
    """The result of a step of work at a portion."""

    found: tuple[TaskCount, ...]
    """New solutions of every task that was worked at, or of runs of them."""
    left: Portion
    """The work that is left."""
    tally: WorkCounters = field(default_factory=WorkCounters)
    """The work that was done. An interrupt leaves none."""
    seconds: float = 0.0
    utilisation: tuple[float, ...] = ()
    """For every worker the share of these seconds in which it worked."""
    interrupted: Interrupted | None = None
    """The Ctrl-C or cancellation that ended it early; the caller raises it once all is saved."""

    @property
    def count(self) -> int:
        """The number of new solutions."""
        return sum(found.solutions for found in self.found)

    @property
    def workers(self) -> int:
        """The number of workers."""
        return max(1, len(self.utilisation))

    @property
    def idle_seconds(self) -> float:
        """The seconds in which workers had nothing to do: the price of stopping for a save."""
        return self.seconds * (len(self.utilisation) - sum(self.utilisation))


def found_of(
    tasks: Sequence[int], solutions: Sequence[int], left: Portion
) -> tuple[TaskCount, ...]:
    """Return the solutions of some tasks, but for tasks that are not finished and have none yet."""
    unfinished = left.unfinished
    return tuple(
        TaskCount(range(task, task + 1), number)
        for task, number in zip(tasks, solutions, strict=True)
        if number or task not in unfinished
    )


def check_part(number: int, parts: int) -> None:
    """Check that there is a part with this number, from 1 on; InputError if not."""
    if not 1 <= number <= parts:
        raise InputError(f"part {number} of {parts}: expected one from 1 to the second")


def runs(numbers: Sequence[int]) -> list[range]:
    """Write ascending numbers as ranges of those that follow each other."""
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found
