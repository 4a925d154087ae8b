"""The form of results that the name of an output file chooses."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import click

from gpusudoku.errors import InputError

ENDINGS = {form: form for form in ("csv", "tsv", "jsonl", "parquet", "sdk")}
ENDINGS |= {"ndjson": "jsonl", "txt": "text"}
"""The form of each ending of a name; ``text`` is the default form of most commands."""
_OTHER_FORM = re.compile("json|npy|npz|feather|arrow|pkl|h5|xlsx?|ods|xml|ya?ml|html|pdf|png|svg")
"""Endings of forms that no command writes. All further endings say nothing of the form."""
_COMPRESSED = re.compile("gz|bz2|xz|zst|zip")


def form_of_output(
    output: str | None, form: str | None, forms: Collection[str] = (), *, has_text: bool = True
) -> str | None:
    """Return the form of results; None for the default of the command.

    It is ``form``, the value of ``--format``, else the form that the name of the output file
    chooses among those of this option; ``forms`` are those of a command without it. One that
    ``has_text`` writes its default form to a file whose name ends in ``.txt`` or says nothing.

    Raises
    ------
    InputError
        If the name says another form than the command can write, or that the file is compressed.
    """
    if output in (None, "-"):
        return form
    ending = Path(str(output)).suffix.removeprefix(".").lower()
    if _COMPRESSED.fullmatch(ending):
        raise InputError(f"{output}: files are written uncompressed: leave out .{ending}")
    params = {param.name: param.type for param in click.get_current_context().command.params}
    option, named = params.get("form"), ENDINGS.get(ending)
    if isinstance(option, click.Choice):
        forms = option.choices
    if form is not None or named in forms:
        return form or named
    if has_text and (named == "text" or not (named or _OTHER_FORM.fullmatch(ending))):
        return None
    known = [*forms, "text"] if has_text else forms
    endings = ", ".join(f".{ending}" for ending, form in ENDINGS.items() if form in known)
    more = ", or --format" if option else ""
    raise InputError(f"{output}: expected a name that ends in {endings}{more}")


def check_part_name(output: str | None, *, is_record: bool) -> None:
    """Raise an InputError for the name of a part's file that says another form.

    The part of one board is a record, a line of JSON; those of batches have lines of results.
    """
    wrong = (".csv", ".tsv") if is_record else (".json",)
    if output is not None and Path(output).suffix.lower() in wrong:
        what = "one board is a JSON record" if is_record else "a batch is no JSON record"
        raise InputError(f"{output}: a part of {what}: give it another ending")
