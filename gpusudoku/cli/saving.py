"""The option ``--checkpoint``: a command with its results in a file can be resumed.

While a command writes, it saves every few seconds its position, in the file that ``--checkpoint``
names: first it syncs the output to the disk, then it saves the size together with the number of
boards and solutions that are done. So however the process ends, and even if the
machine loses power, the output file has at least what was saved. A resumed command cuts the file to
that size, and passes over what is done.
"""

from __future__ import annotations

import os
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

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Portion, StepResult
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
    """The output of a command and the position in it, saved every few seconds if there is a store.

    ``notes`` are further state that a resumed command needs, as JSON; commands write them.
    """

    def __init__(self, output: Output, store: SqliteRunStore | None = None) -> None:
        self.output, self._store = output, store
        self.start, self.seconds, self._found = Start(), 0.0, 0
        self.notes: dict[str, Any] = {}
        self.hint = ""
        """The end of the message of an interrupt, which says how to resume."""
        if store is not None:
            before = store.position
            self.start = Start(before.boards, before.solutions)
            self.seconds, self._found, self.hint = store.seconds, store.count, store.hint
            self.notes = {**before.notes, _OUTPUT: output.real_path}
        self._boards, self._solutions = self.start
        self._position: Position | None = None
        """The end of what was written when ``advance`` was called: text behind it may be cut."""
        self._share: float | None = None
        self._since, self._pause = time.perf_counter(), 0.0

    def advance(
        self, *, boards: int = 0, solutions: int = 0, found: int = 0, share: float | None = None
    ) -> None:
        """Note that what was written completes so many more boards, or solutions of the next.

        ``found`` solutions count for the total; ``share`` is that of all work done, if known. A
        WriteError or SaveError if the position is to be saved, and cannot be.
        """
        self._boards += boards
        self._solutions = solutions + (0 if boards else self._solutions)
        self._found += found
        self._share = None if share == 1 else share  # if all is read, not all of that is done
        if self._store is None:
            return
        self._position = self._position_now(self._solutions)
        if time.perf_counter() - self._since >= self._pause:
            start = time.thread_time()
            self.save()
            self._pause = max(EVERY_SECONDS, WORTH * (time.thread_time() - start))

    def save(self, *, finished: bool = False) -> None:
        """Save the position, once all that was written before it is on the disk."""
        assert self._store is not None
        assert self._position is not None
        self.output.sync()
        seconds, self._since = time.perf_counter() - self._since, time.perf_counter()
        self._store.move(
            self._position,
            count=self._found,
            seconds=seconds,
            done=self._share,
            finished=finished,
        )

    def search(self, plan: SearchPlan, engine: Engine, write: Callable[[Any, Any], None]) -> None:
        """Search what is left in steps; ``write`` is given solutions, by any thread.

        After each step, what was found is saved together with what is left. Ctrl-C is an
        Interrupted once all is saved.
        """
        from gpusudoku.runs.local import work

        store = self._store
        assert store is not None  # else there would be no steps

        def save(number: int, step: StepResult) -> None:
            self.output.sync()
            self._found += step.count
            self._position = self._position_now(0)
            store.save(number, step, position=self._position)
            self._since = time.perf_counter()

        work(plan, engine, store, on_solutions=write, save=save)
        self.advance(boards=1)

    def _position_now(self, solutions: int) -> Position:
        """Make the position after all that is written, with so many solutions of the next board."""
        assert self._store is not None
        return replace(
            self._store.position,
            boards=self._boards,
            solutions=solutions,
            size=self.output.size,
            notes=dict(self.notes),
        )


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
        ):
            journal = Journal(out, ledger)
            out.open()
            journal.advance()
            if finished:
                note(f"{ledger.path}: finished before")
            try:
                yield journal
            except BaseException:
                with suppress(GpusudokuError):  # there is an error, and the last save stands
                    journal.save()
                raise
            out.begin()  # even if there is nothing but what stands before all results
            journal.advance()
            journal.save(finished=True)


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
