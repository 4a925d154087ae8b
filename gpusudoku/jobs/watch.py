"""Watches: receivers of reports about progress, plans and compilation.

A thread reports to the watch of the innermost block ``with watching(watch)`` that it is in.
``current_watch()`` returns it. A ``Job`` reports its progress to the watch of the thread that made
it. Therefore functions need no parameters for callbacks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

DECADES = 1e9
"""Estimates above this many seconds are shown as ``decades``."""
LONG_SECONDS = 2.0
"""A compilation that is expected to take longer is always announced."""


def duration(seconds: float) -> str:
    """Return an estimated time in words."""
    if seconds > DECADES:
        return "decades"
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds > 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    if seconds < 10:
        return f"about {seconds:.2g} s"
    return f"about {seconds:.0f} s"


@dataclass
class Progress:
    """The progress of a job while it runs."""

    done: float
    """The estimated fraction of the work that is done; 0 while the estimate is too uncertain."""
    count: int
    seconds: float


class Watch:
    """Receives reports, from any thread. A subclass overrides the methods that it needs.

    Other reports are ignored, except those about compilation: these are passed to the watch
    ``around``, which by default is the watch that was current when this one was made.
    """

    def __init__(self, around: Watch | None = None) -> None:
        self.around = around or current_watch()

    def progress(self, progress: Progress) -> None:
        """Receive the progress of a job, about twenty times a second."""

    @property
    def sees_progress(self) -> bool:
        """True if the watch uses progress. A job without such a watch does less work."""
        return type(self).progress is not Watch.progress

    def planned(self, plan: Any, board: Any) -> None:
        """Receive the ``Plan`` for a ``Board`` before it is run, or a ``FinishedPlan``."""

    def estimating(self, seconds: float) -> None:
        """Receive the start of an estimate of a contraction. A search would take ``seconds``."""

    def resumed(self, run: Any) -> None:
        """Receive the ``RunStore`` of a run that is resumed, or was already finished."""

    def compiling(self, kernels: Sequence[Any], seconds: float, details: str) -> None:
        """Receive the kernels to be compiled. ``details`` names their cache, in words."""
        self.around.compiling(kernels, seconds, details)

    def not_cached(self, why: str) -> None:
        """Receive the reason why compiled kernels could not be cached."""
        self.around.not_cached(why)

    def working_on(self, board: Any) -> AbstractContextManager[None]:
        """Receive the board, as a ``Batch``, on which the block works: one board of many."""
        return nullcontext()


class _Calls(Watch):
    """Calls functions with progress and plans. Work of these functions is not reported to them."""

    def __init__(
        self, progress: Callable[[Progress], None] | None, planned: Callable[[Any], None] | None
    ) -> None:
        super().__init__()
        self._progress = progress
        self._planned = planned

    @property
    def sees_progress(self) -> bool:
        return self._progress is not None

    def progress(self, progress: Progress) -> None:
        if self._progress is not None:
            with watching(self.around):
                self._progress(progress)

    def planned(self, plan: Any, board: Any) -> None:
        if self._planned is not None:
            with watching(self.around):
                self._planned(plan)


class Announcer(Watch):
    """Announces compilations, each kind of kernel once. It is the outermost watch.

    In a terminal or notebook it writes to stderr. Elsewhere it writes announcements of more than
    LONG_SECONDS to stderr, and other messages to the logger ``gpusudoku``.
    """

    def __init__(self) -> None:
        self._announced = set[str]()

    def compiling(self, kernels: Sequence[Any], seconds: float, details: str) -> None:
        """See ``Watch``."""
        subjects = dict.fromkeys(kernel.subject for kernel in kernels)
        new = [subject for subject in subjects if subject not in self._announced]
        if self._announced:
            details = details.partition(", once")[0]  # announced only the first time
        self._announced.update(new)
        if new:
            time = duration(max(1.0, round(seconds)))
            self.say(f"compiling {' and '.join(new)}, {time}{details}", seconds)

    def not_cached(self, why: str) -> None:
        """See ``Watch``."""
        if (text := f"compiled code cannot be cached: {why}") not in self._announced:
            self._announced.add(text)
            self.say(text)

    def say(self, text: str, seconds: float = 0.0) -> None:
        """Write a message to the user about something that takes ``seconds``."""
        ipython = sys.modules.get("IPython")
        shell = None if ipython is None else ipython.get_ipython()
        in_notebook = getattr(shell, "kernel", None) is not None
        is_shown = in_notebook or seconds > LONG_SECONDS
        if sys.stderr is not None and (is_shown or sys.stderr.isatty()):
            print(f"gpusudoku: {text}", file=sys.stderr, flush=True)
        else:
            import logging  # imported lazily: rarely needed

            logging.getLogger("gpusudoku").info(text)


class Silence(Watch):
    """Ignores all reports, including those about compilation."""

    def compiling(self, kernels: Sequence[Any], seconds: float, details: str) -> None:
        """See ``Watch``."""

    def not_cached(self, why: str) -> None:
        """See ``Watch``."""


_announcer: Watch = Announcer()
"""The watch of threads that are not in a block ``with watching``."""
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


def current_watch() -> Watch:
    """Return the watch of this thread."""
    return _watch.get() or _announcer


@contextmanager
def announcing(announcer: Announcer) -> Iterator[None]:
    """Make an announcer receive the reports of all threads that have no watch of their own."""
    global _announcer
    outer_announcer = _announcer
    _announcer = announcer
    try:
        yield
    finally:
        _announcer = outer_announcer


@contextmanager
def watching(watch: Watch | None) -> Iterator[None]:
    """Send this thread's reports to a watch. None discards them, except those on compilation."""
    outer_watch = _watch.get()
    _watch.set(watch or Watch())
    try:
        yield
    finally:
        _watch.set(outer_watch)


@contextmanager
def reporting(
    progress: Callable[[Progress], None] | None, planned: Callable[[Any], None] | None = None
) -> Iterator[None]:
    """Call functions with progress and plans. Without a function, the watch stays the same."""
    calls = None if progress is None and planned is None else _Calls(progress, planned)
    with nullcontext() if calls is None else watching(calls):
        yield
