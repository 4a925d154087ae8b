"""The listing of solutions: which of them are selected, and how those of each board are found.

Boards of a batch with few solutions are listed together. Others are listed one by one: by the
numbers of their solutions where these are selected or a contraction finds them, else by a search.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from gpusudoku.board.geometry import is_nine
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import naming, note
from gpusudoku.pipeline.output import line_ends
from gpusudoku.pipeline.progress import (
    LESS_WORK_HINT,
    LISTED_PER_SECOND,
    SORTED_PER_SECOND,
    expect_listing,
    expect_solutions,
)
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import WhichPart
from gpusudoku.pipeline.source import place_of
from gpusudoku.pipeline.summary import Totals, show_listing, show_search
from gpusudoku.pipeline.text_forms import SolutionWriter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.board.board import Board
    from gpusudoku.engines.engine import Engine
    from gpusudoku.enumeration.solutions import Slice, Solutions
    from gpusudoku.planning.plan import Portion
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.results import SearchStats


@dataclass(frozen=True)
class Selection:
    """The solutions of each board that are listed, and their order."""

    in_order: bool
    """True if all come in ascending order."""
    first: int | None
    last: int | None
    """Numbers in ascending order: from ``first`` to before ``last``."""
    part: WhichPart | None
    """A part of the contraction order."""
    limit: int | None
    """The most solutions."""

    def __post_init__(self) -> None:
        if self.part is not None and (self.ascending or self.limit is not None):
            raise InputError("--part cannot be combined with --sorted, --from, --to or --limit")
        if self.first is not None and self.last is not None and self.first > self.last:
            raise InputError(f"--from {self.first} is more than --to {self.last}")

    @property
    def ascending(self) -> bool:
        """True if they come in ascending order."""
        return self.in_order or self.first is not None or self.last is not None

    @property
    def by_number(self) -> bool:
        """True if their order matters: a search finds them in any order."""
        return self.ascending or self.part is not None

    @property
    def order(self) -> str:
        """The name of the order."""
        return "ascending" if self.ascending else "contraction"

    def is_beyond(self, solutions: Solutions) -> bool:
        """Tell whether a board has too few solutions for the first number."""
        if not self.first or self.first == self.last:
            return False
        return self.first >= solutions.count

    def blocks(self, solutions: Solutions, skipped: int) -> Iterable[NDArray[Any]]:
        """Return those of a board after the first ``skipped``, as arrays uint8 (k, cells)."""
        if self.ascending:
            return self._slice(solutions, skipped).blocks()
        first, last = self.bounds(solutions)
        return solutions.blocks(first + skipped, last)

    def lines(self, solutions: Solutions, skipped: int) -> Iterable[bytes | memoryview]:
        """Return the same as text, in whole lines."""
        if self.ascending:
            return self._slice(solutions, skipped).lines()
        first, last = self.bounds(solutions)
        return solutions.lines(first + skipped, last)

    def max_number(self, solutions: Solutions, *, can_count: bool) -> int | None:
        """Return the largest possible number of selected solutions of one board.

        None if only a long count tells; ``can_count`` is True if a count is quick.
        """
        if not self.ascending:
            first, last = self.bounds(solutions)
            return last - first
        if self.last is None and not can_count:
            return self.limit
        end = solutions.count if self.last is None else self.last
        number = max(0, end - (self.first or 0))
        return number if self.limit is None else min(number, self.limit)

    def _slice(self, solutions: Solutions, skipped: int) -> Slice:
        selected = solutions[self.first : self.last][: self.limit]
        return selected[skipped:] if skipped else selected

    def bounds(self, solutions: Solutions) -> tuple[int, int]:
        """Return where those of one board begin and end in the contraction order."""
        first, last = solutions.part(*(self.part or (1, 1)))
        return first, last if self.limit is None else min(self.limit, last)


class Lister:
    """Lists the selected solutions of the boards of a run."""

    def __init__(
        self,
        run: Run,
        options: Options,
        selection: Selection,
        engine: Engine,
        writer: SolutionWriter,
    ) -> None:
        self._run = run
        self._source = run.source
        self._options = options
        self._selection = selection
        self._engine = engine
        self._writer = writer
        self._totals = Totals(engine) if run.settings.stats else None
        self._skipped = run.start_solutions
        """Solutions of the first board that are listed already."""
        self._boards_beyond = self._count_beyond = 0
        """Boards whose solutions all come before the first number selected; the count of one."""
        self._tasks: tuple[tuple[range, ...], int] | None = None
        """The tasks of a part of a single board that is searched, and the number of all."""
        self._single_solutions: Solutions | None = None

    def list_all(self, steps: tuple[SearchPlan, Portion] | None) -> None:
        """List all boards, or a single one in ``steps``; report what the lines do not show."""
        if steps is not None:
            self._list_in_steps(*steps)
        elif self._run.single or self._totals is not None or self._selection.by_number:
            for board in self._source.singles():
                self._list_board(board, board)
        else:
            self._list_batches()
        self._report_boards_beyond()
        if self._totals is not None and not self._run.single:
            self._totals.show()
        part_writer = self._run.part_writer
        single = self._source.board
        if part_writer is not None and self._tasks is not None:
            part_writer.take_tasks(*self._tasks)
        elif part_writer is not None and single is not None:
            part_writer.take(self._numbered(single).part(1, 1)[1], "solutions")

    def _list_batches(self) -> None:
        """List boards with few solutions together."""
        from gpusudoku.enumeration.stream import list_batches

        batches = list_batches(self._source.batches(), self._options, self._engine)
        with closing(batches):
            for block in batches:
                if block.solutions is None:
                    self._list_board(block.boards, block.doubtful)
                    continue
                self._source.warn_conflicts(block.doubtful)
                count = 0
                for rows in block.solutions:
                    self._write(block.boards, rows, block.board_of)
                    count += len(rows)
                self._run.done(boards=len(block.boards), count=count)

    def _write(
        self, boards: Batch, rows: NDArray[Any], board_of: NDArray[Any] | None = None
    ) -> None:
        text = self._writer.text(boards, rows, board_of)
        self._run.write(text, self._writer.lines(text, boards.geometry))

    def _list_board(self, board: Batch, doubtful: Batch) -> None:
        """List one board; say why on stderr if that is too expensive."""
        options = self._options
        selection = self._selection
        self._source.warn_conflicts(doubtful)
        count = 0
        try:
            with naming(place_of(board, 0)):
                if selection.part is not None and self._has_no_order(board):
                    self._list_in_steps(*search_tasks(board[0], options, selection.part))
                elif selection.by_number or is_contracted(board, options):
                    self._list_by_number(board)
                else:
                    expect_listing(board[0], options, self._engine, self._source.place(board))
                    count = self._list_by_search(board)
        except TooExpensive as error:
            self._run.line.clear()
            self._source.unanswered(error)
        self._run.done(boards=1, count=count)

    def _has_no_order(self, board: Batch) -> bool:
        """Tell whether the solutions have no numbers: parts are then tasks of a search."""
        if self._options.method == "search":
            return True
        try:
            with self._run.line.working():
                self._numbered(board).part(1, 1)
        except TooExpensive:
            return True
        return False

    def _list_by_search(self, board: Batch) -> int:
        """List what a search of one board finds; return how many."""
        from gpusudoku.enumeration.stream import Stream

        stream = Stream(board[0], self._options, engine=self._engine)
        count = 0
        with closing(stream):
            for rows in stream:
                self._write(board, rows)
                count += len(rows)
        if self._totals is not None and stream.stats is not None:
            if self._run.single:
                show_search(board[0], stream.stats)
            else:
                self._totals.add(1, stream.stats)
        return count

    def _list_by_number(self, board: Batch) -> None:
        """List the selected solutions of one board; it can be resumed behind each chunk."""
        start = time.perf_counter()
        run = self._run
        selection = self._selection
        writer = self._writer
        solutions = self._numbered(board)
        skipped = self._skipped
        self._skipped = 0
        with run.line.working():
            can_count = is_contracted(board, self._options)
            total = selection.max_number(solutions, can_count=can_count)
        if total is not None:
            run.expect(total)
            rate = SORTED_PER_SECOND if selection.ascending else LISTED_PER_SECOND
            place = self._source.place(board)
            expect_solutions(total - skipped, "list", rate, self._engine, place, LESS_WORK_HINT)
        chunks: Iterator[Any] = iter(
            selection.lines(solutions, skipped)
            if writer.is_plain
            else selection.blocks(solutions, skipped)
        )
        with run.line.working():
            head = [chunk for chunk in [next(chunks, None)] if chunk is not None]
        for chunk in chain(head, chunks):
            if writer.is_plain:
                lines = writer.lines(chunk, board.geometry) or line_ends(chunk)
                run.write(board.in_alphabets(chunk), lines)
                run.done(solutions=lines)
            else:
                run.write(writer.text(board, chunk))
                run.done(solutions=len(chunk))
        if not (head or skipped) and selection.is_beyond(solutions):
            self._boards_beyond += 1
            self._count_beyond = solutions.count
        seconds = time.perf_counter() - start
        if self._totals is not None and run.single:
            show_listing(board[0], selection.order, seconds)
        elif self._totals is not None:
            self._totals.add_listed(seconds)

    def _numbered(self, board: Batch) -> Solutions:
        """Return the solutions of a board by their numbers; those of a single one are kept."""
        from gpusudoku.enumeration.solutions import Solutions

        if self._single_solutions is not None:
            return self._single_solutions
        solutions = Solutions(board[0], replace(self._options, limit=None), engine=self._engine)
        if self._run.single:
            self._single_solutions = solutions
        return solutions

    def _list_in_steps(self, plan: SearchPlan, portion: Portion) -> None:
        """List what remains of the search of the only board, and save it after each step."""
        board = self._source.board
        writing = threading.Lock()
        assert board is not None
        self._tasks = portion.tasks, plan.tasks()

        def write(rows: Any, _: Any) -> None:  # by any of the workers, one at a time
            text = self._writer.text(board, rows)
            with writing:
                self._run.output.write(text, self._writer.lines(text, board.geometry))

        stats = self._search(plan, portion, write)
        if self._totals is not None:
            show_search(board[0], stats)

    def _search(self, plan: SearchPlan, portion: Portion, write: Any) -> SearchStats:
        """Search what remains of a portion in steps; any thread calls ``write`` with solutions.

        With a checkpoint, the solutions of each step are saved together with what remains. Ctrl-C
        is an Interrupted once all is saved.
        """
        from gpusudoku.runs.identity import Identity
        from gpusudoku.runs.store import RunStore
        from gpusudoku.runs.tasks import steps

        checkpoint = self._run.checkpoint
        if checkpoint is None:
            store = RunStore()  # in memory
            store.begin(Identity("", {}, {}), {}, portion)
        else:
            store = checkpoint.store
        save = store.save if checkpoint is None else checkpoint.save_step
        for number, step in steps(plan, self._engine, store, write):
            save(number, step)
        if checkpoint is not None:
            checkpoint.advance(boards=1 - checkpoint.boards)
        return plan.stats(store.state.tally, store.state.seconds)

    def _report_boards_beyond(self) -> None:
        """Say how many boards have too few solutions for the first number selected."""
        number = self._boards_beyond
        if not number:
            return
        text = f"no solution from number {self._selection.first} on"
        if self._run.single:
            note(f"{text}: there are {self._count_beyond}")
        else:
            note(f"{number} board{'s have' if number > 1 else ' has'} {text}")


def search_in_steps(
    board: Batch | None, options: Options, selection: Selection
) -> tuple[SearchPlan, Portion] | None:
    """Plan the search of a single board and its tasks; None if it is listed otherwise.

    An InputError with a limit, as it is up to chance which solutions come before that; and for a
    part of a board of which only a long count tells whether its solutions have numbers.
    """
    if board is None or selection.ascending or is_contracted(board, options):
        return None
    if selection.part is not None and options.method != "search":
        if is_nine(board.geometry, board.candidates):  # on a GPU, too
            return None
        raise InputError("--part of this board with --checkpoint needs --method search")
    if options.limit is not None:
        raise InputError("--limit cannot be combined with --checkpoint where a search lists")
    return search_tasks(board[0], options, selection.part or WhichPart(1, 1))


def search_tasks(board: Board, options: Options, part: WhichPart) -> tuple[SearchPlan, Portion]:
    """Plan the search of a board in tasks, and return those of a part."""
    from gpusudoku.planning.choose import TASKS_PER_PART
    from gpusudoku.planning.search import TASKS, SearchPlan
    from gpusudoku.search.frontier import Frontier

    tasks = max(TASKS, TASKS_PER_PART * part.parts)
    plan = SearchPlan(Frontier.of([board]), options, least_tasks=tasks)
    return plan, plan.part(*part)


def is_contracted(board: Batch, options: Options) -> bool:
    """Tell whether a board that is listed whole is listed by the contraction."""
    return is_nine(board.geometry, board.candidates) and not searches(options)


def searches(options: Options) -> bool:
    """Tell whether a search lists all boards that need not be in order."""
    return options.device == "cuda" or options.method == "search"
