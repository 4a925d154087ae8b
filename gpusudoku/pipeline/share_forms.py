"""Forms of shares: text for people, JSON and CSV for programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, Origin
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats.write import ruled
from gpusudoku.jobs.forks import cached_property
from gpusudoku.pipeline.messages import note
from gpusudoku.pipeline.records import RecordWriter, TableWriter, as_bytes
from gpusudoku.pipeline.source import place_of
from gpusudoku.pipeline.text_forms import Writer

_DIGITS = "digits"
"""The note of a run that keeps the number of digits of all boards in a table."""
MAX_SMALL = 9
"""Boards of more digits would not fit on a terminal with all digits in each cell."""
NARROW = 2
"""Columns of a share."""
GAP = 3
"""Columns between two cells."""
RAMP = (195, 159, 117, 75, 33, 26, 19)
"""Shades of blue for shares, among the 256 colours of terminals."""
FIRST_DARK = 5
"""White letters are legible on this shade and those after it, black ones on those before."""


@dataclass(frozen=True)
class Shares:
    """The shares of one board."""

    batch: Batch
    """A batch of one, with its place."""
    counts: NDArray[Any]
    """object (cells, n), Python's integers: the number of solutions with a digit in a cell."""

    @cached_property
    def board(self) -> Board:
        """The board."""
        return self.batch[0]

    @cached_property
    def count(self) -> int:
        """The number of all solutions."""
        return int(self.counts[0].sum())

    @cached_property
    def fixed(self) -> list[int]:
        """For every cell the digit that all solutions have there, 0 if there is none."""
        count = self.count
        rows = self.counts.tolist()
        return [row.index(count) + 1 if count and count in row else 0 for row in rows]

    def is_candidate(self, cell: int, digit: int) -> bool:
        """Tell whether the clues in the row, column and box of a cell allow a digit."""
        return bool(int(self.board.candidates[cell]) >> digit - 1 & 1)

    @property
    def origin(self) -> Origin:
        """The input of the board."""
        assert self.batch.places is not None  # whatever a command reads has a place
        return self.batch.places.origin(0)

    @property
    def line(self) -> int:
        """The number of the board's first line; 0 for what comes from no text."""
        assert self.batch.places is not None
        return int(self.batch.places.lines[0])


def share_writer(
    form: str | None,
    halving: int | None,
    single: bool,
    style: Callable[..., str] | None,
    notes: Callable[[], dict[str, Any]],
) -> Writer:
    """Return what writes shares in a form, or as many placements as ``halving`` says.

    ``notes`` returns the notes of the run, which exist once the run is open; see ``ShareTable``.
    """
    if halving is not None:
        return Writer(lambda shares: _halving_list(shares, halving, single))
    form = form or ("text" if single else "jsonl")
    if form == "text":
        return Writer(ShareGrid(single, style).text)
    if form == "csv":
        table = ShareTable(notes)
        return Writer(table.text, header=table.header)
    return Writer(_share_object)


def _share_object(shares: Shares) -> bytes:
    """Write the JSON object of a board.

    The counts are texts: they may exceed what JSON readers keep of a number.
    """
    counts = [list(map(str, row)) for row in shares.counts.tolist()]
    columns = {"count": str(shares.count), "shares": [counts]}
    return RecordWriter("jsonl", shares.origin).text(shares.batch, columns)


class ShareTable:
    """Writes a row for every cell, in csv; all boards have the same number of digits.

    The run keeps this number in its notes, so that a resumed run refuses other boards, too.
    """

    def __init__(self, notes: Callable[[], dict[str, Any]]) -> None:
        self._notes = notes

    def header(self) -> bytes:
        """Return the line before all rows, once a board was written."""
        digits = [f"d{digit}" for digit in range(1, self._notes().get(_DIGITS, 0) + 1)]
        names = ["source", "line", "row", "column", "clue", "count", *digits]
        return TableWriter("csv", names).header() if digits else b""

    def text(self, shares: Shares) -> bytes:
        """Write the rows of a board."""
        board = shares.board
        n = shares.board.n
        digits = self._notes().setdefault(_DIGITS, n)
        if n != digits:
            raise InputError(
                f"{place_of(shares.batch, 0)}has {n} digits, but the boards before it have"
                f" {digits}: they do not fit in one table (--format jsonl takes both)"
            )
        rows, columns = np.divmod(np.arange(n * n), n)
        values = {
            "source": shares.origin.name,
            "line": shares.line or None,
            "row": rows + 1,
            "column": columns + 1,
            "clue": [clue or None for clue in board.cells.tolist()],
            "count": str(shares.count),
        }
        values |= {f"d{digit + 1}": shares.counts[:, digit] for digit in range(n)}
        return TableWriter("csv", values).rows(values)


def _halving_list(shares: Shares, limit: int, single: bool) -> bytes:
    """Write the placements that come nearest to halving the solutions, the nearest first.

    Placements that all solutions have, or none, are left out. Those that are equally near come in
    the order of cells and digits.
    """
    count = shares.count
    geometry = shares.board.geometry
    placements = sorted(
        (abs(2 * share - count), cell, digit + 1, share)
        for cell, row in enumerate(shares.counts.tolist())
        for digit, share in enumerate(row)
        if 0 < share < count
    )
    rows = [("cell", "digit", "solutions", "share")] + [
        (geometry.cell_name(cell), str(digit), str(share), f"{_percent(share, count, 2)} %")
        for _, cell, digit, share in placements[:limit]
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [headline(shares, single)]
    for cell, *others in rows if placements else ():
        texts = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([cell.ljust(widths[0]), *texts]))
    return as_bytes("".join(f"{line}\n" for line in lines))


def unique_writer(
    form: str,
    origin: Origin,
    single: bool,
    pairs: bool,
    find: Callable[[Shares], NDArray[np.int64]],
) -> Writer:
    """Return what writes the placements, or pairs of them, that leave exactly one solution.

    ``find`` returns those of a board, int64 (k, 2) or (k, 4): cells and digits by turns. Records
    have columns for ``pairs`` if these are asked for. A board without any has a note on stderr.
    """
    names = ["row", "column", "digit"] + ["row2", "column2", "digit2"] * pairs
    records = RecordWriter(form, origin, names) if form != "text" else None

    def text(shares: Shares) -> bytes:
        placements = find(shares)
        geometry = shares.board.geometry
        if not len(placements):
            which = "no placement and no pair" if pairs else "no placement"
            note(f"{headline(shares, single)}: {which} leaves exactly one")
        if records is None:
            place = "" if single else place_of(shares.batch, 0)
            lines = []
            for row in placements.tolist():
                cells = zip(map(geometry.cell_name, row[::2]), row[1::2], strict=True)
                lines.append(f"{place}{', '.join(f'{cell} = {digit}' for cell, digit in cells)}\n")
            return as_bytes("".join(lines))
        values: list[NDArray[np.int64] | None] = []
        for index in range(0, placements.shape[1], 2):
            rows, columns = np.divmod(placements[:, index], geometry.n)
            values += [rows + 1, columns + 1, placements[:, index + 1]]
        values += [None] * (len(names) - len(values))
        return records.text(shares.batch, dict(zip(names, values, strict=True)))

    return Writer(text, header=bytes if records is None else records.header)


def headline(shares: Shares, single: bool) -> str:
    """Write the number of solutions, and the place of the board if there are many."""
    count = shares.count
    number = f"{count} solutions" if count > 1 else "1 solution" if count else "no solution"
    return number if single else f"{place_of(shares.batch, 0)}{number}"


def percent(share: int, count: int) -> str:
    """Write a share in percent, rounded down: 0 only for none, and 100 only for all."""
    return "<1" if 0 < 100 * share < count else _percent(share, count, 0)


def _percent(share: int, count: int, places: int) -> str:
    whole, part = divmod(100 * 10**places * share // count, 10**places)
    return f"{whole}.{part:0{places}}" if places else str(whole)


class ShareGrid:
    """Shares in percent, for people: small digits in the cells of a grid, or a line a cell.

    A board that is not ``single`` begins with its place. ``style(text, fg=, bg=, bold=, dim=)``
    returns a coloured text; None if nothing is coloured.
    """

    def __init__(self, single: bool, style: Callable[..., str] | None) -> None:
        self._single = single
        self._style = style

    def text(self, shares: Shares) -> bytes:
        """Write the shares of a board."""
        lines = [headline(shares, self._single)]
        if shares.count:
            small = shares.board.n <= MAX_SMALL and 0 in shares.fixed
            lines += self._grid(shares) if small else self._list(shares)
        if not self._single:
            lines.append("")
        return as_bytes("".join(f"{line}\n" for line in lines))

    def _grid(self, shares: Shares) -> list[str]:
        """Draw all digits in each cell, and a legend."""
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
        """Write the lines of a cell."""
        n = shares.board.n
        clue = int(shares.board.cells[cell])
        fixed = shares.fixed[cell]
        wide, high = small_grid(n)
        if clue or fixed:
            width = _width(n)
            blank = " " * width
            above = (high - 1) // 2
            if clue:
                middle = self._clue(str(clue).center(width))
            else:
                middle = self._fixed(f"({fixed})".center(width))
            return [blank] * above + [middle] + [blank] * (high - 1 - above)
        texts = [self._share(shares, cell, digit) for digit in range(1, n + 1)]
        texts += [" " * NARROW] * (wide * high - n)
        return [" ".join(texts[i : i + wide]) for i in range(0, len(texts), wide)]

    def _share(self, shares: Shares, cell: int, digit: int) -> str:
        """Write a share in two columns."""
        share = shares.counts[cell, digit - 1]
        if share:
            return self._shaded(percent(share, shares.count).rjust(NARROW), share, shares.count)
        if shares.is_candidate(cell, digit):
            return self._styled("x".rjust(NARROW), fg="red")
        return self._styled(".".rjust(NARROW), dim=True)

    def _list(self, shares: Shares) -> list[str]:
        """Draw the digits that all solutions have; each other cell has a line."""
        board = shares.board
        fixed = shares.fixed
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
        """List the digits of a cell, the largest share first, and those in no solution."""
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
        """Colour a share by its root, so that small ones differ, too."""
        shade = min(len(RAMP) - 1, int(len(RAMP) * (share / count) ** 0.5))
        letters = "bright_white" if shade >= FIRST_DARK else "black"
        return self._styled(text, fg=letters, bg=RAMP[shade])

    def _clue(self, text: str) -> str:
        return self._styled(text, bold=True)

    def _fixed(self, text: str) -> str:
        return self._styled(text, fg="green", bold=True)

    def _styled(self, text: str, **style: str | int | bool) -> str:
        return self._style(text, **style) if self._style else text


def _example(geometry: Geometry) -> str:
    """Return a digit of the board, for the legend."""
    return str(min(5, geometry.n))


def small_grid(n: int) -> tuple[int, int]:
    """Return the numbers of columns and of lines of digits in a cell."""
    wide = isqrt(n - 1) + 1
    return wide, ceil(n / wide)


def _width(n: int) -> int:
    """Return the width of a cell: one digit in parentheses needs three columns."""
    return max(3, small_grid(n)[0] * (NARROW + 1) - 1)


def _ruled(cells: list[list[str]], geometry: Geometry) -> list[str]:
    """Draw cells of several lines, with rules around the boxes."""
    n = geometry.n
    columns = geometry.box_columns
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
