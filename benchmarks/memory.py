"""Measure the memory of long searches; Linux only.

The report "Sudoku Solver using Exploratory Decomposition" says that its search of a 25x25 board,
which was ended after eight hours, had no memory leaks; it has no figures. This script searches two
boards with two threads; neither search would end in years.

    python benchmarks/memory.py           two minutes
    python benchmarks/memory.py --show    print the table of the recorded run
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import click
from machine import read_results, record
from script import Run, print_table, script

from gpusudoku.errors import GpusudokuError

BOARDS = {"top-band-twisted": "@top-band-twisted", "25x25, no clues": 25 * 25 * "."}
"""The argument of ``gpusudoku count`` for each board."""
SEARCH = [sys.executable, "-m", "gpusudoku", "count", "--method", "search", "--device", "cpu",
          "-j", "2", "--quiet"]  # fmt: skip
SAMPLES = 30
"""The memory of a search is read this often."""
KIB_PER_MIB = 1024


def measure(board: str, seconds: float) -> Run:
    """Search a board for some time, and read the memory of the process at regular intervals."""
    samples = []
    peak = 0.0
    start = time.monotonic()
    command_line = [*SEARCH, BOARDS[board], "--seconds", f"{seconds}"]
    with subprocess.Popen(command_line, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            fields = dict(line.split(":", 1) for line in status.splitlines())
            if "VmRSS" in fields:  # a process that has just ended has no memory
                # Lines such as "VmRSS:  12345 kB": resident memory, at present and at most.
                resident = int(fields["VmRSS"].split()[0]) / KIB_PER_MIB
                peak = int(fields["VmHWM"].split()[0]) / KIB_PER_MIB
                samples.append([round(time.monotonic() - start, 1), round(resident, 1)])
            time.sleep(seconds / SAMPLES)
        # With --seconds, the command ends by itself and prints the count so far, such as "123+".
        solutions = process.communicate()[0].strip()
    if process.returncode:
        raise GpusudokuError(f"{board}: the search ended with status {process.returncode}")
    return {"board": board, "solutions": solutions, "samples": samples, "peak": peak}


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    runs = read_results(path)["runs"]
    seconds = round(runs[0]["samples"][-1][0])
    times = [seconds / 6, seconds / 2, seconds]
    rows = []
    for run in runs:
        memory = [f"{memory_at(time, run['samples']):.1f}" for time in times]
        solutions = int(run["solutions"].rstrip("+"))
        rows.append([run["board"], f"{solutions:,}", *memory, f"{run['peak']:.1f}"])
    heads = [f"MiB after {time:.0f} s" for time in times]
    print_table(["board", "solutions found", *heads, "MiB at most"], rows)


def memory_at(time: float, samples: list[list[float]]) -> float:
    """Return the MiB of the sample that was taken closest to a time."""
    _, memory = min(samples, key=lambda sample: abs(sample[0] - time))
    return memory


@script("memory", show)
@click.option("--seconds", type=click.FloatRange(min=1), default=60.0, show_default=True,
              help="Length of every search.")  # fmt: skip
def main(path: Path, seconds: float) -> None:
    """Search two boards, and record the resident memory."""
    record(path, [measure(board, seconds) for board in BOARDS])


if __name__ == "__main__":
    main()
