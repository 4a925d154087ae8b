"""The identity of a long run: everything that its results depend on, and nothing else.

The parts of a run, its run file and the machines of a cluster must have the same identity. It
contains boards, options and version, but no device, number of threads or file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpusudoku import __version__
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import MAX_SHOWN, InputError, shortened


@dataclass(frozen=True)
class Identity:
    """The identity of a long run; all values are JSON."""

    command: str
    """``count``, ``enumerate``, ..."""
    boards: Mapping[str, Any]
    """For one board ``identity_of_board``. For many boards their number and digest; or ``inputs``,
    pairs of a name and the digest of a file, which is None where there is no file."""
    options: Mapping[str, Any]
    """All options on which the results depend, with the chosen method and the number of tasks."""
    version: str = __version__

    @property
    def json(self) -> str:
        """The identity as JSON; equal identities have equal texts."""
        facts = asdict(self)
        return json.dumps(facts, sort_keys=True, separators=(",", ":"), default=int)

    @property
    def digest(self) -> str:
        """The SHA-256 of ``json``, as hexadecimal digits."""
        return hashlib.sha256(self.json.encode()).hexdigest()

    @classmethod
    def parse(cls, text: str) -> Identity:
        """Read an identity that ``json`` wrote; raise a ValueError if it is none."""
        try:
            identity = cls(**json.loads(text))
            _facts(identity)  # raises if a field has another type
            return identity
        except (TypeError, AttributeError):
            raise ValueError("no identity of a run") from None

    def difference(self, other_identity: Identity) -> str | None:
        """Describe the difference to another identity in a few words; None if they are equal.

        The words describe the other identity: "method search, not contraction".
        """
        if self == other_identity:
            return None
        facts = _facts(self)
        other_facts = _facts(other_identity)
        is_one_board = "cells" in facts
        if self.command == other_identity.command and is_one_board != ("cells" in other_facts):
            return "other boards"
        for name in [*facts, *other_facts]:
            value = facts.get(name)
            other_value = other_facts.get(name)
            if value == other_value:
                continue
            if name == "inputs":
                return _other_inputs(value, other_value)
            if name in ("cells", "candidates", "sha256"):
                return "another board" if is_one_board else "other boards"
            return f"{name} {_shown_value(other_value)}, not {_shown_value(value)}"
        return "another run"


def identity_of_board(board: Board) -> dict[str, Any]:
    """Return a whole board as JSON. ``board_of_identity`` reads it."""
    candidates = board.given_candidates  # not those that follow from the clues
    return {
        "box": str(board.geometry),
        "cells": board.cells.tolist(),
        "candidates": None if candidates is None else candidates.tolist(),
    }


def board_of_identity(boards: Mapping[str, Any]) -> Board:
    """Make the board that ``identity_of_board`` described; raise an InputError if it is none."""
    try:
        return Board(
            boards["cells"], Geometry.parse(boards["box"]), candidates=boards["candidates"]
        )
    except KeyError as error:
        raise InputError(f"no board: {error} is missing") from None


def _facts(identity: Identity) -> dict[str, Any]:
    """Return all facts by name. ``difference`` names the first that differs.

    So a fact on which others depend comes before them.
    """
    return {
        "version": identity.version,
        "command": identity.command,
        **identity.boards,
        "method": identity.options.get("method"),
        **identity.options,
    }


def _other_inputs(inputs: Any, other_inputs: Any) -> str:
    """Describe the difference between the inputs of two commands: a file may have changed."""
    names = [name for name, _ in inputs]
    if names == [name for name, _ in other_inputs or ()]:
        for (name, digest), (_, other_digest) in zip(inputs, other_inputs, strict=True):
            if digest != other_digest:
                return f"{name} has changed since it began"
    return "other boards"


def _shown_value(value: Any) -> str:
    """Return a value as text for a message. A value from a file of another origin may be long."""
    return "none" if value is None else shortened(str(value), MAX_SHOWN)
