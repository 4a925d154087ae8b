"""Where boards come from: files, standard input, and the project's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

import click

from gpusudoku import collection, formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.cli.messages import complain, note
from gpusudoku.cli.options import Reading
from gpusudoku.errors import InputError


class Source:
    """The boards that a command was given, read one after the other, or many together.

    A bad board ends the reading by an ``InputError`` after all boards before it; or, if the
    command is to keep going, it is reported on stderr at once and counted.
    """

    def __init__(self, names: Iterable[str], reading: Reading) -> None:
        self.unreadable = 0
        """Bad boards that were reported."""
        self._keep_going = reading.keep_going
        found = chain.from_iterable(_read(name, reading.box) for name in names)
        head = list(islice(found, 2))
        if isinstance(head[0], InputError) and not reading.keep_going:
            raise head[0]  # before anything is written
        self._found = chain(head, found)
        self.single = len(head) == 1 and (isinstance(head[0], InputError) or len(head[0]) == 1)
        """Whether there is one board only (or one error)."""

    def __iter__(self) -> Iterator[Board]:
        return chain.from_iterable(self.batches())

    def singles(self) -> Iterator[Batch]:
        """All boards, a batch for each."""
        for batch in self.batches():
            for index in range(len(batch)):
                yield batch.part(index, index + 1)

    def batches(self) -> Iterator[Batch]:
        """All boards, in batches of those that can be read together."""
        for found in self._found:
            if not isinstance(found, InputError):
                yield found
            elif self._keep_going:
                self.unreadable += 1
                complain(str(found))
            else:
                raise found

    @property
    def share(self) -> float | None:
        """The share of the input that was read so far, if it is known."""
        return None

    def finish(self) -> None:
        """Exit with status 2 if a bad board was reported on the way."""
        if self.unreadable:
            click.get_current_context().exit(2)


def _read(name: str, box: Geometry | None) -> Iterator[Batch | InputError]:
    if not name.startswith("@"):
        yield from formats.read_batches(name, box)
        return
    try:
        board = collection.load(name.removeprefix("@"))
    except InputError as error:
        yield error
        return
    if box not in (None, board.geometry):
        yield InputError(f"{name}: has boxes of {board.geometry}, not of {box}")
        return
    places = Places.of(Origin(name), [0])
    yield Batch(board.geometry, board.cells[None], places=places)


def place_of(boards: Batch, index: int) -> str:
    """The place of a board, as messages begin with it."""
    return "" if boards.places is None else f"{boards.places.name(index)}: "


def warn_conflicts(boards: Batch, alone: bool) -> None:
    """Say on stderr of every board which two clues contradict each other, if any do.

    ``alone`` tells that there is one board only, which needs no name.
    """
    for index, board in enumerate(boards):
        warn_conflict(board, "" if alone else place_of(boards, index))


def warn_conflict(board: Board, name: str) -> None:
    """Say on stderr which two clues contradict each other, if any do."""
    if board.conflicts:
        first = board.conflicts[0].describe(board.geometry)
        more = len(board.conflicts) - 1
        also = f" (and {more} more)" if more else ""
        note(f"{name}{first}{also}: no solution")
