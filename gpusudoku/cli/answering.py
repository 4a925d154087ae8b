"""What ``count`` and ``solve`` share: how answers are asked for, and where they go."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.lines import line_ends
from gpusudoku.cli.objects import JsonLines
from gpusudoku.cli.options import Command, compose, own_option, statistics
from gpusudoku.cli.output import Log, Output, open_log
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.records import Answers, Writer
from gpusudoku.cli.report import Totals
from gpusudoku.cli.source import Source
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
        form_options(
            command,
            forms,
            f"How to write answers; csv, tsv and jsonl have a record a board.  {plain}",
        ),
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
            asked = Asked(asked_form(form, as_json), stats, log, exit_code)
            return function(asked=asked, **others)

        return options(with_asked)

    return decorate


def form_options(command: str, forms: Sequence[str], text: str) -> Callable[[Command], Command]:
    """``--format``, with this help, and ``--json``; see ``asked_form``."""
    own = own_option(command)
    return compose(
        own("--format", "form", type=click.Choice(forms), help=text),
        own("--json", "as_json", is_flag=True, help="The same as --format jsonl."),
    )


def asked_form(form: str | None, as_json: bool) -> str | None:
    """The form that --format and --json ask for together; None for the plain one of a command.

    Raises
    ------
    InputError
        If they ask for different ones.
    """
    if as_json and form not in (None, "jsonl"):
        raise InputError(f"--json is --format jsonl, but --format {form} is given, too")
    return "jsonl" if as_json else form


@dataclass(frozen=True)
class Prepared:
    """Answers, and all that is to be written of them."""

    answers: Answers
    keep: NDArray[np.bool_] | None
    """bool (B): which of them are written; None for all."""
    text: bytes
    """Whole lines for stdout."""
    log: bytes
    """A line for each of the answers, if there is a log."""


class Delivery:
    """Takes answers to stdout, to the log, and into the closing lines on stderr.

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
    """

    def __init__(
        self,
        asked: Asked,
        source: Source,
        engine: Engine,
        plain: Writer,
        wanted: Callable[[Any], Any] | None = None,
    ) -> None:
        self._asked, self._source, self._engine = asked, source, engine
        details = source.single or asked.stats
        self.alone = source.single or (details and (asked.form == "jsonl" or asked.log is not None))
        self.writer = asked.writer(plain, details)
        self._wanted = wanted
        self._log = JsonLines(details)
        self._begun = False
        self.line = ProgressLine()

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
        source, tally, totals = self._source, Tally(), Totals(self._engine)
        with open_log(self._asked.log, inputs) as log, Output(None, False, inputs) as out:
            try:
                with self.line, closing(found):
                    for prepared in found:
                        results = prepared.answers.results
                        self.line.clear()
                        none = results.boards.chosen(results.numbers == 0)
                        source.warn_conflicts(none)
                        with held_interrupts():  # so that stdout, log and tally agree
                            self._give(prepared, out, log, tally)
                        totals.add(len(results), results.stats, continued=results.continued)
                        if not source.single:
                            self.line.boards(tally.boards, source.share)
                    if not self._begun:
                        out.write(self.writer.header())
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
