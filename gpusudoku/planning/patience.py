"""How long searches took because contractions were not compiled.

A search that takes less than compiling is the better choice once, but not every day. Nobody knows
how often boards of the kind will be counted. So it is done as with skis: they are rented until the
rents add up to their price. As far as prices are right, that never costs more than twice what it
costs those who know.
"""

from __future__ import annotations

from contextlib import suppress
from math import inf

from gpusudoku.kernels import jit

MORE = 1.05
"""What is on disk is replaced when it has grown by this factor: to write takes some time, too."""


class Patience:
    """Seconds that were waited, kept with the compiled kernels from one process to the next.

    Parameters
    ----------
    name
        What for; part of the name of a file.
    """

    def __init__(self, name: str) -> None:
        self._file = f"waited-{name}"
        self._seconds: float | None = None
        self._kept = 0.0
        """The seconds that are on disk, as far as this process knows."""

    @property
    def seconds(self) -> float:
        """How long it was, in all."""
        if self._seconds is None:
            store = jit.store()
            content = None if store is None else store.read(self._file)
            with suppress(TypeError, ValueError):
                self._kept = float(content or b"")
            if not 0 < self._kept < inf:
                self._kept = 0.0
            self._seconds = self._kept
        return self._seconds

    def add(self, seconds: float) -> None:
        """Remember that so many more were waited."""
        self._seconds = self.seconds + seconds
        store = jit.store()
        if store is not None and self._seconds > MORE * self._kept:
            store.write(self._file, repr(self._seconds).encode())
            self._kept = self._seconds
