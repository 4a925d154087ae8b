"""What all figures share: how they look, their axes, what stands under them, and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from math import ceil, floor, log10
from pathlib import Path
from textwrap import fill
from typing import Any

from gpusudoku.bench.fingerprint import fingerprint
from gpusudoku.bench.machine import heading
from gpusudoku.errors import GpusudokuError, InputError, not_installed

Figures = Callable[[Any], Iterable[tuple[str, Any]]]
"""Draws figures with pyplot, each with its name."""
WIDTH = 6.8
"""Inches. So narrow that letters can still be read where a figure is as wide as a telephone."""
SINGLE = 5.4
"""The width of a figure with one panel in a grid, in inches."""
LARGE_LETTERS, SMALL_LETTERS = 12, 15
"""So many letters of a title, and of a note, fit into an inch."""
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
    "legend.title_fontsize": 10,
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
        raise GpusudokuError(not_installed("--plot", "matplotlib", "bench"))


def each(figures: Figures) -> Iterator[tuple[str, Any]]:
    """What ``figures(pyplot)`` draws, name by name; a figure is closed before the next is drawn.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    """
    require()
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    with mpl.rc_context(STYLE):
        for name, figure in figures(pyplot):
            yield name, figure
            pyplot.close(figure)


def save(figures: Figures, folder: str) -> list[Path]:
    """Write figures as SVG and PNG; returns the files.

    An SVG has the ``fingerprint`` of what it shows in its description.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    InputError
        If the folder cannot be written.
    """
    written = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, figure in each(figures):
            metadata = {"svg": {"Date": None, "Description": fingerprint(figure)}, "png": {}}
            for kind, words in metadata.items():
                path = Path(folder, f"{name}.{kind}")
                figure.savefig(path, dpi=150, metadata=words)
                written.append(path)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}, expected a folder to write to") from None
    return written


def source_of(machine: dict[str, Any]) -> str:
    """Name the machine, the date and the commit of a measurement."""
    commit = f", commit {machine['commit']}" if machine.get("commit") else ""
    return f"{heading(machine)}{commit}"


def entitle(figure: Any, title: str, *notes: str) -> None:
    """Put a title over a figure, and under it what its marks mean and where the data come from."""
    width = figure.get_size_inches()[0]
    figure.suptitle(fill(title, int(LARGE_LETTERS * width)))
    below = [fill(line, int(SMALL_LETTERS * width)) for line in notes]
    figure.supxlabel("\n".join(below), fontsize=8, color="0.3")


def style(number: int) -> dict[str, Any]:
    """Colour and marker of a line."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def above(axes: Any, handles: Sequence[Any], columns: int, title: str = "") -> None:
    """Put the legend above the plot, where it hides nothing."""
    axes.legend(
        handles=handles, ncols=columns, title=title, loc="lower center", bbox_to_anchor=(0.5, 1.0),
        columnspacing=0.9, handlelength=1.7, handletextpad=0.5,
    )  # fmt: skip


def key(label: str, **looks: Any) -> Any:
    """An entry of a legend that explains a colour, a marker or a line by itself."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **({"linestyle": ""} | looks))


def grid_of(pyplot: Any, panels: int, height: float, **shared: bool) -> tuple[Any, Any]:
    """A figure of panels, two beside each other, each so high, and what it is told to share."""
    columns = min(panels, 2)
    rows = -(-panels // columns)
    size = (WIDTH if columns > 1 else SINGLE, height * rows + 0.9)
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, **shared)
    for unused in axes.flat[panels:]:
        unused.set_visible(False)
    for lowest in axes.flat[:panels][-columns:]:
        lowest.tick_params(labelbottom=True)
    return figure, list(axes.flat[:panels])


def log_axis(axis: Any, values: Iterable[float], seconds: bool = False) -> None:
    """Make an axis logarithmic, with ticks that can be read however few decades it covers."""
    some = [value for value in values if value > 0]
    ticks = _ticks(min(some), max(some)) if some else []
    set_log(axis, ticks, duration if seconds else short)


def set_log(axis: Any, ticks: Sequence[float], label: Callable[[float], str]) -> None:
    """Make an axis logarithmic, with these ticks; those beyond its ends are not drawn."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    axis._set_axes_scale("log")
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.set_minor_formatter(NullFormatter())


def _ticks(least: float, most: float) -> list[float]:
    """Round numbers beyond both ends: the fewer decades, the more in each, and at most some ten."""
    decades = log10(most / least)
    steps = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades < 3 else (1,)
    stride = next(stride for stride in (1, 2, 3, 5, 10, 20, 50, 100) if decades <= 8 * stride)
    first = floor(log10(least) / stride) - 1
    powers = range(stride * first, ceil(log10(most)) + stride + 1, stride)
    return [step * 10.0**power for power in powers for step in steps]


def short(value: float) -> str:
    """A number with few digits, as a power of ten if it is long."""
    if 1e-3 < value < 1e5:
        return f"{value:g}"
    power = floor(log10(value) + 1e-9)
    factor = value / 10.0**power
    return rf"$10^{{{power}}}$" if abs(factor - 1) < 1e-9 else rf"${factor:g}\cdot10^{{{power}}}$"


def duration(seconds: float) -> str:
    """Seconds in the unit that needs the fewest digits."""
    for unit, size in UNITS.items():
        if seconds >= 0.9995 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds / 1e-6:g} µs"
