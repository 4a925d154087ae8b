"""Locks and cached values that work in a forked child, whatever other threads did at the fork.

A child has only the thread that forked. A lock that another thread held is never released there,
and a call that waits for it never returns.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - replaces that of functools
        """``functools.cached_property`` without its lock, as in Python 3.12."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


POLL_SECONDS = 0.002
"""Interval in which a waiting fork checks again."""
_locks: WeakSet[Any] = WeakSet()
"""All locks to release in a child."""
# Not a condition, because an interrupt of the main thread can leave its lock locked.
_fork_lock = threading.RLock()
_busy_threads: dict[object, int] = {}
"""The thread of each current block of ``delayed_forks``."""


def reentrant_lock() -> Any:
    """Return a reentrant lock that is released in a child if another thread held it."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


@contextmanager
def delayed_forks() -> Iterator[None]:
    """Make forks by other threads wait for the end of the block.

    Use it for work that holds locks of other libraries, such as imports and calls of LLVM.
    """
    block = object()
    try:  # the next line is inside, because an interrupt may come right after it
        with _fork_lock:
            _busy_threads[block] = threading.get_ident()
        yield
    finally:
        _busy_threads.pop(block, None)


def _before_fork() -> None:
    _fork_lock.acquire()
    while {*_busy_threads.values()} - {threading.get_ident()}:
        _fork_lock.release()
        try:
            time.sleep(POLL_SECONDS)
        finally:
            _fork_lock.acquire()


def _after_fork_in_child() -> None:
    for lock in _locks:
        if not lock._is_owned():
            lock._at_fork_reinit()
    _fork_lock.release()


if hasattr(os, "register_at_fork"):  # all systems but Windows
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_fork_lock.release,
        after_in_child=_after_fork_in_child,
    )
