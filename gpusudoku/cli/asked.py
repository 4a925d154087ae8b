"""What ``count`` and ``solve`` can be asked: the form of answers, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from gpusudoku.cli.answers import AnswerRecords, Writer
from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.journal import refuse_besides_checkpoint
from gpusudoku.cli.options import Command, checkpoint, compose, output_file, own_option, statistics
from gpusudoku.cli.output import is_same_file, refuse
from gpusudoku.cli.records import FORMS
from gpusudoku.cli.usage import Choice
from gpusudoku.errors import InputError

_OWN = ("stats", "log", "exit_code", "output", "force", "checkpoint")
"""Options that ``Asked`` has as they are."""


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
    output: str | None = None
    """The file to which answers are written; None or ``-`` for stdout."""
    force: bool = False
    """Whether that file may exist."""
    checkpoint: str | None = None
    """The file that tells how far it is; None if nobody asked."""
    solution: bool = False
    """Whether records have a solution."""
    errors: bool = False
    """Whether records have an error: there is one for each bad board, too."""

    @property
    def to_stdout(self) -> bool:
        """Whether answers go to stdout."""
        return self.output in (None, "-")

    def refuse(self, inputs: Sequence[str]) -> None:
        """Complain at once of an output file that could not be written later.

        Raises
        ------
        InputError
            If it exists already, is an input or the log, or cannot be written; or if more is asked
            for than a checkpoint keeps.
        """
        more = {"--log": self.log is not None, "--stats": self.stats}
        refuse_besides_checkpoint(self.checkpoint, more)
        if self.checkpoint is not None:  # the file may have been begun
            return
        refuse(self.output, self.force, inputs)
        if self.output is None or self.log is None:
            return
        if is_same_file(self.output, self.log):
            raise InputError(f"{self.output}: is the log, and cannot be the output file, too")

    def writer(self, plain: Writer, details: bool) -> Writer:
        """What writes the form; ``plain`` writes those of the command alone."""
        if self.form is None or self.form not in FORMS:
            return plain
        return AnswerRecords(self.form, solution=self.solution, errors=self.errors, details=details)


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
        output_file(command),
        checkpoint(command),
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
        def with_asked(*, form: str | None, as_json: bool, **others: Any) -> Any:
            own = {name: others.pop(name) for name in _OWN}
            asked = Asked(asked_form(form, as_json), **own)
            return function(asked=asked, **others)

        return options(with_asked)

    return decorate


def form_options(command: str, forms: Sequence[str], text: str) -> Callable[[Command], Command]:
    """``--format``, with this help, and ``--json``; see ``asked_form``."""
    own = own_option(command)
    return compose(
        own("--format", "form", type=Choice(forms), help=text),
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
