"""A heat map of shares, to be printed: legible in grey, and for the colour-blind."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from gpusudoku.bench.figures import STYLE, require
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
        self._wide, high = small_grid(n)
        self._width, self._height = 1 / self._wide, 1 / high
        self._large = 0.6 * points / len(str(n)) ** 0.5
        self._small = 0.6 * points / self._wide / len(str(n)) ** 0.5
        self._squares: list[Any] = []
        self._shades: list[float] = []
        self._crosses: list[list[tuple[float, float]]] = []

    def draw(self) -> Any:
        """Draw everything; returns what the scale is to explain."""
        from matplotlib.collections import LineCollection, PatchCollection

        shares, board = self._shares, self._shares.board
        count, fixed = shares.count, shares.fixed
        for cell, counts in enumerate(shares.counts.tolist()):
            clue = int(board.cells[cell])
            if clue or fixed[cell]:
                self._large_digit(cell, clue, fixed[cell])
                continue
            for digit, share in enumerate(counts, 1):
                if share:
                    self._shaded_digit(cell, digit, share / count)
                elif shares.is_candidate(cell, digit):
                    self._crossed_digit(cell, digit)
        self._axes.add_collection(LineCollection(self._crosses, colors="black", linewidths=0.6))
        self._rules()
        squares = PatchCollection(
            self._squares, cmap=COLOURS, norm=self._norm, antialiased=False, zorder=0
        )
        squares.set_array(self._shades)
        return self._axes.add_collection(squares)

    def _place(self, cell: int, digit: int) -> tuple[float, float]:
        """The upper left corner of a digit's square."""
        row, column = divmod(cell, self._shares.board.n)
        down, right = divmod(digit - 1, self._wide)
        return column + right * self._width, row + down * self._height

    def _shaded_digit(self, cell: int, digit: int, share: float) -> None:
        """A digit in some solutions, in its square."""
        from matplotlib import colormaps
        from matplotlib.patches import Rectangle

        left, top = self._place(cell, digit)
        self._squares.append(Rectangle((left, top), self._width, self._height))
        self._shades.append(share)
        red, green, blue, _ = colormaps[COLOURS](self._norm(share))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < DARK
        self._small_digit(left, top, digit, "white" if dark else "black")

    def _crossed_digit(self, cell: int, digit: int) -> None:
        """A candidate in no solution."""
        left, top = self._place(cell, digit)
        self._small_digit(left, top, digit, "0.45")
        near, far = 0.2, 0.8
        self._crosses.append(
            [
                (left + near * self._width, top + far * self._height),
                (left + far * self._width, top + near * self._height),
            ]
        )

    def _small_digit(self, left: float, top: float, digit: int, colour: str) -> None:
        x, y = left + self._width / 2, top + self._height / 2
        self._text(x, y, str(digit), fontsize=self._small, color=colour)

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
