"""JSON objects, one on every line: one of their values is a board, the others stand beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.detect import Head
from gpusudoku.formats.headers import NAMES, listed_names
from gpusudoku.formats.lines import LineParser
from gpusudoku.formats.lists import EMPTY, whole_line
from gpusudoku.formats.plain import LineBlocks
from gpusudoku.formats.source import FormatError, Lines, UnreadableError, Way, single

_START = re.compile(rb"\s*\{(?:[\s\"]|$)")
"""Candidates in braces are no object. Quotes may be blanks here."""
MOST_ORIGINS = 1 << 10
"""Sets of names that are kept for objects that have the same: others may all differ."""
BOX = "box"
"""The shape of the boxes, as the program writes it in its own objects."""


def is_object(head: Head) -> bool:
    """Whether the input begins with a JSON object."""
    return _START.match(head.first) is not None


def read_objects(lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read the board of every object; one without a board gives an error in its place.

    The other values are texts, or JSON where they are none. Objects may have different ones.

    Raises
    ------
    UnreadableError
        If the first line is no object.
    """
    parsers: dict[Geometry | None, LineParser] = {}
    origins: dict[tuple[str, ...], Origin] = {}
    blocks = LineBlocks(lines)
    begun = False
    for number, line in lines:
        if not line.strip():
            continue
        found: dict[str, Any] = {}
        puzzle = ""
        try:
            found, begun = _object(number, line), True
            name = _name_of(found, number, way.column)
            box = way.geometry or _box_of(found, number)
            parser = parsers.setdefault(box, LineParser(box, way.near))
            names = tuple(found)
            value = found.pop(name)
            puzzle = _text_of(value)
            board = parser.parse(number, _line_of(value, number))
            if board is not None:
                parser.refuse_one_cell(number, board)
        except FormatError as error:
            if not begun:  # no line has been an object: these are not JSON lines
                raise UnreadableError(error.message, number) from None
            others = tuple(map(_text_of, found.values()))
            yield error.at(way.source, puzzle, tuple(found), others)
            continue
        assert board is not None  # the line is neither blank nor a comment
        if len(origins) > MOST_ORIGINS:
            origins.clear()
        origin = origins.setdefault(tuple(found), Origin(way.source, tuple(found)))
        yield single(board, origin, number, tuple(map(_text_of, found.values())))
        told = found.get(BOX)
        if board.n <= len(DIGITS) and isinstance(told, str | None):
            yield from _objects_like(line, blocks, board.geometry, origin, names, name, told)


def _objects_like(
    line: bytes,
    blocks: LineBlocks,
    geometry: Geometry,
    origin: Origin,
    names: tuple[str, ...],
    name: str,
    box: str | None,
) -> Iterator[Batch]:
    """Read on while objects have the names and the box of one that was parsed."""
    cells = geometry.cells
    while lines := blocks.next(line):
        boards: list[str] = []
        others: list[tuple[str, ...]] = []
        with suppress(ValueError, RecursionError, FormatError):
            for text in lines:
                text = text.strip(" \t")
                found, end = _DECODER.raw_decode(text)
                if end < len(text) or type(found) is not dict or tuple(found) != names:
                    break
                if found.get(BOX) != box:
                    break
                board = found.pop(name)
                if not isinstance(board, str) or len(board) != cells:
                    break
                others.append(tuple(map(_text_of, found.values())))
                boards.append(board)
        batch = blocks.take(boards, others, geometry, origin)
        if batch is None:
            return
        yield batch


def _object(number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_once)
    except FormatError as error:
        error.line = number
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise FormatError("expected a JSON object on every line", number)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some pairs, no two of one name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = set[str]()
        for name, _ in pairs:
            if name in names:
                raise FormatError(f"a JSON object with two values of {shown(name)}")
            names.add(name)
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _name_of(found: dict[str, Any], number: int, column: str | None) -> str:
    """The name of the board: a usual one, or as it is said."""
    names = [name for name in found if name == column or (column is None and name.lower() in NAMES)]
    if len(names) != 1:
        what = "two boards" if names else "no board"
        raise FormatError(
            f"a JSON object with {what}, expected one name such as puzzle or board, or that of "
            f"--column NAME: {listed_names([*found])}",
            number,
        )
    return names[0]


def _box_of(found: dict[str, Any], number: int) -> Geometry | None:
    """The shape of the boxes, if the object tells it."""
    told = found.get(BOX)
    if told is None:
        return None
    if isinstance(told, list) and len(told) == 2:
        told = "x".join(map(str, told))
    if not isinstance(told, str):
        raise FormatError(
            f"box {shown(json.dumps(told))}: expected a text such as 2x3, or give --box", number
        )
    try:
        return Geometry.parse(told)
    except InputError as error:
        raise FormatError(str(error), number) from None


def _line_of(value: Any, number: int) -> bytes:
    """The one line that stands for a board: a text, a list, or a list of rows."""
    if isinstance(value, list):
        value = _joined(value, number)
    if not isinstance(value, str):
        raise FormatError(f"{shown(json.dumps(value))}, expected a board as text or list", number)
    return whole_line(number, value)


def _joined(value: list[Any], number: int) -> str:
    if any(isinstance(row, list) or (isinstance(row, str) and len(row) > 2) for row in value):
        if any(not isinstance(row, list | str) or len(row) != len(value) for row in value):
            raise FormatError(f"{len(value)} rows, not all of {len(value)} cells", number)
        value = [cell for row in value for cell in row]
    cells = [str(cell).strip() for cell in value]
    return ",".join("." if cell.lower() in EMPTY else cell for cell in cells)


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value) if type(value) is int else json.dumps(value)
