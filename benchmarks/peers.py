"""Count boards with other programs that count all solutions, and with this one, in the same run.

    pip install '.[peers]'                       and qqwing, if the system has it
    python benchmarks/peers.py                   about five minutes
    python benchmarks/peers.py 1a 2b --limit 5   some boards, at most 5 s a count
    python benchmarks/peers.py --show            the tables of what was recorded before

Programs that are not there are skipped with a line. Every count has a process of its own, which is
ended if it does not keep to the limit; times are taken in there, from the board to the number, the
making of a model included, imports and compiling not. Programs are interleaved, so that a change
of the machine's speed falls on all alike, and every count is checked: a wrong one ends the run.

Prints Markdown tables: seconds, where `>` marks a count that was cut off, with the solutions that
it found in a second until then if it tells; how many times as long as our search on one thread the
others take, at least so where there is a `>`; and solutions in a second. Writes every run to a JSON
file, with the machine and the versions.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import geometric_mean

import click
from adapters import PEERS, Found, Own, Program
from machine import RESULTS, gigahertz, heading_with_clock, record

from gpusudoku import Board, collection

BOARDS = ["1a", "1b", "1c", "1d", "2a", "2b", "2c", "2d", "decomposition-9x9", "16x16-unique"]
OWN: list[Program] = [
    Own("gpusudoku search, -j 1", method="search", jobs=1),
    Own("gpusudoku search, all cores", method="search"),
    Own("gpusudoku auto, all cores"),
]
"""Ours; the others are compared with the first."""
SHORT_SECONDS = 2.0
"""A count that takes longer is not repeated."""
GRACE_SECONDS = 1.0
"""Programs that end by themselves at the limit may take this much longer to do so."""
MANY = 10_000
"""With fewer solutions, a rate says how long it takes to begin."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("boards", nargs=-1)
@click.option("--limit", default=20.0, show_default=True, help="Seconds that a count may take.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every short case.")
@click.option("--output", default=str(RESULTS / "peers.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's tables; run nothing.")
def main(boards: tuple[str, ...], limit: float, repeats: int, output: str, only_show: bool) -> None:
    """Count BOARDS (names as in "gpusudoku boards") with every program that is there."""
    path = Path(output)
    if not only_show:
        peers = usable(PEERS)
        before = gigahertz(1)
        runs = measure([*OWN, *peers], list(boards) or BOARDS, limit, repeats)
        versions = {peer.name: peer.version() for peer in peers}
        record(path, runs, peers=versions, gigahertz=[before, gigahertz(1)])
    show(path)


def usable(programs: list[Program]) -> list[Program]:
    """Those that are there; a line for every other one."""
    there = []
    for program in programs:
        reason = program.unusable_because()
        if reason is None:
            there.append(program)
        else:
            click.echo(f"{program.name}: skipped, {reason}", err=True)
    return there


def measure(
    programs: list[Program], names: list[str], limit: float, repeats: int
) -> list[dict[str, object]]:
    """Every run of every case, and every count checked."""
    runs: list[dict[str, object]] = []
    long = set()
    for repeat in range(repeats):
        for name in names:
            board, count = collection.load(name), collection.entry(name).count
            for program in programs:
                if (name, program.name) in long or not program.takes(board):
                    continue
                progress = f"{repeat + 1}/{repeats} {name} {program.name}"
                click.echo(f"\r{progress:<70}", nl=False, err=True)
                found = alone(program, board, limit)
                most = found.solutions or 0
                if most > count or (found.complete and most != count):
                    sys.exit(f"{name}: {program.name} counts {most} solutions, {count} are right")
                if not found.complete or found.seconds > SHORT_SECONDS:
                    long.add((name, program.name))
                runs.append({"board": name, "count": str(count), "program": program.name,
                             **found._asdict()})  # fmt: skip
    click.echo("", err=True)
    return runs


def alone(program: Program, board: Board, limit: float) -> Found:
    """Count in a process of its own: it can be ended at any time, and leaves no memory behind."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_count, args=(sender, program, board, limit))
    process.start()
    sender.close()  # the other process has it: if that ends, so does the pipe
    try:
        receiver.recv()
        if receiver.poll(limit + GRACE_SECONDS):
            return receiver.recv()
        return Found(None, False, limit)
    except EOFError:
        sys.exit(f"{program.name} failed on {board}")
    finally:
        process.kill()
        process.join()


def _count(sender: Connection, program: Program, board: Board, limit: float) -> None:
    """Send a word when the program is loaded, then what it found and how long that took."""
    program.load(board)
    sender.send("loaded")
    start = time.perf_counter()
    found = program.count(board, limit)
    seconds = time.perf_counter() - start
    sender.send(found._replace(seconds=found.seconds or seconds))


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    recorded = json.loads(path.read_text())
    described = recorded["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in described["peers"].items())
    print(heading_with_clock(described))
    print(f"\nOther programs: {versions or 'none'}\n")
    runs = recorded["runs"]
    counts = {run["board"]: int(run["count"]) for run in runs}
    heads = list(dict.fromkeys(run["program"] for run in runs))
    peers = [head for head in heads if head in described["peers"]]
    cases: dict[tuple[str, str], Found | None] = {
        (name, head): middle([r for r in runs if (r["board"], r["program"]) == (name, head)])
        for name in counts
        for head in heads
    }

    print(f"| seconds | solutions | {' | '.join(heads)} |")
    print("|---|---:|" + "---:|" * len(heads))
    for name, count in counts.items():
        cells = [seconds(cases[name, head]) for head in heads]
        print(f"| {name} | {count:,} | {' | '.join(cells)} |")
    many = [name for name, count in counts.items() if count >= MANY]
    if peers:
        print(f"\n| times as long as {heads[0]} | {' | '.join(peers)} |")
        print("|---|" + "---:|" * len(peers))
        factors = {
            name: [factor(cases[name, peer], cases[name, heads[0]]) for peer in peers]
            for name in counts
        }
        kinds = {f"fewer than {MANY:,}": set(counts) - set(many), f"{MANY:,} or more": set(many)}
        for kind, names in kinds.items():
            columns = list(zip(*(factors[name] for name in names), strict=True))
            if columns:
                factors[f"geometric mean, {kind} solutions"] = [mean(c) for c in columns]
        for name, row in factors.items():
            print(f"| {name} | {' | '.join(times(entry) for entry in row)} |")
    if many:
        print(f"\n| solutions a second | {' | '.join(heads)} |")
        print("|---|" + "---:|" * len(heads))
        for name in many:
            print(f"| {name} | {' | '.join(rate(cases[name, head]) for head in heads)} |")


def middle(runs: list[dict[str, object]]) -> Found | None:
    """The run of a case that took the median time, the longer of two; None if there is none."""
    found = [Found(run["solutions"], run["complete"], run["seconds"]) for run in runs]
    return sorted(found, key=lambda run: run.seconds)[len(found) // 2] if found else None


def seconds(case: Found | None) -> str:
    """The time, or how far it got in time."""
    if case is None or case.complete:
        return "" if case is None else number(case.seconds)
    return f"> {number(case.seconds)}" + (f" ({rate(case)}/s)" if rate(case) else "")


def factor(case: Found | None, own: Found | None) -> tuple[float, bool] | None:
    """How many times as long as ours it took, and whether that is all of it."""
    if case is None or own is None or not own.complete:
        return None
    return case.seconds / own.seconds, case.complete


def mean(column: Sequence[tuple[float, bool] | None]) -> tuple[float, bool] | None:
    """The geometric mean over the boards that a program takes."""
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
    """Solutions in a second, if known."""
    return "" if case is None or case.solutions is None else f"{case.solutions / case.seconds:,.0f}"


def number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


if __name__ == "__main__":
    main()
