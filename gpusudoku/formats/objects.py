"""Nested forms: JSON objects, lists of many languages, and XML files of OpenSudoku.

One of the values of a JSON object is a board, the others are its extra texts. JSON lines have an
object on every line; other JSON is decoded value by value. Objects around objects with boards, such
as ``{"newboard": {"grids": [{"value": [[...]]}]}}``, are skipped.

Lists and XML are unfolded into the lines of other forms: ``[[5, 3, null], ...]`` becomes one line
for each innermost list, and a blank line at the end of a list of lists. A string becomes a line,
and so does a game of OpenSudoku. The resulting lines are recognised and read like those of any
input. Lists may be in braces, as in C and Java.
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

from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.grids import Head
from gpusudoku.formats.lines import BulkReader, LineParser
from gpusudoku.formats.paragraphs import SECTION
from gpusudoku.formats.source import (
    MAX_LINE_BYTES,
    FormatError,
    Lines,
    NumberedLine,
    ReadOptions,
    UnreadableError,
    clean_line,
    make_single_batch,
)
from gpusudoku.formats.symbols import cell_of_list
from gpusudoku.formats.tables import BOARD_NAMES, board_of_field, join_names, make_no_column_error

BOX = "box"
"""The name of the box shape in the JSON objects that the program writes."""
_JSON = re.compile(
    rb"""\s*+(?:\[\s*+)?\{\s*+(?:(?:"(?:[^"\\]|\\.)*+"|'[^']*+'|[A-Za-z_]\w*+)\s*+:|\}|"[^"]*+$|$)"""
)
"""The start of an object or of an array of them, not of candidates, rows or texts in braces."""
_BETWEEN = re.compile(r"[\s,\[\]]*+")
"""The text between the objects of an array."""

_DECLARATION = r"\s*+[A-Za-z_][\w \t*&<>,\[\]]*+(?::[^=\n]*+)?=\s*+"
"""The text before a list: ``board =``, ``board: list[int] =``, ``int board[9][9] =``."""
_CONSTRUCTOR = r"\s*+(?:[A-Za-z_][\w.]*+(?=\(\s*+[\[(])|new\s++\w++[\w\[\]]*+\s*+(?=\{))"
"""The start of a call that makes an array of a list: ``np.array(`` or ``new int[][]{``."""
_PREFIX = re.compile(rf"(?:{_DECLARATION})?(?:{_CONSTRUCTOR})?")
_BRACES = r"\{\s*+(?:\{|[^{},]*+,[^{}]*+\}\s*+(?:[^{\s]|$))"
"""The start of a list in braces. Candidates in braces are different: nothing is between them."""
_LIST = re.compile(
    rf"{_DECLARATION}(?:{_CONSTRUCTOR})?\s*+[\[({{]|(?:{_CONSTRUCTOR})?\s*+(?:[\[(]|{_BRACES})".encode()
)
_TOKEN = re.compile(
    r"""(?P<open>[\[({])|(?P<close>[\])}])|(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<end>\n)"""
    r"""|(?P<value>[\w.*?-]+)"""
    r"""|(?P<other>(?:\#|//)[^\n]*|/\*[^\n]*?\*/|[,;]|\s++(?:dtype=[\w.']+)?)"""
)
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_PAIR = 2
"""The number of strings of a puzzle and its solution."""
_MAX_DEPTH = 6
"""The maximum number of lists within each other."""

_VERSION = re.compile(r"version: ([1-4])\s+")
_MAX_TAG_BYTES = 1 << 16
"""The maximum size of a tag or a comment of several lines. The parser may parse it again from its
start on every line."""
_MAX_OPEN_TAGS = 1 << 8
"""The maximum number of elements within each other. The parser keeps the names of all of them."""


def is_json(head: Head) -> bool:
    """Tell whether the input begins with a JSON object, or with an array of objects."""
    return _JSON.match(b"".join(line for _, line in head.lines)) is not None


def is_list(head: Head) -> bool:
    """Tell whether the input begins with a list or an XML tag."""
    first_byte = head.first.lstrip()[:1]
    if first_byte == b"<":
        return True
    if not (first_byte.isalpha() or first_byte in b"_[({"):
        return False
    text = b"\n".join(clean_line(line) for _, line in head.lines)
    return _LIST.match(text) is not None and not SECTION.fullmatch(head.first)


def read_objects(lines: Lines, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read the board of every object; yield an error for an object without a board."""
    reader = _ObjectReader(options)
    bulk_reader = BulkReader(lines)
    has_json_lines = False
    for number, line in lines:
        if not line.strip():
            continue
        try:
            outer = _parse_object(line)
        except FormatError as error:
            if not has_json_lines:
                # The first line is not an object: the input is other JSON.
                lines.put_back([(number, line)])
                for value_line, value in _parse_values(lines):
                    for item in reader.objects_in(value):
                        yield reader.read(value_line, item)
                return
            error.line = number
            yield error.as_input_error(options)
            continue
        has_json_lines = True
        records = reader.objects_in(outer)
        for record in records:
            entry = reader.read(number, record)
            yield entry
        # The following lines may be objects like this one, but not like one inside of it.
        is_single_object = records[-1] is outer
        box = outer.get(BOX)
        if is_single_object and isinstance(entry, Batch) and isinstance(box, str | None):
            reader.box = box
            source = entry.locations.source(0)  # type: ignore[union-attr]
            yield from bulk_reader.read_similar_records(
                line, entry.geometry, source, reader.split_lines
            )


class _ObjectReader:
    """Reads the boards of objects."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._names: tuple[str, ...] | None = None
        """All names of the last object with a board."""
        self._board_name = ""
        """The name of its board, and of the board of the next object with the same names."""
        self.box: str | None = None
        """The box shape in the object before the lines for ``split_lines``."""
        self._parsers: dict[Geometry | None, LineParser] = {}

    def split_lines(self, lines: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the board and the extra texts of each line, up to the first that is not alike.

        Alike are objects with the names, in the same order, and the box shape of the last object.
        """
        with suppress(ValueError, RecursionError, FormatError):
            for line in lines:
                text = line.strip(" \t")
                if "\ufffd" in text:
                    return  # It may be damaged.
                record, end = _DECODER.raw_decode(text)
                if end < len(text) or type(record) is not dict or tuple(record) != self._names:
                    return
                board = record.pop(self._board_name)
                if not isinstance(board, str) or record.get(BOX) != self.box:
                    return
                yield board, tuple(map(_text_of, record.values()))

    def objects_in(self, value: Any) -> list[Any]:
        """Return the objects with a board in a JSON value, and all other items of their arrays.

        The other values of the objects around them are omitted. Without such an object, return the
        value itself.
        """
        with suppress(RecursionError):
            if isinstance(value, list) and _has_objects(value):
                return [record for item in value for record in self.objects_in(item)]
            if isinstance(value, dict) and not self._names_of_boards(value):
                records: list[Any] = []
                for inner_value in value.values():
                    if _has_objects(inner_value):
                        inner_records = self.objects_in(inner_value)
                        if any(map(self._names_of_boards, inner_records)):
                            records += inner_records
                return records or [value]
        return [value]

    def read(self, number: int, value: Any) -> Batch | InputError:
        """Read the board of an object, or return its error."""
        record: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
        board_value = None
        puzzle = ""
        try:
            names = self._names_of_boards(record)
            if len(names) != 1:
                boards = "two boards" if names else "no board"
                raise FormatError(
                    (
                        f"a JSON object with {boards}, expected one name such as puzzle or board",
                        Hint("other column"),
                        f": {join_names([*record]) or shown(_text_of(value))}",
                    )
                )
            self._board_name = names[0]
            self._names = tuple(record)
            geometry = self._options.geometry or _box_of(record)
            board_value = record.pop(self._board_name)
            puzzle = _text_of(board_value)
            # A parser remembers the geometry of its last board, so keep one for each box shape.
            parser = self._parsers.setdefault(
                geometry, LineParser(geometry, self._options.preferred)
            )
            board = parser.parse_field(number, _board_text_of(board_value))
            if board is None:
                raise FormatError(f"{shown(puzzle)}, expected a board")
        except FormatError as error:
            error.line = number
            if puzzle != board_value:
                error.column = None  # Its text is not that of the file.
            extra_texts = tuple(map(_text_of, record.values()))
            return error.as_input_error(self._options, puzzle, tuple(record), extra_texts)
        source = InputSource(self._options.source, tuple(record))
        extra_texts = tuple(map(_text_of, record.values()))
        return make_single_batch(board, source, number, extra_texts, parser.board_text)

    def _names_of_boards(self, record: Any) -> list[str]:
        """Return the usual names of boards in an object, or the option ``column`` if it has it."""
        if not isinstance(record, dict):
            return []
        names = [name for name, value in record.items() if not _has_objects(value)]
        if self._options.column is not None:
            return [name for name in names if name == self._options.column]
        usual_names = [name for name in names if name.lower() in BOARD_NAMES]
        if usual_names:
            return usual_names
        return [name for name in names if name == "value" and isinstance(record[name], list | str)]


def _parse_values(lines: Lines) -> Iterator[tuple[int, Any]]:
    """Yield every JSON value, or item of an array, and the line where it begins."""
    numbers, rows = zip(*lines, strict=True)
    text = "\n".join(row.decode(errors="replace").rstrip("\r\n") for row in rows)
    brackets = ""  # those of arrays around the values
    row = 0
    start = 0
    end = 0
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


def _parse_object(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=_make_object)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise FormatError("expected a JSON object on every line")
    return record


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of some pairs; refuse two pairs with the same name."""
    record = dict(pairs)
    if len(record) < len(pairs):
        duplicate = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise FormatError(f"a JSON object with two values of {shown(duplicate)}")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_make_object)


def _has_objects(value: Any) -> bool:
    """Tell whether a value is an object, or an array with an object."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )


def _box_of(record: dict[str, Any]) -> Geometry | None:
    """Return the box shape of an object; None if it has none."""
    box = record.get(BOX)
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


def _board_text_of(value: Any) -> bytes:
    """Return the text of a board: that of a string, or one line for a list or a list of rows."""
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
    """Return the text of a JSON value: that of a string itself, other values as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value) if type(value) is int else json.dumps(value)


def unfold(lines: Lines, options: ReadOptions) -> Lines:
    """Return the lines of lists or games; their columns are not those of the input."""
    first = next(lines)
    lines.put_back([first])
    if first[1].lstrip().startswith(b"<"):
        return Lines.of(_GameUnfolder(options).unfold(lines))
    return Lines.of(_ListUnfolder(options).unfold(lines))


class _ListUnfolder:
    """Turns lists, each of which may continue over many lines, into lines of other forms.

    The *innermost* list is the last one that has begun and not ended.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._open_brackets: list[str] = []
        self._start_line = 0
        """The line of the outermost bracket."""
        self._size = 0
        """The number of characters since the line of the outermost bracket."""
        self._has_rows = False
        """True if the innermost list has lists or long strings, and not cells."""
        self._values: list[str] = []
        """The cells of the innermost list so far."""
        self._values_line = 0
        """The line of the first of them."""
        self._strings: list[NumberedLine] = []
        """The lines of the first strings of a list within a list: they may be a puzzle and its
        solution, so they are held back."""
        self._string_count = 0
        """The number of strings since the last list began."""

    def unfold(self, lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
        """Yield the lines of the lists."""
        for number, line in lines:
            text = line.decode(errors="replace")
            if self._open_brackets:
                self._size += len(text)
            else:
                if not text.strip():
                    yield number, b"\n"
                    continue
                if self._options.column is not None:
                    raise make_no_column_error(self._options.column, number)
                text = text[_PREFIX.match(text).end() :]  # type: ignore[union-attr]
                self._size = 0
            if self._size > MAX_LINE_BYTES and self._values:
                raise UnreadableError(f"a list of {MAX_LINE_BYTES} bytes or more", self._start_line)
            yield from self._unfold_line(number, text)
        if self._open_brackets:
            yield from self._strings
            raise UnreadableError("a list that does not end", self._start_line)

    def _unfold_line(self, number: int, text: str) -> Iterator[NumberedLine]:
        """Yield the lines that are complete after one more line of the lists."""
        position = 0
        while position < len(text):
            token = _TOKEN.match(text, position)
            kind = token.lastgroup if token else None
            # Braces in brackets are sets, such as those of candidates.
            is_set = token is not None and token[0] == "{" and {*self._open_brackets} & {"[", "("}
            if token is None or is_set or (not self._open_brackets and kind == "value"):
                rest = text[position:].strip()
                raise UnreadableError(
                    f"{shown(rest)} in a list, expected numbers, None or null", number
                )
            position = token.end()

            # A string is a whole line of cells unless it is too short, with its two quotes.
            is_row = kind == "text" and len(token[0]) > 3
            is_cell = kind in ("text", "value") and not is_row
            if kind == "open" and len(self._open_brackets) >= _MAX_DEPTH:
                raise UnreadableError("too many nested lists, expected a board", number)
            is_row_after_cells = bool(self._values) and (is_row or kind == "open")
            if is_row_after_cells or (is_cell and self._has_rows):
                raise UnreadableError("a list of both cells and rows, expected one of them", number)

            if kind == "open":
                yield from self._begin_list(number, token[0])
            elif kind == "close":
                yield from self._end_list(number, token[0])
            elif is_row:
                yield from self._add_string(number, token[0][1:-1])
            elif is_cell:
                if not self._values:
                    self._values_line = number
                self._values.append(cell_of_list(token[0].strip("\"' ")))

    def _begin_list(self, number: int, bracket: str) -> list[NumberedLine]:
        """Begin a list; return the lines that are complete."""
        if not self._open_brackets:
            self._start_line = number
            self._size = 0
        self._open_brackets.append(bracket)
        self._has_rows = False
        self._string_count = 0
        return self._take_strings()

    def _end_list(self, number: int, bracket: str) -> list[NumberedLine]:
        """End the innermost list; return the lines that are complete."""
        if not self._open_brackets or _CLOSING[self._open_brackets.pop()] != bracket:
            raise UnreadableError(f"{bracket!r} without its opening bracket", number)
        lines = _without_solution(self._take_strings(), self._options)
        if self._values:
            cells = ",".join(self._values).encode(errors="surrogatepass")
            lines.append((self._values_line, cells + b"\n"))
            self._values = []
        elif self._has_rows:
            lines.append((number, b"\n"))  # A blank line ends a grid.
        self._has_rows = True  # The list around it has a list.
        return lines

    def _add_string(self, number: int, text: str) -> list[NumberedLine]:
        """Add a string to the innermost list; return the lines that are complete."""
        line = text.encode(errors="surrogatepass") + b"\n"
        # It must not be taken for a comment or a blank line.
        if not clean_line(line).strip():
            raise UnreadableError(f"{shown(text)}, expected a board", number)
        self._strings.append((number, line))
        self._string_count += 1
        self._has_rows = True
        is_pair_possible = len(self._open_brackets) != 1 and self._string_count <= _PAIR
        return [] if is_pair_possible else self._take_strings()

    def _take_strings(self) -> list[NumberedLine]:
        """Return the lines of the strings that were held back."""
        strings = self._strings
        self._strings = []
        return strings


def _without_solution(strings: list[NumberedLine], options: ReadOptions) -> list[NumberedLine]:
    """Return the lines of strings, but only the puzzle if they are a puzzle and a full board.

    The puzzle may be wrong.
    """
    if len(strings) < _PAIR:
        return strings
    boards = [board_of_field(line, options) for _, line in strings]
    if boards[0] == boards[1] and boards[0] is not None and boards[0].is_full:
        return strings[:1]
    puzzles = [
        string
        for string, board in zip(strings, boards, strict=True)
        if board is None or not board.is_full
    ]
    return puzzles if len(puzzles) == 1 else strings


def _clues_of_game(data: str, line: int) -> str:
    """Return the digits of a game of OpenSudoku without those that the player entered.

    After the version, each cell has its digit, one or two lists of notes, and 1 if it is editable.
    """
    version = _VERSION.match(data)
    if version is None:
        return data
    cells = data[version.end() :]
    notes = r"[0-9]+\|[0-9]+\|" if version[1] == "4" else r"[0-9,-]+\|{1,2}"
    cell = rf"([0-9])\|{notes}([01])\|"
    if not re.fullmatch(f"(?:{cell})+", cells):
        raise UnreadableError(f"a <game> with damaged data of version {version[1]}", line)
    digits = re.findall(cell, cells)
    return "".join(digit if is_editable == "0" else "." for digit, is_editable in digits)


class _GameUnfolder:
    """Turns every ``<game data="BOARD">`` into a line; refuses boards in any other place."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._line = 0
        """The number of the last line."""
        self._depth = -1
        """The number of open elements, without the one around everything."""
        self._texts: list[str] = []
        """The text before the next tag."""
        self._text_size = 0
        self._games: list[NumberedLine] = []
        """The games of the last line."""

    def unfold(self, lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
        """Yield the lines of the games."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._begin_element
        parser.EndElementHandler = self._end_element
        parser.CharacterDataHandler = self._add_text
        unfinished_size = 0  # characters of a tag that has not ended
        # An element around everything allows several documents, but no DOCTYPE within it, and so no
        # entities.
        for number, line in chain([(0, b"<boards>")], lines, [(0, b"</boards>")]):
            self._line = number or self._line
            position = parser.CurrentByteIndex
            text = line.decode(errors="replace")
            if text.lstrip().startswith("<?xml"):
                text = text.partition("?>")[2]
            try:
                parser.Parse(text)
                has_advanced = parser.CurrentByteIndex > position
                unfinished_size = 0 if has_advanced else unfinished_size + len(text)
                if unfinished_size > _MAX_TAG_BYTES:
                    message = f"a tag or a comment of {_MAX_TAG_BYTES} bytes or more in XML"
                    raise UnreadableError(message, self._line)
            except expat.ExpatError as error:
                reason = expat.ErrorString(error.code)
                raise UnreadableError(f"XML that cannot be read: {reason}", self._line) from None
            finally:  # the games before an error come first
                yield from self._games
                self._games.clear()

    def _begin_element(self, name: str, attributes: dict[str, str]) -> None:
        self._check_text_between_tags()
        self._depth += 1
        if self._depth > _MAX_OPEN_TAGS:
            raise UnreadableError(f"more than {_MAX_OPEN_TAGS} nested XML tags", self._line)
        if name != "game":
            for key, value in attributes.items():
                self._refuse_board(value, f"in {shown(f'{key} of <{name}>')}")
            return
        board = _clues_of_game(attributes.get("data", "").strip(), self._line)
        if not board or board.startswith("#"):
            raise UnreadableError("a <game> without a board as its data", self._line)
        self._games.append((self._line, board.encode() + b"\n"))

    def _end_element(self, _name: str) -> None:
        self._depth -= 1
        self._check_text_between_tags()

    def _add_text(self, text: str) -> None:
        self._texts.append(text)
        self._text_size += len(text)
        if self._text_size > MAX_LINE_BYTES:
            raise UnreadableError(f"a text of {MAX_LINE_BYTES} bytes or more in XML", self._line)

    def _check_text_between_tags(self) -> None:
        self._refuse_board("".join(self._texts), "between tags")
        self._texts.clear()
        self._text_size = 0

    def _refuse_board(self, text: str, place: str) -> None:
        """Refuse a board in an unexpected place: it must not be skipped silently."""
        if board_of_field("".join(text.split()).encode(), self._options):
            raise UnreadableError(
                f'a board {place}, expected it as in <game data="BOARD">', self._line
            )
