"""The README's table: the search on one core, on 16 cores and on a GPU of the same machine.

The recorded searches have a field ``threading``. Those with ``python`` were timed by
``benchmarks/gpu.py`` and ``gpusudoku count --method search --stats`` of release 0.20.0; those with
``compiled`` by a prototype of the threads of release 0.23. ``kernels`` has figures of a prototype
of the kernels of release 0.22; its last two rows are from NVIDIA's Nsight Compute. The times of
other programs were recorded by ``one_core.py``, on another machine.

    python benchmarks/summary.py     print the table; measures nothing
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from machine import RESULTS, heading, read_results
from script import format_duration, print_table

from gpusudoku import collection

LONG_BOARD = "1f without 3 clues"
LONG_SOLUTIONS = 1_884_365_832
"""The number of solutions of LONG_BOARD, which is not in the collection."""
BOARDS = ("1f", "2f", LONG_BOARD, "16x16-many", "box3x4-many")
"""The boards of the table."""
CORES = 16
"""The cores of the machine with the GPU."""
THREADING = {"python": "boards shared in Python (0.20)", "compiled": "in compiled code"}
"""How threads share boards, as it is recorded and as it is shown."""

Time = tuple[float, str]
"""Seconds, and how threads share boards: a key of THREADING."""
Times = dict[tuple[str, str, int], Time]
"""Times by board, device and number of threads."""


def show(path: Path) -> None:
    """Print the table from the recorded files in the folder of ``path``."""
    times = read_times(path)
    peer_results = read_results(path.with_name("one_core.json"))
    rows = []
    for board in BOARDS:
        solutions = LONG_SOLUTIONS if board == LONG_BOARD else collection.entry(board).count
        one_core = times.get((board, "cpu", 1))
        all_cores = times[board, "cpu", CORES]
        gpu_seconds, _ = times[board, "cuda", 1]
        cells = [
            board,
            f"{solutions:,}",
            format_time(one_core),
            format_time(all_cores),
            format_duration(gpu_seconds),
            format_factor(all_cores[0] / gpu_seconds),
            best_peer(board, peer_results["runs"]),
        ]
        rows.append(cells)
    heads = [
        "board",
        "solutions",
        "one core",
        f"{CORES} cores",
        "H200",
        f"H200 against {CORES} cores",
        "another machine: best other program, one core",
    ]
    print_table(heads, rows)

    python_times = {
        run["board"]: format_duration(median(run["seconds"]))
        for run in read_results(path)["runs"]
        if (run["threads"], run["threading"]) == (CORES, "python")
    }
    print(
        "\nH200: release 0.20.0. CPU with \\*: release 0.20.0, else a prototype of release 0.23's"
        f" threads; with 0.20.0 {CORES} cores took {python_times['1f']} for 1f and"
        f" {python_times['2f']} for 2f. Other programs: {heading(peer_results['machine'])}."
    )


def threads(path: Path) -> None:
    """Print the times of 1f and 2f by number of threads and by how threads share boards."""
    seconds = {
        (run["board"], run["threads"], run["threading"]): median(run["seconds"])
        for run in read_results(path)["runs"]
        if len(run["seconds"]) > 1
    }
    rows = []
    for board, thread_count in sorted({case[:2] for case in seconds}):
        times = [
            format_duration(seconds[board, thread_count, threading]) for threading in THREADING
        ]
        rows.append([board, str(thread_count), *times])
    print_table(["board", "threads", *THREADING.values()], rows)


def kernels(path: Path) -> None:
    """Print the effect of the memory in which threads keep their boards."""
    heads = ["", "release 0.20, local memory", "prototype, shared memory"]
    print_table(heads, read_results(path)["kernels"])


def read_times(path: Path) -> Times:
    """Return the times of the recorded searches, with compiled threading where it was measured."""
    times: Times = {}
    # Later runs replace earlier ones, and those with compiled threading are the last in the file.
    for run in read_results(path)["runs"]:
        case = (run["board"], run["device"], run["threads"])
        times[case] = (median(run["seconds"]), run["threading"])
    return times


def format_time(time: Time | None) -> str:
    """Format a time of CPU threads, with an asterisk if they shared boards in Python."""
    if time is None:
        return ""
    seconds, threading = time
    asterisk = r"\*" if threading == "python" else ""
    return format_duration(seconds) + asterisk


def best_peer(board: str, runs: list[dict[str, Any]]) -> str:
    """Return the shortest time of another program on one core, with its name."""
    seconds_by_build: dict[tuple[str, int], list[float]] = {}
    for run in runs:
        if run["boards"] == board and run["program"] != "gpusudoku":
            build = (run["program"], run["bits"])
            seconds_by_build.setdefault(build, []).append(run["seconds"])
    if not seconds_by_build:
        return ""
    medians = {build: median(seconds) for build, seconds in seconds_by_build.items()}
    best = min(medians, key=medians.__getitem__)
    return f"{format_duration(medians[best])} ({best[0]})"


def format_factor(ratio: float) -> str:
    """Format a ratio of times with two digits."""
    rounded = float(f"{ratio:.2g}")
    return f"{rounded:,.6g}"


if __name__ == "__main__":
    show(RESULTS / "summary.json")
