"""Time the search on the project's boards: by board, strategy, propagation and threads.

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
from machine import RESULTS, machine

import gpusudoku
from gpusudoku import library
from gpusudoku.counting import Options, make_engine
from gpusudoku.engines.cores import usable_cores

SERIES = ["1c", "1d", "1e", "1f", "2c", "2d", "2e", "2f"]


def settings() -> list[dict[str, object]]:
    """The default search on one thread, each deviation from it, and all cores."""
    one = {
        "device": "cpu",
        "method": "search",
        "jobs": 1,
        "strategy": "min",
        "propagate": "singles",
    }
    cores = usable_cores()
    return [
        one,
        {**one, "propagate": "none"},
        {**one, "propagate": "naked-single"},
        {**one, "strategy": "first"},
        *([{**one, "jobs": cores}] if cores > 1 else []),
    ]


def label(setting: dict[str, object]) -> str:
    """A column's heading."""
    return f"{setting['strategy']}, {setting['propagate']}, -j {setting['jobs']}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("boards", nargs=-1)
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
@click.option("--output", default=str(RESULTS / "speed.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's table; run nothing.")
def main(boards: tuple[str, ...], repeats: int, output: str, only_show: bool) -> None:
    """Time the search on BOARDS (names as in "gpusudoku boards")."""
    path = Path(output)
    if only_show:
        show(path)
        return
    names = list(boards) or SERIES
    cases = settings()
    engines = [make_engine(Options(**case)) for case in cases]
    runs = []
    for repeat in range(repeats + 1):  # the first is a warm-up
        for name in names:
            entry = library.entry(name)
            for case, engine in zip(cases, engines, strict=True):
                result = gpusudoku.count(library.load(name), engine=engine, **case)
                if result.count != entry.count:
                    sys.exit(f"{name}: {result.count} solutions counted, {entry.count} are right")
                if repeat:
                    runs.append({**result.as_dict(), "board": name, "case": label(case)})
                click.echo(f"\r{repeat}/{repeats} {name} {label(case):<40}", nl=False, err=True)
    click.echo("", err=True)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "runs": runs}, indent=1) + "\n")

    show(path)


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    recorded = json.loads(path.read_text())
    runs = recorded["runs"]
    heads = list(dict.fromkeys(run["case"] for run in runs))
    described = recorded["machine"]
    print(f"{described['processor']}, {described['cores']} cores, {described['date']}\n")
    print(f"| board | solutions | {' | '.join(heads)} |")
    print("|---|---:|" + "---:|" * len(heads))
    for name in dict.fromkeys(run["board"] for run in runs):
        count = library.entry(name).count
        cells = []
        for head in heads:
            case = [run for run in runs if (run["board"], run["case"]) == (name, head)]
            seconds = median(run["seconds"] for run in case)
            cells.append(f"{seconds:.3f} s ({count / seconds / 1e6:.2f} M/s)")
        print(f"| {name} | {count:,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
