"""Draw all figures of the documentation from the recorded results, without measuring.

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
"""The recorded results that figures are drawn of."""


def figures_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Draw the figures of a recorded file; yield their names and figures."""
    rows, machine = suite.read_json(str(path))
    return figures.figures_of(rows, machine)


def fingerprint(figure: Any) -> str:
    """Return a digest of a figure's data, colours and texts that any matplotlib version gives."""
    lines = [f"title {figure.get_suptitle()}; {figure.get_supxlabel()}"]
    for i, axes in enumerate(figure.axes):
        lines += [f"{i} {line}" for line in _describe_axes(axes)]
    digest = sha256(repr(sorted(lines)).encode()).hexdigest()
    return f"shows {digest[:16]}"


def _describe_axes(axes: Any) -> Iterator[str]:
    """Yield a line for every text, line, area, box and matrix."""

    def looks(line: Any) -> list[Any]:
        return [line.get_color(), line.get_linestyle(), line.get_marker(), line.get_fillstyle(),
                line.get_alpha()]  # fmt: skip

    def rounded(points: Any) -> list[list[str]]:
        # Versions of NumPy add numbers in different orders, so that last digits vary.
        return [[f"{value + 0:.6g}" for value in row] for row in np.asarray(points, float)]

    labels = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    yield f"axes {labels} {axes.get_xscale()} {axes.get_yscale()}"
    for text in axes.texts:
        yield f"text {text.get_text()}"
    for line in axes.lines:
        yield f"line {looks(line)} {rounded(line.get_xydata())}"
    for area in axes.collections:
        # The order of an outline's points depends on the version of matplotlib.
        points = np.concatenate([path.vertices for path in area.get_paths()])
        colours = rounded(area.get_facecolor()), rounded(area.get_edgecolor())
        yield f"area {colours} {area.get_hatch()} {sorted(set(map(tuple, rounded(points))))}"
    for box in axes.patches:
        yield f"box {rounded([box.get_facecolor(), box.get_bbox().bounds])}"
    for image in axes.images:
        values = np.ma.filled(image.get_array(), np.nan)
        yield f"matrix {image.get_cmap().name} {image.get_clim()} {rounded(values)}"
    legend = axes.get_legend()
    if legend:
        for text in legend.get_texts():
            yield f"legend {text.get_text()}"
        for line in legend.get_lines():
            yield f"legend {looks(line)}"


@command("figures")
@click.option("--plots", default=str(PLOTS), help="Folder for the figures.")
def main(plots: str) -> None:
    """Draw all figures from the recorded results."""
    for name in NAMES:
        drawn = figures_of(RESULTS / f"{name}.json")
        folder = str(Path(plots, name))
        for path in figures.save(drawn, folder, describe=fingerprint):
            click.echo(f"{path} written", err=True)


if __name__ == "__main__":
    main()
