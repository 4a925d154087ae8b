"""Reading of boards in any known form.

The form is recognised by the first lines:

* one board on each line, as characters or as numbers separated by blanks or commas; text after a
  colon is ignored (:mod:`~gpusudoku.formats.lines`);
* one board on each line with other text before or after it, or as a link
  (:mod:`~gpusudoku.formats.annotated_lines`);
* a grid with one row on each line, as characters or as numbers, with or without rules around the
  boxes; blank lines separate grids. SadMan's .sdk is such a grid
  (:mod:`~gpusudoku.formats.grids`);
* a table with or without a header, one row on each line (:mod:`~gpusudoku.formats.tables`);
* JSON objects, or lists of Python, JSON, C or Java, which are converted to lines of the first two
  forms (:mod:`~gpusudoku.formats.objects`).

Comments run from ``#`` to the end of the line. :mod:`~gpusudoku.formats.symbols` defines the
symbols of the digits, :mod:`~gpusudoku.formats.source` expands compressed data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BufferedReader, BytesIO
from itertools import chain, islice
from typing import BinaryIO

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import Hint, InputError, described, python_words
from gpusudoku.formats.annotated_lines import has_annotated_lines, read_annotated_lines
from gpusudoku.formats.grids import Head, has_board_per_line, read_grids, read_head
from gpusudoku.formats.lines import next_line, plain_board, read_lines, read_plain
from gpusudoku.formats.objects import is_json, is_list, read_objects, unfold
from gpusudoku.formats.source import (
    BUFFER_BYTES,
    FormatError,
    Lines,
    Meter,
    ReadOptions,
    UnreadableError,
    clean_line,
    open_input,
)
from gpusudoku.formats.tables import find_header, read_table

_SIZE = re.compile(rb"[1-9][0-9]{0,6}(?: [1-9][0-9]?)? *")
"""A number of boards, or the numbers of rows and columns of a board or of its boxes."""
_TEXT = "<text>"
"""The name of a text in errors."""
_MIN_ROW = 4
"""The minimum length of the line below such numbers."""
_MAX_BAD_BOARDS = 1 << 7
"""In an input with control characters, more bad boards before the first good one mean binary
data."""


def read_batches(
    path: str,
    geometry: Geometry | None = None,
    *,
    column: str | None = None,
    meter: Meter | None = None,
    words: Callable[[Hint], str] = python_words,
) -> Iterator[Batch | InputError]:
    """Read a file, ``-`` for standard input, as :func:`read_stream` does.

    The meter, if given, measures the progress.
    """
    try:
        with open_input(path, meter) as (stream, source):
            yield from read_stream(stream, ReadOptions(source, geometry, column, words=words))
    except InputError as error:
        yield error
    except OSError as error:
        yield InputError(f"{path}: {error.strerror}, expected a file that can be read")


def read_stream(stream: BinaryIO, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read every board of a stream of bytes, UTF-8 or UTF-16, in constant memory.

    Boards come in large batches where the lines allow it. Every batch has ``locations``. A bad
    board gives an error in its place, and the boards after it are read. After an error of the
    whole input, such as mixed formats, nothing follows.
    """
    is_empty = True
    try:
        for entry in _read_input(Lines(stream), options):
            is_empty = False
            yield entry
        if is_empty:
            raise UnreadableError("no board found")
    except FormatError as error:
        yield error.as_input_error(options)


def read_text_batches(text: str, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read a text as :func:`read_stream` does."""
    # A lone surrogate cannot be encoded; the bytes that replace it are not symbols either.
    data = text.encode(errors="surrogatepass")
    return read_stream(BufferedReader(BytesIO(data), BUFFER_BYTES), options)


def read_text(
    text: str,
    *,
    geometry: Geometry | None = None,
    source: str = _TEXT,
    column: str | None = None,
    preferred: Geometry | None = None,
) -> Iterator[Board]:
    """Read every board of a text, up to the first error, which is raised."""
    return _read_boards(text, ReadOptions(source, geometry, column, preferred))


def _read_boards(text: str, options: ReadOptions) -> Iterator[Board]:
    for entry in read_text_batches(text, options):
        if isinstance(entry, InputError):
            raise entry
        yield from entry


def parse(text: str, box: Geometry | str | None = None) -> Board:
    """Read one board from text in any known form.

    Parameters
    ----------
    text
        The board, as a line or a grid.
    box
        The shape of its boxes, as a ``Geometry`` or as ``"RxC"``; guessed if not given.

    Raises
    ------
    InputError
        If the text is not a board, or holds more than one.
    """
    if not isinstance(text, str):
        raise InputError(f"expected the text of a board, found {described(text)}")
    geometry = Geometry.parse(box) if isinstance(box, str) else box
    return plain_board(text, geometry) or parse_as(text, ReadOptions(_TEXT, geometry))


def parse_as(text: str, options: ReadOptions) -> Board:
    """Read one board from text with some options."""
    boards = list(_read_boards(text, options))
    if len(boards) != 1:
        raise InputError(f"expected one board, found {len(boards)}")
    return boards[0]


def _read_input(lines: Lines, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read an input of any form, also below a line with the number of its boards or their size."""
    plain = read_plain(lines, options)
    if plain is not None:
        return plain
    head = read_head(lines)
    if _SIZE.fullmatch(head.first) and options.geometry != Geometry(1, 1):
        size_line = next(lines)
        size_text = head.first
        text_below = clean_line(next_line(lines)[1])
        figures = len(b"".join(size_text.split()))
        cells = len(b"".join(text_below.split()))
        # If both lines have the same length, the first one may be a row with blanks for empty
        # cells.
        if len(size_text) < len(text_below) and max(figures + 1, _MIN_ROW) <= cells:
            entries = _read_text(read_head(lines), lines, options)
            numbers = [*map(int, size_text.split())]
            return _check_numbers(entries, numbers, size_line[0])
        lines.put_back([size_line])
    return _read_text(head, lines, options)


def _check_numbers(
    entries: Iterator[Batch | InputError], numbers: list[int], line: int
) -> Iterator[Batch | InputError]:
    """Yield boards; refuse numbers above them that are neither their number nor their size."""
    board_count = 0
    text = " ".join(map(str, numbers))
    message = (
        f"{text!r} above boards, expected the number of boards, or the size of a board or its box"
    )
    for entry in entries:
        if isinstance(entry, InputError):
            yield entry
            yield from entries
            return
        n = entry.geometry.n
        box = [entry.geometry.box_rows, entry.geometry.box_columns]
        # Two numbers are a size. Check it before the boards are counted with wrong boxes.
        if len(numbers) == 2 and numbers not in ([n, n], box):
            raise FormatError(message, line)
        board_count += len(entry)
        yield entry
    if board_count and numbers not in ([board_count], [n], [n, n], box, box[:1]):
        raise FormatError(message, line)


def _read_text(head: Head, lines: Lines, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read an input of any form; refuse binary data with a single error."""
    if head.binary_error is None:
        return _read_form(head, lines, options)
    # If there are good boards, a line with a control character is just a bad board.
    first_entries: list[Batch | InputError] = []
    with suppress(FormatError):
        entries = _read_form(head, lines, options)
        for entry in islice(entries, _MAX_BAD_BOARDS):
            first_entries.append(entry)
            if not isinstance(entry, InputError):
                return chain(first_entries, entries)
    raise head.binary_error


def _read_form(head: Head, lines: Lines, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Recognise the form of an input and read it.

    Forms that are easy to tell from others are tried first; a grid is what remains.
    """
    if is_json(head):
        return read_objects(lines, options)
    if is_list(head):
        lines = unfold(lines, options)
        head = read_head(lines)
    else:
        header = find_header(head, options)
        if header is not None:
            return read_table(lines, options, header)
    if has_annotated_lines(head, options):
        return read_annotated_lines(lines, options)
    if has_board_per_line(head, options):
        return read_lines(lines, options)
    return read_grids(lines, options)
