"""The devices and engines that count cases, and estimates of the time that they take."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf

from gpusudoku.bench.cases import Case
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from gpusudoku.results import Count


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
