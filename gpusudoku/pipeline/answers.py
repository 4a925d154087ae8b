"""A run of ``count`` or ``solve``: an answer for each board, a log, and the closing line."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.pipeline.messages import note, several
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
"""The note of the ``Tally`` of all answers."""


class AnswerRun(Run):
    """Writes an answer of each board to the output, and a record of each to the log.

    Log and tally have the boards whose lines are written whole, whatever interrupts.
    """

    _makes_empty_file = True
    _writer: Writer
    _verb: str
    _wanted: Callable[[Any], Any] | None = None
    _log: Log | None = None
    _records: Writer | None = None
    _tally: Tally | None = None
    _totals: Totals | None = None
    _is_begun = False
    """True once an answer is written: the next one is written behind it."""
    _lines_before = 0
    """Lines written before the last text."""

    @contextmanager
    def open_answers(
        self,
        writer: Writer,
        engine: Engine,
        verb: str,
        *,
        line: ProgressLine | None = None,
        wanted: Callable[[Any], Any] | None = None,
    ) -> Iterator[None]:
        """Open output and log.

        An interrupt reports so many boards ``verb``, such as counted. ``wanted`` is a test of
        counts, int64 or object (B), that selects the answers to write.
        """
        settings = self.settings
        self._writer = writer
        self._verb = verb
        self._wanted = wanted
        self._between = writer.between
        with (
            self.open(writer.header, line=line or ProgressLine()),
            open_log(settings.log, self.source.files) as self._log,
        ):
            self._is_begun = self.output.size > 0
            if self._log is not None:
                origin = self.source.origin
                self._records = answer_records("jsonl", settings, origin, single=self.single)
            if settings.exit_code or not self.single:
                before = 0.0 if self.checkpoint is None else self.checkpoint.seconds
                self._tally = Tally(self.notes.get(_TALLY), before)
            if settings.stats and not self.single:
                self._totals = Totals(engine)
            yield

    def write_answers(self, results: ResultBlock | BadBoard) -> None:
        """Write results, or the record of a bad board.

        An interrupt leaves whole lines, and in log and tally the boards that are written whole.
        """
        self.line.clear()
        if isinstance(results, BadBoard):
            self._write_bad_board(results)
            return
        keep = None if self._wanted is None else self._wanted(results.numbers)
        if results.is_undecided and (keep is not None or not self.single):
            note(f"{self.source.place(results.boards)}{verdict(results)}")
            keep = None if keep is None else np.zeros(len(results), bool)
        shown = results if keep is None else results.chosen(keep)
        if shown.lines is None:
            text = self._writer.text(shown)
            lines = line_ends(text)
        else:
            text = shown.lines
            lines = len(shown)
        logged = b"" if self._records is None else bytes(self._records.text(results))
        self.source.warn_conflicts(results.boards.chosen(results.numbers == 0))
        with held_interrupts():
            written = results
            try:
                self._put(text, lines)
            finally:  # after an error, too, log and tally have the boards that are written
                if self._lines_put < lines:
                    boards = self._boards_in(shown, lines)
                    if keep is not None:  # all before the first that should have been written
                        boards = int(np.append(np.flatnonzero(keep), len(keep))[boards])
                    written = results.part(0, boards)
                    logged = b"".join(logged.splitlines(keepends=True)[:boards])
                if self._log is not None:
                    self._log.write(logged)
                if self._tally is not None:
                    self._tally.add(written)
            if written is results:
                if self._tally is not None:
                    self.notes[_TALLY] = self._tally.notes
                self.done(boards=len(results), count=_sum(results.numbers))
            else:  # interrupted: a checkpoint resumes before these
                self.boards += len(written)
        if self._totals is not None:
            self._totals.add(len(results), results.stats, continued=results.continued)

    def _write_bad_board(self, bad: BadBoard) -> None:
        text = self._writer.bad(bad)
        logged = b"" if self._records is None else self._records.bad(bad)
        lines = line_ends(text)
        with held_interrupts():  # so that output, log and tally agree
            self._put(text, lines)
            if self._lines_put == lines:  # else a checkpoint resumes before it
                if self._log is not None:
                    self._log.write(logged)
                self._count_bad()

    def _put(self, text: bytes | memoryview, lines: int) -> None:
        """Write some lines together with the separator before them: a signal can lose neither."""
        between = b""
        if text and self._is_begun:
            between = self._between
        elif text:
            self.output.begin()
            self._is_begun = True
        self._lines_before = self.output.lines + line_ends(between)
        # A long text is not copied where nothing is before it.
        self.output.write(between + text if between else text, line_ends(between) + lines)

    @property
    def _lines_put(self) -> int:
        """The lines of the last text that were written."""
        return max(0, self.output.lines - self._lines_before)

    def _boards_in(self, shown: ResultBlock, lines: int) -> int:
        """Count the boards that are written whole, of a text of so many lines."""
        if lines == len(shown):
            return self._lines_put
        return bisect_right(
            range(1, len(shown) + 1),
            self._lines_put,
            key=lambda boards: line_ends(self._writer.text(shown.part(0, boards))),
        )

    def _interrupted(self, error: BaseException) -> Interrupted:
        if self.single and isinstance(error, Interrupted):
            return error
        boards = f"{several(self.boards, 'board')} {self._verb}"
        return Interrupted(f"interrupted: {boards}{self._hint}", self.boards)

    def _ending(self) -> Ending:
        assert self._tally is not None  # only a batch has parts with lines
        status = self.source.status or (self._tally.status if self.settings.exit_code else 0)
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
    if settings.checkpoint is not None:  # the file may have been begun
        refuse_together("--checkpoint", {"--log": log, "--stats": settings.stats})
        return
    refuse(output, settings.force, inputs)
    if output and log and is_same_file(output, log):
        raise InputError(f"{output}: is the log, and cannot be the output file, too")


def _sum(numbers: NDArray[Any]) -> int:
    """Add up numbers exactly, though NumPy's integers overflow."""
    low = (1 << 32) - 1
    bits = 32
    return (int((numbers >> bits).sum()) << bits) + int((numbers & low).sum())
