"""Lines of many fields, one of them a board: many at once, cut by a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

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


class Form(Protocol):
    """What a line has in common with one that was parsed before."""

    geometry: Geometry
    """Of at most 35 digits."""
    origin: Origin
    columns: int
    """The number of fields."""
    column: int
    """The index of the board's field."""

    def cut(
        self,
        data: NDArray[np.uint8],
        places: NDArray[np.int64],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> int:
        """Cut lines up to the first that is of another form; returns how many.

        Parameters
        ----------
        data
            uint8 (bytes), whole lines.
        places
            int64 (B + 1), takes the place where each line begins, and where the last one ends.
        starts, ends
            int64 (B, columns), take the places of the fields. The board's has the right length,
            whatever stands there.
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
            numbers = np.arange(number, number + boards)
            places = Places.of(form.origin, numbers, fields.without(form.column))
            yield Batch(form.geometry, cells, places=places)


def _cut(
    data: NDArray[np.uint8], most: int, form: Form, is_ascii: bool
) -> tuple[NDArray[np.uint8], Fields, int]:
    """The boards of lines, all fields, and the bytes, up to a line that takes a closer look."""
    places = np.zeros(most + 1, np.int64)
    starts, ends = (np.empty((most, form.columns), np.int64) for _ in range(2))
    rows = form.cut(data, places, starts, ends)
    if not is_ascii:
        rows = _rows_of_text(data, places[: rows + 1])
    boards = np.ascontiguousarray(starts[:rows, form.column])
    cells = plain_boards(data, boards, form.geometry.n, compiled=True)
    rows = len(cells)
    size = int(places[rows])
    # The bytes of these rows alone: whoever joins batches joins their bytes.
    return cells, Fields(data[:size], starts[:rows], ends[:rows]), size


def _rows_of_text(data: NDArray[np.uint8], places: NDArray[np.int64]) -> int:
    """The number of lines that are UTF-8, by the places where they begin and the last one ends."""
    try:
        str(data[: places[-1]].data, "utf-8")
    except UnicodeDecodeError as error:
        return int(np.searchsorted(places, error.start, "right")) - 1
    return len(places) - 1
