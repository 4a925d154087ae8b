"""Elements of figures: panels, axes with logarithmic scales, and legends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, log10
from typing import Any

WIDTH = 6.8
"""The width of a figure in inches: narrow enough to be read on a telephone."""
SINGLE_WIDTH = 5.4
"""The width of a figure with one panel in a grid, in inches."""
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"]
"""The palette of Okabe and Ito, which the colour-blind can tell apart."""
MARKERS = "osD^vPX*"


def style(number: int) -> dict[str, Any]:
    """Return the colour and the marker of a line."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def legend_above(axes: Any, handles: Sequence[Any], columns: int, title: str = "") -> None:
    """Put the legend above the plot, where it does not hide data."""
    axes.legend(
        handles=handles, ncols=columns, title=title, loc="lower center", bbox_to_anchor=(0.5, 1.0),
        columnspacing=0.9, handlelength=1.7, handletextpad=0.5,
    )  # fmt: skip


def key(label: str, **looks: Any) -> Any:
    """Return an entry of a legend for a colour, a marker or a line."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **({"linestyle": ""} | looks))


def panel(height: float) -> tuple[Any, Any]:
    """Return a new figure with one panel, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height))
    return figure, figure.subplots()


def grid_of(panels: int, height: float) -> tuple[Any, list[Any]]:
    """Return a new figure of panels with common axes, in two columns; ``height`` is in inches."""
    from matplotlib.figure import Figure

    columns = min(panels, 2)
    rows = ceil(panels / columns)
    figure = Figure(figsize=(WIDTH if columns > 1 else SINGLE_WIDTH, height * rows + 0.9))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for unused in axes.flat[panels:]:
        unused.set_visible(False)
    # The last panel of a column may have an unused one below it, so it needs its own labels.
    for lowest in axes.flat[:panels][-columns:]:
        lowest.tick_params(labelbottom=True)
    return figure, list(axes.flat[:panels])


def log_axis(axis: Any, values: Iterable[float], seconds: bool = False) -> None:
    """Make an axis logarithmic, with about ten round ticks for any number of decades."""
    positive = [value for value in values if value > 0]
    set_log(axis, _ticks(positive) if positive else [], duration if seconds else short)


def _ticks(values: Sequence[float]) -> list[float]:
    """Return round numbers from below the minimum to above the maximum of positive values."""
    # The fewer decades, the more ticks in each of them.
    decades = log10(max(values) / min(values))
    if decades < 1:
        factors: Sequence[float] = (1, 1.5, 2, 3, 5, 7)
    elif decades < 3:
        factors = (1, 2, 5)
    else:
        factors = (1,)
    # With many decades, only every second, third, fifth ... has a tick.
    stride = next(stride for stride in (1, 2, 3, 5, 10, 20, 50, 100) if decades <= 8 * stride)
    # matplotlib does not draw ticks beyond the ends of the axis, so there may be too many.
    first_power = stride * (floor(log10(min(values)) / stride) - 1)
    last_power = ceil(log10(max(values))) + stride
    powers = range(first_power, last_power + 1, stride)
    return [factor * 10.0**power for power in powers for factor in factors]


def set_log(axis: Any, ticks: Sequence[float], label: Callable[[float], str]) -> None:
    """Make an axis logarithmic, with the given ticks; ticks beyond its ends are not drawn."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    axis._set_axes_scale("log")
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.set_minor_formatter(NullFormatter())


def short(value: float) -> str:
    """Return a number with few digits, as a power of ten if it is very large or small."""
    if 1e-3 < value < 1e5:
        return f"{value:g}"
    power = floor(log10(value) + 1e-9)  # the logarithm of 1000 may be slightly less than 3
    factor = value / 10.0**power
    if abs(factor - 1) < 1e-9:
        return rf"$10^{{{power}}}$"
    return rf"${factor:g}\cdot10^{{{power}}}$"


def duration(seconds: float) -> str:
    """Return seconds in the unit that needs the fewest digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds / 1e-6:g} µs"
