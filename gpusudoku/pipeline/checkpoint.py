"""The option ``--checkpoint``: the place in the output of a command, saved in the file of its run.

A save first syncs the output to the disk, and then saves its size together with the number of
boards and solutions that are done. So however the process ends, and even if the machine loses
power, the output file has at least what was saved. A resumed command cuts the file to that size,
and passes over what is done. (The answer of a count of one board is written once, at its end.)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpusudoku.errors import GpusudokuError, InputError, SaveError, printable
from gpusudoku.jobs.interrupts import held_interrupts, patient_interrupts
from gpusudoku.pipeline.identity import identity_of_command, setup_of_command
from gpusudoku.pipeline.messages import note, several
from gpusudoku.pipeline.output import Output, end_of_file, is_same_file, refuse
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.pipeline.source import Source
    from gpusudoku.planning.plan import Portion
    from gpusudoku.planning.search import SearchPlan
    from gpusudoku.results import SearchStats
    from gpusudoku.runs.store import Position, RunStore


MOST_SHARE = 0.99
"""The largest estimate of what is done, before all is."""


class Start(NamedTuple):
    """The place where a command begins or resumes."""

    boards: int = 0
    """Boards that are done."""
    solutions: int = 0
    """Solutions done of the next board."""


class OutputCheckpoint:
    """The output of a command, and the place in it, saved in a store if there is one.

    ``notes`` are further state that a resumed command needs, as JSON; commands write them.
    """

    def __init__(self, output: Output, store: RunStore | None = None) -> None:
        self.output, self.store = output, store
        self.start, self.seconds, self.hint = Start(), 0.0, ""
        """Seconds of work before, and the end of the message of an interrupt: how to resume."""
        self.notes: dict[str, Any] = {}
        if store is not None:
            from gpusudoku.runs.records import OUTPUT

            self._position = before = store.position
            self._found, self._share = store.state.count, 0.0
            self.start, self.seconds = Start(before.boards, before.solutions), store.state.seconds
            self.notes, self.hint = {**before.notes, OUTPUT: output.real_path}, store.hint
            self._saved_at, self._pause = time.perf_counter(), store.pause_after(0.0)

    def advance(
        self, *, boards: int = 0, solutions: int = 0, found: int = 0, share: float | None = None
    ) -> None:
        """Note that what was written completes so many more boards, or solutions of the next.

        ``found`` solutions count for the total; ``share`` is that of all work done, if known. It
        is saved if the last save was some seconds ago.
        """
        if self.store is None:
            return
        self._position = replace(
            self._position,
            boards=self._position.boards + boards,
            solutions=solutions + (0 if boards else self._position.solutions),
            size=self.output.size,
            notes=dict(self.notes),
        )
        self._found += found
        self._share = min(share or 0.0, MOST_SHARE)
        if time.perf_counter() - self._saved_at > self._pause:
            self._save()

    def search(
        self,
        plan: SearchPlan,
        portion: Portion,
        engine: Engine,
        write: Callable[[Any, Any], None],
    ) -> SearchStats:
        """Search what is left of a portion in steps; any thread calls ``write`` with solutions.

        After each step, what was found is saved together with what is left. Ctrl-C is an
        Interrupted once all is saved.
        """
        from gpusudoku.runs.counting import steps
        from gpusudoku.runs.identity import Identity
        from gpusudoku.runs.store import RunStore

        if (store := self.store) is None:
            store = RunStore()
            store.begin(Identity("", {}, {}), {}, portion)
        for number, step in steps(plan, engine, store, write):
            if self.store is None:
                store.save(number, step)
                continue
            with held_interrupts():  # else an interrupt would save the place without the step
                place = self._synced(replace(self._position, size=self.output.size))
                store.save(number, step, place)
                self._position = place
            self._found, self._saved_at = store.state.count, time.perf_counter()
        self.advance(boards=1 - self.start.boards)
        return plan.stats(store.state.tally, store.state.seconds)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Save the place at the beginning and at the end of a block, also after an error."""
        if self.store is None:
            yield
            return
        self.output.open()
        self.advance()
        self._save()
        try:
            yield
        except SaveError:
            raise
        except BaseException:
            with suppress(GpusudokuError):  # there is an error, and the last save stands
                self._save()
            raise
        self.output.begin()  # even if there is nothing but what stands before all results
        self.advance()
        self._save(finished=True)

    def _save(self, *, finished: bool = False) -> None:
        """Save the place, once all that was written before it is on the disk."""
        assert self.store is not None
        start, before = time.perf_counter(), self.store.position
        is_saved = replace(self._position, end=before.end) == before
        if is_saved and self.store.state.finished >= finished:
            return
        self.store.move(
            self._synced(self._position),
            count=self._found,
            seconds=start - self._saved_at,
            done=self._share,
            finished=finished,
        )
        self._saved_at = time.perf_counter()
        self._pause = self.store.pause_after(self._saved_at - start)

    def _synced(self, place: Position) -> Position:
        """Have the output on the disk up to a place in it, and return that."""
        self.output.sync()
        return replace(place, end=self.output.end_of(place.size))


@contextmanager
def open_output(
    command: CommandFacts,
    asked: OutputOptions,
    source: Source,
    options: Mapping[str, Any] | None = None,
    portion: Portion | None = None,
) -> Iterator[OutputCheckpoint]:
    """Open the output of a command, and save the place in it if there is a checkpoint.

    ``options`` are facts on which the results depend besides the options of the command,
    ``portion`` is all tasks of a search that is saved step by step. An InputError if the output
    cannot be resumed, or is not as it was left, or if the checkpoint is that of another run.
    """
    path, force, inputs = asked.output, asked.force, source.files
    if asked.checkpoint is None:
        with Output(path, force, inputs) as out:
            yield OutputCheckpoint(out)
        return
    if path is None or path == "-":
        raise InputError("--checkpoint needs -o FILE: what went to stdout cannot be taken back")
    refuse_same(path, asked.checkpoint)
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        raise InputError(f"{path}: is no file, and --checkpoint needs one to go on with")
    identity = identity_of_command(command, source, asked, options)
    from gpusudoku.runs.counting import PATIENCE_SECONDS  # lazily: SQLite takes a moment to load
    from gpusudoku.runs.store import Position, RunStore

    with RunStore(asked.checkpoint) as store:
        if store.snapshot is None:
            refuse(path, force, inputs)
        store.check(identity)
        with (
            patient_interrupts(PATIENCE_SECONDS),
            Output(path, force, inputs, _size_before(store, path)) as out,
        ):
            store.begin(identity, setup_of_command(command, source), portion, Position())
            if store.state.finished:
                note(f"{store.path}: finished before")
            elif store.snapshot is not None:
                boards = (
                    "" if source.single else f"{several(store.position.boards, 'board')} done, "
                )
                note(f"{store.path}: resumed; {boards}{store.position.size:,} bytes written")
            checkpoint = OutputCheckpoint(out, store)
            with checkpoint.saving():
                yield checkpoint


def _size_before(store: RunStore, path: str) -> int | None:
    """Return the bytes of the output file that are known to be right; None if it is to be made.

    An InputError if it is another file, or another program has written to it.
    """
    from gpusudoku.runs.records import OUTPUT

    file, position = Path(path), store.position
    size = file.stat().st_size if file.is_file() else 0
    if OUTPUT not in position.notes:  # nothing was saved, but the file may have been made
        return 0 if file.is_file() and not size else None
    if os.path.realpath(path) != (before := position.notes[OUTPUT]):
        raise InputError(f"{store.path}: its output is {printable(before)}, not {printable(path)}")
    if store.state.finished and size > position.size:
        raise InputError(f"{path}: has more than was written, and nothing is left to do")
    if size and size >= position.size:
        with file.open("rb") as found:
            if end_of_file(found.fileno(), position.size) != position.end:
                raise InputError(f"{path}: is not the file that was written")
    return position.size


def refuse_output(asked: OutputOptions, inputs: tuple[str, ...]) -> None:
    """Raise an InputError at once for an output file or log that could not be written later."""
    if asked.checkpoint is not None:  # the file may have been begun
        asked.refuse_with("--checkpoint", {"--log": asked.log, "--stats": asked.stats})
        return
    refuse(asked.output, asked.force, inputs)
    if asked.output and asked.log and is_same_file(asked.output, asked.log):
        raise InputError(f"{asked.output}: is the log, and cannot be the output file, too")


def refuse_same(path: str, checkpoint: str) -> None:
    """Raise an InputError if a file that a command writes is its checkpoint."""
    if is_same_file(path, checkpoint):
        raise InputError(f"{path}: is the checkpoint, and cannot be the output file, too")


def is_resumed(checkpoint: str | None) -> bool:
    """Tell whether a checkpoint is there already: then files of its command may be there, too."""
    if checkpoint is None or not Path(checkpoint).is_file():
        return False
    return Path(checkpoint).stat().st_size > 0
