"""Rows of cells as they are written on a line, and the board that they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import isqrt
from operator import add

import numpy as np
from numpy.typing import NDArray

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
_RULE_CHARACTERS = b"-=+|" + _WHITE
_CORNERS = b"*.:'|+"
"""The characters at the ends and crossings of rules."""
_BELOW_HEAD = b"-:|" + _WHITE
"""The characters of the rule below the head of a Markdown table."""

_TOKEN = re.compile(rb"[^\s,;|]+")
_LETTER = re.compile(rb"[A-Za-z]")
_WORD = re.compile(rb"[A-Za-z]{2,}")
_RUN = re.compile(rb"[0-9.*_?-]+")
_UNKNOWN = re.compile(rb"[^\s,;|.*_?0-9A-Za-z-]")
_GAP = re.compile(rb"[,;]\s*[,;]|^\s*[,;]|[,;]\s*$")
_OUTER_BARS = re.compile(rb"\s*\|(.*)\|\s*")
_ONE_OR_TWO = re.compile(rb"\||[^|]{1,2}")
"""A bar, or a cell and the character between it and the next one."""


def is_rule(text: bytes) -> bool:
    """Tell whether a line is a rule between the boxes of a grid, or below a Markdown head."""
    inner = text.strip()  # A regular expression would take time quadratic in the length.
    if not inner.translate(None, _RULE_CHARACTERS):
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
        and not inner.translate(None, _RULE_CHARACTERS + _CORNERS)
    )


Layout = Callable[[bytes], Sequence[int]]
"""Returns the indices in a line at which its cells and bars start."""

LAYOUTS: tuple[Layout, ...] = (
    lambda text: range(len(text)),  # 53 | 7 |
    lambda text: range(0, len(text), 2),  # 5 3   |   7   |
    lambda text: range(1, len(text), 2),  # the same, with a blank in front
    lambda text: [match.start() for match in _ONE_OR_TWO.finditer(text)],  # 5 3  |  7  |
)
"""The ways to write cells at fixed positions, with a blank for an empty cell."""


class Row:
    """A line of cells: tokens between blanks, commas, semicolons and bars.

    Only the size of the board determines whether a token is a number or a run of characters. For
    another reading of a line, such as ``with_blanks``, ``text`` has a dot in the place of each
    missing cell, ``line_text`` is the original line, and ``starts`` has the index of each cell in
    it.
    """

    def __init__(
        self, line: int, text: bytes, line_text: bytes | None = None, starts: Sequence[int] = ()
    ) -> None:
        self.line = line
        self.text = text
        self.filled = 0
        """The number of missing cells: empty cells without a sign."""
        self.ends_in_gap = False
        """True if the line ends in a comma, after which there may be a missing cell or none."""
        self.by_fields = False
        """True if every field between two separators is one cell, even without a sign."""
        self._line_text = text if line_text is None else line_text
        self._starts = starts
        if _GAP.search(text):
            fields = text.replace(b";", b",").split(b",")
            ends_in_gap = not fields[-1].strip()
            if len(fields) > 2 or not ends_in_gap:  # else the comma only ends a whole row
                self._set_fields(fields, b",", 0)
                self.ends_in_gap = ends_in_gap and self.filled == 1
            if b"|" in text or (b"," in text and b";" in text):
                self.tokens = []  # It is unclear which separator is between the cells.

    def _set_fields(self, fields: list[bytes], delimiter: bytes, start: int) -> None:
        """Take every field as a cell; put a dot into blank fields.

        ``start`` is the index of the first field in the line.
        """
        self.by_fields = True
        self.filled = sum(not field.strip() for field in fields)
        field_starts = accumulate((len(field) + 1 for field in fields), initial=start)
        indents = [len(field) - len(field.lstrip()) if field.strip() else 0 for field in fields]
        self._starts = list(map(add, field_starts, indents))
        fields = [field if field.strip() else b"." + field[1:] for field in fields]
        self.text = delimiter.join(fields)
        if any(len(field.split()) != 1 or b"," in field or b";" in field for field in fields):
            self.tokens = []  # Two cells in one field: this is not a row.

    def with_fields(self, delimiter: bytes) -> Row | None:
        """Return the row with a cell for every field between tabs or bars; None without any."""
        if delimiter not in self.text:
            return None
        start, inner = self._within_bars() if delimiter == b"|" else (0, self.text)
        row = Row(self.line, b"", self.text)
        row._set_fields(inner.split(delimiter), delimiter, start)
        return row

    def with_blanks(self, layout: Layout = LAYOUTS[0]) -> Row | None:
        """Return the row with a dot for every blank at the position of a cell.

        Return None if the cells of the row are not at the positions of the layout.
        """
        if any(sign in self.text for sign in b"\t,;" + BLANKS):
            return None
        start, inner = self._within_bars()
        positions = layout(inner)
        text = bytes(inner[position] for position in positions)
        if len(text.replace(b" ", b"")) < len(inner.replace(b" ", b"")):
            return None  # Some cells are at other positions.
        starts = [start + position for position in positions if inner[position] != ord("|")]
        row = Row(self.line, text.replace(b" ", b"."), self.text, starts)
        row.filled = text.count(b" ")
        return row

    def _within_bars(self) -> tuple[int, bytes]:
        """Return the start and the text between the bars at both ends; 0 and all without bars."""
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
        """The possible numbers of cells: of tokens, if there are several, and of characters.

        Only tokens count in rows of fields, and if the tokens are certainly numbers.
        """
        token_count = len(self.tokens)
        if self.by_fields:
            has_two = self.ends_in_gap and token_count > 0
            return (token_count, token_count - 1) if has_two else (token_count,)
        # Without -1 or a decimal, tokens are not certainly numbers; this check is much faster.
        may_be_numbers = b"-1" in self.text or b".0" in self.text
        if token_count > 1 and may_be_numbers and are_numbers(self.tokens):
            return (token_count,)
        character_count = sum(map(len, self.tokens))
        return (token_count, character_count) if token_count > 1 else (character_count,)

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

    def is_separated(self, count: int) -> bool:
        """Tell whether the ``count`` cells are separate tokens."""
        return count in (len(self.tokens), len(self.tokens) - self.ends_in_gap)

    def characters(self, count: int, n: int) -> bytes:
        """Return the characters of the cells; empty if they are numbers of a board of n digits."""
        text = b"".join(self.cells(count))
        are_numbers = n > 9 and self.is_separated(count) and not _LETTER.search(text)
        return b"" if are_numbers else text

    @property
    def gaps(self) -> int:
        """The number of fields between commas or tabs if all are blank; 0 if any is not."""
        if not self.text.strip():
            return self.text.count(b"\t") + 1
        return self.filled if self.filled and self.filled == len(self.tokens) else 0

    @property
    def has_letters(self) -> bool:
        """True if the row has a letter."""
        return _LETTER.search(self.text) is not None

    @property
    def is_text(self) -> bool:
        """True if this is text, and not a row of a board of any size or a board."""
        count = max(self.counts)
        if count > len(DIGITS):
            count = isqrt(count) if isqrt(count) ** 2 == count else 16
        return self._has_word(count)

    def is_title(self, n: int) -> bool:
        """Tell whether this is certainly text above a grid, and not a row of n cells."""
        if not self._has_word(n) or self.may_be_row(n):
            return False
        cells = self.cells(n) if n in self.counts else []
        # Most characters of a text of n characters must be letters that are not digits up to n.
        return 2 * sum(digit_of(cell) <= n for cell in cells) <= len(cells)

    def _has_word(self, n: int) -> bool:
        """Tell whether there is a word with a letter that is not a digit up to n, and no row."""
        if b"[" in self.text or b"]" in self.text:
            return False  # It may be the name of a section.
        cells = b"".join(self.tokens)
        if len(cells) in (n, n * n) and n > 9 and letters_of(cells, n):
            return False  # a row of letters; in smaller grids it does no harm to take it as text
        letters = set(b"".join(_WORD.findall(self.text)))
        return any(digit_of(bytes([c])) > n for c in letters) and not any(
            len(run) >= min(n, 9) for run in _RUN.findall(self.text)
        )

    def may_be_row(self, n: int) -> bool:
        """Tell whether a text has n digits, with or without the signs for empty cells."""
        digit_count = len(re.findall(rb"[0-9]", self.text))
        sign_count = len(re.findall(rb"[.*_?-]", self.text))
        return n in (digit_count, digit_count + sign_count)

    def column_of_cell(self, index: int, count: int) -> int:
        """Return the column, from 1, in which one of ``count`` cells starts."""
        starts = self._starts
        if not starts:
            spans = [token.span() for token in _TOKEN.finditer(self.text)]
            if self.is_separated(count):
                spans = [(start, start + 1) for start, _ in spans]
            starts = [position for span in spans for position in range(*span)]
        return self._column(starts[index])

    def check_characters(self) -> None:
        """Refuse characters that are not symbols of digits or empty cells."""
        match = _UNKNOWN.search(self._line_text)
        if match:
            # A character of UTF-8 takes at most four bytes.
            symbol = self._line_text[match.start() :][:4].decode(errors="replace")[0]
            raise FormatError(
                f"unknown character {symbol!r}, expected digits, letters or one of . 0 * _ - ?",
                self.line,
                self._column(match.start()),
            )

    def _column(self, position: int) -> int:
        """Return the column, from 1, of a byte of the line: characters are counted."""
        return len(self._line_text[:position].decode(errors="replace")) + 1


def board_of(rows: Sequence[Row], width: int, geometry: Geometry) -> Board:
    """Make a board from the cells of the rows, ``width`` in each; refuse cells without a digit."""
    n = geometry.n
    cells = [cell for row in rows for cell in row.cells(width)]
    text = b"".join(cells)
    are_numbers = _has_numbers(rows, width, cells, n)
    if not are_numbers and n > len(DIGITS):
        raise FormatError(
            f"characters stand for at most {len(DIGITS)} digits, "
            f"expected numbers from 0 to {n}, separated by commas or blanks",
            rows[0].line,
        )
    _refuse_unclear_gaps(rows, width, cells)

    values = number_values(cells, n) if are_numbers else character_values(text, n)
    if are_numbers and values.max() > n and all(row.is_separated(width) for row in rows):
        masks = masks_of_groups(cells, n)
        # A single cell with several digits is an error: as candidates, they would exclude the
        # other digits.
        if masks is not None and (np.bitwise_count(masks) > 1).sum() > 1:
            return board_of_masks(masks, geometry)
    try:
        return Board(values, geometry)
    except InputError:
        raise _describe_bad_cell(rows, width, cells, values, geometry, are_numbers) from None


def _has_numbers(rows: Sequence[Row], width: int, cells: Sequence[bytes], n: int) -> bool:
    """Tell whether the cells of a board of n digits are numbers, and not single characters."""
    text = b"".join(cells)
    if len(text) > len(cells):
        return True
    # Separated cells may be numbers of one figure each, if no cell is a letter.
    is_separated = any(row.is_separated(width) for row in rows)
    has_letters = text.upper() != text.lower()
    if 1 < n <= 9 and not text.lower().strip(b"x123456789"):
        has_letters = False  # each x is an empty cell
    return is_separated and not has_letters


def _refuse_unclear_gaps(rows: Sequence[Row], width: int, cells: Sequence[bytes]) -> None:
    """Refuse missing cells together with signs for empty cells: cells may have been lost."""
    rows_with_gaps = [row for row in rows if row.filled]
    gap_count = 0
    for row in rows_with_gaps:
        is_without_last = row.ends_in_gap and len(row.tokens) != width
        gap_count += row.filled - is_without_last
    if gap_count and sum(map(is_blank, cells)) > gap_count:
        raise FormatError(
            "an empty cell without a sign, and other empty cells with one",
            rows_with_gaps[0].line,
        )


def _describe_bad_cell(
    rows: Sequence[Row],
    width: int,
    cells: Sequence[bytes],
    values: NDArray[np.uint8],
    geometry: Geometry,
    are_numbers: bool,
) -> FormatError:
    """Return the error of the first cell that is not a digit, a sign for empty or a group."""
    n = geometry.n
    # An unknown character explains more than the cell that contains it.
    for row in rows:
        row.check_characters()
    if 4 < n <= 9 and b"".join(cells).translate(None, BLANKS).isalpha():
        expected = f"{n} different ones, or some of {LETTERS[:n].decode()}"
        return FormatError(f"only letters, expected {expected}", rows[0].line)

    bad_cells = np.flatnonzero(values > n).tolist()
    # Cells that are not candidates either are described first.
    without_group = [cell for cell in bad_cells if mask_of_group(cells[cell], n) is None]
    cell = (without_group or bad_cells)[0]
    row = rows[cell // width]
    symbol = cells[cell]
    has_groups = len(without_group) < len(bad_cells)
    if not are_numbers:
        expected = f"which is digit {CHARACTERS[symbol[0]]}, expected 1 to {n}"
    elif not has_groups:
        expected = f"expected a number from 0 to {n}"
    elif without_group:
        expected = f"expected different digits from 1 to {n}"
    else:
        expected = f"expected a number from 0 to {n}, or candidates in all cells"
    return FormatError(
        f"{geometry.cell_name(cell)} holds {shown(symbol)}, {expected}",
        row.line,
        row.column_of_cell(cell % width, width),
    )
