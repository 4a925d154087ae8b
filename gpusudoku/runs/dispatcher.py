"""Sending the work items of a run to the workers of a Dask cluster, and collecting the replies."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from gpusudoku.errors import ClusterError
from gpusudoku.runs.worker import WorkerReply, stop_run, versions

if TYPE_CHECKING:
    from distributed import Client, Future

HURRY_SECONDS = 0.4
"""The longest wait for workers, a client or a local cluster to stop when there is an error."""
UPDATE_SECONDS = 0.5
"""The time between two updates of the list of workers."""
WAIT_SECONDS = 0.1
"""The longest wait for a reply. After it, cancellations are noticed."""
FETCH_SECONDS = 20.0
"""A reply that takes longer to transfer is fetched again: its worker may have ended."""
MAX_LOSSES = 4
"""The run ends when this number of workers is lost with the same work item."""


@dataclass(eq=False)
class WorkItem:
    """Work for one worker."""

    function: Callable[..., WorkerReply]
    arguments: tuple[Any, ...]
    tag: Any
    """Identifies the work item to the caller."""
    worker: str = ""
    """The address of the worker to which it was sent."""
    losses: int = 0
    """The number of workers that were lost while they had it."""


class Dispatcher:
    """Sends the work items of one run to workers. Workers may join and leave at any time."""

    def __init__(self, client: Client, print_note: Callable[[str], None]) -> None:
        self.key = uuid4().hex
        """Identifies the run to the workers."""
        self.sent: dict[Future, WorkItem] = {}
        """The work items that workers have."""
        self._client = client
        self._print_note = print_note
        self._usable: list[str] = []
        """The addresses of the workers to which work can be sent now."""
        self._is_compatible: dict[str, bool] = {}
        """For each worker whose versions were checked, whether they are right."""
        self._next_update = 0.0
        self._is_waiting = False
        """True while there are no usable workers."""
        self._finished: SimpleQueue[Future] = SimpleQueue()
        self._numbers = count()

    def update_workers(self) -> int:
        """Update the list of usable workers, if it is time, and return their number.

        Work items of workers that have left or paused are sent to others.
        """
        if time.monotonic() < self._next_update:
            return len(self._usable)
        if self._client.status != "running":
            raise ClusterError("the scheduler of the cluster was lost")
        present = self._client.scheduler_info(n_workers=-1)["workers"]
        # Workers that have left are checked again: another one may come back at the same address.
        self._is_compatible = {
            worker: is_compatible
            for worker, is_compatible in self._is_compatible.items()
            if worker in present
        }
        self._check_versions([worker for worker in present if worker not in self._is_compatible])
        self._usable = [
            worker
            for worker, facts in present.items()
            if self._is_compatible.get(worker) and facts["status"] == "running"
        ]
        if not self._usable and not self._is_waiting:
            self._print_note("the cluster has no workers: waiting for one")
        self._is_waiting = not self._usable
        self._next_update = time.monotonic() + UPDATE_SECONDS
        if self._usable:
            self._resend_lost_items(set(present))
        return len(self._usable)

    def _resend_lost_items(self, present: set[str]) -> None:
        """Send the work items of workers that have left or paused to usable workers."""
        for future, item in list(self.sent.items()):
            is_lost = item.worker not in present
            # A paused worker may have finished the item before it paused.
            is_stuck = item.worker not in self._usable and not future.done()
            if not (is_lost or is_stuck):
                continue
            item.losses += is_lost
            if item.losses == MAX_LOSSES:
                raise ClusterError(
                    f"{MAX_LOSSES} workers died of the same work, one after the other"
                )
            # Without the old future, a late reply of the old worker is ignored.
            del self.sent[future]
            future.cancel()
            self._submit(item)

    def send(self, tag: Any, function: Callable[..., WorkerReply], *arguments: Any) -> None:
        """Have a worker call a function; ``collect_replies`` yields the reply with the tag."""
        self._submit(WorkItem(function, arguments, tag))

    def _submit(self, item: WorkItem) -> None:
        """Send a work item to the worker that has the fewest."""
        item_counts = Counter(sent_item.worker for sent_item in self.sent.values())
        item.worker = min(self._usable, key=item_counts.__getitem__)
        future = self._client.submit(
            item.function,
            *item.arguments,
            key=f"gpusudoku-{self.key}-{next(self._numbers)}",
            workers=[item.worker],
        )
        self.sent[future] = item
        future.add_done_callback(self._finished.put)

    def collect_replies(self) -> Iterator[tuple[Any, WorkerReply]]:
        """Yield the replies that have come, each with its tag; wait a little for the first."""
        try:
            futures = [self._finished.get(timeout=WAIT_SECONDS)]
        except Empty:
            return
        futures += [self._finished.get_nowait() for _ in range(self._finished.qsize())]
        for future in futures:
            if future not in self.sent:  # its work item was sent to another worker
                continue
            reply = self._fetch(future)
            if reply is None:
                self._finished.put(future)  # try again later
                continue
            incompatibility = _incompatibility(reply.versions)
            if incompatibility is not None:
                raise ClusterError(f"worker {reply.worker} {incompatibility}")
            yield self.sent.pop(future).tag, reply

    def _fetch(self, future: Future) -> WorkerReply | None:
        """Transfer the reply of a finished future; return None if that takes too long."""
        try:
            reply: WorkerReply = future.result(timeout=FETCH_SECONDS)
            return reply
        except Exception as error:
            if future.status == "error":
                text = str(error) or type(error).__name__
                raise ClusterError(f"a worker failed: {text}") from None
            if future.status == "cancelled":  # not by this class: futures in `sent` are live
                raise ClusterError("the scheduler of the cluster was lost") from None
            if not isinstance(error, TimeoutError):
                raise
            return None

    def stop_workers(self) -> None:
        """Stop the work of all workers for this run, and wait for that only a moment."""
        if sys.is_finalizing():  # Python has stopped all threads, and Dask has closed its clients
            return

        def stop() -> None:
            with suppress(Exception):  # workers may be gone
                # An empty list would send a message to all clients. A client that is just
                # connecting would fail, see `connect_cluster`.
                if self.sent:
                    self._client.cancel(list(self.sent))
                self._client.run(stop_run, self.key, workers=self._usable, on_error="ignore")

        thread = Thread(target=stop, daemon=True)
        thread.start()
        thread.join(HURRY_SECONDS)

    def _check_versions(self, workers: list[str]) -> None:
        """Ask workers for their versions.

        Raises
        ------
        ClusterError
            If a worker has other versions when the run begins. Later, a note reports it.
        """
        if not workers:
            return
        is_beginning = not (self._usable or self.sent)
        answers = self._client.run(versions, workers=workers, on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, OSError):  # the worker has left
                continue
            incompatibility = _incompatibility(answer)
            if incompatibility is not None:
                message = f"worker {worker} {incompatibility}"
                if is_beginning:
                    raise ClusterError(message)
                self._print_note(f"{message}: it gets no work")
            self._is_compatible[worker] = incompatibility is None


def _incompatibility(answer: dict[str, str] | BaseException) -> str | None:
    """Return the reason why a worker cannot be used; None if it can.

    ``answer`` is the versions that it has, or the error that asking for them has raised.
    """
    required_versions = versions()
    if isinstance(answer, ModuleNotFoundError) and answer.name == "gpusudoku":
        return "has no gpusudoku"
    if isinstance(answer, BaseException):  # its gpusudoku has no such function
        return f"has another gpusudoku, not {required_versions['gpusudoku']}"
    for name, version in required_versions.items():
        if answer.get(name) != version:
            return f"has {name} {answer.get(name)}, not {version}"
    return None
