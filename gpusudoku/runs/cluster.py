"""Work on a Dask cluster: work items are sent to workers, which return results and remaining work.

All state is in this process: the results, and the remaining work. A work item is a portion of a
plan, or a block of boards. A worker works on it for some seconds with all of its threads, and
returns the results together with the remaining work, which is then sent again. If the worker is
lost, its results are lost, too, and the same work item is sent to another worker. So no task is
ever counted twice, whenever workers die, join or leave.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, cast

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
from gpusudoku.runs.dispatcher import HURRY_SECONDS, Dispatcher
from gpusudoku.runs.store import RunStore
from gpusudoku.runs.worker import ClusterRun, WorkerReply, work_on_block, work_on_portion

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

    from gpusudoku.runs.worker import Answer

LOCAL = "local"
"""The address of a cluster on this machine, which is started and closed with the run."""
CONNECT_SECONDS = 10
CONNECT_TRIES = 3
CLOSE_SECONDS = 10.0
"""The longest wait for a client or a local cluster to close after a run. After an error it is
HURRY_SECONDS; what still runs then ends with this process."""
MIN_STEP_SECONDS = 0.2
MAX_STEP_SECONDS = 5.0
"""The length of a step is also the time that a worker may wait for work in the end, and the time
for which it continues in vain after this process is killed."""
STEP_SHARE = 0.1
"""The length of a step as a share of the time of the run so far."""
PORTIONS_PER_WORKER = 2
"""A worker that has finished one portion has the next one already."""
BLOCKS_PER_WORKER = 4
"""The number of blocks, times the workers, that are read before the first of them is yielded."""
MAX_BOARDS = 1 << 12
"""The largest number of boards in a block, which is sent in some milliseconds."""
SMALLER_BLOCKS = 16
"""The number of blocks into which the unfinished boards of a block are divided."""


@dataclass(eq=False)
class _BoardBlock:
    """Boards that one worker computes."""

    boards: Batch
    chunk_size_when_read: int = 0
    """The chunk size when the block was read; 0 for a block that was divided."""
    reply: WorkerReply | None = None


class Cluster:
    """The workers of a cluster, with the properties of an engine.

    ``print_note`` prints messages for the user.
    """

    def __init__(
        self, client: Client, print_note: Callable[[str], None] = lambda text: None
    ) -> None:
        self.utilisation: tuple[float, ...] = ()
        """For every worker, the share of the last run in which it worked."""
        self._client = client
        self._print_note = print_note
        self._devices = set[str]()
        self.device = "cluster"

    @property
    def kind(self) -> str:
        """The devices that have computed results: ``cpu``, ``cuda``, or both, ``cpu+cuda``."""
        return "+".join(sorted(self._devices)) or "cpu"

    @property
    def has_gpu(self) -> bool:
        """True if a GPU has computed results."""
        return "cuda" in self._devices

    @property
    def workers(self) -> int:
        """The number of threads that all workers have now, at least 1."""
        return sum(self._client.nthreads().values()) or 1

    threads = workers

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """See ``Engine``. All workers together count as threads of one machine."""
        return core_seconds / self.workers

    def run_steps(
        self,
        plan: Plan,
        make_plan: Callable[[], Plan],
        options: Options,
        store: RunStore,
        limit: float = inf,
    ) -> Generator[tuple[int, StepResult], None, None]:
        """Do the remaining work of a store, as ``steps`` of ``runs.tasks`` does on this machine.

        ``make_plan`` makes the plan again on every worker. The run ends early when the store has
        ``limit`` solutions.
        """
        start = time.monotonic()
        save_time = start  # of the last save: the caller saves whatever is yielded
        busy_seconds: dict[str, float] = defaultdict(float)
        with self._dispatching() as dispatcher:
            run = ClusterRun(dispatcher.key, make_plan, plan.tasks(), options)
            waiting = deque(store.split().items())
            while (waiting or dispatcher.sent) and store.state.count < limit:
                if any_cancelled():
                    raise Cancelled("cancelled", store.state.count)

                # Fill up the workers. If there are not enough portions, they are divided.
                worker_count = dispatcher.update_workers()
                vacancies = PORTIONS_PER_WORKER * worker_count - len(dispatcher.sent)
                if 0 < len(waiting) < vacancies:
                    portions = store.split(vacancies, [number for number, _ in waiting])
                    waiting = deque(portions.items())
                step_seconds = STEP_SHARE * (time.monotonic() - start)
                step_seconds = min(max(MIN_STEP_SECONDS, step_seconds), MAX_STEP_SECONDS)
                for _ in range(min(vacancies, len(waiting))):
                    number, portion = waiting.popleft()
                    dispatcher.send(number, work_on_portion, run, portion, step_seconds)

                for number, reply in dispatcher.collect_replies():
                    step = cast("StepResult", reply.result)
                    # The seconds of a run are elapsed time. Steps of several workers overlap, so
                    # each step gets the time since the previous save.
                    now = time.monotonic()
                    yield number, replace(step, seconds=now - save_time)
                    save_time = now
                    busy_seconds[reply.worker] += reply.seconds
                    self._devices.add(reply.device)
                    if step.remaining:
                        waiting.append((number, step.remaining))

                state = store.state
                seconds = state.seconds + time.monotonic() - save_time
                current_watch().progress(Progress(state.done, state.count, seconds))
        elapsed = time.monotonic() - start
        self.utilisation = tuple(min(1.0, seconds / elapsed) for seconds in busy_seconds.values())

    def answers(
        self,
        batches: Iterable[Batch],
        answer: Answer,
        options: Options,
        seconds: float = MAX_STEP_SECONDS,
    ) -> Generator[ResultBlock | Batch, None, None]:
        """Compute the results of boards in blocks, and yield them in the order of the boards.

        Boards that a worker has not finished after ``seconds`` are sent again in smaller blocks. A
        single board that takes longer is yielded without a result. An error of ``batches`` is
        raised after the results of the boards before it.
        """
        chunk_size = ChunkSize(FIRST_BOARDS, BLOCK_SECONDS, MAX_BOARDS)
        blocks = blocks_of(batches, chunk_size)
        read_error = None
        is_reading_slow = False  # such as from a terminal
        is_input_read = False
        # Blocks that were read and are not yielded, in order. Replies come in any order:
        #     [reply] [sent] [reply] [sent] ...   only the first one can be yielded
        window = deque[_BoardBlock]()
        with self._dispatching() as dispatcher:

            def send(block: _BoardBlock) -> _BoardBlock:
                boards = replace(block.boards, locations=None)  # workers do not need them
                dispatcher.send(
                    block, work_on_block, dispatcher.key, answer, options, boards, seconds
                )
                return block

            while window or not is_input_read:
                check_cancelled()
                # This is 0 if there are no workers: then nothing can be sent.
                max_window = BLOCKS_PER_WORKER * dispatcher.update_workers()
                # Slow reading may wait for the user, who first gets all results so far.
                can_read = not is_input_read and not (is_reading_slow and window)
                if window and window[0].reply is not None and max_window:
                    results, unfinished = self._results(window.popleft(), chunk_size)
                    yield from results
                    # The worker had all the time for this board alone.
                    if len(unfinished) == 1 and not results:
                        yield unfinished
                        continue
                    # The smaller blocks come first in the window.
                    size = max(1, -(-len(unfinished) // SMALLER_BLOCKS))
                    smaller_blocks = [
                        send(_BoardBlock(unfinished.part(index, index + size)))
                        for index in range(0, len(unfinished), size)
                    ]
                    window.extendleft(reversed(smaller_blocks))
                elif can_read and len(window) < max_window:
                    # Each block is sent at once: reading the next one may take long.
                    start = time.perf_counter()
                    chunk_size_when_read = chunk_size.size
                    try:
                        boards = next(blocks, None)
                    except Interrupted:  # it is raised at once
                        raise
                    except Exception as error:
                        boards = None
                        read_error = error
                    is_reading_slow = time.perf_counter() - start > QUICK_BLOCK_SECONDS
                    is_input_read = boards is None
                    if boards is not None:
                        window.append(send(_BoardBlock(boards, chunk_size_when_read)))
                else:
                    for block, reply in dispatcher.collect_replies():
                        block.reply = reply
        if read_error is not None:
            raise read_error

    def _results(
        self, block: _BoardBlock, chunk_size: ChunkSize
    ) -> tuple[list[ResultBlock], Batch]:
        """Return the results of a block with their boards, and its unfinished boards."""
        assert block.reply is not None
        # Only a block that was read with the present size says something about that size.
        if block.chunk_size_when_read == chunk_size.size:
            chunk_size.adapt(
                block.reply.seconds, full=len(block.boards) == block.chunk_size_when_read
            )
        self._devices.add(block.reply.device)
        results = []
        end = 0
        for result_block in cast("list[ResultBlock]", block.reply.result):
            start = end
            end = start + len(result_block)
            results.append(replace(result_block, boards=block.boards.part(start, end)))
        return results, block.boards.part(end, len(block.boards))

    @contextmanager
    def _dispatching(self) -> Iterator[Dispatcher]:
        """Open a run; at the end, stop the work of all workers for it.

        Raises
        ------
        ClusterError
            If the connection is lost in the block.
        """
        dispatcher = Dispatcher(self._client, self._print_note)
        try:
            yield dispatcher
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except OSError as error:
            raise ClusterError(f"the cluster was lost: {error}") from None
        finally:
            dispatcher.stop_workers()


@contextmanager
def connect_cluster(
    cluster: Client | str,
    jobs: int | None = None,
    print_note: Callable[[str], None] = lambda text: None,
) -> Iterator[Cluster]:
    """Connect to a cluster in the block.

    ``cluster`` is a client, which stays open; the address of a scheduler; or ``local``, for
    ``jobs`` processes on this machine, by default one for each usable core. ``print_note`` prints
    messages for the user.
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
        yield Cluster(cluster, print_note)
        return
    if not isinstance(cluster, str):
        raise InputError(f"cluster {described(cluster)}: expected a client or an address")
    with ExitStack() as stack:
        if cluster == LOCAL:
            address: LocalCluster | str = _start_local(jobs, stack)
        else:
            address = _checked_address(cluster)
        client = _make_client(address, shown(cluster))
        stack.push(partial(_close, client))
        yield Cluster(client, print_note)


def _make_client(address: LocalCluster | str, name: str) -> Client:
    """Connect to a scheduler; ``name`` is the cluster in messages."""
    import distributed

    for _ in range(CONNECT_TRIES):
        try:
            return distributed.Client(
                address, timeout=CONNECT_SECONDS, set_as_default=False, name="gpusudoku"
            )
        except OSError as error:
            raise ClusterError(f"cluster {name}: no scheduler there: {error}") from None
        except AssertionError:
            # Dask raises it if a message to all clients comes before the reply of the scheduler.
            pass
    raise ClusterError(f"cluster {name}: it is too busy")


def silence_dask() -> None:
    """Keep Dask from writing to stderr."""
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=r"(distributed|dask|tornado)\b")
    # Python's resource tracker, a process that cleans up after this one, would print a warning if
    # this one ended early.
    sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")


def _checked_address(address: str) -> str:
    """Return an address, or raise an InputError if it is none.

    Dask would check it, too, but a client without a valid address takes long to close.
    """
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


def _start_local(jobs: int | None, stack: ExitStack) -> LocalCluster:
    """Start a cluster on this machine; the stack closes it."""
    import distributed

    def start() -> LocalCluster:
        # New threads and processes inherit the signal mask of this thread. With SIGINT blocked,
        # workers do not get the Ctrl-C of the terminal. This process gets it, and stops them.
        if hasattr(signal, "pthread_sigmask"):
            resource_tracker.ensure_running()  # started later, it would reset the mask
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        return distributed.LocalCluster(
            n_workers=jobs or usable_cores(),
            threads_per_worker=1,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any free port
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )

    # In a thread of its own, so that the mask of the calling thread does not change.
    cluster = in_thread(start)
    stack.push(partial(_close, cluster))
    return cluster


def _close(
    closable: Client | LocalCluster, error_type: type[BaseException] | None, *_: object
) -> None:
    """Close a client or cluster in any state; after an error, do not wait long."""
    if sys.is_finalizing():  # Dask has closed it
        return
    timeout = CLOSE_SECONDS if error_type is None else HURRY_SECONDS
    with suppress(Exception):
        closable.close(timeout=timeout)
