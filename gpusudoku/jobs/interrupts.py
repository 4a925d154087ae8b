"""Ctrl-C, SIGTERM, SIGHUP and other signals that end a program: caught, or held back.

``jobs.job`` catches KeyboardInterrupt while work is done; ``cli`` ends the program. The Python
interface leaves all signals as they are: there Ctrl-C is a KeyboardInterrupt, or, where something
was being counted or searched, an ``Interrupted`` with what was found.
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

from gpusudoku.jobs.threads import NoThread, start_thread

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
"""The signals that end a program unless it handles them, those that the system has."""
PATIENCE_SECONDS = 1.5
"""Time after which a process that was to end is ended by force."""
AGAIN_SECONDS = 0.01
"""Time after which a signal that was lost is sent again: it should then be raised elsewhere."""
WAIT_SECONDS = 0.2
"""Time to wait at once, as Windows lets no Ctrl-C in meanwhile."""


class _Signals:
    """The state of signals in this process; the main thread decides on each, once."""

    last: int | None = None
    """The last that was to end the process."""
    heeded = False
    """True if a signal is raised as a KeyboardInterrupt; else it ends the process at once."""
    ending = False
    """True if the process ends, so that no other signal matters."""
    patience = 0.0
    """Seconds that the process needs to end by itself; infinite if it may outlive Ctrl-C."""
    outlived = -inf
    """The time of the last Ctrl-C that it may outlive."""
    caught = False
    """True once ``handle`` gets the signals of this process."""
    held: list[int] | None = None
    """Signals that are held back, while some are."""

    def handle(self, number: int, frame: Any) -> None:
        """Decide on a signal, in the main thread."""
        if self.held is not None:
            self.held.append(number)
            return
        if self.ending:
            return
        self.last = number
        if not self.heeded:
            _end(number)
        if self.patience == inf and number == signal.SIGINT:
            self.outlived = time.monotonic()
        else:
            self.ending = True
            self.outlived = -inf
        raise KeyboardInterrupt

    def lost(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Send a signal again that came while an object was freed: no exception leaves that."""
        if self.last is None or not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)
            return
        self.ending = False
        start_thread(threading.Timer(AGAIN_SECONDS, _send, [self.last]))

    def watch(self, awake: socket) -> None:
        """End the process by force if it does not end by itself soon after a signal.

        It is unknown on which of several signals the main thread has decided, so a Ctrl-C that may
        be outlived excuses each that came at about its time.
        """
        while True:
            numbers = awake.recv(1 << 10)
            came = time.monotonic()
            time.sleep(max(PATIENCE_SECONDS, self.patience if self.patience < inf else 0.0))
            for number in numbers:
                excused = number == signal.SIGINT and self.outlived > came - 2 * PATIENCE_SECONDS
                if number in ENDING and not excused:
                    _end(number)


_signals = _Signals()


def catch_interrupts() -> None:
    """Catch the signals that end this process, except those that it should ignore.

    Until ``heed_interrupts`` each ends it at once: there is nothing yet that could be lost. From
    then on the first is a KeyboardInterrupt, and others do not disturb the cleaning up. If it waits
    too long for something that cannot be interrupted, a thread ends the process.
    """
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(number, _signals.handle)
    _signals.caught = True
    sys.unraisablehook = _signals.lost
    from socket import socketpair  # imported lazily: it takes a moment

    awake, wake = socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.detach(), warn_on_full_buffer=False)
    with suppress(NoThread):  # signals end the process all the same, if it is not stuck
        start_thread(threading.Thread(target=_signals.watch, args=(awake,), daemon=True))


def heed_interrupts() -> None:
    """Let a signal be raised as a KeyboardInterrupt from now on."""
    _signals.heeded = True


def outlive_interrupts() -> None:
    """Raise none any more: the process ends anyway."""
    _signals.ending = True


def last_interrupt() -> int | None:
    """Return the number of the last signal that was to end this process; None for none."""
    return _signals.last


def interrupt_status() -> int:
    """Return the exit status of a process that such a signal ended."""
    return 128 + (_signals.last or signal.SIGINT)


@contextmanager
def patient_interrupts(seconds: float) -> Iterator[None]:
    """Let the process have so long to end by itself after a signal in here.

    If that is infinite, it need not end after Ctrl-C: each is a KeyboardInterrupt. Other signals
    end it as ever.
    """
    before = _signals.patience
    _signals.patience = seconds
    try:
        yield
    finally:
        _signals.patience = before


@contextmanager
def held_interrupts() -> Iterator[Callable[[], bool]]:
    """Hold signals back; the function that is given tells whether there was one.

    It is sent again at the end of the outermost such block, to the handler that would have got it.
    Only the main thread gets signals, so in any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    if (outer := _signals.held) is not None:
        yield lambda: bool(outer)
        return
    held = _signals.held = []
    old: dict[int, Any] = {}
    if not _signals.caught:  # else ``handle`` holds back what it gets
        # Those without a handler of Python's end the process, or are ignored, as ever.
        old = {number: signal.getsignal(number) for number in ENDING}
        old = {number: handler for number, handler in old.items() if callable(handler)}
    try:
        for number in old:
            signal.signal(number, lambda got, frame: held.append(got))
        yield lambda: bool(held)
    finally:
        for number in reversed(old):  # Ctrl-C last: others are not interrupted by it
            signal.signal(number, old[number])
        _signals.held = None
        if held:  # even after an error, which a caller may handle
            signal.raise_signal(held[0])


def interruptibly(work: Callable[[], T]) -> T:
    """Do work that an exception must not cut short: for the main thread another does it.

    A caller that was interrupted and wants the same again starts anew.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    return in_thread(work)


def in_thread(work: Callable[[], T]) -> T:
    """Do work in a thread of its own; an interrupt ends the waiting, and the result is lost."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # for the thread that waits
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    start_thread(thread)
    while thread.is_alive():
        thread.join(WAIT_SECONDS)
    if errors:
        raise errors[0]
    return results[0]


def _send(number: int) -> None:
    """Send a signal to the main thread, which may sleep."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:  # Windows
        signal.raise_signal(number)


def _end(number: int) -> None:
    """End the process without any cleaning up, with a message if that can be written at once."""
    with suppress(OSError):
        if os.name == "nt" or select.select([], [2], [], 0)[1]:
            os.write(2, b"gpusudoku: interrupted\n")
    os._exit(128 + number)
