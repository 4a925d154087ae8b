"""Find out how kernels are best launched on the GPU that is here, on a long search.

From the settings in use, one after the other is changed to each of its other values, and what is
quicker by more than a hundredth is kept; twice through all of them. Every setting is run once to
compile and to warm up, and then several times, of which the median counts. The count is checked
against the contraction's. Prints a Markdown table and writes every run to a JSON file; with --save
the best setting goes where every later run of the program looks for it.

    python benchmarks/tune_gpu.py            some minutes
    python benchmarks/tune_gpu.py --save
    python benchmarks/tune_gpu.py --show benchmarks/results/tuning-....json
"""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

import click
from machine import RESULTS, machine, thinned

import gpusudoku
from gpusudoku import Board
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.tuning import CONTIGUOUS, INTERLEAVED, Tuning, save_tuning
from gpusudoku.errors import DeviceError, GpusudokuError
from gpusudoku.options import Options
from gpusudoku.planning.search import search_settings
from gpusudoku.search.frontier import Frontier

VALUES: dict[str, list[Any]] = {
    "max_registers": [None, 64, 80, 96, 128],
    "stacks": [INTERLEAVED, CONTIGUOUS],
    "threads_per_block": [32, 64, 128, 256],
    "boards_per_thread": [1, 2, 4, 8, 16, 32],
    "launch_seconds": [0.05, 0.1, 0.2, 0.5],
    "blocks_per_multiprocessor": [None, 2, 4, 8, 16],
}
"""What is tried, in this order: what changes the code comes first."""
FEW: dict[str, list[Any]] = {
    "stacks": [INTERLEAVED, CONTIGUOUS],
    "boards_per_thread": [1, 8],
    "launch_seconds": [0.2, 0.5],
}
"""What is tried where it shall be quick."""
ROUNDS = 2
BETTER = 1.01


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--board", "name", default="@2f", show_default=True, help="A board that comes along,")
@click.option("--without", default=2, show_default=True, help="without so many of its last clues.")
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
        show(Path(shown))
        return
    if reason := availability.unusable_because():
        sys.exit(f"tune_gpu.py: nothing is measured: {reason}")
    try:
        board = thinned(name.removeprefix("@"), without)
        bench = Bench(board, gpu, 1 if quick else repeats)
        best = bench.descend(FEW if quick else VALUES)
        slug = re.sub(r"\W+", "-", bench.card.name).strip("-").lower()
        path = Path(output) if output else RESULTS / f"tuning-{slug}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(bench.recorded(best), indent=1) + "\n")
        show(path)
        if save:
            print(f"\nWritten to {save_tuning(bench.card.name, best)}")
    except GpusudokuError as error:
        sys.exit(f"tune_gpu.py: {error}")


class Bench:
    """One board on one GPU, and what every setting took."""

    def __init__(self, board: Board, gpu: int, repeats: int) -> None:
        self.board, self.gpu, self.repeats = board, gpu, repeats
        self.count = gpusudoku.count(board, device="cpu", method="contraction").count
        self.card: Gpu = CudaEngine([gpu]).gpus[0]
        self.runs: dict[Tuning, dict[str, Any]] = {}
        self.refused: set[Tuning] = set()

    def descend(self, values: dict[str, list[Any]]) -> Tuning:
        """The best setting found; starts from the one in use."""
        best = self.card.tuning
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
        """The median of some runs, measured once; infinite where the card refuses the setting."""
        if tuning not in self.runs and tuning not in self.refused:
            try:
                self.runs[tuning] = self.measured(tuning)
            except DeviceError as error:
                if not self.runs:
                    raise
                click.echo(f"{changes(asdict(tuning))}: {error}", err=True)
                self.refused.add(tuning)
        return inf if tuning in self.refused else float(self.runs[tuning]["seconds"])

    def measured(self, tuning: Tuning) -> dict[str, Any]:
        """Run a setting: once to warm up, then to measure."""
        engine = CudaEngine([self.gpu], tuning)
        results = []
        for repeat in range(self.repeats + 1):
            start = time.perf_counter()
            result = gpusudoku.count(self.board, engine=engine, device="cuda", method="search")
            if repeat == 0:
                first = time.perf_counter() - start
            if result.count != self.count:
                sys.exit(f"tune_gpu.py: {tuning} counts {result.count}, {self.count} are right")
            results.append(result.stats)
        seconds = median(stats.seconds for stats in results[1:])
        click.echo(f"{self.count / seconds / 1e6:.1f} M/s {changes(asdict(tuning))}", err=True)
        return {
            "tuning": asdict(tuning),
            "seconds": seconds,
            "widening": median(stats.expansion_seconds for stats in results[1:]),
            "transfer": self.transfer(engine),
            "boards": results[-1].frontier_boards,
            "first": first,
            "all": [stats.seconds for stats in results[1:]],
        }

    def transfer(self, engine: CudaEngine) -> float:
        """Seconds that it takes to bring the frontier to the card."""
        settings, card = search_settings(Options()), self.card
        frontier = Frontier.of([self.board], settings).expanded(settings, engine.width)
        times = []
        with card.current():
            for _ in range(self.repeats + 1):
                start = time.perf_counter()
                arrays = [card.xp.array(part) for part in (frontier.boards, frontier.roots)]
                card.finish()
                times.append(time.perf_counter() - start)
                del arrays
        return min(times)

    def recorded(self, best: Tuning) -> dict[str, Any]:
        """All that is written down."""
        return {
            "machine": {**machine(), "gpu": self.card.name},
            "board": str(self.board),
            "count": str(self.count),
            "best": asdict(best),
            "runs": list(self.runs.values()),
        }


def changes(tuning: dict[str, Any]) -> str:
    """What a setting has that is not the default."""
    default = asdict(Tuning())
    found = [f"{name} {value}" for name, value in tuning.items() if value != default[name]]
    return ", ".join(found) or "defaults"


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    recorded = json.loads(path.read_text())
    described, count = recorded["machine"], int(recorded["count"])
    print(f"{described['gpu']}, {described['date']}, {recorded['board']}: {count:,} solutions\n")
    print("| setting | 1e6 solutions a second | s | widening s | transfer s | frontier | first s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for run in sorted(recorded["runs"], key=lambda run: run["seconds"]):
        cells = [changes(run["tuning"]), f"{count / run['seconds'] / 1e6:.1f}"]
        cells += [f"{run[name]:.4f}" for name in ("seconds", "widening", "transfer")]
        cells += [f"{run['boards']:,}", f"{run['first']:.1f}"]
        print(f"| {' | '.join(cells)} |")
    print(f"\nThe best: {changes(recorded['best'])}")


if __name__ == "__main__":
    main()
