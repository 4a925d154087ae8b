"""The line of progress, if stderr is a terminal, and announcements of long work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import NINE
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.threads import NoThread, start_thread
from gpusudoku.jobs.watch import DECADES, Progress, Watch, duration, watching
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import CLEAR, is_quiet, naming, note, several
from gpusudoku.pipeline.summary import show_plan
from gpusudoku.results import decimal_digits

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine
    from gpusudoku.pipeline.source import Source
    from gpusudoku.planning.plan import Plan
    from gpusudoku.runs.store import RunStore

Item = TypeVar("Item")

DELAY_SECONDS = 0.5
"""Nothing is shown for what ends within this time."""
EVERY_SECONDS = 0.2
SILENCE_SECONDS = 0.5
"""After so long without a report, the time is shown."""
JOIN_SECONDS = 2.0
"""The longest wait for a thread that writes: the terminal may be stopped."""
LONG_SECONDS = 30
"""Work that is estimated to take longer is announced."""
QUICK_LOOK = 5.0
"""The other method is estimated as if it could save at most so many seconds."""
LISTED_PER_SECOND = 1e7
"""Solutions that a thread writes in a second, once the contraction has counted them."""
SORTED_PER_SECOND = 1e6
"""The same in ascending order."""
LESS = "; count only counts them; --limit N lists N of them"
DRAWN_PER_SECOND = 2e5
"""Random solutions that a thread makes in a second, of boards with many."""
BAR_WIDTH = 24
SMALL_SHARE = 0.01
"""A smaller share is shown with its first digit."""


class ProgressLine(Watch):
    """``[######......]  43 %  12,345,678 solutions  3 s, about 4 s left``, rewritten in place.

    In a block ``with line:`` it is the watch of the thread.
    """

    def __init__(self, listing: bool = False) -> None:
        """Show only ``working`` for a listing on a terminal: the list itself moves on."""
        super().__init__()
        self._entered = ExitStack()
        self._shown = False
        self._hidden = listing and sys.stdout.isatty()
        """True while a list on the terminal shows the progress."""
        self._on = sys.stderr.isatty() and not is_quiet()
        self._start = time.perf_counter()
        self._next = self._start + DELAY_SECONDS

    def __enter__(self) -> Self:
        self._entered.enter_context(watching(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered.close()
        self.clear()

    def clear(self) -> None:
        """Make room for a result."""
        if self._shown:
            self._write("")

    @contextmanager
    def working(self) -> Iterator[None]:
        """Show the time of work in this block that reports no progress."""
        hidden = self._hidden
        self._hidden = False
        done = threading.Event()
        clock = threading.Thread(target=self._show_time, args=(done,), daemon=True)
        if self._on:
            with suppress(NoThread):
                start_thread(clock)
        try:
            yield
        finally:
            done.set()
            if clock.is_alive():
                clock.join(JOIN_SECONDS)
            self.clear()
            self._hidden = hidden

    def waiting(self, items: Iterable[Item]) -> Iterator[Item]:
        """Give items, and show the time while the next one is made."""
        iterator = iter(items)
        end = object()
        while True:
            with self.working():
                item = next(iterator, end)
            if item is end:
                return
            yield item  # type: ignore[misc]

    def _show_time(self, done: threading.Event) -> None:
        """Show the time as long as no progress is reported."""
        start = time.perf_counter()
        while not done.wait(EVERY_SECONDS):
            now = time.perf_counter()
            if self._due(SILENCE_SECONDS) and not done.is_set():
                self._write(f"working, {now - start:,.0f} s")

    def progress(self, progress: Progress) -> None:
        """Show the progress of one job."""
        if self._due():
            bar = time_left = ""
            if progress.done:
                bar = f"[{_bar(progress.done)}] {_share(progress.done):>4}  "
                seconds = progress.seconds * (1 - progress.done) / progress.done
                time_left = f", {duration(seconds)} left"
            self._write(f"{bar}{progress.count:,} solutions  {progress.seconds:,.0f} s{time_left}")

    def share(self, done: float, text: str) -> None:
        """Show the share that is done, and a text."""
        if self._due():
            self._write(f"[{_bar(done)}] {_share(done):>4}  {text}")

    def boards(self, done: int, share: float | None = None) -> None:
        """Show how many boards of a batch are done, and the time left if their share is known."""
        if not self._due():
            return
        seconds = time.perf_counter() - self._start
        if share and done:
            share = min(1.0, share)
            left = seconds * (1 - share) / share
            self._write(
                f"{done:,} of about {_rounded(done / share):,} boards, {seconds:,.0f} s, "
                f"about {left:,.0f} s left"
            )
        else:
            self._write(f"{done:,} boards, {seconds:,.0f} s")

    def _due(self, silence: float = 0.0) -> bool:
        """Tell whether it is time to show something, after so many silent seconds."""
        now = time.perf_counter()
        if not self._on or self._hidden or now < self._next + silence:
            return False
        self._next = now + EVERY_SECONDS
        return True

    def _write(self, text: str) -> None:
        self._shown = bool(text)
        sys.stderr.write(f"{CLEAR}{text}")
        sys.stderr.flush()


class CountLine(ProgressLine):
    """The progress line of a count, or of one of its ``parts``, which announces long ones.

    With ``stats`` it shows the plan of a single board.
    """

    def __init__(
        self, source: Source, options: Options, engine: Engine, stats: bool, parts: int = 1
    ) -> None:
        super().__init__()
        self._source = source
        self._options = options
        self._engine = engine
        self._stats = stats
        self._parts = parts
        self._place = ""

    @contextmanager
    def working_on(self, board: Batch) -> Iterator[None]:
        """Let messages about a board say first which board it is."""
        self._place = self._source.place(board)
        with naming(self._place):
            yield

    def estimating(self, seconds: float) -> None:
        """Say that a contraction is estimated, and how long the search would take."""
        self.clear()
        why = "" if seconds == inf else f"; the search would take {duration(seconds)} on one core"
        note(f"{self._place}looking for a contraction{why}")

    def planned(self, plan: Plan, board: Board) -> None:
        """Say how long a long count should take."""
        self.clear()
        if self._stats and not self._place:
            show_plan(plan, board, self._engine)
        expect_count(plan, board, self._options, self._engine, self._place, self._parts)

    def resumed(self, run: RunStore) -> None:
        """Say how far the run in a file is."""
        state = run.state
        if state.finished:
            note(f"{run.path}: finished before")
            return
        found = f", at least {decimal_digits(state.count)} solutions" if state.count else ""
        note(f"{run.path}: resumed; {state.done:.1%} is done{found}")


def _bar(done: float) -> str:
    filled = round(BAR_WIDTH * done)
    return "#" * filled + "." * (BAR_WIDTH - filled)


def _rounded(number: float) -> int:
    """Round a number to three digits."""
    return int(float(f"{number:.3g}"))


def _share(done: float) -> str:
    """Write ``43%``, or ``0.0003%`` while it is small: it should be seen to move."""
    return f"{done:.0%}" if done == 0 or done > SMALL_SHARE else f"{100 * done:.1g}%"


def expect_count(
    plan: Plan, board: Board, options: Options, engine: Engine, place: str, parts: int = 1
) -> None:
    """Announce the time of a long count, or of one of so many parts, and what would be quicker.

    ``place`` is that of a board in a batch; the method not chosen is only estimated if the board
    stands alone.
    """
    seconds, where = _on_workers(plan.seconds / parts, plan.method, board, engine)
    estimated = plan.estimates.seconds_of(plan.method) is not None or not place
    if not (estimated and _is_long(seconds, options)):
        return
    part = "" if parts == 1 else "part of the "
    said = [f"the {part}{plan.method} should take {duration(seconds)} {where}"]
    reason = plan.estimates.no_contraction
    other = None
    if options.method != "auto" and not place:
        other, reason = _other_method(plan, board, options)
    if reason:
        said.append(f"no contraction: {reason.removeprefix('too expensive to contract: ')}")
    if other is not None and other.seconds < plan.seconds:
        sooner, _ = _on_workers(other.seconds, other.method, board, engine)
        said.append(f"--method {other.method} {duration(sooner)}")
    if options.limit is None and plan.method == "search" and parts == 1:
        said.append("--limit N asks only for N solutions or more")
    note(f"{place}{'; '.join(said)}")


def _other_method(plan: Plan, board: Board, options: Options) -> tuple[Plan | None, str]:
    """Plan the method that is not asked for; without a plan return the reason, if there is one."""
    from gpusudoku.planning.choose import choose

    name = "search" if plan.method == "contraction" else "contraction"
    if name == "contraction" and board.given_candidates is not None:
        return None, ""
    try:
        return choose(board, replace(options, method=name), worth=QUICK_LOOK), ""
    except TooExpensive as error:
        return None, str(error)


def expect_listing(board: Board, options: Options, engine: Engine, place: str) -> None:
    """Announce the number of solutions of a long search, and its time, as ``expect_count``."""
    from gpusudoku.engines.cpu import CpuEngine
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.search.frontier import Frontier

    plan = SearchPlan(Frontier.of([board]), options)
    lister = engine if engine.has_gpu else CpuEngine(engine.threads)
    seconds, where = _on_workers(plan.seconds, plan.method, board, lister)
    if not _is_long(seconds, options):
        return
    number = f"about {plan.estimate.solutions:.1e} solutions".replace("e+", "e")
    if plan.estimate.endless:
        number = "more solutions than can be listed"
    less = "" if options.limit else LESS
    note(f"{place}{number}: to list them should take {duration(seconds)} {where}{less}")


def expect_solutions(
    number: int, verb: str, per_second: float, engine: Engine, place: str = "", less: str = ""
) -> None:
    """Announce the time for many solutions, of which the number is known."""
    # The number may be larger than any float.
    seconds = float(min(number, 1 << 1000)) / per_second / engine.threads
    if seconds >= LONG_SECONDS:
        note(f"{place}{number} solutions: to {verb} them should take {duration(seconds)}{less}")


def _on_workers(seconds: float, method: str, board: Board, engine: Engine) -> tuple[float, str]:
    """Return the seconds of the workers for so much work of one core, and name them."""
    here = engine.seconds(seconds, method, board.geometry)
    own = seconds / engine.threads
    on_gpu = engine.has_gpu and (method == "search" or board.geometry == NINE)
    if on_gpu or here < own:
        return here, "with the GPU"
    return here, f"on {several(engine.threads, 'thread')}"


def _is_long(seconds: float, options: Options) -> bool:
    """Tell whether to announce it; a search without an end may reach a limit at any time."""
    from gpusudoku.planning.choose import FEW_SOLUTIONS

    if options.seconds is not None and options.seconds <= LONG_SECONDS:
        return False
    if options.limit is None:
        return seconds > LONG_SECONDS
    return options.limit > FEW_SOLUTIONS and LONG_SECONDS < seconds <= DECADES
