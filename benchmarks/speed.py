"""Time the search on the project's boards: by board, strategy and propagation, on one thread.

Prints a Markdown table of medians and writes every run to a JSON file beside the description of
the machine. Settings are interleaved, so that a change of the machine's speed falls on all alike.

    python benchmarks/speed.py                    a few minutes
    python benchmarks/speed.py 1a 1b --repeats 5  some boards only
    python benchmarks/speed.py --show             the table of what was recorded before
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

import click
from machine import RESULTS, gigahertz, heading_with_clock, record

import gpusudoku
from gpusudoku import collection
from gpusudoku.counting import Options, make_engine

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
LARGE_SETTINGS = [("min", "singles"), ("min", "locked"), ("min", "all")]
"""With less, large boards may take hours."""


def options(setting: tuple[str, str]) -> dict[str, object]:
    """A setting as the options of a count."""
    strategy, propagate = setting
    return {"device": "cpu", "method": "search", "jobs": 1, "strategy": strategy,
            "propagate": propagate}  # fmt: skip


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("boards", nargs=-1)
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
@click.option("--output", default=str(RESULTS / "speed.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's table; run nothing.")
def main(boards: tuple[str, ...], repeats: int, output: str, only_show: bool) -> None:
    """Time the search on BOARDS (names as in "gpusudoku boards")."""
    path = Path(output)
    if not only_show:
        before = gigahertz(1)
        runs = measure(list(boards) or SERIES + LARGE, repeats)
        record(path, runs, gigahertz=[before, gigahertz(1)])
    show(path)


def measure(names: list[str], repeats: int) -> list[dict[str, object]]:
    """Every run of every case, and every count checked."""
    engine = make_engine(Options(device="cpu", jobs=1))
    runs = []
    for repeat in range(repeats + 1):  # the first is a warm-up
        for name in names:
            entry = collection.entry(name)
            for setting in LARGE_SETTINGS if name in LARGE else SETTINGS:
                case = ", ".join(setting)
                click.echo(f"\r{repeat}/{repeats} {name} {case:<40}", nl=False, err=True)
                result = gpusudoku.count(collection.load(name), engine=engine, **options(setting))
                if result.count != entry.count:
                    sys.exit(f"{name}: {result.count} solutions counted, {entry.count} are right")
                if repeat:
                    stats = result.stats
                    runs.append({"board": name, "case": case, "count": str(result.count),
                                 "nodes": stats.nodes, "seconds": stats.seconds})  # fmt: skip
    click.echo("", err=True)
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    recorded = json.loads(path.read_text())
    runs, described = recorded["runs"], recorded["machine"]
    print(f"{heading_with_clock(described)}\n")
    names = list(dict.fromkeys(run["board"] for run in runs))
    for rows in ([n for n in names if n not in LARGE], [n for n in names if n in LARGE]):
        heads = list(dict.fromkeys(run["case"] for run in runs if run["board"] in rows))
        if not rows:
            continue
        print(f"| board | solutions | {' | '.join(heads)} |")
        print("|---|---:|" + "---:|" * len(heads))
        for name in rows:
            cells = [cell([r for r in runs if (r["board"], r["case"]) == (name, h)]) for h in heads]
            print(f"| {name} | {collection.entry(name).count:,} | {' | '.join(cells)} |")
        print()


def cell(case: list[dict[str, object]]) -> str:
    """Seconds, and of boards with many solutions the rate."""
    if not case:
        return ""
    seconds = median(float(str(run["seconds"])) for run in case)
    count = int(str(case[0]["count"]))
    rate = f" ({count / seconds / 1e6:.2f} M/s)" if count >= 10_000 else ""
    return f"{seconds:.3g} s{rate}"


if __name__ == "__main__":
    main()
