"""The forms of shares: text for those who read it, JSON and CSV for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.places import Origin
from gpusudoku.cli.records import RecordWriter, as_rows
from gpusudoku.cli.source import place_of
from gpusudoku.errors import InputError


@dataclass(frozen=True)
class Shares:
    """The shares of one board."""

    batch: Batch
    """Of that board alone, with its place."""
    counts: NDArray[Any]
    """Python's integers, object (cells, n): how many solutions have a digit in a cell."""

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
        count, rows = self.count, self.counts.tolist()
        return [row.index(count) + 1 if count and count in row else 0 for row in rows]

    def is_candidate(self, cell: int, digit: int) -> bool:
        """Whether a digit may be in a cell as far as the clues in its row, column and box tell."""
        return bool(int(self.board.candidates[cell]) >> digit - 1 & 1)

    @property
    def origin(self) -> Origin:
        """Where the board was read."""
        assert self.batch.places is not None  # whatever a command reads has a place
        return self.batch.places.origin(0)

    @property
    def line(self) -> int:
        """The number of the board's first line; 0 for what comes from no text."""
        assert self.batch.places is not None
        return int(self.batch.places.lines[0])


class Form(Protocol):
    """Writes shares."""

    @property
    def header(self) -> bytes:
        """What stands before those of all boards, once the first were written."""

    def text(self, shares: Shares) -> bytes:
        """Whole lines."""


class JsonLines:
    """An object for every board, on a line of its own."""

    header = b""

    def text(self, shares: Shares) -> bytes:
        """The counts as texts: they may exceed what JSON readers keep of a number."""
        counts = [list(map(str, row)) for row in shares.counts.tolist()]
        values = {"count": str(shares.count), "shares": [counts]}
        return RecordWriter("jsonl").text(shares.batch, values)


class Csv:
    """A record for every cell; the header comes with the first board.

    Parameters
    ----------
    digits
        How many the boards have that were written before; 0 if there are none.
    """

    def __init__(self, digits: int = 0) -> None:
        self.digits = digits

    @property
    def header(self) -> bytes:
        """See ``Form``."""
        digits = [f"d{digit}" for digit in range(1, self.digits + 1)]
        names = ["source", "line", "row", "column", "clue", "count", *digits]
        return as_rows([names], ",") if digits else b""

    def text(self, shares: Shares) -> bytes:
        """The records of all cells.

        Raises
        ------
        InputError
            If the board has more digits or fewer than those before.
        """
        board, n = shares.board, shares.board.n
        rows: list[Sequence[str]] = []
        before = b""
        if not self.digits:
            self.digits = n
            before = self.header
        if n != self.digits:
            raise InputError(
                f"{place_of(shares.batch, 0)}has {n} digits, but the boards before it have"
                f" {self.digits}: they do not fit in one table (--format jsonl takes both)"
            )
        place, count = [shares.origin.name, str(shares.line or "")], str(shares.count)
        cells = zip(board.cells.tolist(), shares.counts.tolist(), strict=True)
        for cell, (clue, counts) in enumerate(cells):
            row, column = divmod(cell, n)
            known = [str(row + 1), str(column + 1), str(clue or ""), count]
            rows.append([*place, *known, *map(str, counts)])
        return before + as_rows(rows, ",")


class Halving:
    """The placements that come nearest to halving the solutions, the nearest first.

    Placements that all solutions have, or none, are left out. Those that are equally near come in
    the order of cells and digits.
    """

    header = b""

    def __init__(self, most: int, single: bool) -> None:
        self._most, self._single = most, single

    def text(self, shares: Shares) -> bytes:
        """A line for each of them, below the number of solutions."""
        count, geometry = shares.count, shares.board.geometry
        found = sorted(
            (abs(2 * share - count), cell, digit + 1, share)
            for cell, row in enumerate(shares.counts.tolist())
            for digit, share in enumerate(row)
            if 0 < share < count
        )
        rows = [("cell", "digit", "solutions", "share")] + [
            (geometry.cell_name(cell), str(digit), str(share), f"{_percent(share, count, 2)} %")
            for _, cell, digit, share in found[: self._most]
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [headline(shares, self._single)]
        for cell, *others in rows if found else ():
            texts = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
            lines.append("  ".join([cell.ljust(widths[0]), *texts]))
        return "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")


def headline(shares: Shares, single: bool) -> str:
    """The number of solutions, and of which board if there are many."""
    count = shares.count
    number = f"{count} solutions" if count > 1 else "1 solution" if count else "no solution"
    return number if single else f"{place_of(shares.batch, 0)}{number}"


def percent(share: int, count: int) -> str:
    """A share in percent, rounded down; that of some solutions is not 0, nor 100 but for all."""
    return "<1" if 0 < 100 * share < count else _percent(share, count, 0)


def _percent(share: int, count: int, places: int) -> str:
    whole, part = divmod(100 * 10**places * share // count, 10**places)
    return f"{whole}.{part:0{places}}" if places else str(whole)
