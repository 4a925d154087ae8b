"""The cases of a benchmark, every board under every setting, and measuring them.

All cases are warmed up, then run in turn, again and again: so a machine which is slower for a while
is slower for all of them.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from math import inf, isinf
from typing import Any

from gpusudoku.board.board import Board
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import InputError, Interrupted, TooExpensive
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.interrupts import last_interrupt
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from gpusudoku.results import Count, SearchStats

TWICE_SECONDS = 1.0
"""Ctrl-C twice within this time ends the run, and a single one skips the current case. Any other
signal ends the run."""
LEAST_SECONDS = 0.01
"""In less time it is chance whether another program is given the core."""


@dataclass(frozen=True)
class Subject:
    """A board to measure."""

    name: str
    board: Board
    count: int | None = None
    """The exact number of solutions; None if it is not known."""


@dataclass(frozen=True)
class Case:
    """A board and a setting: ``options`` are those of ``gpusudoku.count``."""

    subject: Subject
    options: dict[str, Any] = field(hash=False)

    @property
    def setting(self) -> str:
        """The options that matter to this method and device, in a few words."""
        options = self.options
        words = [str(options["method"]), str(options["device"])]
        if options["device"] == "cpu":
            words.append(f"-j {options['jobs']}")
        if options["method"] != "contraction":
            words += [str(options["strategy"]), str(options["propagate"])]
            if options["cutoff"] is not None:
                words.append(f"{options['cutoff_by']} {options['cutoff']:g}")
        return " ".join(words)


def cases_of(
    subjects: Iterable[Subject],
    *,
    devices: Sequence[str] = ("cpu",),
    jobs: Sequence[int] = (1,),
    methods: Sequence[str] = ("search",),
    strategies: Sequence[str] = ("min",),
    propagates: Sequence[str] = ("singles",),
    cutoffs: Sequence[float | None] = (None,),
    cutoff_by: str = "space",
) -> list[Case]:
    """Every board under every combination of options that makes a difference.

    Only the CPU has threads, and a contraction has neither strategy, propagation nor cutoff.
    """
    settings: dict[str, dict[str, Any]] = {}
    for method, strategy, propagate, cutoff, device, number in product(
        methods, strategies, propagates, cutoffs, devices, jobs
    ):
        options = {
            "method": method,
            "device": device,
            "jobs": number if device == "cpu" else None,
            "strategy": strategy,
            "propagate": propagate,
            "cutoff": cutoff,
            "cutoff_by": cutoff_by,
        }
        settings.setdefault(Case(Subject("", Board([0])), options).setting, options)
    return [Case(subject, options) for subject in subjects for options in settings.values()]


def chosen(
    subjects: Iterable[Subject], include: Sequence[str], exclude: Sequence[str]
) -> list[Subject]:
    """The boards whose names match a pattern of ``include`` and none of ``exclude``.

    Without a pattern in ``include`` every name matches.

    Raises
    ------
    InputError
        If no board is left.
    """

    def matches(name: str, patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    left = [
        subject
        for subject in subjects
        if (not include or matches(subject.name, include)) and not matches(subject.name, exclude)
    ]
    if not left:
        raise InputError("no board is left to measure: see --include and --exclude")
    return left


def usable_devices() -> tuple[str, ...]:
    """The devices that can be used here."""
    return ("cpu",) if availability.unusable_because() is not None else ("cpu", "cuda")


def thread_numbers() -> tuple[int, ...]:
    """1, 2, 4 ... and the number of usable cores."""
    cores = usable_cores()
    return tuple(sorted({*(1 << k for k in range(cores.bit_length()) if 1 << k < cores), cores}))


def counter() -> Callable[[Case], Count]:
    """A function that counts a case; cases on the same device and threads share an engine."""

    @cache
    def engine_of(device: str, jobs: int | None) -> Engine:
        return make_engine(device=device, jobs=jobs)

    def count_case(case: Case) -> Count:
        options = case.options
        engine = engine_of(options["device"], options["jobs"])
        return count(case.subject.board, engine=engine, **options)

    return count_case


def estimated_seconds(case: Case, patience: float) -> float:
    """The seconds that a case is estimated to take; infinite for one that cannot be done."""
    try:
        plan = choose(case.subject.board, Options(**case.options), worth=patience)
    except TooExpensive:
        return inf
    return plan.seconds / (case.options["jobs"] or 1)


@dataclass(frozen=True)
class Run:
    """One count of a case. Seconds are the engine's, without start-up and compiling."""

    count: int
    seconds: float
    nodes: int
    method: str
    utilisation: tuple[float, ...]
    got: float | None
    """The share of the time that its threads worked for which they had a core; None if unknown."""
    cutoff_reached: bool
    """False if memory did not allow a frontier of boards as small as the cutoff."""

    @classmethod
    def of(cls, result: Count, wall: float, processor: float) -> Run:
        """The part of a result that is kept.

        Parameters
        ----------
        result
            What was counted.
        wall
            The seconds that it took, planning included.
        processor
            The processor's seconds of all threads in that time.
        """
        seconds, utilisation = result.stats.seconds, tuple(result.stats.utilisation)
        known = result.device == "cpu" and wall >= LEAST_SECONDS
        got = processor / _wanted(result, wall) if known else None
        reached = not isinstance(result.stats, SearchStats) or result.stats.cutoff_reached
        return cls(result.count, seconds, _nodes(result), result.method, utilisation, got, reached)


def _wanted(result: Count, wall: float) -> float:
    """The processor's seconds that threads use if each has a core whenever it works.

    Of a contraction nobody knows how long its parts took for which there is one thread only, so
    this is what one thread uses: less cannot be.
    """
    stats = result.stats
    if not isinstance(stats, SearchStats):
        return wall
    shared = stats.seconds - stats.expansion_seconds
    return wall + max(0.0, sum(stats.utilisation) - 1) * shared


def _nodes(result: Count) -> int:
    """The nodes that a search looked at; 0 for a contraction, which has none."""
    return result.stats.nodes if isinstance(result.stats, SearchStats) else 0


@dataclass
class Measured:
    """A case and its runs."""

    case: Case
    runs: list[Run] = field(default_factory=list)
    note: str = ""
    """Why the case is not measured any more; empty while it is."""
    wrong: bool = False
    """Whether the reason is a wrong count."""

    @property
    def spent(self) -> float:
        """The seconds of all runs."""
        return sum(run.seconds for run in self.runs)


class Bench:
    """Measures cases.

    Parameters
    ----------
    cases
        The cases to measure.
    count
        Counts a case.
    expected
        Estimates the seconds that a count takes; infinite for one that cannot be done.
    repeats
        The number of runs of every case; ignored if ``seconds`` is given.
    seconds
        Every case is run at least once, and again until its runs took this long in all.
    patience
        Cases that are expected to take longer than this, in seconds, are left out.
    clock
        A clock in seconds; tests have their own.
    processor
        The processor's seconds of this process until now; tests have their own.
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
        processor: Callable[[], float] = time.process_time,
    ) -> None:
        self.measured = [Measured(case) for case in cases]
        self.interrupted = False
        """Whether the run was ended early."""
        self._count, self._expected, self._patience = count, expected, patience
        self._repeats, self._seconds = repeats, seconds
        self._clock, self._processor = clock, processor
        self._counts: dict[str, tuple[int, str]] = {
            case.subject.name: (case.subject.count, "known")
            for case in cases
            if case.subject.count is not None
        }
        self._last_interrupt = -inf

    def __iter__(self) -> Iterator[Measured]:
        """Measure; gives every case before and after each of its runs.

        The first run of every case is a warm-up, which compiles, and is not kept.
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
        """Run a case once; returns False if the whole run ends."""
        try:
            if warm_up and (seconds := self._expected(each.case)) > self._patience:
                each.note = (
                    "too expensive" if isinf(seconds) else f"left out: about {seconds:.2g} s"
                )
                return True
            before = self._clock(), self._processor()
            result = self._count(each.case)
            wall, processor = self._clock() - before[0], self._processor() - before[1]
        except (KeyboardInterrupt, Interrupted):
            now = self._clock()
            each.note = "interrupted"
            twice = now - self._last_interrupt < TWICE_SECONDS
            self.interrupted = twice or last_interrupt() not in (None, signal.SIGINT)
            self._last_interrupt = now
            return not self.interrupted
        run = Run.of(result, wall, processor)
        expected, whose = self._counts.setdefault(
            each.case.subject.name, (run.count, each.case.setting)
        )
        if run.count != expected:
            each.wrong = True
            each.note = f"{run.count} solutions counted, but {expected} are right ({whose})"
        elif not warm_up:
            each.runs.append(run)
        return True
