"""Count 9x9 boards on one core with the fastest programs for that, and with this one.

    export GPUSUDOKU_TDOKU=... GPUSUDOKU_RUST_SUDOKU=... GPUSUDOKU_SCHOKU=...
    python benchmarks/one_core.py                    boards of the program with many solutions
    python benchmarks/one_core.py @1f list.txt       a board, and a list of puzzles, one a line
    python benchmarks/one_core.py --show             the tables of what was recorded before

A person builds the programs; README.md says what they must read and print. Those that are missing
are skipped with a line. Where a processor has 512-bit vectors, ours runs with 256-bit ones, too,
and so do the programs of which there is such a build (GPUSUDOKU_TDOKU_256,
GPUSUDOKU_RUST_SUDOKU_256). First, every program counts a few boards with no, one and many
solutions, so that one that does not work is known after seconds. Then programs take turns. Times
are seconds of the processor, so other work on the core does not count, but what shares its caches
or, as a sibling, its units still shows. Every count of every board is compared with ours, and ours
with the known count where there is one; a wrong one ends the run.

Prints Markdown tables: solutions or puzzles a second, the median of all runs; then how many times
as long as ours with vectors of the same width the others take. Writes every run to a JSON file.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
from built import Counted, Driver, OwnDriver, entrants, title
from machine import gigahertz, record, recorded
from peers import number, usable
from script import Run, board_names, check, grouped, script, table, turns

from gpusudoku import collection, formats
from gpusudoku.errors import GpusudokuError, InputError

BOARDS = ["@1f", "@2f"]
UNIQUE = ["1a", "2a", "b1", "decomposition-9x9"]
"""Puzzles that every program proves before it is timed."""
OTHERS = ["1b", "full-error", "2b", "needs-search", "1a", "conflict-row", "1c", "no-place"]
"""Boards with several solutions, or none, that every program counts before, if it can count."""


class Subject(NamedTuple):
    """What is counted: boards of the program, or a list of puzzles."""

    name: str
    lines: list[str]
    known: list[int] | None
    """The counts of boards of the program."""

    @property
    def puzzles(self) -> bool:
        """Whether every board has one solution, as far as is known."""
        return self.known is None or set(self.known) == {1}


def boards(name: str, members: Sequence[str]) -> Subject:
    """Boards of the program."""
    lines = [formats.write(collection.load(member), "line") for member in members]
    return Subject(name, lines, [collection.entry(member).count for member in members])


def subject(name: str) -> Subject:
    """The subject of a name that begins with ``@``, or of a file.

    Raises
    ------
    InputError
        If there is no such board or file, or it has something else than 9x9 boards.
    """
    if name.startswith("@"):
        [board] = board_names([name])
        found = boards(board, [board])
    else:
        try:
            text = Path(name).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: {error}") from None
        lines = [line.split()[0] for line in text if line.strip() and not line.startswith("#")]
        found = Subject(Path(name).stem, [line.replace("0", ".") for line in lines], None)
    for index, line in enumerate(found.lines):
        if len(line) != 81 or set(line) - set(".123456789"):
            raise InputError(f"{name}: board {index} is {line!r}, expected 81 digits or dots")
    if not found.lines:
        raise InputError(f"{name}: no boards")
    return found


def subjects(names: Sequence[str]) -> list[Subject]:
    """The subjects of names.

    Raises
    ------
    InputError
        If one cannot be read, or two have the same name in the tables.
    """
    found = [subject(name) for name in names]
    all_names = [each.name for each in found]
    for each in all_names:
        if all_names.count(each) > 1:
            raise InputError(f"{each}: two boards or lists of this name")
    return found


def count(program: Driver, each: Subject, limit: float) -> Counted:
    """Count with a program.

    Raises
    ------
    MismatchError
        If it counts wrongly.
    GpusudokuError
        If it fails, or takes longer than the limit.
    """
    try:
        counted = program.count_lines(each.lines, limit)
    except subprocess.TimeoutExpired:
        raise GpusudokuError(f"{each.name}: {program} takes over {limit:g} s") from None
    if each.known is not None:
        for index, pair in enumerate(zip(counted.counts, each.known, strict=True)):
            check(f"{each.name}, {each.lines[index]}: {program}", *pair)
    return counted


def measure(
    programs: Sequence[Driver], all_subjects: Sequence[Subject], limit: float, repeats: int
) -> list[Run]:
    """Every run of every case; of lists, the first program's counts are right.

    Raises
    ------
    MismatchError
        If a program counts wrongly.
    GpusudokuError
        If one fails, or takes longer than the limit.
    """
    runs: list[Run] = []
    right = {each.name: each for each in all_subjects}
    cases = [
        (each.name, program)
        for each in all_subjects
        for program in programs
        if each.puzzles or not program.proves_only
    ]
    label = "{0[0]} {0[1]}".format
    for (name, program), _ in turns(cases, repeats, label, warm_up=False):
        counts, seconds = count(program, right[name], limit)
        right[name] = right[name]._replace(known=counts)
        runs.append(
            {"boards": name, "number": len(counts), "solutions": str(sum(counts)),
             "program": program.name, "bits": program.bits, "seconds": seconds}
        )  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    described = results["machine"]
    runs = results["runs"]
    versions = described["programs"].items()
    programs = ", ".join(f"{name.rpartition(',')[0]} {version}" for name, version in versions)
    print(f"Programs, with their vector instructions: {programs}. ", end="")
    print("The head of a column says how many bits a vector has at most.\n")
    timed = {
        case: median(run["seconds"] for run in found)
        for case, found in grouped(runs, "boards", "program", "bits").items()
    }
    columns = list(grouped(runs, "program", "bits"))
    others = [column for column in columns if column[0] != OwnDriver.name]
    rows = []
    factors = []
    for name, size, solutions in grouped(runs, "boards", "number", "solutions"):
        spent = {column: timed.get((name, *column)) for column in columns}
        done, unit = (int(solutions), "solutions") if size == 1 else (size, "puzzles")
        rates = [number(done / s / 1e6) if s else "" for s in spent.values()]
        rows.append([f"{name}, M {unit}/s", f"{done:,}", *rates])
        ratios = [(spent[column], spent[OwnDriver.name, column[1]]) for column in others]
        factors.append([name, *(number(s / ours) if s and ours else "" for s, ours in ratios)])
    table(["rate", "number", *(title(*column) for column in columns)], rows)
    print()
    table(["their time / ours", *(title(*column) for column in others)], factors)


@script("one_core", show)
@click.argument("names", metavar="BOARDS", nargs=-1)
@click.option("--limit", default=600.0, show_default=True, help="Seconds that a run may take.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
def main(path: Path, names: tuple[str, ...], limit: float, repeats: int) -> None:
    """Count BOARDS: a name as in "gpusudoku boards" with a @ before it, or a file of puzzles."""
    chosen = subjects(names or BOARDS)
    programs = usable(entrants())
    if all(program.name == OwnDriver.name for program in programs):
        raise InputError("there is no other program to compare with")
    versions = {str(program): program.version() for program in programs}
    measure(programs, [boards("puzzles", UNIQUE), boards("boards", OTHERS)], limit, 1)
    before = gigahertz(1)
    runs = measure(programs, chosen, limit, repeats)
    record(path, runs, programs=versions, gigahertz=[before, gigahertz(1)])


if __name__ == "__main__":
    main()
