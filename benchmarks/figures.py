"""Draw all figures of the documentation again, from the recorded results. Nothing is measured.

Figures are written to results/plots; a test checks that they are current.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import numpy as np
from machine import RESULTS
from script import command

from gpusudoku.bench import figures, suite

PLOTS = RESULTS / "plots"
NAMES = ("bench", "cutoff-space", "cutoff-empty")
"""The results of which there are figures."""


def figures_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Draw the figures of a recorded file, with their names."""
    return figures.figures_of(*suite.read_json(str(path)))


def fingerprint(figure: Any) -> str:
    """Return a digest of data, looks and texts, the same for all versions of matplotlib."""
    shown = [f"title {figure.get_suptitle()}; {figure.get_supxlabel()}"]
    shown += [f"{i} {artist}" for i, axes in enumerate(figure.axes) for artist in _artists(axes)]
    return f"shows {sha256(repr(sorted(shown)).encode()).hexdigest()[:16]}"


def _artists(axes: Any) -> Iterator[str]:
    """Describe every text, line, area and matrix."""

    def looks(line: Any) -> list[Any]:
        return [line.get_color(), line.get_linestyle(), line.get_marker(), line.get_fillstyle(),
                line.get_alpha()]  # fmt: skip

    def rounded(points: Any) -> list[list[str]]:  # other versions of NumPy add in another order
        return [[f"{value + 0:.6g}" for value in row] for row in np.asarray(points, float)]

    labels = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    yield f"axes {labels} {axes.get_xscale()} {axes.get_yscale()}"
    yield from (f"text {text.get_text()}" for text in axes.texts)
    for line in axes.lines:
        yield f"line {looks(line)} {rounded(line.get_xydata())}"
    for area in axes.collections:  # in which order an area's outline goes depends on the version
        points = np.concatenate([path.vertices for path in area.get_paths()])
        colours = rounded(area.get_facecolor()), rounded(area.get_edgecolor())
        yield f"area {colours} {area.get_hatch()} {sorted(set(map(tuple, rounded(points))))}"
    for box in axes.patches:
        yield f"box {rounded([box.get_facecolor(), box.get_bbox().bounds])}"
    for image in axes.images:
        values = np.ma.filled(image.get_array(), np.nan)
        yield f"matrix {image.get_cmap().name} {image.get_clim()} {rounded(values)}"
    if axes.get_legend():
        yield from (f"legend {text.get_text()}" for text in axes.get_legend().get_texts())
        yield from (f"legend {looks(line)}" for line in axes.get_legend().get_lines())


@command("figures")
@click.option("--plots", default=str(PLOTS), help="Folder for the figures.")
def main(plots: str) -> None:
    """Draw all figures again, from the recorded results."""
    for name in NAMES:
        drawn = figures_of(RESULTS / f"{name}.json")
        folder = str(Path(plots, name))
        for path in figures.save(drawn, folder, describe=fingerprint):
            click.echo(f"{path} written", err=True)


if __name__ == "__main__":
    main()
