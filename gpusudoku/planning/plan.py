"""The interface of all plans: a count, ready to run, in numbered tasks that can run apart."""

from __future__ import annotations

from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from numpy.typing import NDArray

from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.planning.portion import Portion, Step
from gpusudoku.results import Estimates, Stats

Done = TypeVar("Done", bound=Stats, covariant=True)


class Outcome(NamedTuple, Generic[Done]):
    """The result of running a plan."""

    numbers: NDArray[Any]
    """uint64 or object (roots): the solutions of every root, which may exceed the limit."""
    stats: Done

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

    def run(self, engine: Engine) -> Outcome[Stats]:
        """Run all tasks; for one thread at a time.

        After Ctrl-C or a cancellation Interrupted is raised; its ``count`` is a lower bound.
        """

    def step(self, engine: Engine, portion: Portion, *, seconds: float = inf) -> Step:
        """Work at a portion of a plan of one board for about so many seconds.

        The workers stop where that is no work lost: after hundredths of a second, or a second where
        boards are contracted in parts. Ctrl-C and cancellations do not raise, but end the step;
        unless Ctrl-C comes before or after its job: then the step has not been made.
        """

    def stats(
        self, tally: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> Stats:
        """Return the statistics of a run, in one go or in steps, in which so much was done."""
