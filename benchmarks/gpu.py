"""Time contraction and search of 9x9 boards on this machine's GPUs beside all of its CPU cores.

Prints Markdown tables and writes every run to a JSON file beside the description of the machine.
Both devices count every board, and must agree; the GPU's long search has a board that would take
the CPU hours, and is compared with the contraction. Without a usable GPU it says why and ends.

    python benchmarks/gpu.py                        some minutes
    python benchmarks/gpu.py --part search          this part only; of the other, what was recorded
    python benchmarks/gpu.py --puzzles puzzles.txt  also searches many puzzles, made from these
    python benchmarks/gpu.py --show                 the tables of what was recorded before
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import click
import searching
from contraction import KNOWN, expensive_boards, random_boards
from machine import RESULTS, machine

import gpusudoku
from gpusudoku import collection
from gpusudoku.counting import Options, make_engine
from gpusudoku.engines import Engine
from gpusudoku.engines.cuda import availability

CLUES = range(0, 21, 2)
BOARDS = 10
BATCHES = [20, 24]
DEVICES = ["cuda", "cpu"]
PARTS = ["contraction", "search"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--part", type=click.Choice(PARTS), multiple=True, help="By default both.")
@click.option("--puzzles", type=click.Path(exists=True, dir_okay=False), help="Proper or not.")
@click.option("--number", default=20_000_000, show_default=True, help="Puzzles made from those.")
@click.option("--output", default=str(RESULTS / "gpu.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's table; run nothing.")
def main(
    part: tuple[str, ...], puzzles: str | None, number: int, output: str, only_show: bool
) -> None:
    """Time contraction and search on GPUs and on CPU cores."""
    path = Path(output)
    if not only_show:
        reason = (
            "only the simulator is there"
            if availability.simulated()
            else availability.unusable_because()
        )
        if reason is not None:
            sys.exit(f"gpu.py: nothing is measured: {reason}")
        engines = {device: make_engine(Options(device=device)) for device in DEVICES}
        recorded = json.loads(path.read_text()) if path.exists() else {}
        if "contraction" in (part or PARTS):
            recorded["runs"] = contractions(engines)
        if "search" in (part or PARTS):
            recorded["search"] = searching.long_search(engines)
            if puzzles:
                recorded["search"] += searching.batch(Path(puzzles), number, engines["cuda"])
        recorded["machine"] = {**machine(), "gpus": list(availability.gpu_names())}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(recorded, indent=0) + "\n")
    show(path)


def contractions(engines: dict[str, Engine]) -> list[dict[str, Any]]:
    """Count every board on both devices."""
    cases = [(name, collection.load(name)) for name in KNOWN]
    cases += [("expensive", board) for board in expensive_boards(BOARDS)]
    for clues in CLUES:
        cases += [(f"{clues} clues", board) for board in random_boards(clues, BOARDS)]
    runs = []
    for repeat in range(2):  # the first compiles
        for name, board in cases[:1] if repeat == 0 else cases:
            counts = set()
            for device, engine in engines.items():
                result = gpusudoku.count(board, engine=engine, device=device, method="contraction")
                counts.add(result.count)
                run = {"case": name, "board": str(board), "device": device}
                runs += [{**run, "seconds": result.stats.seconds}] if repeat else []
            if len(counts) > 1:
                sys.exit(f"{board}: the devices count differently, {sorted(counts)}")
            click.echo(f"{name}: {result.count}", err=True)
    for clues in BATCHES:
        boards = random_boards(clues, 20_000)
        for device, engine in engines.items():
            start = time.perf_counter()
            options = {"engine": engine, "device": device, "method": "contraction"}
            for _ in gpusudoku.count_many(boards, **options):
                pass
            seconds = (time.perf_counter() - start) / len(boards)
            case = f"batch of {clues} clues, a board"
            runs.append({"case": case, "device": device, "seconds": seconds})
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    recorded = json.loads(path.read_text())
    described, runs = recorded["machine"], recorded.get("runs", [])
    print(f"{', '.join(described['gpus'])}; {described['processor']}, {described['cores']} cores\n")
    print("| board | GPU, median s | GPU, worst s | CPU, median s | CPU, worst s |")
    print("|---|---:|---:|---:|---:|")
    for name in dict.fromkeys(run["case"] for run in runs):
        cells = []
        for device in DEVICES:
            case = [run for run in runs if (run["case"], run["device"]) == (name, device)]
            times = [run["seconds"] for run in case]
            cells += [f"{median(times):.6f}", f"{max(times):.6f}"]
        print(f"| {name} | {' | '.join(cells)} |")
    searching.show(recorded.get("search", []))


if __name__ == "__main__":
    main()
