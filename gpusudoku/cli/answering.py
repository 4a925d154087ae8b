"""What ``count`` and ``solve`` share: how answers are asked for, and where they go."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.objects import JsonLines
from gpusudoku.cli.options import compose, own_option, statistics
from gpusudoku.cli.output import Log, Output, open_log
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.records import Answers, Writer
from gpusudoku.cli.report import Totals
from gpusudoku.cli.source import Source, warn_conflicts
from gpusudoku.cli.summary import Tally
from gpusudoku.cli.tables import Table
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs.interrupts import held_interrupts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.engines.engine import Engine

RECORDS = ("csv", "tsv", "jsonl")
"""The forms that have a record for every board."""


@dataclass(frozen=True)
class Asked:
    """How answers are to be given."""

    form: str | None
    """The form by name; None for the plain one of the command."""
    stats: bool
    log: str | None
    """The file to which a JSON object for every board is appended."""
    exit_code: bool
    """Whether the exit status tells what became of the boards."""

    def writer(self, plain: Writer, details: bool) -> Writer:
        """What writes the form; ``plain`` writes those of the command alone."""
        if self.form == "jsonl":
            return JsonLines(details)
        return Table("," if self.form == "csv" else "\t") if self.form in RECORDS else plain


def answering(
    command: str, forms: Sequence[str], plain: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of answers, which the command gets as one argument, ``asked``.

    ``forms`` are those that it writes, ``plain`` says in words what it writes by default.
    """
    own = own_option(command)
    options = compose(
        own(
            "--format",
            "form",
            type=click.Choice(forms),
            help=f"How to write answers; csv, tsv and jsonl have a record a board.  {plain}",
        ),
        own("--json", "as_json", is_flag=True, help="The same as --format jsonl."),
        statistics(command),
        own(
            "--log",
            metavar="FILE",
            shell_complete=complete_files,
            help="Append a JSON object for every board to FILE.",
        ),
        own(
            "--exit-code",
            is_flag=True,
            help="Exit with 0 if all boards have one solution, with 3 if some have several, and "
            "with 4 if some have none.",
        ),
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_asked(
            *,
            form: str | None,
            as_json: bool,
            stats: bool,
            log: str | None,
            exit_code: bool,
            **others: Any,
        ) -> Any:
            if as_json and form not in (None, "jsonl"):
                raise InputError(f"--json is --format jsonl, but --format {form} is given, too")
            asked = Asked("jsonl" if as_json else form, stats, log, exit_code)
            return function(asked=asked, **others)

        return options(with_asked)

    return decorate


class Delivery:
    """Takes answers to stdout, to the log, and into the closing lines on stderr.

    ``line`` shows progress, and ``alone`` tells whether each board is to be worked on and
    measured by itself.
    """

    def __init__(self, asked: Asked, source: Source, engine: Engine, plain: Writer) -> None:
        self._asked, self._source, self._engine = asked, source, engine
        details = source.single or asked.stats
        self.alone = source.single or (details and (asked.form == "jsonl" or asked.log is not None))
        self.writer = asked.writer(plain, details)
        self._begun = False
        self._log = JsonLines(details)
        self.line = ProgressLine()

    def deliver(
        self,
        found: Iterable[Answers],
        inputs: Sequence[str],
        done: str,
        wanted: Callable[[Any], Any] | None = None,
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
        wanted
            A test of counts, int or object (B): which answers are written.
        """
        source, tally, totals = self._source, Tally(), Totals(self._engine)
        with open_log(self._asked.log, inputs) as log, Output(None, False, inputs) as out:
            try:
                with self.line:
                    for answers in found:
                        self.line.clear()
                        counts = answers.results.numbers
                        warn_conflicts(answers.results.boards.chosen(counts == 0), source.single)
                        keep = None if wanted is None else wanted(counts)
                        with held_interrupts():  # so that stdout, log and tally agree
                            self._give(answers, keep, out, log, tally)
                        totals.add(len(answers), answers.results.stats)
                        if not source.single:
                            self.line.boards(tally.boards, source.share)
                    out.write(self._header() + self.writer.end())
            except (KeyboardInterrupt, Interrupted) as error:
                if source.single and isinstance(error, Interrupted):
                    raise
                raise Interrupted(
                    f"interrupted: {tally.boards} boards {done}", tally.boards
                ) from None
        if not source.single:
            if self._asked.stats:
                totals.show()
            tally.show(source.unreadable)
        source.finish()
        if self._asked.exit_code:
            click.get_current_context().exit(tally.status)

    def _header(self) -> bytes:
        """What stands before all answers, the first time; not before the first are there."""
        begun, self._begun = self._begun, True
        return b"" if begun else self.writer.header()

    def _give(
        self,
        answers: Answers,
        keep: NDArray[np.bool_] | None,
        out: Output,
        log: Log | None,
        tally: Tally,
    ) -> None:
        """Write answers, those to ``keep`` of them; what was written goes to log and tally."""
        shown = answers if keep is None else answers.chosen(keep)
        writer, before = copy(self.writer), out.lines
        header, text = self._header(), self.writer.text(shown)
        try:
            out.write(header + text)
        finally:
            lines = max(out.lines - before - header.count(b"\n"), 0)
            if lines < text.count(b"\n"):
                given = _boards_in(lines, shown, writer)
                if keep is not None:  # all before the first that should have been written
                    given = int(np.append(np.flatnonzero(keep), len(answers))[given])
                answers = answers.first(given)
            if log is not None:
                log.write(self._log.text(answers))
            tally.add(answers.results)


def _boards_in(lines: int, answers: Answers, writer: Writer) -> int:
    """How many boards have all that is written of them in the first lines; not all do."""

    def needed(boards: int) -> int:
        return copy(writer).text(answers.first(boards)).count(b"\n")

    return bisect_right(range(1, len(answers)), lines, key=needed)
