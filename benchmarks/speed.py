"""Time the search on the project's boards: by board, strategy and propagation, on one thread.

Prints a Markdown table of medians and writes every run to a JSON file, with the description of
the machine. Settings take turns, so that a change of the machine's speed falls on all of them.

    python benchmarks/speed.py                    a few minutes
    python benchmarks/speed.py 1a 1b --repeats 5  some boards only
    python benchmarks/speed.py --show             the table of what was recorded before
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

import click
from machine import gigahertz, record, recorded
from script import Run, board_names, counted, grouped, repeated, script, table, turns

from gpusudoku import collection
from gpusudoku.engines.make import make_engine

SERIES = ["1c", "1d", "1e", "1f", "2c", "2d", "2e", "2f"]
LARGE = [
    "decomposition-16x16",
    "16x16-unique",
    "16x16-solutions",
    "25x25-newspaper",
    "36x36-unique",
]

SETTINGS = [("min", "singles"), ("min", "locked"), ("min", "naked-single"), ("first", "singles")]
SETTINGS += [("min", "none")]
"""Strategy and propagation."""
LARGE_SETTINGS = [("min", "singles"), ("min", "locked"), ("min", "all")]
"""The settings for large boards, which may take hours with weaker propagation."""


def measure(names: list[str], repeats: int) -> list[Run]:
    """Every run of every case."""
    engine = make_engine(device="cpu", jobs=1)
    cases = [
        (n, setting) for n in names for setting in (LARGE_SETTINGS if n in LARGE else SETTINGS)
    ]
    runs = []
    for (name, setting), kept in turns(
        cases,
        repeats,
        lambda case: f"{case[0]} {', '.join(case[1])}",
        kind=lambda case: (collection.load(case[0]).geometry, case[1]),
    ):
        strategy, propagate = setting
        result = counted(name, engine=engine, device="cpu", method="search", jobs=1,
                         strategy=strategy, propagate=propagate)  # fmt: skip
        if kept:
            stats = result.stats
            runs.append({"board": name, "case": ", ".join(setting), "count": str(result.count),
                         "nodes": stats.nodes, "seconds": stats.seconds})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    cases = grouped(results["runs"], "board", "case")
    print(f"{repeated(cases.values())}\n")
    for large in (False, True):
        some = {key: runs for key, runs in cases.items() if (key[0] in LARGE) == large}
        if some:
            heads = list(dict.fromkeys(case for _, case in some))
            table(
                ["board", "solutions", *heads],
                [[name, f"{collection.entry(name).count:,}",
                  *(cell(some.get((name, head), [])) for head in heads)]
                 for name in dict.fromkeys(name for name, _ in some)],
            )  # fmt: skip
            print()


def cell(case: list[Run]) -> str:
    """Seconds, and of boards with many solutions the rate."""
    if not case:
        return ""
    seconds = median(run["seconds"] for run in case)
    count = int(case[0]["count"])
    rate = f" ({count / seconds / 1e6:.2f} M/s)" if count >= 10_000 else ""
    return f"{seconds:.3g} s{rate}"


@script("speed", show)
@click.argument("boards", nargs=-1)
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
def main(path: Path, boards: tuple[str, ...], repeats: int) -> None:
    """Time the search on BOARDS (names as in "gpusudoku boards")."""
    names = board_names(boards or SERIES + LARGE)
    before = gigahertz(1)
    runs = measure(names, repeats)
    record(path, runs, gigahertz=[before, gigahertz(1)])


if __name__ == "__main__":
    main()
