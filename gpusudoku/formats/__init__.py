"""Boards as text: reading recognises the form by itself, writing is given the name of a form.

:mod:`~gpusudoku.formats.read` describes the forms that are read, :data:`FORMATS` those written.
"""

from gpusudoku.board.text import line_buffer, write_lines
from gpusudoku.formats.read import parse, read_batches, read_stream, read_text, read_text_batches
from gpusudoku.formats.source import STDIN, Meter, ReadOptions
from gpusudoku.formats.write import FORMATS, header, ruled, separator, write, write_batch

__all__ = [
    "FORMATS",
    "STDIN",
    "Meter",
    "ReadOptions",
    "header",
    "line_buffer",
    "parse",
    "read_batches",
    "read_stream",
    "read_text",
    "read_text_batches",
    "ruled",
    "separator",
    "write",
    "write_batch",
    "write_lines",
]
