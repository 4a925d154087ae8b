"""A long count on this machine: a while of work, a save, and so on.

A save is an interruption: all workers stop for it, and those that stop first wait for the last. So
the time between two saves, which is what a loss of power costs, is short while that is cheap, and
longer where it is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from gpusudoku.engines.engine import Engine
from gpusudoku.jobs.watch import Progress, Watch, current_watch, watching
from gpusudoku.planning.plan import Plan, StepResult
from gpusudoku.runs.keeper import Keeper

if TYPE_CHECKING:
    from gpusudoku.planning.search import SearchPlan

FIRST_SECONDS = 2.0
"""Between two saves, as long as they cost little."""
MOST_SECONDS = 20.0
"""Between two saves, whatever they cost."""
SAVING_SHARE = 0.01
"""The share of the time that saves may cost."""


def work(
    plan: Plan,
    engine: Engine,
    keeper: Keeper,
    *,
    on_solutions: Callable[[Any, Any], None] | None = None,
    save: Callable[[int, StepResult], None] | None = None,
) -> None:
    """Do all that a keeper has left of a plan; after Ctrl-C raise Interrupted once all is saved.

    ``on_solutions`` takes the solutions of a search, see ``SearchPlan.step``; ``save`` saves each
    step of a portion, by default the keeper's.
    """
    seconds, do = FIRST_SECONDS, plan.step
    if on_solutions is not None:
        do = partial(cast("SearchPlan", plan).step, on_solutions=on_solutions)
    for number, portion in keeper.deal().items():
        while portion:
            with watching(_Whole(keeper)):
                step = do(engine, portion, seconds=seconds)
            start = time.perf_counter()
            (save or keeper.save)(number, step)
            if step.interrupted is not None:
                raise step.interrupted
            cost = step.idle_seconds / step.workers + time.perf_counter() - start
            if cost > SAVING_SHARE * step.seconds:
                seconds = max(FIRST_SECONDS, min(2 * seconds, MOST_SECONDS))
            elif cost < SAVING_SHARE / 4 * step.seconds:
                seconds = max(FIRST_SECONDS, seconds / 2)
            portion = step.left


class _Whole(Watch):
    """Reports the progress of a step to the watch around it, as that of the whole run.

    The share of a step that is done says little of the run: boards that are left of a task come
    first, and are small. Only of the first step nothing else is known.
    """

    def __init__(self, keeper: Keeper) -> None:
        super().__init__(current_watch())
        self._count, self._seconds = keeper.count, keeper.seconds
        self._done = keeper.done if keeper.seconds else None

    def progress(self, progress: Progress) -> None:
        """See ``Watch``."""
        done = progress.done if self._done is None else self._done
        whole = Progress(done, self._count + progress.count, self._seconds + progress.seconds)
        self.around.progress(whole)
