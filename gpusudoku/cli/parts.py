"""``--part I/N``: a part of what a command does, for a job array; ``merge`` joins all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku.board.batch import Batch, Origin, Places
from gpusudoku.board.board import Board
from gpusudoku.cli.messages import note
from gpusudoku.cli.options import OutputOptions
from gpusudoku.cli.output import Output, refuse
from gpusudoku.cli.saving import is_resumed
from gpusudoku.cli.source import Source
from gpusudoku.cli.summary import Ending
from gpusudoku.cli.usage import WhichPart
from gpusudoku.errors import InputError
from gpusudoku.jobs.job import part_of
from gpusudoku.runs.identity import Identity, identity_of_board
from gpusudoku.runs.parts import files, records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.runs.parts.records import LinesFile


class PartWriter:
    """A part of a command's work, and the record of its results.

    ``facts`` are all options that its results depend on. The record of a file of lines is written
    beside it; without ``lines`` the output is the record itself.
    """

    def __init__(
        self,
        part: WhichPart,
        command: str,
        source: Source,
        facts: Mapping[str, Any],
        asked: OutputOptions,
        *,
        lines: bool = True,
    ) -> None:
        self.part, self._total = part, 0
        self._tasks: tuple[range, ...] = ()
        self._command, self._source, self._facts = command, source, facts
        self._force = asked.force or is_resumed(asked.checkpoint)
        self._lines = asked.output if lines and not asked.to_stdout else None
        if self._lines is not None:
            refuse(str(files.record_path(self._lines)), self._force, ())

    def take(self, total: int, what: str) -> range:
        """Take the tasks of this part, of so many; ``what`` names them in a message."""
        tasks = part_of(total, *self.part)
        self._total, self._tasks = total, (tasks,) if tasks else ()
        if not tasks:
            number, parts = self.part
            note(f"part {number} of {parts} has nothing to do: there are {total} {what}")
        return tasks

    def take_tasks(self, tasks: tuple[range, ...], total: int) -> None:
        """Take the tasks of this part, of so many of a search."""
        self._tasks, self._total = tasks, total
        self._facts = {**self._facts, "order": "search"}

    def take_boards(self) -> None:
        """Restrict the source to the boards of this part, if there are several."""
        if self._source.single:
            return
        survey = self._source.survey
        if not survey.boards:
            raise InputError("no board can be read, so that there are no parts")
        boards = self.take(survey.boards, "boards")
        self._source.only(boards, to_the_end=self.part.number == self.part.parts)

    def record(self, found: NDArray[Any] | LinesFile, ending: Ending | None = None) -> str:
        """Make the record of shares or of a file of lines: a line of JSON.

        ``ending`` is how the part ends, if it has lines.
        """
        board = self._source.board
        facts = {**self._facts, "tasks": self._total, "parts": self.part.parts}
        boards = self._source.survey._asdict() if board is None else identity_of_board(board[0])
        identity = Identity(self._command, boards, facts)
        place = {} if board is None else place_facts(board)
        stats = {} if ending is None else asdict(ending)
        number, tasks = self.part.number, self._tasks
        return str(records.PartRecord(identity, number, tasks, found, stats, place))

    def record_lines(
        self, header: bytes = b"", between: bytes = b"", ending: Ending | None = None
    ) -> None:
        """Write the record of the file of lines beside it, once that is complete.

        ``ending`` is how the part ends, by default with the status of its source.
        """
        if self._lines is None or not Path(self._lines).is_file():
            return
        ending = ending or Ending(self._source.status, self._source.unreadable)
        text = self.record(files.lines_in(self._lines, header, between), ending)
        with Output(str(files.record_path(self._lines)), self._force, ()) as out:
            out.write(f"{text}\n".encode())


def part_of_answers(
    part: WhichPart,
    command: str,
    source: Source,
    asked: OutputOptions,
    facts: Mapping[str, Any],
) -> PartWriter:
    """Make the part of a batch that is answered, and restrict the source to it.

    ``facts`` are the options that the answers depend on, besides their form.
    """
    details = asked.stats and asked.form == "jsonl"
    facts = {**facts, "format": asked.form, "details": details, "keep_going": asked.errors}
    piece = PartWriter(part, command, source, facts, asked)
    piece.take_boards()
    return piece


def place_facts(board: Batch) -> dict[str, Any]:
    """Describe the place of the only board of a batch, and its other columns, as JSON."""
    assert board.places is not None  # whatever a command reads has a place
    origin = board.places.origin(0)
    return {
        "source": origin.name,
        "line": int(board.places.lines[0]),
        "columns": list(origin.columns),
        "beside": list(board.places.beside(0)),
    }


def placed(board: Board, facts: Mapping[str, Any]) -> Batch:
    """Make the batch of a board with the place that ``place_facts`` gave."""
    source, line, columns, beside = (
        facts.get(name) for name in ("source", "line", "columns", "beside")
    )
    texts = [source, *(columns or ()), *(beside or ())]
    if (
        not all(isinstance(each, list) for each in (columns, beside))
        or not all(isinstance(text, str) for text in texts)
        or len(columns) != len(beside)  # type: ignore[arg-type]
        or not isinstance(line, int)
        or not 0 <= line < 1 << 63
    ):
        raise InputError("a damaged record of a part: no place of a board")
    origin = Origin(str(source), tuple(columns))  # type: ignore[arg-type]
    places = Places.of(origin, [line], [tuple(beside)])  # type: ignore[arg-type]
    batch = Batch.of([board])
    return Batch(batch.geometry, batch.cells, batch.candidates, places)
