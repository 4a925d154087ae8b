"""Time what surrounds a search: one call, in a process that has made some, and one command.

Calls are of boards that a search solves in microseconds to half a millisecond. Commands are
processes of their own that find all kernels compiled. All times are processor time, so that other
programs disturb little.

    python benchmarks/waits.py           a minute
    python benchmarks/waits.py --show    the tables of what was recorded before
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

import click
from machine import record, recorded
from script import Run, grouped, script, table, turns

from gpusudoku.errors import GpusudokuError

PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
CALLS = {
    "`count(line)`, an easy 9x9 puzzle": "count(LINE)",
    "`count(board)`, a `Board`": "count(BOARD)",
    "`solve(line)`": "solve(LINE)",
    "`count(line)` of 1b, 4,715 solutions": "count(MANY)",
    "`simplify(line)`": "simplify(LINE)",
    "`minimise(line)`": "minimise(LINE, seed=1)",
    "`list(count_many([line]))`": "list(count_many([LINE]))",
}
CALL = """
import json, sys, time
from gpusudoku import collection, count, count_many, minimise, parse, simplify, solve
LINE, calls = sys.argv[1], json.loads(sys.argv[2])
BOARD = parse(LINE)
MANY = str(collection.load("1b"))
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
    "solve PUZZLE": ["solve", PUZZLE],
    "simplify PUZZLE": ["simplify", PUZZLE],
    "count @1f": ["count", "@1f"],
    "sample @empty -n 5": ["sample", "@empty", "-n", "5"],
    "shares @1b": ["shares", "@1b"],
}


def measure(repeats: int) -> list[Run]:
    """Time all calls and commands, in turns."""
    runs: list[Run] = []
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "GPUSUDOKU_DEVICE": "cpu"}
    for case, kept in turns(["calls", *COMMANDS], repeats, str):
        found = list[Run]()
        if case == "calls":
            words = [sys.executable, "-c", CALL, PUZZLE, json.dumps(CALLS)]
            times = json.loads(run(words, environment)[1])
            found += [{"call": name, "seconds": seconds} for name, seconds in times.items()]
        else:
            words = [sys.executable, "-m", "gpusudoku", *COMMANDS[case]]
            seconds, _ = run(words, environment)
            found.append({"command": case, "seconds": seconds})
        if kept:
            runs += found
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
    calls = grouped([run for run in runs if "call" in run], "call")
    rows = [[name, f"{1e6 * median(run['seconds'] for run in some):,.0f}"]
            for (name,), some in calls.items()]  # fmt: skip
    table(["call", "µs"], rows)
    print()
    commands = grouped([run for run in runs if "command" in run], "command")
    rows = [[f"`{name}`", f"{median(run['seconds'] for run in some):.2f}"]
            for (name,), some in commands.items()]  # fmt: skip
    table(["command", "s"], rows)


@script("waits", show)
@click.option("--repeats", default=5, show_default=True, help="Turns.")
def main(path: Path, repeats: int) -> None:
    """Time single calls and commands."""
    record(path, measure(repeats))


if __name__ == "__main__":
    main()
