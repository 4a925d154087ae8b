"""Read boards of any known form.

The first lines tell the form (:mod:`~gpusudoku.formats.detect`):

* one board on each line, as characters or as numbers separated by blanks or commas; everything
  after a colon is ignored (:mod:`~gpusudoku.formats.lines`);
* a grid with one row on each line, as characters or as numbers, with or without rules around the
  boxes; blank lines separate grids. SadMan's .sdk is such a grid
  (:mod:`~gpusudoku.formats.grids`);
* CSV or TSV with a header (:mod:`~gpusudoku.formats.tables`).

Comments run from ``#`` to the end of the line. :mod:`~gpusudoku.formats.symbols` has the
symbols of the digits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import BinaryIO

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats.detect import is_one_per_line, take_head
from gpusudoku.formats.grids import read_grids
from gpusudoku.formats.lines import read_lines
from gpusudoku.formats.source import Entry, FormatError, NumberedLines, UnreadableError
from gpusudoku.formats.tables import find_header, read_table

BUFFER_BYTES = 1 << 16
"""Bytes read from a file at a time."""


def read_batches(path: str, geometry: Geometry | None = None) -> Iterator[Batch | InputError]:
    """Read every board of a file, ``-`` for standard input, many at a time where lines allow it.

    Every batch has places. A file that cannot be opened or read gives one InputError. Otherwise
    errors are those of :func:`read_stream`.
    """
    if path == "-":
        yield from _read(sys.stdin.buffer, "<stdin>", geometry)
        return
    try:
        with Path(path).open("rb", BUFFER_BYTES) as stream:
            yield from _read(stream, path, geometry)
    except OSError as error:
        yield InputError(f"{path}: {error.strerror}, expected a file that can be read")


def read_stream(
    stream: BinaryIO, source: str, geometry: Geometry | None = None
) -> Iterator[Entry | InputError]:
    """Read every board of a stream, in constant memory.

    Parameters
    ----------
    stream
        Bytes, expected to be UTF-8.
    source
        The name of the stream in errors.
    geometry
        The geometry of all boards. If not given, rules around the boxes show it; without rules
        it is guessed by :meth:`Geometry.of_size`.

    Yields
    ------
    Entry or InputError
        A board, or the error in its place. After an error in one board the others follow; after
        an error in the whole input, such as mixed formats, nothing follows.
    """
    return _single(_read(stream, source, geometry))


def read_text(
    text: str, *, geometry: Geometry | None = None, source: str = "<text>"
) -> Iterator[Board]:
    """Read every board of a text.

    Raises
    ------
    InputError
        The first that :func:`read_stream` yields.
    """
    # A lone surrogate cannot be encoded; its replacement is no symbol either.
    stream = BufferedReader(BytesIO(text.encode(errors="replace")), BUFFER_BYTES)
    for entry in read_stream(stream, source, geometry):
        if isinstance(entry, InputError):
            raise entry
        yield entry.board


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
    geometry = Geometry.parse(box) if isinstance(box, str) else box
    boards = list(read_text(text, geometry=geometry))
    if len(boards) != 1:
        raise InputError(f"{len(boards)} boards where one was expected")
    return boards[0]


def _read(stream: BinaryIO, source: str, geometry: Geometry | None) -> Iterator[Batch | InputError]:
    try:
        first = None
        for first in _entries(stream, source, geometry):
            yield first
        if first is None:
            raise UnreadableError("no board found")
    except FormatError as error:
        yield error.at(source)


def _entries(
    stream: BinaryIO, source: str, geometry: Geometry | None
) -> Iterator[Batch | InputError]:
    """Choose the reader of the input's form."""
    lines = NumberedLines(stream)
    head = take_head(lines)
    lines.put_back(head.lines)
    header = find_header(head.comment, head.lines[0])
    if header is not None:
        return read_table(lines, source, geometry, header)
    if is_one_per_line(head, geometry):
        return read_lines(lines, source, geometry)
    return read_grids(lines, source, geometry)


def _single(found: Iterable[Batch | InputError]) -> Iterator[Entry | InputError]:
    for each in found:
        if isinstance(each, InputError):
            yield each
        else:
            assert each.places is not None  # whatever is read has a place
            yield from map(Entry, each, each.places.lines.tolist())
