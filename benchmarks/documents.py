"""Repeat the measurements of two documents, on their boards, and show their figures, too.

"Sudoku Solver using Exploratory Decomposition" (2022) prints its boards, and how many boards it
explored in how many seconds until it found a solution, serially and with OpenMP on 8 cores. Its
program fixes cells with one candidate and guesses a cell with the fewest candidates. This is
strategy ``min`` with ``naked-single`` here; the default of gpusudoku is ``singles``. It counts the
boards that a guess makes, one for each candidate, but not the first board. gpusudoku splits boards
in two and counts all of them. The report's program made 1,000 to 16,000 boards per second. Above
all, it made far more boards than its rules need, for an unknown reason. Even if gpusudoku with
``naked-single`` guesses the first empty cell instead of one with the fewest candidates, it makes
only 922 boards for the 16x16 board and 22,061 for the 9x9 board.

"Parallel Sudoku Solver Algorithm" (Tarhini, Hajj) does not print its 9x9 board. Only two of its
claims can be compared: that all cores are busy, and by how much they shorten the run. Two boards
replace the unknown one: a board with many solutions to count, and a hard proper puzzle.

    python benchmarks/documents.py           half a minute
    python benchmarks/documents.py --show    print the tables of the recorded run
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import median

import click
from machine import measure_gigahertz, read_results, record
from script import Run, count_checked, describe_repeats, group_runs, print_table, script, take_turns

from gpusudoku import collection
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.threads import usable_cores

DECOMPOSITION = {
    "decomposition-16x16": {"serial": (390.0, 390_725), "parallel": (195.629, 390_819)},
    "decomposition-9x9": {"serial": (1029.0, 2_393_899), "parallel": (431.306, 6_861_791)},
    "decomposition-easy-9x9": {"serial": (0.131506, 0)},
}
"""Seconds and boards that the report prints; it has the easy board for one thread only."""
PAPER_SECONDS = {"serial": 0.78, "parallel": 0.11}
"""Seconds that the paper prints for its unknown 9x9 board."""
PAPER_CORES = 8
HARD_BOARD = "decomposition-9x9"
LONG_BOARD = "1f"

Case = tuple[str, str, str, int | None]
"""Document, board, propagation, and limit of solutions."""


def measure(cases: list[Case], repeats: int) -> list[Run]:
    """Return all runs of all cases, on one thread and on all cores."""
    engines = {
        "serial": make_engine(device="cpu", jobs=1),
        "parallel": make_engine(device="cpu", jobs=usable_cores()),
    }
    runs = []
    cases_and_ways = list(product(cases, engines))
    turns = take_turns(cases_and_ways, repeats, lambda case: f"{case[0][0]} {case[0][1]}")
    for ((document, board, propagate, limit), way), is_recorded in turns:
        engine = engines[way]
        clock = {}
        if document == "paper":
            # Its table has speed-ups, for which it matters if the clock is slower on all cores.
            clock = {"gigahertz": measure_gigahertz(engine.workers)}
        run = search(board, engine, propagate, limit)
        if is_recorded:
            runs.append({"document": document, "way": way, **run, **clock})
    return runs


def search(board: str, engine: Engine, propagate: str, limit: int | None) -> Run:
    """Search a board of the collection once, and check the count."""
    result = count_checked(
        board, engine=engine, device="cpu", method="search", propagate=propagate, limit=limit
    )
    stats = result.stats
    return {"board": board, "propagate": propagate, "limit": limit, "threads": engine.workers,
            "boards": stats.boards_explored, "seconds": stats.seconds,
            "utilisation": stats.utilisation}  # fmt: skip


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    show_report(path)
    print()
    show_paper(path)


def runs_for(path: Path, document: str) -> list[Run]:
    """Return the recorded runs for a document."""
    return [run for run in read_results(path)["runs"] if run["document"] == document]


def median_of(runs: list[Run], field: str) -> float:
    """Return the median of a field of runs."""
    return median(run[field] for run in runs)


def show_report(path: Path) -> None:
    """Print the recorded searches of the report's boards, and the report's figures."""
    runs = runs_for(path, "report")
    cases = group_runs(runs, "board", "propagate", "way", "limit")
    print("Exploratory decomposition: searches for one solution, as in the report, and for all."
          f" {describe_repeats(cases.values())}\n")  # fmt: skip
    # Each row has two cases: a search for one solution, and for all solutions.
    rows = []
    for board, propagate, way in group_runs(runs, "board", "propagate", "way"):
        first_solution = cases[board, propagate, way, 1]
        all_solutions = cases[board, propagate, way, None]
        seconds = median_of(first_solution, "seconds")
        report_cells = ["", "", ""]
        if way in DECOMPOSITION[board]:
            report_seconds, report_boards = DECOMPOSITION[board][way]
            ratio = float(f"{report_seconds / seconds:.2g}")
            report_cells = [f"{report_boards:,}", f"{report_seconds:g}", f"{ratio:,.0f}"]
        rows.append(
            [
                board,
                propagate,
                f"{first_solution[0]['threads']}",
                f"{median_of(first_solution, 'boards'):,.0f}",
                f"{seconds:.2g}",
                *report_cells,
                f"{median_of(all_solutions, 'boards'):,.0f}",
                f"{median_of(all_solutions, 'seconds'):.2g}",
            ]
        )
    heads = [
        *("board", "propagation", "threads", "boards", "s", "report: boards", "report: s"),
        *("times faster", "boards, all", "s, all"),
    ]
    print_table(heads, rows, text_columns=2)


def show_paper(path: Path) -> None:
    """Print the recorded searches for the paper, and the paper's figures."""
    cases = group_runs(runs_for(path, "paper"), "board", "limit", "way")
    print("Parallel solver: the paper's 9x9 board is unknown, so its seconds cannot be compared."
          f" {describe_repeats(cases.values())}\n")  # fmt: skip
    serial = PAPER_SECONDS["serial"]
    parallel = PAPER_SECONDS["parallel"]
    # The paper prints times, but no shares of busy threads; it says that all cores were busy.
    paper_speed_up = f"{serial / parallel:.2f}"
    paper_board = "the paper's, unknown"
    rows = [
        [paper_board, "1", f"{serial}", "1.00", "", ""],
        [paper_board, f"{PAPER_CORES}", f"{parallel}", paper_speed_up, "", "all"],
    ]
    one_thread: dict[str, tuple[float, float]] = {}
    for (board, limit, _), runs in cases.items():
        threads = runs[0]["threads"]
        seconds = median_of(runs, "seconds")
        cycles = threads * median_of(runs, "gigahertz")  # in 1e9 a second, of all threads
        # The first case of a board is the one on one thread.
        serial_seconds, serial_cycles = one_thread.setdefault(board, (seconds, cycles))
        shares_by_thread = zip(*(run["utilisation"] for run in runs), strict=True)
        task = "one solution" if limit else f"all {collection.entry(board).count:,} solutions"
        rows.append(
            [
                f"{board}, {task}",
                f"{threads}",
                f"{seconds:.2g}",
                f"{serial_seconds / seconds:.2f}",
                f"{cycles / serial_cycles:.2f}",
                ", ".join(f"{median(shares):.1%}" for shares in shares_by_thread),
            ]
        )
    heads = ["board", "threads", "s", "speed-up", "cycles, over 1 thread's"]
    print_table([*heads, "busy, thread by thread"], rows)


@script("documents", show)
@click.option("--repeats", default=9, show_default=True, help="Runs of every case.")
def main(path: Path, repeats: int) -> None:
    """Time the search on the boards of the report, and on two for the paper."""
    cases: list[Case] = [
        ("report", name, technique, limit)
        for name in DECOMPOSITION
        for technique in ("naked-single", "singles")
        for limit in (1, None)
    ]
    cases += [("paper", HARD_BOARD, "singles", 1), ("paper", LONG_BOARD, "singles", None)]
    record(path, measure(cases, repeats))


if __name__ == "__main__":
    main()
