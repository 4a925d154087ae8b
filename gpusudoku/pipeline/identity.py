"""The identity of a command: all that its output depends on, and the arguments of the command."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku import formats
from gpusudoku.board.batch import Batch, Origin
from gpusudoku.errors import InputError, printable
from gpusudoku.formats.source import single
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions
from gpusudoku.runs.identity import Identity, board_of_identity, identity_of_board

if TYPE_CHECKING:
    from gpusudoku.pipeline.source import Source

INDIFFERENT = frozenset(
    (
        *("boards", "output", "force", "checkpoint", "cluster", "quiet", "stats"),
        *("device", "jobs", "gpus", "memory", "color", "form", "as_json", "patience"),
    )
)
"""Parameters of commands on which files do not depend; boards are looked into."""


def facts_of_lines(command: CommandFacts, settings: OutputOptions) -> dict[str, Any]:
    """Return the options of a command on which its lines depend, by name, as JSON."""
    facts = {
        option: command.params[name]
        for name, option in command.option_names.items()
        if name not in INDIFFERENT
    }
    part = facts.pop("part", None)  # all parts are of one run
    simple = (bool, int, float, type(None))
    facts = {
        name: value if isinstance(value, simple) else str(value) for name, value in facts.items()
    }
    facts |= {"format": settings.form, "details": settings.in_detail}
    return facts if part is None else {**facts, "parts": part.parts}


def identity_of_command(
    command: CommandFacts,
    source: Source,
    settings: OutputOptions,
    options: Mapping[str, Any] | None = None,
) -> Identity:
    """Return all that the lines of a command depend on; ``options`` are more of that."""
    facts = {**facts_of_lines(command, settings), **(options or {})}
    if (part := command.params.get("part")) is not None:
        facts["part"] = part.number
    if source.board is not None:
        boards = identity_of_board(source.board[0])
        if source.origin.alphabet:
            facts["alphabet"] = source.origin.alphabet.decode()
        for name in ("box", "column"):  # which only say how it was read
            facts.pop(name, None)
    else:
        digests = [
            [name, digest_of_file(name) if name in source.files else None] for name in source.names
        ]
        boards = {"inputs": digests}
    return Identity(command.name, boards, facts)


def digest_of_file(name: str) -> str:
    """Compute the SHA-256 of a file."""
    if name == formats.STDIN or not Path(name).is_file():
        name = "<stdin>" if name == formats.STDIN else printable(name)
        raise InputError(f"{name}: cannot be read again, as --checkpoint of several boards needs")
    try:
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None


def setup_of_command(command: CommandFacts, source: Source) -> dict[str, Any]:
    """Describe a command as JSON, for ``resume``."""
    box = command.params["box"]
    return {
        "params": {**command.params, "box": box and str(box)},
        "arguments": command.arguments,
        "folder": str(Path.cwd()),
        "place": None if source.board is None else place_facts(source.board),
    }


def place_facts(board: Batch) -> dict[str, Any]:
    """Describe the place of the only board of a batch, and its other columns, as JSON."""
    assert board.places is not None  # whatever a command reads has a place
    origin = board.places.origin(0)
    return {
        "source": origin.name,
        "line": int(board.places.lines[0]),
        "columns": list(origin.columns),
        "beside": list(board.places.beside(0)),
        "text": board.places.texts[0].decode(),
    }


def placed(boards: Mapping[str, Any], place: Mapping[str, Any]) -> Batch:
    """Make the batch of the board of an identity, with the place that ``place_facts`` gave."""
    origin = Origin(place["source"], tuple(place["columns"]))
    text = place.get("text", "").encode()
    return single(board_of_identity(boards), origin, place["line"], tuple(place["beside"]), text)
