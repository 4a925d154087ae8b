"""``--checkpoint`` of a count of one board: in a file from which it can be gone on with."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku.cli.asked import Asked
from gpusudoku.cli.journal import goes_on
from gpusudoku.cli.numbers import WhichPart
from gpusudoku.cli.options import Reading
from gpusudoku.cli.output import refuse
from gpusudoku.cli.parts import place_facts, placed
from gpusudoku.cli.records import FORMS
from gpusudoku.cli.source import Source
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.runs.kept import read_run

if TYPE_CHECKING:
    from gpusudoku.cli.resume import Settings
    from gpusudoku.runs.counting import Checkpoint
    from gpusudoku.runs.kept import Kept


FROM_PYTHON = {"source": "<python>", "line": 0, "columns": [], "beside": []}
"""The place of a board that no command read."""
MEASURED = frozenset(
    (
        *("seconds", "expansion_seconds", "utilisation", "device", "jobs", "stats", "seal"),
        *("search_estimate", "contraction_estimate"),
    )
)
"""What of an answer in JSON depends on the machine, which may be another one each time."""
MOST_MEASURED = 1 << 20
"""Bytes that it takes at most."""


def checkpoint_of(
    source: Source, options: Options, asked: Asked, part: WhichPart | None
) -> Checkpoint | None:
    """The file in which the count of the only board of a source is kept, if one is asked for.

    ``part`` is the one that is counted.
    """
    from gpusudoku.runs.counting import Checkpoint, setup_of_count

    if asked.checkpoint is None:
        return None
    assert source.board is not None
    setup: dict[str, Any] = {
        **setup_of_count(options),
        "place": place_facts(source.board),
        "form": asked.form,
        "errors": asked.errors,
        "output": _real(asked.output),
        "force": asked.force,
        "part": part,
    }
    return Checkpoint(asked.checkpoint, setup)


def answered_alone(asked: Asked) -> tuple[Asked, bool]:
    """How the answer is given, for which a count is kept that is then written at once.

    The second is whether it was written before: then ``check_written`` looks at the file that is
    there, which stays as it is.

    Raises
    ------
    InputError
        If the output file exists, and not because this count has been finished before.
    """
    assert asked.checkpoint is not None
    path, asked = asked.checkpoint, replace(asked, checkpoint=None)
    if asked.to_stdout:
        return asked, False
    output = str(asked.output)
    if goes_on(path):
        is_there, (kept, _) = Path(output).is_file(), read_run(path)
        if is_there and kept.state.finished and kept.setup.get("output") == _real(output):
            return asked, True
        if is_there and not asked.force:
            more = "move it, or give the whole command again with --force"
            raise InputError(f"{output}: exists already; {more}")
    refuse(output, asked.force, [path])
    return asked, False


def check_written(output: str, text: bytes) -> None:
    """Complain of an output file that has another answer than this one.

    Raises
    ------
    InputError
        If somebody else has written to it.
    """
    try:
        with Path(output).open("rb") as file:
            found = file.read(2 * len(text) + MOST_MEASURED)
    except OSError as error:
        raise InputError(f"{output}: cannot be read: {error.strerror}") from None
    if _lasting(found) != _lasting(text):
        raise InputError(f"{output}: is not what was written, and nothing is left to do")


def _lasting(text: bytes) -> Any:
    """What of an answer is the same whenever it is given."""
    try:
        facts = json.loads(text) if text.startswith(b"{") else None
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        return text
    return {name: value for name, value in facts.items() if name not in MEASURED}


def asked_before(
    path: str, kept: Kept, settings: Settings
) -> tuple[Source, Options, Asked, WhichPart | None]:
    """What was asked when a count began, with other settings where they are given.

    The last is as for ``checkpoint_of``.

    Raises
    ------
    InputError
        If the file has something else.
    """
    from gpusudoku.runs.resuming import kept_count

    setup, before = kept.setup, kept_count(path, kept, settings.given)
    form, output, place = setup.get("form"), setup.get("output"), setup.get("place", FROM_PYTHON)
    if form not in (None, *FORMS) or not isinstance(output, str | None):
        raise InputError(f"{path}: damaged: it does not tell where the count goes")
    if not isinstance(place, dict):
        raise InputError(f"{path}: damaged: it does not tell where the board was read")
    try:
        board = placed(before.board, place)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    force, errors = (setup.get(name) is True for name in ("force", "errors"))
    asked = Asked(form, False, None, False, output, force, path, errors=errors)
    part = None if before.part is None else WhichPart(*before.part)
    source = Source([board], Reading(None, False))
    return source, before.options, asked, part


def _real(output: str | None) -> str | None:
    """A file as nobody else has it; None for stdout."""
    return None if output in (None, "-") else os.path.realpath(str(output))
