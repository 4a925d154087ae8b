"""Blocks of lines: rows and rules without a blank line between them, and bands put together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.formats.rows import Row, is_rule
from gpusudoku.formats.source import LONGEST_ROW, NumberedLine, UnreadableError, content

SECTION = re.compile(rb"\s*\[([A-Za-z]\w*)\]\s*")
"""A line that names the following part of an .sdk file."""

MOST_TITLES = 3
"""Lines of text above a grid that are passed over."""

_DASHES = re.compile(rb"[-|\s]+")
_REMARK = re.compile(
    rb"\s*(?:author|clues|copyright|date|difficulty|level|notes?|rating|score|source|url):.*",
    re.IGNORECASE,
)
"""A line of text about the grid above it."""


@dataclass
class Block:
    """Rows and rules without a blank line between them."""

    line: int
    rows: list[Row] = field(default_factory=list)
    """The rows, at most one more than any board has."""
    rules: dict[int, int] = field(default_factory=dict)
    """The number of rows above every rule, and its line."""
    dashes: list[tuple[int, Row]] = field(default_factory=list)
    """Rules of nothing but dashes, which may be rows without a digit; the number of rows above."""
    size: int = 0
    """The bytes of all lines that were taken."""

    @property
    def bars(self) -> bool:
        """Whether any bar is drawn."""
        return any(b"|" in row.text for row in self.rows)

    @property
    def has_rules(self) -> bool:
        """Whether any rule or bar is drawn."""
        return bool(self.rules or self.dashes) or self.bars

    @property
    def rules_above(self) -> set[int]:
        """The number of rows above every rule, of dashes or of other signs."""
        return self.rules.keys() | {place for place, _ in self.dashes}

    @property
    def is_title(self) -> bool:
        """Whether it is nothing but text above a grid."""
        return len(self.rows) <= MOST_TITLES and all(row.is_text for row in self.rows)

    @property
    def is_remark(self) -> bool:
        """Whether it is nothing but text that tells about the grid above it."""
        return self.is_title and all(_REMARK.fullmatch(row.text) for row in self.rows)

    def add(self, number: int, text: bytes) -> None:
        """Take one more line, which is not blank.

        Raises
        ------
        UnreadableError
            If the lines are too long for any grid.
        """
        if len(self.rows) <= MAX_DIGITS:
            self.size += len(text)
        if self.size > LONGEST_ROW:
            raise UnreadableError(
                f"lines of {LONGEST_ROW} bytes or more, expected rows of a grid", number
            )
        if is_rule(text):
            if not _DASHES.fullmatch(text):
                self.rules[len(self.rows)] = number
            elif len(self.dashes) <= MAX_DIGITS:
                self.dashes.append((len(self.rows), Row(number, text)))
        elif len(self.rows) <= MAX_DIGITS:
            self.rows.append(Row(number, text))

    def ends_before(self, text: bytes) -> bool:
        """Whether the rows are a whole grid, and the next line is the title of another."""
        most = len(self.rows)
        return any(
            most - MOST_TITLES <= n <= most and Row(0, text).is_title(n)
            for row in self.rows[-1:]
            for n in row.counts
        ) and not is_rule(text)

    def is_parted_from(self, text: bytes) -> bool:
        """Whether the last row, without a cell, parts a whole grid from the next line, a row, too.

        If the grid and what follows both begin with such a row, it may be another that parts them.
        """
        n = self.rows[-1].gaps if self.rows else 0
        grid = self.rows[-1 - n : -1]
        if not 1 < n == len(grid) >= len(self.rows) - 1 - MOST_TITLES:
            return False
        below = Row(0, text)
        return (
            not grid[0].is_title(n)
            and not (grid[0].gaps and below.gaps)
            and all(n in row.counts or row.text.count(b"\t") + 1 == n for row in [*grid, below])
        )

    def is_blank_row(self, text: bytes) -> bool:
        """Whether a line of blanks and tabs is a row like the last one, without a digit."""
        if len(text) < 3 or not self.rows:
            return False
        last = self.rows[-1]
        if b"\t" in text:
            return text.count(b"\t") == last.text.count(b"\t")
        return len(text) == len(last.text) and last.with_blanks() is not None

    def with_dashes_as_rows(self) -> Block | None:
        """The block with every line of dashes as a row, if dashes are empty cells in others."""
        if not self.dashes or not any(b"-" in row.text for row in self.rows):
            return None
        dashes = [row for _, row in self.dashes]
        rows = sorted([*self.rows, *dashes], key=lambda row: row.line)
        rules = {
            place + sum(row.line < line for row in dashes): line
            for place, line in self.rules.items()
        }
        return Block(self.line, rows[: MAX_DIGITS + 1], rules)

    def below(self, titles: int, rows: list[Row]) -> Block:
        """The block without its first rows, with the others split in another way."""
        rules = {place - titles: line for place, line in self.rules.items() if place >= titles}
        dashes = [(place - titles, row) for place, row in self.dashes if place >= titles]
        return Block(rows[0].line if titles else self.line, rows, rules, dashes)

    def with_band(self, band: Block) -> Block:
        """The block and another below it, with a rule between them."""
        above = len(self.rows)
        rules = {**self.rules, above: band.line}
        rules |= {above + place: line for place, line in band.rules.items()}
        dashes = [*self.dashes, *((above + place, row) for place, row in band.dashes)]
        return Block(self.line, self.rows + band.rows, rules, dashes)


def blocks(lines: Iterable[NumberedLine]) -> Iterator[Block]:
    """Every block that has a row. In an .sdk file only the section [Puzzle] counts.

    A blank line below a title ends no block, and a title ends the grid above it. Remarks at the end
    count for nothing where the first grid has no title, which they might be of a grid that is lost.
    """
    first: Block | None = None
    block: Block | None = None
    skipping = False
    for number, line in lines:
        text = content(line)
        section = SECTION.fullmatch(text)
        blank = not line.strip()
        if blank and block and block.is_blank_row(text):
            block.add(number, text)
        elif section or (blank and not (block and block.is_title)):
            if block and block.rows:
                first = first or block
                yield block
            block = None
            if section:
                skipping = section[1].lower() != b"puzzle"
        elif text.strip() and not skipping:
            is_parted = block is not None and block.is_parted_from(text)
            if block and (is_parted or block.ends_before(text)):
                if is_parted:
                    block.rows.pop()
                first = first or block
                yield block
                block = None
            block = block or Block(number)
            block.add(number, text)
    is_last_remark = block and first and block.is_remark and not first.rows[0].is_text
    if block and block.rows and not is_last_remark:
        yield block


def bands_of(found: Iterable[Block], geometry: Geometry | None) -> Iterator[Block]:
    """Put blocks together that are bands of one board: equally many rows, fewer than cells."""
    pending: Block | None = None
    height = width = 0
    for block in found:
        n = _width_of_band(block, geometry)
        if pending and n == width and len(block.rows) == height:
            pending = pending.with_band(block)
        else:
            if pending:
                yield pending
            pending, height, width = block, len(block.rows), n
        if len(pending.rows) >= width:
            yield pending
            pending = None
    if pending:
        yield pending


def _width_of_band(block: Block, geometry: Geometry | None) -> int:
    """The number of cells on each row of a band, 0 if it is none: they differ, or are too few."""
    height = len(block.rows)
    counts = [geometry.n] if geometry else block.rows[0].counts
    fitting = (
        n
        for n in counts
        if 1 < height < n and n % height == 0 and all(n in row.counts for row in block.rows)
    )
    return next(fitting, 0)
