"""Tell the form of an input from its first lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import NamedTuple

from gpusudoku.board.geometry import MAX_DIGITS
from gpusudoku.board.text import DIGITS
from gpusudoku.formats.blocks import SECTION, Block, blocks
from gpusudoku.formats.grids import common_width, ways_to_read
from gpusudoku.formats.lines import GUESSED
from gpusudoku.formats.rows import Row
from gpusudoku.formats.source import (
    LONGEST_ROW,
    NumberedLine,
    UnreadableError,
    Way,
    binary_error,
    content,
)
from gpusudoku.formats.symbols import digit_of

_LONGEST_HEAD = 2 * MAX_DIGITS + 2
"""Lines of the longest grid, with a rule above every row and below the last, and one row more."""

_MOST_TAKEN = 1 << 10
"""Lines taken to recognise the form, with comments."""


class Head(NamedTuple):
    """The first lines that are not comments, and the last comment before them."""

    comment: NumberedLine
    lines: list[NumberedLine]
    taken: Sequence[NumberedLine] = ()
    """The same lines with the comments between them, to be put back."""
    binary: UnreadableError | None = None
    """The error to raise if no board is found: they have a control character."""

    @property
    def first(self) -> bytes:
        """The first line without its comment."""
        return content(self.lines[0][1])


def take_head(lines: Iterator[NumberedLine]) -> Head:
    """Take the first block off the lines, or enough of it to recognise the form.

    Raises
    ------
    UnreadableError
        If there is nothing.
    """
    comment = (0, b"")
    head: list[NumberedLine] = []
    taken: list[NumberedLine] = []
    block, in_bands = Block(0), False
    size = 0
    for number, line in lines:
        text = content(line)
        if head or text.strip():
            taken.append((number, line))
        size += len(text)
        if size > LONGEST_ROW:  # no grid, and enough to tell what else it is
            head += [(number, line)] if text.strip() else []
            break
        if text.strip():
            head.append((number, line))
            block.add(number, text)
        elif line.strip():
            comment = comment if head else (number, line)
        elif head:
            head.append((number, line))
            if block.is_blank_row(text):
                block.add(number, text)
            elif not (block.is_title or in_bands or _may_be_band(block)):
                break
            else:
                in_bands = not block.is_title
        if len(head) == _LONGEST_HEAD or len(taken) == _MOST_TAKEN:
            break
    if not head:
        raise UnreadableError("no board found")
    return Head(comment, head, taken, binary_error(head))


def is_one_per_line(head: Head, way: Way) -> bool:
    """Whether every line is a whole board, and not one row of a board.

    A line of 16 cells may be a 4x4 board or a row of a 16x16 board; the same holds for lines of 36
    or 64 numbers. If the number of lines equals the number of cells on each, any digit too large
    for the small board decides. Otherwise they are small boards, unless most lines have such a
    digit. What follows a colon does not count. Where one board is read it is the large one.

    Raises
    ------
    UnreadableError
        If no digit decides.
    """
    if sum(len(content(line)) for _, line in head.lines) > LONGEST_ROW:
        return True  # no grid has so many bytes
    found = list(blocks(head.lines))
    if not found or found[0].has_rules or SECTION.fullmatch(head.first):
        return False
    block = _bands_together(found)
    rows = [Row(row.line, row.text.partition(b":")[0]) for row in block.rows]
    if len(rows) == 1:
        return True
    geometry = way.geometry
    if geometry is not None:
        width = common_width(rows, [geometry.cells, geometry.n])
        return abs(width - geometry.cells) <= abs(width - geometry.n)
    if _has_blanks(block.rows) or any(way.rows != block.rows for way in ways_to_read(block, None)):
        return False  # a grid, below a title or with nothing in empty cells
    width = common_width(rows, [len(rows)])
    if width > MAX_DIGITS:
        return True
    n = isqrt(width)
    if n * n != width or n not in GUESSED:
        return False
    if width > len(DIGITS) and not any(len(row.tokens) == width for row in rows):
        return True  # A larger board is written in numbers.
    large = sum(_has_digit_above(n, row, width) for row in rows)
    if len(rows) == width and not large:
        if way.near is not None:
            return False
        small, whole = GUESSED[n], GUESSED[width]
        raise UnreadableError(
            f"{width} lines of {width} cells read two ways: give --box {small} for {width} boards "
            f"of {n}x{n} or --box {whole} for one of {width}x{width}",
            rows[0].line,
        )
    return 2 * large <= len(rows) and len(rows) != width


def _may_be_band(block: Block) -> bool:
    """Whether the rows may be small boards or a band of a board that goes on below."""
    rows = block.rows
    return not block.has_rules and any(
        height == len(rows) and all(height**2 in row.counts for row in rows) for height in (4, 6, 8)
    )


def _bands_together(found: list[Block]) -> Block:
    """The first block, with the ones below it if they are as many equal bands as it has rows."""
    height = len(found[0].rows)
    bands = found[:height]
    if _may_be_band(found[0]) and [len(band.rows) for band in bands] == [height] * height:
        return Block(found[0].line, [row for band in bands for row in band.rows])
    return found[0]


def _has_blanks(rows: list[Row]) -> bool:
    """Whether the rows are those of one board whose empty cells are blanks."""
    filled = [row.with_blanks() for row in rows]
    return (
        len(rows) >= 4
        and None not in filled
        and any(b" " in row.text.strip() or row.text != row.text.strip() for row in rows)
        and max(len(row.text) for row in rows) <= len(rows)
    )


def _has_digit_above(limit: int, row: Row, width: int) -> bool:
    return width in row.counts and any(digit_of(cell) > limit for cell in row.cells(width))
