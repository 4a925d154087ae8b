"""Read boards of any known form.

The form is told from the first lines (:mod:`~gpusudoku.formats.detect`):

* one board on a line, as characters or as numbers separated by blanks or commas; what follows a
  colon is left out (:mod:`~gpusudoku.formats.lines`);
* a grid of one row per line, as characters or as numbers, with or without rules around the boxes;
  grids are separated by blank lines. SadMan's .sdk is such a grid
  (:mod:`~gpusudoku.formats.grids`);
* CSV or TSV with a header (:mod:`~gpusudoku.formats.tables`).

Comments run from ``#`` to the end of the line. :mod:`~gpusudoku.formats.symbols` says what stands
for which digit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from gpusudoku.board import Board
from gpusudoku.errors import InputError
from gpusudoku.formats.detect import is_one_per_line, take_head
from gpusudoku.formats.grids import read_grids
from gpusudoku.formats.lines import read_lines
from gpusudoku.formats.source import Entry, FormatError, UnreadableError, numbered_lines
from gpusudoku.formats.tables import find_header, read_table
from gpusudoku.geometry import Geometry


def read_stream(
    stream: BinaryIO, source: str, geometry: Geometry | None = None
) -> Iterator[Entry | InputError]:
    """Every board of a stream, in constant memory.

    Parameters
    ----------
    stream
        Bytes, of which UTF-8 is expected.
    source
        What errors call the stream.
    geometry
        That of all boards. If not given it is what rules around the boxes show, else the guess
        of :meth:`Geometry.of_size`.

    Yields
    ------
    Entry or InputError
        A board, or in place of it the error. After an error in one board the others follow; after
        one that concerns the whole input, such as mixed formats, nothing does.
    """
    try:
        first = None
        for first in _entries(stream, source, geometry):
            yield first
        if first is None:
            raise UnreadableError("no board found")
    except FormatError as error:
        yield error.at(source)


def read_path(path: str, geometry: Geometry | None = None) -> Iterator[Entry | InputError]:
    """Every board of a file, ``-`` for standard input: see :func:`read_stream`.

    A file that cannot be opened or read is one InputError.
    """
    if path == "-":
        yield from read_stream(sys.stdin.buffer, "<stdin>", geometry)
        return
    try:
        with Path(path).open("rb") as stream:
            yield from read_stream(stream, path, geometry)
    except OSError as error:
        yield InputError(f"{path}: {error.strerror}, expected a file that can be read")


def read_text(
    text: str, *, geometry: Geometry | None = None, source: str = "<text>"
) -> Iterator[Board]:
    """Every board of a text.

    Raises
    ------
    InputError
        The first that :func:`read_stream` yields.
    """
    # A lone surrogate cannot be encoded; whatever replaces it is no symbol either.
    stream = BytesIO(text.encode(errors="replace"))
    for entry in read_stream(stream, source, geometry):
        if isinstance(entry, InputError):
            raise entry
        yield entry.board


def _entries(
    stream: BinaryIO, source: str, geometry: Geometry | None
) -> Iterator[Entry | InputError]:
    """Choose the reader of the form at hand."""
    rest = numbered_lines(stream)
    head = take_head(rest)
    lines = chain(head.lines, rest)
    header = find_header(head.comment, head.lines[0])
    if header is not None:
        return read_table(lines, source, geometry, header)
    if is_one_per_line(head, geometry):
        return read_lines(lines, source, geometry)
    return read_grids(lines, source, geometry)
