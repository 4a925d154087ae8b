"""Time commands and calls, topic by topic, check every answer, and show the results as tables.

The cases of a topic take turns, and their medians are shown. Tables have CPU seconds, which other
programs on the machine disturb less; those of the clock are recorded beside them, in
``results/timings-TOPIC.json``. The cases are in ``timing_cases.py``.

    python benchmarks/timings.py                  all topics: ten minutes on two cores
    python benchmarks/timings.py waits making     some topics
    python benchmarks/timings.py --show waits     the table of what was recorded before
    python benchmarks/timings.py --list           the topics
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from statistics import median

import click
from machine import RESULTS, gigahertz, record, recorded, source
from script import (
    Run,
    command,
    duration,
    grouped,
    repeated,
    show_recorded,
    table,
    three_digits,
    turns,
)
from timing_cases import TOPICS, Case, Setting, Topic

from gpusudoku.errors import InputError, MismatchError
from gpusudoku.jobs.threads import usable_cores

MEMORY = Path("/dev/shm")
"""Where files are in memory, on Linux."""


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
    """Print the table of a recorded file: a row for each label, a column for each variant."""
    results = recorded(path)
    topic = TOPICS[results["machine"]["topic"]]
    by_case = grouped(results["runs"], "label", "variant")
    texts = {case: text_of(runs, topic) for case, runs in by_case.items()}
    labels = dict.fromkeys(label for label, _ in texts)
    variants = dict.fromkeys(variant for _, variant in texts)
    heading = f"{topic.item}s a second and core" if topic.rates else f"CPU time per {topic.item}"
    print(f"{heading[0].upper()}{heading[1:]}. {repeated(by_case.values())}\n")
    rows = [[label, *(texts.get((label, variant), "") for variant in variants)] for label in labels]
    table([topic.rows, *(variant or heading for variant in variants)], rows)


def text_of(runs: list[Run], topic: Topic) -> str:
    """Return what the table says of a case: its rate, or the time that an item takes."""
    seconds = median(run["cpu_seconds"] / run["items"] for run in runs)
    return three_digits(1 / seconds) if topic.rates else duration(seconds)


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
@click.option(
    "--quick",
    is_flag=True,
    help="Try it: a hundredth of the items, and small boards. Give --results, too.",
)
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
    if quick and not only_show and Path(results).resolve() == RESULTS.resolve():
        raise InputError("--quick needs another folder of --results than the recorded one")
    for name in topics or TOPICS:
        path = Path(results, f"timings-{name}.json")
        if not only_show:
            measure(TOPICS[name], path, quick, repeats)
        show_recorded("timings", show_with_source, path)


if __name__ == "__main__":
    main()
