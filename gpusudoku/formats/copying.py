"""Lines of many fields, one of them a board: many at once, cut by a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.formats.plain import Run, plain_boards
from gpusudoku.formats.source import Lines

PARSED_LINES = 1 << 8
"""Fewer lines are parsed one by one before it is worth loading, or compiling, kernels."""


class Spans(NamedTuple):
    """Where lines begin, and what stands on them."""

    places: NDArray[np.int64]
    """int64 (B + 1): where each line begins, and where the last one ends."""
    boards: NDArray[np.int64]
    """int64 (B): where each board begins."""
    others: NDArray[np.int64]
    """int64 (2, B, columns - 1): where each of the other fields begins, and where it ends."""

    @classmethod
    def of(cls, rows: int, columns: int) -> Spans:
        """Room for those of some rows."""
        others = np.empty((2, rows, columns - 1), np.int64)
        return cls(np.zeros(rows + 1, np.int64), np.empty(rows, np.int64), others)

    def first(self, rows: int) -> Spans:
        """Those of the first rows."""
        return Spans(self.places[: rows + 1], self.boards[:rows], self.others[:, :rows])


class Form(Protocol):
    """What a line has in common with one that was parsed before."""

    geometry: Geometry
    """Of at most 35 digits."""
    origin: Origin
    columns: int
    """The number of fields."""
    shortest: int
    """No line has fewer bytes."""

    def cut(self, data: NDArray[np.uint8], spans: Spans) -> int:
        """Cut lines up to the first that is of another form; returns how many.

        Parameters
        ----------
        data
            uint8 (bytes), whole lines.
        spans
            Takes the places. The board has the right length, whatever stands there.
        """
        ...

    def fields(self, data: NDArray[np.uint8], spans: Spans) -> Fields:
        """What stands beside the boards on lines that were cut.

        Lines from the first on that takes a closer look may be missing. ``data`` is UTF-8, and
        ends with the last of the lines.
        """
        ...


class FieldCopier:
    """Reads many boards at once, from lines that look like one that was parsed before."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._run = Run()

    def parsed(self) -> bool:
        """Notice that a line was parsed; returns whether it is worth following it."""
        self._run.boards += 1
        return self._run.boards > PARSED_LINES

    def follow(self, form: Form) -> Iterator[Batch]:
        """Read on while the lines at hand are of a form, and their boards certain."""
        run = self._run
        while True:
            data = self._lines.at_hand()
            cells, fields, size = _cut(data, run.lines, form, self._lines.is_ascii)
            boards = len(cells)
            run.took(boards if size == len(data) else run.lines, boards)
            if not boards:
                return
            number = self._lines.skip(boards, size)
            places = Places.of(form.origin, np.arange(number, number + boards), fields)
            yield Batch(form.geometry, cells, places=places)


def _cut(
    data: NDArray[np.uint8], most: int, form: Form, is_ascii: bool
) -> tuple[NDArray[np.uint8], Fields, int]:
    """The boards of lines, what stands beside them, and the bytes, up to one for a closer look."""
    spans = Spans.of(min(most, len(data) // form.shortest), form.columns)
    rows = form.cut(data, spans)
    if not is_ascii:
        rows = _rows_of_text(data, spans.places[: rows + 1])
    cells = plain_boards(data, spans.boards[:rows], form.geometry.n, compiled=True)
    spans = spans.first(len(cells))
    # The bytes of these rows alone: whoever joins batches joins their bytes.
    fields = form.fields(data[: spans.places[-1]], spans)
    return cells[: len(fields)], fields, int(spans.places[len(fields)])


def _rows_of_text(data: NDArray[np.uint8], places: NDArray[np.int64]) -> int:
    """The number of lines that are UTF-8, by the places where they begin and the last one ends."""
    try:
        str(data[: places[-1]].data, "utf-8")
    except UnicodeDecodeError as error:
        return int(np.searchsorted(places, error.start, "right")) - 1
    return len(places) - 1
