"""How cost grows: laws fitted to recorded results, a figure, and what they predict.

The search is fitted against its solutions (results/bench.json), the contraction against clues and
digits named (results/contraction.json). Nothing is measured here.

    python benchmarks/model.py              prints the laws, draws results/plots/model.svg and .png
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

import click
import numpy as np
from machine import RESULTS

from gpusudoku.bench import tables
from gpusudoku.bench.model import PowerLaw, search_law
from gpusudoku.bench.plots import COLOURS, STYLE, require
from gpusudoku.kernels.search.layout import Layout

LEAST_CLUES = 8
"""With fewer clues the orbits of free digits make contractions quicker again."""
EMPTY_BOARD = 6_670_903_752_021_072_936_960
YEAR = 365.25 * 86400
GPUS, GPU_RATES = 8, (1.1e9, 3.3e9)
"""What kernel_resources.py computes for an H200: warps divided at every step, and never."""


def random_runs() -> list[tuple[int, int, float]]:
    """Clues, digits named and seconds of every random board that was contracted."""
    runs = json.loads((RESULTS / "contraction.json").read_text())["runs"]
    found = []
    for run in runs:
        if run["group"].isdigit() and "board" in run:
            clues = [cell for cell in run["board"] if cell != "."]
            found.append((len(clues), len(set(clues)), run["seconds"]))
    return found


def contraction_law(runs: list[tuple[int, int, float]]) -> tuple[float, float, float, float]:
    """Least squares of log seconds: constant, factor a clue, factor a digit named, spread."""
    some = [run for run in runs if run[0] >= LEAST_CLUES]
    clues, digits, seconds = (np.array(column, float) for column in zip(*some, strict=True))
    design = np.stack([np.ones_like(clues), clues, digits], axis=1)
    found, *_ = np.linalg.lstsq(design, np.log(seconds), rcond=None)
    spread = float(np.exp(np.std(np.log(seconds) - design @ found)))
    return float(np.exp(found[0])), float(np.exp(found[1])), float(np.exp(found[2])), spread


def search() -> PowerLaw:
    """The law of the search in the recorded run."""
    rows, _ = tables.read_json(str(RESULTS / "bench.json"))
    law = search_law(rows)
    if law is None:
        sys.exit("model.py: too few boards were searched: run gpusudoku bench --json first")
    return law


def show(_: Path | None = None) -> None:
    """Print the laws and what follows from them."""
    law = search()
    constant, clue, digit, spread = contraction_law(random_runs())
    per_solution = float(law.at(1e8)) / 1e8
    years = EMPTY_BOARD * per_solution / YEAR
    print(
        f"A search takes {law.factor:.2g} s x solutions^{law.exponent:.2f} on one core (within a"
        f" factor of {law.spread:.2f} on {law.points} 9x9 boards). It visits solutions: at the"
        f" rate that it has at 1e8 solutions, the empty board would take {years:.1g} years.\n"
    )
    print(
        f"A contraction of a 9x9 board takes {constant:.2g} s x {clue:.2f}^clues x"
        f" {digit:.2f}^digits on two cores from {LEAST_CLUES} clues on (within a factor of"
        f" {spread:.2f} on random boards). Clues shorten its lists, and solutions do not matter."
    )
    print()
    print("| solutions | search, one core, at that rate | eight H200s (computed, see below) |")
    print("|---:|---:|---:|")
    for exponent in (6, 8, 10, 12, 14):
        seconds = per_solution * 10.0**exponent
        gpus = [10.0**exponent / rate / GPUS for rate in GPU_RATES]
        print(f"| 1e{exponent} | {seconds:.2g} s | {gpus[1]:.2g} to {gpus[0]:.2g} s |")
    print()
    print(
        f"The rate of a GPU is computed by kernel_resources.py, not measured: at most"
        f" {GPU_RATES[0]:.1e} to {GPU_RATES[1]:.1e} solutions a second. GPUs share nothing but"
        " the frontier.\n\nOn larger boards a node costs in proportion to the words of a board:"
        f" about 5 ns each on one core, and a 16x16 board has {Layout(4, 4).words} words. A 16x16"
        f" board of 171,902 solutions is searched at {large_rate():.1e} solutions a second. The"
        " lists of a contraction grow so fast that empty boards beyond 9x9 stay out of reach: a"
        " 12x12 stack can be filled in about 9e10 ways."
    )


def large_rate() -> float:
    """Solutions a second of the recorded 16x16 board with many."""
    rows, _ = tables.read_json(str(RESULTS / "bench.json"))
    return max(
        row["solutions_per_second"] or 0
        for row in rows
        if (row["board"], row["method"], row["jobs"]) == ("16x16-solutions", "search", 1)
    )


def draw(folder: Path) -> list[Path]:
    """Both laws and their points, side by side."""
    require()
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    with mpl.rc_context(STYLE):
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.4))
        law = search()
        rows, _ = tables.read_json(str(RESULTS / "bench.json"))
        points = [
            (row["solutions"], row["median"])
            for row in rows
            if (row["method"], row["jobs"]) == ("search", 1) and row["solutions"] and row["median"]
            and row["clues"] + row["empty_cells"] == 81
        ]  # fmt: skip
        left.plot(*zip(*points, strict=True), "o", color=COLOURS[0], label="9x9 boards")
        x = np.geomspace(1e4, 1e8, 20)
        left.plot(x, law.at(x), "--", color="black", label=f"solutions^{law.exponent:.2f}")
        left.set(xscale="log", yscale="log", xlabel="solutions", ylabel="search, 1 thread, s")
        left.legend(frameon=False, loc="upper left")
        groups = defaultdict(list)
        for clues, digits, seconds in random_runs():
            groups[min(digits, 9), clues].append(seconds)
        for number, digits in enumerate((3, 5, 7, 8, 9)):
            line = sorted(
                (k, median(v)) for (d, k), v in groups.items() if d == digits and len(v) > 4
            )
            if line:
                right.plot(*zip(*line, strict=True), "osD^v"[number], color=COLOURS[number],
                           linestyle="-", label=f"{digits} digits named")  # fmt: skip
        right.set(
            yscale="log", xlabel="clues of a random board", ylabel="contraction, 2 threads, s"
        )
        right.legend(frameon=False)
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"model.{kind}" for kind in ("svg", "png")]
        for path in written:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
        pyplot.close(figure)
    return written


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--plots", default=str(RESULTS / "plots"), help="Folder for the figure.")
def main(plots: str) -> None:
    """Fit, print, draw."""
    show()
    for path in draw(Path(plots)):
        click.echo(f"{path} written", err=True)


if __name__ == "__main__":
    main()
