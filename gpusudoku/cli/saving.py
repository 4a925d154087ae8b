"""The option ``--checkpoint``: a command with its results in a file can be resumed.

While a command writes, a thread saves every few seconds its position, in the file that
``--checkpoint`` names: first it syncs the output to the disk, then it saves the size together with
the number of boards and solutions that are done. So however the process ends, and even if the
machine loses power, the output file has at least what was saved. A resumed command cuts the file to
that size, and passes over what is done.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from gpusudoku.cli.again import identity_of_command, setup_of_command
from gpusudoku.cli.messages import note
from gpusudoku.cli.options import OutputOptions
from gpusudoku.cli.output import Output, is_same_file, refuse
from gpusudoku.errors import GpusudokuError, InputError, printable
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.jobs.threads import start_thread

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.portion import Portion, Step
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.runs.kept import Position
    from gpusudoku.runs.ledger import SqliteRunStore

EVERY_SECONDS = 2.0
"""The most work that is lost, if saving is quick."""
WORTH = 100
"""Saving takes no more than this part of the time, one of so many."""

_OUTPUT = "output"
"""The note of the output file: its real path."""


class Start(NamedTuple):
    """The position where a command begins or resumes."""

    boards: int = 0
    """Boards that are done."""
    solutions: int = 0
    """Solutions done of the next board."""


class Journal:
    """The output of a command, and the position in it: here nothing is saved."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.start = Start()
        self.seconds = 0.0
        """Seconds of work before the start."""
        self.notes: dict[str, Any] = {}
        """Further state that a resumed command needs, as JSON; commands write it."""
        self.hint = ""
        """How to resume after an interrupt."""

    def advance(
        self, *, boards: int = 0, solutions: int = 0, found: int = 0, share: float | None = None
    ) -> None:
        """Note that what was written completes so many more boards, or solutions of the next.

        Parameters
        ----------
        boards
            Boards that are done now.
        solutions
            Solutions done of the board after these.
        found
            Solutions found, for the total.
        share
            The share of all work that is done, None if it is unknown.

        Raises
        ------
        WriteError, SaveError
            If the last save failed.
        """


class _Here(NamedTuple):
    """The state of the output at some moment."""

    position: Position
    found: int
    """Solutions found, in all."""
    share: float | None
    """The share of the work that is done, None if it is unknown."""


class SavedJournal(Journal):
    """An output whose position is saved again and again in a ledger. A context manager."""

    def __init__(self, output: Output, ledger: SqliteRunStore) -> None:
        super().__init__(output)
        before = ledger.position
        self.start = Start(before.boards, before.solutions)
        self.seconds, self._found = ledger.seconds, ledger.count
        self.notes = {**before.notes, _OUTPUT: output.real_path}
        self.hint = ledger.hint
        self._ledger = ledger
        self._boards, self._solutions = self.start
        self._here = self._saved = _Here(before, self._found, None)
        self._since = time.perf_counter()
        self._error: Exception | None = None
        self._ended, self._saving = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._save_again_and_again, daemon=True)

    def __enter__(self) -> SavedJournal:
        self.output.open()
        self.advance()
        self._save()
        start_thread(self._thread)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        if kind is None:
            self.output.begin()  # even if there is nothing but what stands before all results
            self.advance()
            self._save(finished=True)
        elif self._error is None:
            with suppress(GpusudokuError):  # there is one already, and the last save stands
                self._save()

    def advance(
        self, *, boards: int = 0, solutions: int = 0, found: int = 0, share: float | None = None
    ) -> None:
        """See ``Journal``."""
        self._complain()
        self._boards += boards
        self._solutions = solutions + (0 if boards else self._solutions)
        self._found += found
        position = self._position(self._solutions)
        # If all is read, not all that was read is done.
        self._here = _Here(position, self._found, None if share == 1 else share)

    def work(
        self,
        plan: SearchPlan,
        engine: Engine,
        write: Callable[[Any, Any], None],
    ) -> None:
        """Search what is left in steps; ``write`` is given solutions, by any thread.

        After each step the output is made to last, and what was found is saved with what is left.

        Raises
        ------
        WriteError, SaveError
            If that fails.
        Interrupted
            After Ctrl-C, once all is saved.
        """
        from gpusudoku.runs.local import work

        ledger = self._ledger
        work(plan, engine, ledger, on_solutions=write, save=self._save_step)
        self.advance(boards=1)

    def _position(self, solutions: int) -> Position:
        """Make the position at which so many solutions of the next board are done."""
        return replace(
            self._here.position,
            boards=self._boards,
            solutions=solutions,
            size=self.output.size,
            notes=dict(self.notes),
        )

    def _save_step(self, number: int, step: Step) -> None:
        with self._saving:
            self.output.sync()
            self._found += step.count
            position = self._position(0)
            self._ledger.save(number, step, position=position)
            self._saved = self._here = _Here(position, self._found, None)
            self._since = time.perf_counter()

    def _complain(self) -> None:
        """Raise what the last save raised."""
        if self._error is not None:
            raise self._error

    def _save_again_and_again(self) -> None:
        pause = EVERY_SECONDS
        while not self._ended.wait(pause):
            start = time.thread_time()
            try:
                self._save()
            except Exception as error:  # for the thread that writes, whatever it is
                self._error = error
                return
            pause = max(EVERY_SECONDS, WORTH * (time.thread_time() - start))

    def _save(self, *, finished: bool = False) -> None:
        """Save how far it is, if that is new."""
        with self._saving:
            here, now = self._here, time.perf_counter()
            if here is self._saved and not finished:
                return
            self.output.sync()
            self._ledger.move(
                here.position,
                count=here.found,
                seconds=now - self._since,
                done=here.share,
                finished=finished,
            )
            self._saved, self._since = here, now


@contextmanager
def journaled(
    asked: OutputOptions,
    inputs: Sequence[str],
    options: Mapping[str, Any] | None = None,
    portion: Portion | None = None,
) -> Iterator[Journal]:
    """Open the output of a command, and save its position if there is a checkpoint.

    Parameters
    ----------
    asked
        The output file, and the file of the checkpoint.
    inputs
        The boards, as the command was given them.
    options
        Facts on which the results depend besides the options of the command.
    portion
        All tasks of a search that is saved step by step.

    Raises
    ------
    InputError
        If the output cannot be resumed, or is not as it was left, if the checkpoint is that of
        another run, or if either cannot be written.
    """
    path, force, checkpoint = asked.output, asked.force, asked.checkpoint
    if checkpoint is None:
        with Output(path, force, inputs) as out:
            yield Journal(out)
        return
    if path is None or path == "-":
        raise InputError("--checkpoint needs -o FILE: what went to stdout cannot be taken back")
    if is_same_file(path, checkpoint):
        raise InputError(f"{path}: is the checkpoint, and cannot be the output file, too")
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        raise InputError(f"{path}: is no file, and --checkpoint needs one to go on with")
    identity = identity_of_command(inputs, options or {})
    from gpusudoku.runs.counting import PATIENCE_SECONDS  # only now: SQLite takes a moment to load
    from gpusudoku.runs.ledger import SqliteRunStore

    with SqliteRunStore(checkpoint) as ledger:
        if ledger.identity is None:
            refuse(path, force, inputs)
        ledger.begin(identity, setup_of_command(), portion)
        finished = ledger.finished
        with (
            patient_interrupts(PATIENCE_SECONDS),
            Output(path, force, inputs, _size_before(ledger, path)) as out,
            SavedJournal(out, ledger) as journal,
        ):
            if finished:
                note(f"{ledger.path}: finished before")
            yield journal


def _size_before(ledger: SqliteRunStore, path: str) -> int | None:
    """Return the bytes of the output file that are known to be right; None if it is to be made.

    Raises
    ------
    InputError
        If it is another file, or somebody else has written to it.
    """
    file, position = Path(path), ledger.position
    size = file.stat().st_size if file.is_file() else 0
    if _OUTPUT not in position.notes:  # nothing was saved, but the file may have been made
        return 0 if file.is_file() and not size else None
    if os.path.realpath(path) != (before := position.notes[_OUTPUT]):
        raise InputError(f"{ledger.path}: its output is {printable(before)}, not {printable(path)}")
    if ledger.finished and size > position.size:
        raise InputError(f"{path}: has more than was written, and nothing is left to do")
    return position.size


def refuse_output(asked: OutputOptions, inputs: Sequence[str]) -> None:
    """Complain at once of an output file or log that could not be written later.

    Raises
    ------
    InputError
        If it exists already, is an input or the log, or cannot be written; or if more is asked for
        than a checkpoint keeps.
    """
    if asked.checkpoint is not None:  # the file may have been begun
        asked.refuse_with("--checkpoint", {"--log": asked.log, "--stats": asked.stats})
        return
    refuse(asked.output, asked.force, inputs)
    if asked.output and asked.log and is_same_file(asked.output, asked.log):
        raise InputError(f"{asked.output}: is the log, and cannot be the output file, too")


def is_resumed(checkpoint: str | None) -> bool:
    """Tell whether a checkpoint is there already: then files of its command may be there, too."""
    if checkpoint is None or not Path(checkpoint).is_file():
        return False
    return Path(checkpoint).stat().st_size > 0
