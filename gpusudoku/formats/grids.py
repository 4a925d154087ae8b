"""Boards on several lines, one row on each, with or without rules around the boxes.

The lines of a block can be read in several ways: signs may be separated or not, and a cell may be
empty because nothing stands between two tabs or bars, or because there is a blank. Only a way that
gives as many rows as there are cells on each counts. Where two ways give different boards, the
block is refused. A block may also be several boards, one below the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import isqrt
from operator import itemgetter
from typing import NamedTuple, NoReturn

import numpy as np

from gpusudoku.board.batch import Batch, Origin
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.lines import GUESSED, LONGEST_HEAD, check_size
from gpusudoku.formats.rows import LAYOUTS, Row, board_of, is_rule
from gpusudoku.formats.source import (
    LONGEST_ROW,
    FormatError,
    Lines,
    NumberedLine,
    UnreadableError,
    Way,
    content,
    quoted,
    single,
)
from gpusudoku.formats.symbols import digit_of, letters_of

SECTION = re.compile(rb"\s*\[([A-Za-z]\w*)\]\s*")
"""A line that names the following part of an .sdk file."""
MAX_TITLES = 10
"""Lines of text above a grid that are passed over."""

_MAX_ROWS = 1 << 14
"""Rows, or rules, of a block: of several boards if there are more than a board has."""
_MIN_STACKED = 4
"""Rows of a board that has others directly below it, unless the shape of its boxes is given."""
_MAX_TAKEN = 1 << 10
"""Lines taken to recognise the form, with comments."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_DASHES = re.compile(rb"[-|\s]+")


@dataclass
class Block:
    """Rows and rules without a blank line between them."""

    line: int
    rows: list[Row] = field(default_factory=list)
    """The rows, at most ``_MAX_ROWS`` and one more."""
    rules: list[tuple[int, Row]] = field(default_factory=list)
    """Every rule, and the number of rows above it."""
    _size: int = 0
    """The bytes of all lines that were taken."""

    @property
    def has_rules(self) -> bool:
        """True if any rule or bar is drawn."""
        return bool(self.rules) or any(b"|" in row.text for row in self.rows)

    @property
    def rules_above(self) -> set[int]:
        """The number of rows above every rule."""
        return {place for place, _ in self.rules}

    @property
    def dashes(self) -> list[Row]:
        """Rules of nothing but dashes, which may be rows without a digit."""
        return [rule for _, rule in self.rules if _DASHES.fullmatch(rule.text)]

    @property
    def is_title(self) -> bool:
        """True if it is nothing but text above a grid."""
        return len(self.rows) <= MAX_TITLES and all(row.is_text for row in self.rows)

    def add(self, number: int, text: bytes) -> None:
        """Take one more line, which is not blank; refuse lines too long for any grid."""
        has_room = len(self.rows) <= _MAX_ROWS
        if has_room:
            self._size += len(text)
        if self._size > LONGEST_ROW:
            raise UnreadableError(
                f"lines of {LONGEST_ROW} bytes or more, expected rows of a grid", number
            )
        if is_rule(text):
            if len(self.rules) < _MAX_ROWS:
                self.rules.append((len(self.rows), Row(number, text)))
        elif has_room:
            self.rows.append(Row(number, text))

    def ends_before(self, text: bytes) -> bool:
        """Tell whether the rows are a whole grid, and the next line begins another."""
        n = self.rows[-1].gaps if self.rows else 0
        grid = self.rows[-1 - n : -1]
        most = len(self.rows)
        # A last row without a cell parts the grid from the row below. If both begin with such a
        # row, it may be another that parts them.
        if 1 < n == len(grid) >= most - 1 - MAX_TITLES and not grid[0].is_title(n):
            all_rows = [*grid, Row(0, text)]
            if not (all_rows[0].gaps and all_rows[-1].gaps) and all(
                n in row.counts or row.text.count(b"\t") + 1 == n for row in all_rows
            ):
                self.rows.pop()
                return True
        sizes = [n for row in self.rows[-1:] for n in row.counts if n <= min(most, MAX_DIGITS)]
        is_title = any(_is_title(Row(0, text), n, self.rows[-n:]) for n in sizes)
        return is_title and not is_rule(text) and not self.is_title

    def is_blank_row(self, text: bytes) -> bool:
        """Tell whether a line of blanks and tabs is a row like the last one, without a digit."""
        if len(text) < 3 or not self.rows:
            return False
        last = self.rows[-1]
        if b"\t" in text:
            return text.count(b"\t") == last.text.count(b"\t")
        return len(text) == len(last.text) and last.with_blanks() is not None

    def with_dashes_as_rows(self) -> Block | None:
        """Return the block with lines of dashes as rows, if dashes are empty cells in others."""
        if not self.dashes or not any(b"-" in row.text for row in self.rows):
            return None
        block = Block(self.line)
        rules = [rule for _, rule in self.rules]
        for row in sorted([*self.rows, *rules], key=lambda row: row.line):
            if is_rule(row.text) and not _DASHES.fullmatch(row.text):
                block.rules.append((len(block.rows), row))
            elif len(block.rows) <= _MAX_ROWS:
                block.rows.append(row)
        return block


def blocks(lines: Iterable[NumberedLine]) -> Iterator[Block]:
    """Yield every block that has a row. In an .sdk file only the section [Puzzle] counts.

    A blank line below a title ends no block, and a title ends the grid above it. Text below the
    last grid is left out.
    """
    first: Block | None = None
    block: Block | None = None
    skipping = False
    for number, line in lines:
        ended: Block | None = None
        text = content(line)
        section = SECTION.fullmatch(text)
        is_blank = not line.strip()
        if is_blank and block and block.is_blank_row(text):
            block.add(number, text)
        elif section or (is_blank and not (block and block.is_title)):
            ended = block
            block = None
            if section:
                skipping = section[1].lower() != b"puzzle"
        elif text.strip() and not skipping:
            if block and block.ends_before(text):
                ended = block
                block = None
            block = block or Block(number)
            block.add(number, text)
        if ended and ended.rows:
            first = first or ended
            yield ended
    if block and block.rows and (first is None or not _is_footer(block)):
        yield block


def _is_footer(block: Block) -> bool:
    """Tell whether a block is text, and no grid of letters, not even one that lacks a row."""
    lengths = {len(row.text.strip()) for row in block.rows}
    are_cells = all(len(row.tokens) in (1, max(row.counts)) for row in block.rows)
    is_damaged = are_cells and len(block.rows) >= _MIN_STACKED and len(lengths) == 1
    if is_damaged or not block.is_title or b"|" in block.rows[0].text:
        return False
    return next(ways_to_read(block, None), None) is None


def bands_of(found: Iterable[Block], geometry: Geometry | None) -> Iterator[Block]:
    """Put blocks together that are bands of one board: equally many rows, fewer than cells."""
    pending: Block | None = None
    height = width = 0
    for block in found:
        rows = block.rows
        counts = [geometry.n] if geometry else rows[0].counts
        wider = [n for n in counts if 1 < len(rows) < n and n % len(rows) == 0]
        n = next((n for n in wider if all(n in row.counts for row in rows)), 0)
        if pending and n == width and len(rows) == height:
            above = len(pending.rows)
            pending.rules.append((above, Row(block.line, b"=")))
            pending.rules += [(above + place, rule) for place, rule in block.rules]
            pending.rows += rows
        else:
            if pending:
                yield pending
            pending = block
            height = len(rows)
            width = n
        if len(pending.rows) >= width:
            yield pending
            pending = None
    if pending:
        yield pending


class Head(NamedTuple):
    """The first lines that are not comments."""

    lines: list[NumberedLine]
    comment: NumberedLine = (0, b"")
    """The last comment before them."""
    binary: UnreadableError | None = None
    """The error to raise if no board is found: they have a control character."""

    @property
    def first(self) -> bytes:
        """The first line without its comment."""
        return content(self.lines[0][1])


def head_of(lines: Lines) -> Head:
    """Return the first block, or enough of it to recognise the form, and leave it to be read."""
    comment = (0, b"")
    head: list[NumberedLine] = []
    taken: list[NumberedLine] = []
    block = Block(0)
    in_bands = False
    size = 0
    for number, line in lines:
        text = content(line)
        if head or text.strip():
            taken.append((number, line))
        size += len(text)
        if size > LONGEST_ROW:  # no grid, and enough to tell its form
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
        if len(head) == LONGEST_HEAD or len(taken) == _MAX_TAKEN:
            break
    if not head:
        raise UnreadableError("no board found")
    lines.put_back(taken)
    for number, line in head:
        if found := _CONTROL.search(line):
            what = f"binary data (byte {found[0][0]:#04x}), expected text"
            return Head(head, comment, UnreadableError(what, number))
    return Head(head, comment)


def is_one_per_line(head: Head, way: Way) -> bool:
    """Tell whether every line is a whole board, and not one row of a board.

    16 cells may be a 4x4 board or a row of a 16x16 board; so may 36 or 64 numbers. Where there are
    as many lines as cells on each, a digit too large for the small board decides; without one the
    input is refused, or it is the large board if one is read. Otherwise they are small boards,
    unless most lines have such a digit. What follows a colon does not count.
    """
    if sum(len(content(line)) for _, line in head.lines) > LONGEST_ROW:
        return True  # no grid has so many bytes
    if head.first.lstrip().startswith(b"{"):
        return True  # candidates in braces
    found = list(blocks(head.lines))
    if not found or found[0].has_rules or SECTION.fullmatch(head.first):
        return False
    block = Block(found[0].line, found[0].rows[: MAX_DIGITS + 1], found[0].rules)
    height = len(block.rows)
    if _may_be_band(block) and [len(band.rows) for band in found[:height]] == [height] * height:
        # As many equal bands as each has rows may be one board.
        block = Block(block.line, [row for band in found[:height] for row in band.rows])
    rows = [Row(row.line, row.text.partition(b":")[0]) for row in block.rows]
    if len(rows) == 1:
        return True
    geometry = way.geometry
    if geometry is not None:
        width = common_width(rows, [geometry.cells, geometry.n])
        return abs(width - geometry.cells) <= abs(width - geometry.n)
    ways = (grids[0] for grids in ways_to_read(block, None) if len(grids) == 1)
    if _blank_cells(block.rows) or any(reading.rows != block.rows for reading in ways):
        return False  # a grid, below a title or with nothing in empty cells
    width = common_width(rows, [len(rows)])
    if width > MAX_DIGITS:
        return True
    n = isqrt(width)
    if n * n != width or n not in GUESSED:
        return False
    if width > len(DIGITS) and not any(len(row.tokens) == width for row in rows):
        return True  # A larger board is written in numbers.
    large = sum(
        width in row.counts and any(digit_of(cell) > n for cell in row.cells(width)) for row in rows
    )
    if len(rows) == width and not large:
        if way.near is not None:
            return False
        small = GUESSED[n]
        whole = GUESSED[width]
        raise UnreadableError(
            (
                f"{width} lines of {width} cells read two ways: give ",
                Hint("box", f"{small}"),
                f" for {width} boards of {n}x{n} or ",
                Hint("box", f"{whole}"),
                f" for one of {width}x{width}",
            ),
            rows[0].line,
        )
    return 2 * large <= len(rows) and len(rows) != width


def _may_be_band(block: Block) -> bool:
    """Tell whether the rows may be small boards or a band of a board that goes on below."""
    rows = block.rows
    return not block.has_rules and any(
        height == len(rows) and all(height**2 in row.counts for row in rows) for height in (4, 6, 8)
    )


def common_width(rows: Sequence[Row], preferred: Iterable[int]) -> int:
    """Return the first ``preferred`` number of cells of most rows, else the most common one."""
    widths = Counter(count for row in rows for count in set(row.counts) if count)
    for width in preferred:
        if 2 * widths[width] > len(rows):
            return width
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _blank_cells(rows: Sequence[Row]) -> list[int]:
    """Return the number of cells in each row if some are blanks for empty cells, else nothing."""
    filled = [row.with_blanks() for row in rows]
    cells = [len(row.text.replace(b"|", b"")) for row in rows]
    is_grid = len(rows) >= 4 and all(filled) and max(cells) <= len(rows)
    return cells if is_grid and any(row and row.filled for row in filled) else []


def read_grids(lines: Iterable[NumberedLine], way: Way) -> Iterator[Batch | InputError]:
    """Read every board of a batch; a block that is no board gives an error in its place."""
    last = way.geometry
    origin = Origin(way.source)
    for block in bands_of(blocks(lines), way.geometry):
        try:
            boards = _boards(block, way, last)
        except UnreadableError:
            raise
        except FormatError as error:
            boards = [(error, block)]
        for board, grid in boards:
            try:
                if isinstance(board, FormatError):
                    raise board
                check_size(board, last.n if last else 0, grid.line)
            except FormatError as error:
                yield error.at(way, b" ".join(row.text.strip() for row in grid.rows))
            else:
                last = board.geometry
                text = b"".join(row.characters(board.n, board.n) for row in grid.rows)
                yield single(board, origin, grid.line, text=text)


def ways_to_read(block: Block, n: int | None) -> Iterator[list[Block]]:
    """Yield the boards that a block may stand for, of n rows with n cells each; any n if None."""
    for lines in filter(None, (block, block.with_dashes_as_rows())):
        for titles in range(min(MAX_TITLES + 1, len(lines.rows))):
            above = lines.rows[:titles]
            rows = lines.rows[titles:]
            if above and not (above[-1].has_letters or _is_head(lines, above[-1])):
                break
            sizes = [
                size
                for size in _sizes(len(rows), n)
                if all(_is_title(row, size, rows[:size]) or _is_head(lines, row) for row in above)
            ]
            for chosen in _ways_to_split(rows) if sizes else ():
                for size in sizes:
                    if all(size in row.counts and not row.filled == size == 1 for row in chosen):
                        yield _boards_below(chosen, size, lines, titles)


@cache
def _sizes(rows: int, n: int | None) -> list[int]:
    """Return how many rows a board may have, of which one or several have so many rows."""
    if n is not None:
        return [n] if rows % n == 0 else []
    smaller = [size for size in GUESSED if _MIN_STACKED <= size < rows and rows % size == 0]
    return [rows, *smaller] if rows <= MAX_DIGITS else smaller


def _boards_below(rows: list[Row], size: int, lines: Block, titles: int) -> list[Block]:
    """Cut rows below titles into boards; a rule between two of them belongs to both."""
    boards = []
    for start in range(titles, titles + len(rows), size):
        part = rows[start - titles : start - titles + size]
        first = bisect_left(lines.rules, start, key=itemgetter(0))
        end = bisect_right(lines.rules, start + size, key=itemgetter(0))
        rules = [(place - start, rule) for place, rule in lines.rules[first:end]]
        boards.append(Block(part[0].line if start else lines.line, part, rules))
    return boards


def _is_title(row: Row, n: int, grid: Iterable[Row]) -> bool:
    """Tell whether a row is text beside a grid, and no row of the letters that the grid has."""
    if not row.is_title(n) or n not in row.counts:
        return row.is_title(n)
    return not letters_of(b"".join(cell for each in (*grid, row) for cell in each.tokens), n)


def _is_head(block: Block, row: Row) -> bool:
    """Tell whether a row is the head of a Markdown table, with empty fields or with names."""
    is_first = row is block.rows[0] and 1 in block.rules_above
    return is_first and b"|" in row.text and (row.has_letters or not row.text.strip(b"| \t"))


def _ways_to_split(rows: list[Row]) -> Iterator[list[Row]]:
    """Yield the rows split into cells by signs, by tabs or bars alone, or by place."""
    yield rows
    signs = [sign for sign in (b"\t", b"|") if any(sign in row.text for row in rows)]
    layouts = LAYOUTS if any(b" " in row.text for row in rows) else ()
    for filled in (
        *([row.with_fields(sign) for row in rows] for sign in signs),
        *([row.with_blanks(layout) for row in rows] for layout in layouts),
    ):
        chosen = [row for row in filled if row is not None and row.tokens]
        if len(chosen) == len(rows) and any(row.filled for row in chosen):
            yield chosen


def _boards(
    block: Block, way: Way, last: Geometry | None
) -> list[tuple[Board | FormatError, Block]]:
    """Return the boards of a block, or errors; ``last`` is the previous board's geometry."""
    title = block.rows[0]
    if block.is_title:
        raise FormatError(f"{shown(title.text.strip())}, expected a grid below it", title.line)
    readings: dict[tuple[Board | FormatError, ...], list[Block]] = {}
    for grids in ways_to_read(block, way.geometry.n if way.geometry else None):
        readings.setdefault(tuple(_board(grid, way) for grid in grids), grids)
    if not readings:
        _explain(block, way.geometry, last)
    whole = [boards for boards in readings if all(isinstance(board, Board) for board in boards)]
    if len(whole) > 1:
        first, second, *_ = (quoted(grid) for grid, *_ in whole if isinstance(grid, Board))
        raise FormatError(f"a grid that reads two ways: {first} or {second}", block.line)
    boards = next(iter([*whole, *readings]))
    return list(zip(boards, readings[boards], strict=True))


def _board(grid: Block, way: Way) -> Board | FormatError:
    """Return the board of as many rows as there are cells on each, or its error."""
    n = len(grid.rows)
    try:
        near = way.near if way.near and way.near.n == n else None
        shape = way.geometry or _shown_geometry(grid, near) or near or Geometry.of_size(n)
        board = board_of(grid.rows, n, shape)
    except FormatError as error:
        return error
    except InputError as error:
        return FormatError(error.message, grid.line)
    # As digits, numbers of rows and columns always contradict each other, unless a box is one
    # row or one column.
    ends = np.stack([board.grid[0], board.grid[:, 0]])
    sides = board.geometry.box_rows, board.geometry.box_columns
    if min(sides) > 1 and (ends == np.arange(board.n)).all():
        return FormatError("a grid with numbered rows and columns: leave these out", grid.line)
    return board


def _explain(block: Block, geometry: Geometry | None, last: Geometry | None) -> NoReturn:
    """Raise the error of a block that can be read in no way."""
    rows = max(_ways_to_split(block.rows), key=_agreement)
    is_square = rows is not block.rows and _agreement(rows)[0] > 0
    n = len(rows) if is_square else common_width(rows, [len(rows)])
    n = geometry.n if geometry else n
    width = last.n if last and last.cells == n != len(rows) else n
    whole = [width > 1 and width not in row.counts and width**2 in row.counts for row in rows]
    if any(whole):  # boards on one line each
        # If the block begins with such boards, the row after them is out of place.
        place = 0 if all(whole) else whole.index(not whole[0])
        row = rows[place]
        expected = "a row of a grid" if whole[place] else "a board on every line"
        found = width**2 if whole[place] else row.count_near(width)
        raise UnreadableError(f"mixed formats: {found} cells, expected {expected}", row.line)
    title, *below = block.rows
    numbers = [row.text.strip().isdigit() and b"0" not in row.text for row in block.rows]
    may_be_title = title.has_letters or (numbers[0] and not all(numbers))
    is_grid = len(below) > 1 and all(len(below) in row.counts for row in below)
    if is_grid and may_be_title and title.may_be_row(len(below)):
        raise FormatError(
            f"{shown(title.text.strip())} reads two ways, as a title or as a row of {len(below)} "
            "cells: begin a title with #",
            title.line,
        )
    for place, (row, found) in enumerate(
        zip(block.rows, _blank_cells(block.rows), strict=False), 1
    ):
        if found < len(block.rows):
            raise FormatError(
                f"row {place} of a grid with blanks for empty cells has {found} cells, "
                f"expected {len(block.rows)}: were blanks lost at its end?",
                row.line,
            )
    for row in rows:
        row.check_characters()
    for place, row in enumerate(rows, 1):
        if n not in row.counts:
            found = row.count_near(n)
            lost = found < n and any(row.filled for row in rows)
            hint = ": were empty cells lost at its end?" if lost else ""
            raise FormatError(
                f"row {place} of a grid has {found} cells, expected {n}{hint}", row.line
            )
    number = len(rows) if len(rows) <= _MAX_ROWS else f"more than {_MAX_ROWS}"
    if any(row.filled and not row.by_fields for row in rows):
        raise FormatError(
            f"{number} rows of {n} cells, where blanks are cells, expected {n} rows, "
            "or a sign in every empty cell",
            block.line,
        )
    unclear = len(block.dashes) if block.with_dashes_as_rows() else 0
    hint = f", and {unclear} lines of dashes, which may be rules or rows" if unclear else ""
    raise FormatError(
        f"{number} rows of {n} cells, expected {n} (a blank line ends a grid){hint}", block.line
    )


def _agreement(rows: Sequence[Row]) -> tuple[int, int, int]:
    """Return how many rows may have as many cells as there are rows, or the same number."""
    widths = Counter(count for row in rows for count in set(row.counts))
    width, most = max(widths.items(), key=lambda item: item[1])
    return widths[len(rows)], most, -abs(width - len(rows))  # then the nearer number is better


def _shown_geometry(block: Block, near: Geometry | None) -> Geometry | None:
    """Return the geometry that rules and bars show, the one ``near`` if it fits; None for no boxes.

    Boxes of one row or column are refused: the lines may as well separate those of any table.
    """
    n = len(block.rows)
    widths = {
        n if len(row.groups) == 1 else len(group) if row.separated(n) else sum(map(len, group))
        for row in block.rows
        for group in row.groups
    }
    rules = block.rules_above
    if widths == {1} and rules in ({0}, {1}):
        return None  # A Markdown table has a rule below its head, and no other.
    places = sorted(rules | {0, n})
    heights = {below - above for above, below in pairwise(places)}
    if len(heights) > 1 or len(widths) > 1:
        raise FormatError("the rules show boxes of unequal sizes", block.line)
    (height,) = heights
    (width,) = widths
    if width == 1 < height and any(row.filled for row in block.rows):
        width = n  # Bars around every cell show which of them are empty, and no boxes.
    if height == width and width in (1, n):
        return None  # There is no rule inside, or there are rules around every cell.
    # If there are rules in one direction only, the number of digits gives the other side.
    if width == n and height > 1:
        width = n // height
    elif height == n and width > 1:
        height = n // width
    if near and height in (1, n, near.box_rows) and width in (1, n, near.box_columns):
        return near
    if height * width != n or 1 in (height, width):
        raise FormatError(
            (
                f"the rules show boxes of {height}x{width} on a board of {n} rows: give the box (",
                Hint("box", "ROWSxCOLUMNS"),
                ")",
            ),
            block.line,
        )
    return Geometry(height, width)
