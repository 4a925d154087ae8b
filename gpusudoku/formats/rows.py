"""Rows of cells as they are written on a line, and the board that they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import isqrt
from operator import add

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.candidates import board_of_masks, mask_of_group, masks_of_groups
from gpusudoku.formats.source import FormatError
from gpusudoku.formats.symbols import (
    BLANKS,
    CHARACTERS,
    LETTERS,
    are_numbers,
    character_values,
    digit_of,
    is_blank,
    letters_of,
    number_values,
)
from gpusudoku.jobs.forks import cached_property

_WHITE = b" \t\n\r\f\v"
_PLAIN = b"-=+|" + _WHITE
_CORNERS = b"*.:'|+"
_BELOW_HEAD = b"-:|" + _WHITE

_LETTER = re.compile(rb"[A-Za-z]")
_TOKEN = re.compile(rb"[^\s,;|]+")
_LETTER = re.compile(rb"[A-Za-z]")
_WORD = re.compile(rb"[A-Za-z]{2,}")
_RUN = re.compile(rb"[0-9.*_?-]+")
_UNKNOWN = re.compile(rb"[^\s,;|.*_?0-9A-Za-z-]")
_GAP = re.compile(rb"[,;]\s*[,;]|^\s*[,;]|[,;]\s*$")
_OUTER_BARS = re.compile(rb"\s*\|(.*)\|\s*")
_ONE_OR_TWO = re.compile(rb"\||[^|]{1,2}")
"""A bar, or a cell with what stands between it and the next one."""


def is_rule(text: bytes) -> bool:
    """Tell whether this is a line between the boxes of a grid, or below a Markdown head."""
    inner = text.strip()  # no regular expression: that would take the square of the length
    if not inner.translate(None, _PLAIN):
        return b"-" in inner or b"=" in inner
    if not inner.translate(None, _BELOW_HEAD):
        has_dash = b"-" in inner and inner.startswith(b"|")
        if has_dash or (b"|" in inner and inner.startswith((b"-", b":-"))):
            return True
    middle = inner[1:-1]
    return (
        (b"---" in middle or b"===" in middle)
        and inner[0] in _CORNERS
        and inner[-1] in _CORNERS
        and not inner.translate(None, _PLAIN + _CORNERS)
    )


Layout = Callable[[bytes], Sequence[int]]
"""Returns the places of a line in which its cells and bars stand."""

LAYOUTS: tuple[Layout, ...] = (
    lambda text: range(len(text)),  # 53 | 7 |
    lambda text: range(0, len(text), 2),  # 5 3   |   7   |
    lambda text: range(1, len(text), 2),  # the same, with a blank in front
    lambda text: [found.start() for found in _ONE_OR_TWO.finditer(text)],  # 5 3  |  7  |
)
"""The places of cells, some of which are blanks because they are empty."""


class Row:
    """A line's content: tokens between blanks, commas, semicolons and bars.

    Only the size of the board tells whether a token is a number or a run of characters. If this is
    another reading of a line, ``line_text`` is all of it, and its cells stand at the ``starts``.
    """

    def __init__(
        self, line: int, text: bytes, line_text: bytes | None = None, starts: Sequence[int] = ()
    ) -> None:
        self.line = line
        self.text = text
        self.filled = 0
        """The number of cells that are empty because nothing stands there."""
        self.ends_in_gap = False
        """True if the last cell is empty only if the last comma does not end the row."""
        self.by_fields = False
        """True if there is one cell between two separators, whatever stands there."""
        self._line_text = text if line_text is None else line_text
        self._starts = starts
        if _GAP.search(text):
            fields = text.replace(b";", b",").split(b",")
            ends_in_gap = not fields[-1].strip()
            if len(fields) > 2 or not ends_in_gap:  # a comma behind a whole row is not counted
                self._fill(fields, b",", 0)
                self.ends_in_gap = ends_in_gap and self.filled == 1
            if b"|" in text or (b"," in text and b";" in text):
                self.tokens = []  # The separator of the cells is not clear.

    def _fill(self, fields: list[bytes], delimiter: bytes, start: int) -> None:
        """Take every field for a cell, and put a dot into those with nothing else."""
        self.by_fields = True
        self.filled = sum(not field.strip() for field in fields)
        places = accumulate((len(field) + 1 for field in fields), initial=start)
        blanks = [len(field) - len(field.lstrip()) if field.strip() else 0 for field in fields]
        self._starts = list(map(add, places, blanks))
        fields = [field if field.strip() else b"." + field[1:] for field in fields]
        self.text = delimiter.join(fields)
        if any(len(field.split()) != 1 or b"," in field or b";" in field for field in fields):
            self.tokens = []  # Two cells in one field: this is no row.

    def with_fields(self, delimiter: bytes) -> Row | None:
        """Return the row with a cell for every field between tabs or bars; None without those."""
        if delimiter not in self.text:
            return None
        start, inner = self._within_bars() if delimiter == b"|" else (0, self.text)
        row = Row(self.line, b"", self.text)
        row._fill(inner.split(delimiter), delimiter, start)
        return row

    def with_blanks(self, layout: Layout = LAYOUTS[0]) -> Row | None:
        """Return the row with a dot for every blank where a cell may stand, if all cells do."""
        if any(sign in self.text for sign in b"\t,;" + BLANKS):
            return None
        start, inner = self._within_bars()
        places = layout(inner)
        text = bytes(inner[place] for place in places)
        if len(text.replace(b" ", b"")) < len(inner.replace(b" ", b"")):
            return None
        starts = [start + place for place in places if inner[place] != ord("|")]
        row = Row(self.line, text.replace(b" ", b"."), self.text, starts)
        row.filled = text.count(b" ")
        return row

    def _within_bars(self) -> tuple[int, bytes]:
        """Return the text between the bars at both ends, and its place; all of it without them."""
        outer = _OUTER_BARS.fullmatch(self.text)
        return (outer.start(1), outer[1]) if outer else (0, self.text)

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
        if self.by_fields:
            return (number, number - 1) if self.ends_in_gap and number else (number,)
        may_be_sure = b"-1" in self.text or b".0" in self.text
        if number > 1 and may_be_sure and are_numbers(self.tokens):
            return (number,)
        characters = sum(map(len, self.tokens))
        return (number, characters) if number > 1 else (characters,)

    def count_near(self, expected: int) -> int:
        """Return the possible number of cells nearest to the expected one, for a message."""
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
        """Tell whether the cells, ``count`` of them, are separated from each other."""
        return count in (len(self.tokens), len(self.tokens) - self.ends_in_gap)

    def characters(self, count: int, n: int) -> bytes:
        """Return the characters of the cells, none if they are numbers of a board of n digits."""
        text = b"".join(self.cells(count))
        are_numbers = n > 9 and self.separated(count) and not _LETTER.search(text)
        return b"" if are_numbers else text

    @property
    def gaps(self) -> int:
        """The number of fields between commas or tabs where none has a cell; 0 if any has one."""
        if not self.text.strip():
            return self.text.count(b"\t") + 1
        return self.filled if self.filled and self.filled == len(self.tokens) else 0

    @property
    def has_letters(self) -> bool:
        """True if there is any letter."""
        return _LETTER.search(self.text) is not None

    @property
    def is_text(self) -> bool:
        """True if this is no row of a board of any size, nor a board, but text."""
        count = max(self.counts)
        if count > len(DIGITS):
            count = isqrt(count) if isqrt(count) ** 2 == count else 16
        return self._has_word(count)

    def is_title(self, n: int) -> bool:
        """Tell whether this is certainly no row of n cells, but text above a grid."""
        if not self._has_word(n) or self.may_be_row(n):
            return False
        cells = self.cells(n) if n in self.counts else []
        # A text of n characters has to be mostly of letters that are no digits up to n.
        return 2 * sum(digit_of(cell) <= n for cell in cells) <= len(cells)

    def _has_word(self, n: int) -> bool:
        """Tell whether there is a word with a letter that is no digit up to n, and no row."""
        if b"[" in self.text or b"]" in self.text:
            return False  # It may name a part of a file.
        cells = b"".join(self.tokens)
        if len(cells) in (n, n * n) and n > 9 and letters_of(cells, n):
            return False  # In smaller grids a row of letters does no harm if it passes for text.
        letters = set(b"".join(_WORD.findall(self.text)))
        return any(digit_of(bytes([c])) > n for c in letters) and not any(
            len(run) >= min(n, 9) for run in _RUN.findall(self.text)
        )

    def may_be_row(self, n: int) -> bool:
        """Tell whether the digits in a text, with or without signs for empty cells, are n."""
        digits = len(re.findall(rb"[0-9]", self.text))
        signs = len(re.findall(rb"[.*_?-]", self.text))
        return n in (digits, digits + signs)

    def column_of_cell(self, index: int, count: int) -> int:
        """Return the column, from 1, in which one of ``count`` cells starts."""
        starts = self._starts
        if not starts:
            spans = [token.span() for token in _TOKEN.finditer(self.text)]
            if self.separated(count):
                spans = [(start, start + 1) for start, _ in spans]
            starts = [place for span in spans for place in range(*span)]
        return self._column(starts[index])

    def check_characters(self) -> None:
        """Refuse characters that are no symbol."""
        found = _UNKNOWN.search(self._line_text)
        if found:
            # A character of UTF-8 takes at most four bytes.
            symbol = self._line_text[found.start() :][:4].decode(errors="replace")[0]
            raise FormatError(
                f"unknown character {symbol!r}, expected digits, letters or one of . 0 * _ - ?",
                self.line,
                self._column(found.start()),
            )

    def _column(self, place: int) -> int:
        return len(self._line_text[:place].decode(errors="replace")) + 1


def board_of(rows: Sequence[Row], width: int, geometry: Geometry) -> Board:
    """Make a board from the cells of the rows, ``width`` in each; refuse what is no digit."""
    n = geometry.n
    cells = [cell for row in rows for cell in row.cells(width)]
    text = b"".join(cells)
    # Separated numbers may all have one figure, but none of them is a letter.
    separated = any(row.separated(width) for row in rows)
    letters = text.upper() != text.lower()
    if 1 < n <= 9 and not text.lower().strip(b"x123456789"):
        letters = False  # each x is an empty cell
    numbers = len(text) > len(cells) or (separated and not letters)
    if not numbers and n > len(DIGITS):
        raise FormatError(
            f"characters stand for at most {len(DIGITS)} digits, "
            f"expected numbers from 0 to {n}, separated by commas or blanks",
            rows[0].line,
        )
    filled = [row for row in rows if row.filled]
    empty = sum(row.filled - (row.ends_in_gap and len(row.tokens) != width) for row in filled)
    if empty and sum(map(is_blank, cells)) > empty:  # some without a sign may have been lost
        raise FormatError(
            "a cell without anything, and other cells with a sign for empty", filled[0].line
        )
    values = number_values(cells, n) if numbers else character_values(text, n)
    if numbers and values.max() > n and all(row.separated(width) for row in rows):
        masks = masks_of_groups(cells, n)
        # A single cell with several digits is an error: its other digits would be excluded.
        if masks is not None and (np.bitwise_count(masks) > 1).sum() > 1:
            return board_of_masks(masks, geometry)
    try:
        return Board(values, geometry)
    except InputError:
        for row in rows:
            row.check_characters()
        if 4 < n <= 9 and text.translate(None, BLANKS).isalpha():
            expected = f"{n} different ones, or some of {LETTERS[:n].decode()}"
            raise FormatError(f"letters alone, expected {expected}", rows[0].line) from None
        wrong = np.flatnonzero(values > n).tolist()
        no_groups = [index for index in wrong if mask_of_group(cells[index], n) is None]
        index = (no_groups or wrong)[0]
        row = rows[index // width]
        symbol = cells[index]
        expected = (
            f"expected a number from 0 to {n}"
            if numbers
            else f"which is digit {CHARACTERS[symbol[0]]}, expected 1 to {n}"
        )
        if numbers and len(no_groups) < len(wrong):
            groups = f"different digits from 1 to {n}"
            expected = (
                f"expected {groups}" if no_groups else f"{expected}, or candidates in all cells"
            )
        raise FormatError(
            f"{geometry.cell_name(index)} holds {shown(symbol)}, {expected}",
            row.line,
            row.column_of_cell(index % width, width),
        ) from None
