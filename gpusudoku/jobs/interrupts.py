"""Ctrl-C and SIGTERM, held back while a write or a compilation must not be cut short.

``jobs.job`` catches them while work is done; ``cli`` ends the program.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def held_interrupts() -> Iterator[Callable[[], bool]]:
    """Hold Ctrl-C and SIGTERM back; what is given tells whether there was one.

    It is let through at the end as a KeyboardInterrupt. Only the main thread gets signals, so in
    any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    held: list[int] = []
    old = {
        number: signal.signal(number, lambda got, frame: held.append(got))
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield lambda: bool(held)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    if held:
        raise KeyboardInterrupt
