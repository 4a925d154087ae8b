"""The form of results that the name of an output file chooses."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from gpusudoku.errors import InputError

ENDINGS = {
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "sdk": "sdk",
    "txt": "text",
}
"""The form of each ending of a name. ``text`` is the plain form of a command, by whatever name."""
OTHER_ENDINGS = frozenset(
    "json npy npz feather arrow orc avro pkl pickle mat h5 hdf5 xls xlsx ods xml yaml yml toml"
    " htm html md tex pdf png svg db sqlite".split()
)
"""Endings of forms that no command writes. All further endings say nothing of the form."""
COMPRESSED_ENDINGS = frozenset("gz bz2 xz zst zip".split())


def form_of_output(
    output: str | None,
    form: str | None,
    forms: Collection[str],
    *,
    has_text: bool = True,
    has_option: bool = True,
) -> str | None:
    """Return the form of results; None for the default of the command.

    It is ``form``, if that is given by an option, else the one of ``forms`` that the name of the
    output file chooses. A command that ``has_text`` writes its default form to a file whose name
    ends in ``.txt`` or says nothing. It ``has_option`` if ``--format`` may be given.

    Raises
    ------
    InputError
        If the name says another form than the command can write, or that the file is compressed.
    """
    if output in (None, "-"):
        return form
    ending = Path(str(output)).suffix.removeprefix(".").lower()
    if ending in COMPRESSED_ENDINGS:
        raise InputError(f"{output}: files are written uncompressed: leave out .{ending}")
    named = ENDINGS.get(ending)
    if form is not None or named in forms:
        return form or named
    if has_text and (named == "text" or named is None and ending not in OTHER_ENDINGS):
        return None
    known = [*forms, "text"] if has_text else forms
    endings = ", ".join(f".{ending}" for ending, form in ENDINGS.items() if form in known)
    option = ", or --format" if has_option else ""
    raise InputError(f"{output}: expected a name that ends in {endings}{option}")


def check_part_name(output: str | None, *, is_record: bool) -> None:
    """Raise an InputError for the name of a part's file if it says another form.

    The part of one board is a record, a line of JSON; those of batches have lines of results.
    """
    ending = Path(output or "").suffix.lower()
    if is_record and ending in (".csv", ".tsv"):
        raise InputError(f"{output}: a part of one board is a JSON record: name it .json")
    if not is_record and ending == ".json":
        raise InputError(f"{output}: a part of a batch has no single record: do not name it .json")
