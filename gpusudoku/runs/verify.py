"""Tasks of a long run that are counted again in another way, as a sample of all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import count
from pathlib import Path

from gpusudoku.checking import Checker, is_chosen
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options
from gpusudoku.planning.contraction import ContractionPlan
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.portion import Found, Portion, Step
from gpusudoku.results import Count, decimal_digits
from gpusudoku.runs.identity import Identity, identity_of_board
from gpusudoku.runs.keeper import Keeper


class Verifier:
    """Counts some of the tasks of a run again, once they are finished.

    Which they are depends on the run and the share alone, and, of a contraction, on the runs in
    which its terms were summed. If the sample has none of all tasks that were finished, one of the
    last is counted again. A task of a search, or of a board in parts, is a board, which is
    counted as ``cross_check`` counts one. Terms of a contraction are summed on the CPU if a GPU
    summed them, and else in wider numbers.

    Parameters
    ----------
    identity
        What the run is of.
    plan, options, engine
        How it is counted.
    share
        Of the tasks, more than 0 and at most 1.
    found
        What was found of tasks that are not finished.
    beside
        The file next to which the board of a task is written, if its counts differ.

    Raises
    ------
    InputError
        If there is no such share.
    """

    def __init__(
        self,
        identity: Identity,
        plan: Plan,
        options: Options,
        engine: Engine,
        share: float,
        found: Iterable[Found] = (),
        beside: str = "gpusudoku",
    ) -> None:
        if not 0 < share <= 1:
            raise InputError(f"a share of {share} of the tasks: expected more than 0, at most 1")
        self._identity, self._plan, self._engine = identity, plan, engine
        self._share, self._beside, self._checker = share, beside, Checker(options)
        self._begun = {each.tasks: each.solutions for each in found}
        self.ways = Counter[str | None]()
        """How many tasks were counted again, by the way in words; None: in no way."""

    def take(self, found: Iterable[Found], unfinished: Collection[int]) -> None:
        """Take in what was found, and count again those of the finished tasks that are chosen.

        ``unfinished`` are the numbers of all tasks of which something is left.

        Raises
        ------
        MismatchError
            If two counts differ. The text names the file that has the board.
        """
        for tasks, solutions in found:
            self._begun[tasks] = self._begun.get(tasks, 0) + solutions
        finished = [
            Found(tasks, self._begun.pop(tasks))
            for tasks in list(self._begun)
            if tasks.start not in unfinished
        ]
        chosen = [whole for whole in finished if self.chooses(whole.tasks)]
        if not (unfinished or chosen or self.ways):  # of these nothing is kept yet
            chosen = finished[:1]
        for whole in chosen:
            self._verify(whole)

    def chooses(self, tasks: range) -> bool:
        """Whether a task, or a run of them, is one of those that are counted again."""
        return is_chosen(f"{self._identity.digest}:{tasks.start}", self._share)

    def told(self) -> str:
        """What was done, in words."""
        total = self._plan.tasks()
        ways = [
            f"{tasks} of {total} tasks counted again by {way}: the same count"
            if way
            else f"{tasks} of {total} tasks chosen, but not counted again: no way is affordable"
            for way, tasks in self.ways.items()
        ]
        none = "no task came to its end now" if total else "there are no tasks"
        return "; ".join(ways) or f"{none}, so none was counted again"

    def _verify(self, found: Found) -> None:
        board = self._plan.board_of(found.tasks.start)
        if board is None:
            self._sum_again(found)
            return
        workers, stats = self._engine.workers, self._plan.stats(WorkCounters(), 0.0)
        counted = Count(board, found.solutions, True, self._engine.name, workers, stats)
        try:
            self.ways[self._checker.check(counted)] += len(found.tasks)
        except MismatchError as error:
            raise self._mismatch(found, str(error)) from None

    def _sum_again(self, found: Found) -> None:
        assert isinstance(self._plan, ContractionPlan)
        by_gpu = self._engine.name == "cuda"
        plan = self._plan if by_gpu else self._plan.widened()
        if plan is None:
            self.ways[None] += len(found.tasks)
            return
        way = "device cpu" if by_gpu else "wider numbers"
        with watching(None):
            step = plan.step(CpuEngine(self._engine.threads), Portion.of([found.tasks]))
        if step.interrupted is not None:
            raise step.interrupted
        if step.count != found.solutions:
            counts = f"{decimal_digits(found.solutions)}, but {decimal_digits(step.count)}"
            raise self._mismatch(found, f"the terms add up to {counts} by {way}")
        self.ways[way] += len(found.tasks)

    def _mismatch(self, found: Found, what: str) -> MismatchError:
        """The error, once the board is in a file."""
        tasks = found.tasks
        number = str(tasks.start) if len(tasks) == 1 else f"{tasks.start} to {tasks.stop - 1}"
        board = self._plan.board_of(tasks.start)
        record = {
            "what": what,
            "tasks": [tasks.start, tasks.stop],
            "solutions": decimal_digits(found.solutions),
            "board": None if board is None else {"text": str(board), **identity_of_board(board)},
            "run": json.loads(self._identity.json),
        }
        path = _written(f"{self._beside}.mismatch-{tasks.start}", json.dumps(record, indent=1))
        return MismatchError(f"task {number}: {what}; {path}")


def _written(name: str, text: str) -> str:
    """Write a new file, and say where it is, or why it could not be written."""
    for turn in count():
        path = Path(f"{name}{f'-{turn}' if turn else ''}.json")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text + "\n")
        except FileExistsError:
            continue
        except OSError as error:
            return f"{path} cannot be written: {error.strerror}"
        return f"its board is in {path}"
    raise AssertionError


class Verified:
    """A keeper whose tasks are counted again before they are kept; see ``Keeper``."""

    def __init__(self, keeper: Keeper, verifier: Verifier) -> None:
        self._keeper, self._verifier = keeper, verifier
        self.nodes = keeper.nodes
        self._unfinished: dict[int, set[int]] = {}
        """The numbers of the tasks in each portion."""

    @property
    def count(self) -> int:
        """See ``Keeper``."""
        return self._keeper.count

    @property
    def seconds(self) -> float:
        """See ``Keeper``."""
        return self._keeper.seconds

    @property
    def tally(self) -> WorkCounters:
        """See ``Keeper``."""
        return self._keeper.tally

    @property
    def done(self) -> float:
        """See ``Keeper``."""
        return self._keeper.done

    def deal(self, hands: int = 1, ids: Iterable[int] | None = None) -> dict[int, Portion]:
        """See ``Keeper``."""
        old = list(self._unfinished if ids is None else ids)
        dealt = self._keeper.deal(hands, ids)
        for number in old:
            self._unfinished.pop(number, None)
        self._unfinished |= {number: portion.unfinished for number, portion in dealt.items()}
        return dealt

    def save(self, number: int, step: Step) -> None:
        """See ``Keeper``.

        Raises
        ------
        MismatchError
            If a task has another count. Nothing of the step is kept then.
        """
        self._unfinished[number] = step.left.unfinished
        self._verifier.take(step.found, set().union(*self._unfinished.values()))
        self._keeper.save(number, step)
