"""A run on a Dask cluster: portions go out to workers, and what came of each comes back once.

All that counts is here: what was found, and what is left. A worker gets a portion, works at it for
a few seconds, and gives back what it found together with what it left, which goes back to the pile.
If it is lost meanwhile, so is what it did: the portion is put back as it was. So no task is ever
counted twice, whoever dies, joins or leaves.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from gpusudoku.errors import Cancelled
from gpusudoku.jobs.cancel import any_cancelled
from gpusudoku.jobs.watch import Progress, current_watch
from gpusudoku.planning.portion import Portion
from gpusudoku.runs.cluster.dealer import Dealer, telling_loss
from gpusudoku.runs.cluster.worker import Run, Worked, work
from gpusudoku.runs.keeper import Keeper

STEP_SECONDS = (0.2, 5.0)
"""The shortest and the longest step: as long a worker may have to wait for work in the end, and as
long it works on for nobody when this process is killed."""
STEP_SHARE = 0.1
"""A step takes this share of the time that the run has taken."""
PORTIONS = 2
"""Portions for each worker: whoever is done with one finds another."""


@dataclass(frozen=True)
class Piece:
    """A portion, and the number that the keeper knows it by."""

    number: int
    portion: Portion


class Driver:
    """Has a run done by the workers of a cluster.

    Parameters
    ----------
    dealer
        Knows the workers.
    run
        What they are told.
    keeper
        Has what is left; it is told all that is found at once.
    limit
        It is over once so many solutions are found.
    """

    def __init__(self, dealer: Dealer[Piece], run: Run, keeper: Keeper, limit: float = inf) -> None:
        self.devices: set[str] = set()
        """On what workers have worked."""
        self._dealer, self._run, self._keeper, self._limit = dealer, run, keeper, limit
        self._pile: deque[Piece] = deque()
        self._busy: dict[str, float] = defaultdict(float)
        self._start = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self._start

    @property
    def utilisation(self) -> tuple[float, ...]:
        """For every worker that found something, the share of the time in which it worked."""
        return tuple(min(1.0, busy / self.seconds) for busy in self._busy.values())

    def drive(self) -> None:
        """Go on until nothing is left; tell the watch. A KeyboardInterrupt leaves this as it is.

        Raises
        ------
        ClusterError
            If a worker cannot be used, or the cluster is lost. The keeper has what was found.
        Cancelled
            After a cancellation, likewise.
        """
        self._start = self._saved = time.monotonic()
        self._put(self._keeper.deal())
        try:
            while (self._pile or self._dealer.busy) and self._keeper.count < self._limit:
                if any_cancelled():
                    raise Cancelled("cancelled", self._keeper.count)
                with telling_loss():
                    self._pile.extend(self._dealer.look())
                    self._send()
                    for each in self._dealer.take():
                        self._keep(*each)
                current_watch().progress(self._progress())
        finally:
            self._dealer.dismiss()

    def _put(self, portions: Mapping[int, Portion]) -> None:
        """Put portions on the pile."""
        self._pile.extend(Piece(number, portion) for number, portion in portions.items())

    def _progress(self) -> Progress:
        """How far the whole run is, with all that was done of it before."""
        seconds = self._keeper.seconds + time.monotonic() - self._saved
        return Progress(self._keeper.done, self._keeper.count, seconds)

    def _send(self) -> None:
        """Give work to all who have none."""
        idle = self._dealer.idle
        if len(self._pile) < len(idle):
            self._divide()
        seconds = min(max(STEP_SECONDS[0], STEP_SHARE * self.seconds), STEP_SECONDS[1])
        for worker, _ in zip(idle, range(len(self._pile)), strict=False):
            piece = self._pile.popleft()
            self._dealer.send(worker, piece, work, self._run, piece.portion, seconds)

    def _divide(self) -> None:
        """Divide the pile anew among all, but for portions that workers were lost with."""
        lost = self._dealer.lost
        ids = [piece.number for piece in self._pile if piece.number not in lost]
        if ids:
            self._pile = deque(piece for piece in self._pile if piece.number in lost)
            hands = PORTIONS * self._dealer.workers - self._dealer.busy - len(self._pile)
            self._put(self._keeper.deal(max(1, hands), ids))

    def _keep(self, worker: str, piece: Piece, worked: Worked) -> None:
        """Keep what came of a piece."""
        step, now = worked.step, time.monotonic()
        # Others worked meanwhile: a run takes as long as it takes.
        self._keeper.save(piece.number, replace(step, seconds=now - self._saved))
        self._saved = now
        if step.left:
            self._pile.append(Piece(piece.number, step.left))
        self.devices.add(worked.device)
        self._busy[worker] += step.seconds
