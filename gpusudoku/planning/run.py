"""Running the plan of one board, from the plan to its count."""

from __future__ import annotations

from math import inf

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import Cancelled, Interrupted, TooExpensive
from gpusudoku.jobs.watch import current_watch
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from gpusudoku.planning.plan import Outcome, Plan
from gpusudoku.results import Count, ResultBlock, Stats


def count_board(board: Board, options: Options, engine: Engine, most_seconds: float = inf) -> Count:
    """Choose a plan, tell the watch, and run it.

    Raises
    ------
    TooExpensive
        As ``choose`` does; or if it should take more than ``most_seconds`` on one core.
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound.
    """
    try:
        plan = choose(board, options, most_seconds, engine=engine)
        if most_seconds < inf and plan.seconds > most_seconds:
            raise TooExpensive(
                "too expensive: this needs counts of solutions, and one of these should take about"
                f" {plan.seconds:.1e} s",
                plan.seconds / engine.threads,
            )
        current_watch().planned(plan, board)
        return run_plan(plan, board, options, engine)
    except KeyboardInterrupt:
        raise interrupted(0) from None


def run_plan(plan: Plan, board: Board, options: Options, engine: Engine) -> Count:
    """Run the plan of a board.

    Raises
    ------
    Cancelled
        After a cancellation.
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound.
    """
    try:
        outcome = plan.run(engine)
    except Cancelled:
        raise
    except Interrupted as error:
        raise interrupted(error.count) from None
    limit, [count], stats = options.limit, outcome.counts, outcome.stats
    exact = limit is None or count < limit
    shown = count if exact or limit is None else limit
    workers = len(stats.utilisation) or engine.workers
    return Count(board, shown, exact, engine.name, workers, stats, plan.estimates)


def counts_of(
    boards: Batch, outcome: Outcome[Stats], options: Options, engine: Engine
) -> ResultBlock:
    """The counts of boards that were counted together, none above the limit."""
    limit, numbers, stats = options.limit, *outcome
    if numbers.dtype == np.uint64:  # visited one by one, and so far below 2^63
        numbers = numbers.astype(np.int64)
    if limit is not None and (numbers.dtype == object or limit < 1 << 63):
        numbers = np.minimum(numbers, limit)
    return ResultBlock(boards, numbers, limit, engine.name, engine.workers, stats)


def interrupted(least: int) -> Interrupted:
    """Make the error of an interrupted count that had found so many solutions."""
    found = f": at least {least} solutions" if least else ""
    return Interrupted(f"interrupted{found}", least)
