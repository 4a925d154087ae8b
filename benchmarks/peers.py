"""Count boards with other programs that count all solutions, and with this one, in the same run.

    pip install '.[peers]'                       and qqwing, if the system has it; others are
                                                 built from source, as README.md says
    python benchmarks/peers.py                   about five minutes
    python benchmarks/peers.py 1a 2b --limit 5   some boards, at most 5 s a count
    python benchmarks/peers.py --show            the tables of what was recorded before

Programs that are missing are skipped with a line. Every count has a separate process, which is
ended if it exceeds the limit. Its time is taken inside, from the board to the number: it includes
making a model, but not imports and compiling. Programs take turns, so that a change of the
machine's speed falls on all of them. Every count is checked, and a wrong one ends the run.

Prints Markdown tables. The first has seconds; `>` marks a count that was cut off, with the
solutions a second until then if the program tells. The second says how many times as long as our
search on one thread the others take, or at least take where there is a `>`. Writes every run to a
JSON file, with the machine and the versions.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import geometric_mean

import click
from adapters import PACKAGES, Found, Own, Program
from built import drivers, widest
from machine import gigahertz, record, recorded
from script import Run, board_names, grouped, script, table, turns

from gpusudoku import Board, collection
from gpusudoku.errors import GpusudokuError, MismatchError

BOARDS = ["1a", "1b", "1c", "1d", "2a", "2b", "2c", "2d", "decomposition-9x9", "16x16-unique"]
OWN: list[Program] = [
    Own("gpusudoku search, -j 1", method="search", jobs=1),
    Own("gpusudoku search, all cores", method="search"),
    Own("gpusudoku auto, all cores"),
]
"""Our own runs; the others are compared with the first."""
PEERS: list[Program] = [*PACKAGES, *drivers(widest())]
SHORT_SECONDS = 2.0
"""A count that takes longer is not repeated."""
GRACE_SECONDS = 1.0
"""Programs that stop by themselves at the limit may take this much longer."""
MANY = 10_000
"""With fewer solutions, starting takes most of the time: their means are shown separately."""


Cases = dict[tuple[str, str], Found | None]
"""The median run by board and program."""


def usable(programs: list[Program]) -> list[Program]:
    """The programs that can be measured here; says why others cannot."""
    there = []
    for program in programs:
        reason = program.unusable_because()
        if reason is None:
            there.append(program)
        else:
            click.echo(f"{program.name}: skipped, {reason}", err=True)
    return there


def measure(programs: list[Program], names: list[str], limit: float, repeats: int) -> list[Run]:
    """Every run of every case.

    Raises
    ------
    MismatchError
        If a program counts wrongly.
    """
    cases = [
        (name, program)
        for name in names
        for program in programs
        if program.takes(collection.load(name))
    ]
    runs: list[Run] = []
    long = set()
    label = "{0[0]} {0[1].name}".format
    for (name, program), _ in turns(cases, repeats, label, warm_up=False):
        if (name, program.name) in long:
            continue
        board = collection.load(name)
        count = collection.entry(name).count
        found = alone(program, board, limit)
        most = found.solutions or 0
        if most > count or (found.complete and most != count):
            raise MismatchError(
                f"{name}: {program.name} counts {most} solutions, {count} are right"
            )
        if not found.complete or found.seconds > SHORT_SECONDS:
            long.add((name, program.name))
        runs.append({"board": name, "count": str(count), "program": program.name,
                     **found._asdict()})  # fmt: skip
    return runs


def alone(program: Program, board: Board, limit: float) -> Found:
    """Count in a separate process, which can be ended at any time and leaves no memory behind.

    Raises
    ------
    GpusudokuError
        If the program fails.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_count, args=(sender, program, board, limit))
    process.start()
    sender.close()  # the other process holds it: when that ends, so does the pipe
    try:
        receiver.recv()
        if receiver.poll(limit + GRACE_SECONDS):
            return receiver.recv()
        return Found(None, False, limit)
    except EOFError:
        raise GpusudokuError(f"{program.name} failed on {board}") from None
    finally:
        process.kill()
        process.join()


def _count(sender: Connection, program: Program, board: Board, limit: float) -> None:
    """Send a word when the program is loaded, then its answer with the seconds that it took."""
    program.load(board)
    sender.send("loaded")
    start = time.perf_counter()
    found = program.count(board, limit)
    seconds = time.perf_counter() - start
    sender.send(found._replace(seconds=found.seconds or seconds))


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    described = results["machine"]
    runs = results["runs"]
    versions = ", ".join(f"{name} {version}" for name, version in described["peers"].items())
    print(f"Other programs: {versions or 'none'}\n")
    counts = {run["board"]: int(run["count"]) for run in runs}
    heads = list(dict.fromkeys(run["program"] for run in runs))
    timed = grouped(runs, "board", "program")
    cases = {(name, head): middle(timed.get((name, head), [])) for name in counts for head in heads}
    rows = [
        [name, f"{count:,}", *(seconds(cases[name, head]) for head in heads)]
        for name, count in counts.items()
    ]
    table(["seconds", "solutions", *heads], rows)
    peers = [head for head in heads if head in described["peers"]]
    if peers:
        print()
        show_factors(cases, counts, heads[0], peers)


def show_factors(cases: Cases, counts: dict[str, int], own: str, peers: list[str]) -> None:
    """Print the others' times over that of our search."""
    factors = {name: [factor(cases[name, peer], cases[name, own]) for peer in peers]
               for name in counts}  # fmt: skip
    kinds = {
        f"fewer than {MANY:,}": [name for name, count in counts.items() if count < MANY],
        f"{MANY:,} or more": [name for name, count in counts.items() if count >= MANY],
    }
    for kind, names in kinds.items():
        columns = list(zip(*(factors[name] for name in names), strict=True))
        if columns:
            factors[f"geometric mean, {kind} solutions"] = [mean(column) for column in columns]
    rows = [[name, *map(times, row)] for name, row in factors.items()]
    table([f"their time / {own}", *peers], rows)


def middle(runs: list[Run]) -> Found | None:
    """The run of a case that took the median time, the longer of two; None if there is none."""
    found = [Found(run["solutions"], run["complete"], run["seconds"]) for run in runs]
    return sorted(found, key=lambda run: run.seconds)[len(found) // 2] if found else None


def seconds(case: Found | None) -> str:
    """The time, or the limit and the rate until then."""
    if case is None or case.complete:
        return "" if case is None else number(case.seconds)
    return f"> {number(case.seconds)}" + (f" ({rate(case)}/s)" if rate(case) else "")


def factor(case: Found | None, own: Found | None) -> tuple[float, bool] | None:
    """How many times as long as ours it took, and whether the count was complete."""
    if case is None or own is None or not own.complete:
        return None
    return case.seconds / own.seconds, case.complete


def mean(column: Sequence[tuple[float, bool] | None]) -> tuple[float, bool] | None:
    """The geometric mean over the boards that a program can count."""
    known = [entry for entry in column if entry is not None]
    if not known:
        return None
    return geometric_mean(ratio for ratio, _ in known), all(whole for _, whole in known)


def times(entry: tuple[float, bool] | None) -> str:
    """A factor in a table."""
    if entry is None:
        return ""
    ratio, whole = entry
    return number(ratio) if whole else f"> {number(ratio)}"


def rate(case: Found | None) -> str:
    """Solutions a second, if known."""
    return "" if case is None or case.solutions is None else f"{case.solutions / case.seconds:,.0f}"


def number(value: float) -> str:
    """The number with three digits, or with all digits before the point."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


@script("peers", show)
@click.argument("boards", nargs=-1)
@click.option("--limit", default=20.0, show_default=True, help="Seconds that a count may take.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every short case.")
def main(path: Path, boards: tuple[str, ...], limit: float, repeats: int) -> None:
    """Count BOARDS (names as in "gpusudoku boards") with every program that is there."""
    names = board_names(boards or BOARDS)
    peers = usable(PEERS)
    before = gigahertz(1)
    runs = measure([*OWN, *peers], names, limit, repeats)
    versions = {peer.name: peer.version() for peer in peers}
    record(path, runs, peers=versions, gigahertz=[before, gigahertz(1)])


if __name__ == "__main__":
    main()
