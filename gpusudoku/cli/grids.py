"""How commands write solutions, each a full grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.cli.options import own_option


def solution_form(command: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option of a command that chooses the text form of solutions, ``form``."""
    return own_option(command)(
        "--format",
        "form",
        type=click.Choice(list(formats.FORMATS)),
        default="line",
        help="How to write solutions.",
    )


def as_text(block: NDArray[np.uint8], geometry: Geometry, form: str) -> bytes:
    """Solutions, uint8 (k, cells), in a text form, each with the end of its last line."""
    if form == "line":
        return formats.write_lines(block)
    end = "\n" + formats.separator(form)
    texts = (formats.write(Board(cells, geometry), form) + end for cells in block)
    return "".join(texts).encode()


def lines_of(text: bytes | memoryview, geometry: Geometry, form: str) -> int | None:
    """How many lines a text of solutions has, where its size tells; else None."""
    fixed = form == "line" and geometry.n <= len(DIGITS)
    return len(text) // (geometry.cells + len("\n")) if fixed else None
