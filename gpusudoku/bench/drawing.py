"""What all figures share: how they look, their axes, what stands under them, and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from math import log10
from pathlib import Path
from typing import Any

from gpusudoku.bench.machine import heading
from gpusudoku.errors import GpusudokuError, InputError

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"]
"""The palette of Okabe and Ito, whose colours the colour-blind can tell apart."""
MARKERS = "osD^vPX*"
LINES = ["-", "--", "-.", ":"]
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.titlesize": 10,
    "figure.titlesize": 11,
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.hashsalt": "gpusudoku",  # the same figure is the same file
}
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


def require() -> None:
    """Check that figures can be drawn.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise GpusudokuError("--plot needs matplotlib (the extra 'bench', as in '.[bench]')")


def digest(*texts: str) -> str:
    """What tells recorded results from others; an SVG names the results that it was drawn from."""
    return f"results {sha256(''.join(texts).encode()).hexdigest()[:16]}"


def save(
    figures: Callable[[Any], Iterable[tuple[str, Any]]], folder: str, results: str
) -> list[Path]:
    """Write what ``figures(pyplot)`` draws, name by name, as SVG and PNG; returns the files.

    ``results`` is the ``digest`` of what is drawn.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    InputError
        If the folder cannot be written.
    """
    require()
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    kinds: dict[str, dict[str, Any]] = {"svg": {"Date": None, "Description": results}, "png": {}}
    written = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(STYLE):
            for name, figure in figures(pyplot):
                for kind, metadata in kinds.items():
                    path = Path(folder, f"{name}.{kind}")
                    figure.savefig(path, dpi=150, metadata=metadata)
                    written.append(path)
                pyplot.close(figure)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}, expected a folder to write to") from None
    return written


def entitle(figure: Any, title: str, machine: dict[str, Any], spread: str) -> None:
    """Put a title over a figure, and under it where the data come from and what bars mean."""
    source = heading(machine)
    if machine.get("commit"):
        source += f", commit {machine['commit']}"
    figure.suptitle(title)
    figure.supxlabel(f"{source}\n{spread}", fontsize=8, color="0.35")


def style(number: int) -> dict[str, Any]:
    """Colour and marker of a line."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def beside(axes: Any, handles: Sequence[Any] | None = None) -> None:
    """Put the legend beside the plot, where it hides nothing."""
    named = {} if handles is None else {"handles": handles}
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), **named)


def key(label: str, **looks: Any) -> Any:
    """An entry of a legend that explains a colour, a marker or a line by itself."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **({"linestyle": ""} | looks))


def grid_of(
    pyplot: Any, panels: int, width: float = 4.2, height: float = 3.4, beside: int = 2
) -> tuple[Any, Any]:
    """A figure of panels, some beside each other, with the same vertical scale."""
    columns = min(panels, beside)
    rows = -(-panels // columns)
    size = (width * columns + (2.0 if columns == 1 else 0.4), height * rows + 0.9)
    figure, axes = pyplot.subplots(rows, columns, figsize=size, sharey=True, squeeze=False)
    for unused in axes.flat[panels:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:panels])


def log_axis(axis: Any, values: Iterable[float], seconds: bool = False) -> None:
    """Make an axis logarithmic, with ticks that can be read however few decades it covers."""
    from matplotlib.ticker import (
        FixedLocator,
        FuncFormatter,
        LogFormatterSciNotation,
        NullFormatter,
    )

    axis._set_axes_scale("log")
    some = [value for value in values if value > 0]
    if not some:
        return
    if seconds or max(some) < 100 * min(some):
        axis.set_major_locator(FixedLocator(_ticks(min(some), max(some))))
        axis.set_major_formatter(FuncFormatter(lambda x, _: duration(x) if seconds else f"{x:g}"))
    else:
        axis.set_major_formatter(LogFormatterSciNotation())
    axis.set_minor_formatter(NullFormatter())


def _ticks(least: float, most: float) -> list[float]:
    """Round numbers, the more the nearer the ends are; what lies outside an axis is not drawn."""
    steps = (1, 2, 5) if log10(most / least) < 3 else (1,)
    powers = range(int(log10(least)) - 2, int(log10(most)) + 8)
    return [step * 10.0**power for power in powers for step in steps]


def duration(seconds: float) -> str:
    """Seconds in the unit that needs the fewest digits."""
    for unit, size in UNITS.items():
        if seconds >= 0.9995 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds / 1e-6:g} µs"
