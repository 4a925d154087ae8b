"""Time what surrounds a search: one call, in a process that has made some, and one command.

Calls are of boards that a search solves in microseconds to half a millisecond. Commands are
processes of their own that find all kernels compiled; beside each, in the same turn, Python that
imports NumPy and does nothing. All times are processor time, so that other programs disturb little.
Another checkout may be measured in turn, to compare with.

    python benchmarks/waits.py                     a minute
    python benchmarks/waits.py --other ../older    beside an older version
    python benchmarks/waits.py --show              the tables of what was recorded before
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from itertools import product
from pathlib import Path
from statistics import median

import click
from machine import record, recorded
from script import Run, grouped, other_option, script, table, trees_of, turns

from gpusudoku.errors import GpusudokuError

PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
CALLS = {
    "`count(line)`, an easy 9x9 puzzle": "count(LINE)",
    "`count(line, limit=2)`": "count(LINE, limit=2)",
    "`count(grid)`, nine lines": "count(GRID)",
    "`count(board)`, a `Board`": "count(BOARD)",
    "`solve(line)`": "solve(LINE)",
    "`count(line)` of 1b, 4,715 solutions": "count(MANY)",
    "`count(line)` of 16x16-unique": "count(LARGE)",
    "`simplify(line)`": "simplify(LINE)",
    "`minimise(line)`": "minimise(LINE, seed=1)",
    "`list(count_many([line]))`": "list(count_many([LINE]))",
}
CALL = """
import json, sys, time
from gpusudoku import collection, count, count_many, minimise, parse, simplify, solve
LINE, calls = sys.argv[1], json.loads(sys.argv[2])
GRID = "\\n".join(LINE[i : i + 9] for i in range(0, 81, 9))
BOARD = parse(LINE)
MANY, LARGE = (str(collection.load(name)) for name in ("1b", "16x16-unique"))
times = {}
for name, text in calls.items():
    call = eval(f"lambda: {text}")
    for _ in range(20):
        call()
    times[name] = 1.0
    for _ in range(5):
        start, number = time.process_time(), 0
        while time.process_time() < start + 0.05:
            call()
            number += 1
        times[name] = min(times[name], (time.process_time() - start) / number)
print(json.dumps(times))
"""
COMMANDS = {
    "count PUZZLE": ["count", PUZZLE],
    "count --exit-code PUZZLE": ["count", "--exit-code", PUZZLE],
    "solve PUZZLE": ["solve", PUZZLE],
    "simplify PUZZLE": ["simplify", PUZZLE],
    "count @1f": ["count", "@1f"],
    "enumerate @1b --limit 5": ["enumerate", "@1b", "--limit", "5"],
    "sample @empty -n 5": ["sample", "@empty", "-n", "5"],
    "shares @1b": ["shares", "@1b"],
}


def measure(trees: dict[str, Path], repeats: int) -> list[Run]:
    """Time all calls and commands of every version, in turns."""
    runs: list[Run] = []
    environments = {
        version: {**os.environ, "PYTHONPATH": str(tree), "GPUSUDOKU_DEVICE": "cpu"}
        for version, tree in trees.items()
    }
    cases = list(product(trees, ["calls", *COMMANDS]))
    for (version, case), kept in turns(cases, repeats, " ".join):
        environment, found = environments[version], list[Run]()
        if case == "calls":
            words = [sys.executable, "-c", CALL, PUZZLE, json.dumps(CALLS)]
            times = json.loads(run(words, environment)[1])
            found += [{"call": name, "seconds": seconds} for name, seconds in times.items()]
        else:
            numpy, _ = run([sys.executable, "-c", "import numpy"], environment)
            words = [sys.executable, "-m", "gpusudoku", *COMMANDS[case]]
            seconds, _ = run(words, environment)
            found.append({"command": case, "seconds": seconds, "numpy": numpy})
        runs += [{"version": version, **one} for one in found if kept]
    return runs


def run(words: list[str], environment: dict[str, str]) -> tuple[float, str]:
    """Run a process; return the processor time that it took, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise GpusudokuError(f"{' '.join(words[1:4])}: {done.stderr.strip()}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, done.stdout


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    runs = recorded(path)["runs"]
    calls = [run for run in runs if "call" in run]
    cases = grouped(calls, "call", "version")
    versions = [version for (version,) in grouped(calls, "version")]
    heads = [version if len(versions) > 1 else "" for version in versions]
    rows = []
    for (call,) in grouped(calls, "call"):
        times = [median(run["seconds"] for run in cases[call, version]) for version in versions]
        ratio = [f"{times[0] / times[1]:.3f}"] if len(times) > 1 else []
        rows.append([call, *(f"{1e6 * seconds:,.0f}" for seconds in times), *ratio])
    ratio = ["this / other"] if len(versions) > 1 else []
    table(["call", *(f"{head} us".strip() for head in heads), *ratio], rows)
    print()
    commands = [run for run in runs if "command" in run]
    cases = grouped(commands, "command", "version")
    rows = []
    for (command,) in grouped(commands, "command"):
        row = [f"`{command}`"]
        for version in versions:
            some = cases[command, version]
            row.append(f"{median(run['seconds'] for run in some):.3f}")
            row.append(f"{median(run['seconds'] / run['numpy'] for run in some):.2f}")
        rows.append(row)
    table(
        ["command", *(f"{head} {what}".strip() for head in heads for what in ("s", "/ NumPy"))],
        rows,
    )


@script("waits", show)
@other_option
@click.option("--repeats", default=5, show_default=True, help="Turns.")
def main(path: Path, other: str | None, repeats: int) -> None:
    """Time single calls, and commands beside Python that imports NumPy."""
    record(path, measure(trees_of(other), repeats))


if __name__ == "__main__":
    main()
