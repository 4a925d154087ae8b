"""A grid drawn as HTML, for notebooks: it has no colours, so it suits dark and light themes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS

_TABLE = "border-collapse:collapse;border:2px solid;margin:4px 0"
_CELL = "width:1.8em;height:1.8em;padding:0;text-align:center;border:1px solid"


def draw(
    geometry: Geometry,
    cells: NDArray[np.uint8],
    clues: NDArray[np.bool_] | None = None,
    caption: str = "",
) -> str:
    """An HTML table of cells, uint8 (n * n), with thick lines around the boxes.

    Those cells that are ``clues``, bool (n * n), are bold, by default all that are filled. The
    caption is plain text, which stands below.
    """
    bold = cells > 0 if clues is None else clues
    n = geometry.n
    rows = "".join(
        '<tr style="background:none">'
        + "".join(_cell(geometry, cell, int(cells[cell]), bool(bold[cell]))
                  for cell in range(row * n, row * n + n))
        + "</tr>"
        for row in range(n)
    )  # fmt: skip
    below = f"<div>{caption}</div>" if caption else ""
    return f'<div><table style="{_TABLE}"><tbody>{rows}</tbody></table>{below}</div>'


def _cell(geometry: Geometry, cell: int, digit: int, bold: bool) -> str:
    row, column = divmod(cell, geometry.n)
    style = _CELL
    if row and row % geometry.box_rows == 0:
        style += ";border-top:2px solid"
    if column and column % geometry.box_columns == 0:
        style += ";border-left:2px solid"
    text = "" if digit == 0 else str(digit) if geometry.n > len(DIGITS) else chr(DIGITS[digit - 1])
    return f'<td style="{style}">{f"<b>{text}</b>" if bold else text}</td>'
