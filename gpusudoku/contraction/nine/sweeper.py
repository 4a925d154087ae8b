"""What one thread does of a turn of the shares. Special to 3x3 boxes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from math import prod

import numpy as np
from numba import typeof
from numpy.typing import NDArray

from gpusudoku.contraction.nine.share_sums import exact, in_box
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.nine.arrays import P, make_workspace
from gpusudoku.kernels.contraction.nine.cpu_shares import ShareStages
from gpusudoku.kernels.contraction.nine.environments import make_found
from gpusudoku.kernels.contraction.nine.ledger import FIRST, LAST, MOST, PENDING, USED, make_ledger
from gpusudoku.kernels.contraction.nine.naming import make_naming
from gpusudoku.kernels.contraction.nine.slabs import make_slabs
from gpusudoku.kernels.contraction.nine.turns import make_turn_arrays
from gpusudoku.kernels.contraction.nine.words import make_words

CHEAP_SECONDS = 0.005
"""A board that is estimated to cost less touches some ten megabytes at most, and is soon done."""
MOST_KEPT = 8
"""Rooms that are kept for other boards, at most."""

Part = tuple[NDArray[np.intp], NDArray[np.object_]]
"""Some shares: their indices, and what they are."""


@cache
def share_stages() -> ShareStages:
    """The stages, with the tables' types."""
    return ShareStages(typeof(tables()))


class Room:
    """Where the shares of one board after the other are worked out.

    There is room for any board; what no board touches takes no memory.
    """

    def __init__(self) -> None:
        self.workspace, self.words, self.naming = make_workspace(), make_words(), make_naming()
        self.turn = make_turn_arrays(self.workspace.roles)
        self.seconds = 0.0
        """What the most expensive board so far was estimated to cost."""
        self._sweepers: dict[tuple[int, bool], Sweeper] = {}

    def sweeper(self, worker: int, wide: bool) -> Sweeper:
        """The memory of one of the threads that work here, numbered from 0 on."""
        if (worker, wide) not in self._sweepers:
            self._sweepers[worker, wide] = Sweeper(wide)
        return self._sweepers[worker, wide]


_kept: deque[Room] = deque(maxlen=MOST_KEPT)


def take_room() -> Room:
    """A room that was kept, if there is one: fresh memory costs more time than a cheap board."""
    with suppress(IndexError):
        return _kept.pop()
    return Room()


def keep_room(room: Room) -> None:
    """Keep a room in which nobody works any more, unless it has become large."""
    if room.seconds < CHEAP_SECONDS:
        _kept.append(room)


class Sweeper:
    """The memory in which one thread adds up environments.

    Parameters
    ----------
    wide
        Whether it is for boards that need wide slabs.
    """

    def __init__(self, wide: bool) -> None:
        self.slabs, self.ledger = make_slabs(wide), make_ledger(wide)
        self._wide, self._room, self._found = wide, np.zeros(0, np.int64), make_found()
        self._environment = self._room

    def begin(self, room: Room, most_pending: int) -> None:
        """Clear the environments for the turn of the board that is worked out in a room."""
        # Not the room itself, which has this sweeper: it could not be given up at once.
        self._workspace, self._naming, self._turn = room.workspace, room.naming, room.turn
        size = int(self._turn.pivot.size[1])
        if len(self._room) < size:
            self._room = np.zeros(size, np.int64)
        self._environment = self._room[:size]
        self._environment[:] = 0
        self.ledger.state[PENDING], self.ledger.state[MOST] = 0, most_pending

    def sweep(self, pairs: range, stop: NDArray[np.int64]) -> Iterator[Part]:
        """Add some pairs to the environments; give shares as soon as these are full.

        ``stop``, int64 (1), is not 0 once the thread is to stop, and then Cancelled is soon raised.
        """
        call, state = share_stages(), self.ledger.state
        sweep = call.sweep_wide if self._wide else call.sweep_narrow
        tensors = self._workspace.tensors
        state[FIRST], state[LAST], state[USED] = pairs.start, pairs.stop, 0
        while state[FIRST] < state[LAST]:
            check_cancelled()
            sweep(*self._turn, tensors, stop, self._environment, self.slabs, self.ledger)
            if state[FIRST] < state[LAST]:
                yield from self.flush()

    def flush(self) -> Iterator[Part]:
        """Give the shares that the environments hold, as indices and integers; clear these."""
        if self.ledger.state[PENDING] == 0:
            return
        turn, work = self._turn, self._workspace
        factor = prod(work.lists.divisor.tolist())
        known = tables(), work.numbering, self._naming, turn.roles, turn.pivot
        for summed in range(3):
            check_cancelled()
            share_stages().collect(summed, *known, self._environment, self._found)
            lines = int(turn.roles.crossing[P]), int(turn.roles.summed[summed])
            yield in_box(*lines, exact(self._found, factor))
        self._environment[:] = 0
        self.ledger.state[PENDING] = 0
