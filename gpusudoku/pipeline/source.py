"""Sources of boards: files, standard input, the project's own, and the arguments themselves."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from gpusudoku import collection, formats
from gpusudoku.board.batch import Batch, Origin, Places
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import BadEntry, InputError, printable, shown
from gpusudoku.jobs.forks import cached_property
from gpusudoku.pipeline.messages import complain, note, option_words, quietly
from gpusudoku.pipeline.settings import InputOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELL = re.compile(r"[0-9.*_?x\s|,;-]")
_MIN_CELLS = 16
"""An argument of fewer cells is taken for the name of a file."""
_CERTAIN_CELLS = 36
_SQUARE_CELLS = 81
"""An argument of as many characters as a board of at least so many cells has is meant for one."""
_CERTAIN = re.compile(r"\.\.|[\n\[]|(?:-?\b[0-4][\s,;]+){4}")
"""A pattern of boards with fewer cells, but of no name: dated names have as many digits."""
_LONGEST_NAME = 200
"""Characters of a name that messages show whole."""
_ARGUMENT = "<argument>"
"""The name of a board that is an argument itself."""
MAX_CONFLICTS = 20
"""Boards whose contradicting clues are named: thousands would hide all other messages."""
MAX_AHEAD = 100
"""Bad boards read in search of a good one, whose input tells the columns of a table."""


class Survey(NamedTuple):
    """All boards of an input: their number, and a digest of them."""

    boards: int
    """Boards that can be read."""
    sha256: str
    """Of all shapes, cells and candidates; hexadecimal digits."""


class Source:
    """The boards that a command was given, read one after the other, in the order of the input.

    A bad board ends the reading by an ``InputError`` after all boards before it; or, if the
    command is to keep going, it is reported on stderr at once and counted. Where progress is
    ``saved``, as for a checkpoint, an input of which nothing can be read ends the command in any
    case. If ``one`` board is expected, a bad one always ends it. In a table (``is_table``) all
    boards have the same other columns; where bad boards have records, their errors are given, too
    (``gives_errors``).
    """

    def __init__(
        self,
        names: Iterable[str | Batch],
        reading: InputOptions,
        *,
        is_table: bool = False,
        gives_errors: bool = False,
        saved: bool = False,
        one: bool = False,
    ) -> None:
        self.unreadable = 0
        """Bad boards that were reported."""
        self.lacks_answers = False
        """True once a board was reported that has no answer."""
        self._contradictory = 0
        self._wanted: range | None = None
        """Indices of the boards that are given; None for all."""
        self._to_the_end = True
        """True if errors after the last wanted board belong to it."""
        self._skipped = (0, 0)
        self._given = 0
        """Boards that were read and are to be worked on, or were before a resume."""
        self.names = list(names)
        self._reading = reading
        self._one = one
        self.files = [name for name in self.names if is_file(name)]
        """The inputs that are files, or standard input."""
        self._is_table = is_table
        self.gives_errors = gives_errors
        self._keep_going = reading.keep_going
        self._meter = formats.Meter(self.files)
        found = chain.from_iterable(_read(name, reading, self._meter) for name in self.names)
        head = list(islice(found, 2))
        if isinstance(head[0], InputError) and (
            not reading.keep_going or (saved and len(head) == 1)
        ):
            raise self._ending(head[0], len(head) > 1)  # before anything is written
        while len(head) < MAX_AHEAD and not any(isinstance(each, Batch) for each in head):
            more = next(found, None)
            if more is None:
                break
            head.append(more)
        self._head, self._found = head, chain(head, found)
        self.single = len(head) == 1 and (isinstance(head[0], InputError) or len(head[0]) == 1)
        """True if there is one board only (or one error)."""

    @property
    def share(self) -> float | None:
        """The share of the files' bytes that has been read, None if it is unknown."""
        return self._meter.share()

    def share_of(self, boards: int) -> float | None:
        """Estimate which share of all boards so many are, None if that is unknown.

        Boards are read ahead: their share is that of the bytes, and these are some of them.
        """
        share = None if self._wanted is not None else self._meter.share()
        return None if share is None or not self._given else share * boards / self._given

    def place(self, boards: Batch, index: int = 0) -> str:
        """Return the place of a board, as messages begin with it in a batch; else nothing."""
        return "" if self.single else place_of(boards, index)

    @property
    def board(self) -> Batch | None:
        """The only board, as a batch; None if it is a bad one, or there are several."""
        head = self._head[0]
        return None if isinstance(head, InputError) or not self.single else head

    @cached_property
    def origin(self) -> Origin:
        """The first input that has a board: a table has its other columns."""
        for batch in self._head:
            if isinstance(batch, Batch):
                assert batch.places is not None  # whatever a command reads has a place
                return batch.places.origins[0]
        entry = self._head[0].entry  # type: ignore[union-attr]
        return Origin(entry.source, entry.columns) if entry else Origin("")

    @cached_property
    def survey(self) -> Survey:
        """The number of boards and their digest, for which the whole input is read once more."""
        for name in self.files:
            if name == formats.STDIN or not Path(name).is_file():
                name = "<stdin>" if name == formats.STDIN else name
                raise InputError(f"{name}: cannot be read twice, as a batch has to be for this")
        found = (_read(name, self._reading, formats.Meter([])) for name in self.names)
        with quietly(True):  # messages come when boards are given
            try:
                return surveyed(chain.from_iterable(found), self._keep_going)
            except InputError as error:
                raise self._ending(error) from None

    def only(self, boards: range, *, to_the_end: bool) -> None:
        """From now on give these boards alone, a range of their indices of step 1.

        A bad board belongs to the next good one, or to the last part, which is ``to_the_end``.
        """
        self._wanted = boards
        self._to_the_end = to_the_end

    def skip(self, boards: int, bad: int = 0) -> None:
        """Pass over the first boards and the first bad ones, which are done."""
        self._skipped = boards, bad

    def found(self) -> Iterator[Batch | InputError]:
        """Read all boards, in batches, and the errors of bad ones if they are wanted."""
        passed = 0
        bad = 0
        wanted = self._wanted
        boards_done, bad_done = self._skipped
        for found in self._found:
            if isinstance(found, Batch):
                self._check_columns(found)
                start = 0
                end = len(found)
                if wanted is not None:
                    start = min(max(wanted.start - passed, 0), len(found))
                    end = min(max(wanted.stop - passed, start), len(found))
                passed += len(found)
                rest = start + max(0, boards_done - self._given)
                self._given += end - start
                if rest < end:
                    whole = rest == 0 and end == len(found)
                    yield found if whole else found.part(rest, end)
            elif wanted is None or passed in wanted or (self._to_the_end and passed >= wanted.stop):
                self._pass_bad(found)
                bad += 1
                if self.gives_errors and bad > bad_done:
                    yield found
            if wanted is not None and passed >= wanted.stop and not self._to_the_end:
                return

    def _check_columns(self, batch: Batch) -> None:
        """Complain if the other columns change from one input to the next."""
        assert batch.places is not None
        origin = batch.places.origins[0]
        first = self.origin
        if self._is_table and origin.columns != first.columns:
            raise InputError(
                f"{origin.name}: has {_listed(origin.columns)}, but {first.name} has "
                f"{_listed(first.columns)}: they do not fit in one table (--format jsonl "
                "takes both)"
            )

    def batches(self) -> Iterator[Batch]:
        """Read all boards that can be read."""
        return (found for found in self.found() if isinstance(found, Batch))

    def singles(self) -> Iterator[Batch]:
        """Read all boards that can be read, a batch for each."""
        return chain.from_iterable(batch.singles() for batch in self.batches())

    def __iter__(self) -> Iterator[Board]:
        return chain.from_iterable(self.batches())

    @contextmanager
    def passing_bad(self) -> Iterator[None]:
        """Report a bad board on stderr and count it, if the command is to keep going."""
        try:
            yield
        except InputError as error:
            self._pass_bad(error)

    def _pass_bad(self, error: InputError) -> None:
        if not self._keep_going:
            raise self._ending(error, not self.single) from None
        self.unreadable += 1
        complain(str(error))

    def _ending(self, error: InputError, has_more: bool = True) -> InputError:
        """Return the error that ends the command, with the option that would pass over it."""
        is_last = error.entry is not None and error.entry.is_last and len(self.names) == 1
        if self._one or is_last or not has_more:
            return error
        return InputError(f"{error} (--keep-going skips it)")

    def warn_conflicts(self, boards: Batch) -> None:
        """Say on stderr which two clues contradict each other, of the first such boards."""
        for index, board in enumerate(boards):
            if self._contradictory == MAX_CONFLICTS:
                return
            if board.conflicts:
                note(f"{self.place(boards, index)}{_conflicts(board)}: no solution")
                self._contradictory += 1
                if self._contradictory == MAX_CONFLICTS:
                    note("more boards whose clues contradict each other are not named")

    def unanswered(self, why: object) -> None:
        """Say on stderr why a board has no answer, and which it is; the others are answered."""
        self.lacks_answers = True
        complain(str(why))

    def unsolved(self, boards: Batch, numbers: NDArray[np.int64]) -> None:
        """Report the boards without exactly one solution; ``numbers``, int64 (B), are as found."""
        from gpusudoku.solving import not_one  # imported lazily: few commands need it

        for index in np.flatnonzero(numbers != 1).tolist():
            error = not_one(int(numbers[index]))
            conflict = conflict_in(boards[index])
            self.unanswered(f"{place_of(boards, index)}{error}{conflict}")

    @property
    def status(self) -> int:
        """The exit status: 2 if a bad board was reported, else 1 if one is unanswered."""
        return 2 if self.unreadable else int(self.lacks_answers)

    def finish(self) -> None:
        """Exit with the status, if it is not 0."""
        if self.status:
            sys.exit(self.status)


def sole_board(name: str, source: Source) -> Batch:
    """Return the one board of a source, as a batch."""
    found = list(islice(source.singles(), 2))
    if len(found) > 1:
        raise InputError(f"{name}: there are several boards, and one is expected")
    if not found:
        source.finish()  # bad boards were reported
    return found[0]


def surveyed(found: Iterable[Batch | InputError], keep_going: bool) -> Survey:
    """Count boards and compute their digest, however they come together in batches."""
    boards, shape = 0, None
    cells = hashlib.sha256()
    candidates = hashlib.sha256()
    for batch in found:
        if isinstance(batch, InputError):
            if not keep_going:
                raise batch
            continue
        if batch.geometry != shape:
            shape = batch.geometry
            cells.update(f"{boards}:{shape};".encode())
        cells.update(np.ascontiguousarray(batch.cells).data)
        if batch.candidates is not None:
            for index in np.flatnonzero(
                (batch.candidates != shape.all_digits).any(axis=1)
            ).tolist():
                candidates.update(f"{boards + index}:".encode())
                candidates.update(batch.candidates[index].astype("<u8").tobytes())
        boards += len(batch)
    cells.update(candidates.digest())
    return Survey(boards, cells.hexdigest())


def _listed(columns: Sequence[str]) -> str:
    if not columns:
        return "no other columns"
    return f"the column{'s' if len(columns) > 1 else ''} {', '.join(columns)}"


def looks_like_board(text: str) -> bool:
    """Tell whether an argument is meant for a board, right or wrong, and not for a file."""
    cells = len(_CELL.findall(text))
    is_square = len(text) == isqrt(len(text)) ** 2 >= _SQUARE_CELLS and "/" not in text
    return cells >= _MIN_CELLS and (cells >= 0.8 * len(text) or is_square)


def with_blanks(text: str, cells: int) -> str:
    """Make sure that an argument of so many cells is read as a grid; others stay as they are."""
    is_grid = len(text) == cells and text.isalnum() and not is_file(text)
    return " ".join(text) if is_grid else text


def is_file(name: str | Batch) -> TypeGuard[str]:
    """Tell whether a name stands for a file or for standard input."""
    if isinstance(name, Batch) or not name or name.startswith("@"):
        return False
    try:
        return name == formats.STDIN or Path(name).exists()
    except (OSError, ValueError):  # the name is too long, or has a NUL byte
        return False


def _read(
    name: str | Batch, reading: InputOptions, meter: formats.Meter
) -> Iterator[Batch | InputError]:
    """Read all boards of an input; every error tells of the board, at least its source."""
    for found in _read_any(name, reading, meter):
        if isinstance(found, InputError):
            reason = str(found).removeprefix(f"{printable(str(name))}: ")
            found.entry = found.entry or BadEntry(str(name), 0, reason)
        yield found


def _read_any(
    name: str | Batch, reading: InputOptions, meter: formats.Meter
) -> Iterator[Batch | InputError]:
    if isinstance(name, Batch):
        yield name
    elif name.startswith("@"):
        yield from _read_own(name, reading.box)
    elif not is_file(name):
        yield from _read_argument(name, reading)
    else:
        if name == formats.STDIN and sys.stdin is not None and sys.stdin.isatty():
            note("reading boards from the terminal; end with Ctrl-D")
        elif looks_like_board(name):
            note(f"{shown(name)}: there is a file of this name, which is read")
        yield from formats.read_batches(
            name, reading.box, column=reading.column, meter=meter, words=option_words
        )


def _read_argument(text: str, reading: InputOptions) -> Iterator[Batch | InputError]:
    """Read the boards of an argument that is no file."""
    if not text.strip():
        yield _bad_argument(text, f"{shown(text)}: the text of a board is empty", "empty text")
        return
    way = formats.Way(_ARGUMENT, reading.box, reading.column, words=option_words)
    found = list(formats.read_text_batches(text, way))
    wrong = next((each for each in found if isinstance(each, InputError)), None)
    cells = 0 if wrong else found[0].geometry.cells  # type: ignore[union-attr]
    # The candidates of a small board are longer than a name, too.
    is_long = len(text) >= _CERTAIN_CELLS and (" " not in text or text.startswith("{"))
    is_certain = is_long or _CERTAIN.search(text)
    if cells >= _CERTAIN_CELLS or (cells >= _MIN_CELLS and is_certain):
        yield from found
    elif cells >= _MIN_CELLS:
        reason = "no such file, and if it is a board, put a blank between all its cells"
        yield _bad_argument(text, f"{shown(text)}: {reason}", reason)
    elif wrong and wrong.entry and (looks_like_board(text) or "\n" in text or "://" in text):
        message = f"no file {shown(text)}, and no board: {wrong}"
        yield _bad_argument(text, message, wrong.entry.reason)
    else:
        name = printable(text) if 0 < len(text) < _LONGEST_NAME else shown(text)
        known = any(text == entry.name for entry in collection.entries())
        hint = f": did you mean @{text}?" if known else ", and no board"
        yield InputError(f"{name}: no such file{hint}")


def _bad_argument(text: str, message: str, reason: str) -> InputError:
    """Return the error of an argument that is meant for a board."""
    error = InputError(message)
    error.entry = BadEntry(_ARGUMENT, 0, reason, text)
    return error


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
    """Return the place of a board, as messages begin with it."""
    return "" if boards.places is None else f"{boards.places.name(index)}: "


def conflict_in(board: Board) -> str:
    """Name the first two clues that contradict each other, as the end of a message."""
    return f": {_conflicts(board)}" if board.conflicts else ""


def _conflicts(board: Board) -> str:
    """Name the first two clues that contradict each other, and count other pairs."""
    first = board.conflicts[0].describe(board.geometry)
    more = len(board.conflicts) - 1
    return f"{first} (and {more} more)" if more else first
