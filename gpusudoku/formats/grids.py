"""Boards on several lines, one row on each, with or without rules around the boxes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.board.places import Origin
from gpusudoku.errors import InputError
from gpusudoku.formats.rows import RULE, Row, board_of
from gpusudoku.formats.source import FormatError, NumberedLine, UnreadableError, content, single

SECTION = re.compile(rb"\s*\[(\w+)\]\s*")
"""A line that names the following part of an .sdk file."""


@dataclass
class Block:
    """Rows and rules without a blank line between them."""

    line: int
    rows: list[Row] = field(default_factory=list)
    """The rows, at most one more than any board has."""
    rules: set[int] = field(default_factory=set)
    """The number of rows above every rule."""

    @property
    def has_rules(self) -> bool:
        """Whether any rule or bar is drawn."""
        return bool(self.rules) or any(b"|" in row.text for row in self.rows)

    def add(self, number: int, text: bytes) -> None:
        """Take one more line, which is not blank."""
        if RULE.fullmatch(text):
            self.rules.add(len(self.rows))
        elif len(self.rows) <= MAX_DIGITS:
            self.rows.append(Row(number, text))


def blocks(lines: Iterable[NumberedLine]) -> Iterator[Block]:
    """Every block that has a row. In an .sdk file only the section [Puzzle] counts."""
    block: Block | None = None
    skipping = False
    for number, line in lines:
        text = content(line)
        section = SECTION.fullmatch(text)
        if section or not line.strip():
            if block and block.rows:
                yield block
            block = None
            if section:
                skipping = section[1].lower() != b"puzzle"
        elif text.strip() and not skipping:
            block = block or Block(number)
            block.add(number, text)
    if block and block.rows:
        yield block


def read_grids(
    lines: Iterable[NumberedLine], source: str, geometry: Geometry | None
) -> Iterator[Batch | InputError]:
    """Read every board of a batch; a block that is no board gives an error in its place.

    Raises
    ------
    UnreadableError
        If the input goes on in another form.
    """
    last, origin = geometry, Origin(source)
    for block in blocks(lines):
        try:
            board = _board(block, geometry, last)
        except UnreadableError:
            raise
        except FormatError as error:
            yield error.at(source)
        else:
            last = board.geometry
            yield single(board, origin, block.line)


def common_width(rows: Sequence[Row], preferred: Iterable[int]) -> int:
    """The number of cells in most rows.

    The first of the ``preferred`` widths that more than half of the rows have is taken, else the
    most common width, and the greater of two that are equally common.
    """
    widths = Counter(count for row in rows for count in set(row.counts))
    for width in preferred:
        if 2 * widths[width] > len(rows):
            return width
    return max(widths, key=lambda width: (widths[width], width))


def _board(block: Block, geometry: Geometry | None, last: Geometry | None) -> Board:
    """Make the board of a block; ``last`` is the geometry of the previous board."""
    rows = block.rows
    n = geometry.n if geometry else common_width(rows, [len(rows)])
    _check_mixture(rows, n, last)
    wrong = [place for place, row in enumerate(rows) if n not in row.counts]
    if wrong or len(rows) != n:
        for row in rows:
            row.check_characters()
    if wrong:
        place, row = wrong[0], rows[wrong[0]]
        found = row.count_near(n)
        raise FormatError(f"row {place + 1} of a grid has {found} cells, expected {n}", row.line)
    if len(rows) != n:
        number = len(rows) if len(rows) <= MAX_DIGITS else f"more than {MAX_DIGITS}"
        raise FormatError(
            f"{number} rows of {n} cells, expected {n} (a blank line ends a grid)", block.line
        )
    try:
        geometry = geometry or _shown_geometry(block) or Geometry.of_size(n)
    except InputError as error:
        raise FormatError(str(error), block.line) from None
    return board_of(rows, n, geometry)


def _check_mixture(rows: Sequence[Row], n: int, last: Geometry | None) -> None:
    """Refuse boards on one line each among the rows, which have n cells."""
    if last and last.cells == n != len(rows):
        n = last.n
    whole = [n > 1 and n not in row.counts and n * n in row.counts for row in rows]
    if any(whole):
        # If the block begins with such boards, the row after them is out of place.
        place = 0 if all(whole) else whole.index(not whole[0])
        row, expected = rows[place], "a row of a grid" if whole[place] else "a board on every line"
        found = n * n if whole[place] else row.count_near(n)
        raise UnreadableError(f"mixed formats: {found} cells, expected {expected}", row.line)


def _shown_geometry(block: Block) -> Geometry | None:
    """The geometry that rules and bars show, None if they show no boxes.

    Raises
    ------
    FormatError
        If they show boxes that do not make a board, or boxes of a single row or column: such lines
        may just as well separate all rows or all columns of a table.
    """
    n = len(block.rows)
    places = sorted(block.rules | {0, n})
    heights = {below - above for above, below in pairwise(places)}
    widths = {
        len(group) if len(row.tokens) == n else sum(map(len, group))
        for row in block.rows
        for group in row.groups
    }
    if len(heights) > 1 or len(widths) > 1:
        raise FormatError("the rules show boxes of unequal sizes", block.line)
    (height,), (width,) = heights, widths
    if height == width and width in (1, n):
        return None  # There is no rule inside, or there are rules around every cell.
    # If there are rules in one direction only, the number of digits gives the other side.
    if width == n and height > 1:
        width = n // height
    elif height == n and width > 1:
        height = n // width
    if height * width != n or 1 in (height, width):
        raise FormatError(
            f"the rules show boxes of {height}x{width} on a board of {n} rows: "
            "give the box (--box ROWSxCOLUMNS)",
            block.line,
        )
    return Geometry(height, width)
