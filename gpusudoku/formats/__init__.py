"""Boards as text: a reader recognises the form by itself, a writer is told its name.

:mod:`~gpusudoku.formats.read` describes what is read, :data:`FORMATS` what is written.
"""

from gpusudoku.board.text import write_lines
from gpusudoku.formats.opening import STDIN, Meter
from gpusudoku.formats.read import (
    parse,
    read_batches,
    read_stream,
    read_text,
    read_text_batches,
)
from gpusudoku.formats.source import Entry, Way
from gpusudoku.formats.write import (
    FORMATS,
    header,
    ruled,
    separator,
    write,
    write_batch,
    write_line,
)

__all__ = [
    "FORMATS",
    "STDIN",
    "Entry",
    "Meter",
    "Way",
    "header",
    "parse",
    "read_batches",
    "read_stream",
    "read_text",
    "read_text_batches",
    "ruled",
    "separator",
    "write",
    "write_batch",
    "write_line",
    "write_lines",
]
