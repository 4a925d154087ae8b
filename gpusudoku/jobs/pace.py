"""How long work takes, and how much to do at a time, so that each time takes about as long."""

from __future__ import annotations


class Pace:
    """A size that doubles while work is quick and halves when it is slow.

    Parameters
    ----------
    size
        The first size.
    seconds
        How long a piece of work should take. It may take half or twice as long.
    most
        The size never exceeds this; None for no bound.
    """

    def __init__(self, size: int, seconds: float, most: int | None = None) -> None:
        self.size = size if most is None else min(size, most)
        self._seconds, self._most = seconds, most

    def took(self, seconds: float, *, full: bool) -> None:
        """Set the next size by how long the last piece took, and whether it had the full size."""
        if full and seconds < self._seconds / 2:
            self.size = 2 * self.size if self._most is None else min(2 * self.size, self._most)
        elif seconds > self._seconds * 2:
            self.size = max(1, self.size // 2)


class Cost:
    """How long one of many takes: a mean, in which the last weigh most.

    Threads may share it without a lock: one that reads between the two sums of another gets a
    mean that is a little off, and the next time corrects it.
    """

    def __init__(self) -> None:
        self._seconds = self._number = 0.0

    def took(self, seconds: float, number: int) -> None:
        """Learn how long some took."""
        self._seconds = self._seconds / 2 + seconds
        self._number = self._number / 2 + number

    def of(self, number: int) -> float:
        """How many seconds some will take; 0 if nothing was learnt."""
        return number * self._seconds / self._number if self._number else 0.0
