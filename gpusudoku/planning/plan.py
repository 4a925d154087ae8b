"""Plans: a count, divided into numbered tasks that can run anywhere, and the state of its work.

A step works on some tasks. It returns numbers of solutions, which add up, and the remaining work:
tasks that have not begun, and boards that remain of tasks that have. A ``StepResult`` has both, so
that they are saved together. Any process on any machine can resume from there, and no solution is
lost or counted twice.
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

PlanStats = TypeVar("PlanStats", bound=Stats, covariant=True)


class Outcome(NamedTuple, Generic[PlanStats]):
    """The result of running a plan."""

    numbers: NDArray[Any]
    """uint64 or object (roots): the number of solutions of every root. It may exceed the limit."""
    stats: PlanStats
    unfinished: Sequence[int] = ()
    """The roots that the deadline ended. Their numbers are lower bounds."""

    @property
    def counts(self) -> list[int]:
        """The numbers as a list."""
        counts: list[int] = self.numbers.tolist()
        return counts


class Plan(Protocol):
    """A way to count one board, with an estimated time, divided into numbered tasks.

    The tasks depend on the board, the options and the version only, never on threads, device or
    speed. Therefore each task can run anywhere, and the counts of all tasks add up. An engine
    may run several tasks together, or split them further.
    """

    estimates: Estimates
    """The estimates from which this plan was chosen."""

    @property
    def method(self) -> str:
        """``search`` or ``contraction``."""

    @property
    def seconds(self) -> float:
        """The estimated time, in seconds on the reference core."""

    def tasks(self) -> int:
        """Return the number of tasks. This may make the tasks first, which is part of the work."""

    def part(self, number: int, parts: int) -> Portion:
        """Return part ``number`` (from 1) of ``parts`` parts of all tasks. It may be empty.

        Raises
        ------
        InputError
            If ``number`` is not from 1 to ``parts``.
        """

    def run(self, engine: Engine, *, deadline: Deadline | None = None) -> Outcome[Stats]:
        """Run all tasks, until a deadline. Not thread-safe.

        Raises
        ------
        Cancelled
            If the deadline passes before the first task.
        Interrupted
            After Ctrl-C or a cancellation. Its ``count`` is a lower bound.
        """

    def step(self, engine: Engine, portion: Portion, *, seconds: float = inf) -> StepResult:
        """Work on a portion of a plan of one board for about ``seconds``.

        The workers stop where no work is lost. That takes hundredths of a second, or a second if
        the board is contracted in parts. Ctrl-C and cancellations during the job end the step and
        are returned as ``interrupted``. Ctrl-C before or after the job is raised; then the step has
        no result.
        """

    def stats(
        self, counters: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> Stats:
        """Return the statistics of a run with these counters and times."""


class FinishedPlan(NamedTuple):
    """What a ``Watch`` shows of a plan, for a search that ended before a plan was made."""

    method: str
    seconds: float
    estimates: Estimates


@dataclass(frozen=True, eq=False)
class Portion:
    """Work of a plan: whole tasks, and boards that remain of tasks that have begun.

    ``tasks`` are ranges of task numbers, with step 1, none empty. ``boards`` is (k, words), with
    one board per row as the plan packs it. ``task_of``, int64 (k), is the task to which each board
    belongs. No task is in both.
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
        """Make a portion of boards. A board that is still the whole of its task becomes a task.

        ``whole`` is (tasks, words), the board of every task.
        """
        if not len(boards):
            return cls.of([])
        has_begun = (boards != whole[task_of]).any(axis=1)
        whole_tasks = ranges_of(np.sort(task_of[~has_begun]).tolist())
        return cls(tuple(whole_tasks), boards[has_begun], task_of[has_begun])

    @classmethod
    def joined(cls, portions: Sequence[Portion]) -> Portion:
        """Join portions of one plan."""
        with_boards = [portion for portion in portions if len(portion.boards)]
        whole_tasks = cls.of(tasks for portion in portions for tasks in portion.tasks)
        if not with_boards:
            return whole_tasks
        boards = np.concatenate([portion.boards for portion in with_boards])
        task_of = np.concatenate([portion.task_of for portion in with_boards])
        return cls(whole_tasks.tasks, boards, task_of)

    def __bool__(self) -> bool:
        """Return whether there is any work."""
        return bool(self.tasks) or len(self.boards) > 0

    def __len__(self) -> int:
        """Return the number of whole tasks and boards, into which the portion can be split."""
        return sum(map(len, self.tasks)) + len(self.boards)

    @property
    def unfinished(self) -> set[int]:
        """The numbers of all tasks that are not finished."""
        numbers = {number for tasks in self.tasks for number in tasks}
        return numbers | set(self.task_of.tolist())

    def split(self, max_portions: int) -> list[Portion]:
        """Divide the work round-robin into at most ``max_portions`` portions, none empty."""
        portion_count = max(1, min(max_portions, len(self)))
        numbers = [number for tasks in self.tasks for number in tasks]
        portions = []
        for index in range(portion_count):
            # Boards are distributed from the last portion back, tasks from the first on, so that
            # the numbers of pieces differ by one at most.
            board_start = portion_count - 1 - index
            portions.append(
                Portion(
                    tuple(ranges_of(numbers[index::portion_count])),
                    self.boards[board_start::portion_count],
                    self.task_of[board_start::portion_count],
                )
            )
        return portions

    def check(self, task_count: int, words: int) -> None:
        """Check that this is work of a plan of ``task_count`` tasks with ``words`` words a board.

        Raises
        ------
        InputError
            If a task or board cannot belong to such a plan, or a task occurs twice: the portion may
            come from a damaged file.
        """
        if not self._fits(task_count, words):
            raise InputError(f"no portion of a plan of {task_count} tasks")

    def _fits(self, task_count: int, words: int) -> bool:
        for tasks in self.tasks:
            if not 0 <= tasks.start < tasks.stop <= task_count or tasks.step != 1:
                return False
        # Checked before any set of tasks is made: a damaged file could ask for a huge one.
        whole_task_count = sum(map(len, self.tasks))
        if whole_task_count > task_count:
            return False
        if len(self.task_of):
            if self.task_of.min() < 0 or self.task_of.max() >= task_count:
                return False
            if self.boards.shape != (len(self.task_of), words):
                return False
        begun_task_count = len(set(self.task_of.tolist()))
        return whole_task_count + begun_task_count == len(self.unfinished)


class TaskCount(NamedTuple):
    """The number of solutions of consecutive tasks."""

    tasks: range
    solutions: int
    """Exact at any size. For an unfinished task, the number so far."""


@dataclass(frozen=True)
class StepResult:
    """The result of a step: work on a portion for some time."""

    counts: tuple[TaskCount, ...]
    """New solutions of every task, or of consecutive tasks, on which the step worked."""
    remaining: Portion
    """The work that remains."""
    counters: WorkCounters = field(default_factory=WorkCounters)
    """Counters of the work. They are 0 after an interrupt."""
    seconds: float = 0.0
    utilisation: tuple[float, ...] = ()
    """For every worker, the fraction of ``seconds`` in which it worked."""
    interrupted: Interrupted | None = None
    """The Ctrl-C or cancellation that ended the step. The caller saves the step, then raises it."""

    @property
    def count(self) -> int:
        """The number of new solutions."""
        return sum(task_count.solutions for task_count in self.counts)

    @property
    def workers(self) -> int:
        """The number of workers."""
        return max(1, len(self.utilisation))

    @property
    def idle_seconds(self) -> float:
        """The seconds in which workers were idle, added up: the cost of stopping to save."""
        # The number of workers, minus the number of workers that were busy on average.
        return self.seconds * (len(self.utilisation) - sum(self.utilisation))


def task_counts(
    tasks: Sequence[int], solutions: Sequence[int], remaining: Portion
) -> tuple[TaskCount, ...]:
    """Return the counts of tasks, without unfinished tasks that have no solutions so far."""
    unfinished = remaining.unfinished
    return tuple(
        TaskCount(range(task, task + 1), number)
        for task, number in zip(tasks, solutions, strict=True)
        if number or task not in unfinished
    )


def check_part(number: int, parts: int) -> None:
    """Raise an InputError unless ``number`` is from 1 to ``parts``."""
    if not 1 <= number <= parts:
        raise InputError(
            f"part {number} of {parts}: expected a number from 1 to the number of parts"
        )


def ranges_of(numbers: Sequence[int]) -> list[range]:
    """Return ascending numbers as ranges of consecutive ones."""
    ranges: list[range] = []
    for number in numbers:
        if ranges and ranges[-1].stop == number:
            ranges[-1] = range(ranges[-1].start, number + 1)
        else:
            ranges.append(range(number, number + 1))
    return ranges
