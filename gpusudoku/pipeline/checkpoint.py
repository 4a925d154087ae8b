"""The option ``--checkpoint``: the position in the output of a command, saved in a run file.

A save first syncs the output to the disk, and then saves its size together with the number of
finished boards and solutions. However the process ends, and even if the machine loses power, the
output file therefore contains at least what was saved. A resumed command cuts the file to the saved
size, and skips the finished boards and solutions.

(The count of a single board has no such position: its result is written once, at the end.)
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
from gpusudoku.jobs.interrupts import held_interrupts, interrupt_grace
from gpusudoku.pipeline.identity import identity_of_command, setup_of_command
from gpusudoku.pipeline.messages import print_note, several
from gpusudoku.pipeline.output import Output, end_of_file, is_same_file, refuse
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions
from gpusudoku.runs.records import OUTPUT
from gpusudoku.runs.store import Position, RunStore
from gpusudoku.runs.tasks import SAVE_GRACE_SECONDS

if TYPE_CHECKING:
    from gpusudoku.pipeline.source import Source
    from gpusudoku.planning.plan import Portion, StepResult

MAX_SHARE = 0.99
"""The largest estimate of the finished share while the run is not finished."""


class OutputCheckpoint:
    """The position in the output of a command, saved in a store."""

    def __init__(self, output: Output, store: RunStore) -> None:
        self.output = output
        self.store = store
        position = store.position
        self.boards = position.boards
        """Boards that were finished before a resume."""
        self.solutions = position.solutions
        """Solutions of the next board that were written before a resume."""
        self.seconds = store.state.seconds
        """Seconds of work before a resume."""
        self.notes: dict[str, Any] = {**position.notes, OUTPUT: output.real_path}
        """Further state that a resumed command needs, as JSON; commands write it."""
        self.hint = store.hint
        """The end of the message of an interrupt: how to resume."""
        self._position = position
        """The current position, which is saved later."""
        self._count = store.state.count
        self._share = 0.0
        self._save_time = time.perf_counter()
        """The time of the last save."""
        self._pause = store.pause_after(0.0)
        """The least seconds between the last save and the next one."""

    def advance(
        self, *, boards: int = 0, solutions: int = 0, count: int = 0, share: float | None = None
    ) -> None:
        """Advance the position behind further finished boards, or solutions of the next board.

        ``count`` is added to the total of solutions. ``share`` is the finished share of all work,
        if it is known. The position is saved if the last save was some seconds ago.
        """
        # After a finished board, solutions are those of the following board.
        earlier_solutions = 0 if boards else self._position.solutions
        self._position = replace(
            self._position,
            boards=self._position.boards + boards,
            solutions=earlier_solutions + solutions,
            size=self.output.size,
            notes=dict(self.notes),
        )
        self._count += count
        self._share = min(share or 0.0, MAX_SHARE)
        # Syncing to the disk is slow: the pause grows with the duration of the last save.
        if time.perf_counter() - self._save_time > self._pause:
            self._save()

    def save_step(self, number: int, step: StepResult) -> None:
        """Save a step of a search together with the position behind its solutions."""
        # The step and its position are saved together. An interrupt before the last line of this
        # block would let `saving` save the older position again: a resumed run would cut the
        # solutions of this step from the output, and never write them again.
        with held_interrupts():
            position = self._synced(replace(self._position, size=self.output.size))
            self.store.save(number, step, position)
            self._position = position
        self._count = self.store.state.count
        self._save_time = time.perf_counter()

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Save the position at the beginning and at the end of a block, also after an error."""
        # The file is created before anything is saved: the first save identifies it.
        self.output.open()
        self.advance()
        self._save()
        try:
            yield
        except SaveError:
            raise
        except BaseException:
            # If this save fails, too, the first error is the one to report. The previous save
            # remains valid.
            with suppress(GpusudokuError):
                self._save()
            raise
        self.output.begin()  # writes the header, if there were no results
        self.advance()
        self._save(finished=True)

    def _save(self, *, finished: bool = False) -> None:
        """Save the position, unless it is saved already."""
        start = time.perf_counter()
        saved_position = self.store.position
        # The digest of the file's end is computed only now, so it is left out of the comparison.
        is_saved = replace(self._position, end=saved_position.end) == saved_position
        if is_saved and self.store.state.finished >= finished:
            return
        self.store.save_position(
            self._synced(self._position),
            count=self._count,
            seconds=start - self._save_time,
            done=self._share,
            finished=finished,
        )
        self._save_time = time.perf_counter()
        self._pause = self.store.pause_after(self._save_time - start)

    def _synced(self, position: Position) -> Position:
        """Sync the output to the disk; return the position with the digest of the bytes before it.

        This must come before the position is saved: a save must never be ahead of the output on the
        disk.
        """
        self.output.sync()
        return replace(position, end=self.output.end_of(position.size))


@contextmanager
def open_checkpoint(
    command: CommandFacts,
    settings: OutputOptions,
    source: Source,
    facts: Mapping[str, Any] | None = None,
    portion: Portion | None = None,
) -> Iterator[OutputCheckpoint]:
    """Open the output of a command, and save the position in it in a checkpoint.

    ``facts`` and ``portion`` are explained in ``Run.open``.

    Raises
    ------
    InputError
        If the output cannot be resumed or was changed since the last save, or if the checkpoint
        belongs to another run.
    """
    assert settings.checkpoint is not None
    path = settings.output
    force = settings.force
    inputs = source.files
    if path is None or path == "-":
        raise InputError(
            "--checkpoint needs -o FILE: stdout cannot be truncated when the run is resumed"
        )
    refuse_same(path, settings.checkpoint)
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        raise InputError(f"{path}: is not a regular file, as --checkpoint requires")
    identity = identity_of_command(command, source, settings, facts)
    with RunStore(settings.checkpoint) as store:
        if store.snapshot is None:  # a resumed run has its output file already
            refuse(path, force, inputs)
        store.check(identity)
        with (
            # After a signal the process may take this time for the last save.
            interrupt_grace(SAVE_GRACE_SECONDS),
            Output(path, force, inputs, _saved_size(store, path)) as out,
        ):
            store.begin(identity, setup_of_command(command, source), portion, Position())
            if store.state.finished:
                print_note(f"{store.path}: was already finished")
            elif store.snapshot is not None:
                boards = ""
                if not source.single:
                    boards = f"{several(store.position.boards, 'board')} done, "
                print_note(f"{store.path}: resumed; {boards}{store.position.size:,} bytes written")
            checkpoint = OutputCheckpoint(out, store)
            with checkpoint.saving():
                yield checkpoint


def _saved_size(store: RunStore, path: str) -> int | None:
    """Return the saved size of the output file; None if the file must be created.

    Raises
    ------
    InputError
        If it is another file, or another program has written to it.
    """
    file = Path(path)
    position = store.position
    size = file.stat().st_size if file.is_file() else 0
    if OUTPUT not in position.notes:  # nothing was saved, but an empty file may have been created
        return 0 if file.is_file() and not size else None
    saved_path = position.notes[OUTPUT]
    if os.path.realpath(path) != saved_path:
        raise InputError(
            f"{store.path}: its output is {printable(saved_path)}, not {printable(path)}"
        )
    if store.state.finished and size > position.size:
        raise InputError(f"{path}: has grown since the run was finished")
    # Bytes behind the saved size are normal: they were written after the last save. A file that is
    # shorter is refused by `Output`.
    if size and size >= position.size:
        with file.open("rb") as output_file:
            if end_of_file(output_file.fileno(), position.size) != position.end:
                raise InputError(f"{path}: is not the file that was written")
    return position.size


def refuse_same(path: str, checkpoint: str) -> None:
    """Raise an InputError if a file that a command writes is its checkpoint."""
    if is_same_file(path, checkpoint):
        raise InputError(f"{path}: is the checkpoint, and cannot be the output file, too")


def is_resumed(checkpoint: str | None) -> bool:
    """Tell whether a checkpoint exists already: then files of its command may exist, too."""
    if checkpoint is None or not Path(checkpoint).is_file():
        return False
    return Path(checkpoint).stat().st_size > 0
