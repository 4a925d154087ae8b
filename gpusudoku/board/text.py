"""The canonical line of a board, and its picture for notebooks.

The line has ``.`` for an empty cell, 1-9 and A-Z for the digits. Above 35 digits it has numbers
separated by commas, 0 for an empty cell. A board with given candidates has a form of its own, with
the candidates of every cell in braces. The package ``formats`` has all other forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry

DIGITS = b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The characters of the digits from 1 to 35."""

_CHARACTERS = (b"." + DIGITS).ljust(256)
"""The characters of the values from 0, for ``bytes.translate``."""
_CHUNK_BOARDS = 1 << 11
"""Boards whose characters are made together. Their bytes fit in the processor's cache."""
_TABLE = "border-collapse:collapse;border:2px solid;margin:4px 0"
_CELL = "width:1.8em;height:1.8em;padding:0;text-align:center;border:1px solid"


def write_cells(cells: NDArray[np.uint8]) -> str:
    """Write the canonical line of one board, uint8 (n * n)."""
    if isqrt(cells.size) > len(DIGITS):
        return ",".join(map(str, cells.tolist()))
    return cells.tobytes().translate(_CHARACTERS).decode()


def write_lines(
    cells: NDArray[np.uint8],
    tails: Sequence[bytes] = (b"",),
    tail_of: NDArray[np.intp] | None = None,
) -> bytes:
    """Write the canonical lines of many boards, uint8 (B, n * n), each with a newline.

    Each line ends in one of a few ``tails``. ``tail_of``, intp (B), has the index of each board's
    tail; without it, all lines have the first tail.
    """
    return bytes(line_buffer(cells, tails, tail_of))


def line_buffer(
    cells: NDArray[np.uint8],
    tails: Sequence[bytes] = (b"",),
    tail_of: NDArray[np.intp] | None = None,
) -> memoryview:
    """Write the same as ``write_lines``, but without copying all lines at the end.

    Other threads can run Python while NumPy fills the buffer, but not during a copy to bytes.
    """
    size = cells.shape[1]
    if isqrt(size) > len(DIGITS):
        indices = [0] * len(cells) if tail_of is None else tail_of.tolist()
        rows = zip(cells.tolist(), indices, strict=True)
        return memoryview(b"".join(
            [b"%b%b\n" % (",".join(map(str, row)).encode(), tails[index]) for row, index in rows]
        ))  # fmt: skip
    ends = np.array([tail + b"\n" for tail in tails])
    lines = np.empty((len(cells), size + ends.itemsize), np.uint8)
    for start in range(0, len(cells), _CHUNK_BOARDS):
        chunk = lines[start : start + _CHUNK_BOARDS]
        chunk[:, :size] = cells[start : start + _CHUNK_BOARDS]
        codes = chunk.reshape(-1)  # a view; arithmetic on one long row is faster
        is_empty = (codes == 0).view(np.uint8)
        if size > 9 * 9:
            codes += (ord("A") - ord("9") - 1) * (codes > 9).view(np.uint8)
        codes += ord("0")
        codes -= (ord("0") - ord(".")) * is_empty
    lines[:, size:].view(ends.dtype)[:, 0] = ends[0] if tail_of is None else ends.take(tail_of)
    if len({*map(len, tails)}) > 1:
        # Shorter ends are padded with zero bytes.
        return memoryview(lines.tobytes().replace(b"\0", b""))
    return lines.reshape(-1).data


def write_candidates(masks: NDArray[np.uint64], n: int) -> str:
    """Write every cell's candidates in braces, as in ``{123}{4}{59}``, for uint64 (n * n) masks."""
    return "".join(f"{{{group}}}" for group in candidate_groups(masks, n))


def candidate_groups(masks: NDArray[np.uint64], n: int) -> list[str]:
    """Write the digits of every mask, uint64 (n * n), above 35 digits separated by commas."""
    if n > len(DIGITS):
        digits = [str(digit) for digit in range(1, n + 1)]
        separator = ","
    else:
        digits = list(DIGITS.decode())
        separator = ""
    return [separator.join(digits[d] for d in range(n) if mask >> d & 1) for mask in masks.tolist()]


def draw(
    geometry: Geometry,
    cells: NDArray[np.uint8],
    clues: NDArray[np.bool_] | None = None,
    caption: str = "",
) -> str:
    """Draw cells, uint8 (n * n), as an HTML table, with thick lines around the boxes.

    It has no colours, so it suits dark and light themes. ``clues``, bool (n * n), tells which cells
    are bold; by default all filled cells. The caption is plain text.
    """
    is_bold = cells > 0 if clues is None else clues
    rows = []
    line = write_cells(cells)
    symbols = line.split(",") if geometry.n > len(DIGITS) else line
    for row in range(geometry.n):
        row_html = ""
        for column in range(geometry.n):
            cell = row * geometry.n + column
            style = _CELL
            if row and row % geometry.box_rows == 0:
                style += ";border-top:2px solid"
            if column and column % geometry.box_columns == 0:
                style += ";border-left:2px solid"
            text = symbols[cell] if cells[cell] else ""
            row_html += f'<td style="{style}">{f"<b>{text}</b>" if is_bold[cell] else text}</td>'
        rows.append(f'<tr style="background:none">{row_html}</tr>')
    caption_html = f"<div>{caption}</div>" if caption else ""
    return (
        f'<div><table style="{_TABLE}"><tbody>{"".join(rows)}</tbody></table>{caption_html}</div>'
    )
