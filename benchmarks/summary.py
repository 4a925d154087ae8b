"""The README's table: the search on one core, on 16 cores and on a GPU of the same machine.

Searches whose threading is ``python`` were timed by ``benchmarks/gpu.py`` and ``gpusudoku count
--method search --stats`` of release 0.20.0, those whose threading is ``compiled`` with a prototype
of the threads of release 0.23. ``kernels`` are figures of a prototype of release 0.22's kernels;
the last two rows are from NVIDIA's Nsight Compute. ``one_core.py`` recorded the other programs, on
another machine.

    python benchmarks/summary.py     measures nothing: reads what was recorded
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from machine import RESULTS, heading, recorded
from script import duration, table

from gpusudoku import collection

LONG = "1f without 3 clues"
LONG_SOLUTIONS = 1_884_365_832
"""The solutions of LONG, which is not in the collection."""
BOARDS = ("1f", "2f", LONG, "16x16-many", "box3x4-many")
"""The boards of the table."""
THREADING = {"python": "boards shared in Python (0.20)", "compiled": "in compiled code"}

Times = dict[tuple[str, str, int], tuple[float, str]]
"""Seconds of a board, device and number of threads, and the threading."""


def show(path: Path) -> None:
    """Print the table from the recorded files in the folder of ``path``."""
    times = times_of(path)
    others = recorded(path.with_name("one_core.json"))
    slow = {
        run["board"]: duration(median(run["seconds"]))
        for run in recorded(path)["runs"]
        if (run["threads"], run["threading"]) == (16, "python")
    }
    rows = []
    for board in BOARDS:
        solutions = LONG_SOLUTIONS if board == LONG else collection.entry(board).count
        core = times.get((board, "cpu", 1))
        cores = times[board, "cpu", 16]
        gpu_seconds, _ = times[board, "cuda", 1]
        cells = [board, f"{solutions:,}", marked(core), marked(cores), duration(gpu_seconds)]
        rows.append([*cells, factor(cores[0] / gpu_seconds), best_other(board, others["runs"])])
    heads = ["board", "solutions", "one core", "16 cores", "H200", "H200 against 16 cores"]
    table([*heads, "another machine: best other program, one core"], rows)
    machine = heading(others["machine"])
    print(
        "\nH200: release 0.20.0. CPU with \\*: release 0.20.0, else a prototype of release 0.23's"
        f" threads; with 0.20.0 16 cores took {slow['1f']} for 1f and {slow['2f']} for 2f."
        f" Other programs: {machine}."
    )


def threads(path: Path) -> None:
    """Print how long 1f and 2f take on some cores, by how threads share boards."""
    seconds = {
        (run["board"], run["threads"], run["threading"]): median(run["seconds"])
        for run in recorded(path)["runs"]
        if len(run["seconds"]) > 1
    }
    cases = sorted({case[:2] for case in seconds})
    rows = [
        [board, str(number), *(duration(seconds[board, number, way]) for way in THREADING)]
        for board, number in cases
    ]
    table(["board", "threads", *THREADING.values()], rows)


def kernels(path: Path) -> None:
    """Print what the place of the boards that threads work on changes."""
    heads = ["", "release 0.20, local memory", "prototype, shared memory"]
    table(heads, recorded(path)["kernels"])


def times_of(path: Path) -> Times:
    """Return the times of the recorded searches; those of compiled threading come last."""
    times: Times = {}
    for run in recorded(path)["runs"]:
        place = run["board"], run["device"], run["threads"]
        times[place] = median(run["seconds"]), run["threading"]
    return times


def marked(time: tuple[float, str] | None) -> str:
    """Format a time of CPU threads, with an asterisk if they shared boards in Python."""
    if time is None:
        return ""
    seconds, threading = time
    return duration(seconds) + r"\*" * (threading == "python")


def best_other(board: str, runs: list[dict[str, Any]]) -> str:
    """Name the other program that was fastest on one core, with its seconds."""
    seconds: dict[tuple[str, int], list[float]] = {}
    for run in runs:
        if run["boards"] == board and run["program"] != "gpusudoku":
            seconds.setdefault((run["program"], run["bits"]), []).append(run["seconds"])
    if not seconds:
        return ""
    best = min(seconds, key=lambda build: median(seconds[build]))
    return f"{duration(median(seconds[best]))} ({best[0]})"


def factor(ratio: float) -> str:
    """Format a ratio of times in two digits."""
    return f"{float(f'{ratio:.2g}'):,.6g}"


if __name__ == "__main__":
    show(RESULTS / "summary.json")
