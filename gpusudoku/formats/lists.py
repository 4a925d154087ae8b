"""Lists of Python, JSON and NumPy: unfolded into the lines of other forms.

``[[5, 3, null], ...]`` becomes one line for each innermost list, and a blank line where a list of
lists ends; a string becomes a line as it is. So lists are told and read like all other lines, and
so are the games in an XML file of OpenSudoku.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpusudoku.errors import shown
from gpusudoku.formats.blocks import SECTION
from gpusudoku.formats.detect import Head
from gpusudoku.formats.games import games
from gpusudoku.formats.headers import no_column
from gpusudoku.formats.source import (
    LONGEST_LINE,
    Lines,
    NumberedLine,
    UnreadableError,
    Way,
    content,
)

_START = re.compile(rb"\s*+(?:[A-Za-z_]\w*+\s*+(?::[^=]*+)?=\s*+)?(?:[A-Za-z_][\w.]*+\()?\s*+[\[(]")
_PREFIX = re.compile(r"\s*(?:[A-Za-z_]\w*\s*(?::[^=]*)?=\s*)?(?:[A-Za-z_][\w.]*(?=\())?")
_TOKEN = re.compile(
    r"""(?P<open>[\[(])|(?P<close>[\])])|(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<end>\n)"""
    r"""|(?P<value>[\w.*?-]+)|(?P<other>(?:\#|//)[^\n]*|[,;]|\s++(?:dtype=[\w.']+)?)"""
)
EMPTY = {"none", "null", "nan", "na", ""}
_CLOSING = {"[": "]", "(": ")"}


def is_list(head: Head) -> bool:
    """Whether the input begins with a list or an XML tag."""
    if head.first.lstrip().startswith(b"<"):
        return True
    return _START.match(head.first) is not None and not SECTION.fullmatch(head.first)


def unfold(lines: Lines, way: Way) -> Lines:
    """The lines that stand for lists; their columns are not those of the file."""
    first = next(lines)
    lines.put_back([first])
    reader = games if first[1].lstrip().startswith(b"<") else _unfold
    return Lines(reader(lines, way))


def _unfold(lines: Iterable[NumberedLine], way: Way) -> Iterator[NumberedLine]:
    reader = _Reader()
    for number, line in lines:
        text = line.decode(errors="replace")
        if not reader.depth:
            if not text.strip():
                yield number, b"\n"
                continue
            if way.column is not None:
                raise no_column(way.column, number)
            text = text[_PREFIX.match(text).end() :]  # type: ignore[union-attr]
        yield from reader.read(number, text)
    if reader.depth:
        raise UnreadableError("a list that does not end", reader.start)


def whole_line(number: int, text: str) -> bytes:
    """The line of a text, which must not pass for a comment or for a blank line."""
    line = text.encode(errors="surrogatepass") + b"\n"
    if not content(line).strip():
        raise UnreadableError(f"{shown(text)}, expected a board", number)
    return line


class _Reader:
    """Reads lists that may go on over many lines."""

    def __init__(self) -> None:
        self.start = 0
        """The line on which the outermost list began."""
        self._open: list[str] = []
        """The open brackets."""
        self._values: list[str] = []
        """The numbers of the innermost list so far."""
        self._line = 0
        self._nested = False
        """Whether the list that ended last was in this one."""
        self._size = 0

    @property
    def depth(self) -> int:
        """The number of lists that have not ended."""
        return len(self._open)

    def read(self, number: int, text: str) -> Iterator[NumberedLine]:
        """Read one more line, and yield those that it stands for."""
        self._size = self._size + len(text) if self._open else 0
        if self._size > LONGEST_LINE and self._values:
            raise UnreadableError(f"a list of {LONGEST_LINE} bytes or more", self.start)
        place = 0
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None or (not self._open and token["value"]):
                what = shown(text[place:].strip())
                expected = "numbers, None or null"
                if text[place:].lstrip().startswith("{"):
                    expected = "one JSON object on every line, without brackets around them all"
                raise UnreadableError(f"{what} in a list, expected {expected}", number)
            place = token.end()
            if token["open"]:
                self._begin(number, token["open"])
            elif token["close"]:
                yield from self._end(number, token["close"])
            elif token["text"] is not None and len(token["text"]) > 3:
                self._check_kind(number, bool(self._values))
                yield number, whole_line(number, token["text"][1:-1])
                self._nested = True
            elif token["value"] or token["text"]:
                self._check_kind(number, self._nested)
                if not self._values:
                    self._line = number
                value = (token["value"] or token["text"]).strip("\"' ")
                self._values.append("." if value.lower() in EMPTY else value)

    def _begin(self, number: int, bracket: str) -> None:
        if not self._open:
            self.start = number
            self._size = 0
        if len(self._open) > 5:
            raise UnreadableError("lists in lists in lists, expected a board", number)
        self._check_kind(number, bool(self._values))
        self._open.append(bracket)
        self._nested = False

    def _end(self, number: int, bracket: str) -> Iterator[NumberedLine]:
        if not self._open or _CLOSING[self._open.pop()] != bracket:
            raise UnreadableError(f"{bracket!r} without a list that it ends", number)
        if self._nested and not self._values:
            yield number, b"\n"
        yield from self._row()
        self._nested = True

    def _check_kind(self, number: int, mixed: bool) -> None:
        """Refuse a list with cells beside rows."""
        if mixed:
            raise UnreadableError("a list of cells and rows, expected either", number)

    def _row(self) -> Iterator[NumberedLine]:
        if self._values:
            yield self._line, ",".join(self._values).encode(errors="surrogatepass") + b"\n"
            self._values = []
