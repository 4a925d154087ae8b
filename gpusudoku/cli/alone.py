"""Counting one board by itself, on the command line: what is expected and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.cli.answers import Answers, Writer, distinct_numbers
from gpusudoku.cli.expected import expect_count, tell_looking
from gpusudoku.cli.messages import naming
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import show_plan
from gpusudoku.cli.source import Source
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Plan

Result = TypeVar("Result")


class One(Generic[Result]):
    """Counts a board by itself, with what is expected and its progress shown.

    ``counted`` counts it, and is called as ``count_board`` is.
    """

    parts = 1
    """Into how many parts the count is divided, of which this is one."""

    def __init__(
        self,
        source: Source,
        engine: Engine,
        line: ProgressLine,
        stats: bool,
        counted: Callable[..., Result],
    ) -> None:
        self._source, self._engine, self._line, self.stats = source, engine, line, stats
        self._counted = counted

    def __call__(self, board: Batch, options: Options) -> Result:
        """Count the board of a batch of one."""
        place = self._source.place(board)

        def looking(seconds: float) -> None:
            self._line.clear()
            tell_looking(place, seconds)

        def planned(plan: Plan) -> None:
            self._line.clear()
            if self.stats and not place:
                show_plan(plan)
            self._line.expected = expect_count(
                plan, board[0], options, self._engine, place, self.parts
            )

        with naming(place):
            return self._counted(
                board[0],
                options,
                self._engine,
                looking=looking,
                planned=planned,
                progress=self._line.update,
            )


class Plain(Writer):
    """Counts for those who read them, or the boards that --only asks for."""

    def __init__(self, only: str | None, single: bool) -> None:
        self._only, self._single = only is not None, single

    def text(self, answers: Answers) -> bytes:
        """A line for every board."""
        results = answers.results
        if self._only:
            return formats.write_lines(results.boards.cells)
        if self._single:
            return "".join(f"{results.text(count)}\n" for count in results.counts).encode()
        # Few boards of a block have a count that no other has.
        numbers, which = distinct_numbers(results.numbers)
        tails = [f":{results.text(number)}".encode() for number in numbers]
        return formats.write_lines(results.boards.cells, tails, which)
