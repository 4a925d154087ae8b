"""A heat map of shares, to be printed: legible in grey, and for the colour-blind."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from gpusudoku.bench.plots import STYLE, require
from gpusudoku.cli.lines import WriteError
from gpusudoku.cli.output import refuse
from gpusudoku.cli.share_forms import Shares
from gpusudoku.cli.share_text import small_grid
from gpusudoku.errors import InputError
from gpusudoku.jobs.interrupts import held_interrupts

METADATA: dict[str, dict[str, None]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}
"""The endings of files, and what is left out of each: the same figure is the same file."""
COLOURS = "Blues"
"""The darker, the larger a share; in grey, too."""
TICKS = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]
DIGIT_INCHES = 0.21
"""The side of a small digit's square."""
LEAST_INCHES = 3.6
"""The side of a board."""
DARK = 0.5
"""White letters stand on what is darker than this."""


def check(path: str, force: bool, inputs: list[str]) -> None:
    """Complain at once of a figure that could not be drawn later.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    InputError
        If the file cannot be written, exists and ``force`` is not set, or has no known ending.
    """
    if Path(path).suffix not in METADATA:
        raise InputError(f"{path}: expected a name that ends in {', '.join(METADATA)}")
    if not Path(path).parent.is_dir():
        raise InputError(f"{path}: there is no folder {Path(path).parent}")
    refuse(path, force, inputs)
    require()


def draw(shares: Shares, title: str, path: str, force: bool) -> None:
    """Draw a figure.

    Raises
    ------
    WriteError
        If the file cannot be written; no half of it is left.
    """
    import matplotlib as mpl

    ending, drawn = Path(path).suffix, BytesIO()
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
    """The board with its scale, and what its marks mean."""
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure

    n = shares.board.n
    side = max(DIGIT_INCHES * small_grid(n)[0], LEAST_INCHES / n)
    figure = Figure(figsize=(side * n + 1.1, side * n + 0.8))
    axes = figure.subplots()
    axes.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xticks=[], yticks=[])
    axes.grid(False)
    axes.set_title(title, fontsize=10)
    # The root of a share is its shade, so that small ones differ, too.
    scale = _Board(shares, axes, 72 * side, PowerNorm(0.5, 0, 1)).draw()
    bar = figure.colorbar(scale, ticks=TICKS, shrink=0.8, aspect=30, pad=0.02)
    bar.ax.set_yticklabels([f"{tick:.0%}" for tick in TICKS], fontsize=8)
    axes.set_xlabel(
        "large: a clue, in a circle: in all solutions\n"
        "crossed out: in none, missing: a clue excludes it",
        fontsize=8,
    )
    return figure


class _Board:
    """Draws a board, whose cells are squares of side 1.

    Parameters
    ----------
    shares
        What is drawn.
    axes
        Where to.
    points
        The side of a cell in print.
    norm
        From a share, up to 1, to its shade.
    """

    def __init__(self, shares: Shares, axes: Any, points: float, norm: Any) -> None:
        self._shares, self._axes, self._norm = shares, axes, norm
        n = shares.board.n
        self._wide, self._high = small_grid(n)
        self._large = 0.6 * points / len(str(n)) ** 0.5
        self._small = 0.6 * points / self._wide / len(str(n)) ** 0.5
        self._crosses: list[list[tuple[float, float]]] = []

    def draw(self) -> Any:
        """Draw everything; returns what the scale is to explain."""
        from matplotlib.collections import LineCollection

        shares, board = self._shares, self._shares.board
        n, count, fixed = board.n, shares.count, shares.fixed
        shades = np.full((n * self._high, n * self._wide), np.nan)
        for cell, counts in enumerate(shares.counts.tolist()):
            clue = int(board.cells[cell])
            if clue or fixed[cell]:
                self._large_digit(cell, clue, fixed[cell])
                continue
            for digit, share in enumerate(counts, 1):
                if share:
                    row, column = self._place(cell, digit)
                    shades[row, column] = share / count
                self._small_digit(cell, digit, share / count if share else 0.0)
        self._axes.add_collection(LineCollection(self._crosses, colors="black", linewidths=0.6))
        self._rules()
        return self._axes.pcolormesh(
            np.linspace(0, n, shades.shape[1] + 1),
            np.linspace(0, n, shades.shape[0] + 1),
            np.ma.masked_invalid(shades),
            cmap=COLOURS,
            norm=self._norm,
            zorder=0,
        )

    def _place(self, cell: int, digit: int) -> tuple[int, int]:
        """The row and column of a digit's square, among those of all cells."""
        row, column = divmod(cell, self._shares.board.n)
        down, right = divmod(digit - 1, self._wide)
        return row * self._high + down, column * self._wide + right

    def _small_digit(self, cell: int, digit: int, share: float) -> None:
        """A digit in its square; crossed out if it is a candidate in no solution."""
        from matplotlib import colormaps

        if not (share or self._shares.is_candidate(cell, digit)):
            return
        row, column = self._place(cell, digit)
        x, y = (column + 0.5) / self._wide, (row + 0.5) / self._high
        red, green, blue, _ = colormaps[COLOURS](self._norm(share))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < DARK
        colour = "white" if dark else "black" if share else "0.45"
        self._text(x, y, str(digit), fontsize=self._small, color=colour)
        if not share:
            right, down = 0.3 / self._wide, 0.3 / self._high
            self._crosses.append([(x - right, y + down), (x + right, y - down)])

    def _large_digit(self, cell: int, clue: int, fixed: int) -> None:
        """A clue, or a digit in all solutions."""
        from matplotlib.patches import Circle, Rectangle

        row, column = divmod(cell, self._shares.board.n)
        if clue:
            self._axes.add_patch(Rectangle((column, row), 1, 1, color="0.9", linewidth=0, zorder=0))
        else:
            self._axes.add_patch(Circle((column + 0.5, row + 0.5), 0.42, fill=False, linewidth=1))
        weight = "bold" if clue else "normal"
        digit = str(clue or fixed)
        self._text(column + 0.5, row + 0.5, digit, fontsize=self._large, fontweight=weight)

    def _text(self, x: float, y: float, text: str, **style: Any) -> None:
        self._axes.text(x, y, text, ha="center", va="center_baseline", **style)

    def _rules(self) -> None:
        """Thin lines between cells, thick ones around boxes."""
        geometry = self._shares.board.geometry
        for place in range(geometry.n + 1):
            for line, side in (
                (self._axes.axhline, geometry.box_rows),
                (self._axes.axvline, geometry.box_columns),
            ):
                line(place, color="black", linewidth=0.6 if place % side else 1.8, clip_on=False)
