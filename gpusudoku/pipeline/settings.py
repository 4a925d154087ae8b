"""The settings of a command: its input, its output, and its part."""

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
"""The form of each ending of a file name; ``text`` is the default form of most commands."""
_UNKNOWN_FORM = re.compile("json|npy|npz|feather|arrow|pkl|h5|xlsx?|ods|xml|ya?ml|html|pdf|png|svg")
"""Endings of forms that no command writes. All further endings are accepted for any form."""
_COMPRESSED = re.compile("gz|bz2|xz|zst|zip")


@dataclass(frozen=True)
class CommandFacts:
    """A command and its parsed parameters."""

    name: str
    params: Mapping[str, Any]
    """The values of all parameters, by their names in Python."""
    option_names: Mapping[str, str]
    """The long option name of each parameter, without the hyphens."""
    forms: Sequence[str]
    """The choices of ``--format``; empty if the command lacks this option."""
    arguments: Sequence[str]
    """All arguments of the program, including the name of the command."""


class PartNumber(NamedTuple):
    """The part I of N, ``--part I/N``; the sizes of all parts differ by at most one task."""

    number: int
    """I, from 1 to N."""
    parts: int
    """N, the number of all parts."""

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"


@dataclass(frozen=True)
class InputOptions:
    """The options that control how boards are read."""

    box: Geometry | None = None
    """The shape of all boxes; None if each board shows it."""
    keep_going: bool = False
    """True if bad boards are skipped instead of ending the command."""
    column: str | None = None
    """The column of a table that holds the boards."""


@dataclass(frozen=True)
class OutputOptions:
    """The options that control how results are written; no command has all of them."""

    form: str | None = None
    """The form by name; None for the default of the command."""
    output: str | None = None
    """The file of the results; None or ``-`` for stdout."""
    force: bool = False
    """True if an existing file is overwritten."""
    checkpoint: str | None = None
    """The run file in which the progress is saved."""
    stats: bool = False
    """True if statistics are printed."""
    log: str | None = None
    """The file to which a JSON object for every board is appended."""
    exit_code: bool = False
    """True if the exit status shows whether boards have exactly one solution."""
    solution: bool = False
    """True if records have a solution."""
    errors: bool = False
    """True if bad boards have a record, too, with their error."""

    @classmethod
    def from_params(
        cls,
        params: dict[str, Any],
        command: CommandFacts,
        *,
        is_part: bool = False,
        has_text: bool = True,
        **values: Any,
    ) -> Self:
        """Remove these options from the parameters of a command, and return them.

        ``values`` are further fields. The output of a part (``is_part``) may be a record, whose
        name ends in ``.json``. For ``has_text`` see ``form_of_output``.
        """
        form = params.get("form")
        output = params.get("output")
        if params.pop("as_json", False):  # --json is short for --format jsonl
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
        """True if records show the statistics of each board; boards are then counted one by one."""
        return self.stats and (self.form == "jsonl" or self.log is not None)

    @property
    def to_stdout(self) -> bool:
        """True if results go to stdout."""
        return self.output in (None, "-")


def refuse_together(option: str, conflicting: Mapping[str, object]) -> None:
    """Raise an InputError if a ``conflicting`` option is given together with ``option``.

    The keys are names of options, the values None or False if an option is not given.
    """
    for name, value in conflicting.items():
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

    Parameters
    ----------
    form
        The value of ``--format``. If it is None, the ending of the file name decides.
    forms
        The forms that the command writes.
    has_text
        True if the command also has a default form, which is text. It is written to a file whose
        name ends in ``.txt`` or in no known ending.
    hint
        The end of the message of an error.

    Raises
    ------
    InputError
        If the ending of the name means a form that the command does not write, or a compressed
        file.
    """
    if output in (None, "-"):
        return form
    ending = Path(str(output)).suffix.removeprefix(".").lower()
    if _COMPRESSED.fullmatch(ending):
        raise InputError(f"{output}: files are written uncompressed: leave out .{ending}")
    form_of_ending = ENDINGS.get(ending)
    if form is not None or form_of_ending in forms:
        return form or form_of_ending
    means_form = form_of_ending is not None or _UNKNOWN_FORM.fullmatch(ending)
    if has_text and (form_of_ending == "text" or not means_form):
        return None
    writable = [*forms, "text"] if has_text else forms
    endings = ", ".join(f".{ending}" for ending, form in ENDINGS.items() if form in writable)
    raise InputError(f"{output}: expected a name that ends in {endings}{hint}")


def check_part_name(output: str | None, *, is_record: bool) -> None:
    """Raise an InputError if the name of a part's file ends as those of another form.

    The output for a part of one board is a record, a line of JSON. For a part of a batch it
    consists of lines of results.
    """
    wrong_endings = (".csv", ".tsv") if is_record else (".json",)
    if output is not None and Path(output).suffix.lower() in wrong_endings:
        kind = "one board is a JSON record" if is_record else "a batch is no JSON record"
        raise InputError(f"{output}: a part of {kind}: give it another ending")
