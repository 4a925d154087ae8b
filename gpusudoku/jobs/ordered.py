"""A map over items by several threads, which gives results in the order of the items."""

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
from gpusudoku.jobs.threads import NoThread, note_fewer, start_thread
from gpusudoku.jobs.watch import current_watch, watching

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items that are read before the first of them is given, for each thread."""
LEAVE_SECONDS = 1.0
"""Time after which threads that still compile at the end are left to themselves."""


class Where(Enum):
    """Where an item is worked on."""

    POOL = auto()
    """In any thread that has nothing else to do."""
    INLINE = auto()
    """In the thread that reads it, at once: it is not worth handing over."""
    EXCLUSIVE = auto()
    """Not here: it is given as it is, and nothing is read beyond it before."""


class Done(Generic[Item, Result]):
    """An item, and what came of it."""

    def __init__(self, item: Item, where: Where) -> None:
        self.item = item
        self.where = where
        self.result: Result | None = None
        """None if it is exclusive, or if a thread put it down: it took too long."""
        self.seconds = 0.0
        """The time that its thread spent on it, on a core."""
        self.elapsed = 0.0
        """The time from its begin to its end: more if the thread waited for a core, or a lock."""
        self.error: BaseException | None = None
        self.token: Deadline | None = None
        """Stops the work on it, once that has begun."""
        self.ended = False
        self._open = threading.Lock()
        self._open.acquire()

    def end(self, error: BaseException | None = None) -> None:
        """Let it be given."""
        self.error = error
        self.ended = True
        self._open.release()

    def wait(self) -> None:
        """Wait until it ended; Ctrl-C is let in, and so are the tokens of this thread."""
        while not self.ended:
            check_cancelled()
            self._open.acquire(timeout=ASK_SECONDS)


def ordered_map(
    items: Iterable[Item],
    work: Callable[[Item], Result],
    threads: int,
    patience: float = inf,
    where: Callable[[Item], Where] = lambda item: Where.POOL,
) -> Generator[Done[Item, Result], None, None]:
    """Work on items by several threads, and give what came of them in their order.

    The thread that iterates reads the items, gives what is done, and meanwhile works on an item
    that no other has begun: there are never more threads at work than were asked for, and no more
    items in memory than AHEAD for each. An error of an item, or of reading, is raised once all
    before it were given, but Ctrl-C at once. The tokens of that thread stop the others, too, which
    stay until this is closed. A thread that spent ``patience`` seconds on an item puts it down.
    """
    source = iter(items)
    pending = deque[Done[Item, Result]]()
    pool = _Pool(work, threads - 1, patience)
    all_read = False
    try:
        while True:
            # What is done is given at once: the next item may come much later.
            while not (pending and pending[0].ended):
                check_cancelled()
                waits = bool(pending) and pending[-1].where is Where.EXCLUSIVE
                if not (all_read or waits) and len(pending) < AHEAD * threads:
                    try:
                        item = next(source)
                        done = Done[Item, Result](item, where(item))
                    except StopIteration:
                        all_read = True
                        continue
                    except Interrupted:  # it does not wait for its turn
                        raise
                    except Exception as error:
                        all_read = True
                        done = Done(None, Where.EXCLUSIVE)  # type: ignore[arg-type]
                        done.end(error)
                    pending.append(done)
                    if not done.ended:
                        pool.take(done)
                elif not pending:
                    return
                elif not pool.help():
                    pending[0].wait()
            done = pending.popleft()
            if done.error is not None:
                raise done.error
            yield done
    finally:
        pool.close(pending)


class _Pool(Generic[Item, Result]):
    """The threads of a map besides the one that iterates."""

    def __init__(self, work: Callable[[Item], Result], threads: int, patience: float) -> None:
        self._work = work
        self._patience = patience
        self._tokens, self._watch = tokens(), current_watch()
        # No locks in Python's code: Ctrl-C would leave them held, and so would the collector of
        # garbage, which may call ``close`` at any place.
        self._to_do: SimpleQueue[Done[Item, Result] | None] = SimpleQueue()
        """Items that no thread has begun; None lets all threads end."""
        self._closed = False
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def take(self, done: Done[Item, Result]) -> None:
        """Have an item worked on, or not, as it is to be."""
        if done.where is Where.EXCLUSIVE:
            done.end()
        elif done.where is Where.INLINE:
            self._do(done)
        else:
            self._to_do.put(done)
            try:
                for thread in self._threads:
                    if thread.ident is None:
                        start_thread(thread)
            except NoThread:  # the one that iterates works
                self._threads = [thread for thread in self._threads if thread.ident is not None]
                note_fewer()

    def help(self) -> bool:
        """Work on an item that no thread has begun; tell whether there was one."""
        try:
            done = self._to_do.get_nowait()
        except Empty:
            return False
        if done is not None:
            self._do(done)
        return done is not None

    def close(self, pending: Iterable[Done[Item, Result]]) -> None:
        """Stop the work, and wait for the threads."""
        if sys.is_finalizing():  # Python has stopped them, whatever they hold
            return
        self._to_do.put(None)
        self._closed = True
        for done in pending:
            if done.token is not None:
                done.token.cancel()
        end = time.monotonic() + LEAVE_SECONDS
        for thread in self._threads:
            # The collector of garbage may call this, in any thread.
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        """Work on one item after the other, in a thread of its own."""
        while (done := self._to_do.get()) is not None and not self._closed:
            try:
                self._do(done)
            except BaseException as error:  # for the thread that iterates
                done.end(error)
        self._to_do.put(None)  # for the next thread

    def _do(self, done: Done[Item, Result]) -> None:
        start = time.perf_counter()
        start_on_core = time.thread_time()
        error: BaseException | None = None
        done.token = Deadline(self._patience, time.thread_time)
        if self._closed:  # before the token was there to be cancelled
            done.token.cancel()
        try:
            with cancelling(*self._tokens, done.token), watching(self._watch):
                done.result = self._work(done.item)
        except Cancelled as caught:
            if any(token.cancelled for token in self._tokens):
                error = caught
        except Interrupted:  # it does not wait for its turn
            raise
        except Exception as caught:
            error = caught
        done.seconds = time.thread_time() - start_on_core
        done.elapsed = time.perf_counter() - start
        done.end(error)
