"""Batches of boards with one board on each line, many lines at a time where all are plain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, Origin, Places
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, NINE, Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.candidates import (
    DIGITS_OF_CUBE,
    are_candidates,
    board_of_masks,
    mask_of_group,
    masks_of_groups,
    masks_of_line,
    masks_of_wiki,
    may_be_candidates,
    misplaced,
)
from gpusudoku.formats.rows import Row, board_of, is_rule
from gpusudoku.formats.source import (
    LONGEST_ROW,
    FormatError,
    Lines,
    NumberedLine,
    UnreadableError,
    Way,
    content,
    quoted,
    single,
)
from gpusudoku.formats.symbols import (
    CHARACTERS,
    UNKNOWN,
    WITHOUT_ZERO,
    as_symbols,
    character_values,
    has_zero_and_sign,
)

GUESSED = {n: box for n in range(1, MAX_DIGITS + 1) if (box := Geometry.of_cells(n * n))}
"""The geometry of every board whose boxes can be guessed, by its number of digits."""
_GUESSED_CELLS = {box.cells: box for box in GUESSED.values()}
_LINES_OF_BOARDS = {n for n in GUESSED if n in _GUESSED_CELLS}
"""Rows of so many cells may also be boards, one on each line."""
_FIGURES = bytes(
    0 if c == ord(".") else c - ord("0") if 0 <= c - ord("0") <= 9 else 255 for c in range(256)
)
"""The digits of characters of boards that have up to nine: the rest is 255."""
LONGEST_HEAD = 2 * MAX_DIGITS + 2
"""Lines of the longest grid, with a rule above every row and below the last, and one row more."""
MIN_CELLS = 16
"""A field, a word of a line or a row of a table of fewer cells is no board by itself."""
_LAST_WORDS = (b"end", b"eof", b"done", b"exit", b"quit", b"stop")
MIN_LINES = 16
"""Lines read together at first, and again after a line that differs from the others."""
MAX_LINES = 1 << 14
"""Lines read together at most."""

FieldsOf = Callable[[list[str]], Iterator[tuple[str, tuple[str, ...]]]]
"""Yields the board of each line, and the texts beside it, up to a line that a parser must read."""

_SEPARATORS = re.compile(rb"[:,;\s]+")
_CELL = re.compile(rb"[^\s,;|\[({'\"]+")
_PLAIN = re.compile(rb"[.0-9]+\r?\n?")
_NO_DIGIT = re.compile(rb"\b(?:none|null|nan)\b", re.IGNORECASE)
_GROUPS = re.compile(rb"\s*(?:\{[^{}]*\}\s*)+")
_GROUP = re.compile(rb"\{([^{}]*)\}")
_WIKI_BOX = Geometry(3, 3)


def read_lines(lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read every board of a batch; a line that is no board gives an error in its place."""
    origin = Origin(way.source)
    parser = LineParser(way.geometry, way.near)
    together = LinesTogether(lines)
    largest = 0
    for number, line in lines:
        try:
            board = parser.parse(number, line)
            if board is not None:
                check_size(board, largest, number)
                largest = max(largest, board.n)
        except FormatError as error:
            if is_last_word(line, lines):
                return
            if parser.is_of_grid(line) and parser.is_of_grid(next_line(lines)[1]):
                raise UnreadableError(  # after two such lines
                    "mixed formats: a line of a grid, expected one board on every line", number
                ) from None
            yield error.at(way, content(line).strip())
        else:
            if board is not None:
                yield single(board, origin, number, text=parser.text)
                yield from together.like(line, board.geometry, origin)


def read_plain(lines: Lines, way: Way) -> Iterator[Batch | InputError] | None:
    """Read 9x9 boards of figures and dots: lines of 81 at the beginning, or a grid that is all.

    None for any other input, of which nothing is taken. No other reader could be meant: such lines
    are no header, list or link, and no board has rows of 81 cells.
    """
    is_usual = way.column is None and way.near is None
    if not is_usual or way.geometry not in (None, NINE):
        return None
    head: list[NumberedLine] = []
    is_whole = True
    for number, line in lines:
        head.append((number, line))
        if len(head) == LONGEST_HEAD or not _PLAIN.fullmatch(line):
            is_whole = False
            break
    text = b"".join(line for _, line in head)
    if head and not text.translate(None, b".0123456789\r\n"):
        rows = text.split()
        if {*map(len, rows)} == {NINE.cells} and len(rows) == len(head):
            lines.put_back(head)
            return read_lines(lines, way)
        board = plain_board(text.decode()) if is_whole else None
        if board is not None and board.geometry == NINE:
            return iter([single(board, Origin(way.source), head[0][0], text=b"".join(rows))])
    lines.put_back(head)
    return None


def check_size(board: Board, larger: int, number: int) -> None:
    """Refuse a single cell below a board of ``larger`` digits, such as a 0 at the end."""
    if board.n == 1 < larger:
        raise FormatError("1 cell below larger boards makes no board", number)


def next_line(lines: Lines) -> NumberedLine:
    """Return the next line that is not blank, which is left to be read; number 0 at the end."""
    line = next((line for line in lines if content(line[1]).strip()), (0, b""))
    lines.put_back([line] if line[0] else [])
    return line


def is_last_word(line: bytes, lines: Lines) -> bool:
    """Tell whether a line is a word that ends the input."""
    return content(line).strip(b" \t.!").lower() in _LAST_WORDS and not next_line(lines)[0]


class PlainRun:
    """Reads boards whose characters all have one meaning, the more at a time the more were so.

    Looking at many in vain would cost more than parsing the few that are plain.
    """

    def __init__(self) -> None:
        self.most = MIN_LINES
        """The number of boards to look at next."""

    def read(self, symbols: NDArray[np.uint8], n: int, looked_at: int) -> NDArray[np.uint8]:
        """Read boards of characters, uint8 (B, n * n), up to the first that is not plain."""
        cells = plain_boards(symbols, n)
        all_plain = len(cells) == looked_at > 0
        self.most = min(2 * self.most, MAX_LINES) if all_plain else MIN_LINES
        return cells


def plain_boards(symbols: NDArray[np.uint8], n: int) -> NDArray[np.uint8]:
    """Return the boards, uint8 (B, n * n), up to the first that a parser must read.

    One must if a character is ambiguous, or no digit up to n nor a sign for an empty cell; or if it
    may be a rule: no digit, but a dash; or if its characters may be candidates of a smaller board.
    """
    symbols = np.ascontiguousarray(symbols)
    is_cube = n * n in DIGITS_OF_CUBE
    has_zeros = has_zero_and_sign(symbols.data)
    if n <= 9 and not (has_zeros or is_cube):
        # Mostly there are figures and dots alone, and arithmetic is fastest.
        values = symbols - np.uint8(ord("0"))
        values *= symbols != ord(".")
        if values.max(initial=0) <= n:
            return values
    table = WITHOUT_ZERO if n == 16 else CHARACTERS
    values = np.frombuffer(bytearray(symbols).translate(table), np.uint8).reshape(symbols.shape)
    digits = values.max(axis=1, initial=0)
    plain = (digits <= n) & (values.any(axis=1) | (symbols != ord("-")).all(axis=1))
    if has_zeros:  # beside another sign 0 may be a digit, if there is no digit n
        is_zero = symbols == ord("0")
        has_both = is_zero.any(axis=1) & ((values == 0) & ~is_zero).any(axis=1)
        plain &= ~has_both | (digits == n)
    if is_cube:
        m = DIGITS_OF_CUBE[n * n]
        plain &= ~are_candidates(values, m) & ~may_be_candidates(values, m)
    return values if plain.all() else values[: plain.argmin()]


def plain_board(text: str, geometry: Geometry | None = None) -> Board | None:
    """Read a line of just the characters of a board, or a grid of such rows; None if it is neither.

    It reads what any reader does, without the search for the form.
    """
    rows = text.strip(" \t\r\n").split("\n")
    if len(rows) > 1:
        n = len(rows)
        if geometry is not None or n in _LINES_OF_BOARDS or {*map(len, rows)} != {n}:
            return None
    line = "".join(rows)
    geometry = geometry or _GUESSED_CELLS.get(len(line))
    if geometry is None or geometry.cells != len(line) or geometry.n > len(DIGITS):
        return None
    if not line.isascii():
        return None
    data = line.encode()
    if geometry.n > 9 or geometry.cells in DIGITS_OF_CUBE or has_zero_and_sign(data):
        found = plain_boards(np.frombuffer(data, np.uint8)[None], geometry.n)
        return Board.of_digits(found[0], geometry) if len(found) else None
    values = data.translate(_FIGURES)
    return (
        Board.of_digits(np.frombuffer(values, np.uint8), geometry)
        if max(values) <= geometry.n
        else None
    )


class LinesTogether:
    """Reads boards together from plain lines like one before; others are left to a parser."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._run = PlainRun()

    def like(self, line: bytes, geometry: Geometry, origin: Origin) -> Iterator[Batch]:
        """Read on after a board's line while the lines at hand are boards of the same form."""
        size = len(line)
        end = line[geometry.cells :]
        if geometry.n > len(DIGITS) or end not in (b"\n", b"\r\n"):
            return
        text_type = np.dtype(f"S{geometry.cells}")
        while True:
            data = self._lines.at_hand()
            most = min(self._run.most, len(data) // size)
            lines = data[: most * size].reshape(most, size)
            alike = lines[:, -1] == end[-1]
            if len(end) > 1:
                alike &= lines[:, -2] == end[0]
            lines = lines if alike.all() else lines[: alike.argmin()]
            cells = self._run.read(lines[:, : geometry.cells], geometry.n, most)
            if not len(cells):
                return
            numbers = self._lines.skip(len(cells), len(cells) * size)
            texts = lines[: len(cells), : geometry.cells].view(text_type)[:, 0]
            yield Batch(geometry, cells, places=Places.of(origin, numbers, texts=texts))

    def split(
        self, line: bytes, geometry: Geometry, origin: Origin, fields_of: FieldsOf
    ) -> Iterator[Batch]:
        """Read on after a line of several fields, of which one was a board."""
        while geometry.n <= len(DIGITS):
            block = self._lines.at_hand()[: self._run.most * len(line)].tobytes()
            text = block[: block.rfind(b"\n") + 1].decode(errors="replace").replace("\r\n", "\n")
            if "\r" in text:  # alone, it ends a line
                text = text[: text.rfind("\n", 0, text.index("\r")) + 1]
            lines = text.split("\n")[:-1]
            boards: list[str] = []
            others: list[tuple[str, ...]] = []
            for board, beside in fields_of(lines):
                if len(board) != geometry.cells:
                    break
                boards.append(board)
                others.append(beside)
            symbols = as_symbols(boards)[:-1].reshape(len(boards), geometry.cells)
            cells = self._run.read(symbols, geometry.n, len(lines))
            taken = len(cells)
            if not taken:
                return
            size = len(block) - len(block.split(b"\n", taken)[taken])
            texts = symbols.view(f"S{geometry.cells}")[:taken, 0]
            places = Places.of(origin, self._lines.skip(taken, size), others[:taken], texts)
            yield Batch(geometry, cells, places=places)


class LineParser:
    """Reads boards on one line each, of a geometry if it is given, else ``near`` or guessed."""

    def __init__(self, geometry: Geometry | None, near: Geometry | None = None) -> None:
        self._geometry = geometry
        self._near = near
        self.text = b""  # the cells of the last board as they were written, but for candidates
        self._last = geometry
        guessed = [*GUESSED.values(), near] if near is not None else GUESSED.values()
        geometries = guessed if geometry is None else [geometry]
        self._by_length = {g.cells: g for g in geometries if g.n <= len(DIGITS)}

    def parse(self, number: int, line: bytes) -> Board | None:
        """Read the board on a line; None if the line is blank or a comment."""
        self.text = b""
        text, _, behind = line.partition(b":")
        board = self._of_candidates(number, text.strip()) or self._plain(text.strip())
        if board is None:
            board = self._parse(number, content(line))
        if board is not None and self._geometry is None and len(behind) > len(text):
            _check_numbered(number, board, behind)
        return board

    def parse_field(self, number: int, text: bytes) -> Board | None:
        """Read a field, which may be a list or have a row on each of several lines.

        A board of one cell is refused, as the sign of a missing board.
        """
        field = text.strip()
        is_list = field.startswith((b"[", b"(", b"{{"))
        if is_list or b"\n" in field:
            lines = re.split(rb"[\])}]" if is_list else rb"\n", _NO_DIGIT.sub(b".", field))
            rows = [_CELL.findall(line) for line in lines if not is_rule(line)]
            if len({len(row) if len(row) > 1 else len(row[0]) for row in rows if row}) > 1:
                raise FormatError("a field with rows of different lengths", number)
            text = b" ".join(cell for row in rows for cell in row)
        board = self.parse(number, text)
        if board is not None and board.n == 1 and self._geometry is None:
            message = "1 cell makes no board: a missing one, or give ", Hint("box", "1x1")
            raise FormatError(message, number)
        return board

    def _of_candidates(self, number: int, text: bytes) -> Board | None:
        """Read a line with the candidates of every cell; None if it is of another form."""
        if len(text) == 2 * _WIKI_BOX.cells and self._geometry in (None, _WIKI_BOX):
            masks = masks_of_wiki(text)
            return None if masks is None else board_of_masks(masks, _WIKI_BOX)
        if text.startswith(b"{") and _GROUPS.fullmatch(text):
            return self._of_groups(number, _GROUP.findall(text))
        n = DIGITS_OF_CUBE.get(len(text))
        geometry = self._geometry or (GUESSED.get(n) if n else None)
        if n is None or geometry is None or geometry.n != n:
            return None
        larger = self._by_length.get(len(text))
        masks = masks_of_line(text, n)
        if masks is None:
            if UNKNOWN in text.translate(CHARACTERS):
                return None
            if larger is not None:
                values = character_values(text, larger.n)
                if not may_be_candidates(values, n) or not Board(values, larger).conflicts:
                    return None
            wrong = misplaced(text, n)
            raise FormatError(
                f"{shown(text[wrong : wrong + 1])} among the candidates of "
                f"{geometry.cell_name(wrong // n)}, expected {wrong % n + 1} or a sign for empty",
                number,
                wrong + 1,
            )
        # Where every cell has a candidate, the larger board has more clues than columns, all of
        # one digit in each column: they contradict each other.
        if larger is not None and not masks.all():
            if not Board(character_values(text, larger.n), larger).conflicts:
                return None
            raise FormatError(
                (
                    f"{len(text)} characters read two ways: give ",
                    Hint("box", f"{larger}"),
                    f" for a board of {larger.n}x{larger.n} or ",
                    Hint("box", f"{geometry}"),
                    f" for the candidates of one of {n}x{n}",
                ),
                number,
            )
        return board_of_masks(masks, geometry)

    def _of_groups(self, number: int, groups: list[bytes]) -> Board:
        """Read the candidates of every cell, each in braces."""
        geometry = self._geometry or Geometry.of_cells(len(groups))
        if geometry is None or geometry.cells != len(groups):
            expected = (
                f"{geometry.cells} for boxes of {geometry}"
                if geometry
                else "as many as a board has"
            )
            raise FormatError(f"{len(groups)} cells in braces, expected {expected}", number)
        masks = masks_of_groups(groups, geometry.n)
        if masks is None:
            wrong = next(
                index
                for index, group in enumerate(groups)
                if mask_of_group(group, geometry.n) is None
            )
            raise FormatError(
                f"{geometry.cell_name(wrong)} holds {shown(groups[wrong])} in braces, expected "
                f"different digits from 1 to {geometry.n}",
                number,
            )
        return board_of_masks(masks, geometry)

    def _plain(self, text: bytes) -> Board | None:
        """Read just the characters of a board; None if the line is of a rarer form, or wrong."""
        geometry = self._by_length.get(len(text))
        if geometry is None or (b"-" in text and is_rule(text)):
            return None
        values = character_values(text, geometry.n)
        if values.max() > geometry.n:
            return None
        self._last = geometry
        self.text = text
        return Board.of_digits(values, geometry)

    def is_of_grid(self, line: bytes) -> bool:
        """Tell whether a line that is no board looks like a row or a rule of a grid."""
        text = content(line)
        if len(text) > LONGEST_ROW:
            return False
        counts = Row(0, text).counts
        is_row = self._last is not None and self._last.n in counts and self._last.n > 1
        return is_row or b"|" in text or is_rule(text)

    def _parse(self, number: int, text: bytes) -> Board | None:
        """Read a line that is not just the characters of a board; None if it is blank."""
        if not text.strip():
            return None
        if len(text) > LONGEST_ROW:
            raise FormatError(f"a line of {LONGEST_ROW} bytes or more, expected a board", number)
        # Once more, as there may have been quotes around it or a comment behind it.
        board = self._of_candidates(number, text.partition(b":")[0].strip())
        if board is not None:
            return board
        row = Row(number, text.partition(b":")[0])
        if is_rule(row.text):
            raise FormatError("a line of dashes, expected a board", number)
        if 0 < row.filled == len(row.tokens):
            raise FormatError("nothing between commas, expected a board", number)
        geometry = self._geometry or self._guess(row)
        if geometry is None or geometry.cells not in row.counts:
            row.check_characters()
            if self._geometry is not None:
                found = row.count_near(self._geometry.cells)
                cells = self._geometry.cells
                message = f"{cells} for a board with boxes of {self._geometry}"
                raise FormatError(f"{found} cells, expected {message}", number)
            # A token longer than any number is a run of characters.
            found = row.counts[0 if max(map(len, row.tokens), default=0) <= 2 else -1]
            n = min(GUESSED.keys() - {1}, key=lambda n: abs(n * n - found))
            message = f"{found} cells make no board, the nearest is {n}x{n} with {n * n}"
            raise FormatError(message, number)
        board = board_of([row], geometry.cells, geometry)
        self._check_alone(row, board)
        self._last = geometry
        self.text = row.characters(geometry.cells, geometry.n)
        return board

    def _check_alone(self, row: Row, board: Board) -> None:
        """Refuse words of which one is a board beside its solution or something else."""
        sizes = {len(word) for word in row.tokens if len(word) >= MIN_CELLS}
        for size in sizes if len(row.tokens) > 1 and self._geometry is None else ():
            boards = [self._plain(word) for word in row.tokens if len(word) == size]
            unsolved = [smaller for smaller in boards if smaller and not smaller.is_full]
            if None not in boards and len(unsolved) == 1:
                raise FormatError(
                    (
                        f"a line that reads two ways: as one board, {quoted(board)}, or as "
                        f"{quoted(unsolved[0])} with something beside it: give ",
                        Hint("box"),
                    ),
                    row.line,
                )

    def _guess(self, row: Row) -> Geometry | None:
        """Guess the geometry by the number of cells, None if that number is no square."""
        if self._near is not None and self._near.cells in row.counts:
            return self._near
        squares = [count for count in row.counts if count == isqrt(count) ** 2 > 0]
        if not squares:
            return None
        count = next((count for count in squares if isqrt(count) in GUESSED), squares[0])
        try:
            return Geometry.of_size(isqrt(count))
        except InputError as error:
            row.check_characters()
            raise FormatError((f"{count} cells: ", error.message), row.line) from None


def _check_numbered(number: int, board: Board, behind: bytes) -> None:
    """Refuse a line with a larger board behind the colon than before it, or a damaged one."""
    parser = LineParser(None)
    for piece in (*behind.split(b":"), *_SEPARATORS.split(behind)):
        if len(piece) > board.geometry.cells:
            try:
                other = parser.parse(number, piece)
            except FormatError as error:
                if board.n == 1 and len(piece) >= MIN_CELLS:
                    error.column = None  # in the piece
                    raise
                continue
            if other is not None and other.n > board.n:
                raise FormatError(
                    f"a line that reads two ways: {quoted(board)} before a colon or "
                    f"{quoted(other)} behind it",
                    number,
                )
