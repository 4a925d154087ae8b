"""Draw all figures of the documentation again, from the recorded results. Nothing is measured.

    python benchmarks/figures.py       writes results/plots; a test checks that they are current

Figures of the simulation show what ``gpusudoku bench`` measured as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import simulated_figures
from machine import RESULTS
from script import command

from gpusudoku.bench import figures, suite

PLOTS = RESULTS / "plots"
NAMES = ("bench", "cutoff-space", "cutoff-empty", "simulated")
"""The results of which there are figures."""


def figures_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Draw the figures of a recorded file, with their names."""
    if path.stem == "simulated":
        return simulated_figures.figures_of(path)
    return figures.figures_of(*suite.read_json(str(path)))


@command("figures")
@click.option("--plots", default=str(PLOTS), help="Folder for the figures.")
def main(plots: str) -> None:
    """Draw all figures again, from the recorded results."""
    for name in NAMES:
        for path in figures.save(figures_of(RESULTS / f"{name}.json"), str(Path(plots, name))):
            click.echo(f"{path} written", err=True)


if __name__ == "__main__":
    main()
