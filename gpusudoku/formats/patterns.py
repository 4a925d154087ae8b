"""JSON objects that differ from one that was read in their values only."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin
from gpusudoku.board.text import DIGITS

_VALUE = rb'(?:"[^"\\\x00-\x1f]*"|[-.0-9]+|true|false|null)'
_PAIR = rb'"[^"\\\x00-\x1f]*"\s*:\s*(' + _VALUE + rb")"
_PAIRS = re.compile(_PAIR)
_FLAT = re.compile(rb"\s*\{\s*" + _PAIR + rb"(?:\s*,\s*" + _PAIR + rb")*\s*\}\s*")


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
        self.columns, self.column = len(kind.names), kind.names.index(kind.board)
        box = kind.names.index(kind.box) if kind.box in kind.names else -1
        values = [line[start:end] for start, end in spans]
        starts, ends = zip(*spans, strict=True)
        pieces = [line[i:j] for i, j in zip((0, *ends), (*starts, len(line)), strict=True)]
        pieces.append(b"" if box < 0 else values[box])
        self._text = np.frombuffer(b"".join(pieces), np.uint8)
        self._cuts = np.cumsum([0, *map(len, pieces)])
        self._board = np.array([self.column, self.geometry.cells, box])
        self.is_plain = len(values[self.column]) == kind.geometry.cells + 2 and (
            box < 0 or values[box].startswith(b'"')
        )
        """Whether the board is a text of one character for each cell, and the box a text."""

    @classmethod
    def of(cls, line: bytes, kind: Kind) -> Pattern | None:
        """The pattern of a line that was read; None if it is no flat object of plain values."""
        line = line.rstrip(b"\r\n")
        if not _FLAT.fullmatch(line) or kind.geometry.n > len(DIGITS):
            return None
        pattern = cls(kind, line, [pair.span(1) for pair in _PAIRS.finditer(line)])
        return pattern if pattern.is_plain else None

    def cut(
        self,
        data: NDArray[np.uint8],
        places: NDArray[np.int64],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> int:
        """See :class:`Form`."""
        from gpusudoku.kernels.text.objects import cut_objects  # Numba takes long to import

        rows: int = cut_objects(data, self._text, self._cuts, self._board, places, starts, ends)
        return rows
