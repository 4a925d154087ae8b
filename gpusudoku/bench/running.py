"""Measuring: warm up, then all cases in turn, again and again.

Turn by turn, so that a machine that is slower for a while is slower for all alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, isinf

from gpusudoku.bench.cases import Case
from gpusudoku.errors import Interrupted
from gpusudoku.results import Count

TWICE_SECONDS = 1.0
"""Two interrupts within this time end the run; one skips the case at hand."""


@dataclass(frozen=True)
class Run:
    """One count of a case. Seconds are the engine's, without start-up and compiling."""

    count: int
    seconds: float
    nodes: int
    products: int
    method: str
    utilisation: tuple[float, ...]

    @classmethod
    def of(cls, result: Count) -> Run:
        """What matters of a result."""
        stats = result.stats
        return cls(
            result.count,
            stats.seconds,
            stats.nodes,
            stats.products,
            result.method,
            tuple(stats.utilisation),
        )


@dataclass
class Measured:
    """A case and what came of it."""

    case: Case
    runs: list[Run] = field(default_factory=list)
    note: str = ""
    """Why it is not measured any more, if so."""
    wrong: bool = False
    """Whether that is because its count is not the right one."""

    @property
    def spent(self) -> float:
        """Seconds measured."""
        return sum(run.seconds for run in self.runs)


class Bench:
    """Measures cases.

    Parameters
    ----------
    cases
        What to measure.
    count
        Counts a case.
    expected
        About how many seconds that will take; infinite for what cannot be done.
    repeats
        Runs of every case; not looked at if ``seconds`` is given.
    seconds
        Every case is run again until it took so long in all, at least once.
    patience
        What is expected to take longer is left out.
    clock
        For tests: a clock in seconds.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        count: Callable[[Case], Count],
        expected: Callable[[Case], float],
        repeats: int = 3,
        seconds: float | None = None,
        patience: float = inf,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.measured = [Measured(case) for case in cases]
        self.interrupted = False
        """Whether the run was ended before its time."""
        self._count, self._expected, self._patience = count, expected, patience
        self._repeats, self._seconds, self._clock = repeats, seconds, clock
        self._counts: dict[str, tuple[int, str]] = {
            case.subject.name: (case.subject.count, "known")
            for case in cases
            if case.subject.count is not None
        }
        self._last_interrupt = -inf

    def __iter__(self) -> Iterator[Measured]:
        """Measure; gives every case each time that it is about to be run, or was run.

        The first run of every case warms up: it compiles, and is not kept.
        """
        for warm_up in (True, False):
            while True:
                due = [each for each in self.measured if self._is_due(each, warm_up)]
                for each in due:
                    yield each
                    if not self._run(each, warm_up):
                        return
                    yield each
                if warm_up or not due:
                    break

    def _is_due(self, each: Measured, warm_up: bool) -> bool:
        if each.note:
            return False
        if warm_up or not each.runs:
            return True
        if self._seconds is not None:
            return each.spent < self._seconds
        return len(each.runs) < self._repeats

    def _run(self, each: Measured, warm_up: bool) -> bool:
        """Run a case once; returns whether to go on."""
        try:
            if warm_up and (seconds := self._expected(each.case)) > self._patience:
                each.note = (
                    "too expensive" if isinf(seconds) else f"left out: about {seconds:.2g} s"
                )
                return True
            result = self._count(each.case)
        except (KeyboardInterrupt, Interrupted):
            now = self._clock()
            each.note = "interrupted"
            self.interrupted = now - self._last_interrupt < TWICE_SECONDS
            self._last_interrupt = now
            return not self.interrupted
        run = Run.of(result)
        expected, whose = self._counts.setdefault(
            each.case.subject.name, (run.count, each.case.setting)
        )
        if run.count != expected:
            each.wrong = True
            each.note = f"{run.count} solutions counted, but {expected} are right ({whose})"
        elif not warm_up:
            each.runs.append(run)
        return True
