"""Tell the form of an input from its first lines."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import NamedTuple

from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.formats.grids import SECTION, blocks, common_width
from gpusudoku.formats.lines import GUESSED
from gpusudoku.formats.rows import Row
from gpusudoku.formats.source import NumberedLine, UnreadableError, check_text, content
from gpusudoku.formats.symbols import digit_of

_LONGEST_HEAD = 2 * MAX_DIGITS + 2
"""Lines of the longest grid, with a rule above every row and below the last, and one row more."""


class Head(NamedTuple):
    """The first lines that are not comments, and the last comment before them."""

    comment: NumberedLine
    lines: list[NumberedLine]


def take_head(lines: Iterator[NumberedLine]) -> Head:
    """Take the first block off the lines, or enough of it to recognise the form.

    Raises
    ------
    UnreadableError
        If there is nothing, or if it is not text.
    """
    comment = (0, b"")
    head: list[NumberedLine] = []
    for number, line in lines:
        if content(line).strip():
            head.append((number, line))
        elif line.strip():
            comment = comment if head else (number, line)
        elif head:
            head.append((number, line))
            break
        if len(head) == _LONGEST_HEAD:
            break
    if not head:
        raise UnreadableError("no board found")
    check_text(head)
    return Head(comment, head)


def is_one_per_line(head: Head, geometry: Geometry | None) -> bool:
    """Whether every line is a whole board, and not one row of a board.

    A line of 16 cells may be a 4x4 board or a row of a 16x16 board; the same holds for lines of 36
    or 64 numbers. If the number of lines equals the number of cells on each, any digit too large
    for the small board decides. Otherwise they are small boards, unless most lines have such a
    digit. What follows a colon does not count.

    Raises
    ------
    UnreadableError
        If no digit decides.
    """
    block = next(blocks(head.lines), None)
    if block is None or block.has_rules or SECTION.fullmatch(content(head.lines[0][1])):
        return False
    rows = [Row(row.line, row.text.partition(b":")[0]) for row in block.rows]
    if len(rows) == 1:
        return True
    if geometry is not None:
        width = common_width(rows, [geometry.cells, geometry.n])
        return abs(width - geometry.cells) <= abs(width - geometry.n)
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
        small, whole = GUESSED[n], GUESSED[width]
        raise UnreadableError(
            f"{width} lines of {width} cells read two ways: give --box {small} for {width} boards "
            f"of {n}x{n} or --box {whole} for one of {width}x{width}",
            rows[0].line,
        )
    return 2 * large <= len(rows) and len(rows) != width


def _has_digit_above(limit: int, row: Row, width: int) -> bool:
    return width in row.counts and any(digit_of(cell) > limit for cell in row.cells(width))
