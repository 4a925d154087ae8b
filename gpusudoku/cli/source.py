"""Where boards come from: files, standard input, the project's own, and the arguments."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

import click

from gpusudoku import collection, formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.cli.messages import complain, note
from gpusudoku.cli.options import Reading
from gpusudoku.errors import InputError, printable, shown

_CELL = re.compile(r"[0-9.*_?x\s|,;-]")
_LEAST_CELLS = 16
"""An argument of fewer cells is taken for the name of a file."""
_CERTAIN_CELLS = 36
_CERTAIN = re.compile(r"\.\.|[\n\[]|(?:\b[0-4][\s,;]+){4}")
"""What no name has, but a board of fewer cells: a dated name has as many digits and dashes."""
_LONGEST_NAME = 200
"""Characters of a name that messages show whole."""
MOST_CONFLICTS = 20
"""Boards whose contradicting clues are named: thousands would hide all other messages."""


class Source:
    """The boards that a command was given, read one after the other, or many together.

    A bad board ends the reading by an ``InputError`` after all boards before it; or, if the
    command is to keep going, it is reported on stderr at once and counted.
    """

    def __init__(self, names: Iterable[str], reading: Reading) -> None:
        self.unreadable = 0
        """Bad boards that were reported."""
        self._unanswered = False
        self._keep_going = reading.keep_going
        self._contradictory = 0
        names = list(names)
        self._meter = formats.Meter([name for name in names if _is_file(name)])
        found = chain.from_iterable(_read(name, reading, self._meter) for name in names)
        head = list(islice(found, 2))
        if isinstance(head[0], InputError) and not reading.keep_going:
            raise head[0]  # before anything is written
        self._found = chain(head, found)
        self.single = len(head) == 1 and (isinstance(head[0], InputError) or len(head[0]) == 1)
        """Whether there is one board only (or one error)."""

    @property
    def share(self) -> float | None:
        """The share of the files' bytes that has been read, None where nobody knows."""
        return self._meter.share()

    def place(self, boards: Batch, index: int = 0) -> str:
        """The place of a board, as messages begin with it in a batch; nothing of a single one."""
        return "" if self.single else place_of(boards, index)

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
                continue
            with self.passing_bad():
                raise found

    @contextmanager
    def passing_bad(self) -> Iterator[None]:
        """Report a bad board on stderr and count it, if the command is to keep going."""
        try:
            yield
        except InputError as error:
            if not self._keep_going:
                raise
            self.unreadable += 1
            complain(str(error))

    def warn_conflicts(self, boards: Batch) -> None:
        """Say on stderr which two clues of a board contradict each other, if any do.

        Of a batch this is said of the first such boards only.
        """
        for index, board in enumerate(boards):
            if self._contradictory == MOST_CONFLICTS:
                return
            if board.conflicts:
                note(f"{self.place(boards, index)}{_conflicts(board)}: no solution")
                self._contradictory += 1
                if self._contradictory == MOST_CONFLICTS:
                    note("more boards whose clues contradict each other are not named")

    def unanswered(self, why: object) -> None:
        """Say on stderr why a board has no answer, and which it is; the others are answered."""
        self._unanswered = True
        complain(str(why))

    def finish(self) -> None:
        """Exit with status 2 if a bad board was reported, else with 1 if one is unanswered."""
        if self.unreadable or self._unanswered:
            click.get_current_context().exit(2 if self.unreadable else 1)


def looks_like_board(text: str) -> bool:
    """Whether an argument is meant for a board, right or wrong, and not for a file."""
    cells = len(_CELL.findall(text))
    return cells >= _LEAST_CELLS and cells >= 0.8 * len(text)


def with_blanks(text: str, cells: int) -> str:
    """An argument that is one grid of so many cells, surely read as one then; else as it is."""
    is_grid = len(text) == cells and text.isalnum() and not _is_file(text)
    return " ".join(text) if is_grid else text


def _is_file(name: str) -> bool:
    """Whether a name stands for a file or for standard input, if it can be read at all."""
    if not name or name.startswith("@"):
        return False
    try:
        return name == formats.STDIN or Path(name).exists()
    except (OSError, ValueError):  # the name is too long, or has a NUL byte
        return False


def _read(name: str, reading: Reading, meter: formats.Meter) -> Iterator[Batch | InputError]:
    if name.startswith("@"):
        yield from _read_own(name, reading.box)
    elif not _is_file(name):
        yield from _read_argument(name, reading)
    else:
        if name == formats.STDIN and sys.stdin is not None and sys.stdin.isatty():
            note("reading boards from the terminal; end with Ctrl-D")
        elif looks_like_board(name):
            note(f"{shown(name)}: there is a file of this name, which is read")
        yield from formats.read_batches(name, reading.box, column=reading.column, meter=meter)


def _read_argument(text: str, reading: Reading) -> Iterator[Batch | InputError]:
    """Read the boards of an argument that is no file."""
    way = formats.Way("<argument>", reading.box, reading.column)
    found = list(formats.read_text_batches(text, way))
    wrong = next((each for each in found if isinstance(each, InputError)), None)
    cells = 0 if wrong else found[0].geometry.cells  # type: ignore[union-attr]
    if cells >= _CERTAIN_CELLS or (cells >= _LEAST_CELLS and _CERTAIN.search(text)):
        yield from found
    elif cells >= _LEAST_CELLS:
        yield InputError(
            f"{shown(text)}: no such file, and if it is a board, put a blank between all its cells"
        )
    elif wrong and (looks_like_board(text) or "\n" in text):
        yield InputError(f"no file {shown(text)}, and no board: {wrong}")
    else:
        name = printable(text) if 0 < len(text) < _LONGEST_NAME else shown(text)
        yield InputError(f"{name}: no such file, and no board")


def _read_own(name: str, box: Geometry | None) -> Iterator[Batch | InputError]:
    """Read a board that comes with the program."""
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


def conflict_in(board: Board) -> str:
    """The first two clues that contradict each other, as the end of a message; else nothing."""
    return f": {_conflicts(board)}" if board.conflicts else ""


def _conflicts(board: Board) -> str:
    """The first two clues that contradict each other, and how many more pairs do."""
    first = board.conflicts[0].describe(board.geometry)
    more = len(board.conflicts) - 1
    return f"{first} (and {more} more)" if more else first
