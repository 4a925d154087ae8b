"""A Dask cluster as a machine that counts: its workers, the work that they get, and a run on them.

A worker has one item at a time, which uses all of its threads: its future is pinned to it. So no
worker needs any setting, none gets work that is not fit for it, and it is known whose item was
lost. Dask looks after the processes, and takes to them what they need.

All that counts is here: what was found, and what is left. A worker gets a portion, works on it for
a few seconds, and returns what it found together with what it left, which goes back to the pile. If
it is lost meanwhile, so is what it did: the portion is put back as it was. So no task is ever
counted twice, whichever worker dies, joins or leaves.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from uuid import uuid4

from gpusudoku.errors import Cancelled, ClusterError
from gpusudoku.jobs.cancel import any_cancelled
from gpusudoku.jobs.watch import Progress, current_watch
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan, Portion
from gpusudoku.runs.cluster.worker import ClusterRun, Worked, dismiss, versions, work
from gpusudoku.runs.keeper import Keeper

if TYPE_CHECKING:
    from distributed import Client, Future

LOOK_SECONDS = 0.5
"""The time between two looks at the list of workers."""
WAIT_SECONDS = 0.1
"""The longest wait for a result, after which cancellations are noticed."""
FETCH_SECONDS = 20.0
"""A result that does not come in this time is lost: its worker ended before it was fetched."""
DISMISS_SECONDS = 0.4
"""The longest wait for workers to hear that they are to stop; their steps end anyway."""
MOST_LOST = 4
"""An item that so many workers were lost with ends the run."""
STEP_SECONDS = (0.2, 5.0)
"""The shortest and the longest step: as long a worker may have to wait for work in the end, and as
long it works on in vain when this process is killed."""
STEP_SHARE = 0.1
"""A step takes this share of the time that the run has taken."""
PORTIONS = 2
"""Portions for each worker: one that is done finds another."""


class WorkItem(Protocol):
    """Work for one worker."""

    @property
    def number(self) -> int:
        """The same when it is sent once more."""


Item = TypeVar("Item", bound=WorkItem)


class WorkerPool(Generic[Item]):
    """Gives items to workers, which may join and leave at any time, and takes each result once.

    ``key`` names the run to the workers; ``note`` takes messages for the user.
    """

    def __init__(self, client: Client, note: Callable[[str], None]) -> None:
        self.key = uuid4().hex
        self.lost: dict[int, int] = defaultdict(int)
        """The number of workers that were lost with an item, by its number."""
        self._client, self._note = client, note
        self._ready: dict[str, int] = {}
        """The addresses of workers that can be given work now, and their threads."""
        self._fit: dict[str, bool] = {}
        """True for workers that have the right versions."""
        self._here: Mapping[str, Any] = {}
        """The workers at the last look, also those that are about to leave."""
        self._next_look = 0.0
        self._is_waiting = False
        self._sent: dict[str, tuple[Item, Future]] = {}
        """The item of each worker that has one."""
        self._came: SimpleQueue[str] = SimpleQueue()
        """The workers whose futures have ended."""
        self._numbers = count()

    @property
    def busy(self) -> int:
        """The number of workers that have an item."""
        return len(self._sent)

    @property
    def workers(self) -> int:
        """The number of workers that can be given one."""
        return len(self._ready)

    @property
    def idle(self) -> list[str]:
        """Workers that have none."""
        return [worker for worker in self._ready if worker not in self._sent]

    def look(self) -> list[Item]:
        """List the workers, if it is time; return the items of those that are gone or resting."""
        if time.monotonic() < self._next_look:
            return []
        if self._client.status != "running":
            raise ClusterError("the scheduler of the cluster was lost")
        self._here = self._client.scheduler_info(n_workers=-1)["workers"]
        self._admit([worker for worker in self._here if worker not in self._fit])
        self._ready = {
            worker: facts["nthreads"]
            for worker, facts in self._here.items()
            if self._fit.get(worker) and facts["status"] == "running"
        }
        if not self._ready and not self._is_waiting:
            self._note("the cluster has no workers: waiting for some")
        self._is_waiting = not self._ready
        self._next_look = time.monotonic() + LOOK_SECONDS
        gone = [worker for worker in self._sent if worker not in self._ready]
        return [self._put_back(worker) for worker in gone]

    def send(self, worker: str, item: Item, work: Callable[..., Any], *arguments: Any) -> None:
        """Have an idle worker work on an item: it calls ``work``, with its threads at the end."""
        future = self._client.submit(
            *(work, *arguments, self._ready[worker]),
            key=f"gpusudoku-{self.key}-{next(self._numbers)}",
            workers=[worker],
        )
        self._sent[worker] = item, future
        future.add_done_callback(lambda _: self._came.put(worker))

    def take(self) -> Iterator[tuple[str, Item, Any]]:
        """Yield results, each with its worker and item; wait a little if there are none."""
        with suppress(Empty):
            workers = [self._came.get(timeout=WAIT_SECONDS)]
            workers += [self._came.get_nowait() for _ in range(self._came.qsize())]
            for worker in workers:  # no others: one may come back again and again
                yield from self._taken_from(worker)

    def dismiss(self) -> None:
        """Have all workers stop, and cancel all futures; wait only a moment."""
        if sys.is_finalizing():  # Python has stopped all threads, and Dask its clients
            return

        def call_off() -> None:
            with suppress(Exception):  # a worker that is gone need not stop
                if self._sent:  # of nothing all clients would hear, also those that connect
                    self._client.cancel([future for _, future in self._sent.values()])
                workers = list(self._ready)
                self._client.run(dismiss, self.key, workers=workers, on_error="ignore")

        thread = Thread(target=call_off, daemon=True)
        thread.start()
        thread.join(DISMISS_SECONDS)

    def _admit(self, workers: list[str]) -> None:
        """Find out which of these workers have the right versions."""
        if not workers:
            return
        first = not any(self._fit.values())
        for worker, has in self._client.run(versions, workers=workers, on_error="return").items():
            if isinstance(has, OSError):  # it is gone
                continue
            why = _unfit(versions(), has)
            if why is not None and first:
                raise ClusterError(f"worker {worker} {why}")
            if why is not None:
                self._note(f"worker {worker} {why}: it gets no work")
            self._fit[worker] = why is None

    def _put_back(self, worker: str) -> Item:
        """Take back the item of a worker."""
        item, future = self._sent.pop(worker)
        future.cancel()
        if worker not in self._here:
            self.lost[item.number] += 1
            if self.lost[item.number] == MOST_LOST:
                words = f"{MOST_LOST} workers died of the same work, one after the other"
                raise ClusterError(words)
        return item

    def _taken_from(self, worker: str) -> Iterator[tuple[str, Item, Any]]:
        """Yield the result of a worker, unless its item was put back, or is lost with it."""
        item, future = self._sent.get(worker, (None, None))
        if item is None or future is None or not future.done():
            return
        if future.status == "cancelled":  # not here: the scheduler is lost
            raise ClusterError("the scheduler of the cluster was lost")
        try:
            result = future.result(timeout=FETCH_SECONDS)
        except TimeoutError:
            self._came.put(worker)  # unless it is gone, it is worth another try
            return
        except Exception as error:
            said = str(error) or type(error).__name__
            raise ClusterError(f"worker {worker}: {said}") from None
        del self._sent[worker]
        self.lost.pop(item.number, None)
        yield worker, item, result


def _unfit(wanted: Mapping[str, str], has: Mapping[str, str] | BaseException) -> str | None:
    """Say why a worker cannot be used, by its versions or the error of asking for them."""
    if isinstance(has, ModuleNotFoundError) and has.name == "gpusudoku":
        return "has no gpusudoku"
    if isinstance(has, BaseException):  # there is no function of this name
        return f"has another gpusudoku, not {wanted['gpusudoku']}"
    differences = (
        f"has {name} {has.get(name)}, not {version}"
        for name, version in wanted.items()
        if has.get(name) != version
    )
    return next(differences, None)


@contextmanager
def converting_loss() -> Iterator[None]:
    """Turn an error of the connection into a ClusterError."""
    try:
        yield
    except OSError as error:
        raise ClusterError(f"the cluster was lost: {error}") from None


class OnCluster:
    """The workers of a cluster, described like an engine; ``note`` takes messages for the user."""

    def __init__(self, client: Client, note: Callable[[str], None] = lambda text: None) -> None:
        self.utilisation: tuple[float, ...] = ()
        """For every worker the share of the last run in which it worked."""
        self._client, self._note = client, note
        self._devices = set[str]()
        self._limit = inf

    @property
    def name(self) -> str:
        """The devices of workers that have worked: ``cpu``, ``cuda``, or both, ``cpu+cuda``."""
        return "+".join(sorted(self._devices)) or "cpu"

    @property
    def workers(self) -> int:
        """The number of threads that they have now."""
        return sum(self._client.nthreads().values()) or 1

    threads = workers

    def up_to(self, limit: int | None) -> OnCluster:
        """Return the same workers, which need not find more solutions of a plan than that."""
        limited = copy(self)
        limited._limit = inf if limit is None else limit
        return limited

    def pool(self) -> WorkerPool[Any]:
        """Make a pool of the workers for one run."""
        return WorkerPool(self._client, self._note)

    def worked_on(self, devices: Iterable[str]) -> None:
        """Note the devices of workers that have worked."""
        self._devices.update(devices)

    def work(self, plan: Plan, make: Callable[[], Plan], options: Options, keeper: Keeper) -> None:
        """Do all that a keeper has left of a plan, which ``make`` makes on every worker."""
        pool = self.pool()
        run = ClusterRun(pool.key, make, plan.tasks(), options)
        coordinator = _Coordinator(pool, run, keeper, self._limit)
        coordinator.work()
        self.worked_on(coordinator.devices)
        seconds = coordinator.seconds
        self.utilisation = tuple(min(1.0, busy / seconds) for busy in coordinator.busy.values())


@dataclass(frozen=True)
class _Piece:
    """A portion, and the number that the keeper knows it by."""

    number: int
    portion: Portion


class _Coordinator:
    """Has a run done by the workers of a pool, until so many solutions are found."""

    def __init__(
        self, pool: WorkerPool[_Piece], run: ClusterRun, keeper: Keeper, limit: float
    ) -> None:
        self.devices: set[str] = set()
        """The devices of the workers."""
        self.busy: dict[str, float] = defaultdict(float)
        """Seconds of work, by worker."""
        self._pool, self._run, self._keeper, self._limit = pool, run, keeper, limit
        self._pile: deque[_Piece] = deque()
        self._start = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """The time since it began."""
        return time.monotonic() - self._start

    def work(self) -> None:
        """Go on until nothing is left, and report progress."""
        self._start = self._saved = time.monotonic()
        self._put(self._keeper.deal())
        try:
            while (self._pile or self._pool.busy) and self._keeper.count < self._limit:
                if any_cancelled():
                    raise Cancelled("cancelled", self._keeper.count)
                with converting_loss():
                    self._pile.extend(self._pool.look())
                    self._send()
                    for each in self._pool.take():
                        self._keep(*each)
                seconds = self._keeper.seconds + time.monotonic() - self._saved
                done, found = self._keeper.done, self._keeper.count
                current_watch().progress(Progress(done, found, seconds))
        finally:
            self._pool.dismiss()

    def _put(self, portions: Mapping[int, Portion]) -> None:
        """Put portions on the pile."""
        self._pile.extend(_Piece(number, portion) for number, portion in portions.items())

    def _send(self) -> None:
        """Give work to all workers that have none."""
        idle = self._pool.idle
        if len(self._pile) < len(idle):
            # Divide the pile anew among all, but for portions that workers were lost with.
            lost = self._pool.lost
            ids = [piece.number for piece in self._pile if piece.number not in lost]
            if ids:
                self._pile = deque(piece for piece in self._pile if piece.number in lost)
                hands = PORTIONS * self._pool.workers - self._pool.busy - len(self._pile)
                self._put(self._keeper.deal(max(1, hands), ids))
        seconds = min(max(STEP_SECONDS[0], STEP_SHARE * self.seconds), STEP_SECONDS[1])
        for worker, _ in zip(idle, range(len(self._pile)), strict=False):
            piece = self._pile.popleft()
            self._pool.send(worker, piece, work, self._run, piece.portion, seconds)

    def _keep(self, worker: str, piece: _Piece, worked: Worked) -> None:
        """Keep what came of a piece."""
        step, now = worked.step, time.monotonic()
        # Others worked meanwhile: a run takes as long as it takes.
        self._keeper.save(piece.number, replace(step, seconds=now - self._saved))
        self._saved = now
        if step.left:
            self._pile.append(_Piece(piece.number, step.left))
        self.devices.add(worked.device)
        self.busy[worker] += step.seconds
