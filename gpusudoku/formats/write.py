"""Writing of boards. Every text reads back as the same board."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS, candidate_groups, write_lines
from gpusudoku.errors import InputError, described
from gpusudoku.formats.symbols import HEX_DIGITS, character_values

_HEXADECIMAL = (b"." + HEX_DIGITS).ljust(256)
_HEX_OF_LETTERS = bytes.maketrans(DIGITS[:16], HEX_DIGITS)


class _Format(NamedTuple):
    """How boards are written in a format."""

    description: str
    write: Callable[[Board, bytes], str]
    """Writes a board in an alphabet. An empty alphabet is the usual one; some formats have their
    own."""
    header: str = ""
    has_rows: bool = False
    """True if a board takes several lines, so that a blank line must follow it."""
    write_lines: Callable[[Batch], bytes | None] = lambda boards: None
    """Writes many boards, one on each line; returns None if they must be written one by one."""
    shows_candidates: bool = False


def write(board: Board, format: str, alphabet: bytes = b"") -> str:  # noqa: A002 - as the option
    """Write a board in one of the :data:`FORMATS`, without a newline; in an alphabet if given."""
    form = _format(format)
    if board.given_candidates is not None and not form.shows_candidates:
        names = ", ".join(name for name, form in _FORMATS.items() if form.shows_candidates)
        raise InputError(f"a board with given candidates: only {names} show them")
    return form.write(board, alphabet)


def write_batch(boards: Batch, format: str) -> Iterator[bytes]:  # noqa: A002 - as above
    """Write boards in one of the :data:`FORMATS`, one by one or all as lines, with newlines."""
    lines = None if boards.candidates is not None else _format(format).write_lines(boards)
    if lines is None:
        yield from (f"{write(board, format)}\n".encode() for board in boards)
    else:
        yield lines


def header(format: str) -> str:  # noqa: A002 - as above
    """Return the line before all boards of a format, empty for most formats."""
    return _format(format).header


def separator(format: str) -> str:  # noqa: A002 - as above
    """Return the text between two boards, after the newline: a blank line or nothing."""
    return "\n" if _format(format).has_rows else ""


def _format(name: str) -> _Format:
    try:
        return _FORMATS[name]
    except KeyError:
        names = ", ".join(_FORMATS)
        raise InputError(f"format {described(name)}: expected one of {names}") from None


def _line(board: Board, alphabet: bytes) -> str:
    return str(board).translate(str.maketrans(DIGITS[: len(alphabet)].decode(), alphabet.decode()))


def _integers(board: Board, _: bytes = b"") -> str:
    return "\n".join(" ".join(map(str, row)) for row in board.grid.tolist())


def _grid(board: Board, alphabet: bytes) -> str:
    if board.n > len(DIGITS):
        return _integers(board)
    line = _line(board, alphabet)
    return "\n".join(line[i : i + board.n] for i in range(0, len(line), board.n))


def _letters(board: Board, _: bytes) -> str:
    if board.n > len(DIGITS):
        raise InputError(f"a board of {board.n} digits: letters stand for at most {len(DIGITS)}")
    return str(board)


def _plain_lines(boards: Batch) -> bytes | None:
    """Write canonical lines, for the formats that are the same."""
    return write_lines(boards.cells) if boards.geometry.n <= len(DIGITS) else None


def _hex_lines(boards: Batch) -> bytes | None:
    """Write hexadecimal lines; None if a board has no empty cell or no digit 1, written as 0.

    Only boards with both are certain to read back as hexadecimal.
    """
    cells = boards.cells
    if boards.geometry.n != 16 or not ((cells == 0).any(axis=1) & (cells == 1).any(axis=1)).all():
        return None
    return write_lines(cells).translate(_HEX_OF_LETTERS)


def _hex(board: Board, _: bytes) -> str:
    if board.n != 16:
        raise InputError(f"a board of {board.n} digits: hexadecimal is for 16")
    # Without empty cells or without a 0, the text may be read as 1-9 and A-G.
    text = board.cells.tobytes().translate(_HEXADECIMAL)
    if character_values(text, 16).tobytes() != board.cells.tobytes():
        raise InputError(
            "this board would not read back from hexadecimal, which is recognised by a 0 (the "
            "digit 1) together with empty cells: use letters"
        )
    return text.decode()


def _pretty(board: Board, alphabet: bytes) -> str:
    if board.given_candidates is not None:
        groups = candidate_groups(board.given_candidates, board.n)
        if board.n > len(DIGITS) or not all(groups):
            raise InputError(
                f"pretty shows candidates of at most {len(DIGITS)} digits, and some in every cell: "
                "use line"
            )
        return ruled(groups, board.geometry)
    symbols = ["*", *(alphabet.decode() or map(str, range(1, board.n + 1)))]
    width = max(map(len, symbols))
    return ruled([symbols[d].ljust(width) for d in board.cells.tolist()], board.geometry)


def ruled(cells: Sequence[str], geometry: Geometry) -> str:
    """Draw one text for every cell, with rules around the boxes; columns fit their longest text."""
    n = geometry.n
    box_width = geometry.box_columns
    column_widths = [max(map(len, cells[column::n])) for column in range(n)]
    box_starts = range(0, n, box_width)
    # The rule above a box is as long as its texts with a blank on each side of every text.
    rule_lengths = [
        sum(column_widths[start : start + box_width]) + box_width + 1 for start in box_starts
    ]
    rule = " " + " ".join("=" * length for length in rule_lengths)
    lines = []
    for row in range(n):
        if row % geometry.box_rows == 0:
            lines.append(rule)
        texts = [cells[row * n + column].ljust(column_widths[column]) for column in range(n)]
        boxes = [" ".join(texts[start : start + box_width]) for start in box_starts]
        lines.append(f"| {' | '.join(boxes)} |")
    return "\n".join([*lines, rule])


_FORMATS = {
    "line": _Format(
        "one line: . 1-9 A-Z, or above 35 digits numbers separated by commas",
        _line,
        write_lines=_plain_lines,
        shows_candidates=True,
    ),
    "grid": _Format(
        "one row per line: . 1-9 A-Z, or above 35 digits numbers", _grid, has_rows=True
    ),
    "integers": _Format(
        "one row per line: numbers separated by blanks, 0 empty", _integers, has_rows=True
    ),
    "letters": _Format("one line: . 1-9 A-Z, up to 35 digits", _letters, write_lines=_plain_lines),
    "hex": _Format(
        "one line: . 0-9 A-F for the digits 1 to 16 of a 16x16 board", _hex, write_lines=_hex_lines
    ),
    "pretty": _Format(
        "one row per line: numbers with rules around the boxes, * empty",
        _pretty,
        has_rows=True,
        shows_candidates=True,
    ),
    "sdk": _Format(
        "SadMan Software: [Puzzle], then one row per line",
        lambda board, alphabet: f"[Puzzle]\n{_grid(board, alphabet)}",
        has_rows=True,
    ),
    "csv": _Format(
        "comma-separated values with the column puzzle",
        lambda board, _: f'"{board}"' if "," in str(board) else str(board),
        "puzzle",
        write_lines=_plain_lines,
        shows_candidates=True,
    ),
    "tsv": _Format(
        "tab-separated values with the column puzzle",
        lambda board, _: str(board),
        "puzzle",
        write_lines=_plain_lines,
        shows_candidates=True,
    ),
}

FORMATS = {name: form.description for name, form in _FORMATS.items()}
"""A description of every format that can be written, by its name."""
