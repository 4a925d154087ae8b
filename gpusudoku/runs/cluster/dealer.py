"""Work dealt out to the workers of a cluster, one item at a time to each, and what comes of it.

A worker has one item, which uses all of its threads: its future is pinned to it. So no worker needs
any setting, none gets work that is not fit for it, and it is known whose item was lost. Dask looks
after the processes, and takes to them what they need.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from gpusudoku.errors import ClusterError
from gpusudoku.runs.cluster.crew import Crew

if TYPE_CHECKING:
    from distributed import Client, Future

WAIT_SECONDS = 0.1
"""How long to wait at a time for a result: so often a cancellation is noticed."""
MOST_LOST = 4
"""An item that so many workers were lost with ends the run."""
FETCH_SECONDS = 20.0
"""A result that does not come in this time is lost: its worker ended before it was fetched."""


class Numbered(Protocol):
    """What is dealt out."""

    @property
    def number(self) -> int:
        """By which it is known again when it is dealt out once more."""


Item = TypeVar("Item", bound=Numbered)


@dataclass(frozen=True)
class _Sent(Generic[Item]):
    """An item that a worker has."""

    item: Item
    future: Future


class Dealer(Generic[Item]):
    """Gives items to workers, and takes what came of each, once.

    Parameters
    ----------
    client
        It is connected, and is not closed.
    key
        By which workers know for whom they work.
    note
        Told in words what a user should know.
    """

    def __init__(self, client: Client, key: str, note: Callable[[str], None] | None = None) -> None:
        self.key = key
        self.lost: dict[int, int] = defaultdict(int)
        """How many workers were lost with an item, by its number."""
        self._client = client
        self._crew = Crew(client, note or (lambda text: None))
        self._sent: dict[str, _Sent[Item]] = {}
        self._came: SimpleQueue[str] = SimpleQueue()
        """The workers whose futures have ended."""
        self._numbers = count()

    @property
    def busy(self) -> int:
        """How many workers have an item."""
        return len(self._sent)

    @property
    def workers(self) -> int:
        """How many can be given one."""
        return len(self._crew.ready)

    @property
    def idle(self) -> list[str]:
        """Those that have none."""
        return [worker for worker in self._crew.ready if worker not in self._sent]

    def look(self) -> list[Item]:
        """See who is there, if it is time; gives the items of those who are not, or are to rest.

        Raises
        ------
        ClusterError
            If workers die of an item, one after the other, or as ``Crew.look`` does.
        """
        if not self._crew.look():
            return []
        gone = [worker for worker in self._sent if worker not in self._crew.ready]
        return [self._put_back(worker) for worker in gone]

    def send(self, worker: str, item: Item, work: Callable[..., Any], *arguments: Any) -> None:
        """Have an idle worker work at an item: it calls ``work``, with its threads at the end."""
        future = self._client.submit(
            *(work, *arguments, self._crew.ready[worker]),
            key=f"gpusudoku-{self.key}-{next(self._numbers)}",
            workers=[worker],
        )
        self._sent[worker] = _Sent(item, future)
        future.add_done_callback(lambda _: self._came.put(worker))

    def take(self) -> Iterator[tuple[str, Item, Any]]:
        """What came of items, each with its worker; waits a little if nothing has.

        Raises
        ------
        ClusterError
            If a worker cannot do its work, or the cluster is lost.
        """
        with suppress(Empty):
            workers = [self._came.get(timeout=WAIT_SECONDS)]
            workers += [self._came.get_nowait() for _ in range(self._came.qsize())]
            for worker in workers:  # no others: one may come back again and again
                yield from self._taken_from(worker)

    def dismiss(self) -> None:
        """Have all workers stop, and forget what they have; wait only a moment."""
        self._crew.dismiss(self.key, self._cancel)

    def _cancel(self) -> None:
        """Cancel what was sent; of nothing all clients would be told, also those that connect."""
        if self._sent:
            self._client.cancel([sent.future for sent in self._sent.values()])

    def _put_back(self, worker: str) -> Item:
        """Take back the item of a worker."""
        sent = self._sent.pop(worker)
        sent.future.cancel()
        number = sent.item.number
        if not self._crew.is_here(worker):
            self.lost[number] += 1
            if self.lost[number] == MOST_LOST:
                raise ClusterError(
                    f"{MOST_LOST} workers died of the same work, one after the other"
                )
        return sent.item

    def _taken_from(self, worker: str) -> Iterator[tuple[str, Item, Any]]:
        """What came of a worker's item, unless it was put back, or is lost with its worker.

        A future that was cancelled, and not here, tells of a scheduler that is lost.
        """
        sent = self._sent.get(worker)
        if sent is None or not sent.future.done():
            return
        if sent.future.status == "cancelled":
            raise ClusterError("the scheduler of the cluster was lost")
        try:
            result = sent.future.result(timeout=FETCH_SECONDS)
        except TimeoutError:
            self._came.put(worker)  # unless it is gone, it is worth another try
            return
        except Exception as error:
            said = str(error) or type(error).__name__
            raise ClusterError(f"worker {worker}: {said}") from None
        del self._sent[worker]
        self.lost.pop(sent.item.number, None)
        yield worker, sent.item, result


@contextmanager
def telling_loss() -> Iterator[None]:
    """Let an error of the connection be a ClusterError."""
    try:
        yield
    except OSError as error:
        raise ClusterError(f"the cluster was lost: {error}") from None
