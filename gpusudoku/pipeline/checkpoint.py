"""The option ``--checkpoint``: the place in the output of a command, saved in the file of its run.

A save first syncs the output to the disk, and then saves its size together with the number of
boards and solutions that are done. So however the process ends, and even if the machine loses
power, the output file has at least what was saved. A resumed command cuts the file to that size,
and passes over what is done. (The answer of a count of one board is written once, at its end.)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku.errors import GpusudokuError, InputError, SaveError, printable
from gpusudoku.jobs.interrupts import held_interrupts, patient_interrupts
from gpusudoku.pipeline.identity import identity_of_command, setup_of_command
from gpusudoku.pipeline.messages import note, several
from gpusudoku.pipeline.output import Output, end_of_file, is_same_file, refuse
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions
from gpusudoku.runs.records import OUTPUT
from gpusudoku.runs.store import Position, RunStore
from gpusudoku.runs.tasks import PATIENCE_SECONDS

if TYPE_CHECKING:
    from gpusudoku.pipeline.source import Source
    from gpusudoku.planning.plan import Portion, StepResult

MAX_SHARE = 0.99
"""The largest estimate of what is done, before all is."""


class OutputCheckpoint:
    """The place in the output of a command, saved in a store.

    ``notes`` are further state that a resumed command needs, as JSON; commands write them.
    """

    def __init__(self, output: Output, store: RunStore) -> None:
        self.output = output
        self.store = store
        self._position = before = store.position
        self._count = store.state.count
        self._share = 0.0
        self.boards = before.boards
        self.solutions = before.solutions
        """Boards that were done before, and solutions of the next."""
        self.seconds = store.state.seconds
        """Seconds of work before."""
        self.notes: dict[str, Any] = {**before.notes, OUTPUT: output.real_path}
        self.hint = store.hint
        """The end of the message of an interrupt: how to resume."""
        self._saved_at, self._pause = time.perf_counter(), store.pause_after(0.0)

    def advance(
        self, *, boards: int = 0, solutions: int = 0, count: int = 0, share: float | None = None
    ) -> None:
        """Note that what was written completes so many more boards, or solutions of the next.

        ``count`` is added to the total of solutions; ``share`` is that of all work done, if known.
        It is saved if the last save was some seconds ago.
        """
        self._position = replace(
            self._position,
            boards=self._position.boards + boards,
            solutions=solutions + (0 if boards else self._position.solutions),
            size=self.output.size,
            notes=dict(self.notes),
        )
        self._count += count
        self._share = min(share or 0.0, MAX_SHARE)
        if time.perf_counter() - self._saved_at > self._pause:
            self._save()

    def save_step(self, number: int, step: StepResult) -> None:
        """Save a step of a search together with the place behind its solutions."""
        with held_interrupts():  # else an interrupt would save the place without the step
            place = self._synced(replace(self._position, size=self.output.size))
            self.store.save(number, step, place)
            self._position = place
        self._count, self._saved_at = self.store.state.count, time.perf_counter()

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Save the place at the beginning and at the end of a block, also after an error."""
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
        start = time.perf_counter()
        before = self.store.position
        is_saved = replace(self._position, end=before.end) == before
        if is_saved and self.store.state.finished >= finished:
            return
        self.store.move(
            self._synced(self._position),
            count=self._count,
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
def open_checkpoint(
    command: CommandFacts,
    settings: OutputOptions,
    source: Source,
    facts: Mapping[str, Any] | None = None,
    portion: Portion | None = None,
) -> Iterator[OutputCheckpoint]:
    """Open the output of a command, and save the place in it in a checkpoint.

    ``facts`` and ``portion`` are those of ``Run.open``. An InputError if the output cannot be
    resumed, or is not as it was left, or if the checkpoint is that of another run.
    """
    assert settings.checkpoint is not None
    path = settings.output
    force = settings.force
    inputs = source.files
    if path is None or path == "-":
        raise InputError("--checkpoint needs -o FILE: what went to stdout cannot be taken back")
    refuse_same(path, settings.checkpoint)
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        raise InputError(f"{path}: is no file, and --checkpoint needs one to go on with")
    identity = identity_of_command(command, source, settings, facts)
    with RunStore(settings.checkpoint) as store:
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
    file = Path(path)
    position = store.position
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


def refuse_same(path: str, checkpoint: str) -> None:
    """Raise an InputError if a file that a command writes is its checkpoint."""
    if is_same_file(path, checkpoint):
        raise InputError(f"{path}: is the checkpoint, and cannot be the output file, too")


def is_resumed(checkpoint: str | None) -> bool:
    """Tell whether a checkpoint is there already: then files of its command may be there, too."""
    if checkpoint is None or not Path(checkpoint).is_file():
        return False
    return Path(checkpoint).stat().st_size > 0
