"""Shares as a text: small digits in the cells of a grid; of large boards a line for each cell."""

from __future__ import annotations

from math import ceil, isqrt

import click

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.share_forms import Shares, headline, percent
from gpusudoku.formats.write import ruled

MOST_SMALL = 9
"""Boards of more digits would not fit on a terminal with all digits in each cell."""
NARROW = 2
"""Columns of a share."""
GAP = 3
"""Columns between two cells."""
RAMP = (195, 159, 117, 75, 33, 26, 19)
"""Shades of blue for shares, among the 256 colours of terminals."""
FIRST_DARK = 5
"""White letters are legible on this shade and those after it, black ones on those before."""


class Text:
    """Shares in percent, for those who read them.

    Parameters
    ----------
    single
        Whether there is one board only; else each begins with its place.
    coloured
        Whether there are colours in it.
    """

    header = b""

    def __init__(self, single: bool, coloured: bool) -> None:
        self._single, self._coloured = single, coloured

    def text(self, shares: Shares) -> bytes:
        """The number of solutions, a grid, and what is in it."""
        lines = [headline(shares, self._single)]
        if shares.count:
            small = shares.board.n <= MOST_SMALL and 0 in shares.fixed
            lines += self._grid(shares) if small else self._list(shares)
        if not self._single:
            lines.append("")
        return "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")

    def _grid(self, shares: Shares) -> list[str]:
        """All digits in each cell, and a legend."""
        geometry = shares.board.geometry
        cells = [self._cell(shares, cell) for cell in range(geometry.cells)]
        digit = _example(geometry)
        return [
            *_ruled(cells, geometry),
            f"Percent of the solutions, rounded down, for the digits 1 to {geometry.n} in reading"
            " order",
            ". a clue excludes it   x in no solution   <1 in some, less than 1 %"
            f"   {self._fixed(f'({digit})')} in all   {self._clue(digit)} a clue",
        ]

    def _cell(self, shares: Shares, cell: int) -> list[str]:
        """The lines of a cell."""
        n, clue, fixed = shares.board.n, int(shares.board.cells[cell]), shares.fixed[cell]
        wide, high = small_grid(n)
        if clue or fixed:
            width = _width(n)
            blank, above = " " * width, (high - 1) // 2
            if clue:
                middle = self._clue(str(clue).center(width))
            else:
                middle = self._fixed(f"({fixed})".center(width))
            return [blank] * above + [middle] + [blank] * (high - 1 - above)
        texts = [self._share(shares, cell, digit) for digit in range(1, n + 1)]
        texts += [" " * NARROW] * (wide * high - n)
        return [" ".join(texts[i : i + wide]) for i in range(0, len(texts), wide)]

    def _share(self, shares: Shares, cell: int, digit: int) -> str:
        """A share in two columns."""
        share = shares.counts[cell, digit - 1]
        if share:
            return self._shaded(percent(share, shares.count).rjust(NARROW), share, shares.count)
        if shares.is_candidate(cell, digit):
            return self._styled("x".rjust(NARROW), fg="red")
        return self._styled(".".rjust(NARROW), dim=True)

    def _list(self, shares: Shares) -> list[str]:
        """The digits that all solutions have, and a line for each of the other cells."""
        board, fixed = shares.board, shares.fixed
        clues = board.cells.tolist()
        texts = [
            str(clue) if clue else f"({digit})" if digit else "*"
            for clue, digit in zip(clues, fixed, strict=True)
        ]
        digit = _example(board.geometry)
        lines = [
            *ruled(texts, board.geometry).splitlines(),
            f"{self._fixed(f'({digit})')} in all solutions, {self._clue(digit)} a clue",
        ]
        if 0 in fixed:
            lines[-1] += ", * differs. Percent of the solutions, rounded down:"
        names = [board.geometry.cell_name(cell) for cell in range(len(fixed))]
        width = max(map(len, names))
        return lines + [
            f"{names[cell].ljust(width)}  {self._listed(shares, cell)}"
            for cell in range(len(fixed))
            if not fixed[cell]
        ]

    def _listed(self, shares: Shares, cell: int) -> str:
        """The digits of a cell with their shares, the largest first, and those in no solution."""
        counts = shares.counts[cell].tolist()
        order = sorted(range(len(counts)), key=lambda index: (-counts[index], index))
        some = [
            self._shaded(f"{index + 1}: {percent(counts[index], shares.count)} %",
                         counts[index], shares.count)
            for index in order if counts[index]
        ]  # fmt: skip
        none = [
            str(index + 1)
            for index in sorted(order)
            if not counts[index] and shares.is_candidate(cell, index + 1)
        ]
        return ", ".join(some) + (f"; in none: {' '.join(none)}" if none else "")

    def _shaded(self, text: str, share: int, count: int) -> str:
        """The root of a share is its shade, so that small ones differ, too."""
        shade = min(len(RAMP) - 1, int(len(RAMP) * (share / count) ** 0.5))
        letters = "bright_white" if shade >= FIRST_DARK else "black"
        return self._styled(text, fg=letters, bg=RAMP[shade])

    def _clue(self, text: str) -> str:
        return self._styled(text, bold=True)

    def _fixed(self, text: str) -> str:
        return self._styled(text, fg="green", bold=True)

    def _styled(self, text: str, **style: str | int | bool) -> str:
        return click.style(text, **style) if self._coloured else text  # type: ignore[arg-type]


def _example(geometry: Geometry) -> str:
    """A digit of the board, for the legend."""
    return str(min(5, geometry.n))


def small_grid(n: int) -> tuple[int, int]:
    """How many digits stand beside each other in a cell, and in how many lines."""
    wide = isqrt(n - 1) + 1
    return wide, ceil(n / wide)


def _width(n: int) -> int:
    """The columns of a cell: one digit in parentheses needs three."""
    return max(3, small_grid(n)[0] * (NARROW + 1) - 1)


def _ruled(cells: list[list[str]], geometry: Geometry) -> list[str]:
    """Draw cells of several lines, with rules around the boxes."""
    n, columns = geometry.n, geometry.box_columns
    gap = " " * GAP
    rule = " " + " ".join(["=" * (columns * (_width(n) + GAP) - GAP + 2)] * (n // columns))
    lines = []
    for row in range(n):
        if row % geometry.box_rows == 0:
            lines.append(rule)
        elif len(cells[0]) > 1:
            lines.append(rule.replace(" ", "|").replace("=", " ") + "|")
        beside = cells[row * n : (row + 1) * n]
        for texts in zip(*beside, strict=True):
            boxes = [gap.join(texts[i : i + columns]) for i in range(0, n, columns)]
            lines.append(f"| {' | '.join(boxes)} |")
    return [*lines, rule]
