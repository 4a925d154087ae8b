"""Boards with other text on their lines, before or after the board, and boards in links.

Words are separated by blanks, bars, colons, commas and semicolons. The board of a line is the only
word that is a board of at least sixteen cells, or the only such word that is not a full board. In a
link, the parts of the path and the parameters are words. ``+`` marks a digit that was placed, as in
the library of HoDoKu: ``:0000:x:BOARD:...``. The text on both sides of the board is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import unquote

from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.board.board import Board
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.grids import Head
from gpusudoku.formats.lines import MIN_CELLS, LineParser, is_last_word
from gpusudoku.formats.source import (
    MAX_ROW_BYTES,
    FormatError,
    Lines,
    ReadOptions,
    clean_line,
    make_single_batch,
    quote_board,
)

_WORD = re.compile(r"[^\s|:,;]+", re.ASCII)
_SEPARATORS = " \t\r\n\f\v|:,;"
_LINK = re.compile(
    r"(?<![\w.-])(?:https?://)?((?:[a-z][a-z0-9-]*\.)+[a-z]+)(?::[0-9]+)?/\S*",
    re.ASCII | re.IGNORECASE,
)
_LINK_OR_WORD = re.compile(f"{_LINK.pattern}|{_WORD.pattern}", _LINK.flags)
_PART_OF_LINK = re.compile(r"[^/?&=#()\[\]<>]+")
_MIN_FRAGMENT = 4
"""The minimum length of a fragment of a board."""
_SYMBOLS = re.compile(r"[0-9.*_?xX-]+|[0-9A-Za-z.*_?-]{16,}")
"""The symbols of boards of up to nine digits, or enough symbols of larger ones."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}|[+-]?[0-9]+(?:\.[0-9]+)+|[0-9]+-[0-9]+-[0-9]+")
"""A short number, a decimal, a version or a date, which is not a fragment of a board."""
_PLACED = re.compile(r"\+(?=[0-9])")


class _Word(NamedTuple):
    """A word of a line."""

    text: str
    start: int
    end: int
    """The index after the word in the line; the same as ``start`` for a part of a link."""

    @property
    def is_in_link(self) -> bool:
        return self.start == self.end


class _FoundBoard(NamedTuple):
    """A board on a line."""

    board: Board
    word: _Word
    text: bytes
    """The cells as they were written."""


def read_annotated_lines(lines: Lines, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read the board of every line; yield an error for a line without a board."""
    parser = LineParser(options.geometry, options.preferred)
    source = InputSource(options.source, ("beside",))
    for number, line in lines:
        if not clean_line(line).strip():
            continue
        try:
            board, annotation, board_text = _read_line(parser, number, line)
        except FormatError as error:
            if is_last_word(line, lines):
                return
            yield error.as_input_error(options, clean_line(line).strip(), source.extra_columns)
        else:
            yield make_single_batch(board, source, number, (annotation,), board_text)


def has_annotated_lines(head: Head, options: ReadOptions) -> bool:
    """Tell whether most lines have a board with other text, or a link."""
    parser = LineParser(options.geometry, options.preferred)
    first_number, first_line = head.lines[0]
    text = _decode_line(first_line)
    longest_word = max(map(len, _WORD.findall(text)), default=0)
    if longest_word < MIN_CELLS and not _LINK.search(text):
        return False
    with suppress(FormatError):
        parser.parse(first_number, first_line)
        return False  # The first line is just a board.

    lines = [line for line in head.lines if clean_line(line[1]).strip()]
    lines_with_board = 0
    has_annotation = False
    for number, line in lines:
        try:
            _, annotation, _ = _read_line(parser, number, line)
        except FormatError:
            if _LINK.match(_decode_line(line).lstrip()):
                lines_with_board += 1
                has_annotation = True
        else:
            lines_with_board += 1
            # The first line is not a plain board: without other text, it is a link.
            has_annotation |= annotation != "" or number == first_number
    return has_annotation and 2 * lines_with_board >= len(lines)


def _decode_line(line: bytes) -> str:
    """Return the text of a line, without its comment unless it has a link."""
    text = line.decode(errors="replace")
    # A "#" in a link does not begin a comment.
    return text if _LINK.search(text) else clean_line(line).decode(errors="replace")


def _read_line(parser: LineParser, number: int, line: bytes) -> tuple[Board, str, bytes]:
    """Return the board of a line, the text on both sides of it, and the text of the board."""
    if len(line) > MAX_ROW_BYTES:
        raise FormatError(f"a line of {MAX_ROW_BYTES} bytes or more, expected a board", number)
    text = _decode_line(line)
    link = _LINK.search(text)
    words = _split_words(text)
    boards, errors = _parse_words(parser, number, words)
    # Next to a puzzle, a full board is its solution.
    boards = [entry for entry in boards if not entry.board.is_full] or boards
    if len(boards) > 1:
        first, second = boards[:2]
        raise FormatError(
            f"an ambiguous line: {quote_board(first.board)} or {quote_board(second.board)}",
            number,
        )
    # A damaged word must not be skipped if it may be the board that was meant.
    for word, error in errors:
        may_be_board = bool(boards) and len(word.text) == boards[0].board.geometry.cells
        if may_be_board or _is_fragment(word.text) or not (boards or link):
            raise error
    if not boards and link:
        raise FormatError(
            f"a link to {shown(link[1])} without a board in plain digits: compressed puzzles, as "
            "f-puzzles and SudokuPad have them, may have extra rules and are not read",
            number,
            link.start() + 1,
        )
    if not boards:
        longest_word = max((word.text for word in words), key=len, default="")
        raise FormatError(
            f"{shown(longest_word)}, expected a board of at least {MIN_CELLS} cells among the "
            "words",
            number,
        )

    [(board, board_word, board_text)] = boards
    fragments = [
        word.text for word in words if word[1:] != board_word[1:] and _is_fragment(word.text)
    ]
    if fragments:
        raise FormatError(
            f"{shown(fragments[0])} next to {quote_board(board)}, which may be parts of one board",
            number,
        )
    sides = (
        text[: board_word.start].strip(_SEPARATORS),
        text[board_word.end :].strip(_SEPARATORS),
    )
    return board, " ".join(filter(None, sides)), board_text


def _parse_words(
    parser: LineParser, number: int, words: list[_Word]
) -> tuple[list[_FoundBoard], list[tuple[_Word, FormatError]]]:
    """Return the boards among the words that are long enough, and the errors of the others."""
    boards: list[_FoundBoard] = []
    errors: list[tuple[_Word, FormatError]] = []
    for word in words:
        if len(word.text) < MIN_CELLS:
            continue
        try:
            board = parser.parse_field(number, word.text.encode(errors="replace"))
        except FormatError as error:
            # The columns in a link differ from those of its decoded parts.
            column_in_word = 1 if word.is_in_link else error.column or 1
            error.column = word.start + column_in_word
            errors.append((word, error))
        else:
            if board:
                boards.append(_FoundBoard(board, word, parser.board_text))
    return boards, errors


def _is_fragment(word: str) -> bool:
    """Tell whether a word may be a fragment of a damaged board: half of its cells are empty."""
    if _NUMBER.fullmatch(word) or not _SYMBOLS.fullmatch(word):
        return False
    empty_count = sum(map(word.count, "0.*_?-"))
    return 2 * empty_count >= len(word) >= _MIN_FRAGMENT and word.strip("-") != ""


def _split_words(text: str) -> list[_Word]:
    """Return the words of a line; the parts of a link are decoded."""
    words: list[_Word] = []
    for match in _LINK_OR_WORD.finditer(text):
        start, end = match.span()
        if match[1]:
            parts = _PART_OF_LINK.findall(match[0])
            words += [_Word(unquote(part), start, start) for part in parts]
        else:
            words.append(_Word(_PLACED.sub("", match[0]), start, end))
    return words
