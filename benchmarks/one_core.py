"""Race gpusudoku against the fastest programs for 9x9 boards, on one core.

    export GPUSUDOKU_TDOKU=... GPUSUDOKU_RUST_SUDOKU=... GPUSUDOKU_SCHOKU=...
    python benchmarks/one_core.py                    boards of the collection with many solutions
    python benchmarks/one_core.py @1f list.txt       a board, and a list of puzzles, one a line
    python benchmarks/one_core.py --show             print the tables of the recorded run

README.md describes how to build the programs, and what they read and print. Programs that are
missing are skipped, and a line on stderr reports each. If the processor has 512-bit vectors,
gpusudoku also runs with 256-bit vectors, and so do the programs with such a build, which
GPUSUDOKU_TDOKU_256 and GPUSUDOKU_RUST_SUDOKU_256 name. First, every program counts a few boards
without, with one and with many solutions, so that a broken one is found within seconds. Then the
programs take turns. Times are CPU seconds: waiting for the core does not count, but programs that
share its caches, or its execution units on a sibling thread, still slow it down. Every count is
compared with the count of gpusudoku, and that with the known count if there is one. A wrong count
ends the run.

Prints Markdown tables. The first one has millions of solutions or puzzles per second, the median of
all runs. The second one has the time of each program over the time of gpusudoku with vectors of the
same width. Writes every run to a JSON file.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
from built import BoardCounts, Driver, GpusudokuDriver, all_drivers, title
from machine import measure_gigahertz, read_results, record
from peers import format_number, usable
from script import Run, board_names, check_count, group_runs, print_table, script, take_turns

from gpusudoku import collection, formats
from gpusudoku.errors import GpusudokuError, InputError

BOARDS = ["@1f", "@2f"]
PROPER_PUZZLES = ["1a", "2a", "b1", "decomposition-9x9"]
"""Boards with one solution, which every program counts or proves before the race."""
OTHER_BOARDS = ["1b", "full-error", "2b", "needs-search", "1a", "conflict-row", "1c", "no-place"]
"""Boards with any number of solutions; programs that can count count them before the race."""


class Subject(NamedTuple):
    """What is counted: boards of the collection, or a list of puzzles."""

    name: str
    lines: list[str]
    expected: list[int] | None
    """The number of solutions of each board; None for a list, as they are unknown."""

    @property
    def has_puzzles(self) -> bool:
        """Whether every board has one solution; lists are assumed to have puzzles."""
        return self.expected is None or set(self.expected) == {1}


def collection_boards(title: str, names: Sequence[str]) -> Subject:
    """Make a subject of boards of the collection."""
    lines = [formats.write(collection.load(name), "line") for name in names]
    return Subject(title, lines, [collection.entry(name).count for name in names])


def read_subject(name: str) -> Subject:
    """Return the board with a name such as ``@1f``, or the puzzles of a file.

    Raises
    ------
    InputError
        If there is no such board or file, or it has boards that are not 9x9 boards.
    """
    if name.startswith("@"):
        [board] = board_names([name])
        subject = collection_boards(board, [board])
    else:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: {error}") from None
        lines = []
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                puzzle = line.split()[0]
                lines.append(puzzle.replace("0", "."))
        subject = Subject(Path(name).stem, lines, None)
    for index, line in enumerate(subject.lines):
        if len(line) != 81 or set(line) - set(".123456789"):
            raise InputError(f"{name}: board {index} is {line!r}, expected 81 digits or dots")
    if not subject.lines:
        raise InputError(f"{name}: no boards")
    return subject


def read_subjects(names: Sequence[str]) -> list[Subject]:
    """Return the subject of each name.

    Raises
    ------
    InputError
        If one cannot be read, or if two have the same name in the tables.
    """
    subjects = [read_subject(name) for name in names]
    titles = [subject.name for subject in subjects]
    for subject_title in titles:
        if titles.count(subject_title) > 1:
            raise InputError(f"{subject_title}: two boards or lists of this name")
    return subjects


def count(program: Driver, subject: Subject, limit: float) -> BoardCounts:
    """Count a subject with a program.

    Raises
    ------
    MismatchError
        If it counts wrongly.
    GpusudokuError
        If it fails, or takes longer than the limit.
    """
    try:
        result = program.count_lines(subject.lines, limit)
    except subprocess.TimeoutExpired:
        raise GpusudokuError(f"{subject.name}: {program} takes over {limit:g} s") from None
    # Counts of a list are unknown until the first program has counted it.
    if subject.expected is not None:
        pairs = zip(result.counts, subject.expected, strict=True)
        for line, (solution_count, expected) in zip(subject.lines, pairs, strict=True):
            check_count(f"{subject.name}, {line}: {program}", solution_count, expected)
    return result


def measure(
    programs: Sequence[Driver], subjects: Sequence[Subject], limit: float, repeats: int
) -> list[Run]:
    """Return all runs of all cases; for a list, the counts of the first program are expected.

    Raises
    ------
    MismatchError
        If a program counts wrongly.
    GpusudokuError
        If one fails, or takes longer than the limit.
    """
    subject_by_name = {subject.name: subject for subject in subjects}
    cases = [
        (subject.name, program)
        for subject in subjects
        for program in programs
        if subject.has_puzzles or not program.is_proof_only
    ]
    runs: list[Run] = []
    label = "{0[0]} {0[1]}".format
    for (name, program), _ in take_turns(cases, repeats, label, warm_up=False):
        subject = subject_by_name[name]
        counts, cpu_seconds = count(program, subject, limit)
        subject_by_name[name] = subject._replace(expected=counts)
        runs.append(
            {"boards": name, "number": len(counts), "solutions": str(sum(counts)),
             "program": program.name, "bits": program.bits, "seconds": cpu_seconds}
        )  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = read_results(path)
    show_versions(results["machine"]["programs"])

    runs = results["runs"]
    median_seconds = {
        case: median(run["seconds"] for run in case_runs)
        for case, case_runs in group_runs(runs, "boards", "program", "bits").items()
    }
    # A column of the tables is a build of a program: its name and the bits of its vectors.
    builds = list(group_runs(runs, "program", "bits"))
    peer_builds = [build for build in builds if build[0] != GpusudokuDriver.name]

    rate_rows = []
    factor_rows = []
    for name, board_count, solutions in group_runs(runs, "boards", "number", "solutions"):
        seconds = {build: median_seconds.get((name, *build)) for build in builds}
        if board_count == 1:
            amount = int(solutions)
            unit = "solutions"
        else:
            amount = board_count
            unit = "puzzles"
        rates = [
            "" if seconds[build] is None else format_number(amount / seconds[build] / 1e6)
            for build in builds
        ]
        rate_rows.append([f"{name}, M {unit}/s", f"{amount:,}", *rates])

        factors = []
        for program, bits in peer_builds:
            peer_seconds = seconds[program, bits]
            own_seconds = seconds.get((GpusudokuDriver.name, bits))
            is_known = peer_seconds is not None and own_seconds is not None
            factors.append(format_number(peer_seconds / own_seconds) if is_known else "")
        factor_rows.append([name, *factors])

    print_table(["rate", "number", *(title(*build) for build in builds)], rate_rows)
    print()
    print_table(["time / gpusudoku", *(title(*build) for build in peer_builds)], factor_rows)


def show_versions(versions: dict[str, str]) -> None:
    """Print the versions of programs by their titles, and what titles mean."""
    texts = []
    for program_title, version in versions.items():
        name = program_title.rpartition(",")[0]
        texts.append(f"{name} {version}")
    print(
        f"Programs, with their vector instructions: {', '.join(texts)}. "
        "The head of a column has the maximum size of the vectors.\n"
    )


@script("one_core", show)
@click.argument("names", metavar="BOARDS", nargs=-1)
@click.option("--limit", default=600.0, show_default=True, help="Maximum seconds of a run.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
def main(path: Path, names: tuple[str, ...], limit: float, repeats: int) -> None:
    """Count BOARDS: a name as in "gpusudoku boards" with a @ before it, or a file of puzzles."""
    subjects = read_subjects(names or BOARDS)
    programs = usable(all_drivers())
    if all(program.name == GpusudokuDriver.name for program in programs):
        raise InputError("there is no other program to compare with")
    versions = {str(program): program.version() for program in programs}
    tests = [
        collection_boards("puzzles", PROPER_PUZZLES),
        collection_boards("boards", OTHER_BOARDS),
    ]
    measure(programs, tests, limit, 1)  # a broken program ends the script here
    gigahertz_before = measure_gigahertz(1)
    runs = measure(programs, subjects, limit, repeats)
    record(path, runs, programs=versions, gigahertz=[gigahertz_before, measure_gigahertz(1)])


if __name__ == "__main__":
    main()
