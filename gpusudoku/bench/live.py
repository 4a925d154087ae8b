"""The table on a terminal while it fills: the rows around the current case, rewritten in place."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from typing import IO

from gpusudoku.bench.running import Measured
from gpusudoku.bench.summary import rows_of
from gpusudoku.bench.tables import head, line

EVERY_SECONDS = 0.2
MARGIN = 4
"""The number of lines of the terminal that stay free."""


class LiveTable:
    """A table that is shown on a terminal only; ``close`` removes it."""

    def __init__(
        self,
        measured: Sequence[Measured],
        terminal: IO[str],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._measured, self._terminal, self._clock = measured, terminal, clock
        self._on = terminal.isatty()
        self._shown = 0
        self._next = 0.0

    def show(self, current: Measured) -> None:
        """Show the rows around a case, unless it is too soon after the last time."""
        if not self._on or self._clock() < self._next:
            return
        self._next = self._clock() + EVERY_SECONDS
        size = shutil.get_terminal_size()
        room = max(1, size.lines - MARGIN)
        at = self._measured.index(current)
        start = max(0, min(at - room // 2, len(self._measured) - room))
        rows = rows_of(self._measured)[start : start + room]
        lines = [f"  {head()}"]
        for number, row in enumerate(rows, start=start):
            lines.append(("> " if number == at else "  ") + line(row))
        self.close()
        self._terminal.write("".join(f"{text[: size.columns - 1]}\n" for text in lines))
        self._terminal.flush()
        self._shown = len(lines)

    def close(self) -> None:
        """Remove the table from the terminal."""
        if self._shown:
            self._terminal.write(f"\x1b[{self._shown}A\x1b[J")
            self._terminal.flush()
            self._shown = 0
