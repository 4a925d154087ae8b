"""Watches: who is told what work does, and how far it is, while it goes on.

Each thread has one: that of the innermost block ``with watching(watch)`` that it is in. A ``Job``
tells its progress to the watch of the thread that made it, its workers have that watch, too, and
whatever else is worth telling is told to ``current_watch()``. So no function hands callbacks on.
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


def duration(seconds: float) -> str:
    """An estimated time in words."""
    if seconds > DECADES:
        return "decades"
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds > 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:.2g} s" if seconds < 10 else f"about {seconds:.0f} s"


@dataclass
class Progress:
    """What is known while a job runs. ``done`` is the estimated share of the work, 0 to 1."""

    done: float
    count: int
    seconds: float


class Watch:
    """Is told what goes on, by any thread; each method does nothing, unless a subclass has its own.

    What the machine does, such as compiling, is the business of the watch around it: of a given
    one, or the current one when this was made.
    """

    def __init__(self, around: Watch | None = None) -> None:
        self.around = around or current_watch()

    def progress(self, progress: Progress) -> None:
        """Take the progress of a job, about twenty times a second."""

    @property
    def sees_progress(self) -> bool:
        """Whether it does anything with progress; a job that nobody sees may be quicker."""
        return type(self).progress is not Watch.progress

    def planned(self, plan: Any) -> None:
        """Take the ``Plan`` that was chosen for a board, before it is run."""

    def estimating(self, seconds: float) -> None:
        """Learn that the estimate of a contraction takes a second or more.

        The search that it is compared with should take ``seconds``; infinite if there is none.
        """

    def resumed(self, run: Any) -> None:
        """Take the ``Ledger`` of a run that goes on, or turns out to be finished."""

    def compiling(self, kernels: Sequence[Any], seconds: float, kept: str) -> None:
        """Learn that kernels are about to be compiled, in about so many seconds.

        ``kept`` says in words where, or why they cannot be kept.
        """
        self.around.compiling(kernels, seconds, kept)

    def not_kept(self, why: str) -> None:
        """Learn why what was compiled could not be kept."""
        self.around.not_kept(why)

    def working_on(self, board: Any) -> AbstractContextManager[None]:
        """Learn that a block works on one board of many, given as a ``Batch``, by itself."""
        return nullcontext()


class _Calls(Watch):
    """Hands on to functions; what these do is not watched by them."""

    def __init__(
        self,
        progress: Callable[[Progress], None] | None,
        planned: Callable[[Any], None] | None,
    ) -> None:
        super().__init__()
        self._progress, self._planned = progress, planned

    @property
    def sees_progress(self) -> bool:
        return self._progress is not None

    def progress(self, progress: Progress) -> None:
        if self._progress is not None:
            with watching(self.around):
                self._progress(progress)

    def planned(self, plan: Any) -> None:
        if self._planned is not None:
            with watching(self.around):
                self._planned(plan)


class Announcer(Watch):
    """Says what is compiled, each kind of thing once: the watch around all others.

    It says so on stderr where somebody sees that, and else to the logger ``gpusudoku``.
    """

    def __init__(self) -> None:
        self._said = set[str]()

    def compiling(self, kernels: Sequence[Any], seconds: float, kept: str) -> None:
        """See ``Watch``."""
        subjects = dict.fromkeys(kernel.subject for kernel in kernels)
        new = [subject for subject in subjects if subject not in self._said]
        self._said.update(new)
        if new:
            time = duration(max(1.0, round(seconds)))
            self.say(f"compiling {' and '.join(new)}, {time}{kept}")

    def not_kept(self, why: str) -> None:
        """See ``Watch``."""
        if (text := f"what was compiled cannot be kept: {why}") not in self._said:
            self._said.add(text)
            self.say(text)

    def say(self, text: str) -> None:
        """Say something to the user."""
        ipython = sys.modules.get("IPython")
        shell = None if ipython is None else ipython.get_ipython()
        in_notebook = getattr(shell, "kernel", None) is not None
        if sys.stderr is not None and (in_notebook or sys.stderr.isatty()):
            print(f"gpusudoku: {text}", file=sys.stderr, flush=True)
        else:
            import logging  # imported lazily: few need it

            logging.getLogger("gpusudoku").info(text)


class Silence(Watch):
    """Says nothing, not even what is compiled."""

    def compiling(self, kernels: Sequence[Any], seconds: float, kept: str) -> None:
        """See ``Watch``."""

    def not_kept(self, why: str) -> None:
        """See ``Watch``."""


class _Process:
    """The watch of threads that have none of their own."""

    announcer: Watch = Announcer()


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


def current_watch() -> Watch:
    """The watch of this thread."""
    return _watch.get() or _Process.announcer


@contextmanager
def announcing(announcer: Announcer) -> Iterator[None]:
    """Have an announcer say what is compiled for all threads that have no watch."""
    before, _Process.announcer = _Process.announcer, announcer
    try:
        yield
    finally:
        _Process.announcer = before


@contextmanager
def watching(watch: Watch | None) -> Iterator[None]:
    """Have what this thread does in here told to a watch; None for what would mislead it."""
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
    """Have functions told of progress and plans; without any, whoever is told already."""
    if progress is None and planned is None:
        yield
    else:
        with watching(_Calls(progress, planned)):
            yield
