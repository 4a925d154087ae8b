"""Boards on one line each.

A line is *plain* if its characters are digits and signs for empty cells that have one meaning only.
Many plain lines are read at a time; a ``LineParser`` reads all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, InputSource, SourceLocations
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, NINE, Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.candidates import (
    DIGITS_OF_CUBE,
    are_candidates,
    board_of_masks,
    find_misplaced,
    mask_of_group,
    masks_of_groups,
    masks_of_line,
    masks_of_wiki,
    may_be_candidates,
)
from gpusudoku.formats.rows import Row, board_of, is_rule
from gpusudoku.formats.source import (
    MAX_ROW_BYTES,
    FormatError,
    Lines,
    NumberedLine,
    ReadOptions,
    UnreadableError,
    clean_line,
    make_single_batch,
    quote_board,
)
from gpusudoku.formats.symbols import (
    CHARACTERS,
    UNKNOWN,
    WITHOUT_ZERO,
    as_symbols,
    character_values,
    has_zero_and_sign,
)

GUESSED_GEOMETRIES = {n: box for n in range(1, MAX_DIGITS + 1) if (box := Geometry.of_cells(n * n))}
"""The geometry of every board whose box shape can be guessed, by its number of digits."""
_GEOMETRY_OF_CELLS = {box.cells: box for box in GUESSED_GEOMETRIES.values()}
_ROWS_LIKE_BOARDS = {n for n in GUESSED_GEOMETRIES if n in _GEOMETRY_OF_CELLS}
"""Numbers of digits for which a row of a grid has as many cells as a whole smaller board."""
_VALUES_UP_TO_9 = bytes(
    0 if c == ord(".") else c - ord("0") if 0 <= c - ord("0") <= 9 else 255 for c in range(256)
)
"""The values of the bytes ``.`` and 0-9; 255 for all others."""
_WIKI_BOX = Geometry(3, 3)

MAX_HEAD_LINES = 2 * MAX_DIGITS + 2
"""Lines of the longest grid, with a rule above every row and below the last, and one row more."""
MIN_CELLS = 16
"""Fewer cells in a field, a word of a line or a row of a table are not a board by themselves."""
MIN_LINES = 16
"""Lines read together at first, and again after a line that differs from the others."""
MAX_LINES = 1 << 14
"""The maximum number of lines that are read together."""
_LAST_WORDS = (b"end", b"eof", b"done", b"exit", b"quit", b"stop")

SplitLines = Callable[[list[str]], Iterator[tuple[str, tuple[str, ...]]]]
"""Yields the board and the extra texts of each line, up to a line that a parser must read."""

_SEPARATORS = re.compile(rb"[:,;\s]+")
_CELL = re.compile(rb"[^\s,;|\[({'\"]+")
_PLAIN = re.compile(rb"[.0-9]+\r?\n?")
_NO_DIGIT = re.compile(rb"\b(?:none|null|nan)\b", re.IGNORECASE)
_GROUPS = re.compile(rb"\s*(?:\{[^{}]*\}\s*)+")
_GROUP = re.compile(rb"\{([^{}]*)\}")


def read_lines(lines: Lines, options: ReadOptions) -> Iterator[Batch | InputError]:
    """Read the board of every line; yield an error for a line that is not a board."""
    source = InputSource(options.source)
    parser = LineParser(options.geometry, options.preferred)
    bulk_reader = BulkReader(lines)
    max_digits = 0
    for number, line in lines:
        try:
            board = parser.parse(number, line)
            if board is not None:
                refuse_single_cell(board, max_digits, number)
                max_digits = max(max_digits, board.n)
        except FormatError as error:
            if is_last_word(line, lines):
                return
            # Two lines of a grid in sequence: the input mixes formats.
            if parser.is_like_grid(line) and parser.is_like_grid(next_line(lines)[1]):
                raise UnreadableError(
                    "mixed formats: a line of a grid, expected one board on every line", number
                ) from None
            yield error.as_input_error(options, clean_line(line).strip())
        else:
            if board is not None:
                yield make_single_batch(board, source, number, text=parser.board_text)
                yield from bulk_reader.read_similar_lines(line, board.geometry, source)


def read_plain(lines: Lines, options: ReadOptions) -> Iterator[Batch | InputError] | None:
    """Read 9x9 boards of figures and dots: lines of 81, or a single grid.

    Return None for any other input, and take no line of it. No other reader needs to be tried: such
    lines are not a header, list or link, and no board has rows of 81 cells.
    """
    if options.column is not None or options.preferred is not None:
        return None
    if options.geometry not in (None, NINE):
        return None
    head: list[NumberedLine] = []
    is_whole_input = True
    for number, line in lines:
        head.append((number, line))
        if len(head) == MAX_HEAD_LINES or not _PLAIN.fullmatch(line):
            is_whole_input = False
            break

    text = b"".join(line for _, line in head)
    if head and not text.translate(None, b".0123456789\r\n"):
        rows = text.split()
        if {*map(len, rows)} == {NINE.cells} and len(rows) == len(head):
            lines.put_back(head)
            return read_lines(lines, options)
        board = plain_board(text.decode()) if is_whole_input else None
        if board is not None and board.geometry == NINE:
            source = InputSource(options.source)
            first_line = head[0][0]
            return iter([make_single_batch(board, source, first_line, text=b"".join(rows))])
    lines.put_back(head)
    return None


def refuse_single_cell(board: Board, max_digits: int, line: int) -> None:
    """Refuse a single cell, such as a 0 at the end, below a board of ``max_digits`` digits."""
    if board.n == 1 < max_digits:
        raise FormatError("1 cell below larger boards is not a board", line)


def next_line(lines: Lines) -> NumberedLine:
    """Return the next line that is not blank, and put it back; (0, b"") at the end."""
    line = next((line for line in lines if clean_line(line[1]).strip()), (0, b""))
    lines.put_back([line] if line[0] else [])
    return line


def is_last_word(line: bytes, lines: Lines) -> bool:
    """Tell whether a line is a word that ends the input, such as ``end``, and the last line."""
    word = clean_line(line).strip(b" \t.!").lower()
    return word in _LAST_WORDS and not next_line(lines)[0]


class PlainReader:
    """Reads many plain boards at a time: more after each success, few after a failure.

    Looking at many boards in vain would cost more than parsing the few that are plain.
    """

    def __init__(self) -> None:
        self.max_boards = MIN_LINES
        """The number of boards to look at next."""

    def read(self, symbols: NDArray[np.uint8], n: int, examined: int) -> NDArray[np.uint8]:
        """Return the boards of characters, uint8 (B, n * n), up to the first that is not plain.

        ``examined`` is the number of boards that the caller looked at to find these characters.
        """
        cells = plain_boards(symbols, n)
        if len(cells) == examined > 0:
            self.max_boards = min(2 * self.max_boards, MAX_LINES)
        else:
            self.max_boards = MIN_LINES
        return cells


def plain_boards(symbols: NDArray[np.uint8], n: int) -> NDArray[np.uint8]:
    """Return the boards of characters, uint8 (B, n * n), up to the first that is not plain.

    A parser must read a board if

    * a character is ambiguous, or is neither a digit up to n nor a sign for an empty cell;
    * it may be a rule: it has a dash and no digit;
    * its characters may be the candidates of a smaller board.
    """
    symbols = np.ascontiguousarray(symbols)
    is_cube = n * n in DIGITS_OF_CUBE
    has_zeros = has_zero_and_sign(symbols.data)
    if n <= 9 and not (has_zeros or is_cube):
        # Most boards have only figures and dots, for which arithmetic is fastest. All other bytes
        # give values above n: those below "0" wrap around.
        values = symbols - np.uint8(ord("0"))
        values *= symbols != ord(".")
        if values.max(initial=0) <= n:
            return values
    table = WITHOUT_ZERO if n == 16 else CHARACTERS
    values = np.frombuffer(bytearray(symbols).translate(table), np.uint8).reshape(symbols.shape)
    max_values = values.max(axis=1, initial=0)
    may_be_rule = ~values.any(axis=1) & (symbols == ord("-")).any(axis=1)
    is_plain = (max_values <= n) & ~may_be_rule
    if has_zeros:
        # Together with another sign for empty cells, 0 may be a digit, if there is no digit n.
        is_zero = symbols == ord("0")
        has_both = is_zero.any(axis=1) & ((values == 0) & ~is_zero).any(axis=1)
        is_plain &= ~has_both | (max_values == n)
    if is_cube:
        m = DIGITS_OF_CUBE[n * n]
        is_plain &= ~are_candidates(values, m) & ~may_be_candidates(values, m)
    return values if is_plain.all() else values[: is_plain.argmin()]


def plain_board(text: str, geometry: Geometry | None = None) -> Board | None:
    """Read a line of just the characters of a board, or a grid of such rows; None for other text.

    The result is that of any other reader, without the time to recognise the form.
    """
    rows = text.strip(" \t\r\n").split("\n")
    if len(rows) > 1:
        n = len(rows)
        if geometry is not None or n in _ROWS_LIKE_BOARDS or {*map(len, rows)} != {n}:
            return None
    line = "".join(rows)
    geometry = geometry or _GEOMETRY_OF_CELLS.get(len(line))
    if geometry is None or geometry.cells != len(line) or geometry.n > len(DIGITS):
        return None
    if not line.isascii():
        return None
    symbols = line.encode()
    if geometry.n > 9 or geometry.cells in DIGITS_OF_CUBE or has_zero_and_sign(symbols):
        boards = plain_boards(np.frombuffer(symbols, np.uint8)[None], geometry.n)
        return Board.of_digits(boards[0], geometry) if len(boards) else None
    # The fastest way for a single small board.
    values = symbols.translate(_VALUES_UP_TO_9)
    if max(values) > geometry.n:
        return None
    return Board.of_digits(np.frombuffer(values, np.uint8), geometry)


class BulkReader:
    """Reads many plain lines at a time that are like a previous line."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._plain_reader = PlainReader()

    def read_similar_lines(
        self, line: bytes, geometry: Geometry, source: InputSource
    ) -> Iterator[Batch]:
        """Read the buffered lines that are boards of the same form as a line that was a board."""
        size = len(line)
        end = line[geometry.cells :]
        if geometry.n > len(DIGITS) or end not in (b"\n", b"\r\n"):
            return
        text_type = np.dtype(f"S{geometry.cells}")
        while True:
            data = self._lines.buffered_lines()
            line_count = min(self._plain_reader.max_boards, len(data) // size)
            lines = data[: line_count * size].reshape(line_count, size)
            is_alike = lines[:, -1] == end[-1]
            if len(end) > 1:
                is_alike &= lines[:, -2] == end[0]
            if not is_alike.all():
                lines = lines[: is_alike.argmin()]

            cells = self._plain_reader.read(lines[:, : geometry.cells], geometry.n, line_count)
            board_count = len(cells)
            if not board_count:
                return
            numbers = self._lines.skip(board_count, board_count * size)
            texts = lines[:board_count, : geometry.cells].view(text_type)[:, 0]
            locations = SourceLocations.of(source, numbers, board_texts=texts)
            yield Batch(geometry, cells, locations=locations)

    def read_similar_records(
        self, line: bytes, geometry: Geometry, source: InputSource, split_lines: SplitLines
    ) -> Iterator[Batch]:
        """Read the buffered lines of several fields, like a line with a board of a geometry."""
        while geometry.n <= len(DIGITS):
            # About as many lines as may be read; the last one may be cut off.
            max_size = self._plain_reader.max_boards * len(line)
            data = self._lines.buffered_lines()[:max_size].tobytes()
            text = data[: data.rfind(b"\n") + 1].decode(errors="replace").replace("\r\n", "\n")
            if "\r" in text:  # A lone carriage return ends a line: stop before that line.
                text = text[: text.rfind("\n", 0, text.index("\r")) + 1]
            lines = text.split("\n")[:-1]

            boards: list[str] = []
            extra_texts: list[tuple[str, ...]] = []
            for board, texts_of_board in split_lines(lines):
                if len(board) != geometry.cells:
                    break
                boards.append(board)
                extra_texts.append(texts_of_board)
            symbols = as_symbols(boards)[:-1].reshape(len(boards), geometry.cells)
            cells = self._plain_reader.read(symbols, geometry.n, len(lines))
            board_count = len(cells)
            if not board_count:
                return

            rest = data.split(b"\n", board_count)[board_count]
            numbers = self._lines.skip(board_count, len(data) - len(rest))
            texts = symbols.view(f"S{geometry.cells}")[:board_count, 0]
            locations = SourceLocations.of(source, numbers, extra_texts[:board_count], texts)
            yield Batch(geometry, cells, locations=locations)


class LineParser:
    """Reads boards on one line each, of a given geometry, or a preferred or guessed one."""

    def __init__(self, geometry: Geometry | None, preferred: Geometry | None = None) -> None:
        self._geometry = geometry
        self._preferred = preferred
        self.board_text = b""
        """The cells of the last board as they were written; empty for candidates."""
        self._last_geometry = geometry
        if geometry is not None:
            geometries = [geometry]
        else:
            geometries = [*GUESSED_GEOMETRIES.values()]
            if preferred is not None:
                geometries.append(preferred)  # last, to replace the guessed one of its size
        self._by_length = {g.cells: g for g in geometries if g.n <= len(DIGITS)}

    def parse(self, number: int, line: bytes) -> Board | None:
        """Read the board on a line; None if the line is blank or a comment."""
        self.board_text = b""
        text, _, text_after_colon = line.partition(b":")
        board = self._read_candidates(number, text.strip()) or self._read_plain(text.strip())
        if board is None:
            board = self._read_other(number, clean_line(line))
        if board is not None and self._geometry is None and len(text_after_colon) > len(text):
            _refuse_larger_board(number, board, text_after_colon)
        return board

    def parse_field(self, number: int, text: bytes) -> Board | None:
        """Read a field, which may be a list or have one row on each of several lines.

        A board of one cell is refused: it stands for a missing board.
        """
        field = text.strip()
        is_list = field.startswith((b"[", b"(", b"{{"))
        if is_list or b"\n" in field:
            row_end = rb"[\])}]" if is_list else rb"\n"
            lines = re.split(row_end, _NO_DIGIT.sub(b".", field))
            rows = [_CELL.findall(line) for line in lines if not is_rule(line)]
            widths = {len(row) if len(row) > 1 else len(row[0]) for row in rows if row}
            if len(widths) > 1:
                raise FormatError("a field with rows of different lengths", number)
            text = b" ".join(cell for row in rows for cell in row)
        board = self.parse(number, text)
        if board is not None and board.n == 1 and self._geometry is None:
            message = "1 cell is not a board: the board is missing, or give ", Hint("box", "1x1")
            raise FormatError(message, number)
        return board

    def _read_candidates(self, number: int, text: bytes) -> Board | None:
        """Read a line with the candidates of every cell; None if it has another form."""
        if len(text) == 2 * _WIKI_BOX.cells and self._geometry in (None, _WIKI_BOX):
            masks = masks_of_wiki(text)
            return None if masks is None else board_of_masks(masks, _WIKI_BOX)
        if text.startswith(b"{") and _GROUPS.fullmatch(text):
            return self._read_groups(number, _GROUP.findall(text))
        n = DIGITS_OF_CUBE.get(len(text))
        if n is None:
            return None
        geometry = self._geometry or GUESSED_GEOMETRIES.get(n)
        if geometry is None or geometry.n != n:
            return None

        # The same number of characters may also be the cells of a larger board.
        larger = self._by_length.get(len(text))
        masks = masks_of_line(text, n)
        if masks is None:
            if UNKNOWN in text.translate(CHARACTERS):
                return None
            if larger is not None:
                values = character_values(text, larger.n)
                if not may_be_candidates(values, n) or not Board(values, larger).conflicts:
                    return None
            index = find_misplaced(text, n)
            raise FormatError(
                f"{shown(text[index : index + 1])} among the candidates of "
                f"{geometry.cell_name(index // n)}, expected {index % n + 1} or a sign for empty",
                number,
                index + 1,
            )
        # Where every cell has a candidate, the larger board has more clues than columns, all of
        # one digit in each column: they contradict each other.
        if larger is not None and not masks.all():
            if not Board(character_values(text, larger.n), larger).conflicts:
                return None
            raise FormatError(
                (
                    f"{len(text)} characters are ambiguous: give ",
                    Hint("box", f"{larger}"),
                    f" for a board of {larger.n}x{larger.n} or ",
                    Hint("box", f"{geometry}"),
                    f" for the candidates of one of {n}x{n}",
                ),
                number,
            )
        return board_of_masks(masks, geometry)

    def _read_groups(self, number: int, groups: list[bytes]) -> Board:
        """Read the candidates of every cell, each in braces."""
        geometry = self._geometry or Geometry.of_cells(len(groups))
        if geometry is None:
            expected = "as many as a board has"
            raise FormatError(f"{len(groups)} cells in braces, expected {expected}", number)
        if geometry.cells != len(groups):
            expected = f"{geometry.cells} for boxes of {geometry}"
            raise FormatError(f"{len(groups)} cells in braces, expected {expected}", number)
        masks = masks_of_groups(groups, geometry.n)
        if masks is None:
            group_masks = [mask_of_group(group, geometry.n) for group in groups]
            bad_cell = group_masks.index(None)
            raise FormatError(
                f"{geometry.cell_name(bad_cell)} holds {shown(groups[bad_cell])} in braces, "
                f"expected different digits from 1 to {geometry.n}",
                number,
            )
        return board_of_masks(masks, geometry)

    def _read_plain(self, text: bytes) -> Board | None:
        """Read just the characters of a board; None if the line has another form, or is wrong."""
        geometry = self._by_length.get(len(text))
        if geometry is None or (b"-" in text and is_rule(text)):
            return None
        values = character_values(text, geometry.n)
        if values.max() > geometry.n:
            return None
        self._last_geometry = geometry
        self.board_text = text
        return Board.of_digits(values, geometry)

    def is_like_grid(self, line: bytes) -> bool:
        """Tell whether a line that is not a board looks like a row or a rule of a grid."""
        text = clean_line(line)
        if len(text) > MAX_ROW_BYTES:
            return False
        last = self._last_geometry
        is_row = last is not None and last.n > 1 and last.n in Row(0, text).counts
        return is_row or b"|" in text or is_rule(text)

    def _read_other(self, number: int, text: bytes) -> Board | None:
        """Read a line that is not just the characters of a board; None if it is blank."""
        if not text.strip():
            return None
        if len(text) > MAX_ROW_BYTES:
            raise FormatError(f"a line of {MAX_ROW_BYTES} bytes or more, expected a board", number)
        # Try again, because quotation marks or a comment have been removed.
        board = self._read_candidates(number, text.partition(b":")[0].strip())
        if board is not None:
            return board
        row = Row(number, text.partition(b":")[0])
        if is_rule(row.text):
            raise FormatError("a line of dashes, expected a board", number)
        if 0 < row.filled == len(row.tokens):
            raise FormatError("nothing between commas, expected a board", number)
        geometry = self._geometry or self._guess_geometry(row)
        if geometry is None or geometry.cells not in row.counts:
            row.check_characters()
            raise FormatError(self._describe_cell_count(row), number)
        board = board_of([row], geometry.cells, geometry)
        self._refuse_board_and_more(row, board)
        self._last_geometry = geometry
        self.board_text = row.characters(geometry.cells, geometry.n)
        return board

    def _describe_cell_count(self, row: Row) -> str:
        """Return the message for a row whose number of cells does not make a board."""
        if self._geometry is not None:
            expected = self._geometry.cells
            count = row.count_near(expected)
            return f"{count} cells, expected {expected} for a board with boxes of {self._geometry}"
        # A token longer than any number is a run of characters.
        has_numbers = max(map(len, row.tokens), default=0) <= 2
        count = row.counts[0 if has_numbers else -1]
        n = min(GUESSED_GEOMETRIES.keys() - {1}, key=lambda n: abs(n * n - count))
        return f"{count} cells make no board, the nearest is {n}x{n} with {n * n}"

    def _refuse_board_and_more(self, row: Row, board: Board) -> None:
        """Refuse words that make one board if one word alone is a puzzle, too."""
        if len(row.tokens) < 2 or self._geometry is not None:
            return
        for size in {len(word) for word in row.tokens if len(word) >= MIN_CELLS}:
            smaller_boards = [self._read_plain(word) for word in row.tokens if len(word) == size]
            puzzles = [smaller for smaller in smaller_boards if smaller and not smaller.is_full]
            if None not in smaller_boards and len(puzzles) == 1:
                raise FormatError(
                    (
                        f"an ambiguous line: one board, {quote_board(board)}, or "
                        f"{quote_board(puzzles[0])} with other text: give ",
                        Hint("box"),
                    ),
                    row.line,
                )

    def _guess_geometry(self, row: Row) -> Geometry | None:
        """Guess the geometry by the number of cells; None if it is not a square."""
        if self._preferred is not None and self._preferred.cells in row.counts:
            return self._preferred
        squares = [count for count in row.counts if count == isqrt(count) ** 2 > 0]
        if not squares:
            return None
        count = next((c for c in squares if isqrt(c) in GUESSED_GEOMETRIES), squares[0])
        try:
            return Geometry.of_size(isqrt(count))
        except InputError as error:
            row.check_characters()
            raise FormatError((f"{count} cells: ", error.message), row.line) from None


def _refuse_larger_board(number: int, board: Board, text_after_colon: bytes) -> None:
    """Refuse a line with a larger board after the colon, or a damaged one after a single cell."""
    parser = LineParser(None)
    # The larger board may be everything between two colons, or a word.
    for text in (*text_after_colon.split(b":"), *_SEPARATORS.split(text_after_colon)):
        if len(text) <= board.geometry.cells:
            continue
        try:
            other_board = parser.parse(number, text)
        except FormatError as error:
            if board.n == 1 and len(text) >= MIN_CELLS:
                error.column = None  # It counts from the start of the text, not of the line.
                raise
            continue
        if other_board is not None and other_board.n > board.n:
            raise FormatError(
                f"an ambiguous line: {quote_board(board)} before a colon or "
                f"{quote_board(other_board)} after it",
                number,
            )
