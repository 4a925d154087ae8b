"""Read boards of any known form.

The first lines tell the form:

* one board on each line, as characters or as numbers separated by blanks or commas; everything
  after a colon is ignored (:mod:`~gpusudoku.formats.lines`);
* one board on each line with text in front of it or behind it, or as a link
  (:mod:`~gpusudoku.formats.beside`);
* a grid with one row on each line, as characters or as numbers, with or without rules around the
  boxes; blank lines separate grids. SadMan's .sdk is such a grid
  (:mod:`~gpusudoku.formats.grids`);
* a table with or without a header, one row on each line (:mod:`~gpusudoku.formats.tables`);
* JSON objects, or lists of Python, JSON, C or Java, which stand for lines of the first two forms
  (:mod:`~gpusudoku.formats.objects`).

Comments run from ``#`` to the end of the line. :mod:`~gpusudoku.formats.symbols` has the
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
from gpusudoku.formats.beside import is_beside, read_beside
from gpusudoku.formats.grids import Head, head_of, is_one_per_line, read_grids
from gpusudoku.formats.lines import next_line, plain_board, read_lines, read_plain
from gpusudoku.formats.objects import is_json, is_list, read_objects, unfold
from gpusudoku.formats.source import (
    BUFFER_BYTES,
    FormatError,
    Lines,
    Meter,
    UnreadableError,
    Way,
    content,
    opened,
)
from gpusudoku.formats.tables import find_header, read_table

_SIZE = re.compile(rb"[1-9][0-9]{0,6}(?: [1-9][0-9]?)? *")
"""A number of boards, or of rows and columns of a board or of its boxes."""
_TEXT = "<text>"
"""The source of a text, in errors."""
_MIN_ROW = 4
"""Characters of the line below them."""
_MAX_BAD = 1 << 7
"""Bad boards before the first good one, if there are control characters: more are binary data."""


def read_batches(
    path: str,
    geometry: Geometry | None = None,
    *,
    column: str | None = None,
    meter: Meter | None = None,
    words: Callable[[Hint], str] = python_words,
) -> Iterator[Batch | InputError]:
    """Read a file, ``-`` for standard input, as :func:`read_stream` does; a meter follows it."""
    try:
        with opened(path, meter) as (stream, source):
            yield from read_stream(stream, Way(source, geometry, column, words=words))
    except InputError as error:
        yield error
    except OSError as error:
        yield InputError(f"{path}: {error.strerror}, expected a file that can be read")


def read_stream(stream: BinaryIO, way: Way) -> Iterator[Batch | InputError]:
    """Read every board of a stream of bytes, UTF-8 or UTF-16, in constant memory.

    Boards come many at a time where lines allow it; every batch has places. In the place of a bad
    board comes its error, and others follow; after an error in the whole input, such as mixed
    formats, nothing follows.
    """
    try:
        first = None
        for first in _entries(Lines(stream), way):
            yield first
        if first is None:
            raise UnreadableError("no board found")
    except FormatError as error:
        yield error.at(way)


def read_text_batches(text: str, way: Way) -> Iterator[Batch | InputError]:
    """Read a text as :func:`read_stream` does."""
    # A lone surrogate cannot be encoded; the bytes that it becomes are no symbol either.
    data = text.encode(errors="surrogatepass")
    return read_stream(BufferedReader(BytesIO(data), BUFFER_BYTES), way)


def read_text(
    text: str,
    *,
    geometry: Geometry | None = None,
    source: str = _TEXT,
    column: str | None = None,
    near: Geometry | None = None,
) -> Iterator[Board]:
    """Read every board of a text, up to the first error, which is raised."""
    return _boards_of(text, Way(source, geometry, column, near))


def _boards_of(text: str, way: Way) -> Iterator[Board]:
    for found in read_text_batches(text, way):
        if isinstance(found, InputError):
            raise found
        yield from found


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
    return plain_board(text, geometry) or parse_as(text, Way(_TEXT, geometry))


def parse_as(text: str, way: Way) -> Board:
    """Read one board from text, with the options of a way."""
    boards = list(_boards_of(text, way))
    if len(boards) != 1:
        raise InputError(f"{len(boards)} boards where one was expected")
    return boards[0]


def _entries(lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read an input of any form, below a line with the number of its boards or their size."""
    plain = read_plain(lines, way)
    if plain is not None:
        return plain
    head = head_of(lines)
    if _SIZE.fullmatch(head.first) and way.geometry != Geometry(1, 1):
        first = next(lines)
        size = head.first
        text = content(next_line(lines)[1])
        figures, cells = (len(b"".join(line.split())) for line in (size, text))
        # A row where blanks are empty cells is as long as the next one.
        if len(size) < len(text) and max(figures + 1, _MIN_ROW) <= cells:
            found = _entries_of_text(head_of(lines), lines, way)
            return _checked(found, [*map(int, size.split())], first[0])
        lines.put_back([first])
    return _entries_of_text(head, lines, way)


def _checked(
    found: Iterator[Batch | InputError], numbers: list[int], line: int
) -> Iterator[Batch | InputError]:
    """Read boards, and refuse numbers above them that tell neither how many nor how large."""
    boards = 0
    text = " ".join(map(str, numbers))
    message = f"{text!r} above boards, expected their number, or the size of one or its box"
    for entry in found:
        if isinstance(entry, InputError):
            yield entry
            yield from found
            return
        n = entry.geometry.n
        box = [entry.geometry.box_rows, entry.geometry.box_columns]
        if len(numbers) == 2 and numbers not in ([n, n], box):  # before a wrong answer
            raise FormatError(message, line)
        boards += len(entry)
        yield entry
    if boards and numbers not in ([boards], [n], [n, n], box, box[:1]):
        raise FormatError(message, line)


def _entries_of_text(head: Head, lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read an input of any form; binary data is one error."""
    if head.binary is None:
        return _entries_of_form(head, lines, way)
    # A line with a control character is one bad board, if there are good ones.
    first: list[Batch | InputError] = []
    with suppress(FormatError):
        found = _entries_of_form(head, lines, way)
        for entry in islice(found, _MAX_BAD):
            first.append(entry)
            if not isinstance(entry, InputError):
                return chain(first, found)
    raise head.binary


def _entries_of_form(head: Head, lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Choose the reader of the input's form."""
    if is_json(head):
        return read_objects(lines, way)
    if is_list(head):
        lines = unfold(lines, way)
        head = head_of(lines)
    else:
        header = find_header(head, way)
        if header is not None:
            return read_table(lines, way, header)
    if is_beside(head, way):
        return read_beside(lines, way)
    if is_one_per_line(head, way):
        return read_lines(lines, way)
    return read_grids(lines, way)
