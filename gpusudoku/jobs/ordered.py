"""Items worked on by several threads, and what comes of them in the order of the items."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import ASK_SECONDS, Deadline, cancelling, check_cancelled, tokens
from gpusudoku.jobs.threads import NoThread, note_fewer, start_thread
from gpusudoku.jobs.watch import current_watch, watching

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items that are read before the first of them is given, for each thread."""
LEAVE_SECONDS = 1.0
"""Threads that compile when all is over are left to themselves after this time."""


class By(Enum):
    """Who is to work on an item."""

    ANY = auto()
    """Any thread, when it has nothing else to do."""
    READER = auto()
    """The thread that reads it, at once: it is not worth handing over."""
    NONE = auto()
    """Nobody: it is given as it is, and nothing is read beyond it before."""


@dataclass
class Done(Generic[Item, Result]):
    """An item and what came of it."""

    item: Item
    result: Result | None = None
    """None if nobody was to work on it, or if it was put down: it took too long for one thread."""
    seconds: float = 0.0
    """The time that its thread spent on it."""


class _Task(Generic[Item, Result]):
    """An item on its way."""

    def __init__(self, item: Item, by: By) -> None:
        self.done, self.by = Done[Item, Result](item), by
        self.error: BaseException | None = None
        self.token: Deadline | None = None
        """Stops the work on it, once somebody has begun that."""
        self.ended = False
        self._open = threading.Lock()
        self._open.acquire()

    def end(self, error: BaseException | None = None) -> None:
        """Let it be given."""
        self.error, self.ended = error, True
        self._open.release()

    def wait(self) -> None:
        """Wait until it ended; Ctrl-C is let in, and so are the tokens of this thread."""
        while not self.ended:
            check_cancelled()
            self._open.acquire(timeout=ASK_SECONDS)


class InOrder(Generic[Item, Result]):
    """An iterator over what comes of items, in their order.

    The thread that iterates is one of the threads: it reads the items, gives what is done, and
    where the next is not, it works on an item that nobody has begun. So there are never more
    threads at work than were asked for, and no more items in memory than AHEAD for each. An error
    of an item, or of reading, is raised once all before it were given. Only the thread that
    iterates meets Ctrl-C. The others start with the first item for ANY, and stay; the tokens of the
    thread that makes it stop them, too. It must be closed in the end, after whatever happens.

    Parameters
    ----------
    items
        Read by the thread that iterates.
    work
        What is done to each; a token stops it, by ``Cancelled``, as all that runs in its thread.
    threads
        How many there are, the one that iterates included.
    patience
        Seconds after which an item is put down.
    by
        Tells of an item that was just read who is to work on it; by default ANY.
    """

    def __init__(
        self,
        items: Iterable[Item],
        work: Callable[[Item], Result],
        threads: int,
        patience: float,
        by: Callable[[Item], By] = lambda item: By.ANY,
    ) -> None:
        self._items, self._work, self._by = iter(items), work, by
        self._most, self._patience = AHEAD * threads, patience
        self._tokens, self._watch = tokens(), current_watch()
        self._pending: deque[_Task[Item, Result]] = deque()
        """What was read and not given, in order."""
        # No locks in Python's code: Ctrl-C would leave them held, and so would the collector of
        # garbage, which may call ``close`` at any place.
        self._to_do: SimpleQueue[_Task[Item, Result] | None] = SimpleQueue()
        """Those of them that nobody has begun; None lets all threads end."""
        self._all_read = self._closed = False
        self._threads = [
            threading.Thread(target=self._run, daemon=True) for _ in range(threads - 1)
        ]

    def __iter__(self) -> InOrder[Item, Result]:
        return self

    def __next__(self) -> Done[Item, Result]:
        # What is done is given at once: to read on may mean to wait for whoever writes.
        while not (self._pending and self._pending[0].ended):
            check_cancelled()
            if self._may_read():
                self._read_one()
            elif not self._pending:
                raise StopIteration
            elif not self._help():
                self._pending[0].wait()
        task = self._pending.popleft()
        if task.error is not None:
            raise task.error
        return task.done

    def settle(self) -> None:
        """Have all worked on that was read: until more is read, no other thread works."""
        while self._help():
            pass
        for task in self._pending:
            task.wait()

    def close(self) -> None:
        """Stop the work, and wait for the threads."""
        if sys.is_finalizing():  # Python has stopped them, whatever they hold
            return
        self._to_do.put(None)
        self._closed = True
        for task in self._pending:
            if task.token is not None:
                task.token.cancel()
        end = time.monotonic() + LEAVE_SECONDS
        for thread in self._threads:
            # The collector of garbage may call this, in any thread.
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))

    def _may_read(self) -> bool:
        """Whether there may be more items, and room for one."""
        if self._pending and self._pending[-1].by is By.NONE:
            return False
        return len(self._pending) < self._most and not (self._all_read or self._closed)

    def _read_one(self) -> None:
        """Read one item ahead."""
        try:
            item = next(self._items)
            task = _Task[Item, Result](item, self._by(item))
        except StopIteration:
            self._all_read = True
        except Interrupted:  # Ctrl-C, which does not wait for its turn
            raise
        except Exception as error:
            self._all_read = True
            failed = _Task[Item, Result](None, By.NONE)  # type: ignore[arg-type]
            failed.end(error)
            self._pending.append(failed)
        else:
            self._pending.append(task)
            if task.by is By.ANY:
                self._hand_over(task)
            elif task.by is By.READER:
                self._do(task)
            else:
                task.end()

    def _hand_over(self, task: _Task[Item, Result]) -> None:
        """Let any thread work on it."""
        self._to_do.put(task)
        try:
            for thread in self._threads:
                if thread.ident is None:
                    start_thread(thread)
        except NoThread:  # the one that reads works
            self._threads = [thread for thread in self._threads if thread.ident is not None]
            note_fewer()

    def _next_task(self) -> _Task[Item, Result] | None:
        """An item that nobody has begun; None if there is none."""
        with suppress(Empty):
            return self._to_do.get_nowait()
        return None

    def _help(self) -> bool:
        """Work on an item that nobody has begun; returns whether there was one."""
        task = self._next_task()
        if task is not None:
            self._do(task)
        return task is not None

    def _run(self) -> None:
        """Work on one item after the other, in a thread of its own."""
        while (task := self._to_do.get()) is not None and not self._closed:
            try:
                self._do(task)
            except BaseException as error:  # handed to the thread that iterates
                task.end(error)
        self._to_do.put(None)  # for the next thread

    def _do(self, task: _Task[Item, Result]) -> None:
        start = time.thread_time()
        error: BaseException | None = None
        task.token = Deadline(self._patience, time.thread_time)
        if self._closed:  # before anybody could cancel it
            task.token.cancel()
        try:
            with cancelling(*self._tokens, task.token), watching(self._watch):
                task.done.result = self._work(task.done.item)
        except Cancelled as caught:
            if any(token.cancelled for token in self._tokens):
                error = caught
        except Interrupted:  # Ctrl-C, which does not wait for its turn
            raise
        except Exception as caught:
            error = caught
        task.done.seconds = time.thread_time() - start
        task.end(error)
