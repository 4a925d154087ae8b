"""Where the boards of a batch were read, and what stood beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Origin(NamedTuple):
    """A file or another input."""

    name: str
    """As messages call it."""
    columns: tuple[str, ...] = ()
    """The names of what stands beside each of its boards."""


@dataclass(frozen=True, eq=False)
class Places:
    """The place of every board of a batch."""

    origins: NDArray[np.object_]
    """An ``Origin`` for each board."""
    lines: NDArray[np.int64]
    """The number of each board's first line, from 1; 0 for what comes from no text."""
    others: NDArray[np.object_]
    """For each board a tuple of texts, one for every column of its origin."""

    @classmethod
    def of(
        cls, origin: Origin, lines: Sequence[int], others: Iterable[tuple[str, ...]] | None = None
    ) -> Places:
        """The places of boards of one origin; if it has columns, ``others`` is what is in them."""
        beside = np.empty(len(lines), object)
        beside[:] = [()] * len(lines) if others is None else list(others)
        origins = np.empty(len(lines), object)
        origins.fill(origin)
        return cls(origins, np.array(lines, np.int64), beside)

    @classmethod
    def joined(cls, places: Sequence[Places]) -> Places:
        """The places of all boards of some batches."""
        return cls(
            np.concatenate([each.origins for each in places]),
            np.concatenate([each.lines for each in places]),
            np.concatenate([each.others for each in places]),
        )

    def only(self, which: Any) -> Places:
        """The places of some boards: a slice, or a mask, bool (B)."""
        return Places(self.origins[which], self.lines[which], self.others[which])

    def name(self, index: int) -> str:
        """The place of a board as messages name it: ``puzzles.txt:17``."""
        name, line = self.origins[index].name, self.lines[index]
        return f"{name}:{line}" if line else str(name)
