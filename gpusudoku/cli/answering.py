"""What ``count`` and ``solve`` share: how answers are taken to where they go."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from gpusudoku.cli.answers import AnswerRecords, Answers, Writer
from gpusudoku.cli.asked import Asked
from gpusudoku.cli.journal import Journal
from gpusudoku.cli.lines import line_ends
from gpusudoku.cli.output import Log, open_log
from gpusudoku.cli.parts import Parted
from gpusudoku.cli.progress import ProgressLine
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


_BAD_BOARDS = "bad"
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


class _BadLines(NamedTuple):
    """What is written of a bad board."""

    place: int
    """How many of the boards that are written with it stand before it."""
    text: bytes
    log: bytes


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
    line
        Shows progress; by default without what to expect.
    """

    def __init__(
        self,
        asked: Asked,
        source: Source,
        engine: Engine,
        plain: Writer,
        wanted: Callable[[Any], Any] | None = None,
        parted: Parted | None = None,
        line: ProgressLine | None = None,
    ) -> None:
        self._asked, self._source, self._engine = asked, source, engine
        self._parted = parted
        details = source.single or asked.stats
        self.alone = source.single or (details and (asked.form == "jsonl" or asked.log is not None))
        self.writer = asked.writer(plain, details)
        if asked.errors and (self.writer.has_unreadable or asked.log is not None):
            source.bad_entries = deque()
        self._wanted = wanted
        self._log = AnswerRecords("jsonl", details=details)
        self._begun = False
        """Whether anything is written: what comes next stands behind it."""
        self._bad_boards = 0
        """How many bad boards had their turn."""
        self._journal: Journal | None = None
        self.line = line or ProgressLine()

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
            self._journal, self._begun = journal, journal.output.size > 0
            journal.share = lambda: source.share
            tally = Tally(journal.notes.get("tally"), journal.seconds)
            try:
                with self.line, closing(found):
                    for prepared in found:
                        results = prepared.answers.results
                        self.line.clear()
                        none = results.boards.chosen(results.numbers == 0)
                        source.warn_conflicts(none)
                        with held_interrupts():  # so that output, log and tally agree
                            self._give(prepared, journal, log, tally)
                        totals.add(len(results), results.stats, continued=results.continued)
                        if not source.single:
                            self.line.boards(tally.boards, source.share)
                    with held_interrupts():
                        self._give(None, journal, log, tally)  # bad boards after the last
                    if not self._begun:
                        journal.output.write(self.writer.header())
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

    def _give(
        self, prepared: Prepared | None, journal: Journal, log: Log | None, tally: Tally
    ) -> None:
        """Write answers and the bad boards between them; what was written goes to log and tally."""
        out, given = journal.output, 0 if prepared is None else len(prepared.answers)
        bad = self._take_bad(journal.notes.get(_BAD_BOARDS, 0), tally.boards, given)
        text, logged = self._texts(prepared, bad)
        lead = self.writer.between if self._begun else self.writer.header()
        before, told = out.lines + lead.count(b"\n"), len(bad)
        try:
            if text:
                self._begun = True
                out.write(lead + text)
        finally:
            lines = out.lines - before
            cut = bool(text) and lines < line_ends(text)
            if cut:
                given, told = self._whole(prepared, bad, lines)
            if log is not None:
                log.write(_merged(logged[:given], [(each.place, each.log) for each in bad[:told]]))
            if prepared is not None:
                tally.add(prepared.answers.part(0, given).results)
        if cut:
            return  # interrupted: a checkpoint goes on before these
        journal.notes[_BAD_BOARDS] = self._bad_boards
        if prepared is not None:
            journal.notes["tally"] = tally.notes
            journal.found += _sum(prepared.answers.results.numbers)
        journal.advance(boards=given)

    def _take_bad(self, written: int, done: int, boards: int) -> list[_BadLines]:
        """Take the bad boards that stand before, between and after the next boards.

        ``written`` are left out, the first of all, which were written before.
        """
        entries, bad = self._source.bad_entries, []
        while entries and entries[0][0] <= done + boards:
            place, entry = entries.popleft()
            self._bad_boards += 1
            if self._bad_boards > written:
                text = self.writer.unreadable(entry)  # from which the header may have its columns
                log = b"" if self._asked.log is None else self._log.unreadable(entry)
                bad.append(_BadLines(place - done, text, log))
        return bad

    def _texts(
        self, prepared: Prepared | None, bad: Sequence[_BadLines]
    ) -> tuple[bytes, list[bytes]]:
        """Return the text of answers and bad boards, and the lines of the log of the answers."""
        places = [(each.place, each.text) for each in bad if each.text]
        if prepared is None:
            return _merged([], places), []
        text, answers = prepared.text, prepared.answers
        if places:
            lines = text.splitlines(keepends=True)
            if len(lines) != len(answers):  # there are line ends in other columns
                every = range(len(answers))
                lines = [self.writer.text(answers.part(index, index + 1)) for index in every]
            text = _merged(lines, places)
        return text, prepared.log.splitlines(keepends=True)

    def _whole(
        self, prepared: Prepared | None, bad: Sequence[_BadLines], lines: int
    ) -> tuple[int, int]:
        """How many boards and bad boards have all that is written of them in the first lines."""
        answers, keep = (None, None) if prepared is None else (prepared.answers, prepared.keep)
        shown = answers if answers is None or keep is None else answers.chosen(keep)

        def needed(boards: int, bad_boards: int) -> int:
            text = b"" if shown is None else self.writer.text(shown.part(0, boards))
            return line_ends(text + b"".join(each.text for each in bad[:bad_boards]))

        told = bisect_right(
            range(1, len(bad) + 1), lines, key=lambda number: needed(bad[number - 1].place, number)
        )
        if shown is None:
            return 0, told
        whole = bisect_right(
            range(1, len(shown) + 1),
            lines,
            key=lambda boards: needed(boards, sum(each.place < boards for each in bad)),
        )
        if keep is not None:  # all before the first that should have been written
            whole = int(np.append(np.flatnonzero(keep), len(keep))[whole])
        return whole, told


def _merged(lines: Sequence[bytes], others: Iterable[tuple[int, bytes]]) -> bytes:
    """Return all lines, and before those of some indices, which do not decrease, others."""
    pieces, start = list[bytes](), 0
    for place, line in others:
        pieces += [*lines[start:place], line]
        start = place
    return b"".join([*pieces, *lines[start:]])


def _sum(numbers: NDArray[Any]) -> int:
    """The sum of numbers, exact though NumPy's integers overflow."""
    low, bits = (1 << 32) - 1, 32
    return (int((numbers >> bits).sum()) << bits) + int((numbers & low).sum())
