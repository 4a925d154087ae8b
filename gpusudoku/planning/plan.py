"""What all plans have in common: a count, ready to run, in numbered tasks that can run apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from numpy.typing import NDArray

from gpusudoku.engines.engine import Engine
from gpusudoku.errors import InputError
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Progress
from gpusudoku.results import Estimates, Stats

Done = TypeVar("Done", bound=Stats, covariant=True)


class Outcome(NamedTuple, Generic[Done]):
    """What came of running a plan."""

    numbers: NDArray[Any]
    """uint64 or object (roots): the solutions of every root, which may exceed the limit."""
    stats: Done
    """What was done."""

    @property
    def counts(self) -> list[int]:
        """The numbers as a list."""
        counts: list[int] = self.numbers.tolist()
        return counts


def check_tasks(tasks: range, number: int) -> None:
    """Complain about a range that is not a run of a plan's tasks.

    Raises
    ------
    InputError
        If it is not.
    """
    if tasks.step != 1 or not 0 <= tasks.start <= tasks.stop <= number:
        raise InputError(f"tasks {tasks}: expected a run of the tasks from 0 to {number - 1}")


class Plan(Protocol):
    """A way to count one board, ready to run: packed, priced, and split into tasks.

    Its tasks are numbered. They depend on the board, the options and the version alone, never on
    threads, device or speed, so that the counts of all tasks add up wherever each of them is run.
    An engine groups them, or splits them further, as suits it.
    """

    estimates: Estimates
    """What was estimated before this plan was chosen."""

    @property
    def method(self) -> str:
        """``search`` or ``contraction``."""

    @property
    def seconds(self) -> float:
        """The price: what it should take on one core, in seconds of a machine of 2024."""

    def tasks(self) -> int:
        """The number of tasks. To find it may take a part of the work."""

    def run(
        self,
        engine: Engine,
        *,
        tasks: range | None = None,
        cancel: CancelToken | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Outcome[Stats]:
        """Run all tasks, or some that follow each other; for one thread at a time.

        Raises
        ------
        InputError
            If there are no such tasks.
        Interrupted
            After Ctrl-C or a cancellation; its ``count`` is a lower bound.
        """
