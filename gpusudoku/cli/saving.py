"""The option ``--checkpoint``: results in a file that can be taken up again where it was.

While a command writes, a thread saves every few seconds how far it is, in the file that
``--checkpoint`` names: first all that was written is made to last, then its size is saved together
with what it belongs to. So whatever ends the process, and even if the machine loses power, the
output file has at least what was saved. Who goes on cuts it to that size, and passes over what is
done.
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
from gpusudoku.cli.journal import Journal, Start
from gpusudoku.cli.messages import note
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
"""So much work is lost at most, if saving is quick."""
WORTH = 100
"""Saving takes no more than one part of so many of the time."""

_OUTPUT = "output"
"""The note of the output file: its name as nobody else has it."""


class _Here(NamedTuple):
    """How far the output is at some moment."""

    position: Position
    found: int
    """Solutions found, in all."""
    share: float | None
    """The share of the work that is done, None where nobody knows."""


class SavedJournal(Journal):
    """An output, and how far it is, saved again and again. A context manager.

    Parameters
    ----------
    output
        Where results go.
    ledger
        What keeps how far it is; its position is where to go on.
    """

    def __init__(self, output: Output, ledger: SqliteRunStore) -> None:
        super().__init__(output)
        before = ledger.position
        self.start = Start(before.boards, before.solutions)
        self.seconds, self.found = ledger.seconds, ledger.count
        self.notes = {**before.notes, _OUTPUT: output.real_path}
        self.hint = ledger.hint
        self._ledger = ledger
        self._boards, self._solutions = self.start
        self._here = self._saved = _Here(before, self.found, None)
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

    def advance(self, *, boards: int = 0, solutions: int = 0) -> None:
        """See ``Journal``."""
        self._complain()
        self._boards += boards
        self._solutions = solutions + (0 if boards else self._solutions)
        position = self._position(self._solutions)
        share = self.share()
        if share == 1:  # all is read, but not all that was read is done
            share = None
        self._here = _Here(position, self.found, share)

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
        """What was written, with so many solutions of the board that is begun."""
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
            self.found += step.count
            position = self._position(0)
            self._ledger.save(number, step, position=position)
            self._saved = self._here = _Here(position, self.found, None)
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
    checkpoint: str | None,
    output: tuple[str | None, bool],
    inputs: Sequence[str],
    options: Mapping[str, Any] | None = None,
    portion: Portion | None = None,
) -> Iterator[Journal]:
    """The output of a command, kept track of if that is asked.

    Parameters
    ----------
    checkpoint
        The file that tells how far it is; None if nobody asked.
    output
        The output file, None for stdout, and whether it may exist.
    inputs
        The boards, as the command was given them.
    options
        What the results depend on besides the options of the command.
    portion
        All tasks of a search that is saved step by step.

    Raises
    ------
    InputError
        If the output cannot be taken up again, or is not as it was left, if the checkpoint is that
        of another run, or if either cannot be written.
    """
    path, force = output
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
    """The bytes of the output file that are known to be right; None if it is to be made.

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
