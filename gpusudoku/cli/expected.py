"""What a long count or listing should take, said before it begins, with what would be quicker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gpusudoku.board.board import Board
from gpusudoku.cli.messages import note
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.watch import DECADES, duration
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Plan
    from gpusudoku.search.frontier import SearchEstimate

LONG_SECONDS = 30
"""What is estimated to take longer is announced."""
QUICK_LOOK = 5.0
"""A method that nobody asked for is looked at as if it could save no more seconds than this."""
LISTED_PER_SECOND = 1e7
"""Solutions that a thread writes in a second, once the contraction has counted them."""
SORTED_PER_SECOND = 1e6
"""The same in ascending order."""
DRAWN_PER_SECOND = 2e5
"""Random solutions that a thread makes in a second, of boards with many."""


def expect_count(
    plan: Plan, board: Board, options: Options, engine: Engine, place: str, parts: int = 1
) -> float:
    """Say what a long count should take, or one of so many parts, and what would be quicker.

    ``place`` is where the board stands in a batch; what no plan knows yet is only estimated if it
    stands alone. Returns the seconds that the workers should need, 0 if nobody knows.
    """
    from gpusudoku.planning.choose import FEW_SOLUTIONS

    if options.limit is not None and options.limit <= FEW_SOLUTIONS:
        return 0.0
    if plan.estimates.seconds_of(plan.method) is None and place:
        return 0.0
    seconds, where = _share(plan.seconds / parts, engine)
    if not _is_long(seconds, plan, options):
        return 0.0
    part = "" if parts == 1 else "part of the "
    said = [f"the {part}{plan.method} should take {duration(seconds)} {where}"]
    if options.method == "auto":
        said += _why_no_contraction(plan.estimates.no_contraction)
    elif not place:
        said += _other_method(plan, board, options, engine)
    if options.limit is None and plan.method == "search" and parts == 1:
        said.append("--limit N asks only for N solutions or more")
    note(f"{place}{'; '.join(said)}")
    return seconds


def expect_listing(board: Board, options: Options, engine: Engine, place: str) -> float:
    """Say how many solutions a long listing should have, and what it should take.

    ``place`` is where the board stands in a batch, as messages begin with it. Returns the seconds
    that the workers should need, 0 if nobody knows.
    """
    from gpusudoku.planning.choose import FEW_SOLUTIONS
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.search.frontier import Frontier

    if options.limit is not None and options.limit <= FEW_SOLUTIONS:
        return 0.0
    plan = SearchPlan(Frontier.of([board]), options)
    seconds, where = _share(plan.seconds, engine)
    if not _is_long(seconds, plan, options):
        return 0.0
    said = [f"{_solutions(plan.estimate)}: to list them should take {duration(seconds)} {where}"]
    note(place + "; ".join([*said, *_less(options)]))
    return seconds


def expect_numbered(number: int, ascending: bool, engine: Engine, place: str) -> float:
    """Say what a long listing by numbers should take.

    Returns the seconds that the workers should need, 0 if that is not long.
    """
    seconds = _seconds(number, SORTED_PER_SECOND if ascending else LISTED_PER_SECOND, engine)
    if seconds < LONG_SECONDS:
        return 0.0
    said = f"{number} solutions: to list them should take {duration(seconds)}"
    note(f"{place}{said}; count only counts them; --limit N lists N of them")
    return seconds


def expect_sample(number: int, engine: Engine) -> None:
    """Say what a long sample should take."""
    seconds = _seconds(number, DRAWN_PER_SECOND, engine)
    if seconds > LONG_SECONDS:
        note(f"{number} solutions: to draw them should take {duration(seconds)}")


def _seconds(number: int, per_second: float, engine: Engine) -> float:
    """What so many solutions take; a number may be larger than any float."""
    return float(min(number, 1 << 1000)) / per_second / engine.threads


def _less(options: Options) -> list[str]:
    """What takes less time than to list all."""
    return [] if options.limit else ["count only counts them", "--limit N lists N of them"]


def _share(seconds: float, engine: Engine) -> tuple[float, str]:
    """What the workers should need for so much work of one core, and who they are."""
    if engine.name != "cpu":  # how much quicker a GPU is nobody knows
        return seconds, "on one core of a CPU"
    threads = "1 thread" if engine.workers == 1 else f"{engine.workers} threads"
    return seconds / engine.workers, f"on {threads}"


def _is_long(seconds: float, plan: Plan, options: Options) -> bool:
    """Whether to say so. Where a search has no end, it is not known when it reaches a limit."""
    return seconds > LONG_SECONDS and not (options.limit is not None and seconds > DECADES)


def _why_no_contraction(reason: str) -> Iterator[str]:
    """The reason alone, without the words that all of them begin with."""
    if reason:
        yield f"no contraction: {reason.removeprefix('too expensive to contract: ')}"


def _other_method(plan: Plan, board: Board, options: Options, engine: Engine) -> Iterator[str]:
    """What the method that was not asked for should take, if that is less or there is none."""
    from gpusudoku.planning.choose import choose

    name = "search" if plan.method == "contraction" else "contraction"
    if name == "contraction" and board.given_candidates is not None:
        return
    try:
        other = choose(board, replace(options, method=name), worth=QUICK_LOOK)
    except TooExpensive as error:
        yield from _why_no_contraction(str(error))
        return
    if other.seconds < plan.seconds:
        yield f"--method {name} {duration(_share(other.seconds, engine)[0])}"


def _solutions(estimate: SearchEstimate) -> str:
    """How many solutions there should be."""
    if estimate.endless:
        return "more solutions than can be listed"
    return f"about {estimate.solutions:.1e} solutions".replace("e+", "e")
