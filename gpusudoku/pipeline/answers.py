"""Runs of ``count`` and ``solve``: an answer for each board, a log, and the closing line."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.pipeline.messages import print_note, several
from gpusudoku.pipeline.output import Log, is_same_file, line_ends, open_log, refuse
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import OutputOptions, refuse_together
from gpusudoku.pipeline.summary import Ending, Tally, Totals
from gpusudoku.pipeline.text_forms import Writer, answer_records, verdict
from gpusudoku.results import BadBoard, ResultBlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.engines.engine import Engine

_TALLY = "tally"
"""The key of the counts of a ``Tally`` in ``Run.notes``."""


class AnswerRun(Run):
    """Writes an answer for each board to the output, and a record of each board to the log.

    Output, log and tally agree after an interrupt or an error: log and tally contain the boards
    whose answers are completely written, and no others.
    """

    _makes_empty_file = True
    _writer: Writer
    _participle: str
    _selects: Callable[[Any], Any] | None = None
    _log: Log | None = None
    _log_records: Writer | None = None
    _tally: Tally | None = None
    _totals: Totals | None = None
    _has_answers = False
    """True once an answer is written: a separator must come before the next one."""
    _lines_before = 0
    """Lines of the output before the last text."""

    @contextmanager
    def open_answers(
        self,
        writer: Writer,
        engine: Engine,
        participle: str,
        *,
        line: ProgressLine | None = None,
        selects: Callable[[Any], Any] | None = None,
    ) -> Iterator[None]:
        """Open the output and the log.

        Parameters
        ----------
        participle
            The word in the message of an interrupt: ``10 boards counted``.
        selects
            A function that selects the answers to write: it takes counts, int64 or object (B), and
            returns a mask, bool (B). None selects all.
        """
        settings = self.settings
        self._writer = writer
        self._participle = participle
        self._selects = selects
        self._separator = writer.separator
        with (
            self.open(writer.header, line=line or ProgressLine()),
            open_log(settings.log, self.source.files) as self._log,
        ):
            self._has_answers = self.output.size > 0
            if self._log is not None:
                input_source = self.source.input_source
                self._log_records = answer_records(
                    "jsonl", settings, input_source, single=self.single
                )
            if settings.exit_code or not self.single:
                seconds = 0.0 if self.checkpoint is None else self.checkpoint.seconds
                self._tally = Tally(self.notes.get(_TALLY), seconds)
            if settings.stats and not self.single:
                self._totals = Totals(engine)
            yield

    def write_answers(self, results: ResultBlock | BadBoard) -> None:
        """Write results, or the record of a bad board.

        An interrupt leaves whole lines. Log and tally then contain the boards whose answers are
        completely written.
        """
        self.line.clear()
        if isinstance(results, BadBoard):
            self._write_bad_board(results)
            return

        selected = None if self._selects is None else self._selects(results.numbers)
        if results.is_undecided and (selected is not None or not self.single):
            # A message names each board for which the time limit ended the search.
            print_note(f"{self.source.place(results.boards)}{verdict(results)}")
            if selected is not None:
                selected = np.zeros(len(results), bool)
        answers = results if selected is None else results.select(selected)
        if answers.lines is None:
            text = self._writer.text(answers)
            lines = line_ends(text)
        else:  # the threads that counted have made the text, too
            text = answers.lines
            lines = len(answers)
        log_text = b""
        if self._log_records is not None:
            log_text = bytes(self._log_records.text(results))
        self.source.warn_conflicts(results.boards.select(results.numbers == 0))

        # No signal may come between the output, the log, the tally and the checkpoint.
        with held_interrupts():
            finished = results
            try:
                self._write_text(text, lines)
            finally:  # log and tally receive the written boards after an error, too
                if self._new_lines < lines:
                    finished = self._finished_part(results, answers, selected, lines)
                    records = log_text.splitlines(keepends=True)
                    log_text = b"".join(records[: len(finished)])
                if self._log is not None:
                    self._log.write(log_text)
                if self._tally is not None:
                    self._tally.add(finished)
            if finished is results:
                if self._tally is not None:
                    self.notes[_TALLY] = self._tally.notes
                self.add_finished(boards=len(results), count=_sum(results.numbers))
            else:
                # The text was interrupted. The checkpoint does not advance, so that a resumed run
                # cuts the output before this text and writes all of it again.
                self.boards += len(finished)
        if self._totals is not None:
            self._totals.add(len(results), results.stats, continued=results.continued)

    def _write_bad_board(self, board: BadBoard) -> None:
        text = self._writer.bad(board)
        log_text = b"" if self._log_records is None else self._log_records.bad(board)
        lines = line_ends(text)
        with held_interrupts():  # so that output, log and tally agree
            self._write_text(text, lines)
            if self._new_lines == lines:  # else a resumed run writes this board again
                if self._log is not None:
                    self._log.write(log_text)
                self._count_bad()

    def _write_text(self, text: bytes | memoryview, lines: int) -> None:
        """Write some lines together with the separator before them.

        One write for both ensures that a signal leaves no separator without the text behind it.
        """
        separator = b""
        if text and self._has_answers:
            separator = self._separator
        elif text:
            self.output.begin()
            self._has_answers = True
        separator_lines = line_ends(separator)
        self._lines_before = self.output.lines + separator_lines
        if separator:
            text = separator + text
        self.output.write(text, separator_lines + lines)

    @property
    def _new_lines(self) -> int:
        """The lines of the last text that were written."""
        return max(0, self.output.lines - self._lines_before)

    def _finished_part(
        self,
        results: ResultBlock,
        answers: ResultBlock,
        selected: NDArray[np.bool_] | None,
        lines: int,
    ) -> ResultBlock:
        """Return the first results, up to the first answer that is not completely written.

        ``answers`` are the ``selected`` results; their text has this number of ``lines``.
        """
        answer_count = self._count_written(answers, lines)
        if selected is None:
            return results.part(0, answer_count)
        # Boards without an answer count as finished if they come before the first missing answer.
        # `len(results)` stands for the end, if no answer is missing.
        answer_indices = np.append(np.flatnonzero(selected), len(results))
        return results.part(0, int(answer_indices[answer_count]))

    def _count_written(self, answers: ResultBlock, lines: int) -> int:
        """Count the answers that are completely written; their text has ``lines`` lines."""
        if lines == len(answers):
            return self._new_lines
        # Answers of several lines: search for the largest number of answers that fit in.
        return bisect_right(
            range(1, len(answers) + 1),
            self._new_lines,
            key=lambda number: line_ends(self._writer.text(answers.part(0, number))),
        )

    def _interrupted(self, error: BaseException) -> Interrupted:
        if self.single and isinstance(error, Interrupted):
            return error
        boards = f"{several(self.boards, 'board')} {self._participle}"
        return Interrupted(f"interrupted: {boards}{self._hint}", self.boards)

    def _ending(self) -> Ending:
        assert self._tally is not None  # only a batch has parts with lines
        status = self.source.status
        if not status and self.settings.exit_code:
            status = self._tally.status
        unreadable = self.source.unreadable
        return Ending(status, unreadable, self._tally.notes, self._tally.seconds)

    def _finish(self) -> None:
        if self._totals is not None:
            self._totals.show()
        if self._tally is not None and not self.single:
            self._tally.show(self.source.unreadable)
        self.source.finish()
        if self._tally is not None and self.settings.exit_code:
            sys.exit(self._tally.status)


def refuse_output(settings: OutputOptions, inputs: tuple[str, ...]) -> None:
    """Raise an InputError at once for an output file or log that could not be written later."""
    output = settings.output
    log = settings.log
    if settings.checkpoint is not None:  # the output file may exist already, from an earlier run
        refuse_together("--checkpoint", {"--log": log, "--stats": settings.stats})
        return
    refuse(output, settings.force, inputs)
    if output and log and is_same_file(output, log):
        raise InputError(f"{output}: is the log, and cannot be the output file, too")


def _sum(numbers: NDArray[Any]) -> int:
    """Add up numbers, int64 or object (B), exactly.

    The sum may exceed 64 bits. The sums of the upper and lower halves of int64 numbers do not, as
    a block has fewer than 2**31 boards.
    """
    bits = 32
    mask = (1 << bits) - 1
    return (int((numbers >> bits).sum()) << bits) + int((numbers & mask).sum())
