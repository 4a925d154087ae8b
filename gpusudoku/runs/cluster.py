"""A Dask cluster as a machine that counts: units of work go out, and come back with what is left.

All that counts is here: what was found, and what is left. A unit is a portion of a plan, or a block
of boards. A worker works at it for a few seconds with all of its threads, and returns what it found
together with what it left, which is then sent again. If the worker is lost meanwhile, so is what it
did: the unit goes to another one as it was. So no task is ever counted twice, whichever worker
dies, joins or leaves.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import inf
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import BLOCK_SECONDS, FIRST_BOARDS, QUICK_BLOCK_SECONDS, blocks_of
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import (
    Cancelled,
    ClusterError,
    InputError,
    Interrupted,
    described,
    not_installed,
    shown,
)
from gpusudoku.jobs.cancel import any_cancelled, check_cancelled
from gpusudoku.jobs.interrupts import in_thread
from gpusudoku.jobs.job import ChunkSize
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.jobs.watch import Progress, current_watch
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan, StepResult
from gpusudoku.results import ResultBlock
from gpusudoku.runs.store import RunStore
from gpusudoku.runs.worker import (
    ClusterRun,
    WorkerReply,
    dismiss,
    versions,
    work_at_block,
    work_at_portion,
)

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

    from gpusudoku.runs.worker import Answer

LOCAL = "local"
"""The address that stands for a cluster on this machine, for as long as it is needed."""
CONNECT_SECONDS, TRIES = 10, 3
CLOSE_SECONDS, HURRY_SECONDS = 10.0, 0.4
"""The longest waits for our client and cluster to close: after all is done, and after an error.
What is left of them ends with this process."""
LOOK_SECONDS = 0.5
"""The time between two looks at the list of workers."""
WAIT_SECONDS = 0.1
"""The longest wait for a result, after which cancellations are noticed."""
FETCH_SECONDS = 20.0
"""A result that does not come in this time is fetched again: its worker may have ended."""
STEP_SECONDS = (0.2, 5.0)
"""The shortest and the longest step: as long a worker may have to wait for work in the end, and as
long it works on in vain when this process is killed."""
STEP_SHARE = 0.1
"""A step takes this share of the time that the run has taken."""
MAX_LOST = 4
"""A unit that so many workers are lost with ends the run."""
UNITS = 2
"""Portions for each worker: one that is done finds another."""
AHEAD = 4
"""Blocks of boards for each worker, from the first whose answers were not yielded."""
MAX_BOARDS = 1 << 12
"""The most boards in a block: they are sent in some milliseconds."""
PIECES = 16
"""The blocks that the rest of a block is divided into."""


@dataclass(eq=False)
class _Unit:
    """Work for one worker."""

    work: Callable[..., WorkerReply]
    arguments: tuple[Any, ...]
    tag: Any
    """What the sender knows it by."""
    worker: str = ""
    """The worker that is to do it."""
    lost: int = 0
    """The number of workers that were lost with it."""


@dataclass(eq=False)
class _BoardBlock:
    """Boards that are answered by one worker at a time."""

    boards: Batch
    size: int = 0
    """The number of boards that it was to have, by the pace; 0 if it was divided."""
    reply: WorkerReply | None = None


class Cluster:
    """The workers of a cluster, described like an engine; ``note`` takes messages for the user."""

    def __init__(self, client: Client, note: Callable[[str], None] = lambda text: None) -> None:
        self.utilisation: tuple[float, ...] = ()
        """For every worker the share of the last run in which it worked."""
        self._client = client
        self._note = note
        self._devices = set[str]()
        self.device = "cluster"

    @property
    def kind(self) -> str:
        """The devices of workers that have worked: ``cpu``, ``cuda``, or both, ``cpu+cuda``."""
        return "+".join(sorted(self._devices)) or "cpu"

    @property
    def has_gpu(self) -> bool:
        """True if GPUs have worked."""
        return "cuda" in self._devices

    @property
    def workers(self) -> int:
        """The number of threads that they have now."""
        return sum(self._client.nthreads().values()) or 1

    threads = workers

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """See ``Engine``: as if all workers were threads."""
        return core_seconds / self.workers

    def steps(
        self,
        plan: Plan,
        make: Callable[[], Plan],
        options: Options,
        store: RunStore,
        limit: float = inf,
    ) -> Generator[tuple[int, StepResult], None, None]:
        """Do all that a store has left of a plan, as ``steps`` of ``runs.tasks`` does here.

        ``make`` makes the plan on every worker. Ends early once the limit of solutions is found.
        """
        start = saved = time.monotonic()
        busy: dict[str, float] = defaultdict(float)
        with self._open() as units:
            run = ClusterRun(units.key, make, plan.tasks(), options)
            waiting = deque(store.split().items())
            while (waiting or units.sent) and store.state.count < limit:
                if any_cancelled():
                    raise Cancelled("cancelled", store.state.count)
                room = UNITS * units.look() - len(units.sent)
                if 0 < len(waiting) < room:
                    portions = store.split(room, [number for number, _ in waiting])
                    waiting = deque(portions.items())
                now = time.monotonic()
                seconds = min(max(STEP_SECONDS[0], STEP_SHARE * (now - start)), STEP_SECONDS[1])
                for _ in range(min(room, len(waiting))):
                    number, portion = waiting.popleft()
                    units.send(number, work_at_portion, run, portion, seconds)
                for number, reply in units.take():
                    step = cast("StepResult", reply.result)
                    now = time.monotonic()
                    # Others worked meanwhile: a run takes as long as it takes.
                    yield number, replace(step, seconds=now - saved)
                    saved = now
                    busy[reply.worker] += reply.seconds
                    self._devices.add(reply.device)
                    if step.remaining:
                        waiting.append((number, step.remaining))
                state = store.state
                progress = Progress(
                    state.done, state.count, state.seconds + time.monotonic() - saved
                )
                current_watch().progress(progress)
        whole = time.monotonic() - start
        self.utilisation = tuple(min(1.0, seconds / whole) for seconds in busy.values())

    def answers(
        self,
        batches: Iterable[Batch],
        answer: Answer,
        options: Options,
        seconds: float = STEP_SECONDS[1],
    ) -> Generator[ResultBlock | Batch, None, None]:
        """Have boards answered in blocks, and yield the answers in the boards' order.

        What a worker has not answered after so many ``seconds`` is sent again in smaller blocks. A
        single board that takes one longer is yielded as it is.
        """
        pace = ChunkSize(FIRST_BOARDS, BLOCK_SECONDS, MAX_BOARDS)
        blocks = blocks_of(batches, pace)
        error = None
        slow = False
        window = deque[_BoardBlock]()  # the blocks that were read and not yielded, in order
        all_read = False
        with self._open() as units:

            def send(block: _BoardBlock) -> _BoardBlock:
                boards = replace(block.boards, places=None)
                units.send(block, work_at_block, units.key, answer, options, boards, seconds)
                return block

            while window or not all_read:
                check_cancelled()
                ahead = AHEAD * units.look()
                if window and window[0].reply is not None and ahead:
                    done, left = self._answered(window.popleft(), pace)
                    yield from done
                    if len(left) == 1 and not done:
                        yield left
                        continue
                    # Smaller blocks of the rest come first.
                    size = max(1, -(-len(left) // PIECES))
                    pieces = [left.part(at, at + size) for at in range(0, len(left), size)]
                    window.extendleft([send(_BoardBlock(piece)) for piece in pieces][::-1])
                elif not all_read and len(window) < ahead and not (slow and window):
                    # One at a time, and sent at once: to read the next may mean to wait.
                    start = time.perf_counter()
                    size = pace.size
                    try:
                        boards = next(blocks, None)
                    except Interrupted:  # it does not wait for its turn
                        raise
                    except Exception as caught:
                        boards = None
                        error = caught
                    slow = time.perf_counter() - start > QUICK_BLOCK_SECONDS
                    all_read = boards is None
                    if boards is not None:
                        window.append(send(_BoardBlock(boards, size)))
                else:
                    for block, reply in units.take():
                        block.reply = reply
        if error is not None:
            raise error

    def _answered(self, block: _BoardBlock, pace: ChunkSize) -> tuple[list[ResultBlock], Batch]:
        """Give the answers of a block with their boards, and the boards without."""
        assert block.reply is not None
        if block.size == pace.size:
            pace.took(block.reply.seconds, full=len(block.boards) == block.size)
        self._devices.add(block.reply.device)
        done = []
        end = 0
        for some in cast("list[ResultBlock]", block.reply.result):
            start = end
            end = end + len(some)
            done.append(replace(some, boards=block.boards.part(start, end)))
        return done, block.boards.part(end, len(block.boards))

    @contextmanager
    def _open(self) -> Iterator[_Units]:
        """Open a run; in the end workers stop what they do for it. Loss is a ClusterError."""
        units = _Units(self._client, self._note)
        try:
            yield units
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except OSError as error:
            raise ClusterError(f"the cluster was lost: {error}") from None
        finally:
            units.dismiss()


class _Units:
    """The units of one run that workers have; workers may join and leave at any time."""

    def __init__(self, client: Client, note: Callable[[str], None]) -> None:
        self.key = uuid4().hex
        """Names the run to the workers."""
        self.sent: dict[Future, _Unit] = {}
        self._client = client
        self._note = note
        self._usable: list[str] = []
        """The workers that can be given work now."""
        self._fit: dict[str, bool] = {}
        """True for workers that have the right versions."""
        self._next_look, self._is_waiting = 0.0, False
        self._came: SimpleQueue[Future] = SimpleQueue()
        self._numbers = count()

    def look(self) -> int:
        """List the workers that can be given work, if it is time, and return their number.

        The units of workers that are gone or resting are submitted again, to others.
        """
        if time.monotonic() < self._next_look:
            return len(self._usable)
        if self._client.status != "running":
            raise ClusterError("the scheduler of the cluster was lost")
        here = self._client.scheduler_info(n_workers=-1)["workers"]
        # One that is gone may come back as another, at the same address.
        self._fit = {worker: fit for worker, fit in self._fit.items() if worker in here}
        self._admit([worker for worker in here if worker not in self._fit])
        self._usable = [
            worker
            for worker, facts in here.items()
            if self._fit.get(worker) and facts["status"] == "running"
        ]
        if not self._usable and not self._is_waiting:
            self._note("the cluster has no workers: waiting for some")
        self._is_waiting = not self._usable
        self._next_look = time.monotonic() + LOOK_SECONDS
        for future, unit in list(self.sent.items()):
            is_gone = unit.worker not in here
            if self._usable and (is_gone or not (unit.worker in self._usable or future.done())):
                unit.lost += is_gone
                if unit.lost == MAX_LOST:
                    how = "one after the other"
                    raise ClusterError(f"{MAX_LOST} workers died of the same work, {how}")
                del self.sent[future]
                future.cancel()
                self._submit(unit)
        return len(self._usable)

    def send(self, tag: Any, work: Callable[..., WorkerReply], *arguments: Any) -> None:
        """Have a worker do some work; ``take`` gives the reply with the tag."""
        self._submit(_Unit(work, arguments, tag))

    def _submit(self, unit: _Unit) -> None:
        """Submit a unit to the worker that has the fewest."""
        units = Counter(each.worker for each in self.sent.values())
        unit.worker = min(self._usable, key=units.__getitem__)
        future = self._client.submit(
            *(unit.work, *unit.arguments),
            key=f"gpusudoku-{self.key}-{next(self._numbers)}",
            workers=[unit.worker],
        )
        self.sent[future] = unit
        future.add_done_callback(self._came.put)

    def take(self) -> Iterator[tuple[Any, WorkerReply]]:
        """Yield replies, each with its tag; wait a little if there are none."""
        with suppress(Empty):
            came = [self._came.get(timeout=WAIT_SECONDS)]
            came += [self._came.get_nowait() for _ in range(self._came.qsize())]
            for future in came:
                if future not in self.sent:
                    continue
                try:
                    reply = future.result(timeout=FETCH_SECONDS)
                except Exception as error:
                    if future.status == "error":
                        said = str(error) or type(error).__name__
                        raise ClusterError(f"a worker failed: {said}") from None
                    if future.status == "cancelled":  # not here: the scheduler is lost
                        raise ClusterError("the scheduler of the cluster was lost") from None
                    if not isinstance(error, TimeoutError):
                        raise
                    self._came.put(future)
                    continue
                if (why := _unfit(reply.versions)) is not None:
                    raise ClusterError(f"worker {reply.worker} {why}")
                yield self.sent.pop(future).tag, reply

    def dismiss(self) -> None:
        """Have all workers stop, and cancel all futures; wait only a moment."""
        if sys.is_finalizing():  # Python has stopped all threads, and Dask its clients
            return

        def call_off() -> None:
            with suppress(Exception):  # a worker that is gone need not stop
                if self.sent:  # of nothing all clients would hear, also those that connect
                    self._client.cancel(list(self.sent))
                self._client.run(dismiss, self.key, workers=self._usable, on_error="ignore")

        thread = Thread(target=call_off, daemon=True)
        thread.start()
        thread.join(HURRY_SECONDS)

    def _admit(self, workers: list[str]) -> None:
        """Find out which of these workers have the right versions."""
        if not workers:
            return
        first = not (self._usable or self.sent)
        for worker, has in self._client.run(versions, workers=workers, on_error="return").items():
            if isinstance(has, OSError):  # it is gone
                continue
            why = _unfit(has)
            if why is not None and first:
                raise ClusterError(f"worker {worker} {why}")
            if why is not None:
                self._note(f"worker {worker} {why}: it gets no work")
            self._fit[worker] = why is None


def _unfit(has: dict[str, str] | BaseException) -> str | None:
    """Say why a worker cannot be used, by its versions or the error of asking for them."""
    wanted = versions()
    if isinstance(has, ModuleNotFoundError) and has.name == "gpusudoku":
        return "has no gpusudoku"
    if isinstance(has, BaseException):  # there is no function of this name
        return f"has another gpusudoku, not {wanted['gpusudoku']}"
    for name, version in wanted.items():
        if has.get(name) != version:
            return f"has {name} {has.get(name)}, not {version}"
    return None


@contextmanager
def connected(
    cluster: Client | str, jobs: int | None = None, note: Callable[[str], None] = lambda text: None
) -> Iterator[Cluster]:
    """Connect to a cluster for a while: a client, which stays open, an address, or ``local``.

    ``local`` are ``jobs`` processes on this machine, by default one on each usable core. ``note``
    takes messages for the user.
    """
    if jobs is not None and cluster != LOCAL:
        raise InputError("jobs are for a local cluster: other workers have threads of their own")
    try:
        import distributed
    except ImportError:
        raise ClusterError(not_installed("a cluster", "Dask distributed", "cluster")) from None
    if isinstance(cluster, distributed.Client):
        if cluster.asynchronous:
            raise InputError("cluster: expected a client that is not asynchronous")
        yield Cluster(cluster, note)
        return
    if not isinstance(cluster, str):
        raise InputError(f"cluster {described(cluster)}: expected a client or an address")
    with ExitStack() as stack:
        address = _local(jobs, stack) if cluster == LOCAL else _checked(cluster)
        settings = {"timeout": CONNECT_SECONDS, "set_as_default": False, "name": "gpusudoku"}
        for last in [False] * (TRIES - 1) + [True]:
            try:
                client = distributed.Client(address, **settings)
                break
            except OSError as error:
                why = f"no scheduler there: {error}"
                raise ClusterError(f"cluster {shown(cluster)}: {why}") from None
            except AssertionError:  # Dask breaks one where a message for all clients comes first
                if last:
                    raise ClusterError(f"cluster {shown(cluster)}: it is too busy") from None
        stack.push(partial(_close, client))
        yield Cluster(client, note)


def silence_dask() -> None:
    """Keep Dask from writing to stderr."""
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=r"(distributed|dask|tornado)\b")
    # Python's own process that tidies up after this one would warn if this one ended in a hurry.
    sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")


def _checked(address: str) -> str:
    """Return an address, or refuse it before a client that has none takes long to end."""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, host = parse_address(address)
        parse_host_port(host)
        if scheme not in ("tcp", "tls", "ws", "wss"):
            raise ValueError
    except ValueError:
        expected = "expected an address such as tcp://127.0.0.1:8786, or local"
        raise InputError(f"cluster {shown(address)}: {expected}") from None
    return address


def _local(jobs: int | None, stack: ExitStack) -> LocalCluster:
    """Start a cluster on this machine, which is closed with the stack."""
    import distributed

    def start() -> LocalCluster:
        # Threads and processes inherit the mask of this thread. So workers do not get the Ctrl-C
        # of the terminal, which is for this process: it is the one to stop them.
        if hasattr(signal, "pthread_sigmask"):
            resource_tracker.ensure_running()  # which would set the mask back
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        return distributed.LocalCluster(
            n_workers=jobs or usable_cores(),
            threads_per_worker=1,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port that is free
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )

    cluster = in_thread(start)
    stack.push(partial(_close, cluster))
    return cluster


def _close(
    closable: Client | LocalCluster, kind: type[BaseException] | None, *rest: object
) -> None:
    """Close our client or cluster, in any state: soon where something went wrong."""
    if sys.is_finalizing():  # Dask has closed it
        return
    with suppress(Exception):
        closable.close(timeout=CLOSE_SECONDS if kind is None else HURRY_SECONDS)
