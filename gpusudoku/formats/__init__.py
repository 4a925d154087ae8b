"""Boards as text: a reader recognises the form by itself, a writer is told its name.

:mod:`~gpusudoku.formats.read` describes what is read, :data:`FORMATS` what is written.
"""

from gpusudoku.board.text import write_lines
from gpusudoku.formats.read import parse, read_batches, read_stream, read_text
from gpusudoku.formats.source import Entry
from gpusudoku.formats.write import FORMATS, header, ruled, separator, write, write_line

__all__ = [
    "FORMATS",
    "Entry",
    "header",
    "parse",
    "read_batches",
    "read_stream",
    "read_text",
    "ruled",
    "separator",
    "write",
    "write_line",
    "write_lines",
]
