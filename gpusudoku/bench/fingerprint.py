"""What a figure shows, as a short word: the same for each version of the library that draws it."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np


def fingerprint(figure: Any) -> str:
    """A digest of data, looks and texts, not of ticks and of where things are on the page."""
    return f"shows {sha256(repr(sorted(_shown(figure))).encode()).hexdigest()[:16]}"


def _shown(figure: Any) -> Iterator[str]:
    """Every text, line, area and matrix of a figure, in no order."""
    yield f"title {figure.get_suptitle()}; {figure.get_supxlabel()}"
    for number, axes in enumerate(figure.axes):
        for artist in _artists(axes):
            yield f"{number} {artist}"


def _artists(axes: Any) -> Iterator[str]:
    labels = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    yield f"axes {labels} {axes.get_xscale()} {axes.get_yscale()}"
    yield from (f"text {text.get_text()}" for text in axes.texts)
    for line in axes.lines:
        yield f"line {_looks(line)} {_rounded(line.get_xydata())}"
    for area in axes.collections:  # in which order an area's outline goes depends on the version
        points = np.concatenate([path.vertices for path in area.get_paths()])
        colours = _rounded(area.get_facecolor()), _rounded(area.get_edgecolor())
        yield f"area {colours} {area.get_hatch()} {sorted(set(map(tuple, _rounded(points))))}"
    for box in axes.patches:
        yield f"box {_rounded([box.get_facecolor(), box.get_bbox().bounds])}"
    for image in axes.images:
        values = np.ma.filled(image.get_array(), np.nan)
        yield f"matrix {image.get_cmap().name} {image.get_clim()} {_rounded(values)}"
    if axes.get_legend():
        for text in axes.get_legend().get_texts():
            yield f"legend {text.get_text()}"
        for line in axes.get_legend().get_lines():
            yield f"legend {_looks(line)}"


def _looks(line: Any) -> list[Any]:
    looks = [line.get_color(), line.get_linestyle(), line.get_marker(), line.get_fillstyle()]
    return [*looks, line.get_alpha()]


def _rounded(points: Any) -> list[list[str]]:
    """Six digits: other versions of NumPy add in another order."""
    return [[f"{value + 0:.6g}" for value in row] for row in np.asarray(points, float)]
