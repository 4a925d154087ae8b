"""Watches: receivers of reports about work, such as its progress, its plan and what is compiled.

A thread reports to the watch of the innermost block ``with watching(watch)`` that it is in, which
``current_watch()`` returns. A ``Job`` reports its progress to the watch of the thread that made it.
So no function hands callbacks on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

DECADES = 1e9
"""Seconds from which on an estimate says no more than that."""
LONG_SECONDS = 2.0
"""Compiling that takes longer is announced wherever Python runs."""


def duration(seconds: float) -> str:
    """Write an estimated time in words."""
    if seconds > DECADES:
        return "decades"
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds > 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:.2g} s" if seconds < 10 else f"about {seconds:.0f} s"


@dataclass
class Progress:
    """What is known while a job runs."""

    done: float
    """The estimated share of the work, 0 to 1; 0 while the estimate is too uncertain."""
    count: int
    seconds: float


class Watch:
    """Receives reports, from any thread; a subclass overrides the methods that it needs.

    The others ignore what they receive, but reports about compiling go on to the watch ``around``
    this one: by default the current one when this was made.
    """

    def __init__(self, around: Watch | None = None) -> None:
        self.around = around or current_watch()

    def progress(self, progress: Progress) -> None:
        """Take the progress of a job, about twenty times a second."""

    @property
    def sees_progress(self) -> bool:
        """Tell whether it does anything with progress; a job that nobody sees may be quicker."""
        return type(self).progress is not Watch.progress

    def planned(self, plan: Any, board: Any) -> None:
        """Take the ``Plan`` for a ``Board`` before it is run, or a ``FinishedPlan``."""

    def estimating(self, seconds: float) -> None:
        """Learn that the estimate of a contraction takes a while; a search should take seconds."""

    def resumed(self, run: Any) -> None:
        """Take the ``RunStore`` of a run that goes on, or turns out to be finished."""

    def compiling(self, kernels: Sequence[Any], seconds: float, kept: str) -> None:
        """Learn that kernels are about to be compiled, and in words where they will be kept."""
        self.around.compiling(kernels, seconds, kept)

    def not_kept(self, why: str) -> None:
        """Learn why what was compiled could not be kept."""
        self.around.not_kept(why)

    def working_on(self, board: Any) -> AbstractContextManager[None]:
        """Learn that a block works on one board of many, given as a ``Batch``, by itself."""
        return nullcontext()


class _Calls(Watch):
    """Calls functions with progress and plans; what they do themselves is not reported to them."""

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
    """Announces what is compiled, each kind of thing once: the watch around all others.

    It writes to stderr in a terminal or notebook. Elsewhere it writes there what takes longer than
    LONG_SECONDS, and other messages to the logger ``gpusudoku``.
    """

    def __init__(self) -> None:
        self._said = set[str]()

    def compiling(self, kernels: Sequence[Any], seconds: float, kept: str) -> None:
        """See ``Watch``."""
        subjects = dict.fromkeys(kernel.subject for kernel in kernels)
        new = [subject for subject in subjects if subject not in self._said]
        if self._said:
            kept = kept.partition(", once")[0]  # this is said once
        self._said.update(new)
        if new:
            time = duration(max(1.0, round(seconds)))
            self.say(f"compiling {' and '.join(new)}, {time}{kept}", seconds)

    def not_kept(self, why: str) -> None:
        """See ``Watch``."""
        if (text := f"what was compiled cannot be kept: {why}") not in self._said:
            self._said.add(text)
            self.say(text)

    def say(self, text: str, seconds: float = 0.0) -> None:
        """Write a message to the user about something that takes ``seconds``."""
        ipython = sys.modules.get("IPython")
        shell = None if ipython is None else ipython.get_ipython()
        in_notebook = getattr(shell, "kernel", None) is not None
        is_seen = in_notebook or seconds > LONG_SECONDS
        if sys.stderr is not None and (is_seen or sys.stderr.isatty()):
            print(f"gpusudoku: {text}", file=sys.stderr, flush=True)
        else:
            import logging  # imported lazily: few need it

            logging.getLogger("gpusudoku").info(text)


class Silence(Watch):
    """Ignores all reports, those about compiling, too."""

    def compiling(self, kernels: Sequence[Any], seconds: float, kept: str) -> None:
        """See ``Watch``."""

    def not_kept(self, why: str) -> None:
        """See ``Watch``."""


_announcer: Watch = Announcer()
"""The watch of all threads that are in no block ``with watching``."""
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


def current_watch() -> Watch:
    """Return the watch of this thread."""
    return _watch.get() or _announcer


@contextmanager
def announcing(announcer: Announcer) -> Iterator[None]:
    """Let an announcer receive the reports of all threads that have no watch of their own."""
    global _announcer
    before = _announcer
    _announcer = announcer
    try:
        yield
    finally:
        _announcer = before


@contextmanager
def watching(watch: Watch | None) -> Iterator[None]:
    """Send this thread's reports to a watch; None discards all but those on compiling."""
    before = _watch.get()
    _watch.set(watch or Watch())
    try:
        yield
    finally:
        _watch.set(before)


@contextmanager
def reporting(
    progress: Callable[[Progress], None] | None, planned: Callable[[Any], None] | None = None
) -> Iterator[None]:
    """Call functions with progress and plans; without any function nothing changes."""
    calls = None if progress is None and planned is None else _Calls(progress, planned)
    with nullcontext() if calls is None else watching(calls):
        yield
