"""Ctrl-C, SIGTERM, SIGHUP and other signals that end a program: caught, or held back.

``jobs.job`` catches them while work is done; ``cli`` ends the program. The Python interface leaves
all signals as they are: there Ctrl-C is a KeyboardInterrupt, or, where something was being counted
or searched, an ``Interrupted`` with what was found.
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

from gpusudoku.errors import Interrupted
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
"""The signals that end a program unless it does something about them, as far as there are such."""
PATIENCE_SECONDS = 1.5
"""A process that was to end is ended by force after this time."""
AGAIN_SECONDS = 0.01
"""A signal that was lost is sent again after this time, when it should be raised elsewhere."""
WAIT_SECONDS = 0.2
"""How long to wait at a time where Windows lets no Ctrl-C in meanwhile."""


class _Signals:
    """What this process makes of signals; the main thread decides on each, once."""

    def __init__(self) -> None:
        self.last: int | None = None
        """The last that was to end the process."""
        self.heeded = False
        """Whether a signal is raised as a KeyboardInterrupt; else it ends the process at once."""
        self.ending = False
        """Whether the process ends, and others do not matter any more."""
        self.skips = False
        """Whether Ctrl-C is an event that the process may outlive."""
        self.outlived = -inf
        """When there was the last such event."""
        self.patience = 0.0
        """Seconds that the process needs to end by itself, if that is more than usual."""

    def handle(self, number: int, frame: Any) -> None:
        """Decide on a signal, in the main thread."""
        if self.ending:
            return
        self.last = number
        if not self.heeded:
            _end(number)
        if self.skips and number == signal.SIGINT:
            self.outlived = time.monotonic()
        else:
            self.ending, self.outlived = True, -inf
        raise KeyboardInterrupt

    def lost(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Send a signal again that met the end of an object: no exception leaves that."""
        if self.last is None or not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)
            return
        self.ending = False
        start_thread(threading.Timer(AGAIN_SECONDS, _send, [self.last]))

    def watch(self, awake: socket) -> None:
        """End the process by force if it does not end by itself soon after a signal.

        Nothing tells which of several signals the main thread has decided on, so an event excuses
        each Ctrl-C that came at about its time.
        """
        while True:
            numbers = awake.recv(1 << 10)
            came = time.monotonic()
            time.sleep(max(PATIENCE_SECONDS, self.patience))
            for number in numbers:
                excused = number == signal.SIGINT and self.outlived > came - 2 * PATIENCE_SECONDS
                if number in ENDING and not excused:
                    _end(number)


_signals = _Signals()


def catch_interrupts() -> None:
    """Catch the signals that end this process, but those that it was told to ignore.

    Until ``heed_interrupts`` each ends it at once: there is nothing yet that could be lost. From
    then on the first is a KeyboardInterrupt, and others do not disturb the cleaning up. If it waits
    too long for something that cannot be interrupted, a thread ends the process.
    """
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(number, _signals.handle)
    sys.unraisablehook = _signals.lost
    from socket import socketpair  # only now, since it takes a moment

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
    """The number of the last signal that was to end this process; None if there was none."""
    return _signals.last


def interrupt_status() -> int:
    """The exit status of a process that such a signal ended."""
    return 128 + (_signals.last or signal.SIGINT)


@contextmanager
def skipping_interrupts() -> Iterator[None]:
    """Let Ctrl-C be an event in here that the process may outlive."""
    _signals.skips = True
    try:
        yield
    finally:
        _signals.skips = False


@contextmanager
def patient_interrupts(seconds: float) -> Iterator[None]:
    """Let the process have so long to end by itself after a signal in here."""
    before, _signals.patience = _signals.patience, seconds
    try:
        yield
    finally:
        _signals.patience = before


@contextmanager
def telling_interrupts() -> Iterator[None]:
    """Let Ctrl-C in here be an ``Interrupted``, as it is while a job runs."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None


@contextmanager
def held_interrupts() -> Iterator[Callable[[], bool]]:
    """Hold signals back; what is given tells whether there was one.

    It is sent again at the end, to whoever would have got it. Only the main thread gets signals,
    so in any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    held: list[int] = []
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
        if held:  # even after an error, which somebody may know how to go on from
            signal.raise_signal(held[0])


def interruptibly(work: Callable[[], T]) -> T:
    """Do what an exception must not cut short, and be interrupted all the same.

    It is done in a thread, and an interrupt ends the waiting for it: the thread goes on, and its
    result is lost. Whoever wants the same again starts anew: the same kernel may be compiled twice,
    one after the other, since Numba compiles one at a time.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    return in_thread(work)


def in_thread(work: Callable[[], T]) -> T:
    """Do something in a thread of its own, and wait for it; an interrupt ends the waiting."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # handed to the thread that waits
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
