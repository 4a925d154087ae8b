"""How ``gpusudoku enumerate`` lists boards: by a search, or by the numbers of solutions."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.cli.expected import expect_listing, expect_numbered
from gpusudoku.cli.grids import Writer
from gpusudoku.cli.journal import Journal
from gpusudoku.cli.lines import line_ends
from gpusudoku.cli.messages import naming, naming_each, note
from gpusudoku.cli.numbers import Chosen
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import Totals, show_listing, show_search
from gpusudoku.cli.source import Source, place_of
from gpusudoku.errors import TooExpensive
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine
    from gpusudoku.listing import Solutions
    from gpusudoku.planning.streaming import Listed

    WithTexts = tuple[Listed, Iterable["Text"]]

Piece = TypeVar("Piece")


class Text(NamedTuple):
    """Some solutions as they are written."""

    text: bytes | memoryview
    """Whole lines."""
    lines: int | None
    """How many, if that is known."""
    solutions: int
    """How many solutions."""
    again: bool = False
    """Whether the listing can be taken up again behind them."""


@dataclass
class _Numbered:
    """Solutions that are found by their numbers."""

    solutions: Solutions
    chosen: Chosen
    line: ProgressLine
    expect: Callable[[], None]
    """Says what to expect, before anything is listed."""
    done: int
    """How many are listed already: these are passed over."""
    is_empty: bool = False
    """Whether it turned out that there are none."""

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        return self._watched(lambda: self.chosen.blocks(self.solutions, self.done))

    def lines(self) -> Iterator[bytes | memoryview]:
        """The same as text, in whole lines."""
        return self._watched(lambda: self.chosen.lines(self.solutions, self.done))

    def _watched(self, pieces: Callable[[], Iterable[Piece]]) -> Iterator[Piece]:
        """Show that the first piece is being found, and learn whether there is one."""
        self.expect()
        with self.line.working():
            found = iter(pieces())
            first = next(found, None)
        self.is_empty = first is None and not self.done
        if first is not None:
            yield first
            yield from found


class Listing:
    """Lists boards in one of the forms.

    Parameters
    ----------
    source, options, chosen
        The boards, how they are searched, and which of their solutions are listed.
    engine
        What finds them.
    journal
        Where they go, and what is done already.
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
        journal: Journal,
        writer: Writer,
        totals: Totals | None,
    ) -> None:
        self._source, self._options, self._chosen = source, options, chosen
        self._engine, self._writer, self._totals = engine, writer, totals
        self._journal, self._done = journal, journal.start.solutions
        self.line = ProgressLine(listing=journal.output.to_stdout)
        """Shows how far it is."""
        self._numbered: Solutions | None = None
        """Those of a single board, if they are listed by number."""
        journal.share = self._share
        self.tasks: tuple[tuple[range, ...], int] | None = None
        """The tasks of a part of a single board that is searched, and how many there are."""
        self._most: int | None = None
        """How many solutions the board has that is listed by number, if that is known."""
        self._beyond: list[int] = []
        """The numbers of solutions of boards that have none from the first on that is wanted."""

    def all(self) -> Generator[WithTexts, None, None]:
        """What was listed of the boards, in their order, and the texts of its solutions."""
        from gpusudoku.planning.streaming import list_work

        source, watched = self._source, self._watched
        if not (source.single or self._totals or self._chosen.by_number):
            work = list_work(self._options, self._engine).then(self._with_texts)
            with closing(work.on(watched(source.batches()))) as several:
                for listed, texts in several:
                    if listed.solutions is not None:
                        yield listed, texts
                        continue
                    with closing(self._alone(listed.boards)) as found:
                        for each in found:
                            yield self._with_texts(replace(each, doubtful=listed.doubtful))
            return
        for board in source.singles(watched):
            with naming(place_of(board, 0)), closing(self._alone(board)) as found:
                yield from map(self._with_texts, found)

    def _watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """The boards of all that are read that are not done."""
        return self._journal.rest(self._writer.watched(batches))

    def _share(self) -> float | None:
        """The share of the work that is done, None where nobody knows."""
        if not self._source.single:
            return self._source.share
        return self._journal.found / self._most if self._most else None

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
        options, engine = self._options, self._engine
        if self._chosen.part is not None and self._has_no_order(board):
            yield from self._by_search(board, self._chosen.part)
        elif self._chosen.by_number or is_contracted(board, options):
            yield from self._by_number(board)
        else:
            place = self._source.place(board)
            self.line.expected = expect_listing(board[0], options, engine, place)
            yield from self._by_search(board)

    def _has_no_order(self, board: Batch) -> bool:
        """Whether parts of a board are tasks of a search, because its solutions have no numbers."""
        from gpusudoku.listing import Solutions

        options = replace(self._options, limit=None)
        if options.method == "search":
            return True
        try:
            with self.line.working():
                Solutions(board[0], options, engine=self._engine).part(1, 1)
        except TooExpensive:
            return True
        return False

    def _by_search(
        self, board: Batch, part: tuple[int, int] | None = None
    ) -> Generator[Listed, None, None]:
        """List what a search of one board, or a part of it, finds."""
        from gpusudoku.planning.streaming import Listed, Stream

        stream = Stream(board[0], self._options, engine=self._engine, part=part)
        if part is not None:
            self.tasks = stream.tasks
        with closing(stream):
            yield Listed(board, board, stream)
        if self._totals is None or stream.stats is None:
            return
        if self._source.single:
            show_search(board[0], stream.stats)
        else:
            self._totals.add_search(stream.stats)

    def _by_number(self, board: Batch) -> Generator[Listed, None, None]:
        from gpusudoku.planning.streaming import Listed

        start = time.perf_counter()
        solutions = self.numbered(board)
        done, self._done = self._done, 0  # the first board alone is the one that was begun
        expect = partial(self._expect, board, solutions, done)
        found = _Numbered(solutions, self._chosen, self.line, expect, done)
        yield Listed(board, board, found)
        if found.is_empty and self._chosen.is_beyond(solutions):
            self._beyond.append(solutions.count)
        seconds = time.perf_counter() - start
        if self._totals is not None and self._source.single:
            show_listing(board[0], self._chosen.order, seconds)
        elif self._totals is not None:
            self._totals.add_listed(seconds)

    def numbered(self, board: Batch) -> Solutions:
        """The solutions of a board by their numbers; those of a single one are made once."""
        from gpusudoku.listing import Solutions

        if self._numbered is not None:
            return self._numbered
        options = replace(self._options, limit=None)
        made = Solutions(board[0], options, engine=self._engine)
        if self._source.single:
            self._numbered = made
        return made

    def _expect(self, board: Batch, solutions: Solutions, done: int) -> None:
        """Say what a long listing by numbers should take."""
        with self.line.working():
            number = self._chosen.most(solutions, is_contracted(board, self._options))
        self._most = number
        if number is not None:
            ascending, place = self._chosen.ascending, self._source.place(board)
            self.line.expected = expect_numbered(number - done, ascending, self._engine, place)

    def _with_texts(self, listed: Listed) -> WithTexts:
        """What was listed, and its texts: made at once if all solutions are there."""
        found, writer, place = listed.solutions, self._writer, place_of(listed.boards, 0)
        if found is None:
            return listed, ()
        if isinstance(found, _Numbered):
            texts = self._plain(listed, found) if writer.is_plain else self._each(listed, found)
            return listed, naming_each(place, texts)
        written = (self._as_found(listed, block) for block in found)
        if not isinstance(found, list):
            return listed, naming_each(place, written)
        return replace(listed, solutions=[]), list(written)  # kept until their turn, once

    def _plain(self, listed: Listed, found: _Numbered) -> Iterator[Text]:
        """Solutions that are lines."""
        for text in found.lines():
            lines = self._writer.lines(text, listed.boards.geometry)
            lines = line_ends(text) if lines is None else lines
            yield Text(text, lines, lines, again=True)

    def _each(self, listed: Listed, found: _Numbered) -> Iterator[Text]:
        """Solutions in any other form."""
        for block in found:
            text = self._writer.text(listed.boards, block)
            yield Text(text, None, len(block), again=True)

    def _as_found(self, listed: Listed, block: NDArray[np.uint8]) -> Text:
        """Solutions as a search finds them."""
        text = self._writer.text(listed.boards, block, listed.board_of)
        return Text(text, self._writer.lines(text, listed.boards.geometry), len(block))


def is_contracted(board: Batch, options: Options) -> bool:
    """Whether a board that is to be listed whole is listed by the contraction."""
    from gpusudoku.contraction.prepare import is_nine

    return is_nine(board.geometry, board.candidates) and not searches(options)


def facts_of_listing(options: Options) -> dict[str, str]:
    """What a listing depends on besides the options of the command."""
    return {"listed": "by search" if searches(options) else "by number"}


def searches(options: Options) -> bool:
    """Tell whether a search lists all boards that need not be in order, with or without a limit."""
    return options.device == "cuda" or options.method == "search"
