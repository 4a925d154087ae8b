"""Sources of boards: files, standard input, the collection of the package, and arguments."""

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
from gpusudoku.board.batch import Batch, InputSource, SourceLocations
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import BadEntry, InputError, printable, shown
from gpusudoku.jobs.forks import cached_property
from gpusudoku.pipeline.messages import option_words, print_error, print_note, quietly
from gpusudoku.pipeline.settings import InputOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELL = re.compile(r"[0-9.*_?x\s|,;-]")
"""A character that texts of boards consist of."""
_MIN_CELLS = 16
"""An argument with fewer cells is taken for the name of a file."""
_CERTAIN_CELLS = 36
"""Whatever can be read as a board with that many cells is a board, not the name of a file."""
_SQUARE_CELLS = 81
"""An argument with a square number of characters, at least this one, is meant for a board."""
_CERTAIN = re.compile(r"\.\.|[\n\[]|(?:-?\b[0-4][\s,;]+){4}")
"""A pattern of boards with few cells that no file name has: names with a date have as many digits
as a small board."""
_LONGEST_NAME = 200
"""Characters of a name that messages show whole."""
_ARGUMENT = "<argument>"
"""The name of a board that is an argument itself."""
MAX_CONFLICTS = 20
"""Boards whose contradictory clues are reported: thousands would hide all other messages."""
MAX_AHEAD = 100
"""Bad boards read in search of a good one, whose input defines the columns of a table."""


class Survey(NamedTuple):
    """All boards of an input: their number, and a digest of them."""

    boards: int
    """Boards that can be read."""
    sha256: str
    """The digest of all shapes, cells and candidates, in hexadecimal digits."""


class Source:
    """The boards that a command was given, in the order of the input.

    A bad board ends the reading with an ``InputError`` after all boards before it. If the command
    keeps going, the bad board is reported on stderr and counted instead.

    Parameters
    ----------
    names
        Files, ``-``, boards of the collection (``@name``), texts of boards, or batches.
    reading
        The options that say how boards are read.
    is_table
        True if all boards must have the same extra columns, because a table is written.
    gives_errors
        True if ``read`` yields the errors of bad boards, too, because these have records.
    saved
        True if the progress is saved, as in a checkpoint. An input without any board then ends the
        command even if it keeps going.
    expects_one
        True if one board is expected; a bad board then always ends the command.
    """

    def __init__(
        self,
        names: Iterable[str | Batch],
        reading: InputOptions,
        *,
        is_table: bool = False,
        gives_errors: bool = False,
        saved: bool = False,
        expects_one: bool = False,
    ) -> None:
        self.names = list(names)
        self.files = [name for name in self.names if is_file(name)]
        """The inputs that are files, or standard input."""
        self.gives_errors = gives_errors
        self.unreadable = 0
        """Bad boards that were reported."""
        self.lacks_answers = False
        """True once a board without an answer was reported."""
        self._reading = reading
        self._keep_going = reading.keep_going
        self._expects_one = expects_one
        self._is_table = is_table
        self._reported_conflicts = 0
        """Boards whose contradictory clues were reported."""
        self._selected: range | None = None
        """Indices of the boards of this part; None for all boards."""
        self._is_last_part = True
        """True if bad boards after the last selected board belong to this part."""
        self._skipped = (0, 0)
        """Boards, and bad boards, that were finished before a resume."""
        self._selected_so_far = 0
        """Boards that were read and selected, those before a resume included."""
        self._meter = formats.Meter(self.files)

        # Read enough to know whether there is a single board, and the columns of a table.
        batches = chain.from_iterable(
            _read_input(name, reading, self._meter) for name in self.names
        )
        head = list(islice(batches, 2))
        is_single = len(head) == 1
        if isinstance(head[0], InputError):
            ends_command = not reading.keep_going or (saved and is_single)
            if ends_command:
                raise self._ending(head[0], not is_single)  # before anything is written
        else:
            is_single = is_single and len(head[0]) == 1
        while len(head) < MAX_AHEAD and not any(isinstance(batch, Batch) for batch in head):
            batch = next(batches, None)
            if batch is None:
                break
            head.append(batch)
        self._head = head
        self._batches = chain(head, batches)
        self.single = is_single
        """True if there is only one board (or only one error)."""

    @property
    def share(self) -> float | None:
        """The share of the files' bytes that has been read, None if it is unknown."""
        return self._meter.share()

    def share_of(self, boards: int) -> float | None:
        """Estimate the share of all boards that the first ``boards`` are; None if unknown.

        Batches are read ahead of the work. The share of the bytes belongs to all boards that were
        read; it is scaled to the boards that are finished.
        """
        share = None if self._selected is not None else self._meter.share()
        if share is None or not self._selected_so_far:
            return None
        return share * boards / self._selected_so_far

    def place(self, boards: Batch, index: int = 0) -> str:
        """Return the place of a board, with which its messages begin; empty for a single board."""
        return "" if self.single else place_of(boards, index)

    @property
    def board(self) -> Batch | None:
        """The only board, as a batch; None if it is bad, or if there are several boards."""
        batch = self._head[0]
        return None if isinstance(batch, InputError) or not self.single else batch

    @cached_property
    def input_source(self) -> InputSource:
        """The first input that has a board; it defines the extra columns of a table."""
        for batch in self._head:
            if isinstance(batch, Batch):
                assert batch.locations is not None  # all boards of a command have a place
                return batch.locations.sources[0]
        entry = self._head[0].entry  # type: ignore[union-attr]
        return InputSource(entry.source, entry.extra_columns) if entry else InputSource("")

    @cached_property
    def survey(self) -> Survey:
        """The number of boards and their digest; this reads the whole input once more."""
        for name in self.files:
            if name == formats.STDIN or not Path(name).is_file():
                name = "<stdin>" if name == formats.STDIN else name
                raise InputError(f"{name}: cannot be read twice, as a part of a batch requires")
        batches = (_read_input(name, self._reading, formats.Meter([])) for name in self.names)
        with quietly(True):  # the messages are printed when the boards are read again
            try:
                return survey_boards(chain.from_iterable(batches), self._keep_going)
            except InputError as error:
                raise self._ending(error) from None

    def select(self, boards: range, *, is_last_part: bool) -> None:
        """Yield only these boards from now on, a range of their indices with step 1.

        A bad board belongs to the part of the next good board, or to the last part.
        """
        self._selected = boards
        self._is_last_part = is_last_part

    def skip(self, boards: int, bad: int = 0) -> None:
        """Skip the first boards and the first bad boards, which a resumed run has finished."""
        self._skipped = boards, bad

    def read(self) -> Iterator[Batch | InputError]:
        """Read the selected boards, in batches, and the errors of bad ones if they are wanted."""
        boards_read = 0
        bad_count = 0
        selected = self._selected
        skipped_boards, skipped_bad = self._skipped
        for batch in self._batches:
            if isinstance(batch, Batch):
                self._check_columns(batch)
                start = 0
                end = len(batch)
                if selected is not None:
                    start = min(max(selected.start - boards_read, 0), len(batch))
                    end = min(max(selected.stop - boards_read, start), len(batch))
                boards_read += len(batch)
                # Of the selected boards of this batch, skip those that were finished before.
                unfinished = start + max(0, skipped_boards - self._selected_so_far)
                self._selected_so_far += end - start
                if unfinished < end:
                    is_whole = unfinished == 0 and end == len(batch)
                    yield batch if is_whole else batch.part(unfinished, end)
            elif (
                selected is None
                or boards_read in selected
                or (self._is_last_part and boards_read >= selected.stop)
            ):
                self._skip_bad(batch)
                bad_count += 1
                if self.gives_errors and bad_count > skipped_bad:
                    yield batch
            if selected is not None and boards_read >= selected.stop and not self._is_last_part:
                return

    def _check_columns(self, batch: Batch) -> None:
        """Raise an InputError if a table is written and this input has other extra columns."""
        assert batch.locations is not None
        input_source = batch.locations.sources[0]
        table_source = self.input_source
        if self._is_table and input_source.extra_columns != table_source.extra_columns:
            columns = _listed(input_source.extra_columns)
            table_columns = _listed(table_source.extra_columns)
            raise InputError(
                f"{input_source.name}: has {columns}, but {table_source.name} has {table_columns}: "
                "they do not fit in one table (--format jsonl takes both)"
            )

    def batches(self) -> Iterator[Batch]:
        """Read all boards that can be read."""
        return (batch for batch in self.read() if isinstance(batch, Batch))

    def singles(self) -> Iterator[Batch]:
        """Read all boards that can be read, each as a batch of its own."""
        return chain.from_iterable(batch.singles() for batch in self.batches())

    def __iter__(self) -> Iterator[Board]:
        return chain.from_iterable(self.batches())

    @contextmanager
    def skipping_bad(self) -> Iterator[None]:
        """Report an InputError of this block on stderr and count it, if the command keeps going."""
        try:
            yield
        except InputError as error:
            self._skip_bad(error)

    def _skip_bad(self, error: InputError) -> None:
        """Report and count a bad board; raise its error if the command does not keep going."""
        if not self._keep_going:
            raise self._ending(error, not self.single) from None
        self.unreadable += 1
        print_error(str(error))

    def _ending(self, error: InputError, has_more: bool = True) -> InputError:
        """Return the error that ends the command, with the option that would skip the board."""
        is_last = error.entry is not None and error.entry.is_last and len(self.names) == 1
        if self._expects_one or is_last or not has_more:
            return error
        return InputError(f"{error} (--keep-going skips it)")

    def warn_conflicts(self, boards: Batch) -> None:
        """Print the two clues that contradict each other, for the first boards that have some."""
        for index, board in enumerate(boards):
            if self._reported_conflicts == MAX_CONFLICTS:
                return
            if board.conflicts:
                print_note(f"{self.place(boards, index)}{_conflicts(board)}: no solution")
                self._reported_conflicts += 1
                if self._reported_conflicts == MAX_CONFLICTS:
                    print_note("further boards with contradictory clues are not reported")

    def report_unanswered(self, message: object) -> None:
        """Print why a board has no answer; ``message`` begins with the place of the board."""
        self.lacks_answers = True
        print_error(str(message))

    def report_unsolved(self, boards: Batch, numbers: NDArray[np.int64]) -> None:
        """Report the boards without exactly one solution.

        ``numbers``, int64 (B), are the numbers of solutions, counted up to 2.
        """
        from gpusudoku.solving import not_one  # imported lazily: few commands need it

        for index in np.flatnonzero(numbers != 1).tolist():
            error = not_one(int(numbers[index]))
            conflict = conflict_in(boards[index])
            self.report_unanswered(f"{place_of(boards, index)}{error}{conflict}")

    @property
    def status(self) -> int:
        """The exit status: 2 if a bad board was reported, else 1 if one is unanswered."""
        return 2 if self.unreadable else int(self.lacks_answers)

    def finish(self) -> None:
        """Exit with the status, if it is not 0."""
        if self.status:
            sys.exit(self.status)


def sole_board(name: str, source: Source) -> Batch:
    """Return the only board of a source, as a batch."""
    boards = list(islice(source.singles(), 2))
    if len(boards) > 1:
        raise InputError(f"{name}: expected one board, but there are several")
    if not boards:
        source.finish()  # bad boards were reported
    return boards[0]


def survey_boards(batches: Iterable[Batch | InputError], keep_going: bool) -> Survey:
    """Count boards and compute their digest, which is independent of the division into batches.

    Parts of different machines may only be merged if their digests are equal. The digest hashes, in
    this order: the cells of all boards, with the box shape wherever it
    changes; then the digest of the candidates of those boards that have some.
    """
    board_count = 0
    shape = None
    cells = hashlib.sha256()
    candidates = hashlib.sha256()
    for batch in batches:
        if isinstance(batch, InputError):
            if not keep_going:
                raise batch
            continue
        if batch.geometry != shape:
            shape = batch.geometry
            cells.update(f"{board_count}:{shape};".encode())
        cells.update(np.ascontiguousarray(batch.cells).data)
        if batch.candidates is not None:
            # A board without candidates may be in a batch with others that have some.
            has_candidates = (batch.candidates != shape.all_digits).any(axis=1)
            for index in np.flatnonzero(has_candidates).tolist():
                candidates.update(f"{board_count + index}:".encode())
                candidates.update(batch.candidates[index].astype("<u8").tobytes())
        board_count += len(batch)
    cells.update(candidates.digest())
    return Survey(board_count, cells.hexdigest())


def _listed(columns: Sequence[str]) -> str:
    """List extra columns in a message."""
    if not columns:
        return "no extra columns"
    return f"the column{'s' if len(columns) > 1 else ''} {', '.join(columns)}"


def looks_like_board(text: str) -> bool:
    """Tell whether an argument is meant for a board, right or wrong, and not for a file.

    Most of its characters are those of boards, or their number is a square.
    """
    cells = len(_CELL.findall(text))
    is_square = len(text) == isqrt(len(text)) ** 2 >= _SQUARE_CELLS and "/" not in text
    return cells >= _MIN_CELLS and (cells >= 0.8 * len(text) or is_square)


def with_blanks(text: str, cells: int) -> str:
    """Put blanks between the cells of an argument with ``cells`` characters; return others as is.

    With blanks it is surely read as a grid, and not as the name of a file.
    """
    is_grid = len(text) == cells and text.isalnum() and not is_file(text)
    return " ".join(text) if is_grid else text


def is_file(name: str | Batch) -> TypeGuard[str]:
    """Tell whether a name denotes a file or standard input."""
    if isinstance(name, Batch) or not name or name.startswith("@"):
        return False
    try:
        return name == formats.STDIN or Path(name).exists()
    except (OSError, ValueError):  # the name is too long, or has a NUL byte
        return False


def _read_input(
    name: str | Batch, reading: InputOptions, meter: formats.Meter
) -> Iterator[Batch | InputError]:
    """Read all boards of an input; every error has an ``entry``, at least with the source."""
    for batch in _read_any(name, reading, meter):
        if isinstance(batch, InputError):
            reason = str(batch).removeprefix(f"{printable(str(name))}: ")
            batch.entry = batch.entry or BadEntry(str(name), 0, reason)
        yield batch


def _read_any(
    name: str | Batch, reading: InputOptions, meter: formats.Meter
) -> Iterator[Batch | InputError]:
    """Read all boards of an input of any kind."""
    if isinstance(name, Batch):
        yield name
    elif name.startswith("@"):
        yield from _read_collected(name, reading.box)
    elif not is_file(name):
        yield from _read_argument(name, reading)
    else:
        if name == formats.STDIN and sys.stdin is not None and sys.stdin.isatty():
            print_note("reading boards from the terminal; end with Ctrl-D")
        elif looks_like_board(name):
            print_note(f"{shown(name)}: reading the file of this name")
        yield from formats.read_batches(
            name, reading.box, column=reading.column, meter=meter, words=option_words
        )


def _read_argument(text: str, reading: InputOptions) -> Iterator[Batch | InputError]:
    """Read the boards of an argument that is not an existing file.

    It is either the text of a board, or a file name with a typing error. A text of few cells
    counts as a board only if it is long, or has a pattern that only boards have.
    """
    if not text.strip():
        yield _bad_argument(text, f"{shown(text)}: the text of a board is empty", "empty text")
        return
    read_options = formats.ReadOptions(_ARGUMENT, reading.box, reading.column, words=option_words)
    batches = list(formats.read_text_batches(text, read_options))
    error = next((batch for batch in batches if isinstance(batch, InputError)), None)
    cells = 0
    if error is None:
        cells = batches[0].geometry.cells  # type: ignore[union-attr]
    # A few cells can take many characters: the candidates of a small board, such as {12}{1234}.
    # File names that are as long usually contain blanks.
    is_long = len(text) >= _CERTAIN_CELLS and (" " not in text or text.startswith("{"))
    is_certain = is_long or _CERTAIN.search(text)

    if cells >= _CERTAIN_CELLS or (cells >= _MIN_CELLS and is_certain):
        yield from batches
    elif cells >= _MIN_CELLS:
        reason = "no such file, and if it is a board, put a blank between all its cells"
        yield _bad_argument(text, f"{shown(text)}: {reason}", reason)
    elif error and error.entry and (looks_like_board(text) or "\n" in text or "://" in text):
        message = f"no file {shown(text)}, and no board: {error}"
        yield _bad_argument(text, message, error.entry.reason)
    else:
        name = printable(text) if 0 < len(text) < _LONGEST_NAME else shown(text)
        hint = ", and no board"
        if any(text == entry.name for entry in collection.entries()):
            hint = f": did you mean @{text}?"
        yield InputError(f"{name}: no such file{hint}")


def _bad_argument(text: str, message: str, reason: str) -> InputError:
    """Return the error of an argument that is meant for a board."""
    error = InputError(message)
    error.entry = BadEntry(_ARGUMENT, 0, reason, text)
    return error


def _read_collected(name: str, box: Geometry | None) -> Iterator[Batch | InputError]:
    """Read a board of the collection of the package."""
    try:
        board = collection.load(name.removeprefix("@"))
    except InputError as error:
        yield error
        return
    if box not in (None, board.geometry):
        yield InputError(f"{name}: has boxes of {board.geometry}, not of {box}")
        return
    locations = SourceLocations.of(InputSource(name), [0])
    yield Batch(board.geometry, board.cells[None], locations=locations)


def place_of(boards: Batch, index: int) -> str:
    """Return the place of a board, with which its messages begin."""
    return "" if boards.locations is None else f"{boards.locations.name(index)}: "


def conflict_in(board: Board) -> str:
    """Name the first two clues that contradict each other, as the end of a message."""
    return f": {_conflicts(board)}" if board.conflicts else ""


def _conflicts(board: Board) -> str:
    """Name the first two clues that contradict each other, and count the other pairs."""
    conflict = board.conflicts[0].describe(board.geometry)
    more_pairs = len(board.conflicts) - 1
    return f"{conflict} (and {more_pairs} more)" if more_pairs else conflict
