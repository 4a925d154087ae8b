"""The games of an XML file of OpenSudoku: each stands for a line of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from xml.parsers import expat

from gpusudoku.errors import shown
from gpusudoku.formats.headers import board_in
from gpusudoku.formats.source import LONGEST_LINE, NumberedLine, UnreadableError, Way

_LONGEST_TAG = 1 << 16
"""Bytes of a tag or a comment of several lines: the parser may begin it again on every line."""
_MOST_DEPTH = 1 << 8
"""Elements within each other: the parser keeps the names of all that are open."""


def games(lines: Iterable[NumberedLine], way: Way) -> Iterator[NumberedLine]:
    """The line of every ``<game data="BOARD">``.

    Raises
    ------
    UnreadableError
        If the XML is damaged or declares entities, or holds a board in any other place.
    """
    reader = _Reader(way)
    # An element around everything: there may be several documents, but no DOCTYPE, and so no
    # entities, is allowed within it.
    for number, line in chain([(0, b"<boards>")], lines, [(0, b"</boards>")]):
        error = reader.read(number, line)
        yield from reader.found
        reader.found.clear()
        if error is not None:
            raise error


class _Reader:
    """Reads XML line by line."""

    def __init__(self, way: Way) -> None:
        self.found: list[NumberedLine] = []
        """The games of the last line."""
        self._way = way
        self._number = 0
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.DefaultHandler = self._other
        self._depth = -1
        """Elements that are open, without the one around everything."""
        self._pending = 0
        """The bytes since the start of what has not ended."""
        self._between: list[str] = []
        """The text since the last tag."""
        self._size = 0

    def read(self, number: int, line: bytes) -> UnreadableError | None:
        """Read one more line; tells what is wrong on it."""
        self._number = number or self._number
        text = line.decode(errors="replace")
        if text.lstrip().startswith("<?xml"):
            text = text.partition("?>")[2]
        try:
            self._pending += len(text)
            self._parser.Parse(text)
            if self._pending > _LONGEST_TAG:
                what = f"a tag or a comment of {_LONGEST_TAG} bytes or more in XML"
                return UnreadableError(what, self._number)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            return UnreadableError(f"XML that cannot be read: {reason}", self._number)
        except UnreadableError as error:
            return error
        return None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._check_between()
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise UnreadableError(f"more than {_MOST_DEPTH} XML tags in each other", self._number)
        data = attributes.get("data", "").strip() if name == "game" else ""
        if data and not data.startswith("#"):
            self.found.append((self._number, data.encode() + b"\n"))
        elif name == "game":
            raise UnreadableError("a <game> without a board as its data", self._number)
        else:
            for key, value in attributes.items():
                self._check(value, f"in {shown(f'{key} of <{name}>')}")

    def _text(self, text: str) -> None:
        self._pending = 0
        self._between.append(text)
        self._size += len(text)
        if self._size > LONGEST_LINE:
            raise UnreadableError(f"a text of {LONGEST_LINE} bytes or more in XML", self._number)

    def _other(self, _text: str) -> None:
        self._pending = 0

    def _end(self, _name: str) -> None:
        self._depth -= 1
        self._check_between()

    def _check_between(self) -> None:
        self._pending = 0
        self._check("".join(self._between), "between tags")
        self._between, self._size = [], 0

    def _check(self, text: str, place: str) -> None:
        """Refuse a board where none is expected: it must not be passed over."""
        if board_in("".join(text.split()).encode(), self._way):
            raise UnreadableError(
                f'a board {place}, expected it as in <game data="BOARD">', self._number
            )
