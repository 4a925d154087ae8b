"""Nested forms: JSON objects, lists of Python, JSON and NumPy, and XML files of OpenSudoku.

Of JSON objects there is one on every line; one of their values is a board, the others stand beside
it. Lists and XML are unfolded into the lines of other forms: ``[[5, 3, null], ...]`` becomes one
line for each innermost list, and a blank line where a list of lists ends; a string becomes a line
as it is, and so does a game. So they are recognised and read like all other lines.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any
from xml.parsers import expat

from gpusudoku.board.batch import Batch, Origin
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.grids import SECTION, Head
from gpusudoku.formats.lines import LineParser, LinesTogether
from gpusudoku.formats.source import (
    LONGEST_LINE,
    FormatError,
    Lines,
    NumberedLine,
    UnreadableError,
    Way,
    content,
    single,
)
from gpusudoku.formats.tables import NAMES, board_in, listed_names, no_column

BOX = "box"
"""The shape of the boxes, as the program writes it in its own objects."""
_OBJECT = re.compile(rb"\s*\{(?:[\s\"]|$)")
"""Candidates in braces are no object. Quotes may be blanks here."""

_LIST = re.compile(rb"\s*+(?:[A-Za-z_]\w*+\s*+(?::[^=]*+)?=\s*+)?(?:[A-Za-z_][\w.]*+\()?\s*+[\[(]")
_PREFIX = re.compile(r"\s*(?:[A-Za-z_]\w*\s*(?::[^=]*)?=\s*)?(?:[A-Za-z_][\w.]*(?=\())?")
_TOKEN = re.compile(
    r"""(?P<open>[\[(])|(?P<close>[\])])|(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<end>\n)"""
    r"""|(?P<value>[\w.*?-]+)|(?P<other>(?:\#|//)[^\n]*|[,;]|\s++(?:dtype=[\w.']+)?)"""
)
_EMPTY = {"none", "null", "nan", "na", ""}
_CLOSING = {"[": "]", "(": ")"}
_PAIR = 2
"""Texts of a puzzle and its solution."""
_MOST_DEPTH = 5
"""Lists within each other, less one."""

_LONGEST_TAG = 1 << 16
"""Bytes of a tag or a comment of several lines: the parser may begin it again on every line."""
_MOST_TAGS = 1 << 8
"""Elements within each other: the parser keeps the names of all that are open."""


def is_object(head: Head) -> bool:
    """Tell whether the input begins with a JSON object."""
    return _OBJECT.match(head.first) is not None


def is_list(head: Head) -> bool:
    """Tell whether the input begins with a list or an XML tag."""
    if head.first.lstrip().startswith(b"<"):
        return True
    return _LIST.match(head.first) is not None and not SECTION.fullmatch(head.first)


def read_objects(lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read the board of every object; one without a board gives an error in its place."""
    parsers: dict[Geometry | None, LineParser] = {}
    together = LinesTogether(lines)
    begun = False
    names: tuple[str, ...] = ()
    name, puzzle, box = "", "", None
    """Of the last object: all names, that of the board, the board, and the box."""

    def fields_of_lines(lines: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        with suppress(ValueError, RecursionError, FormatError):
            for text in lines:
                text = text.strip(" \t")
                if "\ufffd" in text:
                    return  # It may be damaged.
                found, end = _DECODER.raw_decode(text)
                if end < len(text) or type(found) is not dict or tuple(found) != names:
                    return
                board = found.pop(name)
                if not isinstance(board, str) or found.get(BOX) != box:
                    return
                yield board, tuple(map(_text_of, found.values()))

    for number, line in lines:
        if not line.strip():
            continue
        found, puzzle = dict[str, Any](), ""
        try:
            found, begun = _object(line), True
            name = _name_of(found, way.column)
            geometry = way.geometry or _box_of(found)
            parser = parsers.setdefault(geometry, LineParser(geometry, way.near))
            names = tuple(found)
            value = found.pop(name)
            puzzle = _text_of(value)
            board = parser.parse_field(number, _line_of(value, number))
        except FormatError as error:
            error.line = number
            if not begun:  # no line has been an object: these are not JSON lines
                raise UnreadableError(error.message, number) from None
            yield error.at(way.source, puzzle, tuple(found), tuple(map(_text_of, found.values())))
            continue
        assert board is not None  # the line is neither blank nor a comment
        origin = Origin(way.source, tuple(found))
        yield single(board, origin, number, tuple(map(_text_of, found.values())), parser.text)
        box = found.get(BOX)
        if isinstance(box, str | None):
            yield from together.split(line, board.geometry, origin, fields_of_lines)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise FormatError("expected a JSON object on every line")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of some pairs, no two of one name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise FormatError(f"a JSON object with two values of {shown(twice)}")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _name_of(found: dict[str, Any], column: str | None) -> str:
    """Return the name of the board: a usual one, or the given one."""
    names = [name for name in found if name == column or (column is None and name.lower() in NAMES)]
    if len(names) != 1:
        boards = "two boards" if names else "no board"
        raise FormatError(
            f"a JSON object with {boards}, expected one name such as puzzle or board, or that of "
            f"--column NAME: {listed_names([*found])}"
        )
    return names[0]


def _box_of(found: dict[str, Any]) -> Geometry | None:
    """Return the shape of the boxes, if the object has it."""
    box = found.get(BOX)
    if isinstance(box, list) and len(box) == 2:
        box = "x".join(map(str, box))
    if not isinstance(box, str | None):
        raise FormatError(
            f"box {shown(json.dumps(box))}: expected a text such as 2x3, or give --box"
        )
    try:
        return Geometry.of(box)
    except InputError as error:
        raise FormatError(str(error)) from None


def _line_of(value: Any, number: int) -> bytes:
    """Return the one line that stands for a board: a text, a list, or a list of rows."""
    if isinstance(value, list):
        if any(isinstance(row, list) or (isinstance(row, str) and len(row) > 2) for row in value):
            if any(not isinstance(row, list | str) or len(row) != len(value) for row in value):
                raise FormatError(f"{len(value)} rows, not all of {len(value)} cells")
            value = [cell for row in value for cell in row]
        value = ",".join(map(_cell, map(str, value)))
    if not isinstance(value, str):
        raise FormatError(f"{shown(json.dumps(value))}, expected a board as text or list")
    return _whole_line(number, value)


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value) if type(value) is int else json.dumps(value)


def _cell(text: str) -> str:
    """Return the text of a cell in a list, with a sign if it is empty."""
    text = text.strip()
    return "." if text.lower() in _EMPTY else text


def _whole_line(number: int, text: str) -> bytes:
    """Return the line of a text, which must not pass for a comment or for a blank line."""
    line = text.encode(errors="surrogatepass") + b"\n"
    if not content(line).strip():
        raise UnreadableError(f"{shown(text)}, expected a board", number)
    return line


def unfold(lines: Lines, way: Way) -> Lines:
    """Return the lines that lists or games stand for; their columns are not those of the file."""
    first = next(lines)
    lines.put_back([first])
    return Lines.of((_games if first[1].lstrip().startswith(b"<") else _rows)(lines, way))


def _rows(lines: Iterable[NumberedLine], way: Way) -> Iterator[NumberedLine]:
    """Yield the lines that lists stand for, each of which may go on over many lines."""
    brackets: list[str] = []
    """Those that are open."""
    values: list[str] = []
    """The numbers of the innermost list so far."""
    start = first = size = 0
    """The lines of the outermost bracket and of the first value; the bytes since the former."""
    nested = False
    """True if the list that ended last was in this one."""
    texts: list[NumberedLine] = []
    """The first lines of a list in a list, which may be a puzzle and its solution."""
    strings = 0
    """The lines of the innermost list so far."""
    for number, line in lines:
        text = line.decode(errors="replace")
        if not brackets:
            if not text.strip():
                yield number, b"\n"
                continue
            if way.column is not None:
                raise no_column(way.column, number)
            text = text[_PREFIX.match(text).end() :]  # type: ignore[union-attr]
        size = size + len(text) if brackets else 0
        if size > LONGEST_LINE and values:
            raise UnreadableError(f"a list of {LONGEST_LINE} bytes or more", start)
        place = 0
        while place < len(text):
            token = _TOKEN.match(text, place)
            kind = token.lastgroup if token else None
            if token is None or (not brackets and kind == "value"):
                rest = text[place:].strip()
                expected = "numbers, None or null"
                if rest.startswith("{"):
                    expected = "one JSON object on every line, without brackets around them all"
                raise UnreadableError(f"{shown(rest)} in a list, expected {expected}", number)
            place, found = token.end(), token[0]
            is_line = kind == "text" and len(found) > 3
            is_cell = kind in ("text", "value") and not is_line
            if kind == "open" and len(brackets) > _MOST_DEPTH:
                raise UnreadableError("lists in lists in lists, expected a board", number)
            if nested if is_cell else values and (is_line or kind == "open"):
                raise UnreadableError("a list of cells and rows, expected either", number)
            if kind == "open":
                if not brackets:
                    start, size = number, 0
                yield from texts
                texts, strings = [], 0
                brackets.append(found)
                nested = False
            elif kind == "close":
                if not brackets or _CLOSING[brackets.pop()] != found:
                    raise UnreadableError(f"{found!r} without a list that it ends", number)
                yield from _without_solution(texts, way)
                texts = []
                if values:
                    yield first, ",".join(values).encode(errors="surrogatepass") + b"\n"
                    values = []
                elif nested:
                    yield number, b"\n"
                nested = True
            elif is_line:
                texts.append((number, _whole_line(number, found[1:-1])))
                strings += 1
                if len(brackets) == 1 or strings > _PAIR:
                    yield from texts
                    texts = []
                nested = True
            elif is_cell:
                first = first if values else number
                values.append(_cell(found.strip("\"' ")))
    if brackets:
        yield from texts
        raise UnreadableError("a list that does not end", start)


def _without_solution(texts: list[NumberedLine], way: Way) -> list[NumberedLine]:
    """Return the puzzle alone of a puzzle, right or wrong, and a full board; else all lines."""
    if len(texts) < _PAIR:
        return texts
    boards = [board_in(line, way) for _, line in texts]
    if boards[0] == boards[1] and boards[0] is not None and boards[0].is_full:
        return texts[:1]
    puzzles = [text for text, board in zip(texts, boards, strict=True)
               if board is None or not board.is_full]  # fmt: skip
    return puzzles if len(puzzles) == 1 else texts


def _games(lines: Iterable[NumberedLine], way: Way) -> Iterator[NumberedLine]:
    """Yield the line of every ``<game data="BOARD">``; no board may be in any other place."""
    number, depth = 0, -1
    """The last line, and the elements that are open, without the one around everything."""
    pending = size = 0
    """The characters of a tag that has not ended, and those of the text before it."""
    text_before: list[str] = []
    found: list[NumberedLine] = []
    """The games of the last line."""

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        end_text()
        depth += 1
        if depth > _MOST_TAGS:
            raise UnreadableError(f"more than {_MOST_TAGS} XML tags in each other", number)
        data = attributes.get("data", "").strip() if name == "game" else ""
        if data and not data.startswith("#"):
            found.append((number, data.encode() + b"\n"))
        elif name == "game":
            raise UnreadableError("a <game> without a board as its data", number)
        else:
            for key, value in attributes.items():
                check(value, f"in {shown(f'{key} of <{name}>')}")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1
        end_text()

    def add_text(text: str) -> None:
        nonlocal size
        text_before.append(text)
        size += len(text)
        if size > LONGEST_LINE:
            raise UnreadableError(f"a text of {LONGEST_LINE} bytes or more in XML", number)

    def end_text() -> None:
        nonlocal size
        check("".join(text_before), "between tags")
        text_before.clear()
        size = 0

    def check(text: str, place: str) -> None:
        """Refuse a board where none is expected: it must not be passed over."""
        if board_in("".join(text.split()).encode(), way):
            raise UnreadableError(f'a board {place}, expected it as in <game data="BOARD">', number)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = add_text
    # An element around everything: there may be several documents, but no DOCTYPE, and so no
    # entities, is allowed within it.
    for line_number, line in chain([(0, b"<boards>")], lines, [(0, b"</boards>")]):
        number, place = line_number or number, parser.CurrentByteIndex
        text = line.decode(errors="replace")
        if text.lstrip().startswith("<?xml"):
            text = text.partition("?>")[2]
        try:
            parser.Parse(text)
            pending = 0 if parser.CurrentByteIndex > place else pending + len(text)
            if pending > _LONGEST_TAG:
                what = f"a tag or a comment of {_LONGEST_TAG} bytes or more in XML"
                raise UnreadableError(what, number)
        except expat.ExpatError as wrong:
            reason = expat.ErrorString(wrong.code)
            raise UnreadableError(f"XML that cannot be read: {reason}", number) from None
        finally:  # the games before the error come first
            yield from found
            found.clear()
