"""The listing of solutions: the selection of solutions, and the way to list each board.

Boards of a batch with few solutions are listed together. Other boards are listed one by one. They
are listed by number if the user selects solutions by their numbers, or if a contraction finds them;
otherwise a search lists them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from gpusudoku.board.geometry import is_nine
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import prefixing_errors, print_note
from gpusudoku.pipeline.output import line_ends
from gpusudoku.pipeline.progress import (
    LESS_WORK_HINT,
    LISTED_PER_SECOND,
    SORTED_PER_SECOND,
    expect_listing,
    expect_solutions,
)
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import PartNumber
from gpusudoku.pipeline.source import place_of
from gpusudoku.pipeline.summary import Totals, show_listing, show_search
from gpusudoku.pipeline.text_forms import SolutionWriter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.board.board import Board
    from gpusudoku.engines.engine import Engine
    from gpusudoku.enumeration.solutions import Slice, Solutions
    from gpusudoku.pipeline.parts import PartWriter
    from gpusudoku.planning.plan import Portion
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.results import SearchStats


@dataclass(frozen=True)
class Selection:
    """Selects the solutions of each board that are listed, and their order."""

    in_order: bool
    """True if the option for ascending order was given."""
    start: int | None
    """The number of the first solution, in ascending order; None for 0."""
    stop: int | None
    """The number of the solution after the last one, in ascending order; None for all."""
    part: PartNumber | None
    """A part of the contraction order."""
    limit: int | None
    """The largest number of solutions."""

    def __post_init__(self) -> None:
        if self.part is not None and (self.ascending or self.limit is not None):
            raise InputError("--part cannot be combined with --sorted, --from, --to or --limit")
        if self.start is not None and self.stop is not None and self.start > self.stop:
            raise InputError(f"--from {self.start} is more than --to {self.stop}")

    @property
    def ascending(self) -> bool:
        """True if solutions come in ascending order."""
        return self.in_order or self.start is not None or self.stop is not None

    @property
    def by_number(self) -> bool:
        """True if solutions are listed by their numbers: a search finds them in any order."""
        return self.ascending or self.part is not None

    @property
    def order(self) -> str:
        """The name of the order."""
        return "ascending" if self.ascending else "contraction"

    def is_beyond(self, solutions: Solutions) -> bool:
        """Tell whether a board has no solution with the number ``start``."""
        if not self.start or self.start == self.stop:
            return False
        return self.start >= solutions.count

    def blocks(self, solutions: Solutions, skipped: int) -> Iterable[NDArray[Any]]:
        """Return the selected solutions of a board as arrays, uint8 (k, cells).

        The first ``skipped`` of them are left out.
        """
        if self.ascending:
            return self._slice(solutions, skipped).blocks()
        start, stop = self.bounds(solutions)
        return solutions.blocks(start + skipped, stop)

    def lines(self, solutions: Solutions, skipped: int) -> Iterable[bytes | memoryview]:
        """Return the same solutions as ``blocks`` does, as text in whole lines."""
        if self.ascending:
            return self._slice(solutions, skipped).lines()
        start, stop = self.bounds(solutions)
        return solutions.lines(start + skipped, stop)

    def max_number(self, solutions: Solutions, *, can_count: bool) -> int | None:
        """Return an upper bound of the number of selected solutions of one board.

        None if that requires a long count; ``can_count`` is True if a count is quick.
        """
        if not self.ascending:
            start, stop = self.bounds(solutions)
            return stop - start
        if self.stop is None and not can_count:
            return self.limit
        stop = solutions.count if self.stop is None else self.stop
        number = max(0, stop - (self.start or 0))
        return number if self.limit is None else min(number, self.limit)

    def _slice(self, solutions: Solutions, skipped: int) -> Slice:
        selected = solutions[self.start : self.stop][: self.limit]
        return selected[skipped:] if skipped else selected

    def bounds(self, solutions: Solutions) -> tuple[int, int]:
        """Return the bounds of the selected solutions of one board in the contraction order."""
        start, stop = solutions.part(*(self.part or (1, 1)))
        return start, stop if self.limit is None else min(self.limit, stop)


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
        """Solutions of the first board that were listed before a resume."""
        self._boards_beyond = 0
        """Boards that have no solution with the first selected number."""
        self._count_beyond = 0
        """The number of solutions of the last one of these boards."""
        self._tasks: tuple[tuple[range, ...], int] | None = None
        """The tasks of this part, and the number of all tasks, if a single board is searched."""
        self._single_solutions: Solutions | None = None

    def list_all(self, steps: tuple[SearchPlan, Portion] | None) -> None:
        """List all boards, or a single board in ``steps``; report what the lines do not show.

        ``steps`` are the plan of a search and those of its tasks that remain.
        """
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
        if self._run.part_writer is not None:
            self._record_tasks(self._run.part_writer)

    def _record_tasks(self, part_writer: PartWriter) -> None:
        """Set the tasks of this part for its record; those of a batch are set already.

        The tasks of a single board are those of a search, or all numbers of its solutions.
        """
        board = self._source.board
        if self._tasks is not None:
            part_writer.take_tasks(*self._tasks)
        elif board is not None:
            _, count = self._numbered(board).part(1, 1)
            part_writer.select_tasks(count, "solutions")

    def _list_batches(self) -> None:
        """List boards with few solutions together."""
        from gpusudoku.enumeration.stream import list_batches

        batches = list_batches(self._source.batches(), self._options, self._engine)
        with closing(batches):
            for block in batches:
                if block.solutions is None:
                    # A single board with more solutions than are listed together.
                    self._list_board(block.boards, block.possibly_unsolvable)
                    continue
                self._source.warn_conflicts(block.possibly_unsolvable)
                # The boards of a block are finished together: a run that is interrupted in between
                # repeats the whole block when it is resumed.
                count = 0
                for rows in block.solutions:
                    self._write(block.boards, rows, block.board_of)
                    count += len(rows)
                self._run.add_finished(boards=len(block.boards), count=count)

    def _write(
        self, boards: Batch, rows: NDArray[Any], board_of: NDArray[Any] | None = None
    ) -> None:
        """Write solutions, uint8 (k, cells); ``board_of`` has the index of each one's board."""
        text = self._writer.text(boards, rows, board_of)
        self._run.write(text, self._writer.lines(text, boards.geometry))

    def _list_board(self, board: Batch, possibly_unsolvable: Batch) -> None:
        """List one board; report on stderr if that is too expensive.

        ``possibly_unsolvable`` is the same batch, or an empty one if the board certainly has a
        solution.
        """
        options = self._options
        selection = self._selection
        self._source.warn_conflicts(possibly_unsolvable)
        count = 0
        try:
            with prefixing_errors(place_of(board, 0)):
                if selection.part is not None and self._has_no_order(board):
                    self._list_in_steps(*search_tasks(board[0], options, selection.part))
                elif selection.by_number or is_contracted(board, options):
                    self._list_by_number(board)  # counts its solutions itself, chunk by chunk
                else:
                    expect_listing(board[0], options, self._engine, self._source.place(board))
                    count = self._list_by_search(board)
        except TooExpensive as error:
            self._run.line.clear()
            self._source.report_unanswered(error)
        self._run.add_finished(boards=1, count=count)

    def _has_no_order(self, board: Batch) -> bool:
        """Tell whether solutions have no contraction order; parts are then tasks of a search."""
        if self._options.method == "search":
            return True
        try:
            with self._run.line.working():
                self._numbered(board).part(1, 1)  # counts all solutions by a contraction
        except TooExpensive:
            return True
        return False

    def _list_by_search(self, board: Batch) -> int:
        """List the solutions that a search of one board finds; return their number."""
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
        """List the selected solutions of one board; a resumed run continues after any chunk."""
        start = time.perf_counter()
        run = self._run
        selection = self._selection
        writer = self._writer
        solutions = self._numbered(board)
        skipped = self._skipped  # of the first board only
        self._skipped = 0

        with run.line.working():
            can_count = is_contracted(board, self._options)
            total = selection.max_number(solutions, can_count=can_count)
        if total is not None:
            run.expect(total)
            rate = SORTED_PER_SECOND if selection.ascending else LISTED_PER_SECOND
            place = self._source.place(board)
            expect_solutions(total - skipped, "list", rate, self._engine, place, LESS_WORK_HINT)

        # Plain lines are made by the library as text, which is much quicker than arrays.
        chunks: Iterator[Any]
        if writer.is_plain:
            chunks = iter(selection.lines(solutions, skipped))
        else:
            chunks = iter(selection.blocks(solutions, skipped))
        with run.line.working():  # the first chunk may take long: solutions are counted before
            first_chunk = list(islice(chunks, 1))
        for chunk in chain(first_chunk, chunks):
            if writer.is_plain:
                # Lines of large boards, which consist of numbers, have different lengths.
                lines = writer.lines(chunk, board.geometry) or line_ends(chunk)
                run.write(board.in_alphabets(chunk), lines)
                run.add_finished(solutions=lines)
            else:
                run.write(writer.text(board, chunk))
                run.add_finished(solutions=len(chunk))
        # Only an empty list needs the comparison, as it may count all solutions.
        if not (first_chunk or skipped) and selection.is_beyond(solutions):
            self._boards_beyond += 1
            self._count_beyond = solutions.count

        seconds = time.perf_counter() - start
        if self._totals is not None and run.single:
            show_listing(board[0], selection.order, seconds)
        elif self._totals is not None:
            self._totals.add_listed(seconds)

    def _numbered(self, board: Batch) -> Solutions:
        """Return the numbered solutions of a board; for a single board, always the same object."""
        from gpusudoku.enumeration.solutions import Solutions

        if self._single_solutions is not None:
            return self._single_solutions
        solutions = Solutions(board[0], replace(self._options, limit=None), engine=self._engine)
        if self._run.single:
            self._single_solutions = solutions
        return solutions

    def _list_in_steps(self, plan: SearchPlan, portion: Portion) -> None:
        """List the remaining part of the search of the only board; save it after each step."""
        board = self._source.board
        assert board is not None
        self._tasks = portion.tasks, plan.tasks()
        lock = threading.Lock()  # texts of several workers must not be mixed

        def write(rows: Any, _: Any) -> None:
            """Write solutions; any worker may call this."""
            text = self._writer.text(board, rows)
            with lock:
                self._run.output.write(text, self._writer.lines(text, board.geometry))

        stats = self._search(plan, portion, write)
        if self._totals is not None:
            show_search(board[0], stats)

    def _search(self, plan: SearchPlan, portion: Portion, write: Any) -> SearchStats:
        """Search the remaining part of a portion in steps.

        Any thread calls ``write`` with solutions. With a checkpoint, the end of the output and the
        remaining boards are saved together after each step. Ctrl-C raises Interrupted as soon as
        the current step is saved.
        """
        from gpusudoku.runs.identity import Identity
        from gpusudoku.runs.store import RunStore
        from gpusudoku.runs.tasks import steps

        checkpoint = self._run.checkpoint
        if checkpoint is None:
            # The steps are the same: a store in memory collects their statistics.
            store = RunStore()
            store.begin(Identity("", {}, {}), {}, portion)
        else:
            store = checkpoint.store
        save = store.save if checkpoint is None else checkpoint.save_step
        for number, step in steps(plan, self._engine, store, write):
            save(number, step)
        if checkpoint is not None:
            # The board is finished. It counts once, even if it was finished before a resume.
            checkpoint.advance(boards=1 - checkpoint.boards)
        return plan.stats(store.state.tally, store.state.seconds)

    def _report_boards_beyond(self) -> None:
        """Print how many boards have too few solutions for the first selected number."""
        number = self._boards_beyond
        if not number:
            return
        text = f"no solution from number {self._selection.start} on"
        if self._run.single:
            print_note(f"{text}: there are {self._count_beyond}")
        else:
            print_note(f"{number} board{'s have' if number > 1 else ' has'} {text}")


def search_in_steps(
    board: Batch | None, options: Options, selection: Selection
) -> tuple[SearchPlan, Portion] | None:
    """Plan the search of a single board and its tasks; None if the board is listed otherwise.

    Raises
    ------
    InputError
        If there is a limit: the solutions that a search finds first depend on chance. Also for a
        part, unless it is known without a long count whether the solutions have numbers.
    """
    if board is None or selection.ascending or is_contracted(board, options):
        return None
    if selection.part is not None and options.method != "search":
        if is_nine(board.geometry, board.candidates):  # parts are listed by number on a GPU, too
            return None
        raise InputError("--part of this board with --checkpoint needs --method search")
    if options.limit is not None:
        raise InputError("--limit cannot be combined with --checkpoint where a search lists")
    return search_tasks(board[0], options, selection.part or PartNumber(1, 1))


def search_tasks(board: Board, options: Options, part: PartNumber) -> tuple[SearchPlan, Portion]:
    """Plan the search of a board in tasks, and return the plan and the tasks of a part."""
    from gpusudoku.planning.choose import TASKS_PER_PART
    from gpusudoku.planning.search import TASKS, SearchPlan
    from gpusudoku.search.frontier import Frontier

    min_tasks = max(TASKS, TASKS_PER_PART * part.parts)
    plan = SearchPlan(Frontier.of([board]), options, min_tasks=min_tasks)
    return plan, plan.part(*part)


def is_contracted(board: Batch, options: Options) -> bool:
    """Tell whether the contraction lists a board, if all its solutions are listed."""
    return is_nine(board.geometry, board.candidates) and not searches(options)


def searches(options: Options) -> bool:
    """Tell whether a search lists all boards whose solutions may come in any order."""
    return options.device == "cuda" or options.method == "search"
