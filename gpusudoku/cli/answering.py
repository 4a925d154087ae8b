"""What ``count`` and ``solve`` share: how answers are taken to where they go."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.cli.asked import Asked
from gpusudoku.cli.journal import Journal
from gpusudoku.cli.lines import line_ends
from gpusudoku.cli.log import Log, open_log
from gpusudoku.cli.objects import JsonLines
from gpusudoku.cli.output import Output
from gpusudoku.cli.parts import Parted
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.records import Answers, Writer
from gpusudoku.cli.report import Totals
from gpusudoku.cli.saving import journaled
from gpusudoku.cli.source import Source
from gpusudoku.cli.summary import Ending, Tally
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.interrupts import held_interrupts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine


_BAD = "bad"
"""The note of how many bad boards are written."""


@dataclass(frozen=True)
class Prepared:
    """Answers, and all that is to be written of them."""

    answers: Answers
    keep: NDArray[np.bool_] | None
    """bool (B): which of them are written; None for all."""
    text: bytes
    """Whole lines for stdout, or for the file in its place."""
    log: bytes
    """A line for each of the answers, if there is a log."""


class Delivery:
    """Takes answers to stdout or a file, to the log, and into the closing lines on stderr.

    ``line`` shows progress, and ``alone`` tells whether each board is to be worked on and
    measured by itself.

    Parameters
    ----------
    asked, source, engine
        How answers are to be given, to which boards, and what finds them.
    plain
        Writes the form of the command alone.
    wanted
        A test of counts, int64 or object (B): which answers are written.
    parted
        The part of a batch that they are, if they are one.
    """

    def __init__(
        self,
        asked: Asked,
        source: Source,
        engine: Engine,
        plain: Writer,
        wanted: Callable[[Any], Any] | None = None,
        parted: Parted | None = None,
    ) -> None:
        self._asked, self._source, self._engine = asked, source, engine
        if asked.errors and wanted is None:  # a bad board has no count that is wanted
            source.bad = deque()
        self._parted = parted
        details = source.single or asked.stats
        self.alone = source.single or (details and (asked.form == "jsonl" or asked.log is not None))
        self.writer = asked.writer(plain, details)
        self._wanted = wanted
        self._log = JsonLines(details)
        self._begun = False
        """Whether anything is written: what comes next stands behind it."""
        self._bad = 0
        """How many bad boards had their turn."""
        self._journal: Journal | None = None
        self.line = ProgressLine()

    def watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """The boards that are to be answered, of all that are read; while answers are taken."""
        watched = self.writer.watched(batches)
        return watched if self._journal is None else self._journal.rest(watched)

    def prepare(self, answers: Answers) -> Prepared:
        """Make of answers what is to be written; any thread may do that."""
        keep = None if self._wanted is None else self._wanted(answers.results.numbers)
        text = self.writer.text(answers if keep is None else answers.chosen(keep))
        log = b"" if self._asked.log is None else self._log.text(answers)
        return Prepared(answers, keep, text, log)

    def deliver(
        self, found: Generator[Prepared, None, None], inputs: Sequence[str], done: str
    ) -> None:
        """Take answers to where they go, and exit with their status if it is not 0.

        Parameters
        ----------
        found
            The answers, with all boards in the order of the input.
        inputs
            The files that are read.
        done
            What becomes of a board here, for the message of an interrupt: ``counted``.
        """
        source, totals, asked = self._source, Totals(self._engine), self._asked
        kept = journaled(asked.checkpoint, (asked.output, asked.force), inputs)
        with kept as journal, open_log(asked.log, inputs) as log:
            out, self._journal, self._begun = journal.output, journal, journal.output.size > 0
            journal.share = lambda: source.share
            tally = Tally(journal.notes.get("tally"), journal.seconds)
            try:
                with self.line, closing(found):
                    for prepared in found:
                        results = prepared.answers.results
                        self.line.clear()
                        none = results.boards.chosen(results.numbers == 0)
                        source.warn_conflicts(none)
                        for part in self._parts(prepared, tally.boards):
                            self._give_bad(journal, log, tally.boards)
                            with held_interrupts():  # so that output, log and tally agree
                                self._give(part, out, log, tally)
                                journal.notes["tally"] = tally.notes
                                journal.found += _sum(part.answers.results.numbers)
                                journal.advance(boards=len(part.answers))
                        totals.add(len(results), results.stats, continued=results.continued)
                        if not source.single:
                            self.line.boards(tally.boards, source.share)
                    self._give_bad(journal, log, tally.boards)
                    if not self._begun:
                        out.write(self.writer.header())
            except (KeyboardInterrupt, Interrupted) as error:
                if source.single and isinstance(error, Interrupted):
                    raise
                told = f"interrupted: {tally.boards} boards {done}{journal.hint}"
                raise Interrupted(told, tally.boards) from None
        if self._parted is not None:
            status = source.status or (tally.status if asked.exit_code else 0)
            ending = Ending(status, source.unreadable, tally.notes, tally.seconds)
            self._parted.record_lines(self.writer.header(), self.writer.between, ending)
        if not source.single:
            if asked.stats:
                totals.show()
            tally.show(source.unreadable)
        source.finish()
        if asked.exit_code:
            click.get_current_context().exit(tally.status)

    def _parts(self, prepared: Prepared, done: int) -> Iterator[Prepared]:
        """Cut answers, the first to the board of index ``done``, where bad boards stand."""
        start, end = 0, len(prepared.answers)
        for place in sorted({place - done for place, _ in self._source.bad or ()}):
            if start < place < end:
                yield self.prepare(prepared.answers.part(start, place))
                start = place
        yield self.prepare(prepared.answers.part(start, end)) if start else prepared

    def _give_bad(self, journal: Journal, log: Log | None, done: int) -> None:
        """Write the bad boards before the one of index ``done``, but for those written before."""
        bad = self._source.bad
        while bad and bad[0][0] <= done:
            _, board = bad.popleft()
            self._bad += 1
            if self._bad <= journal.notes.get(_BAD, 0):
                continue
            text = self.writer.unreadable(board)  # from which the header may have its columns
            with held_interrupts():
                if text:
                    journal.output.write((b"" if self._begun else self.writer.header()) + text)
                    self._begun = True
                if log is not None:
                    log.write(self._log.unreadable(board))
                journal.notes[_BAD] = self._bad
                journal.advance()

    def _give(self, prepared: Prepared, out: Output, log: Log | None, tally: Tally) -> None:
        """Write answers; what was written goes to log and tally."""
        answers, given = prepared.answers, len(prepared.answers)
        lead = self.writer.between if self._begun else self.writer.header()
        before = out.lines + lead.count(b"\n")
        try:
            if prepared.text:
                self._begun = True
                out.write(lead + prepared.text)
        finally:
            lines = out.lines - before
            if prepared.text and lines < line_ends(prepared.text):
                given = self._whole(prepared, lines)
                answers = answers.part(0, given)
            if log is not None:
                log.write(
                    prepared.log if given == len(prepared.answers) else self._log.text(answers)
                )
            tally.add(answers.results)

    def _whole(self, prepared: Prepared, lines: int) -> int:
        """How many boards have all that is written of them in the first lines; not all do."""
        answers, keep = prepared.answers, prepared.keep
        shown = answers if keep is None else answers.chosen(keep)

        def needed(boards: int) -> int:
            return line_ends(self.writer.text(shown.part(0, boards)))

        whole = bisect_right(range(1, len(shown)), lines, key=needed)
        if keep is None:
            return whole
        # All before the first that should have been written.
        return int(np.append(np.flatnonzero(keep), len(answers))[whole])


def _sum(numbers: NDArray[Any]) -> int:
    """The sum of numbers, exact though NumPy's integers overflow."""
    low, bits = (1 << 32) - 1, 32
    return (int((numbers >> bits).sum()) << bits) + int((numbers & low).sum())
