"""The settings of a command, however they were given: its input, its output, and its part."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError

ENDINGS = {form: form for form in ("csv", "tsv", "jsonl", "parquet", "sdk")}
ENDINGS |= {"ndjson": "jsonl", "txt": "text"}
"""The form of each ending of a name; ``text`` is the default form of most commands."""
_OTHER_FORM = re.compile("json|npy|npz|feather|arrow|pkl|h5|xlsx?|ods|xml|ya?ml|html|pdf|png|svg")
"""Endings of forms that no command writes. All further endings say nothing of the form."""
_COMPRESSED = re.compile("gz|bz2|xz|zst|zip")


@dataclass(frozen=True)
class CommandFacts:
    """A command and its parameters, as they were parsed."""

    name: str
    params: Mapping[str, Any]
    """The values of all parameters, by their names in Python."""
    option_names: Mapping[str, str]
    """The long name of each parameter, without hyphens before it."""
    forms: Sequence[str]
    """The choices of ``--format``; none if the command lacks this option."""
    arguments: Sequence[str]
    """All arguments of the program, the name of the command included."""


class WhichPart(NamedTuple):
    """One of several parts of a whole, whose sizes differ by one at most."""

    number: int
    """From 1 on."""
    parts: int

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"


@dataclass(frozen=True)
class InputOptions:
    """The options that say how boards are read."""

    box: Geometry | None = None
    keep_going: bool = False
    column: str | None = None


@dataclass(frozen=True)
class OutputOptions:
    """The options that say how results are written; commands lack some of them."""

    form: str | None = None
    """The form by name; None for the default of the command."""
    output: str | None = None
    """The file of the results; None or ``-`` for stdout."""
    force: bool = False
    checkpoint: str | None = None
    stats: bool = False
    log: str | None = None
    """The file to which a JSON object for every board is appended."""
    exit_code: bool = False
    solution: bool = False
    """True if records have a solution."""
    errors: bool = False
    """True if there is a record, with its error, for each bad board."""

    @classmethod
    def take(
        cls,
        params: dict[str, Any],
        command: CommandFacts,
        *,
        is_part: bool = False,
        has_text: bool = True,
        **values: Any,
    ) -> Self:
        """Take them out of the parameters of a command, and add further ``values``.

        The record of a part, if it ``is_part``, may be named ``.json``; see ``form_of_output``.
        """
        form = params.get("form")
        output = params.get("output")
        if params.pop("as_json", False):
            if form not in (None, "jsonl"):
                raise InputError(f"--json is --format jsonl, but --format {form} is given, too")
            form = "jsonl"
        if not (is_part and str(output).endswith(".json")):
            form = form_of_output(
                output, form, command.forms, has_text=has_text, hint=", or --format"
            )
        params["form"] = form
        names = [field.name for field in fields(cls) if field.name in params]
        return cls(**{name: params.pop(name) for name in names}, **values)

    @property
    def in_detail(self) -> bool:
        """True if records show the statistics of each board, which is then worked on by itself."""
        return self.stats and (self.form == "jsonl" or self.log is not None)

    @property
    def to_stdout(self) -> bool:
        """True if results go to stdout."""
        return self.output in (None, "-")


def refuse_together(option: str, others: Mapping[str, object]) -> None:
    """Raise an InputError if any of the ``others``, values by name, is given with ``option``."""
    for name, value in others.items():
        if value not in (None, False):
            raise InputError(f"{name} cannot be combined with {option}")


def form_of_output(
    output: str | None,
    form: str | None,
    forms: Collection[str] = (),
    *,
    has_text: bool = True,
    hint: str = "",
) -> str | None:
    """Return the form of results; None for the default of the command.

    It is ``form``, the value of ``--format``, else the form among ``forms`` that the name of the
    output file chooses. A command that ``has_text`` writes its default form to a file whose name
    ends in ``.txt`` or says nothing.

    Raises
    ------
    InputError
        If the name says another form than the command can write, or that the file is compressed;
        the message ends with the ``hint``.
    """
    if output in (None, "-"):
        return form
    ending = Path(str(output)).suffix.removeprefix(".").lower()
    if _COMPRESSED.fullmatch(ending):
        raise InputError(f"{output}: files are written uncompressed: leave out .{ending}")
    named = ENDINGS.get(ending)
    if form is not None or named in forms:
        return form or named
    if has_text and (named == "text" or not (named or _OTHER_FORM.fullmatch(ending))):
        return None
    known = [*forms, "text"] if has_text else forms
    endings = ", ".join(f".{ending}" for ending, form in ENDINGS.items() if form in known)
    raise InputError(f"{output}: expected a name that ends in {endings}{hint}")


def check_part_name(output: str | None, *, is_record: bool) -> None:
    """Raise an InputError for the name of a part's file that says another form.

    The part of one board is a record, a line of JSON; those of batches have lines of results.
    """
    wrong = (".csv", ".tsv") if is_record else (".json",)
    if output is not None and Path(output).suffix.lower() in wrong:
        what = "one board is a JSON record" if is_record else "a batch is no JSON record"
        raise InputError(f"{output}: a part of {what}: give it another ending")
