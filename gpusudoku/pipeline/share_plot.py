"""A heat map of shares, for print: legible in grey and for colour-blind readers."""

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
"""The endings of files, and the metadata without dates, so that equal figures are equal files."""
COLOURS = "Blues"
"""Larger shares are darker, in grey, too."""
TICKS = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]
"""The labels of the scale."""
DIGIT_INCHES = 0.21
"""The side of the square of a small digit."""
MIN_INCHES = 3.6
"""The least side of a board."""
DARK = 0.5
"""Letters are white on squares with less luminance, 0 to 1."""


def check(path: str, force: bool, inputs: list[str]) -> None:
    """Raise an InputError at once if a figure cannot be drawn or written later."""
    if Path(path).suffix not in METADATA:
        raise InputError(f"{path}: expected a name that ends in {', '.join(METADATA)}")
    if not Path(path).parent.is_dir():
        raise InputError(f"{path}: there is no folder {Path(path).parent}")
    refuse(path, force, inputs)
    require_matplotlib()


def draw(shares: Shares, title: str, path: str, force: bool) -> None:
    """Draw a figure into a file; a file that cannot be written completely is removed."""
    import matplotlib as mpl

    ending = Path(path).suffix
    image = BytesIO()
    with mpl.rc_context(STYLE):
        figure = _figure(shares, title)
        figure.savefig(
            image, format=ending[1:], dpi=200, bbox_inches="tight", metadata=METADATA[ending]
        )
    try:
        with held_interrupts(), Path(path).open("wb" if force else "xb") as file:
            try:
                file.write(image.getbuffer())
                file.flush()
            except OSError:
                Path(path).unlink()
                raise
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror}") from None


def _figure(shares: Shares, title: str) -> Any:
    """Draw the board with a colour scale, and explain its marks."""
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure

    n = shares.board.n
    side = max(DIGIT_INCHES * small_grid(n)[0], MIN_INCHES / n)
    figure = Figure(figsize=(side * n + 1.1, side * n + 0.8))
    axes = figure.subplots()
    axes.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xticks=[], yticks=[])
    axes.grid(False)
    axes.set_title(title, fontsize=10)
    # The shade of a share is its square root, so that small shares differ, too.
    norm = PowerNorm(0.5, 0, 1)
    points_per_inch = 72
    scale = _draw_board(shares, axes, points_per_inch * side, norm)
    bar = figure.colorbar(scale, ticks=TICKS, shrink=0.8, aspect=30, pad=0.02)
    bar.ax.set_yticklabels([f"{tick:.0%}" for tick in TICKS], fontsize=8)
    axes.set_xlabel(
        f"large: a clue, in a circle: in all {shares.noun}s\n"
        "crossed out: in none, missing: a clue excludes it",
        fontsize=8,
    )
    return figure


def _draw_board(shares: Shares, axes: Any, cell_points: float, norm: Any) -> Any:
    """Draw a board whose cells have side 1; return the shaded squares.

    ``cell_points`` is the side of a cell in print, in points. ``norm`` maps shares to shades.
    """
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle, Rectangle

    board = shares.board
    n = board.n
    # A cell is divided into a rectangle for each digit.
    column_count, line_count = small_grid(n)
    width = 1 / column_count
    height = 1 / line_count
    large_font = 0.6 * cell_points / len(str(n)) ** 0.5
    small_font = 0.6 * cell_points / column_count / len(str(n)) ** 0.5
    squares: list[Any] = []
    square_shares: list[float] = []
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
            digit = clue or fixed
            write(column + 0.5, row + 0.5, digit, fontsize=large_font, fontweight=weight)
            continue
        for digit, count in enumerate(counts, 1):
            line_index, column_index = divmod(digit - 1, column_count)
            left = column + column_index * width
            top = row + line_index * height
            if count:
                share = count / shares.count
                squares.append(Rectangle((left, top), width, height))
                square_shares.append(share)
                red, green, blue, _ = colormaps[COLOURS](norm(share))
                luminance = 0.3 * red + 0.59 * green + 0.11 * blue
                colour = "white" if luminance < DARK else "black"
            elif shares.is_candidate(cell, digit):
                lower_left = (left + 0.2 * width, top + 0.8 * height)
                upper_right = (left + 0.8 * width, top + 0.2 * height)
                crosses.append([lower_left, upper_right])
                colour = "0.45"
            else:
                continue
            write(left + width / 2, top + height / 2, digit, fontsize=small_font, color=colour)
    axes.add_collection(LineCollection(crosses, colors="black", linewidths=0.6))

    # Thin lines between cells, thick ones around boxes.
    geometry = board.geometry
    for place in range(n + 1):
        for rule, side in ((axes.axhline, geometry.box_rows), (axes.axvline, geometry.box_columns)):
            rule(place, color="black", linewidth=0.6 if place % side else 1.8, clip_on=False)
    scale = PatchCollection(squares, cmap=COLOURS, norm=norm, antialiased=False, zorder=0)
    scale.set_array(square_shares)
    return axes.add_collection(scale)
