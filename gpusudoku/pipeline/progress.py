"""The progress line, if stderr is a terminal, and announcements of long work."""

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
from gpusudoku.jobs.threads import ThreadStartError, start_thread
from gpusudoku.jobs.watch import DECADES, Progress, Watch, duration, watching
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import CLEAR, is_quiet, prefixing_errors, print_note, several
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
"""Nothing is shown for work that ends within this time."""
EVERY_SECONDS = 0.2
"""The least time between two changes of the line."""
SILENCE_SECONDS = 0.5
"""The elapsed time is shown after this time without a report."""
JOIN_SECONDS = 2.0
"""The longest wait for the thread that writes the line: a stopped terminal may block it."""
LONG_SECONDS = 30
"""Work is announced if its estimate exceeds this time."""
MIN_HOPELESS_SECONDS = 3600.0
"""For longer counts, an estimate is offered."""
ESTIMATE_HINT = "--estimate estimates the number in a minute"
"""The offer of an estimate."""
MAX_SECONDS_SAVED = 5.0
"""The method that was not chosen is estimated as if it could save at most this time."""
LISTED_PER_SECOND = 1e7
"""Solutions that a thread writes per second, once the contraction has counted them."""
SORTED_PER_SECOND = 1e6
"""Solutions that a thread writes per second in ascending order."""
DRAWN_PER_SECOND = 2e5
"""Random solutions that a thread draws per second, for boards with many solutions."""
LESS_WORK_HINT = "; use count to count them only, or --limit N to list N of them"
"""The end of the announcement of a long listing: what takes less time."""
BAR_WIDTH = 24
"""Characters of the progress bar."""
SMALL_SHARE = 0.01
"""A smaller share is shown with one significant digit instead of whole percents."""


class ProgressLine(Watch):
    """``[######......]  43 %  12,345,678 solutions  3 s, about 4 s left``, rewritten in place.

    In a block ``with line:`` it is the watch of the thread: jobs report their progress to it.
    """

    def __init__(self, listing: bool = False) -> None:
        """Create a progress line.

        With ``listing`` the results are a list on stdout. If that is a terminal, the list itself
        shows the progress, and this line only appears within ``working``.
        """
        super().__init__()
        self._entered = ExitStack()
        self._is_visible = False
        self._is_hidden = listing and sys.stdout.isatty()
        """True while a list on the terminal shows the progress."""
        self._is_enabled = sys.stderr.isatty() and not is_quiet()
        self._start = time.perf_counter()
        self._next_update = self._start + DELAY_SECONDS
        """The earliest time of the next change of the line."""

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
        """Clear the line, so that a result or a message can be written."""
        if self._is_visible:
            self._write("")

    @contextmanager
    def working(self) -> Iterator[None]:
        """Show the elapsed time of work in this block while it reports no progress."""
        was_hidden = self._is_hidden
        self._is_hidden = False
        finished = threading.Event()
        clock = threading.Thread(target=self._show_time, args=(finished,), daemon=True)
        if self._is_enabled:
            with suppress(ThreadStartError):
                start_thread(clock)
        try:
            yield
        finally:
            finished.set()
            if clock.is_alive():  # it is not if there is no terminal, or no further thread
                clock.join(JOIN_SECONDS)
            self.clear()
            self._is_hidden = was_hidden

    def waiting(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items, and show the elapsed time while the next one is computed."""
        iterator = iter(items)
        end = object()  # unlike any item
        while True:
            with self.working():
                item = next(iterator, end)
            if item is end:
                return
            yield item  # type: ignore[misc]

    def _show_time(self, finished: threading.Event) -> None:
        """Show the elapsed time whenever no progress has been reported for a while."""
        start = time.perf_counter()
        while not finished.wait(EVERY_SECONDS):
            seconds = time.perf_counter() - start
            # The check of the event comes last: `working` clears the line after setting it.
            if self._is_due(SILENCE_SECONDS) and not finished.is_set():
                self._write(f"working, {seconds:,.0f} s")

    def progress(self, progress: Progress) -> None:
        """Show the progress of one job."""
        if not self._is_due():
            return
        share = progress.done
        bar = ""
        time_left = ""
        if share:
            bar = f"[{_bar(share)}] {_percent(share):>4}  "
            seconds_left = progress.seconds * (1 - share) / share
            time_left = f", {duration(seconds_left)} left"
        self._write(f"{bar}{progress.count:,} solutions  {progress.seconds:,.0f} s{time_left}")

    def share(self, share: float, text: str) -> None:
        """Show the share of the work that is finished, and a text."""
        if self._is_due():
            self._write(f"[{_bar(share)}] {_percent(share):>4}  {text}")

    def show_boards(self, boards_done: int, share: float | None = None) -> None:
        """Show how many boards of a batch are finished.

        If ``share`` is known, which is theirs of all boards, the line also estimates the number of
        all boards and the time left.
        """
        if not self._is_due():
            return
        seconds = time.perf_counter() - self._start
        if not (share and boards_done):
            self._write(f"{boards_done:,} boards, {seconds:,.0f} s")
            return
        share = min(1.0, share)
        boards = _rounded(boards_done / share)
        seconds_left = seconds * (1 - share) / share
        self._write(
            f"{boards_done:,} of about {boards:,} boards, {seconds:,.0f} s, "
            f"about {seconds_left:,.0f} s left"
        )

    def _is_due(self, silence: float = 0.0) -> bool:
        """Tell whether the line may change now; ``silence`` seconds after its usual time.

        True also fixes the earliest time of the next change.
        """
        now = time.perf_counter()
        if not self._is_enabled or self._is_hidden or now < self._next_update + silence:
            return False
        self._next_update = now + EVERY_SECONDS
        return True

    def _write(self, text: str) -> None:
        self._is_visible = bool(text)
        sys.stderr.write(f"{CLEAR}{text}")
        sys.stderr.flush()


class CountLine(ProgressLine):
    """The progress line of a count, which also announces long counts.

    Parameters
    ----------
    stats
        True if the plan of a single board is printed.
    parts
        The number of parts of the count; the time of one of them is announced.
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
        """Begin the messages of this block with the place of the board."""
        self._place = self._source.place(board)
        with prefixing_errors(self._place):
            yield

    def estimating(self, seconds: float) -> None:
        """Print that a contraction is being planned, and how long the search would take."""
        self.clear()
        reason = ""
        if seconds != inf:
            reason = f"; the search would take {duration(seconds)} on one core"
        print_note(f"{self._place}looking for a contraction{reason}")

    def planned(self, plan: Plan, board: Board) -> None:
        """Announce how long a long count should take."""
        self.clear()
        if self._stats and not self._place:
            show_plan(plan, board, self._engine)
        expect_count(plan, board, self._options, self._engine, self._place, self._parts)

    def resumed(self, run: RunStore) -> None:
        """Print how much of the run in a file is finished."""
        state = run.state
        if state.finished:
            print_note(f"{run.path}: was already finished")
            return
        solutions = ""
        if state.count:
            solutions = f", at least {decimal_digits(state.count)} solutions"
        print_note(f"{run.path}: resumed; {state.done:.1%} is done{solutions}")


def _bar(share: float) -> str:
    """Draw a progress bar."""
    filled = round(BAR_WIDTH * share)
    return "#" * filled + "." * (BAR_WIDTH - filled)


def _rounded(number: float) -> int:
    """Round a number to three digits."""
    return int(float(f"{number:.3g}"))


def _percent(share: float) -> str:
    """Write ``43%``, or ``0.0003%`` for a small share, so that its growth is visible."""
    return f"{share:.0%}" if share == 0 or share > SMALL_SHARE else f"{100 * share:.1g}%"


def expect_count(
    plan: Plan, board: Board, options: Options, engine: Engine, place: str, parts: int = 1
) -> None:
    """Announce the time of a long count, or of one of its parts, and what would be quicker.

    ``place`` is that of a board in a batch. It is empty for a single board; only for such a board
    the other method is estimated.
    """
    seconds, workers = _on_workers(plan.seconds / parts, plan.method, board, engine)
    # In a batch, only times are announced that were estimated to choose the method.
    is_estimated = plan.estimates.seconds_of(plan.method) is not None or not place
    if not (is_estimated and _is_long(seconds, options)):
        return

    part = "" if parts == 1 else "part of the "
    phrases = [f"the {part}{plan.method} should take {duration(seconds)} {workers}"]
    reason = plan.estimates.no_contraction
    other_plan = None
    if options.method != "auto" and not place:
        other_plan, reason = _plan_other_method(plan, board, options)
    if reason:
        phrases.append(f"no contraction: {reason.removeprefix('too expensive to contract: ')}")
    if other_plan is not None and other_plan.seconds < plan.seconds:
        method = other_plan.method
        other_seconds, _ = _on_workers(other_plan.seconds, method, board, engine)
        phrases.append(f"--method {method} {duration(other_seconds)}")
    if options.limit is None and plan.method == "search" and parts == 1:
        phrases.append("--limit N asks only for N solutions or more")
    is_quicker = other_plan is not None and other_plan.seconds < MIN_HOPELESS_SECONDS
    if options.limit is None and seconds > MIN_HOPELESS_SECONDS and not is_quicker:
        phrases.append(ESTIMATE_HINT)
    print_note(f"{place}{'; '.join(phrases)}")


def _plan_other_method(plan: Plan, board: Board, options: Options) -> tuple[Plan | None, str]:
    """Plan the count with the other method; if there is no plan, return the reason."""
    from gpusudoku.planning.choose import choose

    method = "search" if plan.method == "contraction" else "contraction"
    if method == "contraction" and board.given_candidates is not None:
        return None, ""
    try:
        return choose(board, replace(options, method=method), worth=MAX_SECONDS_SAVED), ""
    except TooExpensive as error:
        return None, str(error)


def expect_listing(board: Board, options: Options, engine: Engine, place: str) -> None:
    """Announce the time and the number of solutions of a long search, as ``expect_count``."""
    from gpusudoku.engines.cpu import CpuEngine
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.search.frontier import Frontier

    plan = SearchPlan(Frontier.of([board]), options)
    lister = engine if engine.has_gpu else CpuEngine(engine.threads)
    seconds, workers = _on_workers(plan.seconds, plan.method, board, lister)
    if not _is_long(seconds, options):
        return
    if plan.estimate.is_endless:
        number = "more solutions than can be listed"
    else:
        number = f"about {plan.estimate.solutions:.1e} solutions".replace("e+", "e")
    hint = "" if options.limit else LESS_WORK_HINT
    print_note(f"{place}{number}: to list them should take {duration(seconds)} {workers}{hint}")


def expect_solutions(
    number: int, verb: str, per_second: float, engine: Engine, place: str = "", hint: str = ""
) -> None:
    """Announce the time for many solutions whose number is known.

    ``verb`` says what the command does with them, ``per_second`` how many of them a thread
    processes. The message ends with ``hint``, which names something that takes less time.
    """
    # The number may be larger than any float.
    seconds = float(min(number, 1 << 1000)) / per_second / engine.threads
    if seconds >= LONG_SECONDS:
        print_note(
            f"{place}{number} solutions: to {verb} them should take {duration(seconds)}{hint}"
        )


def _on_workers(seconds: float, method: str, board: Board, engine: Engine) -> tuple[float, str]:
    """Convert seconds of a reference core to seconds of the workers, and name the workers."""
    engine_seconds = engine.seconds(seconds, method, board.geometry)
    thread_seconds = seconds / engine.threads
    on_gpu = engine.has_gpu and (method == "search" or board.geometry == NINE)
    if on_gpu or engine_seconds < thread_seconds:
        return engine_seconds, "with the GPU"
    return engine_seconds, f"on {several(engine.threads, 'thread')}"


def _is_long(seconds: float, options: Options) -> bool:
    """Tell whether the work is long enough to be announced."""
    from gpusudoku.planning.choose import FEW_SOLUTIONS

    if options.seconds is not None and options.seconds <= LONG_SECONDS:
        return False
    if options.limit is None:
        return seconds > LONG_SECONDS
    # The estimate is for all solutions, but the search ends at the limit. An estimate of
    # decades does not tell how soon the limit is reached.
    return options.limit > FEW_SOLUTIONS and LONG_SECONDS < seconds <= DECADES
