"""Measure the memory of long searches; Linux only.

The report "Sudoku Solver using Exploratory Decomposition" says that its search of a 25x25 board,
which was ended after eight hours, had no memory leaks; it has no figures. Here two threads search
two boards that no search finishes.

    python benchmarks/memory.py           two minutes
    python benchmarks/memory.py --show    the table of what was recorded before
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import click
from machine import record, recorded
from script import Run, script, table

from gpusudoku.errors import GpusudokuError

BOARDS = {"top-band-twisted": "@top-band-twisted", "25x25, no clues": 25 * 25 * "."}
SEARCH = [sys.executable, "-m", "gpusudoku", "count", "--method", "search", "--device", "cpu",
          "-j", "2", "--quiet"]  # fmt: skip


def measure(board: str, seconds: float) -> Run:
    """Search a board for some time; read the memory of the process every few seconds."""
    samples = []
    peak = 0.0
    start = time.monotonic()
    words = [*SEARCH, BOARDS[board], "--seconds", f"{seconds}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            facts = dict(line.split(":", 1) for line in status.splitlines())
            if "VmRSS" in facts:  # a process that has just ended has no memory
                now, peak = (int(facts[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
                samples.append([round(time.monotonic() - start, 1), round(now, 1)])
            time.sleep(seconds / 30)
        solutions = process.communicate()[0].strip()
    if process.returncode:
        raise GpusudokuError(f"{board}: the search ended with status {process.returncode}")
    return {"board": board, "solutions": solutions, "samples": samples, "peak": peak}


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    runs = recorded(path)["runs"]
    seconds = round(runs[0]["samples"][-1][0])
    times = [seconds / 6, seconds / 2, seconds]
    rows = []
    for run in runs:
        samples = [min(run["samples"], key=lambda sample: abs(sample[0] - time)) for time in times]
        memory = [f"{megabytes:.1f}" for _, megabytes in samples]
        rows.append([run["board"], f"{int(run['solutions'].rstrip('+')):,}", *memory,
                     f"{run['peak']:.1f}"])  # fmt: skip
    heads = [f"MiB after {time:.0f} s" for time in times]
    table(["board", "solutions found", *heads, "MiB at most"], rows)


@script("memory", show)
@click.option("--seconds", type=click.FloatRange(min=1), default=60.0, show_default=True,
              help="Length of every search.")  # fmt: skip
def main(path: Path, seconds: float) -> None:
    """Search two boards, and record the resident memory."""
    record(path, [measure(board, seconds) for board in BOARDS])


if __name__ == "__main__":
    main()
