"""A heat map of shares, for print: legible in grey, and for the colour-blind."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from gpusudoku.errors import InputError
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.pipeline.output import WriteError, refuse
from gpusudoku.pipeline.share_forms import Shares, small_grid
from gpusudoku.plot_style import STYLE, require_matplotlib

METADATA: dict[str, dict[str, None]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}
"""The endings of files, and the metadata left out: the same figure is the same file."""
COLOURS = "Blues"
"""The darker, the larger a share; in grey, too."""
TICKS = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]
DIGIT_INCHES = 0.21
"""The side of a small digit's square."""
MIN_INCHES = 3.6
"""The side of a board."""
DARK = 0.5
"""Letters on darker squares than this are white."""


def check(path: str, force: bool, inputs: list[str]) -> None:
    """Refuse a figure that could not be drawn later: for its file, or without matplotlib."""
    if Path(path).suffix not in METADATA:
        raise InputError(f"{path}: expected a name that ends in {', '.join(METADATA)}")
    if not Path(path).parent.is_dir():
        raise InputError(f"{path}: there is no folder {Path(path).parent}")
    refuse(path, force, inputs)
    require_matplotlib()


def draw(shares: Shares, title: str, path: str, force: bool) -> None:
    """Draw a figure into a file; nothing is left of a file that cannot be written whole."""
    import matplotlib as mpl

    ending = Path(path).suffix
    drawn = BytesIO()
    with mpl.rc_context(STYLE):
        figure = _figure(shares, title)
        figure.savefig(
            drawn, format=ending[1:], dpi=200, bbox_inches="tight", metadata=METADATA[ending]
        )
    try:
        with held_interrupts(), Path(path).open("wb" if force else "xb") as file:
            try:
                file.write(drawn.getbuffer())
                file.flush()
            except OSError:
                Path(path).unlink()
                raise
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror}") from None


def _figure(shares: Shares, title: str) -> Any:
    """Draw the board with its scale, and explain its marks."""
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure

    n = shares.board.n
    side = max(DIGIT_INCHES * small_grid(n)[0], MIN_INCHES / n)
    figure = Figure(figsize=(side * n + 1.1, side * n + 0.8))
    axes = figure.subplots()
    axes.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xticks=[], yticks=[])
    axes.grid(False)
    axes.set_title(title, fontsize=10)
    # The root of a share is its shade, so that small ones differ, too.
    scale = _draw(shares, axes, 72 * side, PowerNorm(0.5, 0, 1))
    bar = figure.colorbar(scale, ticks=TICKS, shrink=0.8, aspect=30, pad=0.02)
    bar.ax.set_yticklabels([f"{tick:.0%}" for tick in TICKS], fontsize=8)
    axes.set_xlabel(
        "large: a clue, in a circle: in all solutions\n"
        "crossed out: in none, missing: a clue excludes it",
        fontsize=8,
    )
    return figure


def _draw(shares: Shares, axes: Any, points: float, norm: Any) -> Any:
    """Draw a board of cells with side 1, ``points`` in print; return the shaded squares."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle, Rectangle

    board = shares.board
    n = board.n
    (wide, high) = small_grid(board.n)
    width = 1 / wide
    height = 1 / high
    large = 0.6 * points / len(str(n)) ** 0.5
    small = 0.6 * points / wide / len(str(n)) ** 0.5
    squares: list[Any] = []
    shades: list[float] = []
    crosses: list[list[tuple[float, float]]] = []

    def write(x: float, y: float, digit: int, **style: Any) -> None:
        axes.text(x, y, str(digit), ha="center", va="center_baseline", **style)

    for cell, counts in enumerate(shares.counts.tolist()):
        row, column = divmod(cell, n)
        clue = int(board.cells[cell])
        fixed = shares.fixed[cell]
        if clue or fixed:
            if clue:
                axes.add_patch(Rectangle((column, row), 1, 1, color="0.9", linewidth=0, zorder=0))
            else:
                axes.add_patch(Circle((column + 0.5, row + 0.5), 0.42, fill=False, linewidth=1))
            weight = "bold" if clue else "normal"
            write(column + 0.5, row + 0.5, clue or fixed, fontsize=large, fontweight=weight)
            continue
        for digit, share in enumerate(counts, 1):
            down, right = divmod(digit - 1, wide)
            left = column + right * width
            top = row + down * height
            if share:
                squares.append(Rectangle((left, top), width, height))
                shades.append(share / shares.count)
                red, green, blue, _ = colormaps[COLOURS](norm(shades[-1]))
                dark = 0.3 * red + 0.59 * green + 0.11 * blue < DARK
                colour = "white" if dark else "black"
            elif shares.is_candidate(cell, digit):
                lower = top + 0.8 * height
                upper = top + 0.2 * height
                crosses.append([(left + 0.2 * width, lower), (left + 0.8 * width, upper)])
                colour = "0.45"
            else:
                continue
            write(left + width / 2, top + height / 2, digit, fontsize=small, color=colour)
    axes.add_collection(LineCollection(crosses, colors="black", linewidths=0.6))
    geometry = board.geometry
    for place in range(n + 1):  # thin lines between cells, thick ones around boxes
        for rule, side in ((axes.axhline, geometry.box_rows), (axes.axvline, geometry.box_columns)):
            rule(place, color="black", linewidth=0.6 if place % side else 1.8, clip_on=False)
    scale = PatchCollection(squares, cmap=COLOURS, norm=norm, antialiased=False, zorder=0)
    scale.set_array(shades)
    return axes.add_collection(scale)
