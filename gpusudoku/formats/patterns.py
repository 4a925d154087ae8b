"""JSON objects that differ from one that was read in their values only."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin
from gpusudoku.board.text import DIGITS
from gpusudoku.formats.copying import Spans
from gpusudoku.kernels.text.values import WIDE

_BLANKS = re.compile(r"[ \t]*")
_READ = json.JSONDecoder().raw_decode


class Kind(NamedTuple):
    """What objects with the same names have in common."""

    geometry: Geometry
    origin: Origin
    names: tuple[str, ...]
    """Those of all values."""
    board: str
    """The name of the board."""
    box: str | None
    """The name of a value that would change the geometry, if there is one."""


class Pattern:
    """A line of which the values may be others.

    Parameters
    ----------
    kind
        What it was read as.
    line
        The line, without its end.
    spans
        Where each value begins and ends.
    """

    def __init__(self, kind: Kind, line: bytes, spans: list[tuple[int, int]]) -> None:
        self.geometry, self.origin = kind.geometry, kind.origin
        column = kind.names.index(kind.board)
        self.columns = len(kind.names)
        box = kind.names.index(kind.box) if kind.box in kind.names else -1
        values = [line[start:end] for start, end in spans]
        starts, ends = zip(*spans, strict=True)
        pieces = [line[i:j] for i, j in zip((0, *ends), (*starts, len(line)), strict=True)]
        self.shortest = sum(map(len, pieces)) + kind.geometry.cells
        pieces.append(b"" if box < 0 else values[box])
        self._text = np.frombuffer(b"".join([*pieces, bytes(WIDE)]), np.uint8)
        self._cuts = np.cumsum([0, *map(len, pieces)])
        self._board = np.array([column, self.geometry.cells, box])
        self.is_plain = len(values[column]) == kind.geometry.cells + 2 and (
            box < 0 or values[box].startswith(b'"')
        )
        """Whether the board is a text of one character for each cell, and the box a text."""

    @classmethod
    def of(cls, line: bytes, kind: Kind) -> Pattern | None:
        """The pattern of a line that was read as an object; None if its board is no plain text."""
        if kind.geometry.n > len(DIGITS):
            return None
        line = line.rstrip(b"\r\n")
        pattern = cls(kind, line, _spans(line))
        return pattern if pattern.is_plain else None

    def cut(self, data: NDArray[np.uint8], spans: Spans) -> int:
        """See :class:`Form`: the start of a value that cannot stand as it is comes inverted."""
        from gpusudoku.kernels.text.objects import cut_objects  # Numba takes long to import

        behind = np.empty(self.columns, np.int64)
        rows: int = cut_objects(data, self._text, self._cuts, self._board, *spans, behind)
        return rows

    def fields(self, data: NDArray[np.uint8], spans: Spans) -> Fields:
        """See :class:`Form`: strings without escapes, and what Python writes for other values."""
        starts, ends = spans.others
        if starts.min(initial=0) >= 0:
            return Fields(data, starts, ends)
        from gpusudoku.kernels.text.odd import GROWTH, MOST_KEYS, write_odd

        odd = starts < 0
        out = np.empty(GROWTH * int((ends[odd] - ~starts[odd]).sum()), np.uint8)
        keys, sizes = np.empty((3, MOST_KEYS), np.int64), np.zeros(1, np.int64)
        rows = write_odd(data, starts, ends, len(data), out, keys, sizes)
        return Fields(np.concatenate([data, out[: sizes[0]]]), starts[:rows], ends[:rows])


def _spans(line: bytes) -> list[tuple[int, int]]:
    """Where each value begins and ends on the line of an object."""
    text = line.decode("latin-1")  # in which bytes keep their places
    spans, place = [], text.index("{")
    while text[place] != "}":
        _, place = _READ(text, _behind_blanks(text, place + 1))
        start = _behind_blanks(text, _behind_blanks(text, place) + 1)
        _, end = _READ(text, start)
        spans.append((start, end))
        place = _behind_blanks(text, end)
    return spans


def _behind_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    assert found is not None  # it matches nothing, too
    return found.end()
