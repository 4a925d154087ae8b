"""Rows of cells as they are written on a line, and boards made of such rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError
from gpusudoku.formats.source import FormatError
from gpusudoku.formats.symbols import CHARACTERS, character_values, number_values

RULE = re.compile(rb"[-=+|\s]*[-=][-=+|\s]*")
"""A line between the boxes of a grid."""

_TOKEN = re.compile(rb"[^\s,|]+")
_LETTER = re.compile(rb"[A-Za-z]")
_UNKNOWN = re.compile(rb"[^\s,|.*_0-9A-Za-z]")


class Row:
    """A line without its comment: tokens between blanks, commas and bars.

    A token is a number or a run of characters; only the size of the board tells which.
    """

    def __init__(self, line: int, text: bytes) -> None:
        self.line = line
        self.text = text

    @cached_property
    def groups(self) -> list[list[bytes]]:
        """The tokens between bars. Groups without tokens are left out."""
        groups = [_TOKEN.findall(group) for group in self.text.split(b"|")]
        return [group for group in groups if group]

    @cached_property
    def tokens(self) -> list[bytes]:
        """The tokens between separators of any kind."""
        return [token for group in self.groups for token in group]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The possible numbers of cells: that of tokens, if more than one, or of characters."""
        characters = sum(map(len, self.tokens))
        return (len(self.tokens), characters) if len(self.tokens) > 1 else (characters,)

    def count_near(self, expected: int) -> int:
        """The possible number of cells nearest to the expected one, for a message."""
        return min(self.counts, key=lambda count: abs(count - expected))

    def cells(self, count: int) -> list[bytes]:
        """Split the row into ``count`` cells, where ``count`` is one of its counts."""
        if len(self.tokens) == count:
            return self.tokens
        characters = b"".join(self.tokens)
        return [characters[i : i + 1] for i in range(count)]

    def column_of_cell(self, index: int, count: int) -> int:
        """The column, from 1, in which one of ``count`` cells starts."""
        spans = [token.span() for token in _TOKEN.finditer(self.text)]
        if len(spans) == count:
            return self._column(spans[index][0])
        return self._column([place for span in spans for place in range(*span)][index])

    def check_characters(self) -> None:
        """Refuse characters that are no symbol.

        Raises
        ------
        FormatError
            If there is one.
        """
        found = _UNKNOWN.search(self.text)
        if found:
            # A character of UTF-8 takes at most four bytes.
            symbol = self.text[found.start() :][:4].decode(errors="replace")[0]
            raise FormatError(
                f"unknown character {symbol!r}, expected digits, letters or one of . 0 * _",
                self.line,
                self._column(found.start()),
            )

    def _column(self, place: int) -> int:
        return len(self.text[:place].decode(errors="replace")) + 1


def board_of(rows: Sequence[Row], width: int, geometry: Geometry) -> Board:
    """Make a board from the cells of the rows, ``width`` in each.

    Raises
    ------
    FormatError
        If a symbol is unknown, or its digit is out of range.
    """
    cells = [cell for row in rows for cell in row.cells(width)]
    text = b"".join(cells)
    # Separated numbers may all have one figure, but none of them is a letter.
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
