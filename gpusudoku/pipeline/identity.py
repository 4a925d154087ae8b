"""The identity of a command, which is everything that its output depends on, and its arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku import formats
from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.errors import InputError, printable
from gpusudoku.formats.source import make_single_batch
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions
from gpusudoku.runs.identity import Identity, board_of_identity, identity_of_board

if TYPE_CHECKING:
    from gpusudoku.pipeline.source import Source

PARAMETERS_WITHOUT_EFFECT = frozenset(
    {
        # Input and output: the identity has the contents of boards, and the final form.
        "boards",
        "output",
        "force",
        "checkpoint",
        "form",
        "as_json",
        # The machine.
        "cluster",
        "device",
        "jobs",
        "gpus",
        "memory",
        "patience",
        # Messages.
        "quiet",
        "stats",
        "color",
    }
)
"""Parameters of commands that do not change the contents of the output file. A run may be resumed
with other values."""


def facts_of_lines(command: CommandFacts, settings: OutputOptions) -> dict[str, Any]:
    """Return the options of a command on which its lines depend, by name, as JSON."""
    options = {
        option: command.params[name]
        for name, option in command.option_names.items()
        if name not in PARAMETERS_WITHOUT_EFFECT
    }
    part = options.pop("part", None)
    json_types = (bool, int, float, type(None))
    facts = {
        option: value if isinstance(value, json_types) else str(value)
        for option, value in options.items()
    }
    facts["format"] = settings.form
    facts["details"] = settings.in_detail
    if part is not None:  # the number of the part is left out: all parts belong to one run
        facts["parts"] = part.parts
    return facts


def identity_of_command(
    command: CommandFacts,
    source: Source,
    settings: OutputOptions,
    options: Mapping[str, Any] | None = None,
) -> Identity:
    """Return everything that the lines of a command depend on; ``options`` are further values."""
    facts = {**facts_of_lines(command, settings), **(options or {})}
    part = command.params.get("part")
    if part is not None:
        facts["part"] = part.number
    boards: dict[str, Any]
    # A single board is identified by its cells, from whichever file it comes. A batch is
    # identified by the digests of its files.
    if source.board is not None:
        boards = identity_of_board(source.board[0])
        if source.input_source.alphabet:
            facts["alphabet"] = source.input_source.alphabet.decode()
        for option in ("box", "column"):  # they only control how the board was read
            facts.pop(option, None)
    else:
        inputs = []
        for name in source.names:
            digest = digest_of_file(name) if name in source.files else None
            inputs.append([name, digest])
        boards = {"inputs": inputs}
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
    box = command.params["box"]  # a Geometry, which is no JSON
    return {
        "params": {**command.params, "box": box and str(box)},
        "arguments": command.arguments,
        "folder": str(Path.cwd()),  # names of files may be relative to it
        "place": None if source.board is None else place_facts(source.board),
    }


def place_facts(board: Batch) -> dict[str, Any]:
    """Describe the place of the only board of a batch, and its extra columns, as JSON."""
    assert board.locations is not None  # all boards of a command have a place
    input_source = board.locations.source(0)
    return {
        "source": input_source.name,
        "line": int(board.locations.lines[0]),
        "columns": list(input_source.extra_columns),
        "beside": list(board.locations.extra_texts_of(0)),
        "text": board.locations.board_texts[0].decode(),
    }


def placed(boards: Mapping[str, Any], place: Mapping[str, Any]) -> Batch:
    """Create the batch of the board of an identity, with the place described by ``place_facts``."""
    input_source = InputSource(place["source"], tuple(place["columns"]))
    text = place.get("text", "").encode()
    return make_single_batch(
        board_of_identity(boards), input_source, place["line"], tuple(place["beside"]), text
    )
