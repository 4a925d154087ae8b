"""Boards with text on their lines, in front or behind, and boards in links.

A word is what stands between blanks, bars, colons, commas and semicolons. The board is the one word
that is a board of at least sixteen cells, or of several such words the one that is not full. In a
link, the parts of the path and the parameters are words. ``+`` marks a digit that was placed, as in
the library of HoDoKu: ``:0000:x:BOARD:...``. The text on both sides is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote

from gpusudoku.board.batch import Batch, Origin
from gpusudoku.board.board import Board
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.grids import Head
from gpusudoku.formats.lines import MIN_CELLS, LineParser, is_last_word
from gpusudoku.formats.source import LONGEST_ROW, FormatError, Lines, Way, content, quoted, single

_WORD = re.compile(r"[^\s|:,;]+", re.ASCII)
_AROUND_TEXT = " \t\r\n\f\v|:,;"
_LINK = re.compile(
    r"(?<![\w.-])(?:https?://)?((?:[a-z][a-z0-9-]*\.)+[a-z]+)(?::[0-9]+)?/\S*",
    re.ASCII | re.IGNORECASE,
)
_LINK_OR_WORD = re.compile(f"{_LINK.pattern}|{_WORD.pattern}", _LINK.flags)
_PART_OF_LINK = re.compile(r"[^/?&=#()\[\]<>]+")
_MIN_PIECE = 4
_SYMBOLS = re.compile(r"[0-9.*_?xX-]+|[0-9A-Za-z.*_?-]{16,}")
"""The symbols of boards of up to nine digits, or enough symbols of larger ones."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}|[+-]?[0-9]+(?:\.[0-9]+)+|[0-9]+-[0-9]+-[0-9]+")
"""A short number, a decimal, a version or a date, which is no piece of a board."""
_PLACED = re.compile(r"\+(?=[0-9])")


def read_beside(lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser = LineParser(way.geometry, way.near)
    origin = Origin(way.source, ("beside",))
    for number, line in lines:
        if not content(line).strip():
            continue
        try:
            board, beside, cells = _read_line(parser, number, line)
        except FormatError as error:
            if is_last_word(line, lines):
                return
            yield error.at(way, content(line).strip(), origin.columns)
        else:
            yield single(board, origin, number, (beside,), cells)


def is_beside(head: Head, way: Way) -> bool:
    """Tell whether boards have text beside them: most lines have a board, or a link."""
    parser = LineParser(way.geometry, way.near)
    first = head.lines[0]
    text = _text_of(first[1])
    if max(map(len, _WORD.findall(text)), default=0) < MIN_CELLS and not _LINK.search(text):
        return False
    with suppress(FormatError):
        parser.parse(*first)
        return False
    lines = [line for line in head.lines if content(line[1]).strip()]
    have_text: list[bool] = []
    for number, line in lines:
        try:
            _, beside, _ = _read_line(parser, number, line)
        except FormatError:
            if _LINK.match(_text_of(line).lstrip()):
                have_text.append(True)
        else:
            # The first line is no plain board: it may be a link without text beside it.
            have_text.append(beside != "" or number == first[0])
    return any(have_text) and 2 * len(have_text) >= len(lines)


def _text_of(line: bytes) -> str:
    """Return the text of a line, without its comment where it has no link."""
    text = line.decode(errors="replace")
    return text if _LINK.search(text) else content(line).decode(errors="replace")


def _read_line(parser: LineParser, number: int, line: bytes) -> tuple[Board, str, bytes]:
    """Read the board of a line, and return the text on both sides of it, and its own."""
    if len(line) > LONGEST_ROW:
        raise FormatError(f"a line of {LONGEST_ROW} bytes or more, expected a board", number)
    text = _text_of(line)
    words = _words_of(text)
    boards: list[tuple[Board, int, int, bytes]] = []
    errors: list[tuple[str, FormatError]] = []
    for word, start, end in words:
        if len(word) >= MIN_CELLS:
            try:
                board = parser.parse_field(number, word.encode(errors="replace"))
            except FormatError as wrong:
                is_in_link = start == end  # whose columns differ from those of its decoded parts
                wrong.column = start + (1 if is_in_link else wrong.column or 1)
                errors.append((word, wrong))
            else:
                boards += [(board, start, end, parser.text)] if board else []
    boards = [found for found in boards if not found[0].is_full] or boards
    if len(boards) > 1:
        two = f"{quoted(boards[0][0])} or as {quoted(boards[1][0])}"
        raise FormatError(f"a line that reads two ways, as {two}", number)
    link = _LINK.search(text)
    for word, error in errors:
        board = boards[0][0] if boards else None
        may_be_board = board and len(word) == board.geometry.cells
        if may_be_board or _is_piece(word) or not (board or link):
            raise error
    if not boards:
        longest = max((word for word, *_ in words), key=len, default="")
        what = f"{shown(longest)}, expected a board of at least {MIN_CELLS} cells beside text"
        if link:
            what = f"a link to {shown(link[1])} without a board in plain digits: compressed puzzles"
            what += ", as f-puzzles and SudokuPad have them, may have extra rules and are not read"
        raise FormatError(what, number, link.start() + 1 if link else None)
    [(board, start, end, cells)] = boards
    others = [word for word, *place in words if place != [start, end] and _is_piece(word)]
    if others:
        what = f"{shown(others[0])} beside {quoted(board)}, which may be pieces of one board"
        raise FormatError(what, number)
    sides = text[:start].strip(_AROUND_TEXT), text[end:].strip(_AROUND_TEXT)
    return board, " ".join(filter(None, sides)), cells


def _is_piece(word: str) -> bool:
    """Tell whether a word may be a piece of a damaged board: half of its cells are empty."""
    if _NUMBER.fullmatch(word) or not _SYMBOLS.fullmatch(word):
        return False
    empty = sum(map(word.count, "0.*_?-"))
    return 2 * empty >= len(word) >= _MIN_PIECE and word.strip("-") != ""


def _words_of(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a line, and where they start and end; a part of a link has no length."""
    words: list[tuple[str, int, int]] = []
    for found in _LINK_OR_WORD.finditer(text):
        start, end = found.span()
        if found[1]:
            words += [(unquote(part), start, start) for part in _PART_OF_LINK.findall(found[0])]
        else:
            words.append((_PLACED.sub("", found[0]), start, end))
    return words
