"""Time contraction and search of 9x9 boards on this machine's GPUs beside all of its CPU cores.

Prints Markdown tables and writes every run to a JSON file with the description of the machine.
Both devices count every board, and must agree. The GPU's long search has a board that would take
the CPU hours; its count is compared with the contraction's. Without a usable GPU the script says
why, and ends.

    python benchmarks/gpu.py                        some minutes
    python benchmarks/gpu.py --part search          this part only; of the other, what was recorded
    python benchmarks/gpu.py --puzzles puzzles.txt  also searches many puzzles, made from these
    python benchmarks/gpu.py --show                 the tables of what was recorded before
"""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path
from statistics import median

import click
import searching
from contraction import KNOWN
from generated import expensive_boards, random_boards
from machine import machine, recorded, write
from script import Run, grouped, script, table

import gpusudoku
from gpusudoku import collection
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import DeviceError, MismatchError
from gpusudoku.options import Options

CLUES = range(0, 21, 2)
BOARDS = 10
BATCHES = [20, 24]
DEVICES = ["cuda", "cpu"]
PARTS = ["contraction", "search"]


def require_gpu() -> None:
    """Check that there is a GPU, and not just the simulator.

    Raises
    ------
    DeviceError
        If there is none.
    """
    simulated = availability.simulated()
    reason = "only the simulator is there" if simulated else availability.unusable_because()
    if reason is not None:
        raise DeviceError(f"nothing is measured: {reason}")


def contractions(engines: dict[str, Engine]) -> list[Run]:
    """Count every board on both devices."""
    cases = [(name, collection.load(name)) for name in KNOWN]
    cases += [("expensive", board) for board in expensive_boards(BOARDS)]
    for clues in CLUES:
        cases += [(f"{clues} clues", board) for board in random_boards(clues, BOARDS)]
    runs = []
    for index, (name, board) in enumerate([cases[0], *cases]):  # the first compiles
        counts = set()
        for device, engine in engines.items():
            result = gpusudoku.count(board, engine=engine, device=device, method="contraction")
            counts.add(result.count)
            run = {"case": name, "board": str(board), "device": device}
            runs += [{**run, "seconds": result.stats.seconds}] if index else []
        if len(counts) > 1:
            raise MismatchError(f"{board}: the devices count differently, {sorted(counts)}")
        click.echo(f"{name}: {result.count}", err=True)
    return runs + [batch(clues, *engine) for clues, engine in product(BATCHES, engines.items())]


def batch(clues: int, device: str, engine: Engine) -> Run:
    """Count many random boards together; the seconds are those of one board."""
    boards = random_boards(clues, 20_000)
    start = time.perf_counter()
    options = {"engine": engine, "device": device, "method": "contraction"}
    for _ in gpusudoku.count_many(boards, **options):
        pass
    seconds = (time.perf_counter() - start) / len(boards)
    return {"case": f"batch of {clues} clues, a board", "device": device, "seconds": seconds}


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    described = results["machine"]
    print(f"{', '.join(described['gpus'])}; {described['processor']}, {described['cores']} cores\n")
    times = {
        case: [run["seconds"] for run in runs]
        for case, runs in grouped(results.get("runs", []), "case", "device").items()
    }
    rows = [
        [name, *(f"{of(times[name, device]):.6f}" for device in DEVICES for of in (median, max))]
        for name in dict.fromkeys(name for name, _ in times)
    ]
    table(["board", "GPU, median s", "GPU, worst s", "CPU, median s", "CPU, worst s"], rows)
    searching.show(results.get("search", []))


@script("gpu", show)
@click.option("--part", type=click.Choice(PARTS), multiple=True, help="By default both.")
@click.option("--puzzles", type=click.Path(exists=True, dir_okay=False), help="Proper or not.")
@click.option("--number", default=20_000_000, show_default=True, help="Puzzles made from those.")
def main(path: Path, part: tuple[str, ...], puzzles: str | None, number: int) -> None:
    """Time contraction and search on GPUs and on CPU cores."""
    require_gpu()
    engines = {device: make_engine(Options(device=device)) for device in DEVICES}
    results = recorded(path) if path.exists() else {}
    if "contraction" in (part or PARTS):
        results["runs"] = contractions(engines)
    if "search" in (part or PARTS):
        results["search"] = searching.long_search(engines)
        if puzzles:
            results["search"] += searching.batch(Path(puzzles), number, engines["cuda"])
    write(path, {**results, "machine": {**machine(), "gpus": list(availability.gpu_names())}})


if __name__ == "__main__":
    main()
