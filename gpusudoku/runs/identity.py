"""The identity of a long run: all that its results depend on, and nothing else.

Parts of a run, the file it is kept in, and the machines of a cluster must agree in this. So it
has boards, options and version, but no device, no number of threads and no file.
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
from gpusudoku.errors import MAX_SHOWN, InputError


@dataclass(frozen=True)
class Identity:
    """The identity of a long run; all values are JSON."""

    command: str
    """``count``, ``enumerate``, ..."""
    boards: Mapping[str, Any]
    """``identity_of_board`` of one; of many their number and digest, or the ``inputs``, pairs of a
    name and the digest of a file, None where there is no file."""
    options: Mapping[str, Any]
    """All that the results depend on, with the chosen method and the number of tasks."""
    version: str = __version__

    @property
    def json(self) -> str:
        """All of it, always in the same words; integers of NumPy are integers."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), default=int)

    @property
    def digest(self) -> str:
        """The SHA-256 of that, as hexadecimal digits."""
        return hashlib.sha256(self.json.encode()).hexdigest()

    @classmethod
    def parse(cls, text: str) -> Identity:
        """Read what ``json`` gave; raise a ValueError if it is no identity."""
        try:
            made = cls(**json.loads(text))
            _facts(made)
            return made
        except (TypeError, AttributeError):
            raise ValueError("no identity of a run") from None

    def difference(self, other: Identity) -> str | None:
        """Describe the difference to another one in a few words; None if it is the same run."""
        if self == other:
            return None
        mine = _facts(self)
        theirs = _facts(other)
        if self.command == other.command and ("cells" in mine) != ("cells" in theirs):
            return "other boards"
        for name in [*mine, *theirs]:
            if mine.get(name) != theirs.get(name):
                if name == "inputs":
                    return _other_inputs(mine[name], theirs.get(name))
                if name in ("cells", "candidates", "sha256"):
                    return "another board" if "cells" in mine else "other boards"
                return f"{name} {_word(theirs.get(name))}, not {_word(mine.get(name))}"
        return "another run"


def identity_of_board(board: Board) -> dict[str, Any]:
    """A board, whole, as JSON: ``board_of_identity`` makes it again."""
    given = board.given_candidates
    return {
        "box": str(board.geometry),
        "cells": board.cells.tolist(),
        "candidates": None if given is None else given.tolist(),
    }


def board_of_identity(boards: Mapping[str, Any]) -> Board:
    """Make the board that ``identity_of_board`` described; refuse what describes none."""
    try:
        return Board(
            boards["cells"], Geometry.parse(boards["box"]), candidates=boards["candidates"]
        )
    except KeyError as error:
        raise InputError(f"no board: {error} is missing") from None


def _facts(identity: Identity) -> dict[str, Any]:
    """Return all facts, those first whose difference says most."""
    return {
        "version": identity.version,
        "command": identity.command,
        **identity.boards,
        "method": identity.options.get("method"),
        **identity.options,
    }


def _other_inputs(mine: Any, theirs: Any) -> str:
    """Describe the difference in the inputs of a command: one may be a file that has changed."""
    if [name for name, _ in mine] == [name for name, _ in theirs or ()]:
        for (name, digest), (_, before) in zip(mine, theirs, strict=True):
            if digest != before:
                return f"{name} has changed since it began"
    return "other boards"


def _word(value: Any) -> str:
    """Write a value for a message; one of a file that is not ours may be long."""
    text = "none" if value is None else str(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
