"""How long searches took because contractions were not compiled.

A search that takes less than compiling is the better choice once, but not every day. Nobody knows
how often boards of the kind will be counted. So it is done as with skis: they are rented until the
rents add up to their price. That never costs more than twice what it costs those who know.
"""

from __future__ import annotations

from contextlib import suppress

from gpusudoku.kernels import jit


class Patience:
    """Seconds that were waited, kept with the compiled kernels from one process to the next.

    Parameters
    ----------
    name
        What for; part of the name of a file.
    """

    def __init__(self, name: str) -> None:
        self._file = f"waited-{name}"
        self._seconds = 0.0
        """Where nothing can be kept, those of this process count."""

    @property
    def seconds(self) -> float:
        """How long it was, in all."""
        store = jit.store()
        content = None if store is None else store.read(self._file)
        with suppress(TypeError, ValueError):
            self._seconds = max(self._seconds, float(content or b""))
        return self._seconds

    def add(self, seconds: float) -> None:
        """Remember that so many more were waited."""
        self._seconds = self.seconds + seconds
        store = jit.store()
        if store is not None and store.writable():
            store.write(self._file, repr(self._seconds).encode())
