"""Count and list all solutions of a Sudoku board, exactly, on a GPU or on all CPU cores.

>>> import gpusudoku
>>> board = gpusudoku.parse("1....2....3.....")
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

from gpusudoku.board.board import Board, Conflict  # noqa: E402 - after __path__ is set
from gpusudoku.board.geometry import Geometry  # noqa: E402
from gpusudoku.errors import (  # noqa: E402
    DeviceError,
    GpusudokuError,
    InputError,
    MismatchError,
    TooExpensive,
)

if TYPE_CHECKING:
    from gpusudoku.counting import count, count_many, cross_check
    from gpusudoku.jobs.job import Interrupted
    from gpusudoku.listing import Listing, Solution, solutions, solve
    from gpusudoku.options import Options
    from gpusudoku.results import Count, Stats
    from gpusudoku.search.techniques import Simplified, simplify

__version__ = "0.4.0.dev0"

# Loaded at first use: most of these bring in Numba, which takes longer than reading a board.
_LAZY = {
    "Interrupted": "jobs.job",
    "Count": "results",
    "Options": "options",
    "Stats": "results",
    "parse": "formats",
    "count": "counting",
    "count_many": "counting",
    "cross_check": "counting",
    "Listing": "listing",
    "Solution": "listing",
    "solutions": "listing",
    "solve": "listing",
    "Simplified": "search.techniques",
    "simplify": "search.techniques",
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
    "TooExpensive",
    "__version__",
    "count",
    "count_many",
    "cross_check",
    "parse",
    "simplify",
    "solutions",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"gpusudoku.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'gpusudoku' has no attribute {name!r}")
