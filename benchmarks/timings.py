"""Time commands and calls, topic by topic, check every answer, and show the results as tables.

The cases of a topic take turns, and their medians are shown. Seconds are recorded by the clock and
by the processor, in ``results/timings-TOPIC.json``. The cases are in ``timing_cases.py``.

    python benchmarks/timings.py                  all topics: ten minutes on two cores
    python benchmarks/timings.py waits making     some topics
    python benchmarks/timings.py --show waits     the table of what was recorded before
    python benchmarks/timings.py --list           the topics
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
from machine import RESULTS, gigahertz, record, recorded, source
from script import Run, command, grouped, repeated, show_recorded, table, turns
from timing_cases import TOPICS, Case, Setting, Topic

from gpusudoku.errors import InputError, MismatchError
from gpusudoku.jobs.cores import usable_cores

MEMORY = Path("/dev/shm")
"""Where files are in memory, on Linux."""


class Medians(NamedTuple):
    """The number of items of a case, and its median times."""

    items: int
    seconds: float
    cpu_seconds: float


CELLS: dict[str, tuple[str, Callable[[Medians, Medians], str]]] = {
    "each": ("CPU time per {}", lambda case, _: duration(case.cpu_seconds / case.items)),
    "rate": ("{}s a second", lambda case, _: three_digits(case.items / case.seconds)),
    "core rate": (
        "{}s a second and core",
        lambda case, _: three_digits(case.items / case.cpu_seconds),
    ),
    "speed-up": ("speed-up", lambda case, first: f"{first.seconds / case.seconds:.2f}"),
}
"""What a table can say of a case: the heading, and the text, given the case and the first one of
its row."""


def duration(seconds: float) -> str:
    """Return a time in seconds, milliseconds or microseconds, in three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds / 1e-6)} µs"


def three_digits(number: float) -> str:
    """Return a number rounded to three digits."""
    return f"{float(f'{number:.3g}'):,.10g}"


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all commands that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def time_case(case: Case) -> Run:
    """Run a case once.

    Raises
    ------
    MismatchError
        If not all items of its answer are right.
    """
    start = time.perf_counter()
    start_cpu = cpu_seconds()
    answer = case.run()
    spent_cpu = cpu_seconds() - start_cpu
    seconds = time.perf_counter() - start
    right = case.count_right(answer)
    if right != case.items:
        raise MismatchError(f"{name_of(case)}: {right} items are right, expected {case.items}")
    return {"label": case.label, "variant": case.variant, "items": case.items,
            "seconds": seconds, "cpu_seconds": spent_cpu}  # fmt: skip


def name_of(case: Case) -> str:
    """Return what messages call a case."""
    return f"{case.label}, {case.variant}" if case.variant else case.label


def measure(topic: Topic, path: Path, quick: bool, repeats: int) -> None:
    """Time all cases of a topic in turns, and record them in a file."""
    cores = usable_cores()
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        cases = [*topic.make_cases(Setting(Path(folder), quick))]
        before = gigahertz(cores)
        runs = []
        for case, kept in turns(cases, repeats, name_of):
            run = time_case(case)
            if kept:
                runs.append(run)
    words = f"python benchmarks/timings.py {topic.name}"
    record(path, runs, topic=topic.name, command=words, gigahertz=[before, gigahertz(cores)])


def show(path: Path) -> None:
    """Print the table of a recorded file: a row for each label, columns for the variants."""
    results = recorded(path)
    topic = TOPICS[results["machine"]["topic"]]
    by_case = grouped(results["runs"], "label", "variant")
    cases = {
        case: Medians(*(median(run[field] for run in runs) for field in Medians._fields))
        for case, runs in by_case.items()
    }
    variants = list(dict.fromkeys(variant for _, variant in cases))
    columns = [
        (variant, cell)
        for variant in variants
        for cell in topic.cells
        if cell != "speed-up" or variant != variants[0]  # that is 1
    ]
    headings = {cell: CELLS[cell][0].format(topic.item) for cell in topic.cells}
    texts = [": ".join(filter(None, [variant, headings[cell]])) for variant, cell in columns]
    caption = repeated(by_case.values())
    if len(topic.cells) == 1:  # said once, above the table
        [heading] = headings.values()
        caption = f"{heading[0].upper()}{heading[1:]}. {caption}"
        texts = [variant or heading for variant, _ in columns]
    rows = []
    for label in dict.fromkeys(label for label, _ in cases):
        in_row = {variant: case for (other, variant), case in cases.items() if other == label}
        first = next(iter(in_row.values()))
        texts_of_row = [CELLS[cell][1](in_row[variant], first) if variant in in_row else ""
                        for variant, cell in columns]  # fmt: skip
        rows.append([label, *texts_of_row])
    print(f"{caption}\n")
    table([topic.rows, *texts], rows)


def show_with_source(path: Path) -> None:
    """Print the table of a recorded file, and where it is from."""
    show(path)
    print(f"\n{source(path, 'python benchmarks/timings.py')}\n")


@command("timings")
@click.argument("topics", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="Print the topics; time nothing.")
@click.option("--show", "only_show", is_flag=True, help="Print the tables; time nothing.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True,
              help="Runs of every case, after one that warms up.")  # fmt: skip
@click.option("--quick", is_flag=True, help="A hundredth of the items, and small boards.")
@click.option("--results", default=str(RESULTS), help="Folder of the results.")
def main(
    topics: tuple[str, ...], only_list: bool, only_show: bool, repeats: int, quick: bool,
    results: str,
) -> None:  # fmt: skip
    """Time the cases of TOPICS, by default of all."""
    unknown = [name for name in topics if name not in TOPICS]
    if unknown:
        raise InputError(f"no topic {unknown[0]!r}: expected some of {', '.join(TOPICS)}")
    if only_list:
        for name, topic in TOPICS.items():
            print(f"{name:<10} {topic.make_cases.__doc__}")
        return
    for name in topics or TOPICS:
        path = Path(results, f"timings-{name}.json")
        if not only_show:
            measure(TOPICS[name], path, quick, repeats)
        show_recorded("timings", show_with_source, path)


if __name__ == "__main__":
    main()
