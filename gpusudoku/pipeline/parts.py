"""``--part I/N``: one part of the work of a command, for a job array; ``merge`` joins all parts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku.errors import InputError
from gpusudoku.jobs.job import part_of
from gpusudoku.pipeline.checkpoint import is_resumed, refuse_same
from gpusudoku.pipeline.identity import facts_of_lines, place_facts
from gpusudoku.pipeline.messages import print_note
from gpusudoku.pipeline.output import Output, refuse
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions, PartNumber
from gpusudoku.pipeline.source import Source
from gpusudoku.pipeline.summary import Ending
from gpusudoku.runs.identity import Identity, identity_of_board
from gpusudoku.runs.records import LinesFile, PartRecord, record_path

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PartWriter:
    """Selects the work of one part of a command, and writes the record of its results.

    A part of a batch consists of whole boards. If the output is a file of lines, its record is
    written to a second file, and saved in the run file of ``--checkpoint``. Without ``lines``, the
    output is the record itself.
    """

    def __init__(
        self,
        command: CommandFacts,
        part: PartNumber,
        source: Source,
        settings: OutputOptions,
        *,
        lines: bool = True,
    ) -> None:
        self.part = part
        self._source = source
        self._settings = settings
        self._tasks = tuple[range, ...]()
        """The tasks of this part."""
        self._total = 0
        """The number of the tasks of all parts."""
        self._command = command.name
        self._facts = facts_of_lines(command, settings)
        self._lines_file = settings.output if lines and not settings.to_stdout else None
        """The file of lines that gets a record; None if there is none."""
        if self._lines_file is not None:
            record_file = str(record_path(self._lines_file))
            if settings.checkpoint is not None:
                refuse_same(record_file, settings.checkpoint)
            refuse(record_file, settings.force or is_resumed(settings.checkpoint), ())
        # A part of a batch consists of whole boards. Their number must be known before the first of
        # them is read.
        if not source.single:
            survey = source.survey
            if not survey.boards:
                raise InputError("no board can be read, so there are no parts")
            boards = self.select_tasks(survey.boards, "boards")
            source.select(boards, is_last_part=part.number == part.parts)

    def select_tasks(self, total: int, noun: str) -> range:
        """Return this part's tasks out of ``total``; ``noun`` names them in a message."""
        tasks = part_of(total, *self.part)
        self._total = total
        self._tasks = (tasks,) if tasks else ()
        if not tasks:
            number, parts = self.part
            print_note(f"part {number} of {parts} has nothing to do: there are {total} {noun}")
        return tasks

    def take_tasks(self, tasks: tuple[range, ...], total: int) -> None:
        """Set the tasks of this part, and the number of all tasks of a search."""
        self._tasks = tasks
        self._total = total
        # Parts by search and parts by number contain different solutions: they cannot be merged.
        self._facts["order"] = "search"

    def record(self, results: NDArray[Any] | LinesFile, ending: Ending | None = None) -> str:
        """Return the record of shares or of a file of lines: a line of JSON.

        ``ending`` is the end of the part, if it has lines.
        """
        board = self._source.board
        facts = {**self._facts, "tasks": self._total}
        boards = self._source.survey._asdict() if board is None else identity_of_board(board[0])
        identity = Identity(self._command, boards, facts)
        place = {} if board is None else place_facts(board)
        stats = {} if ending is None else asdict(ending)
        return str(PartRecord(identity, self.part.number, self._tasks, results, stats, place))

    def record_lines(self, ending: Ending, header: bytes, separator: bytes) -> None:
        """Write the record of the file of lines, which must be complete.

        The lines begin with the ``header``. ``separator`` comes between the answers of two parts
        when they are merged.
        """
        if self._lines_file is None or not Path(self._lines_file).is_file():
            return
        record = self.record(LinesFile.of(self._lines_file, header, separator), ending)
        path = record_path(self._lines_file)
        force = self._settings.force
        if self._settings.checkpoint is not None:
            from gpusudoku.runs.store import RunStore

            # The order of these steps matters. The record of an earlier run is removed first. Then
            # the record is saved in the run file, and only then written. A run that is killed from
            # here on therefore leaves no record file, or the beginning of its own one, which it may
            # overwrite when it is resumed.
            if force:
                path.unlink(missing_ok=True)
            file_text = path.read_text(errors="replace") if path.is_file() else None
            with RunStore(self._settings.checkpoint) as store:
                saved_record = store.snapshot.record if store.snapshot else None
                if saved_record is None:
                    store.save_facts({"record": record})
                else:
                    record = saved_record
                if file_text == f"{record}\n":
                    return
                is_own_file = f"{record}\n".startswith(file_text or "")
                force = force or (saved_record is not None and is_own_file)
        with Output(str(path), force, ()) as out:
            out.write(f"{record}\n".encode())
