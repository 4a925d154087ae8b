"""Ctrl-C, SIGTERM, SIGHUP and other signals that end a program: catching and deferring them.

Only the command line catches signals. The Python interface does not change their handlers: there
Ctrl-C is a KeyboardInterrupt, which ``jobs.job`` converts to an ``Interrupted`` during a count or a
search.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from gpusudoku.jobs.threads import ThreadStartError, start_thread

if TYPE_CHECKING:
    from socket import socket

T = TypeVar("T")

ENDING = tuple(
    getattr(signal, name)
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK"),
        *("SIGXCPU", "SIGALRM", "SIGUSR1", "SIGUSR2"),
    )
    if hasattr(signal, name)
)
"""The signals of this system that end a program unless it handles them."""
MIN_GRACE_SECONDS = 1.5
"""Time after a signal in which the process may end by itself. Then it is ended by force."""
AGAIN_SECONDS = 0.01
"""Time after which a lost signal is sent again. It should then be raised in other code."""
WAIT_SECONDS = 0.2
"""Interval of waiting. On Windows, Ctrl-C is noticed only between intervals."""


class _Signals:
    """The state of signals in this process. The main thread handles each signal once."""

    last: int | None = None
    """The last signal that should end the process."""
    is_enabled = False
    """True if a signal raises a KeyboardInterrupt; else it ends the process immediately."""
    ending = False
    """True if the process is ending, so that further signals are ignored."""
    grace_seconds = 0.0
    """Seconds that the process needs to end by itself. Infinite if it may survive Ctrl-C."""
    survived_at = -inf
    """The time of the last Ctrl-C that the process may survive."""
    is_installed = False
    """True if ``handle`` is the handler of the signals of this process."""
    deferred: list[int] | None = None
    """Signals that came in a block of ``held_interrupts``; None outside of such blocks."""

    def handle(self, number: int, frame: Any) -> None:
        """Handle a signal, in the main thread."""
        if self.deferred is not None:
            self.deferred.append(number)
            return
        if self.ending:
            return
        self.last = number
        if not self.is_enabled:
            _end(number)
        if self.grace_seconds == inf and number == signal.SIGINT:
            self.survived_at = time.monotonic()
        else:
            self.ending = True
            self.survived_at = -inf
        raise KeyboardInterrupt

    def resend_lost(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Send a signal again if it came while an object was freed: Python drops its exception."""
        if self.last is None or not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)
            return
        self.ending = False
        start_thread(threading.Timer(AGAIN_SECONDS, _send, [self.last]))

    def watch(self, wakeups: socket) -> None:
        """End the process by force if it does not end by itself soon after a signal.

        This thread cannot know which of several signals the main thread has handled. So a Ctrl-C
        that the process may survive also excuses others that came at about the same time.
        """
        while True:
            numbers = wakeups.recv(1 << 10)
            received_at = time.monotonic()
            grace_seconds = MIN_GRACE_SECONDS
            if self.grace_seconds < inf:
                grace_seconds = max(grace_seconds, self.grace_seconds)
            time.sleep(grace_seconds)
            for number in numbers:
                survives = self.survived_at > received_at - 2 * MIN_GRACE_SECONDS
                if number == signal.SIGINT and survives:
                    continue
                if number in ENDING:
                    _end(number)


_signals = _Signals()


def catch_interrupts() -> None:
    """Catch the signals that end this process, except those that it should ignore.

    Until ``enable_interrupts`` is called, a signal ends the process immediately, because there is
    nothing to lose yet. After that, the first signal raises a KeyboardInterrupt, and further ones
    are ignored while the process ends. If the process does not end in time, a thread ends it by
    force.
    """
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored under nohup, for example
            signal.signal(number, _signals.handle)
    _signals.is_installed = True
    sys.unraisablehook = _signals.resend_lost
    from socket import socketpair  # imported lazily, after signals are caught: it takes a while

    wakeups, wakeup_sender = socketpair()
    wakeup_sender.setblocking(False)
    signal.set_wakeup_fd(wakeup_sender.detach(), warn_on_full_buffer=False)
    # Without this thread, signals still end the process, unless it is stuck.
    with suppress(ThreadStartError):
        start_thread(threading.Thread(target=_signals.watch, args=(wakeups,), daemon=True))


def enable_interrupts() -> None:
    """Make a signal raise a KeyboardInterrupt from now on."""
    _signals.is_enabled = True


def ignore_interrupts() -> None:
    """Ignore signals from now on, because the process is ending."""
    _signals.ending = True


def last_interrupt() -> int | None:
    """Return the number of the last signal that should end this process, or None."""
    return _signals.last


def interrupt_status() -> int:
    """Return the exit status of a process that was ended by the last signal."""
    return 128 + (_signals.last or signal.SIGINT)


@contextmanager
def interrupt_grace(seconds: float) -> Iterator[None]:
    """Allow the process ``seconds``, at least MIN_GRACE_SECONDS, to end after a signal.

    If ``seconds`` is infinite, the process may survive Ctrl-C: each one, and not only the first,
    raises a KeyboardInterrupt. Other signals still end the process.
    """
    outer_seconds = _signals.grace_seconds
    _signals.grace_seconds = seconds
    try:
        yield
    finally:
        _signals.grace_seconds = outer_seconds


@contextmanager
def held_interrupts() -> Iterator[Callable[[], bool]]:
    """Defer signals in the block. The yielded function returns whether there was one.

    At the end of the outermost such block, the first deferred signal is sent again, to the usual
    handler. Only the main thread receives signals, so in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    outer_deferred = _signals.deferred
    if outer_deferred is not None:
        yield lambda: bool(outer_deferred)
        return
    deferred = _signals.deferred = []
    old_handlers: dict[int, Any] = {}
    if not _signals.is_installed:  # else ``_signals.handle`` defers signals
        # Only signals with a handler in Python are replaced. Others end the process, or are
        # ignored.
        for number in ENDING:
            handler = signal.getsignal(number)
            if callable(handler):
                old_handlers[number] = handler
    try:
        for number in old_handlers:
            signal.signal(number, lambda received, frame: deferred.append(received))
        yield lambda: bool(deferred)
    finally:
        # Ctrl-C comes last, so that it cannot interrupt restoring the others.
        for number in reversed(old_handlers):
            signal.signal(number, old_handlers[number])
        _signals.deferred = None
        if deferred:  # also after an error, which a caller may handle
            signal.raise_signal(deferred[0])


def interruptibly(work: Callable[[], T]) -> T:
    """Call ``work``, which must not be aborted by an exception, in another thread if necessary.

    In the main thread an interrupt ends the wait, but not the work; its result is lost.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    return in_thread(work)


def in_thread(work: Callable[[], T]) -> T:
    """Call ``work`` in a thread of its own. An interrupt ends the wait, and the result is lost."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised in the waiting thread
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    start_thread(thread)
    while thread.is_alive():
        thread.join(WAIT_SECONDS)
    if errors:
        raise errors[0]
    return results[0]


def _send(number: int) -> None:
    """Send a signal to the main thread, also if it sleeps."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:  # Windows
        signal.raise_signal(number)


def _end(number: int) -> None:
    """End the process without cleaning up, with a message if stderr does not block."""
    with suppress(OSError):
        if os.name == "nt" or select.select([], [2], [], 0)[1]:
            os.write(2, b"gpusudoku: interrupted\n")
    os._exit(128 + number)
