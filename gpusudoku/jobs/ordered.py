"""A map over items by several threads, with results in the order of the items."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from enum import Enum, auto
from math import inf
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import ASK_SECONDS, Deadline, cancelling, check_cancelled, tokens
from gpusudoku.jobs.threads import ThreadStartError, start_thread, warn_fewer_threads
from gpusudoku.jobs.watch import current_watch, watching

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items for each thread that are read before the first of them is yielded."""
LEAVE_SECONDS = 1.0
"""Time to wait at the end for threads that still compile."""


class Schedule(Enum):
    """When an item is processed, and by which thread."""

    POOL = auto()
    """Any idle thread."""
    INLINE = auto()
    """The thread that reads it, immediately: the work is shorter than passing the item on."""
    EXCLUSIVE = auto()
    """None: the item is yielded without a result, before any further item is read."""


class MappedItem(Generic[Item, Result]):
    """An item and its result."""

    def __init__(self, item: Item, schedule: Schedule) -> None:
        self.item = item
        self.schedule = schedule
        self.result: Result | None = None
        """None if the item is exclusive, or if a thread abandoned it because it took too long."""
        self.seconds = 0.0
        """The time that its thread spent on it on a core."""
        self.elapsed = 0.0
        """The time from start to end. It is longer if the thread waited for a core or a lock."""
        self.error: BaseException | None = None
        self.token: Deadline | None = None
        """The token that stops the work on it, if that has begun."""
        self.has_ended = False
        # Held until the work has ended.
        self._end_lock = threading.Lock()
        self._end_lock.acquire()

    def end(self, error: BaseException | None = None) -> None:
        """Mark the work as ended, so that the item is yielded."""
        self.error = error
        self.has_ended = True
        self._end_lock.release()

    def wait(self) -> None:
        """Wait until the work has ended, or until Ctrl-C or a cancel token of this thread."""
        while not self.has_ended:
            check_cancelled()
            self._end_lock.acquire(timeout=ASK_SECONDS)


def ordered_map(
    items: Iterable[Item],
    work: Callable[[Item], Result],
    threads: int,
    max_seconds: float = inf,
    schedule: Callable[[Item], Schedule] = lambda item: Schedule.POOL,
) -> Generator[MappedItem[Item, Result], None, None]:
    """Call ``work`` for items on several threads, and yield the results in order.

    The iterating thread reads items, yields results, and otherwise works on items itself. So
    ``threads`` threads work in all, and at most AHEAD items per thread are in memory. An error of
    an item, or of reading, is raised after the results of all items before it; Ctrl-C is raised
    immediately. The cancel tokens of the iterating thread also stop the other threads, which exist
    until the generator is closed.

    Parameters
    ----------
    items
        The items, read by the iterating thread.
    work
        A function of an item. It runs in any of the threads.
    threads
        The number of threads, including the iterating one.
    max_seconds
        The time on a core, in seconds, after which a thread abandons an item.
    schedule
        A function that chooses the schedule of an item.
    """
    source = iter(items)
    pending = deque[MappedItem[Item, Result]]()
    pool = _Pool(work, threads - 1, max_seconds)
    all_read = False
    try:
        while True:
            # Results are yielded immediately, because reading the next item may take long.
            while not (pending and pending[0].has_ended):
                check_cancelled()
                is_exclusive = bool(pending) and pending[-1].schedule is Schedule.EXCLUSIVE
                may_read = not all_read and not is_exclusive
                if may_read and len(pending) < AHEAD * threads:
                    try:
                        item = next(source)
                        entry = MappedItem[Item, Result](item, schedule(item))
                    except StopIteration:
                        all_read = True
                        continue
                    except Interrupted:  # raised immediately
                        raise
                    except Exception as error:
                        all_read = True
                        entry = MappedItem(None, Schedule.EXCLUSIVE)  # type: ignore[arg-type]
                        entry.end(error)
                    pending.append(entry)
                    if not entry.has_ended:
                        pool.take(entry)
                elif not pending:
                    return
                elif not pool.help():
                    pending[0].wait()
            entry = pending.popleft()
            if entry.error is not None:
                raise entry.error
            yield entry
    finally:
        pool.close(pending)


class _Pool(Generic[Item, Result]):
    """The threads of a map, except the iterating one."""

    def __init__(self, work: Callable[[Item], Result], threads: int, max_seconds: float) -> None:
        self._work = work
        self._max_seconds = max_seconds
        self._tokens = tokens()
        self._watch = current_watch()
        # This queue is written in C. Ctrl-C, or a call of ``close`` by the garbage collector, could
        # leave a lock of Python code locked.
        self._queue: SimpleQueue[MappedItem[Item, Result] | None] = SimpleQueue()
        """Items that no thread has begun. None makes all threads end."""
        self._closed = False
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def take(self, entry: MappedItem[Item, Result]) -> None:
        """Start the work on an item, or mark it as ended if there is none."""
        if entry.schedule is Schedule.EXCLUSIVE:
            entry.end()
        elif entry.schedule is Schedule.INLINE:
            self._do(entry)
        else:
            self._queue.put(entry)
            try:
                for thread in self._threads:
                    if thread.ident is None:
                        start_thread(thread)
            except ThreadStartError:  # the iterating thread works on the item
                self._threads = [thread for thread in self._threads if thread.ident is not None]
                warn_fewer_threads()

    def help(self) -> bool:
        """Work on an item that no thread has begun. Return whether there was one."""
        try:
            entry = self._queue.get_nowait()
        except Empty:
            return False
        if entry is not None:
            self._do(entry)
        return entry is not None

    def close(self, pending: Iterable[MappedItem[Item, Result]]) -> None:
        """Stop the work, and wait for the threads."""
        if sys.is_finalizing():  # Python has stopped the threads; they may hold locks
            return
        self._queue.put(None)
        self._closed = True
        for entry in pending:
            if entry.token is not None:
                entry.token.cancel()
        end = time.monotonic() + LEAVE_SECONDS
        for thread in self._threads:
            # The garbage collector may call this in any thread, also in one of the pool.
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        """Work on items, in a thread of the pool."""
        while (entry := self._queue.get()) is not None and not self._closed:
            try:
                self._do(entry)
            except BaseException as error:  # raised in the iterating thread
                entry.end(error)
        self._queue.put(None)  # for the next thread

    def _do(self, entry: MappedItem[Item, Result]) -> None:
        """Work on an item in this thread, and mark it as ended."""
        start = time.perf_counter()
        start_on_core = time.thread_time()
        error: BaseException | None = None
        entry.token = Deadline(self._max_seconds, time.thread_time)
        if self._closed:  # ``close`` came before there was a token to cancel
            entry.token.cancel()
        try:
            with cancelling(*self._tokens, entry.token), watching(self._watch):
                entry.result = self._work(entry.item)
        except Cancelled as cancelled:
            # Else the item took too long, and has no result.
            if any(token.cancelled for token in self._tokens):
                error = cancelled
        except Interrupted:  # raised immediately
            raise
        except Exception as work_error:
            error = work_error
        entry.seconds = time.thread_time() - start_on_core
        entry.elapsed = time.perf_counter() - start
        entry.end(error)
