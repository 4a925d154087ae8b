"""Time commands and calls, topic by topic, check every answer, and show the results as tables.

The cases of a topic take turns, and tables show their medians. Tables have CPU seconds, which other
programs on the machine disturb less than wall-clock seconds; both are recorded in
``results/timings-TOPIC.json``. The cases are in ``timing_cases.py``.

    python benchmarks/timings.py                  all topics: ten minutes on two cores
    python benchmarks/timings.py waits making     these topics
    python benchmarks/timings.py --show waits     print the table of the recorded run
    python benchmarks/timings.py --list           print the topics
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from statistics import median

import click
from machine import RESULTS, measure_gigahertz, read_results, record, source_line
from script import (
    Run,
    command,
    describe_repeats,
    format_duration,
    format_three_digits,
    group_runs,
    print_table,
    show_recorded,
    take_turns,
)
from timing_cases import TOPICS, Case, Setting, Topic

from gpusudoku.errors import InputError, MismatchError
from gpusudoku.jobs.threads import usable_cores

MEMORY_FOLDER = Path("/dev/shm")
"""A folder whose files are in memory, on Linux."""


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all its child processes that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def time_case(case: Case) -> Run:
    """Run a case once.

    Raises
    ------
    MismatchError
        If not all items of its answer are right.
    """
    start_wall = time.perf_counter()
    start_cpu = cpu_seconds()
    answer = case.run()  # checked after the clocks have stopped
    elapsed_cpu = cpu_seconds() - start_cpu
    elapsed_wall = time.perf_counter() - start_wall
    right_items = case.count_right(answer)
    if right_items != case.items:
        raise MismatchError(
            f"{name_of(case)}: {right_items} items are right, expected {case.items}"
        )
    return {"label": case.label, "variant": case.variant, "items": case.items,
            "seconds": elapsed_wall, "cpu_seconds": elapsed_cpu}  # fmt: skip


def name_of(case: Case) -> str:
    """Return the name of a case for messages."""
    return f"{case.label}, {case.variant}" if case.variant else case.label


def measure(topic: Topic, path: Path, quick: bool, repeats: int) -> None:
    """Time all cases of a topic in turns, and record them in a file."""
    cores = usable_cores()
    parent = MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        # Making all cases first prepares their files and puzzles before the first one is timed.
        cases = list(topic.make_cases(Setting(Path(folder), quick)))
        gigahertz_before = measure_gigahertz(cores)
        runs = []
        for case, is_recorded in take_turns(cases, repeats, name_of):
            run = time_case(case)
            if is_recorded:
                runs.append(run)
    command_line = f"python benchmarks/timings.py {topic.name}"
    gigahertz = [gigahertz_before, measure_gigahertz(cores)]
    record(path, runs, topic=topic.name, command=command_line, gigahertz=gigahertz)


def show(path: Path) -> None:
    """Print the table of a recorded file: a row for each label, a column for each variant."""
    results = read_results(path)
    topic = TOPICS[results["machine"]["topic"]]
    runs_of_cases = group_runs(results["runs"], "label", "variant")
    cells = {case: format_case(runs, topic) for case, runs in runs_of_cases.items()}
    labels = dict.fromkeys(label for label, _ in cells)
    variants = dict.fromkeys(variant for _, variant in cells)
    heading = f"CPU time per {topic.item}"
    if topic.has_rates:
        heading = f"{topic.item}s a second and core"
    print(f"{heading[0].upper()}{heading[1:]}. {describe_repeats(runs_of_cases.values())}\n")

    # Topics without variants have one column of figures.
    heads = [topic.rows, *(variant or heading for variant in variants)]
    rows = [[label, *(cells.get((label, variant), "") for variant in variants)] for label in labels]
    print_table(heads, rows)


def format_case(runs: list[Run], topic: Topic) -> str:
    """Return the cell of a case: its rate, or the time per item."""
    seconds_per_item = median(run["cpu_seconds"] / run["items"] for run in runs)
    if topic.has_rates:
        return format_three_digits(1 / seconds_per_item)
    return format_duration(seconds_per_item)


def show_with_source(path: Path) -> None:
    """Print the table of a recorded file, and the line that names its source."""
    show(path)
    print(f"\n{source_line(path, 'python benchmarks/timings.py')}\n")


@command("timings")
@click.argument("topics", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="Print the topics; time nothing.")
@click.option("--show", "only_show", is_flag=True, help="Print the tables; time nothing.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True,
              help="Runs of every case, after a warm-up.")  # fmt: skip
@click.option(
    "--quick",
    is_flag=True,
    help="For a trial: a hundredth of the items, and small boards. Needs --results.",
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
    # A trial must not replace the recorded results.
    if quick and not only_show and Path(results).resolve() == RESULTS.resolve():
        raise InputError("--quick needs another folder of --results than the recorded one")
    for name in topics or TOPICS:
        path = Path(results, f"timings-{name}.json")
        if not only_show:
            measure(TOPICS[name], path, quick, repeats)
        show_recorded("timings", show_with_source, path)


if __name__ == "__main__":
    main()
