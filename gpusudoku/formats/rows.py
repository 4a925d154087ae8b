"""Rows of cells as they are written on a line, and boards made of such rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from math import isqrt

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.source import FormatError
from gpusudoku.formats.symbols import (
    BLANKS,
    CHARACTERS,
    character_values,
    digit_of,
    is_blank,
    number_values,
)

RULE = re.compile(
    rb"[-=+|\s]*[-=][-=+|\s]*"
    rb"|\s*[*.:'|+][-=|+*.:'\s]*(?:---|===)[-=|+*.:'\s]*[*.:'|+]\s*"  # with any sign in corners
    rb"|\s*:?-[-:\s]*\|[-:|\s]*|\s*\|[-:|\s]*-[-:|\s]*"  # below the head of a Markdown table
)
"""A line between the boxes of a grid."""

_TOKEN = re.compile(rb"[^\s,;|]+")
_LETTER = re.compile(rb"[A-Za-z]")
_WORD = re.compile(rb"[A-Za-z]{2,}")
_RUN = re.compile(rb"[0-9.*_?-]+")
_UNKNOWN = re.compile(rb"[^\s,;|.*_?0-9A-Za-z-]")
_GAP = re.compile(rb"[,;]\s*[,;]|^\s*[,;]|[,;]\s*$")
_OUTER_BARS = re.compile(rb"(\s*\|)(.*)(\|\s*)")


class Row:
    """A line's content: tokens between blanks, commas, semicolons and bars.

    A token is a number or a run of characters; only the size of the board tells which. Nothing
    between two commas is an empty cell.
    """

    def __init__(self, line: int, text: bytes) -> None:
        self.line = line
        self.text = text
        self.filled = 0
        """How many cells are empty because nothing stands there."""
        self.ends_in_gap = False
        """Whether the last cell is empty only if the last comma does not end the row."""
        self._by_fields = False
        self._inserted: list[int] = []
        if _GAP.search(text):
            fields = text.replace(b";", b",").split(b",")
            ends_in_gap = not fields[-1].strip()
            if len(fields) > 2 or not ends_in_gap:  # a comma behind a whole row is not counted
                self._fill(fields, b",")
                self.ends_in_gap = ends_in_gap and self.filled == 1
            if b"|" in text or (b"," in text and b";" in text):
                self.tokens = []  # What separates the cells is not clear.

    def _fill(self, fields: list[bytes], delimiter: bytes) -> None:
        """Take every field for a cell, and put a dot into those with nothing else."""
        place, new = 0, []
        self._by_fields = True
        for field in fields:
            if not field.strip():
                self.filled += 1
                if not field:
                    self._inserted.append(place)
                field = b"." + field[1:]
            new.append(field)
            place += len(field) + 1
        self.text = delimiter.join(new)
        if any(len(field.split()) != 1 or b"," in field or b";" in field for field in new):
            self.tokens = []  # Two cells in one field: this is no row.

    def with_fields(self, delimiter: bytes) -> Row | None:
        """The row with a cell for every field between tabs or bars; None without those."""
        if delimiter not in self.text:
            return None
        before, inner, after = b"", self.text, b""
        if delimiter == b"|":  # what is before the first bar and after the last is no field
            outer = _OUTER_BARS.fullmatch(self.text)
            if outer:
                before, inner, after = outer.groups()
        row = Row(self.line, b"")
        row._fill(inner.split(delimiter), delimiter)
        row.text = before + row.text + after
        row._inserted = [place + len(before) for place in row._inserted]
        return row

    def with_blanks(self) -> Row | None:
        """The row with a dot for every blank; None if there are tabs, commas or signs for empty."""
        if re.search(rb"[\t,;]", self.text) or any(sign in self.text for sign in BLANKS):
            return None
        row = Row(self.line, self.text.replace(b" ", b"."))
        row.filled = self.text.count(b" ")
        return row

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
        number = len(self.tokens)
        if self._by_fields:
            return (number, number - 1) if self.ends_in_gap and number else (number,)
        characters = sum(map(len, self.tokens))
        return (number, characters) if number > 1 else (characters,)

    def count_near(self, expected: int) -> int:
        """The possible number of cells nearest to the expected one, for a message."""
        return min(self.counts, key=lambda count: abs(count - expected))

    def cells(self, count: int) -> list[bytes]:
        """Split the row into ``count`` cells, where ``count`` is one of its counts."""
        if len(self.tokens) == count:
            return self.tokens
        if self.ends_in_gap:
            return self.tokens[:-1]
        characters = b"".join(self.tokens)
        return [characters[i : i + 1] for i in range(count)]

    def separated(self, count: int) -> bool:
        """Whether the cells, ``count`` of them, are separated from each other."""
        return count in (len(self.tokens), len(self.tokens) - self.ends_in_gap)

    @property
    def is_text(self) -> bool:
        """Whether this is no row of a board of any size, nor a board, but text."""
        count = max(self.counts)
        if count > len(DIGITS):
            count = isqrt(count) if isqrt(count) ** 2 == count else 16
        return self._has_word(count)

    def is_title(self, n: int) -> bool:
        """Whether this is certainly no row of n cells, but text above a grid."""
        return n not in self.counts and self._has_word(n) and not self.may_be_row(n)

    def _has_word(self, n: int) -> bool:
        """Whether there is a word, with a letter that is no digit up to n, and nothing like cells.

        Cells are as many digits and signs for empty cells as there are in a row.
        """
        if b"[" in self.text or b"]" in self.text:
            return False  # It may name a part of a file.
        letters = set(b"".join(_WORD.findall(self.text)))
        return any(digit_of(bytes([c])) > n for c in letters) and not any(
            len(run) >= min(n, 9) for run in _RUN.findall(self.text)
        )

    def may_be_row(self, n: int) -> bool:
        """Whether the digits in a text, with or without signs for empty cells, are n."""
        digits = len(re.findall(rb"[0-9]", self.text))
        signs = len(re.findall(rb"[.*_?-]", self.text))
        return n in (digits, digits + signs)

    @property
    def has_letters(self) -> bool:
        """Whether there is any letter."""
        return _LETTER.search(self.text) is not None

    def column_of_cell(self, index: int, count: int) -> int:
        """The column, from 1, in which one of ``count`` cells starts."""
        spans = [token.span() for token in _TOKEN.finditer(self.text)]
        if self.separated(count):
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
                f"unknown character {symbol!r}, expected digits, letters or one of . 0 * _ - ?",
                self.line,
                self._column(found.start()),
            )

    def _column(self, place: int) -> int:
        inserted = sum(each < place for each in self._inserted)
        return len(self.text[:place].decode(errors="replace")) + 1 - inserted


def board_of(rows: Sequence[Row], width: int, geometry: Geometry) -> Board:
    """Make a board from the cells of the rows, ``width`` in each.

    Raises
    ------
    FormatError
        If a symbol is unknown, or its digit is out of range, or some cells are empty because
        nothing stands there, and others by a sign.
    """
    cells = [cell for row in rows for cell in row.cells(width)]
    text = b"".join(cells)
    # Separated numbers may all have one figure, but none of them is a letter.
    separated = any(row.separated(width) for row in rows)
    letters = _LETTER.search(text) is not None
    if 1 < geometry.n <= 9 and not text.lower().strip(b"x123456789"):
        letters = False  # each x is an empty cell
    numbers = len(text) > len(cells) or (separated and not letters)
    if not numbers and geometry.n > len(DIGITS):
        raise FormatError(
            f"characters stand for at most {len(DIGITS)} digits, "
            f"expected numbers from 0 to {geometry.n}, separated by commas or blanks",
            rows[0].line,
        )
    _check_signs(rows, cells, width)
    n = geometry.n
    values = number_values(cells, n) if numbers else character_values(text, n)
    try:
        return Board(values, geometry)
    except InputError:
        for row in rows:
            row.check_characters()
        index = int(np.flatnonzero(values > n)[0])
        row = rows[index // width]
        symbol = cells[index]
        expected = (
            f"expected a number from 0 to {n}"
            if numbers
            else f"which is digit {CHARACTERS[symbol[0]]}, expected 1 to {n}"
        )
        raise FormatError(
            f"{geometry.cell_name(index)} holds {shown(symbol)}, {expected}",
            row.line,
            row.column_of_cell(index % width, width),
        ) from None


def _check_signs(rows: Sequence[Row], cells: Sequence[bytes], width: int) -> None:
    """Refuse signs for empty cells beside cells where nothing stands: some may have been lost."""
    filled = [row for row in rows if row.filled]
    if not filled:
        return
    empty = sum(row.filled - (row.ends_in_gap and len(row.tokens) != width) for row in filled)
    if sum(map(is_blank, cells)) > empty > 0:
        raise FormatError(
            "a cell without anything, and other cells with a sign for empty", filled[0].line
        )
