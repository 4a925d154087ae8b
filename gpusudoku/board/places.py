"""Where the boards of a batch were read, and what stood beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import escaped


class Origin(NamedTuple):
    """A file or another input."""

    name: str
    """As messages call it."""
    columns: tuple[str, ...] = ()
    """The names of what stands beside each of its boards."""


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
        """The places of boards of one origin; if it has columns, ``others`` is what is in them."""
        boards = len(lines)
        beside = np.empty(boards, object)
        beside.fill(())
        if others is not None:
            beside = np.fromiter(others, object, boards)
        return cls((origin,), np.zeros(boards, np.intp), np.array(lines, np.int64), beside)

    @classmethod
    def joined(cls, places: Sequence[Places]) -> Places:
        """The places of all boards of some batches."""
        index: dict[Origin, int] = {}
        for each in places:
            for origin in each.origins:
                index.setdefault(origin, len(index))
        return cls(
            tuple(index),
            np.concatenate(
                [np.array([index[o] for o in each.origins])[each.origin_of] for each in places]
            ),
            np.concatenate([each.lines for each in places]),
            np.concatenate([each.others for each in places]),
        )

    def only(self, which: Any) -> Places:
        """The places of some boards: a slice, or a mask, bool (B)."""
        origin_of, lines = self.origin_of[which], self.lines[which]
        return Places(self.origins, origin_of, lines, self.others[which])

    def origin(self, index: int) -> Origin:
        """The origin of a board."""
        return self.origins[int(self.origin_of[index])]

    def beside(self, index: int) -> tuple[str, ...]:
        """What stood beside a board: a text for every column of its origin."""
        beside: tuple[str, ...] = self.others[index]
        return beside

    def name(self, index: int) -> str:
        """The place of a board as messages name it: ``puzzles.txt:17``."""
        name, line = self.origin(index).name, self.lines[index]
        return escaped(f"{name}:{line}" if line else str(name))
