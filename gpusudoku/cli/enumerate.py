"""``gpusudoku enumerate``: all solutions, streamed, or selected by number.

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

import click

from gpusudoku.cli.options import (
    boards_argument,
    checkpoint,
    command_facts,
    method,
    output_file,
    own_option,
    part_option,
    reading,
    searching,
    solution_form,
    start_engine,
    statistics,
)
from gpusudoku.cli.usage import Integer, number_of
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import naming, note
from gpusudoku.pipeline.output import line_ends
from gpusudoku.pipeline.parts import PartWriter
from gpusudoku.pipeline.progress import (
    LESS,
    LISTED_PER_SECOND,
    SORTED_PER_SECOND,
    expect_listing,
    expect_solutions,
)
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart
from gpusudoku.pipeline.sink import LineSink, open_sink
from gpusudoku.pipeline.source import Source, place_of
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

own = own_option("enumerate")


@click.command("enumerate")
@boards_argument
@searching
@method
@own(
    "--limit",
    type=Integer(min=1),
    metavar="N",
    help="List at most N solutions of each board.",
)
@own("--sorted", "in_order", is_flag=True, help="In ascending order.")
@own(
    "--from",
    "first",
    callback=number_of,
    metavar="K",
    help="In ascending order, from number K on, counted from 0.",
)
@own(
    "--to",
    "last",
    callback=number_of,
    metavar="L",
    help="In ascending order, up to number L, L itself excluded.",
)
@part_option("enumerate", "the list, or of a batch")
@solution_form("enumerate")
@output_file("enumerate")
@checkpoint("enumerate")
@statistics("enumerate")
@reading
def enumerate_(
    boards: tuple[str, ...],
    reading: InputOptions,
    in_order: bool,
    first: int | None,
    last: int | None,
    part: WhichPart | None,
    **given: Any,
) -> None:
    """List all solutions of every BOARD, streamed in constant memory.

    Only whole lines are written, whatever happens. The order of solutions:

    \b
      a 9x9 board        the same every time, without a search; --limit N lists
                         the first N, all --part together are exactly this list
      other boards, and all with --method search or --device cuda
                         as the search finds them: fixed with -j 1, any with more
                         threads
      --sorted, --from, --to
                         ascending
      a batch            boards in input order, their solutions ascending where
                         they are few; a --part has whole boards

    \b
    Examples:
      gpusudoku enumerate board.txt | head
      gpusudoku enumerate board.txt -o solutions.txt --sorted
      gpusudoku enumerate board.txt --limit 1000 --format csv
      gpusudoku enumerate @empty --from 1000000000000 --to 1000000001000
      gpusudoku enumerate @2f --part 3/100 -o part3.txt
      gpusudoku enumerate @2f -o solutions.txt --checkpoint list.run
    """
    command = command_facts()
    asked = OutputOptions.take(given, command)
    options, form, saved = Options(**given), asked.form or "line", asked.checkpoint is not None
    source = Source(boards, reading, asked, saved=part is not None)
    writer = SolutionWriter(form, source.origin)
    selection = Selection(in_order, first, last, part if source.single else None, options.limit)
    if saved:
        asked.refuse_with("--checkpoint", {"--stats": asked.stats})
    steps = _search_in_steps(source.board, options, selection) if saved else None
    piece = None
    if part is not None:
        piece = PartWriter(command, part, source, asked)
    with open_sink(
        command, source, asked, writer.header,
        facts={"listed": "by search" if searches(options) else "by number"},
        portion=steps and steps[1], part=piece,
    ) as sink:  # fmt: skip
        engine = start_engine(options)
        totals = Totals(engine) if asked.stats else None
        lister = Lister(source, options, selection, engine, sink, writer, totals)
        if steps is None:
            lister.list_all()
        else:
            lister.list_in_steps(*steps)
        lister.note_beyond()
        if totals is not None and not source.single:
            totals.show()
        if piece is not None and lister.tasks is not None:
            piece.take_tasks(*lister.tasks)
        elif piece is not None and source.board is not None:
            piece.take(lister.numbered(source.board).part(1, 1)[1], "solutions")


@dataclass(frozen=True)
class Selection:
    """The solutions of each board that are listed, and their order."""

    in_order: bool
    """True if all come in ascending order."""
    first: int | None
    last: int | None
    """Numbers in ascending order: from ``first`` to before ``last``."""
    part: WhichPart | None
    """A part of the quick order."""
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
        return "ascending" if self.ascending else "quick"

    def is_beyond(self, solutions: Solutions) -> bool:
        """Tell whether a board has too few solutions for the first number."""
        if not self.first or self.first == self.last:
            return False
        return self.first >= solutions.count

    def blocks(self, solutions: Solutions, done: int = 0) -> Iterable[NDArray[Any]]:
        """Give those of one board after the first ``done``, as arrays uint8 (k, cells)."""
        if self.ascending:
            return self._slice(solutions, done).blocks()
        first, last = self.range(solutions)
        return solutions.blocks(first + done, last)

    def lines(self, solutions: Solutions, done: int = 0) -> Iterable[bytes | memoryview]:
        """Give the same as text, in whole lines."""
        if self.ascending:
            return self._slice(solutions, done).lines()
        first, last = self.range(solutions)
        return solutions.lines(first + done, last)

    def most(self, solutions: Solutions, counts: bool) -> int | None:
        """Return the most that one board has of them; None if only a long count tells.

        ``counts`` tells whether a count of all solutions is quick.
        """
        if not self.ascending:
            first, last = self.range(solutions)
            return last - first
        if self.last is None and not counts:
            return self.limit
        end = solutions.count if self.last is None else self.last
        left = max(0, end - (self.first or 0))
        return left if self.limit is None else min(left, self.limit)

    def _slice(self, solutions: Solutions, done: int) -> Slice:
        wanted = solutions[self.first : self.last][: self.limit]
        return wanted[done:] if done else wanted

    def range(self, solutions: Solutions) -> tuple[int, int]:
        """Return where those of one board begin and end in the quick order."""
        first, last = solutions.part(*(self.part or (1, 1)))
        return first, last if self.limit is None else min(self.limit, last)


class Lister:
    """Lists the selected solutions of boards into a sink."""

    def __init__(
        self,
        source: Source,
        options: Options,
        selection: Selection,
        engine: Engine,
        sink: LineSink,
        writer: SolutionWriter,
        totals: Totals | None,
    ) -> None:
        self._source, self._options, self._selection = source, options, selection
        self._engine, self._sink, self._writer, self._totals = engine, sink, writer, totals
        self._resumed_at = sink.start.solutions
        """Solutions of the first board that are listed already."""
        self._beyond, self._count_beyond = 0, 0
        """Boards whose solutions all come before the first number selected; the count of one."""
        self.tasks: tuple[tuple[range, ...], int] | None = None
        """The tasks of a part of a single board that is searched, and the number of all."""
        self._single: Solutions | None = None

    def list_all(self) -> None:
        """List all boards."""
        from gpusudoku.enumeration.stream import list_batches

        source, sink = self._source, self._sink
        if source.single or self._totals or self._selection.by_number:
            for board in source.singles():
                self._list_board(board, board)
            return
        with closing(list_batches(source.batches(), self._options, self._engine)) as listed:
            for block in listed:
                if block.solutions is None:
                    self._list_board(block.boards, block.doubtful)
                    continue
                source.warn_conflicts(block.doubtful)
                found = 0
                for rows in block.solutions:
                    text = self._writer.text(block.boards, rows, block.board_of)
                    sink.write(text, self._writer.lines(text, block.boards.geometry))
                    found += len(rows)
                sink.done(boards=len(block.boards), found=found)

    def _list_board(self, board: Batch, doubtful: Batch) -> None:
        """List one board; say why on stderr if that is too expensive."""
        options, source, selection = self._options, self._source, self._selection
        source.warn_conflicts(doubtful)
        found = 0
        try:
            with naming(place_of(board, 0)):
                if selection.part is not None and self._has_no_order(board):
                    self.list_in_steps(*_search_tasks(board[0], options, selection.part))
                elif selection.by_number or is_contracted(board, options):
                    self._list_by_number(board)
                else:
                    expect_listing(board[0], options, self._engine, source.place(board))
                    found = self._list_by_search(board)
        except TooExpensive as error:
            self._sink.line.clear()
            source.unanswered(error)
        self._sink.done(boards=1, found=found)

    def _has_no_order(self, board: Batch) -> bool:
        """Tell whether the solutions have no numbers: parts are then tasks of a search."""
        if self._options.method == "search":
            return True
        try:
            with self._sink.line.working():
                self.numbered(board).part(1, 1)
        except TooExpensive:
            return True
        return False

    def _list_by_search(self, board: Batch) -> int:
        """List what a search of one board finds; returns how many."""
        from gpusudoku.enumeration.stream import Stream

        stream = Stream(board[0], self._options, engine=self._engine)
        found = 0
        with closing(stream):
            for rows in stream:
                text = self._writer.text(board, rows)
                self._sink.write(text, self._writer.lines(text, board.geometry))
                found += len(rows)
        if self._totals is not None and stream.stats is not None:
            if self._source.single:
                show_search(board[0], stream.stats)
            else:
                self._totals.add(1, stream.stats)
        return found

    def _list_by_number(self, board: Batch) -> None:
        """List the selected solutions of one board; it can be resumed behind each piece."""
        start, sink, selection = time.perf_counter(), self._sink, self._selection
        solutions = self.numbered(board)
        done, self._resumed_at = self._resumed_at, 0
        with sink.line.working():
            counts = is_contracted(board, self._options)
            sink.total = selection.most(solutions, counts)
        if sink.total is not None:
            rate = SORTED_PER_SECOND if selection.ascending else LISTED_PER_SECOND
            place, left = self._source.place(board), sink.total - done
            expect_solutions(left, "list", rate, self._engine, place, LESS)
        pieces: Iterator[Any] = iter(
            selection.lines(solutions, done)
            if self._writer.is_plain
            else selection.blocks(solutions, done)
        )
        with sink.line.working():
            head = [piece for piece in [next(pieces, None)] if piece is not None]
        for piece in chain(head, pieces):
            if self._writer.is_plain:
                text = board.in_alphabets(piece)
                lines = self._writer.lines(piece, board.geometry) or line_ends(piece)
            else:
                text, lines = self._writer.text(board, piece), None
            number = len(piece) if lines is None else lines
            sink.write(text, lines)
            sink.done(solutions=number, found=number)
        if not (head or done) and selection.is_beyond(solutions):
            self._beyond, self._count_beyond = self._beyond + 1, solutions.count
        seconds = time.perf_counter() - start
        if self._totals is not None and self._source.single:
            show_listing(board[0], selection.order, seconds)
        elif self._totals is not None:
            self._totals.add_listed(seconds)

    def numbered(self, board: Batch) -> Solutions:
        """Return the solutions of a board by their numbers; those of a single one are kept."""
        from gpusudoku.enumeration.solutions import Solutions

        if self._single is not None:
            return self._single
        solutions = Solutions(board[0], replace(self._options, limit=None), engine=self._engine)
        if self._source.single:
            self._single = solutions
        return solutions

    def list_in_steps(self, plan: SearchPlan, portion: Portion) -> None:
        """List what is left of the search of the only board, and save it after each step."""
        board, writing = self._source.board, threading.Lock()
        assert board is not None
        self.tasks = portion.tasks, plan.tasks()

        def write(rows: Any, _: Any) -> None:  # by any of the workers, one at a time
            text = self._writer.text(board, rows)
            with writing:
                self._sink.output.write(text, self._writer.lines(text, board.geometry))

        stats = self._sink.checkpoint.search(plan, portion, self._engine, write)
        if self._totals is not None:
            show_search(board[0], stats)

    def note_beyond(self) -> None:
        """Say how many boards have too few solutions for the first number selected."""
        if not self._beyond:
            return
        none, boards = f"no solution from number {self._selection.first} on", self._beyond
        if self._source.single:
            note(f"{none}: there are {self._count_beyond}")
        else:
            note(f"{boards} board{'s have' if boards > 1 else ' has'} {none}")


def _search_in_steps(
    board: Batch | None, options: Options, selection: Selection
) -> tuple[SearchPlan, Portion] | None:
    """Plan the search of a single board and its tasks; None if it is listed otherwise.

    An InputError with a limit, as it is up to chance which solutions come before that; and for a
    part of a board of which only a long count tells whether its solutions have numbers.
    """
    from gpusudoku.board.geometry import is_nine

    if board is None or selection.ascending or is_contracted(board, options):
        return None
    if selection.part is not None and options.method != "search":
        if is_nine(board.geometry, board.candidates):  # on a GPU, too
            return None
        raise InputError("--part of this board with --checkpoint needs --method search")
    if options.limit is not None:
        raise InputError("--limit cannot be combined with --checkpoint where a search lists")
    return _search_tasks(board[0], options, selection.part or WhichPart(1, 1))


def _search_tasks(board: Board, options: Options, part: WhichPart) -> tuple[SearchPlan, Portion]:
    """Plan the search of a board in tasks, and return those of a part."""
    from gpusudoku.planning.choose import TASKS_PER_PART
    from gpusudoku.planning.search import TASKS, SearchPlan
    from gpusudoku.search.frontier import Frontier

    tasks = max(TASKS, TASKS_PER_PART * part.parts)
    plan = SearchPlan(Frontier.of([board]), options, least_tasks=tasks)
    return plan, plan.part(*part)


def is_contracted(board: Batch, options: Options) -> bool:
    """Tell whether a board that is listed whole is listed by the contraction."""
    from gpusudoku.board.geometry import is_nine

    return is_nine(board.geometry, board.candidates) and not searches(options)


def searches(options: Options) -> bool:
    """Tell whether a search lists all boards that need not be in order."""
    return options.device == "cuda" or options.method == "search"
