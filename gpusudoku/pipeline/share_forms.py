"""Writers of shares: text for people, JSON and CSV for programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.board.board import Board, digit_masks, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError
from gpusudoku.formats.write import ruled, write
from gpusudoku.jobs.forks import cached_property
from gpusudoku.pipeline.messages import print_note, several
from gpusudoku.pipeline.records import RecordWriter, TableWriter, as_bytes
from gpusudoku.pipeline.source import place_of
from gpusudoku.pipeline.text_forms import Writer

if TYPE_CHECKING:
    from gpusudoku.share_estimates import ShareEstimate

_DIGITS = "digits"
"""The note of a run that keeps the number of digits of all boards in a table."""
MAX_GRID_DIGITS = 9
"""The most digits of a board that is drawn with all digits in each cell. Larger boards would not
fit on a terminal."""
SHARE_WIDTH = 2
"""Characters of a share."""
GAP = 3
"""Characters between two cells."""
SHADES = (195, 159, 117, 75, 33, 26, 19)
"""Shades of blue for shares, among the 256 colours of terminals, from light to dark."""
FIRST_DARK = 5
"""The index of the first shade on which white letters are legible; lighter shades need black."""


@dataclass(frozen=True)
class Shares:
    """The shares of one board."""

    batch: Batch
    """A batch of one, with its place."""
    counts: NDArray[Any]
    """object (cells, n), Python integers: the number of solutions with each digit in each cell.
    For an estimate float64: the fractions of all solutions."""
    estimate: ShareEstimate | None = None
    """The estimate that the shares come from, if they are not exact counts."""
    is_counted: bool = True
    """False if the counts are only 1 for true candidates, and 0 for other digits."""

    @cached_property
    def board(self) -> Board:
        """The board."""
        return self.batch[0]

    @cached_property
    def count(self) -> int:
        """The number of all solutions; for an estimate 1, or 0 if there is none."""
        return int(self.counts[0].sum() if self.estimate is None else self.counts.any())

    @property
    def noun(self) -> str:
        """The name of what cells agree on: sampled solutions if the shares come from some."""
        is_sampled = self.estimate is not None and self.estimate.samples > 0
        return "sampled solution" if is_sampled else "solution"

    @cached_property
    def fixed(self) -> list[int]:
        """For every cell, the digit that all solutions have there; 0 if they differ."""
        count = self.count
        rows = self.counts.tolist()
        return [row.index(count) + 1 if count and count in row else 0 for row in rows]

    def is_candidate(self, cell: int, digit: int) -> bool:
        """Tell whether the clues in the row, column and box of a cell allow a digit."""
        # Bit 0 of a candidates mask is digit 1.
        return bool(int(self.board.candidates[cell]) >> digit - 1 & 1)

    @property
    def input_source(self) -> InputSource:
        """The input of the board."""
        assert self.batch.locations is not None  # all boards of a command have a place
        return self.batch.locations.source(0)

    @property
    def line(self) -> int:
        """The number of the board's first line; 0 if the board comes from no text."""
        assert self.batch.locations is not None
        return int(self.batch.locations.lines[0])


def share_writer(
    form: str | None,
    halving: int | None,
    single: bool,
    style: Callable[..., str] | None,
    notes: Callable[[], dict[str, Any]],
) -> Writer:
    """Return the writer of shares in a form.

    With ``halving``, it writes this number of placements instead: those that come nearest to
    halving the solutions. ``style`` colours texts; see ``ShareGrid``. ``notes`` returns the notes
    of the run, which exist once the run is open; see ``ShareTable``.
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

    Counts are strings: they may be too large for the numbers of JSON readers.
    """
    estimate = shares.estimate
    columns: dict[str, Any]
    if not shares.is_counted:
        candidates = [(np.flatnonzero(row) + 1).tolist() for row in shares.counts]
        columns = {"candidates": [candidates]}
    elif estimate is None:
        counts = [list(map(str, row)) for row in shares.counts.tolist()]
        columns = {"count": str(shares.count), "shares": [counts]}
    else:
        columns = {**estimate._asdict(), "seed": str(estimate.seed)}
        columns |= {name: [columns[name].tolist()] for name in ("shares", "errors")}
    return RecordWriter("jsonl", shares.input_source).text(shares.batch, columns)


class ShareTable:
    """Writes a row for every cell, in csv; all boards must have the same number of digits.

    The run keeps this number in its notes, so that a resumed run also refuses other boards.
    """

    def __init__(self, notes: Callable[[], dict[str, Any]]) -> None:
        self._notes = notes
        self._tables = "d"  # the first letters of columns: shares; then e for their errors

    def header(self) -> bytes:
        """Return the line before all rows, once a board was written."""
        numbers = range(1, self._notes().get(_DIGITS, 0) + 1)
        digits = [f"{table}{digit}" for table in self._tables for digit in numbers]
        names = ["source", "line", "row", "column", "clue", "count", *digits]
        return TableWriter("csv", names).header() if digits else b""

    def text(self, shares: Shares) -> bytes:
        """Write the rows of a board."""
        board = shares.board
        n = board.n
        digits = self._notes().setdefault(_DIGITS, n)
        if n != digits:
            raise InputError(
                f"{place_of(shares.batch, 0)}has {n} digits, but the boards before it have"
                f" {digits}: they do not fit in one table (--format jsonl takes both)"
            )
        rows, columns = np.divmod(np.arange(n * n), n)
        values = {
            "source": shares.input_source.name,
            "line": shares.line or None,
            "row": rows + 1,
            "column": columns + 1,
            "clue": [clue or None for clue in board.cells.tolist()],
            "count": str(shares.count) if shares.is_counted and not shares.estimate else None,
        }
        # The columns d1, d2 ... have the number of solutions with this digit in the cell, or its
        # estimated share. Then e1, e2 ... have the errors.
        tables = {"d": shares.counts}
        if shares.estimate is not None:
            tables["e"] = shares.estimate.errors
        self._tables = "".join(tables)
        for name, table in tables.items():
            values |= {f"{name}{digit + 1}": table[:, digit] for digit in range(n)}
        return TableWriter("csv", values).rows(values)


def _halving_list(shares: Shares, limit: int, single: bool) -> bytes:
    """Write the placements that come nearest to halving the solutions, the nearest first.

    Placements of all solutions or of no solution are left out. Equally near placements come in the
    order of cells and digits.
    """
    count = shares.count
    lines = [headline(shares, single)]
    placements = []
    for cell, row in enumerate(shares.counts.tolist()):
        for digit, share in enumerate(row, 1):
            if 0 < share < count:
                distance = abs(2 * share - count)
                placements.append((distance, cell, digit, share))
    placements.sort()

    if placements:
        estimate = shares.estimate
        titles = ["solutions", "share"] if estimate is None else ["share", "error"]
        table = [["cell", "digit", *titles]]
        for _, cell, digit, share in placements[:limit]:
            name = shares.board.geometry.cell_name(cell)
            numbers = [str(share), f"{_percent(share, count, 2)} %"]
            if estimate is not None:
                numbers = [numbers[1], f"{100 * estimate.errors[cell, digit - 1]:.2f} %"]
            table.append([name, str(digit), *numbers])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for name, *numbers in table:
            columns = [name.ljust(widths[0])]
            for number, width in zip(numbers, widths[1:], strict=True):
                columns.append(number.rjust(width))
            lines.append("  ".join(columns))
    return as_bytes("".join(f"{line}\n" for line in lines))


def unique_writer(
    form: str,
    input_source: InputSource,
    single: bool,
    pairs: bool,
    find: Callable[[Shares], NDArray[np.int64]],
) -> Writer:
    """Return the writer of placements, or of pairs of them, that leave exactly one solution.

    ``find`` returns the placements of a board, int64 (k, 2): a cell and a digit; or its pairs,
    int64 (k, 4). With ``pairs`` records have columns for both. If a board has no placement, stderr
    gets a note.
    """
    names = ["row", "column", "digit"]
    if pairs:
        names += ["row2", "column2", "digit2"]
    records = RecordWriter(form, input_source, names) if form != "text" else None

    def text(shares: Shares) -> bytes:
        placements = find(shares)
        geometry = shares.board.geometry
        if not len(placements):
            subject = "no placement and no pair" if pairs else "no placement"
            print_note(f"{headline(shares, single)}: {subject} leaves exactly one")
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
        values += [None] * (len(names) - len(values))  # single placements in columns for pairs
        return records.text(shares.batch, dict(zip(names, values, strict=True)))

    return Writer(text, header=bytes if records is None else records.header)


def headline(shares: Shares, single: bool) -> str:
    """Write the number of solutions, after the place of the board if it is not ``single``.

    An estimate has its largest error instead, and true candidates have their number.
    """
    count = shares.count
    estimate = shares.estimate
    if count == 0:
        number = "no solution"
    elif not shares.is_counted:
        candidates = several(int(shares.counts.sum()), "true candidate")
        number = f"{candidates} in {several(len(shares.counts), 'cell')}"
    elif estimate is not None:
        error = f"{100 * estimate.errors.max():.2g} percentage points"
        confidence = f"{100 * estimate.confidence:.6g} % confidence"
        samples = f"estimated from {estimate.samples} samples"
        number = f"shares {samples}: errors up to {error} ({confidence})"
        number = number if estimate.samples else "exact shares"
    else:
        number = "1 solution" if count == 1 else f"{count} solutions"
    return number if single else f"{place_of(shares.batch, 0)}{number}"


def _candidate_grid(shares: Shares) -> str:
    """Draw the true candidates; above 35 digits, write them in a line."""
    n = shares.board.n
    masks = shares.counts @ digit_masks(np.arange(1, n + 1, dtype=np.uint8))
    board = Board(single_digits(masks), shares.board.geometry, candidates=masks)
    return write(board, "pretty" if n <= len(DIGITS) else "line")


def percent(share: float, count: int) -> str:
    """Write a share in percent, rounded down; a positive share below 1 % is ``<1``."""
    return "<1" if 0 < 100 * share < count else _percent(share, count, 0)


def _percent(share: float, count: int, decimals: int) -> str:
    """Write a share in percent, rounded down. Integers stay integers: they may exceed any float."""
    scale = 10**decimals
    # A float such as 28.999999999999996 % is 29 %. An integer is not changed by ``round``.
    whole, fraction = divmod(int(round(100 * scale * share, 6) // count), scale)
    return f"{whole}.{fraction:0{decimals}}" if decimals else str(whole)


class ShareGrid:
    """Writes shares in percent, for people.

    Small boards are drawn as a grid with the shares of all digits in each cell. Large boards have
    a line of text for each cell. A board that is not ``single`` begins with its place.
    ``style(text, fg=, bg=, bold=, dim=)`` returns a coloured text; it is None for texts without
    colours.
    """

    def __init__(self, single: bool, style: Callable[..., str] | None) -> None:
        self._single = single
        self._style = style

    def text(self, shares: Shares) -> bytes:
        """Write the shares of a board."""
        lines = [headline(shares, self._single)]
        if shares.count and not shares.is_counted:
            lines.append(_candidate_grid(shares))
        elif shares.count:
            fits_grid = shares.board.n <= MAX_GRID_DIGITS and 0 in shares.fixed
            lines += self._grid(shares) if fits_grid else self._list(shares)
        if not self._single:
            lines.append("")
        return as_bytes("".join(f"{line}\n" for line in lines))

    def _grid(self, shares: Shares) -> list[str]:
        """Draw all digits in each cell, and a legend.

        A row of a 4x4 board with a clue in its first cell is drawn as::

             =============== ===============
            |   1      .  . |  . 66    . 33 |
            |         50 50 |  . 33   50 16 |

        The other cells have the shares of the digits 1 to 4.
        """
        geometry = shares.board.geometry
        cells = [self._cell(shares, cell) for cell in range(geometry.cells)]
        digit = _example(geometry)
        return [
            *_ruled(cells, geometry),
            f"Percent of the solutions, rounded down, for the digits 1 to {geometry.n} in reading"
            " order",
            f". a clue excludes it   x in no {shares.noun}   <1 in some, less than 1 %"
            f"   {self._fixed(f'({digit})')} in all   {self._clue(digit)} a clue",
        ]

    def _cell(self, shares: Shares, cell: int) -> list[str]:
        """Write the lines of a cell."""
        n = shares.board.n
        clue = int(shares.board.cells[cell])
        fixed = shares.fixed[cell]
        column_count, line_count = small_grid(n)
        if clue or fixed:  # one large digit in the middle
            width = _width(n)
            if clue:
                middle = self._clue(str(clue).center(width))
            else:
                middle = self._fixed(f"({fixed})".center(width))
            lines = [" " * width] * line_count
            lines[(line_count - 1) // 2] = middle
            return lines
        texts = [self._share(shares, cell, digit) for digit in range(1, n + 1)]
        texts += [" " * SHARE_WIDTH] * (column_count * line_count - n)
        return [" ".join(texts[i : i + column_count]) for i in range(0, len(texts), column_count)]

    def _share(self, shares: Shares, cell: int, digit: int) -> str:
        """Write a share with ``SHARE_WIDTH`` characters."""
        share = shares.counts[cell, digit - 1]
        if share:
            text = percent(share, shares.count).rjust(SHARE_WIDTH)
            return self._shaded(text, share, shares.count)
        if shares.is_candidate(cell, digit):
            return self._styled("x".rjust(SHARE_WIDTH), fg="red")
        return self._styled(".".rjust(SHARE_WIDTH), dim=True)

    def _list(self, shares: Shares) -> list[str]:
        """Draw a grid of the digits that all solutions have, and list all other cells."""
        board = shares.board
        fixed = shares.fixed
        texts = []
        for clue, digit in zip(board.cells.tolist(), fixed, strict=True):
            if clue:
                texts.append(str(clue))
            else:
                texts.append(f"({digit})" if digit else "*")
        example = _example(board.geometry)
        lines = [
            *ruled(texts, board.geometry).splitlines(),
            f"{self._fixed(f'({example})')} in all {shares.noun}s, {self._clue(example)} a clue",
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
        """List the digits of a cell, the largest share first, then the digits in no solution."""
        count_of_digit = dict(enumerate(shares.counts[cell].tolist(), 1))
        possible = []
        for digit, count in sorted(count_of_digit.items(), key=lambda pair: (-pair[1], pair[0])):
            if count:
                text = f"{digit}: {percent(count, shares.count)} %"
                possible.append(self._shaded(text, count, shares.count))
        impossible = [
            str(digit)
            for digit, count in count_of_digit.items()
            if not count and shares.is_candidate(cell, digit)
        ]
        ending = f"; in none: {' '.join(impossible)}" if impossible else ""
        return ", ".join(possible) + ending

    def _shaded(self, text: str, share: int, count: int) -> str:
        """Colour the text of a share; the shade is its square root, so that small ones differ."""
        shade = min(len(SHADES) - 1, int(len(SHADES) * (share / count) ** 0.5))
        letters = "bright_white" if shade >= FIRST_DARK else "black"
        return self._styled(text, fg=letters, bg=SHADES[shade])

    def _clue(self, text: str) -> str:
        """Style the text of a clue."""
        return self._styled(text, bold=True)

    def _fixed(self, text: str) -> str:
        """Style the text of a digit that all solutions have."""
        return self._styled(text, fg="green", bold=True)

    def _styled(self, text: str, **style: str | int | bool) -> str:
        return self._style(text, **style) if self._style else text


def _example(geometry: Geometry) -> str:
    """Return a digit of the board as an example in the legend."""
    return str(min(5, geometry.n))


def small_grid(n: int) -> tuple[int, int]:
    """Return the numbers of columns and of lines that the ``n`` digits of a cell form."""
    columns = isqrt(n - 1) + 1  # the square root of n, rounded up
    return columns, ceil(n / columns)


def _width(n: int) -> int:
    """Return the width of a cell in characters, at least 3 for one digit in parentheses."""
    column_count, _ = small_grid(n)
    return max(3, column_count * (SHARE_WIDTH + 1) - 1)


def _ruled(cells: list[list[str]], geometry: Geometry) -> list[str]:
    """Draw cells of several lines, with rules around the boxes."""
    n = geometry.n
    columns = geometry.box_columns
    gap = " " * GAP
    box_width = columns * (_width(n) + GAP) - GAP + 2
    rule = " " + " ".join(["=" * box_width] * (n // columns))
    empty_line = rule.replace(" ", "|").replace("=", " ") + "|"
    lines = []
    for row in range(n):
        if row % geometry.box_rows == 0:
            lines.append(rule)
        elif len(cells[0]) > 1:  # without it, the lines of two rows could not be told apart
            lines.append(empty_line)
        row_cells = cells[row * n : (row + 1) * n]
        for texts in zip(*row_cells, strict=True):
            boxes = [gap.join(texts[i : i + columns]) for i in range(0, n, columns)]
            lines.append(f"| {' | '.join(boxes)} |")
    return [*lines, rule]
