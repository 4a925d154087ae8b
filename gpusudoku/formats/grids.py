"""Boards on several lines, one row on each, with or without rules around the boxes.

Every paragraph of the input is read in all possible ways, see :mod:`~gpusudoku.formats.paragraphs`.
It is refused if two readings give different boards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import isqrt
from operator import itemgetter
from typing import NamedTuple, NoReturn

import numpy as np

from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.lines import GUESSED_GEOMETRIES, MAX_HEAD_LINES, refuse_single_cell
from gpusudoku.formats.paragraphs import (
    MAX_ROWS,
    SECTION,
    Paragraph,
    join_bands,
    list_readings,
    list_splits,
    split_paragraphs,
)
from gpusudoku.formats.rows import Row, board_of
from gpusudoku.formats.source import (
    MAX_ROW_BYTES,
    FormatError,
    Lines,
    NumberedLine,
    ReadOptions,
    UnreadableError,
    clean_line,
    make_single_batch,
    quote_board,
)
from gpusudoku.formats.symbols import digit_of

_MAX_EXAMINED_LINES = 1 << 10
"""Lines examined to recognise the form, comments included."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


class Head(NamedTuple):
    """The first lines of an input that are not comments."""

    lines: list[NumberedLine]
    comment: NumberedLine = (0, b"")
    """The last comment before them."""
    binary_error: UnreadableError | None = None
    """The error to raise if no board is found, because they have a control character."""

    @property
    def first(self) -> bytes:
        """The first line, cleaned."""
        return clean_line(self.lines[0][1])


def read_head(lines: Lines) -> Head:
    """Return the first paragraph, or enough of it to recognise the form; put its lines back."""
    comment = (0, b"")
    head: list[NumberedLine] = []
    examined: list[NumberedLine] = []
    paragraph = Paragraph(0)
    is_in_bands = False
    size = 0
    for number, line in lines:
        text = clean_line(line)
        if head or text.strip():
            examined.append((number, line))
        size += len(text)
        if size > MAX_ROW_BYTES:  # not a grid, and enough to recognise the form
            head += [(number, line)] if text.strip() else []
            break
        if text.strip():
            head.append((number, line))
            paragraph.add(number, text)
        elif line.strip():
            comment = comment if head else (number, line)
        elif head:
            head.append((number, line))
            if paragraph.is_blank_row(text):
                paragraph.add(number, text)
            elif paragraph.is_title:
                is_in_bands = False
            elif is_in_bands or _may_be_band(paragraph):
                is_in_bands = True
            else:
                break
        if len(head) == MAX_HEAD_LINES or len(examined) == _MAX_EXAMINED_LINES:
            break
    if not head:
        raise UnreadableError("no board found")
    lines.put_back(examined)
    for number, line in head:
        if control := _CONTROL.search(line):
            message = f"binary data (byte {control[0][0]:#04x}), expected text"
            return Head(head, comment, UnreadableError(message, number))
    return Head(head, comment)


def has_board_per_line(head: Head, options: ReadOptions) -> bool:
    """Tell whether every line is a whole board, and not one row of a board.

    16 cells may be a 4x4 board or a row of a 16x16 board; so may 36 or 64 numbers. Where there are
    as many lines as cells in each, a digit too large for the small board decides; without one the
    input is refused, or read as the large board if one board is expected. Otherwise the lines are
    small boards, unless most of them have such a digit. Text after a colon does not count.
    """
    if sum(len(clean_line(line)) for _, line in head.lines) > MAX_ROW_BYTES:
        return True  # No grid has so many bytes.
    if head.first.lstrip().startswith(b"{"):
        return True  # candidates in braces
    paragraphs = list(split_paragraphs(head.lines))
    if not paragraphs or paragraphs[0].has_rules or SECTION.fullmatch(head.first):
        return False
    paragraph = _join_first_bands(paragraphs)
    rows = [Row(row.line, row.text.partition(b":")[0]) for row in paragraph.rows]
    if len(rows) == 1:
        return True
    if options.geometry is not None:
        cells = options.geometry.cells
        n = options.geometry.n
        width = most_common_width(rows, [cells, n])
        return abs(width - cells) <= abs(width - n)

    readings = (grids[0] for grids in list_readings(paragraph, None) if len(grids) == 1)
    if _count_cells_and_blanks(paragraph.rows) or any(
        reading.rows != paragraph.rows for reading in readings
    ):
        return False  # a grid below a title, or with missing cells
    width = most_common_width(rows, [len(rows)])
    if width > MAX_DIGITS:
        return True
    n = isqrt(width)
    if n * n != width or n not in GUESSED_GEOMETRIES:
        return False
    if width > len(DIGITS) and not any(len(row.tokens) == width for row in rows):
        return True  # A larger board would be written in numbers.
    rows_with_large_digit = sum(
        width in row.counts and any(digit_of(cell) > n for cell in row.cells(width)) for row in rows
    )
    if len(rows) == width and not rows_with_large_digit:
        if options.preferred is not None:
            return False
        small = GUESSED_GEOMETRIES[n]
        large = GUESSED_GEOMETRIES[width]
        raise UnreadableError(
            (
                f"{width} lines of {width} cells are ambiguous: give ",
                Hint("box", f"{small}"),
                f" for {width} boards of {n}x{n} or ",
                Hint("box", f"{large}"),
                f" for one of {width}x{width}",
            ),
            rows[0].line,
        )
    return 2 * rows_with_large_digit <= len(rows) and len(rows) != width


def _join_first_bands(paragraphs: list[Paragraph]) -> Paragraph:
    """Return the first paragraph, with the following ones if together they may be one board."""
    first = paragraphs[0]
    paragraph = Paragraph(first.line, first.rows[: MAX_DIGITS + 1], first.rules)
    height = len(paragraph.rows)
    bands = paragraphs[:height]
    # A board may have as many bands as each band has rows.
    if _may_be_band(paragraph) and [len(band.rows) for band in bands] == [height] * height:
        return Paragraph(paragraph.line, [row for band in bands for row in band.rows])
    return paragraph


def _may_be_band(paragraph: Paragraph) -> bool:
    """Tell whether the rows may be small boards, or the first band of a larger board."""
    rows = paragraph.rows
    return not paragraph.has_rules and any(
        height == len(rows) and all(height**2 in row.counts for row in rows) for height in (4, 6, 8)
    )


def most_common_width(rows: Sequence[Row], preferred: Iterable[int]) -> int:
    """Return the first ``preferred`` number of cells of most rows, else the most common one."""
    row_counts = Counter(width for row in rows for width in set(row.counts) if width)
    for width in preferred:
        if 2 * row_counts[width] > len(rows):
            return width
    return max(row_counts, key=lambda width: (row_counts[width], width), default=0)


def _count_cells_and_blanks(rows: Sequence[Row]) -> list[int]:
    """Return the number of cells in each row if empty cells may be blanks, else an empty list."""
    rows_with_blanks = [row.with_blanks() for row in rows]
    widths = [len(row.text.replace(b"|", b"")) for row in rows]
    is_grid = len(rows) >= 4 and all(rows_with_blanks) and max(widths) <= len(rows)
    has_blanks = any(row and row.filled for row in rows_with_blanks)
    return widths if is_grid and has_blanks else []


def read_grids(lines: Iterable[NumberedLine], options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read every board of a batch; yield an error for a paragraph that is not a board."""
    previous = options.geometry
    source = InputSource(options.source)
    for paragraph in join_bands(split_paragraphs(lines), options.geometry):
        try:
            boards = _read_boards(paragraph, options, previous)
        except UnreadableError:
            raise
        except FormatError as error:
            boards = [(error, paragraph)]
        for board, grid in boards:
            try:
                if isinstance(board, FormatError):
                    raise board
                refuse_single_cell(board, previous.n if previous else 0, grid.line)
            except FormatError as error:
                yield error.as_input_error(
                    options, b" ".join(row.text.strip() for row in grid.rows)
                )
            else:
                previous = board.geometry
                text = b"".join(row.characters(board.n, board.n) for row in grid.rows)
                yield make_single_batch(board, source, grid.line, text=text)


def _read_boards(
    paragraph: Paragraph, options: ReadOptions, previous: Geometry | None
) -> list[tuple[Board | FormatError, Paragraph]]:
    """Return the boards of a paragraph, or their errors, and the grid of each.

    ``previous`` is the geometry of the previous board. It is used in messages only.
    """
    title = paragraph.rows[0]
    if paragraph.is_title:
        raise FormatError(f"{shown(title.text.strip())}, expected a grid below it", title.line)
    # Readings that give the same boards count once.
    readings: dict[tuple[Board | FormatError, ...], list[Paragraph]] = {}
    for grids in list_readings(paragraph, options.geometry.n if options.geometry else None):
        readings.setdefault(tuple(_read_board(grid, options) for grid in grids), grids)
    if not readings:
        _raise_grid_error(paragraph, options.geometry, previous)
    valid = [boards for boards in readings if all(isinstance(board, Board) for board in boards)]
    if len(valid) > 1:
        first_boards = [boards[0] for boards in valid[:2]]
        texts = " or ".join(quote_board(b) for b in first_boards if isinstance(b, Board))
        raise FormatError(f"an ambiguous grid: {texts}", paragraph.line)
    boards = next(iter([*valid, *readings]))
    return list(zip(boards, readings[boards], strict=True))


def _read_board(grid: Paragraph, options: ReadOptions) -> Board | FormatError:
    """Return the board of a grid with as many rows as cells in each row, or its error."""
    n = len(grid.rows)
    try:
        preferred = options.preferred if options.preferred and options.preferred.n == n else None
        geometry = (
            options.geometry
            or _geometry_of_rules(grid, preferred)
            or preferred
            or Geometry.of_size(n)
        )
        board = board_of(grid.rows, n, geometry)
    except FormatError as error:
        return error
    except InputError as error:
        return FormatError(error.message, grid.line)
    # Numbers of rows and columns, read as digits, always contradict each other in the first box,
    # unless a box is one row or one column.
    first_row_and_column = np.stack([board.grid[0], board.grid[:, 0]])
    has_large_boxes = min(board.geometry.box_rows, board.geometry.box_columns) > 1
    if has_large_boxes and (first_row_and_column == np.arange(board.n)).all():
        return FormatError("a grid with numbered rows and columns: remove the numbers", grid.line)
    return board


def _raise_grid_error(
    paragraph: Paragraph, geometry: Geometry | None, previous: Geometry | None
) -> NoReturn:
    """Raise the error of a paragraph that has no reading."""
    rows = max(list_splits(paragraph.rows), key=_rate_widths)
    is_square = rows is not paragraph.rows and _rate_widths(rows)[0] > 0
    n = len(rows) if is_square else most_common_width(rows, [len(rows)])
    if geometry:
        n = geometry.n
    _refuse_boards_on_lines(rows, n, previous)
    _refuse_ambiguous_title(paragraph)
    _refuse_lost_blanks(paragraph.rows)
    for row in rows:
        row.check_characters()
    _refuse_wrong_width(rows, n)

    row_count = f"{len(rows)}" if len(rows) <= MAX_ROWS else f"more than {MAX_ROWS}"
    if any(row.filled and not row.by_fields for row in rows):
        raise FormatError(
            f"{row_count} rows of {n} cells, where blanks are cells, expected {n} rows, "
            "or a sign in every empty cell",
            paragraph.line,
        )
    dash_count = len(paragraph.dashes) if paragraph.with_dashes_as_rows() else 0
    hint = f", and {dash_count} lines of dashes, which may be rules or rows" if dash_count else ""
    raise FormatError(
        f"{row_count} rows of {n} cells, expected {n} (a blank line ends a grid){hint}",
        paragraph.line,
    )


def _refuse_boards_on_lines(rows: Sequence[Row], n: int, previous: Geometry | None) -> None:
    """Refuse rows of which some are whole boards on one line."""
    width = n
    if previous and previous.cells == n != len(rows):
        width = previous.n
    are_boards = [width > 1 and width not in row.counts and width**2 in row.counts for row in rows]
    if not any(are_boards):
        return
    # If the paragraph begins with boards, the row after them is out of place.
    index = 0 if all(are_boards) else are_boards.index(not are_boards[0])
    row = rows[index]
    if are_boards[index]:
        message = f"mixed formats: {width**2} cells, expected a row of a grid"
    else:
        message = f"mixed formats: {row.count_near(width)} cells, expected a board on every line"
    raise UnreadableError(message, row.line)


def _refuse_ambiguous_title(paragraph: Paragraph) -> None:
    """Refuse a square grid below a line that may be a title or another row."""
    title, *grid = paragraph.rows
    are_numbers = [row.text.strip().isdigit() and b"0" not in row.text for row in paragraph.rows]
    may_be_title = title.has_letters or (are_numbers[0] and not all(are_numbers))
    is_square = len(grid) > 1 and all(len(grid) in row.counts for row in grid)
    if is_square and may_be_title and title.may_be_row(len(grid)):
        raise FormatError(
            f"{shown(title.text.strip())} is ambiguous, a title or a row of {len(grid)} "
            "cells: begin a title with #",
            title.line,
        )


def _refuse_lost_blanks(rows: Sequence[Row]) -> None:
    """Refuse a short row of a grid with blanks for empty cells."""
    widths = _count_cells_and_blanks(rows)  # empty for other grids
    for number, (row, width) in enumerate(zip(rows, widths, strict=False), 1):
        if width < len(rows):
            raise FormatError(
                f"row {number} of a grid with blanks for empty cells has {width} cells, "
                f"expected {len(rows)}: were blanks lost at its end?",
                row.line,
            )


def _refuse_wrong_width(rows: Sequence[Row], n: int) -> None:
    """Refuse a row that does not have n cells."""
    for number, row in enumerate(rows, 1):
        if n not in row.counts:
            width = row.count_near(n)
            may_lack_cells = width < n and any(row.filled for row in rows)
            hint = ": were empty cells lost at its end?" if may_lack_cells else ""
            raise FormatError(
                f"row {number} of a grid has {width} cells, expected {n}{hint}", row.line
            )


def _rate_widths(rows: Sequence[Row]) -> tuple[int, int, int]:
    """Return a key that is larger the better the rows agree in their number of cells.

    It has the number of rows that may have as many cells as there are rows; the number of rows that
    may have the most common width; and how near that width is to the number of rows.
    """
    row_counts = Counter(width for row in rows for width in set(row.counts))
    common_width, rows_of_common_width = max(row_counts.items(), key=itemgetter(1))
    return row_counts[len(rows)], rows_of_common_width, -abs(common_width - len(rows))


def _geometry_of_rules(paragraph: Paragraph, preferred: Geometry | None) -> Geometry | None:
    """Return the geometry that rules and bars show, or ``preferred`` if they fit it.

    Return None if they show no boxes. Boxes of one row or column are refused: the lines may as well
    separate the rows and columns of any table.
    """
    n = len(paragraph.rows)
    widths = {_group_width(row, group, n) for row in paragraph.rows for group in row.groups}
    rules = paragraph.rules_above
    if widths == {1} and rules in ({0}, {1}):
        return None  # A Markdown table has a rule below its head only.
    rule_positions = sorted(rules | {0, n})
    heights = {below - above for above, below in pairwise(rule_positions)}
    if len(heights) > 1 or len(widths) > 1:
        raise FormatError("the rules show boxes of unequal sizes", paragraph.line)
    (height,) = heights
    (width,) = widths
    if width == 1 < height and any(row.filled for row in paragraph.rows):
        width = n  # Bars around every cell show which cells are empty, and no boxes.
    if height == width and width in (1, n):
        return None  # There is no rule inside, or there are rules around every cell.
    # If there are rules in one direction only, the number of digits determines the other side.
    if width == n and height > 1:
        width = n // height
    elif height == n and width > 1:
        height = n // width
    if preferred:
        fits_rows = height in (1, n, preferred.box_rows)
        fits_columns = width in (1, n, preferred.box_columns)
        if fits_rows and fits_columns:
            return preferred
    if height * width != n or 1 in (height, width):
        raise FormatError(
            (
                f"the rules show boxes of {height}x{width} on a board of {n} rows: give the box (",
                Hint("box", "ROWSxCOLUMNS"),
                ")",
            ),
            paragraph.line,
        )
    return Geometry(height, width)


def _group_width(row: Row, group: Sequence[bytes], n: int) -> int:
    """Return the number of cells in a group of tokens between bars; n if the row has no bars."""
    if len(row.groups) == 1:
        return n
    return len(group) if row.is_separated(n) else sum(map(len, group))
