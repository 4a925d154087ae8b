"""The boards that come with the program, each with its exact number of solutions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import GpusudokuError, InputError, shown

_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class CollectionBoard:
    """A board in the manifest."""

    name: str
    file: str
    """The name of its file in the folder of the boards."""
    box: Geometry
    clues: int
    count: int
    """The exact number of solutions."""
    confirmed: tuple[str, ...]
    """The independent ways in which the count was confirmed."""
    note: str
    searchable: bool
    """True if a search can reach the count: there are at most 1e9 solutions."""


def entries() -> list[CollectionBoard]:
    """Return all boards, in the order of the manifest."""
    return list(_by_name().values())


def entry(name: str) -> CollectionBoard:
    """Return the manifest's entry of a board.

    Raises
    ------
    InputError
        If there is no board of that name.
    """
    boards = _by_name()
    if name not in boards:
        # Prefer a similar name that starts with the same character, such as one of the same series.
        matches = get_close_matches(name.lower(), boards, n=9, cutoff=0.5)
        best = max(matches, key=lambda match: match[0] == name[0].lower(), default="")
        guess = f": did you mean @{best}?" if best else ""
        raise InputError(f"no board named {shown(f'@{name}')}{guess} (gpusudoku boards lists them)")
    return boards[name]


def load(name: str) -> Board:
    """Read a board by its name, with or without the ``@`` that it has on the command line.

    Raises
    ------
    InputError
        If there is no board of that name.
    """
    board_entry = entry(name.removeprefix("@"))
    path = folder() / board_entry.file
    text = path.read_text(encoding="utf-8")
    return next(formats.read_text(text, geometry=board_entry.box, source=str(path)))


@cache
def folder() -> Path:
    """Find the folder of the boards: in the installed package, or next to it in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "boards"
    checkout = package.parent / "boards"
    if (installed / _MANIFEST).is_file():
        return installed
    if (package.parent / "pyproject.toml").is_file() and (checkout / _MANIFEST).is_file():
        return checkout
    raise GpusudokuError(f"the boards are missing from this installation: no {installed}")


@cache
def _by_name() -> dict[str, CollectionBoard]:
    boards = {}
    for item in json.loads((folder() / _MANIFEST).read_text(encoding="utf-8")):
        item["box"] = Geometry.parse(item["box"])
        item["count"] = int(item["count"])
        item["confirmed"] = tuple(item["confirmed"])
        item["searchable"] = item.pop("search")
        boards[item["name"]] = CollectionBoard(**item)
    return boards
