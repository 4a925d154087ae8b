"""Time other programs that count all solutions, and gpusudoku, on the same boards in one run.

    pip install '.[peers]'                       and qqwing, if the system has it; README.md
                                                 describes programs to build from source
    python benchmarks/peers.py                   about five minutes
    python benchmarks/peers.py 1a 2b --limit 5   these boards, at most 5 s a count
    python benchmarks/peers.py --show            print the tables of the recorded run

Programs that are missing are skipped, and a line on stderr reports each. Every count runs in a
process of its own, which is ended when it exceeds the limit. The time is measured inside of it,
from the board to the number: it includes building a model, but not imports and compiling. Programs
take turns, so that a change of the machine's speed affects all of them. Every count is checked, and
a wrong one ends the run.

Prints Markdown tables. The first one has seconds; `>` marks a count that was ended, with the
solutions per second until then if the program reports them. The second one has the time of each
program over the time of gpusudoku's search on one thread; `>` marks lower bounds. Writes every run
to a JSON file, with the machine and the versions.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import geometric_mean
from typing import NamedTuple

import click
from adapters import PACKAGES, Answer, Gpusudoku, Program
from built import max_vector_bits, peer_drivers
from machine import measure_gigahertz, read_results, record
from script import Run, board_names, group_runs, print_table, script, take_turns

from gpusudoku import Board, collection
from gpusudoku.errors import GpusudokuError, MismatchError

BOARDS = ["1a", "1b", "1c", "1d", "2a", "2b", "2c", "2d", "decomposition-9x9", "16x16-unique"]
OWN: list[Program] = [
    Gpusudoku("gpusudoku search, -j 1", method="search", jobs=1),
    Gpusudoku("gpusudoku search, all cores", method="search"),
    Gpusudoku("gpusudoku auto, all cores"),
]
"""The runs of gpusudoku; other programs are compared with the first."""
PEERS: list[Program] = [*PACKAGES, *peer_drivers(max_vector_bits())]
SHORT_SECONDS = 2.0
"""A count that takes longer is not repeated."""
GRACE_SECONDS = 1.0
"""Programs that stop by themselves at the limit may take this much longer."""
MANY_SOLUTIONS = 10_000
"""For boards with fewer solutions most of the time is start-up, so their means are separate."""


Cases = dict[tuple[str, str], Answer | None]
"""The answer of the median run, by board and program."""


class Factor(NamedTuple):
    """A time over the time of gpusudoku."""

    ratio: float
    is_exact: bool
    """Whether the count was complete; otherwise the ratio is a lower bound."""


def usable(programs: list[Program]) -> list[Program]:
    """Return the programs that can be measured here; print why the others cannot."""
    usable_programs = []
    for program in programs:
        reason = program.unusable_because()
        if reason is None:
            usable_programs.append(program)
        else:
            click.echo(f"{program.name}: skipped, {reason}", err=True)
    return usable_programs


def measure(programs: list[Program], names: list[str], limit: float, repeats: int) -> list[Run]:
    """Return all runs of all cases.

    Raises
    ------
    MismatchError
        If a program counts wrongly.
    """
    cases = [
        (name, program)
        for name in names
        for program in programs
        if program.can_count(collection.load(name))
    ]
    runs: list[Run] = []
    long_cases = set()
    label = "{0[0]} {0[1].name}".format
    for (name, program), _ in take_turns(cases, repeats, label, warm_up=False):
        if (name, program.name) in long_cases:
            continue
        answer = count_in_process(program, collection.load(name), limit)
        check_answer(name, program, answer)
        if not answer.complete or answer.seconds > SHORT_SECONDS:
            long_cases.add((name, program.name))  # no further runs
        expected = collection.entry(name).count
        runs.append({"board": name, "count": str(expected), "program": program.name,
                     **answer._asdict()})  # fmt: skip
    return runs


def check_answer(name: str, program: Program, answer: Answer) -> None:
    """Compare an answer with the known count of a board.

    Raises
    ------
    MismatchError
        If a complete count is wrong, or an incomplete one is too large.
    """
    expected = collection.entry(name).count
    solutions = answer.solutions or 0
    if solutions > expected or (answer.complete and solutions != expected):
        raise MismatchError(f"{name}: {program.name} counts {solutions} solutions, not {expected}")


def count_in_process(program: Program, board: Board, limit: float) -> Answer:
    """Count in a process of its own, which can be ended at any time and frees its memory.

    Raises
    ------
    GpusudokuError
        If the program fails.
    """
    # A new interpreter has no modules, threads or compiled code of this process.
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_count, args=(sender, program, board, limit))
    process.start()
    # Only the other process keeps the sender open, so its end raises an EOFError in recv.
    sender.close()
    try:
        receiver.recv()  # the program is loaded
        if receiver.poll(limit + GRACE_SECONDS):
            return receiver.recv()
        return Answer(None, False, limit)
    except EOFError:
        raise GpusudokuError(f"{program.name} failed on {board}") from None
    finally:
        process.kill()
        process.join()


def _count(sender: Connection, program: Program, board: Board, limit: float) -> None:
    """Load the program and send a message, then count and send the answer with its seconds."""
    program.load(board)
    sender.send("loaded")  # the limit applies from now on
    start = time.perf_counter()
    answer = program.count(board, limit)
    seconds = time.perf_counter() - start
    sender.send(answer._replace(seconds=answer.seconds or seconds))


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = read_results(path)
    versions = results["machine"]["peers"]
    version_texts = [f"{name} {version}" for name, version in versions.items()]
    print(f"Other programs: {', '.join(version_texts) or 'none'}\n")

    runs = results["runs"]
    counts = {run["board"]: int(run["count"]) for run in runs}
    programs = list(dict.fromkeys(run["program"] for run in runs))
    runs_of_cases = group_runs(runs, "board", "program")
    cases: Cases = {
        (board, program): median_answer(runs_of_cases.get((board, program), []))
        for board in counts
        for program in programs
    }
    rows = []
    for board, count in counts.items():
        times = [format_answer(cases[board, program]) for program in programs]
        rows.append([board, f"{count:,}", *times])
    print_table(["seconds", "solutions", *programs], rows)

    peers = [program for program in programs if program in versions]
    if peers:
        print()
        show_factors(cases, counts, programs[0], peers)


def show_factors(cases: Cases, counts: dict[str, int], own: str, peers: list[str]) -> None:
    """Print the times of other programs over the time of the program ``own``."""
    factors = {
        board: [factor(cases[board, peer], cases[board, own]) for peer in peers] for board in counts
    }
    kinds = {
        f"fewer than {MANY_SOLUTIONS:,}": [
            board for board, count in counts.items() if count < MANY_SOLUTIONS
        ],
        f"{MANY_SOLUTIONS:,} or more": [
            board for board, count in counts.items() if count >= MANY_SOLUTIONS
        ],
    }
    for kind, boards in kinds.items():
        if boards:
            columns = zip(*(factors[board] for board in boards), strict=True)
            factors[f"geometric mean, {kind} solutions"] = [*map(mean_factor, columns)]
    rows = [[name, *map(format_factor, row)] for name, row in factors.items()]
    print_table([f"time / {own}", *peers], rows)


def median_answer(runs: list[Run]) -> Answer | None:
    """Return the answer with the median time, the longer one of two; None without runs."""
    if not runs:
        return None
    answers = [Answer(run["solutions"], run["complete"], run["seconds"]) for run in runs]
    answers.sort(key=lambda answer: answer.seconds)
    return answers[len(answers) // 2]


def format_answer(answer: Answer | None) -> str:
    """Format the time, or the limit and the solutions per second until then."""
    if answer is None:
        return ""
    time_text = format_number(answer.seconds)
    if answer.complete:
        return time_text
    if answer.solutions is None:
        return f"> {time_text}"
    return f"> {time_text} ({answer.solutions / answer.seconds:,.0f}/s)"


def factor(answer: Answer | None, own: Answer | None) -> Factor | None:
    """Return the time of an answer over that of gpusudoku; None if one of them is unknown."""
    if answer is None or own is None or not own.complete:
        return None
    return Factor(answer.seconds / own.seconds, answer.complete)


def mean_factor(column: Sequence[Factor | None]) -> Factor | None:
    """Return the geometric mean over the boards that a program can count."""
    factors = [entry for entry in column if entry is not None]
    if not factors:
        return None
    mean = geometric_mean(entry.ratio for entry in factors)
    return Factor(mean, all(entry.is_exact for entry in factors))


def format_factor(entry: Factor | None) -> str:
    """Format a factor for the table."""
    if entry is None:
        return ""
    text = format_number(entry.ratio)
    return text if entry.is_exact else f"> {text}"


def format_number(value: float) -> str:
    """Format a number with three digits, or with all digits before the point."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


@script("peers", show)
@click.argument("boards", nargs=-1)
@click.option("--limit", default=20.0, show_default=True, help="Maximum seconds of a count.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every short case.")
def main(path: Path, boards: tuple[str, ...], limit: float, repeats: int) -> None:
    """Count BOARDS (names as in "gpusudoku boards") with all programs that are installed."""
    names = board_names(boards or BOARDS)
    peers = usable(PEERS)
    before = measure_gigahertz(1)
    runs = measure([*OWN, *peers], names, limit, repeats)
    versions = {peer.name: peer.version() for peer in peers}
    record(path, runs, peers=versions, gigahertz=[before, measure_gigahertz(1)])


if __name__ == "__main__":
    main()
