"""Repeat what two documents measured: their boards by our search, their figures beside ours.

"Sudoku Solver using Exploratory Decomposition" (2022) prints its boards, and how many it explored
in what time until a solution was found, serially and with OpenMP on 8 cores. Its program fixes
cells with one candidate and guesses one with the fewest, which is strategy ``min`` with
``naked-single`` here; ``singles`` is what ours does by default. It counts the boards that it makes
from a guess, one for every candidate, and not the first; ours splits boards in two and counts all.
It made 1,000 to 16,000 boards a second, but above all it made far more of them than its rules need,
whatever the reason: guessing the first empty cell, not one with the fewest candidates, ours with
``naked-single`` makes 922 of the 16x16 board and 22,061 of the 9x9 one.

"Parallel Sudoku Solver Algorithm" (Tarhini, Hajj) does not print its 9x9 board. So only what it
claims can be compared: that all cores are busy, and by how much they shorten the run. One board
stands for that which has enough solutions to count, and one for a hard proper puzzle.

    python benchmarks/documents.py           half a minute
    python benchmarks/documents.py --show    the tables of what was recorded before
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

import click
from machine import RESULTS, gigahertz, heading, record

import gpusudoku
from gpusudoku import collection
from gpusudoku.counting import make_engine
from gpusudoku.engines import Engine
from gpusudoku.engines.cores import usable_cores
from gpusudoku.options import Options

DECOMPOSITION = {
    "decomposition-16x16": {"serial": (390.0, 390_725), "parallel": (195.629, 390_819)},
    "decomposition-9x9": {"serial": (1029.0, 2_393_899), "parallel": (431.306, 6_861_791)},
    "decomposition-easy-9x9": {"serial": (0.131506, 0)},
}
"""Seconds and boards that the report prints; the easy board's are of one thread."""
PROPAGATE = ["naked-single", "singles"]

UNKNOWN = {"serial": 0.78, "parallel": 0.11}
"""Seconds that the paper prints for a 9x9 board that it does not."""
PAPER_CORES = 8
HARD = "decomposition-9x9"

Run = dict[str, object]
Case = tuple[str | int | None, ...]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("boards", nargs=-1)
@click.option("--long", "long", default="1f", show_default=True, help="Board that takes long.")
@click.option("--propagate", multiple=True, default=PROPAGATE, help="Techniques, repeatable.")
@click.option("--repeats", default=9, show_default=True, help="Runs of every case.")
@click.option("--output", default=str(RESULTS / "documents.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's tables; run nothing.")
def main(
    boards: tuple[str, ...],
    long: str,
    propagate: tuple[str, ...],
    repeats: int,
    output: str,
    only_show: bool,
) -> None:
    """Time the search on BOARDS of the report (all by default), and on two for the paper."""
    path = Path(output)
    if not only_show:
        cases = [
            ("report", name, technique, limit)
            for name in boards or DECOMPOSITION
            for technique in propagate
            for limit in (1, None)
        ]
        cases += [("paper", HARD, "singles", 1), ("paper", long, "singles", None)]
        record(path, measure(cases, repeats))
    show(path)


def measure(cases: list[tuple[str, str, str, int | None]], repeats: int) -> list[Run]:
    """Every run of every case, on one thread and on all cores."""
    engines = {
        way: make_engine(Options(device="cpu", jobs=jobs))
        for way, jobs in (("serial", 1), ("parallel", usable_cores()))
    }
    runs: list[Run] = []
    for repeat in range(repeats + 1):  # the first is a warm-up
        for document, name, propagate, limit in cases:
            for way, engine in engines.items():
                # What the machine loses by itself on all cores only matters to the speed-up.
                cycles = {"gigahertz": gigahertz(engine.workers)} if document == "paper" else {}
                run = searched(name, engine, propagate, limit)
                if repeat:
                    runs.append({"document": document, "way": way, **run, **cycles})
            click.echo(f"\r{repeat}/{repeats} {document} {name:<24}", nl=False, err=True)
    click.echo("", err=True)
    return runs


def searched(name: str, engine: Engine, propagate: str, limit: int | None) -> Run:
    """One run; the count is checked."""
    result = gpusudoku.count(collection.load(name), engine=engine, device="cpu", method="search",
                             propagate=propagate, limit=limit)  # fmt: skip
    right = collection.entry(name).count
    if result.count != (right if limit is None else min(limit, right)):
        sys.exit(f"{name}: {result.count} solutions counted, {right} are right")
    stats = result.stats
    return {"board": name, "propagate": propagate, "limit": limit, "threads": engine.workers,
            "boards": stats.boards_explored, "seconds": stats.seconds,
            "utilisation": stats.utilisation}  # fmt: skip


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    recorded = json.loads(path.read_text())
    cycles = median(run["gigahertz"] for run in recorded["runs"] if "gigahertz" in run)
    print(f"{heading(recorded['machine'])}; {cycles:.2f} GHz per core\n")
    cases: dict[Case, list[dict[str, Any]]] = {}
    for run in recorded["runs"]:
        case = run["document"], run["board"], run["propagate"], run["limit"]
        cases.setdefault((*case, run["way"]), []).append(run)
    show_report({case[1:]: runs for case, runs in cases.items() if case[0] == "report"})
    show_paper({case[1:]: runs for case, runs in cases.items() if case[0] == "paper"})


def show_report(cases: dict[Case, list[dict[str, Any]]]) -> None:
    """Print what stands beside the report's figures."""
    print("Exploratory decomposition: until the first solution, as in the report, and for all.\n")
    heads = ["board", "propagation", "threads", "boards", "s", "its boards", "its s"]
    heads += ["times faster", "boards, all", "s, all"]
    print(f"| {' | '.join(heads)} |\n|---|---|{'---:|' * (len(heads) - 2)}")
    for name, propagate, limit, way in cases:
        if limit is None:
            continue
        (boards, seconds), (boards_all, seconds_all) = (
            [median(run[field] for run in cases[name, propagate, wanted, way])
             for field in ("boards", "seconds")]
            for wanted in (1, None)
        )  # fmt: skip
        its, times = " | ", ""
        if printed := DECOMPOSITION[name].get(way):
            its = f"{printed[1]:,} | {printed[0]:g}"
            times = f"{float(f'{printed[0] / seconds:.2g}'):,.0f}"
        threads = cases[name, propagate, limit, way][0]["threads"]
        print(f"| {name} | {propagate} | {threads} | {boards:,.0f} | {seconds:.2g} | {its}"
              f" | {times} | {boards_all:,.0f} | {seconds_all:.2g} |")  # fmt: skip


def show_paper(cases: dict[Case, list[dict[str, Any]]]) -> None:
    """Print what stands beside the paper's figures."""
    print(
        "\nParallel solver: the paper's 9x9 board is unknown, so its seconds cannot be compared.\n"
    )
    print("| board | threads | s | speed-up | cycles of all, of one | busy, thread by thread |")
    print("|---|---:|---:|---:|---:|---:|")
    serial, parallel = UNKNOWN["serial"], UNKNOWN["parallel"]
    print(f"| the paper's, unknown | 1 | {serial} | 1.00 | | |")
    speed_up = serial / parallel
    print(f"| the paper's, unknown | {PAPER_CORES} | {parallel} | {speed_up:.2f} | | all |")
    alone = cycles_alone = 1.0
    for (name, _, limit, way), runs in cases.items():
        seconds = median(run["seconds"] for run in runs)
        cycles = runs[0]["threads"] * median(run["gigahertz"] for run in runs)
        if way == "serial":
            alone, cycles_alone = seconds, cycles
        busy = zip(*(run["utilisation"] for run in runs), strict=True)
        shares = ", ".join(f"{median(share):.1%}" for share in busy)
        wanted = "one solution" if limit else f"all {collection.entry(name).count:,} solutions"
        print(f"| {name}, {wanted} | {runs[0]['threads']} | {seconds:.2g} | {alone / seconds:.2f}"
              f" | {cycles / cycles_alone:.2f} | {shares} |")  # fmt: skip


if __name__ == "__main__":
    main()
