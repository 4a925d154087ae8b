"""Nested forms: JSON objects, lists of many languages, and XML files of OpenSudoku.

One of the values of a JSON object is a board, the others stand beside it. JSON lines have an object
on every line; other JSON is decoded value by value, and objects around objects with boards, such as
``{"newboard": {"grids": [{"value": [[...]]}]}}``, are passed over.

Lists and XML are unfolded into the lines of other forms: ``[[5, 3, null], ...]`` becomes one line
for each innermost list, and a blank line where a list of lists ends; a string becomes a line as it
is, and so does a game. So they are recognised and read like all other lines. Lists may be in
braces, as in C and Java.
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
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.grids import SECTION, Head
from gpusudoku.formats.lines import (
    LineParser,
    LinesTogether,
)
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
from gpusudoku.formats.symbols import cell_of_list
from gpusudoku.formats.tables import NAMES, board_in, listed_names, no_column

BOX = "box"
"""The shape of the boxes, as the program writes it in its own objects."""
_JSON = re.compile(
    rb"""\s*+(?:\[\s*+)?\{\s*+(?:(?:"(?:[^"\\]|\\.)*+"|'[^']*+'|[A-Za-z_]\w*+)\s*+:|\}|"[^"]*+$|$)"""
)
"""The start of an object or of an array of them, not of candidates, rows or texts in braces."""
_BETWEEN = re.compile(r"[\s,\[\]]*+")
"""What is between the objects of an array."""

_DECLARATION = r"\s*+[A-Za-z_][\w \t*&<>,\[\]]*+(?::[^=\n]*+)?=\s*+"
"""What stands before a list: ``board =``, ``board: list[int] =``, ``int board[9][9] =``."""
_MAKER = r"\s*+(?:[A-Za-z_][\w.]*+(?=\(\s*+[\[(])|new\s++\w++[\w\[\]]*+\s*+(?=\{))"
"""What makes an array of it: ``np.array(`` or ``new int[][]{``."""
_PREFIX = re.compile(rf"(?:{_DECLARATION})?(?:{_MAKER})?")
_BRACES = r"\{\s*+(?:\{|[^{},]*+,[^{}]*+\}\s*+(?:[^{\s]|$))"
"""The start of a list in braces. Candidates in braces are none: nothing stands between them."""
_LIST = re.compile(
    rf"{_DECLARATION}(?:{_MAKER})?\s*+[\[({{]|(?:{_MAKER})?\s*+(?:[\[(]|{_BRACES})".encode()
)
_TOKEN = re.compile(
    r"""(?P<open>[\[({])|(?P<close>[\])}])|(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<end>\n)"""
    r"""|(?P<value>[\w.*?-]+)"""
    r"""|(?P<other>(?:\#|//)[^\n]*|/\*[^\n]*?\*/|[,;]|\s++(?:dtype=[\w.']+)?)"""
)
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_PAIR = 2
"""Texts of a puzzle and its solution."""
_MAX_DEPTH = 5
"""Lists within each other, less one."""

_VERSION = re.compile(r"version: ([1-4])\s+")
_LONGEST_TAG = 1 << 16
"""Bytes of a tag or a comment of several lines: the parser may begin it again on every line."""
_MAX_TAGS = 1 << 8
"""Elements within each other: the parser keeps the names of all that are open."""


def is_json(head: Head) -> bool:
    """Tell whether the input begins with a JSON object, or with an array of objects."""
    return _JSON.match(b"".join(line for _, line in head.lines)) is not None


def is_list(head: Head) -> bool:
    """Tell whether the input begins with a list or an XML tag."""
    start = head.first.lstrip()[:1]
    if start == b"<" or not (start.isalpha() or start in b"_[({"):
        return start == b"<"
    text = b"\n".join(content(line) for _, line in head.lines)
    return _LIST.match(text) is not None and not SECTION.fullmatch(head.first)


def read_objects(lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read the board of every object; one without a board gives an error in its place."""
    reader = _ObjectReader(way)
    together = LinesTogether(lines)
    begun = False
    box: Any = None
    """That of the last object."""

    def fields_of_lines(lines: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        with suppress(ValueError, RecursionError, FormatError):
            for text in lines:
                text = text.strip(" \t")
                if "\ufffd" in text:
                    return  # It may be damaged.
                found, end = _DECODER.raw_decode(text)
                if end < len(text) or type(found) is not dict or tuple(found) != reader.names:
                    return
                board = found.pop(reader.name)
                if not isinstance(board, str) or found.get(BOX) != box:
                    return
                yield board, tuple(map(_text_of, found.values()))

    for number, line in lines:
        if not line.strip():
            continue
        try:
            outer = _object(line)
        except FormatError as error:
            if not begun:  # no line has been an object: these are not JSON lines
                lines.put_back([(number, line)])
                for place, value in _values(lines):
                    yield from (reader.read(place, item) for item in reader.objects_in(value))
                return
            error.line = number
            yield error.at(way)
            continue
        begun = True
        for record in reader.objects_in(outer):
            entry = reader.read(number, record)
            yield entry
        if record is outer and isinstance(entry, Batch) and isinstance(outer.get(BOX), str | None):
            box = outer.get(BOX)
            origin = entry.places.origin(0)  # type: ignore[union-attr]
            yield from together.split(line, entry.geometry, origin, fields_of_lines)


class _ObjectReader:
    """Reads the boards of objects."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.names: tuple[str, ...] | None = None
        """All names of the last object with a board."""
        self.name = ""
        """The name of its board: the next object with the same names has it, too."""
        self._parsers: dict[Geometry | None, LineParser] = {}

    def objects_in(self, value: Any) -> list[Any]:
        """Return the objects with a board in a JSON value, and all else in their arrays.

        What is beside them in objects around them is left out. Without any, it is the value itself.
        """
        with suppress(RecursionError):
            if isinstance(value, list) and _has_objects(value):
                return [record for item in value for record in self.objects_in(item)]
            if isinstance(value, dict) and not self._names_of_boards(value):
                groups = [self.objects_in(inner) for inner in value.values() if _has_objects(inner)]
                groups = [group for group in groups if any(map(self._names_of_boards, group))]
                return [record for group in groups for record in group] or [value]
        return [value]

    def read(self, number: int, value: Any) -> Batch | InputError:
        """Read the board of an object, or return its error."""
        record: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
        board_value, puzzle = None, ""
        try:
            names = self._names_of_boards(record)
            if len(names) != 1:
                boards = "two boards" if names else "no board"
                raise FormatError(
                    (
                        f"a JSON object with {boards}, expected one name such as puzzle or board",
                        Hint("other column"),
                        f": {listed_names([*record]) or shown(_text_of(value))}",
                    )
                )
            self.name, self.names = names[0], tuple(record)
            way = self.way._replace(geometry=self.way.geometry or _box_of(record))
            board_value = record.pop(self.name)
            puzzle = _text_of(board_value)
            parser = self._parsers.setdefault(way.geometry, LineParser(way.geometry, way.near))
            board = parser.parse_field(number, _text_of_board(board_value))
            if board is None:
                raise FormatError(f"{shown(puzzle)}, expected a board")
        except FormatError as error:
            error.line = number
            error.column = error.column if puzzle == board_value else None
            others = tuple(map(_text_of, record.values()))
            return error.at(self.way, puzzle, tuple(record), others)
        origin = Origin(self.way.source, tuple(record))
        others = tuple(map(_text_of, record.values()))
        return single(board, origin, number, others, parser.text)

    def _names_of_boards(self, record: Any) -> list[str]:
        """Return the usual names of boards in an object, or that of ``--column``."""
        if not isinstance(record, dict):
            return []
        names = [name for name, value in record.items() if not _has_objects(value)]
        if self.way.column is not None:
            return [name for name in names if name == self.way.column]
        return [name for name in names if name.lower() in NAMES] or [
            name for name in names if name == "value" and isinstance(record[name], list | str)
        ]


def _values(lines: Lines) -> Iterator[tuple[int, Any]]:
    """Yield every JSON value, or item of an array, and the line where it begins."""
    numbers, rows = zip(*lines, strict=True)
    text = "\n".join(row.decode(errors="replace").rstrip("\r\n") for row in rows)
    brackets = ""
    row = start = end = 0
    while between := _BETWEEN.match(text, end):
        row += text.count("\n", start, between.end())
        start = between.end()
        brackets += re.sub(r"[\s,]", "", between[0])
        if start == len(text):
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError, FormatError) as error:
            message = f"JSON that cannot be read: {getattr(error, 'msg', error)}"
            line = numbers[getattr(error, "lineno", row + 1) - 1]
            raise UnreadableError(message, line, getattr(error, "colno", None)) from None
        yield numbers[row], value
    if brackets.replace("[]", ""):
        raise UnreadableError("a JSON array that does not begin or end", numbers[-1])


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


def _has_objects(value: Any) -> bool:
    """Tell whether a value is an object, or an array with some."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )


def _box_of(found: dict[str, Any]) -> Geometry | None:
    """Return the shape of the boxes, if the object has it."""
    box = found.get(BOX)
    if isinstance(box, list) and len(box) == 2:
        box = "x".join(map(str, box))
    if not isinstance(box, str | None):
        raise FormatError(
            (f"box {shown(json.dumps(box))}: expected a text such as 2x3, or give ", Hint("box"))
        )
    try:
        return Geometry.of(box)
    except InputError as error:
        raise FormatError(error.message) from None


def _text_of_board(value: Any) -> bytes:
    """Return the text that stands for a board: a text, or one line for a list or a list of rows."""
    if isinstance(value, list):
        if any(isinstance(row, list) or (isinstance(row, str) and len(row) > 2) for row in value):
            if any(not isinstance(row, list | str) or len(row) != len(value) for row in value):
                raise FormatError(f"{len(value)} rows, not all of {len(value)} cells")
            value = [cell for row in value for cell in row]
        value = ",".join(map(cell_of_list, map(str, value)))
    if not isinstance(value, str):
        raise FormatError(f"{shown(json.dumps(value))}, expected a board as text or list")
    text: str = value
    return text.encode(errors="surrogatepass")


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value) if type(value) is int else json.dumps(value)


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
            # Braces in brackets are sets, as of candidates.
            is_set = token is not None and token[0] == "{" and {*brackets} & {"[", "("}
            if token is None or is_set or (not brackets and kind == "value"):
                rest = text[place:].strip()
                raise UnreadableError(
                    f"{shown(rest)} in a list, expected numbers, None or null", number
                )
            place = token.end()
            found = token[0]
            is_line = kind == "text" and len(found) > 3
            is_cell = kind in ("text", "value") and not is_line
            if kind == "open" and len(brackets) > _MAX_DEPTH:
                raise UnreadableError("lists in lists in lists, expected a board", number)
            if nested if is_cell else values and (is_line or kind == "open"):
                raise UnreadableError("a list of cells and rows, expected either", number)
            if kind == "open":
                if not brackets:
                    start = number
                    size = 0
                yield from texts
                texts = []
                strings = 0
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
                values.append(cell_of_list(found.strip("\"' ")))
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


def _givens(data: str, number: int) -> str:
    """Return the digits of a game without those that the player of OpenSudoku put in.

    After the version each cell has its digit, one or two lists of notes, and 1 if it is not given.
    """
    version = _VERSION.match(data)
    if version is None:
        return data
    cells = data[version.end() :]
    notes = r"[0-9]+\|[0-9]+\|" if version[1] == "4" else r"[0-9,-]+\|{1,2}"
    cell = rf"([0-9])\|{notes}([01])\|"
    if not re.fullmatch(f"(?:{cell})+", cells):
        raise UnreadableError(f"a <game> with damaged data of version {version[1]}", number)
    digits = re.findall(cell, cells)
    return "".join(digit if editable == "0" else "." for digit, editable in digits)


def _games(lines: Iterable[NumberedLine], way: Way) -> Iterator[NumberedLine]:
    """Yield the line of every ``<game data="BOARD">``; no board may be in any other place."""
    number = 0
    depth = -1
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
        if depth > _MAX_TAGS:
            raise UnreadableError(f"more than {_MAX_TAGS} XML tags in each other", number)
        data = _givens(attributes.get("data", "").strip(), number) if name == "game" else ""
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
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = add_text
    # An element around everything: there may be several documents, but no DOCTYPE, and so no
    # entities, is allowed within it.
    for line_number, line in chain([(0, b"<boards>")], lines, [(0, b"</boards>")]):
        number = line_number or number
        place = parser.CurrentByteIndex
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
