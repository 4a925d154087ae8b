"""Repeat the measurements of two documents: their boards by our search, their figures beside ours.

"Sudoku Solver using Exploratory Decomposition" (2022) prints its boards, and how many it explored
in what time until a solution was found, serially and with OpenMP on 8 cores. Its program fixes
cells with one candidate and guesses a cell with the fewest, which is strategy ``min`` with
``naked-single`` here; ours has ``singles`` by default. It counts the boards that it makes from a
guess, one for every candidate, without the first board; ours splits boards in two and counts all.
It made 1,000 to 16,000 boards a second. Above all, it made far more of them than its rules need;
the reason is unknown. Even if it guesses the first empty cell instead of one with the fewest
candidates, ours with ``naked-single`` makes 922 boards for the 16x16 board and 22,061 for the 9x9.

"Parallel Sudoku Solver Algorithm" (Tarhini, Hajj) does not print its 9x9 board. So only its claims
can be compared: that all cores are busy, and by how much they shorten the run. Two boards stand in
for it: one with many solutions to count, and a hard proper puzzle.

    python benchmarks/documents.py           half a minute
    python benchmarks/documents.py --show    the tables of what was recorded before
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import median

import click
from machine import gigahertz, record, recorded
from script import Run, counted, grouped, repeated, script, table, turns

from gpusudoku import collection
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.threads import usable_cores

DECOMPOSITION = {
    "decomposition-16x16": {"serial": (390.0, 390_725), "parallel": (195.629, 390_819)},
    "decomposition-9x9": {"serial": (1029.0, 2_393_899), "parallel": (431.306, 6_861_791)},
    "decomposition-easy-9x9": {"serial": (0.131506, 0)},
}
"""Seconds and boards that the report prints; those of the easy board are for one thread."""
UNKNOWN = {"serial": 0.78, "parallel": 0.11}
"""Seconds that the paper prints for a 9x9 board that it does not print."""
PAPER_CORES = 8
HARD = "decomposition-9x9"
LONG = "1f"

Case = tuple[str, str, str, int | None]
"""Document, board, propagation, and limit of solutions."""


def measure(cases: list[Case], repeats: int) -> list[Run]:
    """Every run of every case, on one thread and on all cores."""
    engines = {
        "serial": make_engine(device="cpu", jobs=1),
        "parallel": make_engine(device="cpu", jobs=usable_cores()),
    }
    runs = []
    ways = list(product(cases, engines))
    for (case, way), kept in turns(ways, repeats, lambda case: f"{case[0][0]} {case[0][1]}"):
        document, name, propagate, limit = case
        engine = engines[way]
        # How much slower the machine itself is on all cores only matters to the speed-up.
        clock = {"gigahertz": gigahertz(engine.workers)} if document == "paper" else {}
        run = searched(name, engine, propagate, limit)
        if kept:
            runs.append({"document": document, "way": way, **run, **clock})
    return runs


def searched(name: str, engine: Engine, propagate: str, limit: int | None) -> Run:
    """One run; the count is checked."""
    stats = counted(name, engine=engine, device="cpu", method="search", propagate=propagate,
                    limit=limit).stats  # fmt: skip
    return {"board": name, "propagate": propagate, "limit": limit, "threads": engine.workers,
            "boards": stats.boards_explored, "seconds": stats.seconds,
            "utilisation": stats.utilisation}  # fmt: skip


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    show_report(path)
    print()
    show_paper(path)


def runs_for(path: Path, document: str) -> list[Run]:
    """The recorded runs for a document."""
    return [run for run in recorded(path)["runs"] if run["document"] == document]


def show_report(path: Path) -> None:
    """Print the runs beside the report's figures."""
    runs = runs_for(path, "report")
    cases = grouped(runs, "board", "propagate", "way", "limit")
    print("Exploratory decomposition: until the first solution, as in the report, and for all."
          f" {repeated(cases.values())}\n")  # fmt: skip
    rows = []
    for name, propagate, way in grouped(runs, "board", "propagate", "way"):
        first, all_solutions = (cases[name, propagate, way, limit] for limit in (1, None))
        boards, seconds = (median(run[field] for run in first) for field in ("boards", "seconds"))
        row = [name, propagate, f"{first[0]['threads']}", f"{boards:,.0f}", f"{seconds:.2g}"]
        if printed := DECOMPOSITION[name].get(way):
            times = float(f"{printed[0] / seconds:.2g}")
            row += [f"{printed[1]:,}", f"{printed[0]:g}", f"{times:,.0f}"]
        else:
            row += ["", "", ""]
        row += [f"{median(run['boards'] for run in all_solutions):,.0f}"]
        rows.append([*row, f"{median(run['seconds'] for run in all_solutions):.2g}"])
    heads = ["board", "propagation", "threads", "boards", "s", "its boards", "its s"]
    table([*heads, "times faster", "boards, all", "s, all"], rows, left=2)


def show_paper(path: Path) -> None:
    """Print the runs beside the paper's figures."""
    cases = grouped(runs_for(path, "paper"), "board", "limit", "way")
    print("Parallel solver: the paper's 9x9 board is unknown, so its seconds cannot be compared."
          f" {repeated(cases.values())}\n")  # fmt: skip
    serial = UNKNOWN["serial"]
    parallel = UNKNOWN["parallel"]
    rows = [
        ["the paper's, unknown", "1", f"{serial}", "1.00", "", ""],
        ["the paper's, unknown", f"{PAPER_CORES}", f"{parallel}", f"{serial / parallel:.2f}", "",
         "all"],
    ]  # fmt: skip
    alone: dict[str, tuple[float, float]] = {}
    for (name, limit, _), case in cases.items():
        threads = case[0]["threads"]
        seconds = median(run["seconds"] for run in case)
        cycles = threads * median(run["gigahertz"] for run in case)
        alone_seconds, alone_cycles = alone.setdefault(name, (seconds, cycles))
        busy = zip(*(run["utilisation"] for run in case), strict=True)
        wanted = "one solution" if limit else f"all {collection.entry(name).count:,} solutions"
        rows.append([f"{name}, {wanted}", f"{threads}", f"{seconds:.2g}",
                     f"{alone_seconds / seconds:.2f}", f"{cycles / alone_cycles:.2f}",
                     ", ".join(f"{median(share):.1%}" for share in busy)])  # fmt: skip
    heads = ["board", "threads", "s", "speed-up", "cycles, over 1 thread's"]
    table([*heads, "busy, thread by thread"], rows)


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
    cases += [("paper", HARD, "singles", 1), ("paper", LONG, "singles", None)]
    record(path, measure(cases, repeats))


if __name__ == "__main__":
    main()
