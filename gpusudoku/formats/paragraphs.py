"""Paragraphs of text with grids, and all the ways to read them.

A *paragraph* is a sequence of rows and rules without a blank line between them. It can be read in
several ways: cells may be separated or not, and an empty cell may be missing between two tabs or
bars, or be a blank. Only a reading with as many rows as cells in each row counts. A paragraph may
also hold several boards, one below the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter

from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.formats.lines import GUESSED_GEOMETRIES
from gpusudoku.formats.rows import LAYOUTS, Row, is_rule
from gpusudoku.formats.source import MAX_ROW_BYTES, NumberedLine, UnreadableError, clean_line
from gpusudoku.formats.symbols import letters_of

SECTION = re.compile(rb"\s*\[([A-Za-z]\w*)\]\s*")
"""A line that names the following section of an .sdk file."""
MAX_TITLE_LINES = 10
"""The maximum number of lines of text above a grid."""

MAX_ROWS = 1 << 14
"""The maximum number of rows, or rules, of a paragraph: those of several boards."""
_MIN_STACKED_ROWS = 4
"""Boards directly below each other have at least as many rows, unless the box shape is given."""
_DASHES = re.compile(rb"[-|\s]+")


@dataclass
class Paragraph:
    """Rows and rules without a blank line between them."""

    line: int
    """The number of the first line."""
    rows: list[Row] = field(default_factory=list)
    """The rows, at most ``MAX_ROWS`` and one more, which shows that there are too many."""
    rules: list[tuple[int, Row]] = field(default_factory=list)
    """Every rule, and the number of rows above it."""
    _size: int = 0
    """The bytes of all rows."""

    @property
    def has_rules(self) -> bool:
        """True if any rule or bar is drawn."""
        return bool(self.rules) or any(b"|" in row.text for row in self.rows)

    @property
    def rules_above(self) -> set[int]:
        """The number of rows above each rule."""
        return {row_count for row_count, _ in self.rules}

    @property
    def dashes(self) -> list[Row]:
        """The rules of nothing but dashes, which may be rows without a digit."""
        return [rule for _, rule in self.rules if _DASHES.fullmatch(rule.text)]

    @property
    def is_title(self) -> bool:
        """True if the paragraph is just text above a grid."""
        return len(self.rows) <= MAX_TITLE_LINES and all(row.is_text for row in self.rows)

    def add(self, number: int, text: bytes) -> None:
        """Add a line that is not blank; refuse lines that are too long for any grid."""
        has_room = len(self.rows) <= MAX_ROWS
        if has_room:
            self._size += len(text)
        if self._size > MAX_ROW_BYTES:
            raise UnreadableError(
                f"lines of {MAX_ROW_BYTES} bytes or more, expected rows of a grid", number
            )
        if is_rule(text):
            if len(self.rules) < MAX_ROWS:
                self.rules.append((len(self.rows), Row(number, text)))
        elif has_room:
            self.rows.append(Row(number, text))

    def ends_before(self, text: bytes) -> bool:
        """Tell whether the rows are a whole grid, and the next line begins another paragraph.

        A last row without cells that separates the two grids is removed.
        """
        if self._ends_in_separator(text):
            self.rows.pop()
            return True
        max_size = min(len(self.rows), MAX_DIGITS)
        sizes = [n for row in self.rows[-1:] for n in row.counts if n <= max_size]
        is_title = any(_is_title(Row(0, text), n, self.rows[-n:]) for n in sizes)
        return is_title and not is_rule(text) and not self.is_title

    def _ends_in_separator(self, text: bytes) -> bool:
        """Tell whether the last row has no cells, and separates a grid from the next line."""
        n = self.rows[-1].gaps if self.rows else 0
        grid = self.rows[-1 - n : -1]
        title_lines = len(self.rows) - 1 - n
        if n < 2 or len(grid) != n or title_lines > MAX_TITLE_LINES or grid[0].is_title(n):
            return False
        next_row = Row(0, text)
        if grid[0].gaps and next_row.gaps:
            return False  # Another row without cells may separate the grids.
        return all(n in row.counts or row.text.count(b"\t") + 1 == n for row in [*grid, next_row])

    def is_blank_row(self, text: bytes) -> bool:
        """Tell whether a line of blanks and tabs is a row like the last one, without a digit."""
        if len(text) < 3 or not self.rows:
            return False
        last_row = self.rows[-1]
        if b"\t" in text:
            return text.count(b"\t") == last_row.text.count(b"\t")
        return len(text) == len(last_row.text) and last_row.with_blanks() is not None

    def with_dashes_as_rows(self) -> Paragraph | None:
        """Return the paragraph with lines of dashes as rows of empty cells.

        Return None if there is no such line, or dashes are not empty cells in other rows.
        """
        if not self.dashes or not any(b"-" in row.text for row in self.rows):
            return None
        paragraph = Paragraph(self.line)
        rules = [rule for _, rule in self.rules]
        for row in sorted([*self.rows, *rules], key=lambda row: row.line):
            if is_rule(row.text) and not _DASHES.fullmatch(row.text):
                paragraph.rules.append((len(paragraph.rows), row))
            elif len(paragraph.rows) <= MAX_ROWS:
                paragraph.rows.append(row)
        return paragraph


def split_paragraphs(lines: Iterable[NumberedLine]) -> Iterator[Paragraph]:
    """Yield every paragraph that has a row. In an .sdk file only the section [Puzzle] counts.

    A blank line ends a paragraph, unless it is below a title or is a row without a digit. A title
    ends the grid above it. Text
    below the last grid is omitted.
    """
    is_first = True
    is_skipping = False
    paragraph: Paragraph | None = None
    for number, line in lines:
        finished: Paragraph | None = None
        text = clean_line(line)
        section = SECTION.fullmatch(text)
        is_blank = not line.strip()
        if is_blank and paragraph and paragraph.is_blank_row(text):
            paragraph.add(number, text)
        elif section or (is_blank and not (paragraph and paragraph.is_title)):
            finished = paragraph
            paragraph = None
            if section:
                is_skipping = section[1].lower() != b"puzzle"
        elif text.strip() and not is_skipping:
            if paragraph and paragraph.ends_before(text):
                finished = paragraph
                paragraph = None
            paragraph = paragraph or Paragraph(number)
            paragraph.add(number, text)
        if finished and finished.rows:
            is_first = False
            yield finished
    if paragraph and paragraph.rows and (is_first or not _is_footer(paragraph)):
        yield paragraph


def _is_footer(paragraph: Paragraph) -> bool:
    """Tell whether a paragraph is text, and not a grid of letters, even one that lacks a row."""
    rows = paragraph.rows
    lengths = {len(row.text.strip()) for row in rows}
    are_cells = all(len(row.tokens) in (1, max(row.counts)) for row in rows)
    is_damaged_grid = are_cells and len(rows) >= _MIN_STACKED_ROWS and len(lengths) == 1
    if is_damaged_grid or not paragraph.is_title or b"|" in rows[0].text:
        return False
    return next(list_readings(paragraph, None), None) is None


def join_bands(paragraphs: Iterable[Paragraph], geometry: Geometry | None) -> Iterator[Paragraph]:
    """Join paragraphs that are the bands of one board: equally many rows, fewer than cells."""
    pending: Paragraph | None = None
    height = 0
    width = 0
    for paragraph in paragraphs:
        rows = paragraph.rows
        possible_widths = [geometry.n] if geometry else rows[0].counts
        widths_of_bands = (
            n
            for n in possible_widths
            if 1 < len(rows) < n and n % len(rows) == 0 and all(n in row.counts for row in rows)
        )
        n = next(widths_of_bands, 0)  # 0: the paragraph is not a band
        if pending and n == width and len(rows) == height:
            rows_above = len(pending.rows)
            # The blank line between two bands counts as a rule.
            pending.rules.append((rows_above, Row(paragraph.line, b"=")))
            pending.rules += [(rows_above + count, rule) for count, rule in paragraph.rules]
            pending.rows += rows
        else:
            if pending:
                yield pending
            pending = paragraph
            height = len(rows)
            width = n
        if len(pending.rows) >= width:
            yield pending
            pending = None
    if pending:
        yield pending


def list_readings(paragraph: Paragraph, n: int | None) -> Iterator[list[Paragraph]]:
    """Yield every reading of a paragraph: the grids of one or several boards.

    A grid has n rows with n cells each; any n if None. Rows above the grids are titles.
    """
    for variant in filter(None, (paragraph, paragraph.with_dashes_as_rows())):
        for title_count in range(min(MAX_TITLE_LINES + 1, len(variant.rows))):
            titles = variant.rows[:title_count]
            rows = variant.rows[title_count:]
            if titles and not (titles[-1].has_letters or _is_markdown_head(variant, titles[-1])):
                break
            sizes = [
                size
                for size in _possible_sizes(len(rows), n)
                if all(
                    _is_title(row, size, rows[:size]) or _is_markdown_head(variant, row)
                    for row in titles
                )
            ]
            if not sizes:
                continue
            for split_rows in list_splits(rows):
                for size in sizes:
                    # A line without any cell is not a board of one cell.
                    if all(
                        size in row.counts and not row.filled == size == 1 for row in split_rows
                    ):
                        yield _split_boards(split_rows, size, variant, title_count)


@cache
def _possible_sizes(row_count: int, n: int | None) -> list[int]:
    """Return the numbers of rows that a board may have if there are ``row_count`` rows in all."""
    if n is not None:
        return [n] if row_count % n == 0 else []
    smaller = [
        size
        for size in GUESSED_GEOMETRIES
        if _MIN_STACKED_ROWS <= size < row_count and row_count % size == 0
    ]
    return [row_count, *smaller] if row_count <= MAX_DIGITS else smaller


def _split_boards(
    rows: list[Row], size: int, paragraph: Paragraph, title_count: int
) -> list[Paragraph]:
    """Split rows below titles into boards; a rule between two boards belongs to both."""
    boards = []
    for start in range(title_count, title_count + len(rows), size):
        board_rows = rows[start - title_count : start - title_count + size]
        first_rule = bisect_left(paragraph.rules, start, key=itemgetter(0))
        end_rule = bisect_right(paragraph.rules, start + size, key=itemgetter(0))
        rules = [(above - start, rule) for above, rule in paragraph.rules[first_rule:end_rule]]
        line = board_rows[0].line if start else paragraph.line
        boards.append(Paragraph(line, board_rows, rules))
    return boards


def _is_title(row: Row, n: int, grid: Iterable[Row]) -> bool:
    """Tell whether a row is text next to a grid, and not a row of the same letters as the grid."""
    if not row.is_title(n) or n not in row.counts:
        return row.is_title(n)
    cells = b"".join(cell for grid_row in (*grid, row) for cell in grid_row.tokens)
    return not letters_of(cells, n)


def _is_markdown_head(paragraph: Paragraph, row: Row) -> bool:
    """Tell whether a row is the head of a Markdown table, with empty fields or with names."""
    is_first = row is paragraph.rows[0] and 1 in paragraph.rules_above
    return is_first and b"|" in row.text and (row.has_letters or not row.text.strip(b"| \t"))


def list_splits(rows: list[Row]) -> Iterator[list[Row]]:
    """Yield the rows split into cells by signs, by tabs or bars alone, or by position."""
    yield rows
    delimiters = [sign for sign in (b"\t", b"|") if any(sign in row.text for row in rows)]
    layouts = LAYOUTS if any(b" " in row.text for row in rows) else ()
    for rows_with_gaps in (
        *([row.with_fields(delimiter) for row in rows] for delimiter in delimiters),
        *([row.with_blanks(layout) for row in rows] for layout in layouts),
    ):
        split_rows = [row for row in rows_with_gaps if row is not None and row.tokens]
        if len(split_rows) == len(rows) and any(row.filled for row in split_rows):
            yield split_rows
