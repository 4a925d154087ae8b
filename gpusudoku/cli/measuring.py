"""What ``gpusudoku bench`` was asked for, and measuring it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from gpusudoku import collection
from gpusudoku.cli.messages import is_quiet, note
from gpusudoku.cli.options import InputOptions
from gpusudoku.cli.source import Source
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.bench.running import Case, Subject
    from gpusudoku.bench.tables import Row


@dataclass(frozen=True)
class Request:
    """The arguments and options of the command, under the names that click gives them."""

    boards: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    reading: InputOptions
    devices: tuple[str, ...] | None
    jobs: tuple[int, ...] | None
    methods: tuple[str, ...]
    strategies: tuple[str, ...]
    propagates: tuple[str, ...]
    cutoffs: tuple[float, ...] | None
    cutoff_by: str
    repeats: int
    seconds: float | None
    patience: float
    csv_file: str | None
    json_file: str | None
    plot: str | None
    recorded: str | None
    force: bool


class Results(NamedTuple):
    """The results to show, and how the run ended."""

    rows: list[Row]
    machine: dict[str, Any]
    wrong: Sequence[str] = ()
    """A line for every board that was counted wrongly."""
    interrupted: bool = False


def measure(request: Request) -> Results:
    """Run all cases."""
    from gpusudoku.bench.machine import machine
    from gpusudoku.bench.running import Bench, counter, estimated_seconds
    from gpusudoku.bench.tables import LiveTable, rows_of

    cases = _cases(request)
    bench = Bench(
        cases,
        counter(),
        lambda case: estimated_seconds(case, request.patience),
        repeats=request.repeats,
        seconds=request.seconds,
        patience=request.patience,
    )
    table = LiveTable(bench.measured, StringIO() if is_quiet() else sys.stderr)
    try:
        with patient_interrupts(inf):
            for each in bench:
                table.show(each)
    except KeyboardInterrupt:  # between two cases
        bench.interrupted = True
    finally:
        table.close()
    if bench.interrupted:
        note("interrupted: the results so far follow")
    wrong = [f"{each.case.subject.name}: {each.note}" for each in bench.measured if each.wrong]
    return Results(rows_of(bench.measured), machine(), wrong, bench.interrupted)


def _cases(request: Request) -> list[Case]:
    """Every board under every setting; all options are checked before anything is measured."""
    from gpusudoku.bench.running import cases_of, thread_numbers, usable_devices

    for propagate in request.propagates:
        Options(propagate=propagate)  # complains about unknown techniques
    cases = cases_of(
        _subjects(request),
        devices=request.devices or usable_devices(),
        jobs=request.jobs or thread_numbers(),
        methods=request.methods,
        strategies=request.strategies,
        propagates=request.propagates,
        cutoffs=request.cutoffs or (None,),
        cutoff_by=request.cutoff_by,
    )
    for case in cases:
        Options(**case.options)  # complains about values out of range
    return cases


def _subjects(request: Request) -> list[Subject]:
    """The boards that were asked for, all those of the program by default."""
    from gpusudoku.bench.running import Subject, chosen

    def own(entry: collection.CollectionBoard) -> Subject:
        return Subject(entry.name, collection.load(entry.name), entry.count)

    subjects = [] if request.boards else [own(entry) for entry in collection.entries()]
    for name in request.boards:
        if name.startswith("@"):
            subjects.append(own(collection.entry(name.removeprefix("@"))))
            continue
        source = Source([name], request.reading)
        for number, board in enumerate(source, start=1):
            subjects.append(Subject(name if source.single else f"{name}:{number}", board))
    return chosen(subjects, request.include, request.exclude)
