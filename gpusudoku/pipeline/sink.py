"""Sinks: the way of a command's results to stdout or a file, to the log, and to the last lines.

A command is a loop, ``for block in results: sink.write(block)``. The sink writes whole lines, tells
the checkpoint how far it is, and says at an interrupt what was written. An ``AnswerSink`` takes
blocks of answers, one for each board; a ``LineSink`` takes text, of any number for each board.
"""

from __future__ import annotations

import secrets
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gpusudoku.errors import ClusterError, Interrupted
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.pipeline.checkpoint import OutputCheckpoint, open_output
from gpusudoku.pipeline.messages import note, several
from gpusudoku.pipeline.output import Log, line_ends, open_log
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions
from gpusudoku.pipeline.source import Source
from gpusudoku.pipeline.summary import Ending, Tally, Totals
from gpusudoku.pipeline.text_forms import AnswerRecords, AnswerWriter, verdict
from gpusudoku.results import BadBoard, ResultBlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.engines.engine import Engine
    from gpusudoku.pipeline.parts import PartWriter
    from gpusudoku.planning.plan import Portion

_UNANSWERED = "unanswered"
"""The note that there is a board without an answer."""
_BAD_BOARDS = "bad"
"""The note of how many bad boards are done."""
_SEED, _SEED_BITS = "seed", 128
"""The note of a seed that was not given, and its bits, as of ``Uniform``."""


class LineSink:
    """Writes whole lines, and notes how many boards and solutions are done with them."""

    def __init__(self, source: Source, checkpoint: OutputCheckpoint, line: ProgressLine) -> None:
        self._source, self.checkpoint, self.line = source, checkpoint, line
        self.output, self.start, self.notes = checkpoint.output, checkpoint.start, checkpoint.notes
        self.boards = self.start.boards
        """Boards that are done."""
        self.total: int | None = None
        """The number of solutions that a single board is to give, if it is known."""
        self.noun = "solutions"
        """What the line of progress calls them."""
        self._solutions = self.start.solutions
        self._untold: int | None = None
        """A seed that was not given, until it is told."""

    def seed(self, given: int | None) -> int:
        """Return the seed that is given, or else a new one, the same after a resume."""
        if given is None:
            self._untold = given = self.notes.setdefault(_SEED, secrets.randbits(_SEED_BITS))
        return given

    def tell_seed(self) -> None:
        """Say which seed is used, once, if it was not given."""
        if self._untold is not None:
            note(f"seed {self._untold}")
            self._untold = None

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines; ``lines`` is their number, if it is known."""
        self.line.clear()
        self.output.write(text, lines)

    def bad(self, text: bytes) -> None:
        """Write what stands for a bad board, and note that it is done."""
        with held_interrupts():
            self.write(text)
            self.notes[_BAD_BOARDS] = self.notes.get(_BAD_BOARDS, 0) + 1
            self.done()

    def done(self, *, boards: int = 0, solutions: int = 0, found: int = 0) -> None:
        """Note that what was written completes so many boards, or solutions of the next.

        ``found`` solutions count for the total.
        """
        source, self.boards = self._source, self.boards + boards
        self._solutions += solutions
        share = source.share_of(self.boards)
        if source.single:
            share = self._solutions / self.total if self.total else None
        self.notes[_UNANSWERED] = source.lacks_answers
        self.checkpoint.advance(boards=boards, solutions=solutions, found=found, share=share)
        if not source.single:
            self.line.boards(self.boards, share)
        elif share is not None:
            self.line.share(share, f"{self._solutions:,} {self.noun}")


@contextmanager
def open_sink(
    command: CommandFacts,
    source: Source,
    asked: OutputOptions,
    header: Callable[[], bytes] = bytes,
    *,
    facts: Mapping[str, Any] | None = None,
    portion: Portion | None = None,
    part: PartWriter | None = None,
    by_boards: bool = False,
) -> Iterator[LineSink]:
    """Open the output of a command, and end the command once all is written.

    ``header`` returns the text before all results; ``facts`` and ``portion`` are those of
    ``open_output``. With ``by_boards`` an interrupt tells the number of boards, not of lines.
    """
    with open_output(command, asked, source, facts, portion) as checkpoint:
        line = ProgressLine(listing=checkpoint.output.to_stdout)
        sink = LineSink(source, checkpoint, line)
        source.skip(sink.start.boards, checkpoint.notes.get(_BAD_BOARDS, 0))
        source.lacks_answers = bool(checkpoint.notes.get(_UNANSWERED))
        checkpoint.output.write_header(header)
        try:
            with line:
                yield sink
        except (KeyboardInterrupt, Interrupted):
            number = checkpoint.output.lines
            said = f": {number} lines written"
            if by_boards:
                said, number = "" if source.single else f": {sink.boards} boards done", sink.boards
            raise Interrupted(f"interrupted{said}{checkpoint.hint}", number) from None
        if part is None and asked.checkpoint is None:
            source.finish()  # a file is not made for want of any answer
    if part is not None:
        part.record_lines(header())
    source.finish()


class AnswerSink:
    """Writes answers of boards and records of bad boards, to the output and to the log."""

    def __init__(
        self,
        source: Source,
        engine: Engine,
        checkpoint: OutputCheckpoint,
        log: Log | None,
        writer: AnswerWriter,
        line: ProgressLine,
        wanted: Callable[[Any], Any] | None,
        log_details: bool,
    ) -> None:
        self._source, self._checkpoint, self._log = source, checkpoint, log
        self.notes = checkpoint.notes
        self._writer, self._line, self._wanted = writer, line, wanted
        self._records = AnswerRecords("jsonl", source.origin, details=log_details)
        self.tally = Tally(checkpoint.notes.get("tally"), checkpoint.seconds)
        self.totals = Totals(engine)
        self.begun = checkpoint.output.size > 0
        """True once something is written: the next text stands behind it."""
        self._before = 0
        """Lines written before the last text."""

    def write(self, found: ResultBlock | BadBoard) -> None:
        """Write results, or the record of a bad board.

        An interrupt leaves whole lines, and in log and tally the boards that are written whole.
        """
        self._line.clear()
        if isinstance(found, BadBoard):
            entry = found.error.entry
            assert entry is not None  # whatever a command reads has one
            text: bytes | memoryview = self._writer.bad(entry)
            logged = b"" if self._log is None else self._records.bad(entry)
            lines = line_ends(text)
            with held_interrupts():  # so that output, log and tally agree
                self._put(text, lines)
                if self._lines_put == lines:  # else a checkpoint resumes before it
                    self._log_lines(logged)
                    self.notes[_BAD_BOARDS] = self.notes.get(_BAD_BOARDS, 0) + 1
                    self._checkpoint.advance(share=self._source.share_of(self.tally.boards))
            return
        keep = None if self._wanted is None else self._wanted(found.numbers)
        if found.is_undecided and (keep is not None or not self._source.single):
            note(f"{self._source.place(found.boards)}{verdict(found)}")
            keep = None if keep is None else np.zeros(len(found), bool)
        shown = found if keep is None else found.chosen(keep)
        if shown.lines is None:
            text = self._writer.text(shown)
            lines = line_ends(text)
        else:
            text = shown.lines
            lines = len(shown)
        logged = b"" if self._log is None else self._records.text(found)
        self._source.warn_conflicts(found.boards.chosen(found.numbers == 0))
        whole = found
        with held_interrupts():
            try:
                self._put(text, lines)
            finally:  # after an error, too, log and tally have the boards that are written
                if self._lines_put < lines:
                    boards = self._boards_in(shown, lines)
                    if keep is not None:  # all before the first that should have been written
                        boards = int(np.append(np.flatnonzero(keep), len(keep))[boards])
                    whole = found.part(0, boards)
                    logged = b"".join(logged.splitlines(keepends=True)[:boards])
                self._log_lines(logged)
                self.tally.add(whole)
            if whole is found:  # else interrupted: a checkpoint resumes before these
                self.notes["tally"] = self.tally.notes
                total, share = _sum(found.numbers), self._source.share_of(self.tally.boards)
                self._checkpoint.advance(boards=len(found), found=total, share=share)
        self.totals.add(len(found), found.stats, continued=found.continued)
        if not self._source.single:
            self._line.boards(self.tally.boards, self._source.share_of(self.tally.boards))

    def _put(self, text: bytes | memoryview, lines: int) -> None:
        """Write some lines behind the header or a separator, at once: a signal can lose neither."""
        lead = b""
        if text:
            lead = self._writer.between if self.begun else self._writer.header()
            self.begun = True
        self._before = self._checkpoint.output.lines + line_ends(lead)
        # A long text is not copied where nothing stands before it.
        self._checkpoint.output.write(lead + text if lead else text, line_ends(lead) + lines)

    @property
    def _lines_put(self) -> int:
        """The lines of the last text that were written."""
        return max(0, self._checkpoint.output.lines - self._before)

    def _boards_in(self, shown: ResultBlock, lines: int) -> int:
        """Count the boards that are written whole, of a text of so many lines."""
        if lines == len(shown):
            return self._lines_put
        return bisect_right(
            range(1, len(shown) + 1),
            self._lines_put,
            key=lambda boards: line_ends(self._writer.text(shown.part(0, boards))),
        )

    def _log_lines(self, text: bytes) -> None:
        if self._log is not None:
            self._log.write(text)


@contextmanager
def open_answer_sink(
    command: CommandFacts,
    source: Source,
    engine: Engine,
    asked: OutputOptions,
    writer: AnswerWriter,
    done: str,
    *,
    line: ProgressLine | None = None,
    wanted: Callable[[Any], Any] | None = None,
    part: PartWriter | None = None,
) -> Iterator[AnswerSink]:
    """Open the output of ``count`` or ``solve``, and end the command once all is written.

    ``done`` is what the message of an interrupt says of boards, such as ``counted``. ``wanted`` is
    a test of counts, int64 or object (B), that selects the answers that are written.
    """
    line = ProgressLine() if line is None else line
    with (
        open_output(command, asked, source) as checkpoint,
        open_log(asked.log, source.files) as log,
    ):
        source.skip(checkpoint.start.boards, checkpoint.notes.get(_BAD_BOARDS, 0))
        details = source.single or asked.stats
        sink = AnswerSink(source, engine, checkpoint, log, writer, line, wanted, details)
        tally = sink.tally
        try:
            with line:
                yield sink
            if not sink.begun:
                checkpoint.output.write(writer.header())
        except (KeyboardInterrupt, Interrupted) as error:
            if source.single and isinstance(error, Interrupted):
                raise
            said = f"interrupted: {several(tally.boards, 'board')} {done}{checkpoint.hint}"
            raise Interrupted(said, tally.boards) from None
        except ClusterError as error:
            raise ClusterError(f"{error}{checkpoint.hint}") from None
    if part is not None:
        status = source.status or (tally.status if asked.exit_code else 0)
        ending = Ending(status, source.unreadable, tally.notes, tally.seconds)
        part.record_lines(writer.header(), writer.between, ending)
    if not source.single:
        if asked.stats:
            sink.totals.show()
        tally.show(source.unreadable)
    source.finish()
    if asked.exit_code:
        sys.exit(tally.status)


def _sum(numbers: NDArray[Any]) -> int:
    """Add up numbers exactly, though NumPy's integers overflow."""
    low, bits = (1 << 32) - 1, 32
    return (int((numbers >> bits).sum()) << bits) + int((numbers & low).sum())
