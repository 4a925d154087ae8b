"""Rows of cells as they stand in a line, and boards made of such rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats.source import FormatError
from gpusudoku.formats.symbols import CHARACTERS, DIGITS, character_values, number_values

RULE = re.compile(rb"[-=+|\s]*[-=][-=+|\s]*")
"""A line between the boxes of a grid."""

_TOKEN = re.compile(rb"[^\s,|]+")
_LETTER = re.compile(rb"[A-Za-z]")
_UNKNOWN = re.compile(rb"[^\s,|.*_0-9A-Za-z]")


class Row:
    """A line without its comment: tokens between blanks, commas and bars.

    A token is a number or a run of characters, which only the size of the board can tell.
    """

    def __init__(self, line: int, text: bytes) -> None:
        self.line = line
        self.text = text

    @cached_property
    def groups(self) -> list[list[bytes]]:
        """The tokens between bars. Groups without any are left out."""
        groups = [_TOKEN.findall(group) for group in self.text.split(b"|")]
        return [group for group in groups if group]

    @cached_property
    def tokens(self) -> list[bytes]:
        """What stands between separators of any kind."""
        return [token for group in self.groups for token in group]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many cells the row may have: its tokens (more than one), or their characters."""
        characters = sum(map(len, self.tokens))
        return (len(self.tokens), characters) if len(self.tokens) > 1 else (characters,)

    def count_near(self, expected: int) -> int:
        """Return the count that was most likely meant where another one was expected."""
        return min(self.counts, key=lambda count: abs(count - expected))

    def cells(self, count: int) -> list[bytes]:
        """Split the row into that many cells, where ``count`` is one of its counts."""
        if len(self.tokens) == count:
            return self.tokens
        characters = b"".join(self.tokens)
        return [characters[i : i + 1] for i in range(count)]

    def column_of_cell(self, index: int, count: int) -> int:
        """Return the column, from 1, in which one of ``count`` cells starts."""
        spans = [token.span() for token in _TOKEN.finditer(self.text)]
        if len(spans) == count:
            return self._column(spans[index][0])
        return self._column([place for span in spans for place in range(*span)][index])

    def check_characters(self) -> None:
        """Look for characters that stand for nothing.

        Raises
        ------
        FormatError
            If there is one.
        """
        found = _UNKNOWN.search(self.text)
        if found:
            # Four bytes hold any character of UTF-8.
            symbol = self.text[found.start() :][:4].decode(errors="replace")[0]
            raise FormatError(
                f"unknown character {symbol!r}, expected digits, letters or one of . 0 * _",
                self.line,
                self._column(found.start()),
            )

    def _column(self, place: int) -> int:
        return len(self.text[:place].decode(errors="replace")) + 1


def board_of(rows: Sequence[Row], width: int, geometry: Geometry) -> Board:
    """Make a board of the cells of the rows, ``width`` in each.

    Raises
    ------
    FormatError
        If a symbol is unknown or its digit out of range.
    """
    cells = [cell for row in rows for cell in row.cells(width)]
    text = b"".join(cells)
    # Numbers between separators may all have one figure, but none of them is a letter.
    separated = any(len(row.tokens) == width for row in rows)
    numbers = len(text) > len(cells) or (separated and not _LETTER.search(text))
    if not numbers and geometry.n > len(DIGITS):
        raise FormatError(
            f"characters stand for at most {len(DIGITS)} digits, "
            f"expected numbers from 0 to {geometry.n}, separated by commas or blanks",
            rows[0].line,
        )
    values = number_values(cells) if numbers else character_values(text, geometry.n)
    try:
        return Board(values, geometry)
    except InputError:
        for row in rows:
            row.check_characters()
        index = int(np.flatnonzero(values > geometry.n)[0])
        row = rows[index // width]
        symbol = cells[index].decode()
        expected = (
            f"expected a number from 0 to {geometry.n}"
            if numbers
            else f"which is digit {CHARACTERS[ord(symbol)]}, expected 1 to {geometry.n}"
        )
        raise FormatError(
            f"{geometry.cell_name(index)} holds {symbol!r}, {expected}",
            row.line,
            row.column_of_cell(index % width, width),
        ) from None
