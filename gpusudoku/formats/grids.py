"""Boards on several lines, one row on each, with or without rules around the boxes.

The lines of a block can be read in several ways: signs may be separated or not, and a cell may be
empty because nothing stands between two tabs or bars, or because there is a blank. Only a way that
gives as many rows as there are cells on each counts. Where two ways give different boards, the
block is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NoReturn

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.board.places import Origin
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.blocks import MOST_TITLES, Block, bands_of, blocks
from gpusudoku.formats.rows import LAYOUTS, Row, board_of
from gpusudoku.formats.source import (
    FormatError,
    NumberedLine,
    UnreadableError,
    Way,
    quoted,
    single,
)


def read_grids(lines: Iterable[NumberedLine], way: Way) -> Iterator[Batch | InputError]:
    """Read every board of a batch; a block that is no board gives an error in its place.

    Raises
    ------
    UnreadableError
        If the input goes on in another form.
    """
    last, origin = way.geometry, Origin(way.source)
    for block in bands_of(blocks(lines), way.geometry):
        try:
            board, line = _board(block, way, last)
        except UnreadableError:
            raise
        except FormatError as error:
            yield error.at(way.source, b" ".join(row.text.strip() for row in block.rows))
        else:
            last = board.geometry
            yield single(board, origin, line)


def common_width(rows: Sequence[Row], preferred: Iterable[int]) -> int:
    """The number of cells in most rows.

    The first of the ``preferred`` widths that more than half of the rows have is taken, else the
    most common width, and the greater of two that are equally common.
    """
    widths = Counter(count for row in rows for count in set(row.counts) if count)
    for width in preferred:
        if 2 * widths[width] > len(rows):
            return width
    return max(widths, key=lambda width: (widths[width], width), default=0)


def ways_to_read(block: Block, n: int | None) -> Iterator[Block]:
    """The blocks that a block may stand for, of n rows with n cells each; any n if it is None.

    Lines of dashes may be rules or rows; lines above may be titles.
    """
    for lines in filter(None, (block, block.with_dashes_as_rows())):
        for titles in range(min(MOST_TITLES + 1, len(lines.rows))):
            above, rows = lines.rows[:titles], lines.rows[titles:]
            size = len(rows)
            if above and not (above[-1].has_letters or _is_head(lines, above[-1])):
                break
            if n in (None, size) and all(
                row.is_title(size) or _is_head(lines, row) for row in above
            ):
                for chosen in _ways_to_split(rows):
                    if all(size in row.counts and not row.filled == size == 1 for row in chosen):
                        yield lines.below(titles, chosen)


def _is_head(block: Block, row: Row) -> bool:
    """Whether a row is the head of a Markdown table, with nothing in its fields, or with names."""
    is_first = row is block.rows[0] and 1 in block.rules_above
    return is_first and b"|" in row.text and (row.has_letters or not row.text.strip(b"| \t"))


def _ways_to_split(rows: list[Row]) -> Iterator[list[Row]]:
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


def _board(block: Block, way: Way, last: Geometry | None) -> tuple[Board, int]:
    """Make the board of a block, and tell its line; ``last`` is the previous board's geometry."""
    geometry = way.geometry
    title, error = block.rows[0], None
    if block.is_title:
        raise FormatError(f"{shown(title.text.strip())}, expected a grid below it", title.line)
    found: dict[Board, Block] = {}
    for reading in ways_to_read(block, geometry.n if geometry else None):
        n = len(reading.rows)
        try:
            near = way.near if way.near and way.near.n == n else None
            shape = geometry or _shown_geometry(reading, near) or near or Geometry.of_size(n)
            found.setdefault(board_of(reading.rows, n, shape), reading)
        except FormatError as wrong:
            error = error or wrong
        except InputError as wrong:
            error = error or FormatError(str(wrong), block.line)
    if len(found) > 1:
        first, second, *_ = found
        raise FormatError(
            f"a grid that reads two ways: {quoted(first)} or {quoted(second)}", block.line
        )
    if found:
        [(board, reading)] = found.items()
        _check_labels(board, reading)
        return board, reading.line
    if error is None:
        _explain(block, geometry, last)
    raise error


def _check_labels(board: Board, block: Block) -> None:
    """Refuse a grid whose first row and first column number the others.

    As digits these always contradict each other, unless a box is one row or one column.
    """
    labels = np.arange(board.n)
    both = np.stack([board.grid[0], board.grid[:, 0]])
    if (
        board.n > 1 < min(board.geometry.box_rows, board.geometry.box_columns)
        and (both == labels).all()
    ):
        raise FormatError("a grid with numbered rows and columns: leave these out", block.line)


def _explain(block: Block, geometry: Geometry | None, last: Geometry | None) -> NoReturn:
    """Raise the error of a block that can be read in no way."""
    rows = max(_ways_to_split(block.rows), key=_agreement)
    is_square = rows is not block.rows and _agreement(rows)[0] > 0
    n = len(rows) if is_square else common_width(rows, [len(rows)])
    n = geometry.n if geometry else n
    _check_mixture(rows, n, last)
    _check_titles(block)
    _check_lost_blanks(block.rows)
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
    number = len(rows) if len(rows) <= MAX_DIGITS else f"more than {MAX_DIGITS}"
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
    """How many rows may have as many cells as there are rows, and how many the same number.

    If neither differs, a number of cells that is nearer to that of the rows agrees better.
    """
    widths = Counter(count for row in rows for count in set(row.counts))
    width, most = max(widths.items(), key=lambda item: item[1])
    return widths[len(rows)], most, -abs(width - len(rows))


def _check_titles(block: Block) -> None:
    """Refuse a line above a grid that may be a title or a row."""
    title, *rows = block.rows
    n = len(rows)
    is_grid = n > 1 and all(n in row.counts for row in rows)
    is_number = title.is_number and not all(row.is_number for row in rows)
    if is_grid and title.may_be_row(n) and (title.has_letters or is_number):
        raise FormatError(
            f"{shown(title.text.strip())} reads two ways, as a title or as a row of {n} cells: "
            "begin a title with #",
            title.line,
        )


def _check_lost_blanks(rows: Sequence[Row]) -> None:
    """Refuse rows whose empty cells are blanks, if some of them are missing at the end."""
    n = len(rows)
    filled = [row.with_blanks() for row in rows]
    if n < 4 or not any(row and row.filled for row in filled):
        return
    cells = [len(row.text.replace(b"|", b"")) for row in rows]
    if None not in filled and max(cells) <= n:
        for place, (row, found) in enumerate(zip(rows, cells, strict=True), 1):
            if found < n:
                raise FormatError(
                    f"row {place} of a grid with blanks for empty cells has {found} cells, "
                    f"expected {n}: were blanks lost at its end?",
                    row.line,
                )


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


def _shown_geometry(block: Block, near: Geometry | None) -> Geometry | None:
    """The geometry that rules and bars show, None if they show no boxes.

    If they could show several, it is the one ``near``, if that fits.

    Raises
    ------
    FormatError
        If they show boxes that do not make a board, or boxes of a single row or column: such lines
        may just as well separate all rows or all columns of a table.
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
    (height,), (width,) = heights, widths
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
            f"the rules show boxes of {height}x{width} on a board of {n} rows: "
            "give the box (--box ROWSxCOLUMNS)",
            block.line,
        )
    return Geometry(height, width)
