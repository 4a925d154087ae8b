"""The option ``--checkpoint``: a command with its results in a file can be resumed.

While a command writes, a thread saves every few seconds its position, in the file that
``--checkpoint`` names: first it syncs the output to the disk, then it saves the size together with
the number of boards and solutions that are done. So however the process ends, and even if the
machine loses power, the output file has at least what was saved. A resumed command cuts the file to
that size, and passes over what is done. (A count of one board is saved by ``runs`` instead: its
answer is written at the end.)
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpusudoku.cli.messages import note
from gpusudoku.cli.options import OutputOptions
from gpusudoku.cli.output import Output, is_same_file, refuse
from gpusudoku.cli.resume import identity_of_command, setup_of_command
from gpusudoku.errors import GpusudokuError, InputError, printable
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.jobs.threads import start_thread

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Portion, StepResult
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.runs.kept import Position
    from gpusudoku.runs.ledger import SqliteRunStore

EVERY_SECONDS = 2.0
"""The most work that is lost, if saving is quick."""
SAVING_SHARE = 0.01
"""The share of the time that saving may take."""

_OUTPUT = "output"
"""The note of the output file: its real path."""


class Start(NamedTuple):
    """The position where a command begins or resumes."""

    boards: int = 0
    """Boards that are done."""
    solutions: int = 0
    """Solutions done of the next board."""


class Journal:
    """The output of a command, and the position in it: here nothing is saved.

    ``notes`` are further state that a resumed command needs, as JSON; commands write them.
    """

    def __init__(self, output: Output) -> None:
        self.output = output
        self.start, self.seconds = Start(), 0.0
        self.notes: dict[str, Any] = {}
        self.hint = ""
        """The end of the message of an interrupt, which says how to resume."""

    def advance(
        self, *, boards: int = 0, solutions: int = 0, found: int = 0, share: float | None = None
    ) -> None:
        """Note that what was written completes so many more boards, or solutions of the next.

        ``found`` solutions count for the total; ``share`` is that of all work done, if known. A
        WriteError or SaveError if the last save failed.
        """


class _Here(NamedTuple):
    """The state of the output when ``advance`` was called: text behind it may be cut."""

    position: Position
    found: int
    share: float | None


class SavedJournal(Journal):
    """An output whose position a thread saves again and again. A context manager.

    The thread saves what is done even while the next board takes days.
    """

    def __init__(self, output: Output, store: SqliteRunStore) -> None:
        super().__init__(output)
        before = store.position
        self.start, self.seconds = Start(before.boards, before.solutions), store.seconds
        self.notes, self.hint = {**before.notes, _OUTPUT: output.real_path}, store.hint
        self._store = store
        self._here = self._saved = _Here(before, store.count, None)
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if kind is None:
            self.output.begin()  # even if there is nothing but what stands before all results
            self.advance()
            self._save(finished=True)
        elif self._error is None:
            with suppress(GpusudokuError):  # there is an error, and the last save stands
                self._save()

    def advance(
        self, *, boards: int = 0, solutions: int = 0, found: int = 0, share: float | None = None
    ) -> None:
        """See ``Journal``."""
        if self._error is not None:
            raise self._error
        before, total, _ = self._here
        position = replace(
            before,
            boards=before.boards + boards,
            solutions=solutions + (0 if boards else before.solutions),
            size=self.output.size,
            notes=dict(self.notes),
        )
        # Once all is read, the share of what is done is unknown.
        self._here = _Here(position, total + found, None if share == 1 else share)

    def search(self, plan: SearchPlan, engine: Engine, write: Callable[[Any, Any], None]) -> None:
        """Search what is left in steps; ``write`` is given solutions, by any thread.

        After each step, what was found is saved together with what is left. Ctrl-C is an
        Interrupted once all is saved.
        """
        from gpusudoku.runs.local import work

        def save(number: int, step: StepResult) -> None:
            with self._saving:
                self.output.sync()
                position = replace(self._here.position, size=self.output.size)
                self._store.save(number, step, position=position)
                self._here = self._saved = _Here(position, self._here.found + step.count, None)
                self._since = time.perf_counter()

        work(plan, engine, self._store, on_solutions=write, save=save)
        self.advance(boards=1)

    def _save_again_and_again(self) -> None:
        pause = EVERY_SECONDS
        while not self._ended.wait(pause):
            start = time.thread_time()
            try:
                self._save()
            except Exception as error:  # for the thread that writes
                self._error = error
                return
            pause = max(EVERY_SECONDS, (time.thread_time() - start) / SAVING_SHARE)

    def _save(self, *, finished: bool = False) -> None:
        """Save the position, if it is new, once all that was written before it is on the disk."""
        with self._saving:
            here, now = self._here, time.perf_counter()
            if here is self._saved and not finished:
                return
            self.output.sync()
            seconds = now - self._since
            self._store.move(
                here.position, count=here.found, seconds=seconds, done=here.share, finished=finished
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

    ``options`` are facts on which the results depend besides the options of the command,
    ``portion`` is all tasks of a search that is saved step by step. An InputError if the output
    cannot be resumed, or is not as it was left, or if the checkpoint is that of another run.
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
    from gpusudoku.runs.counting import PATIENCE_SECONDS  # lazily: SQLite takes a moment to load
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

    An InputError if it is another file, or another program has written to it.
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
    """Raise an InputError at once for an output file or log that could not be written later."""
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
