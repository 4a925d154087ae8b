"""How ``gpusudoku enumerate`` lists boards: by a search, or by the numbers of solutions."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.cli.expected import expect_listing, expect_numbered
from gpusudoku.cli.grids import Writer
from gpusudoku.cli.messages import naming, naming_each, note
from gpusudoku.cli.numbers import Chosen
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import Totals, show_listing, show_search
from gpusudoku.cli.source import Source, place_of
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine
    from gpusudoku.listing import Solutions
    from gpusudoku.results import SearchStats
    from gpusudoku.streaming import Listed

    WithTexts = tuple[Listed, Iterable[bytes | memoryview]]

Piece = TypeVar("Piece")


@dataclass
class _Numbered:
    """Solutions that are found by their numbers."""

    solutions: Solutions
    chosen: Chosen
    line: ProgressLine
    expect: Callable[[], None]
    """Says what to expect, before anything is listed."""
    is_empty: bool = False
    """Whether it turned out that there are none."""

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        return self._watched(lambda: self.chosen.blocks(self.solutions))

    def lines(self) -> Iterator[bytes | memoryview]:
        """The same as text, in whole lines."""
        return self._watched(lambda: self.chosen.lines(self.solutions))

    def _watched(self, pieces: Callable[[], Iterable[Piece]]) -> Iterator[Piece]:
        """Show that the first piece is being found, and learn whether there is one."""
        self.expect()
        with self.line.working():
            found = iter(pieces())
            first = next(found, None)
        self.is_empty = first is None
        if first is not None:
            yield first
            yield from found


class Listing:
    """Lists boards in one of the forms.

    Parameters
    ----------
    source, options, chosen
        The boards, how they are searched, and which of their solutions are listed.
    engine, line
        What finds them, and what shows how far it is.
    writer
        Writes the solutions.
    totals
        Gets the statistics of boards; None if nobody asks for them.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        chosen: Chosen,
        engine: Engine,
        line: ProgressLine,
        writer: Writer,
        totals: Totals | None,
    ) -> None:
        self._source, self._options, self._chosen = source, options, chosen
        self._engine, self._line, self._writer, self._totals = engine, line, writer, totals
        self._beyond: list[int] = []
        """The numbers of solutions of boards that have none from the first on that is wanted."""

    def all(self) -> Generator[WithTexts, None, None]:
        """What was listed of the boards, in their order, and the texts of its solutions."""
        from gpusudoku.streaming import list_batches

        source, options, watched = self._source, self._options, self._writer.watched
        if not (source.single or self._totals or self._chosen.by_number):
            batches = watched(source.batches())
            yield from list_batches(batches, options, self._engine, self._alone, self._with_texts)
            return
        for board in watched(source.singles()):
            with naming(place_of(board, 0)), closing(self._alone(board)) as found:
                yield from map(self._with_texts, found)

    def tell_beyond(self) -> None:
        """Say of how many boards nothing was listed, because they have too few solutions."""
        if not self._beyond:
            return
        none, boards = f"no solution from number {self._chosen.first} on", len(self._beyond)
        if self._source.single:
            note(f"{none}: there are {self._beyond[0]}")
        else:
            note(f"{boards} board{'s have' if boards > 1 else ' has'} {none}")

    def _alone(self, board: Batch) -> Generator[Listed, None, None]:
        """List one board, by a search if it is not to be listed by numbers."""
        from gpusudoku.streaming import list_board

        options, engine, progress = self._options, self._engine, self._line.update
        if self._chosen.by_number or _is_contracted(board, options):
            yield from self._by_number(board)
            return
        self._line.expected = expect_listing(board[0], options, engine, self._source.place(board))
        yield from list_board(board, options, engine, progress, self._take(board))

    def _by_number(self, board: Batch) -> Generator[Listed, None, None]:
        from gpusudoku.listing import Solutions
        from gpusudoku.streaming import Listed

        start = time.perf_counter()
        options, engine, progress = self._options, self._engine, self._line.update
        solutions = Solutions(
            board[0], replace(options, limit=None), engine=engine, progress=progress
        )
        found = _Numbered(
            solutions, self._chosen, self._line, partial(self._expect, board, solutions)
        )
        yield Listed(board, board, found)
        if found.is_empty and self._chosen.is_beyond(solutions):
            self._beyond.append(solutions.count)
        seconds = time.perf_counter() - start
        if self._totals is not None and self._source.single:
            show_listing(board[0], self._chosen.order, seconds)
        elif self._totals is not None:
            self._totals.add_listed(seconds)

    def _expect(self, board: Batch, solutions: Solutions) -> None:
        """Say what a long listing by numbers should take."""
        with self._line.working():
            number = self._chosen.most(solutions, _is_contracted(board, self._options))
        if number is not None:
            ascending, place = self._chosen.ascending, self._source.place(board)
            self._line.expected = expect_numbered(number, ascending, self._engine, place)

    def _take(self, board: Batch) -> Callable[[SearchStats], None] | None:
        """What takes the statistics of the search of a board; None if nothing does."""
        if self._totals is None:
            return None
        return partial(show_search, board[0]) if self._source.single else self._totals.add_search

    def _with_texts(self, listed: Listed) -> WithTexts:
        """What was listed, and its texts: made at once if all solutions are there."""
        found, writer, place = listed.solutions, self._writer, place_of(listed.boards, 0)
        if isinstance(found, _Numbered) and writer.is_plain:
            return listed, naming_each(place, found.lines())
        texts = (writer.text(listed.boards, block, listed.board_of) for block in found)
        if not isinstance(found, list):
            return listed, naming_each(place, texts)
        return replace(listed, solutions=[]), list(texts)  # kept until their turn, once


def _is_contracted(board: Batch, options: Options) -> bool:
    """Whether a board that is to be listed whole is listed by the contraction."""
    from gpusudoku.contraction.prepare import is_nine
    from gpusudoku.planning.choose import only_searches

    able = is_nine(board.geometry, board.candidates)
    return able and options.device != "cuda" and not only_searches(options)
