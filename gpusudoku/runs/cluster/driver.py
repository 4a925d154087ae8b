"""A run on a Dask cluster: portions go out to workers, and what came of each comes back once.

All that counts is here: what was found, and what is left. A worker gets a portion, works at it for
a few seconds, and gives back what it found together with what it left, which goes back to the pile.
If it is lost meanwhile, so is what it did: the portion is put back as it was. So no task is ever
counted twice, whoever dies, joins or leaves.

A worker has one portion at a time, which uses all of its threads: its future is pinned to it. So
no worker needs any setting, none gets work that is not fit for it, and it is known whose portion
was lost. Dask looks after the processes, and takes to them what they need.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from gpusudoku.errors import Cancelled, ClusterError
from gpusudoku.jobs.cancel import any_cancelled
from gpusudoku.jobs.job import Progress
from gpusudoku.planning.portion import Portion
from gpusudoku.runs.cluster.crew import Crew
from gpusudoku.runs.cluster.worker import Run, Worked, work
from gpusudoku.runs.keeper import Keeper

if TYPE_CHECKING:
    from distributed import Client, Future

WAIT_SECONDS = 0.1
"""How long to wait at a time for a result: so often a cancellation is noticed."""
STEP_SECONDS = (0.2, 5.0)
"""The shortest and the longest step: as long a worker may have to wait for work in the end, and as
long it works on for nobody when this process is killed."""
STEP_SHARE = 0.1
"""A step takes this share of the time that the run has taken."""
PORTIONS = 2
"""Portions for each worker: whoever is done with one finds another."""
MOST_LOST = 4
"""A portion that so many workers were lost with ends the run."""
FETCH_SECONDS = 20.0
"""A result that does not come in this time is lost: its worker ended before it was fetched."""


@dataclass
class _Sent:
    """A portion that a worker has."""

    number: int
    portion: Portion
    future: Future


class Driver:
    """Has a run done by the workers of a cluster.

    Parameters
    ----------
    client
        It is connected, and is not closed.
    run
        What workers are told.
    keeper
        Has what is left; it is told all that is found at once.
    note
        Told in words what a user should know.
    """

    def __init__(
        self, client: Client, run: Run, keeper: Keeper, note: Callable[[str], None] | None = None
    ) -> None:
        self.devices: set[str] = set()
        """On what workers have worked."""
        self._client, self._run, self._keeper = client, run, keeper
        self._crew = Crew(client, note or (lambda text: None))
        self._pile: deque[tuple[int, Portion]] = deque()
        self._sent: dict[str, _Sent] = {}
        self._came: SimpleQueue[str] = SimpleQueue()
        """The workers whose futures have ended."""
        self._lost: dict[int, int] = defaultdict(int)
        """How many workers were lost with a portion."""
        self._busy: dict[str, float] = defaultdict(float)
        self._numbers = count()
        self._start = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self._start

    @property
    def utilisation(self) -> tuple[float, ...]:
        """For every worker that found something, the share of the time in which it worked."""
        return tuple(min(1.0, busy / self.seconds) for busy in self._busy.values())

    def drive(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Go on until nothing is left. A KeyboardInterrupt leaves this as it is.

        Raises
        ------
        ClusterError
            If a worker cannot be used, or the cluster is lost. The keeper has what was found.
        Cancelled
            After a cancellation, likewise.
        """
        self._start = self._saved = time.monotonic()
        self._pile.extend(self._keeper.deal().items())
        try:
            while self._pile or self._sent:
                if any_cancelled():
                    raise Cancelled("cancelled", self._keeper.count)
                self._go_on()
                if progress is not None:
                    progress(self._progress())
        finally:
            self._crew.dismiss(self._run.key, self._cancel)

    def _cancel(self) -> None:
        """Cancel what was sent; of nothing all clients would be told, also those that connect."""
        if self._sent:
            self._client.cancel([sent.future for sent in self._sent.values()])

    def _go_on(self) -> None:
        """See who is there, give them work, and take what came of it."""
        try:
            if self._crew.look():
                self._put_back()
            self._send()
            self._take()
        except OSError as error:  # of the connection
            raise ClusterError(f"the cluster was lost: {error}") from None

    def _progress(self) -> Progress:
        """How far the whole run is, with all that was done of it before."""
        seconds = self._keeper.seconds + time.monotonic() - self._saved
        return Progress(self._keeper.done, self._keeper.count, seconds)

    def _put_back(self) -> None:
        """Put back what those have who are not there any more, or not to be given work."""
        for worker in [worker for worker in self._sent if worker not in self._crew.ready]:
            sent = self._sent.pop(worker)
            sent.future.cancel()
            self._pile.append((sent.number, sent.portion))
            if self._crew.is_here(worker):
                continue
            self._lost[sent.number] += 1
            if self._lost[sent.number] == MOST_LOST:
                raise ClusterError(
                    f"{MOST_LOST} workers died of the same work, one after the other"
                )

    def _send(self) -> None:
        """Give work to all who have none."""
        idle = [worker for worker in self._crew.ready if worker not in self._sent]
        if len(self._pile) < len(idle):
            self._divide()
        seconds = min(max(STEP_SECONDS[0], STEP_SHARE * self.seconds), STEP_SECONDS[1])
        for worker, _ in zip(idle, range(len(self._pile)), strict=False):
            number, portion = self._pile.popleft()
            future = self._client.submit(
                *(work, self._run, portion, seconds, self._crew.ready[worker]),
                key=f"gpusudoku-{self._run.key}-{next(self._numbers)}",
                workers=[worker],
            )
            self._sent[worker] = _Sent(number, portion, future)
            future.add_done_callback(lambda _, worker=worker: self._came.put(worker))

    def _divide(self) -> None:
        """Divide the pile anew among all, but for portions that workers were lost with."""
        ids = [each for each, _ in self._pile if each not in self._lost]
        if ids:
            self._pile = deque(each for each in self._pile if each[0] in self._lost)
            hands = PORTIONS * len(self._crew.ready) - len(self._sent) - len(self._pile)
            self._pile.extend(self._keeper.deal(max(1, hands), ids).items())

    def _take(self) -> None:
        """Take what came of portions; wait a little if nothing has."""
        with suppress(Empty):
            workers = [self._came.get(timeout=WAIT_SECONDS)]
            workers += [self._came.get_nowait() for _ in range(self._came.qsize())]
            for worker in workers:  # no others: one may come back again and again
                self._take_from(worker)

    def _take_from(self, worker: str) -> None:
        """Take what came of a worker's portion, unless it was put back."""
        sent = self._sent.get(worker)
        if sent is None or not sent.future.done():
            return
        worked = self._result(worker, sent.future)
        if worked is None:  # the worker is gone, and is missed soon
            return
        del self._sent[worker]
        self._lost.pop(sent.number, None)
        step, now = worked.step, time.monotonic()
        # Others worked meanwhile: a run takes as long as it takes.
        self._keeper.save(sent.number, replace(step, seconds=now - self._saved))
        self._saved = now
        if step.left:
            self._pile.append((sent.number, step.left))
        self.devices.add(worked.device)
        self._busy[worker] += step.seconds

    def _result(self, worker: str, future: Future) -> Worked | None:
        """What a future has; None if that was lost with its worker.

        Raises
        ------
        ClusterError
            If it has none, and there is no hope that another worker has one.
        """
        if future.status == "cancelled":  # and not by us
            raise ClusterError("the scheduler of the cluster was lost")
        try:
            worked: Worked = future.result(timeout=FETCH_SECONDS)
        except TimeoutError:
            self._came.put(worker)  # unless it is gone, it is worth another try
            return None
        except Exception as error:
            said = str(error) or type(error).__name__
            raise ClusterError(f"worker {worker}: {said}") from None
        return worked
