"""``--part I/N``: a part of what a command does, for a job array; ``merge`` joins all of them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku.errors import InputError
from gpusudoku.jobs.job import part_of
from gpusudoku.pipeline.checkpoint import is_resumed, refuse_same
from gpusudoku.pipeline.identity import facts_of_lines, place_facts
from gpusudoku.pipeline.messages import note
from gpusudoku.pipeline.output import Output, refuse
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions, WhichPart
from gpusudoku.pipeline.source import Source
from gpusudoku.pipeline.summary import Ending
from gpusudoku.runs.identity import Identity, identity_of_board
from gpusudoku.runs.records import LinesFile, PartRecord, record_path

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PartWriter:
    """A part of a command's work, and the record of its results; of a batch it has whole boards.

    The record of a file of lines is written beside it, and kept in the file of ``--checkpoint``;
    without ``lines`` the output is the record itself.
    """

    def __init__(
        self,
        command: CommandFacts,
        part: WhichPart,
        source: Source,
        settings: OutputOptions,
        *,
        lines: bool = True,
    ) -> None:
        self.part = part
        self._source = source
        self._settings = settings
        self._total, self._tasks = 0, tuple[range, ...]()
        self._command, self._facts = command.name, facts_of_lines(command, settings)
        self._lines = settings.output if lines and not settings.to_stdout else None
        if self._lines is not None:
            record = str(record_path(self._lines))
            if settings.checkpoint is not None:
                refuse_same(record, settings.checkpoint)
            refuse(record, settings.force or is_resumed(settings.checkpoint), ())
        if not source.single:  # the part has whole boards
            survey = source.survey
            if not survey.boards:
                raise InputError("no board can be read, so that there are no parts")
            boards = self.take(survey.boards, "boards")
            source.select(boards, is_last_part=part.number == part.parts)

    def take(self, total: int, what: str) -> range:
        """Take the tasks of this part, of so many; ``what`` names them in a message."""
        tasks = part_of(total, *self.part)
        self._total = total
        self._tasks = (tasks,) if tasks else ()
        if not tasks:
            number, parts = self.part
            note(f"part {number} of {parts} has nothing to do: there are {total} {what}")
        return tasks

    def take_tasks(self, tasks: tuple[range, ...], total: int) -> None:
        """Take the tasks of this part, of so many of a search."""
        self._tasks = tasks
        self._total = total
        self._facts["order"] = "search"

    def record(self, found: NDArray[Any] | LinesFile, ending: Ending | None = None) -> str:
        """Make the record of shares or of a file of lines: a line of JSON.

        ``ending`` is how the part ends, if it has lines.
        """
        board = self._source.board
        facts = {**self._facts, "tasks": self._total}
        boards = self._source.survey._asdict() if board is None else identity_of_board(board[0])
        identity = Identity(self._command, boards, facts)
        place = {} if board is None else place_facts(board)
        stats = {} if ending is None else asdict(ending)
        return str(PartRecord(identity, self.part.number, self._tasks, found, stats, place))

    def record_lines(self, ending: Ending, header: bytes, between: bytes) -> None:
        """Write the record of the file of lines, once that is complete.

        ``ending`` is how the part ends; the lines begin with the ``header``, and ``between`` the
        answers of two parts is this text.
        """
        if self._lines is None or not Path(self._lines).is_file():
            return
        text = self.record(LinesFile.of(self._lines, header, between), ending)
        path = record_path(self._lines)
        force = self._settings.force
        if self._settings.checkpoint is not None:
            from gpusudoku.runs.store import RunStore

            # A run that is killed from here on leaves no record, or the beginning of its own, which
            # it may overwrite when it is resumed.
            if force:
                path.unlink(missing_ok=True)
            written = path.read_text(errors="replace") if path.is_file() else None
            with RunStore(self._settings.checkpoint) as store:
                kept = store.snapshot.record if store.snapshot else None
                if kept is None:
                    store.keep({"record": text})
                else:
                    text = kept
                if written == f"{text}\n":
                    return
                force = force or (kept is not None and f"{text}\n".startswith(written or ""))
        with Output(str(path), force, ()) as out:
            out.write(f"{text}\n".encode())
