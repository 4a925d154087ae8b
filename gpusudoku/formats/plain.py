"""Boards whose characters all have one meaning, many at a time, from a buffer of bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.formats.source import Lines
from gpusudoku.formats.symbols import CHARACTERS, WITHOUT_ZERO
from gpusudoku.formats.texts import as_symbols
from gpusudoku.kernels.text.values import DASH

LEAST_LINES = 16
"""Lines read together at first, and again after a line that differs from the others."""
MOST_LINES = 1 << 14
"""Lines read together at most."""
COMPILED_BOARDS = 1 << 14
"""Fewer boards in plain lines are read before it is worth loading, or compiling, a kernel."""
_LONE_RETURN = re.compile(rb"\r(?!\n)")


class Run:
    """Lines that are alike, taken together: the more of them were plain, the more.

    Looking at many lines in vain would cost more than parsing the few that are plain.
    """

    def __init__(self) -> None:
        self.lines = LEAST_LINES
        """How many lines to look at."""
        self.boards = 0
        """How many boards were read before."""

    def took(self, lines: int, plain: int) -> None:
        """Notice that so many lines were at hand, and how many of them were plain."""
        self.boards += plain
        self.lines = min(2 * self.lines, MOST_LINES) if plain == lines > 0 else LEAST_LINES


class LineBlocks:
    """Takes lines of several fields in blocks, one field of each a board, as far as all are plain.

    Whoever splits the lines leaves those that differ from the one before the block to a parser.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._run = Run()
        self._block, self._size = b"", 0
        """The block at hand, and its number of lines."""

    def next(self, line: bytes) -> list[str]:
        """Return lines at hand without their ends; none if there are none like the last line."""
        most = self._run.lines * len(line)
        block = self._lines.at_hand()[:most].tobytes()
        found = _LONE_RETURN.search(block) if b"\r" in block else None
        block = block[: block.rfind(b"\n", 0, found.start() if found else None) + 1]
        try:
            text = block.decode()
        except UnicodeDecodeError as error:
            block = block[: block.rfind(b"\n", 0, error.start) + 1]
            text = block.decode()
        lines = text.replace("\r\n", "\n").split("\n")[:-1]
        self._block, self._size = block, len(lines)
        return lines

    def take(
        self,
        boards: Sequence[str],
        others: Sequence[tuple[str, ...]],
        geometry: Geometry,
        origin: Origin,
    ) -> Batch | None:
        """Pass over the first lines of the block, and return their boards; None if there are none.

        Parameters
        ----------
        boards
            Texts of the first lines, of one character for each cell of this geometry. They are
            taken up to the first that takes a closer look.
        others
            What stands beside them.
        """
        starts = np.arange(len(boards)) * geometry.cells
        compiled = self._run.boards >= COMPILED_BOARDS
        cells = plain_boards(as_symbols(boards), starts, geometry.n, compiled=compiled)
        taken = len(cells)
        self._run.took(self._size, taken)
        if not taken:
            return None
        rest = self._block.split(b"\n", taken)[taken] if taken < self._size else b""
        number = self._lines.skip(taken, len(self._block) - len(rest))
        places = Places.of(origin, np.arange(number, number + taken), others[:taken])
        return Batch(geometry, cells, places=places)


def plain_boards(
    data: NDArray[np.uint8], starts: NDArray[np.int64], n: int, *, compiled: bool
) -> NDArray[np.uint8]:
    """The boards up to the first that takes a closer look.

    One does if it has other characters than the digits up to n and the signs for an empty cell, or
    those whose value is ambiguous; or if it may be a rule: no digit, but a dash.

    Parameters
    ----------
    data
        uint8 (bytes).
    starts
        int64 (B), where the n * n characters of each board begin.
    compiled
        Whether there are enough boards to call a kernel. Without it this takes NumPy.

    Returns
    -------
    uint8 (up to B, n * n)
    """
    if compiled:
        from gpusudoku.kernels.text.boards import take_boards  # Numba takes long to import

        cells = np.empty((len(starts), n * n), np.uint8)
        taken: int = take_boards(data, starts, n, cells)
        return cells[:taken]
    symbols = data[starts[:, None] + np.arange(n * n)]
    table = np.frombuffer(WITHOUT_ZERO if n == 16 else CHARACTERS, np.uint8)
    values: NDArray[np.uint8] = table[symbols]
    largest = values.max(axis=1, initial=0)
    plain = (largest <= n) & ((largest > 0) | (symbols != DASH).all(axis=1))
    return values if plain.all() else values[: plain.argmin()]
