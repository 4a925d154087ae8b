"""The places where the boards of a batch were read, and the texts beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import escaped


class Origin(NamedTuple):
    """A file or another input."""

    name: str
    """As messages call it."""
    columns: tuple[str, ...] = ()
    """The names of the texts beside each of its boards."""


@dataclass(frozen=True, eq=False)
class Places:
    """The place of every board of a batch."""

    origins: tuple[Origin, ...]
    """Every origin, once."""
    origin_of: NDArray[np.intp]
    """intp (B): the index of each board's origin."""
    lines: NDArray[np.int64]
    """int64 (B): the number of each board's first line, from 1; 0 for what comes from no text."""
    others: NDArray[np.object_]
    """object (B): for each board a tuple with a text for every column of its origin."""

    @classmethod
    def of(
        cls,
        origin: Origin,
        lines: Sequence[int] | NDArray[np.int64],
        others: Iterable[tuple[str, ...]] | None = None,
    ) -> Places:
        """Return the places of boards of one origin, with the texts in its columns, if any."""
        boards = len(lines)
        beside = np.fromiter(repeat(()) if others is None else others, object, boards)
        return cls((origin,), np.zeros(boards, np.intp), np.array(lines, np.int64), beside)

    @classmethod
    def joined(cls, places: Sequence[Places]) -> Places:
        """Return the places of all boards of some batches."""
        origins = tuple(dict.fromkeys(origin for each in places for origin in each.origins))
        index = {origin: place for place, origin in enumerate(origins)}
        origin_of = [np.array([index[o] for o in each.origins])[each.origin_of] for each in places]
        lines, others = [each.lines for each in places], [each.others for each in places]
        return cls(origins, *map(np.concatenate, (origin_of, lines, others)))

    def only(self, which: Any) -> Places:
        """Return the places of some boards: a slice, or a mask, bool (B)."""
        return Places(self.origins, self.origin_of[which], self.lines[which], self.others[which])

    def origin(self, index: int) -> Origin:
        """Return the origin of a board."""
        return self.origins[int(self.origin_of[index])]

    def beside(self, index: int) -> tuple[str, ...]:
        """Return the texts beside a board, for every column of its origin."""
        beside: tuple[str, ...] = self.others[index]
        return beside

    def name(self, index: int) -> str:
        """Name the place of a board as messages do: ``puzzles.txt:17``."""
        name, line = self.origin(index).name, self.lines[index]
        return escaped(f"{name}:{line}" if line else str(name))
