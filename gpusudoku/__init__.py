"""Count and list all solutions of a Sudoku board, exactly, on a GPU or on all CPU cores.

>>> import gpusudoku
>>> board = gpusudoku.Board.parse("1....2....3.....")
>>> gpusudoku.count(board, device="cpu").count
6
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

_root = Path(__file__).resolve().parents[1]
if (_root / "pyproject.toml").is_file():  # a checkout: gpusudoku.kernels is ./kernels
    __path__.append(str(_root))

from gpusudoku.board import Board, Conflict  # noqa: E402 - after __path__ is set
from gpusudoku.errors import (  # noqa: E402
    DeviceError,
    GpusudokuError,
    InputError,
    MismatchError,
    TooDear,
)
from gpusudoku.geometry import Geometry  # noqa: E402

if TYPE_CHECKING:
    from gpusudoku.chunks import Interrupted
    from gpusudoku.counting import count, count_many, cross_check
    from gpusudoku.listing import Listing, Solution, solutions, solve
    from gpusudoku.logic import Simplified, simplify
    from gpusudoku.options import Options
    from gpusudoku.results import Count, Stats

__version__ = "0.3.0"

# Loaded at first use: most of these bring in Numba, which takes longer than reading a board.
_LAZY = {
    "Interrupted": "chunks",
    "Count": "results",
    "Options": "options",
    "Stats": "results",
    "count": "counting",
    "count_many": "counting",
    "cross_check": "counting",
    "Listing": "listing",
    "Solution": "listing",
    "solutions": "listing",
    "solve": "listing",
    "Simplified": "logic",
    "simplify": "logic",
}

__all__ = [
    "Board",
    "Conflict",
    "Count",
    "DeviceError",
    "Geometry",
    "GpusudokuError",
    "InputError",
    "Interrupted",
    "Listing",
    "MismatchError",
    "Options",
    "Simplified",
    "Solution",
    "Stats",
    "TooDear",
    "__version__",
    "count",
    "count_many",
    "cross_check",
    "simplify",
    "solutions",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"gpusudoku.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'gpusudoku' has no attribute {name!r}")
