"""Find the best settings for launching kernels on this machine's GPU, by a long search.

Starting from the settings in use, one setting after the other takes each of its other values; a
change that is faster by more than a hundredth is kept. This is done twice. Every combination is run
once to compile and to warm up, and then several times; the median counts. Counts are compared with
the contraction's. Prints a Markdown table and writes every run to a JSON file. With --save the best
settings are written to the file where every later run of the program finds them.

    python benchmarks/tune_gpu.py            some minutes
    python benchmarks/tune_gpu.py --save
    python benchmarks/tune_gpu.py --show benchmarks/results/tuning-....json
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

import click
from generated import thinned
from machine import RESULTS, machine, recorded, write
from script import Run, check, command, show_recorded, table

import gpusudoku
from gpusudoku import Board
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import Gpu, Tuning, save_tuning
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.watch import Progress
from gpusudoku.options import Options
from gpusudoku.planning.search import search_settings
from gpusudoku.search.frontier import Frontier

VALUES: dict[str, list[Any]] = {
    "max_registers": [None, 64, 80, 96, 128],
    "threads_per_block": [32, 64, 128, 256],
    "boards_per_thread": [1, 2, 4, 8, 16, 32],
    "launch_seconds": [0.05, 0.1, 0.2, 0.5],
    "blocks_per_multiprocessor": [None, 2, 4, 8, 16],
}
"""The values to try, in this order: settings that change the code come first."""
FEW: dict[str, list[Any]] = {
    "boards_per_thread": [1, 8],
    "launch_seconds": [0.2, 0.5],
}
"""The values to try with --quick."""
ROUNDS = 2
BETTER = 1.01


class Tuner:
    """A board on a GPU, and the runs of every combination of settings."""

    def __init__(
        self,
        board: Board,
        gpu: int,
        repeats: int,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.board, self.repeats, self._progress = board, repeats, progress
        self.count = gpusudoku.count(board, device="cpu", method="contraction").count
        self.gpu: Gpu = CudaEngine([gpu]).gpus[0]
        self.runs: dict[Tuning, Run] = {}
        self.refused: set[Tuning] = set()

    def descend(self, values: dict[str, list[Any]]) -> Tuning:
        """Find the best settings, starting from those in use."""
        best = self.gpu.tuning
        for _ in range(ROUNDS):
            before = best
            for field, candidates in values.items():
                for value in candidates:
                    other = replace(best, **{field: value})
                    if self.seconds(other) * BETTER < self.seconds(best):
                        best = other
            if best == before:
                break
        return best

    def seconds(self, tuning: Tuning) -> float:
        """The median of some runs, measured once; infinite if the GPU refuses the settings."""
        if tuning not in self.runs and tuning not in self.refused:
            try:
                self.runs[tuning] = self.measured(tuning)
            except DeviceError as error:
                if not self.runs:
                    raise
                click.echo(f"{changes(asdict(tuning))}: {error}", err=True)
                self.refused.add(tuning)
        return inf if tuning in self.refused else float(self.runs[tuning]["seconds"])

    def measured(self, tuning: Tuning) -> Run:
        """Run with some settings: once to warm up, then to measure."""
        engine = CudaEngine([self.gpu.number], tuning)
        results = []
        for repeat in range(self.repeats + 1):
            start = time.perf_counter()
            options = {"engine": engine, "device": "cuda", "progress": self._progress}
            result = gpusudoku.count(self.board, method="search", **options)
            if repeat == 0:
                first = time.perf_counter() - start
            check(str(tuning), result.count, self.count)
            results.append(result.stats)
        seconds = median(stats.seconds for stats in results[1:])
        click.echo(f"{self.count / seconds / 1e6:.1f} M/s {changes(asdict(tuning))}", err=True)
        return {
            "tuning": asdict(tuning),
            "seconds": seconds,
            "expansion": median(stats.expansion_seconds for stats in results[1:]),
            "transfer": transfer_seconds(self.board, self.gpu, engine, self.repeats),
            "boards": results[-1].frontier_boards,
            "first": first,
            "all": [stats.seconds for stats in results[1:]],
        }

    def recorded(self, best: Tuning) -> dict[str, Any]:
        """The results as they are written."""
        return {
            "machine": {**machine(), "gpu": self.gpu.name},
            "board": str(self.board),
            "count": str(self.count),
            "best": asdict(best),
            "runs": list(self.runs.values()),
        }


def transfer_seconds(board: Board, gpu: Gpu, engine: CudaEngine, repeats: int) -> float:
    """The seconds that it takes to bring the frontier of a board to the GPU."""
    settings = search_settings(Options())
    roots = Frontier.of([board])
    frontier = roots.expanded(settings, engine.prepare(roots, settings))
    times = []
    with gpu.current():
        for _ in range(repeats + 1):
            start = time.perf_counter()
            arrays = [gpu.xp.asarray(part) for part in (frontier.boards, frontier.roots)]
            gpu.finish()
            times.append(time.perf_counter() - start)
            del arrays
    return min(times)


def changes(tuning: dict[str, Any]) -> str:
    """The settings that differ from the defaults, in words."""
    default = asdict(Tuning())
    found = [f"{name} {value}" for name, value in tuning.items() if value != default[name]]
    return ", ".join(found) or "defaults"


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    results = recorded(path)
    described, count = results["machine"], int(results["count"])
    print(f"{described['gpu']}, {described['date']}, {results['board']}: {count:,} solutions\n")
    rows = []
    for run in sorted(results["runs"], key=lambda run: run["seconds"]):
        cells = [changes(run["tuning"]), f"{count / run['seconds'] / 1e6:.1f}"]
        cells += [f"{run[name]:.4f}" for name in ("seconds", "expansion", "transfer")]
        rows.append([*cells, f"{run['boards']:,}", f"{run['first']:.1f}"])
    table(["settings", "M/s", "s", "expansion s", "transfer s", "frontier", "first s"], rows)
    print(f"\nThe best: {changes(results['best'])}")


@command("tune_gpu")
@click.option("--board", "name", default="@2f", show_default=True, help="A board of the program.")
@click.option("--without", default=2, show_default=True, help="Last clues that it lacks.")
@click.option("--gpu", default=0, show_default=True, help="Number of the GPU.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every setting.")
@click.option("--quick", is_flag=True, help="Few settings, each run once.")
@click.option("--save", is_flag=True, help="Let later runs use the best setting.")
@click.option("--output", help="JSON file; by default results/tuning-GPU.json.")
@click.option("--show", "shown", help="Print the table of that file; run nothing.")
def main(
    name: str,
    without: int,
    gpu: int,
    repeats: int,
    quick: bool,
    save: bool,
    output: str | None,
    shown: str | None,
) -> None:
    """Try how kernels are best launched."""
    if shown:
        show_recorded("tune_gpu", show, Path(shown))
        return
    if reason := availability.unusable_because():
        raise DeviceError(f"nothing is measured: {reason}")
    board = thinned(name.removeprefix("@"), without)
    bench = Tuner(board, gpu, 1 if quick else repeats)
    best = bench.descend(FEW if quick else VALUES)
    slug = re.sub(r"\W+", "-", bench.gpu.name).strip("-").lower()
    path = Path(output) if output else RESULTS / f"tuning-{slug}.json"
    write(path, bench.recorded(best))
    show(path)
    if save:
        print(f"\nWritten to {save_tuning(bench.gpu.name, best)}")


if __name__ == "__main__":
    main()
