"""Watches: who is told what work does, and how far it is, while it goes on.

Each thread has one: that of the innermost block ``with watching(watch)`` that it is in. A ``Job``
tells its progress to the watch of the thread that made it, its workers have that watch, too, and
whatever else is worth telling is told to ``current_watch()``. So no function hands callbacks on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from gpusudoku.jobs.task import Progress


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


class _Nobody(Watch):
    """Is told what nobody watches."""

    def __init__(self) -> None:
        self.around = self


_watch: ContextVar[Watch] = ContextVar("watch", default=_Nobody())  # noqa: B039 - it never changes


def current_watch() -> Watch:
    """The watch of this thread."""
    return _watch.get()


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
