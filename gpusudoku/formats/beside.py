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
from gpusudoku.formats.lines import LEAST_CELLS, LineParser, LinesTogether, board_in
from gpusudoku.formats.source import LONGEST_ROW, FormatError, Lines, Way, content, quoted, single

_WORD = re.compile(r"[^\s|:,;]+", re.ASCII)
_AROUND_TEXT = " \t\r\n\f\v|:,;"
_LINK = re.compile(
    r"(?<![\w.-])(?:https?://)?((?:[a-z][a-z0-9-]*\.)+[a-z]+)(?::[0-9]+)?/\S*",
    re.ASCII | re.IGNORECASE,
)
_LINK_OR_WORD = re.compile(f"{_LINK.pattern}|{_WORD.pattern}", _LINK.flags)
_PART_OF_LINK = re.compile(r"[^/?&=#()\[\]<>]+")
_SHORT_PIECE = 4
_LONG_NUMBER = 12
"""Figures of numbers that may be pieces of a board, if zeros are empty cells."""
_PLACED = re.compile(r"\+(?=[0-9])")
_PLAIN = re.compile(r"[ !$-&(-=?-_a-~\t]*")
"""A line without a comment, quotes, and signs that stand for others."""


def read_beside(lines: Lines, way: Way, column: str) -> Iterator[Batch | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser, together = LineParser(way.geometry, way.near), LinesTogether(lines)
    origin = Origin(way.source, (column,))

    def fields_of_lines(lines: list[str]) -> Iterator[tuple[str, tuple[str]]]:
        for text in lines:
            words = list(_WORD.finditer(text))
            boards = [word for word in words if len(word[0]) >= LEAST_CELLS]
            if len(boards) != 1 or not _PLAIN.fullmatch(text) or _LINK.search(text):
                return
            if any(_is_piece(word[0]) for word in words if word is not boards[0]):
                return
            yield boards[0][0], (_beside(text, *boards[0].span()),)

    for number, line in lines:
        if not content(line).strip():
            continue
        try:
            board, beside, cells = _read_line(parser, number, line)
        except FormatError as error:
            if parser.is_last_word(line, lines):
                return
            yield error.at(way.source, content(line).strip(), origin.columns)
        else:
            yield single(board, origin, number, (beside,), cells)
            yield from together.split(line, board.geometry, origin, fields_of_lines)


def find_beside(head: Head, way: Way) -> str | None:
    """Name the column of what stands beside boards; None if the first line is just a board.

    Most of the lines must have a board, or a link.
    """
    parser = LineParser(way.geometry, way.near)
    text = _text_of(head.lines[0][1])
    is_link = _LINK.match(text.lstrip()) is not None
    if not is_link:
        if max(map(len, _WORD.findall(text)), default=0) < LEAST_CELLS:
            return None
        with suppress(FormatError):
            parser.parse(*head.lines[0])
            return None
    lines = [line for line in head.lines if content(line[1]).strip()]
    texts = [_beside_board(parser, *line) for line in lines]
    known = [text for text in texts if text is not None]
    if 2 * len(known) < len(texts) or (texts[0] is None and not any(known)):
        return None
    board = board_in(next(filter(None, known), "").encode(), way)
    return "link" if is_link else "solution" if board and board.is_full else "beside"


def _beside_board(parser: LineParser, number: int, line: bytes) -> str | None:
    """Return what stands beside the board of a line, or a link, which should have one, or None."""
    try:
        return _read_line(parser, number, line)[1]
    except FormatError:
        link = _LINK.match(_text_of(line).lstrip())
        return link and link[0]


def _text_of(line: bytes) -> str:
    """Return the text of a line, without its comment where it has no link."""
    text = line.decode(errors="replace")
    return text if _LINK.search(text) else content(line).decode(errors="replace")


def _beside(text: str, start: int, end: int) -> str:
    sides = text[:start].strip(_AROUND_TEXT), text[end:].strip(_AROUND_TEXT)
    return " ".join(filter(None, sides))


def _read_line(parser: LineParser, number: int, line: bytes) -> tuple[Board, str, bytes]:
    """Read the board of a line, and return the text on both sides of it, and its own."""
    if len(line) > LONGEST_ROW:
        raise FormatError(f"a line of {LONGEST_ROW} bytes or more, expected a board", number)
    text = _text_of(line)
    words = _words_of(text)
    boards: list[tuple[Board, int, int, bytes]] = []
    errors: list[tuple[str, FormatError]] = []
    for word, start, end in words:
        if len(word) >= LEAST_CELLS:
            try:
                board = parser.parse_field(number, word.encode(errors="replace"))
            except FormatError as wrong:
                wrong.column = start + (wrong.column or 1 if start < end else 1)
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
        # The word may be the puzzle of which this is the solution.
        may_be_board = board and (
            len(word) == board.geometry.cells or (board.is_full and word.isdigit())
        )
        if may_be_board or _is_piece(word) or not (board or link):
            raise error
    if not boards:
        longest = max((word for word, *_ in words), key=len, default="")
        what = f"{shown(longest)}, expected a board of at least {LEAST_CELLS} cells beside text"
        if link:
            what = f"a link to {shown(link[1])} without a board in plain digits: compressed puzzles"
            what += ", as f-puzzles and SudokuPad have them, may have extra rules and are not read"
        raise FormatError(what, number, link.start() + 1 if link else None)
    [(board, start, end, cells)] = boards
    others = [word for word, *place in words if place != [start, end] and _is_piece(word)]
    if any(not word.isdigit() for word in others) or sum(map(len, others)) >= _LONG_NUMBER:
        what = f"{shown(others[0])} beside {quoted(board)}, which may be pieces of one board"
        raise FormatError(what, number)
    return board, _beside(text, start, end), cells


def _is_piece(word: str) -> bool:
    """Tell whether a word may be a piece of a damaged board: half of its cells are empty."""
    empty = sum(map(word.count, "0.*_?-"))
    return 2 * empty >= len(word) >= _SHORT_PIECE and word.strip("-") != ""


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
