"""Count and list all solutions of a Sudoku board, exactly, on a GPU or on all CPU cores.

>>> import gpusudoku
>>> board = gpusudoku.parse("1....2....3.....")
>>> gpusudoku.count(board, device="cpu").count
6

``count``, ``solve`` and ``solutions`` take one board, as text, as a list or as an array;
``count_many`` and ``solve_many`` take many of them. ``simplify`` makes one easier, ``explain``
says how, and ``rate`` how hard it is; ``minimise`` removes redundant clues, and
``minimal_puzzles`` lists all the minimal puzzles inside one; ``canonical`` rearranges a board to
the form of its class. ``Options`` lists all options. ``collection`` has the boards that come with
the program.

To read the code, begin with docs/architecture.md: it follows a board through the rooms.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

_root = Path(__file__).resolve().parents[1]
if (_root / "pyproject.toml").is_file():  # a checkout: gpusudoku.kernels is ./kernels
    __path__.append(str(_root))

from gpusudoku.errors import (  # noqa: E402 - after __path__ is set
    Cancelled,
    ClusterError,
    DeviceError,
    GaveUp,
    GpusudokuError,
    InputError,
    Interrupted,
    MismatchError,
    SaveError,
    TooExpensive,
)
from gpusudoku.jobs.forks import delayed_forks  # noqa: E402

if TYPE_CHECKING:
    from gpusudoku import collection
    from gpusudoku.board.board import Board, Conflict
    from gpusudoku.board.geometry import Geometry
    from gpusudoku.checking import cross_check
    from gpusudoku.counting import count, count_many
    from gpusudoku.engines.make import make_engine
    from gpusudoku.enumeration.solutions import Slice, Solutions, solutions
    from gpusudoku.formats import parse
    from gpusudoku.iterating import Results
    from gpusudoku.jobs.cancel import CancelToken
    from gpusudoku.logic import Explained, Simplified, explain, simplify
    from gpusudoku.options import Options
    from gpusudoku.puzzles.all_minimal import minimal_puzzles
    from gpusudoku.puzzles.canonical import (
        Canonical,
        Transformation,
        canonical,
        canonical_many,
        isomorphic,
    )
    from gpusudoku.puzzles.difficulty import Rating, rate
    from gpusudoku.puzzles.generate import Puzzle, PuzzleBlock, Puzzles, generate
    from gpusudoku.puzzles.minimise import Minimised, minimise, minimise_many
    from gpusudoku.puzzles.minimise import minimize as minimize
    from gpusudoku.puzzles.neighbours import neighbours
    from gpusudoku.results import (
        BadBoard,
        ContractionStats,
        Count,
        Estimates,
        ResultBlock,
        SearchStats,
        Solution,
    )
    from gpusudoku.runs.counting import count_part, merge, resume
    from gpusudoku.runs.records import PartRecord
    from gpusudoku.search.finds import Step
    from gpusudoku.solving import solve, solve_many
    from gpusudoku.web.widget import widget

__version__ = "0.25.0"

# Loaded at first use: most of these bring in Numba, which takes longer than reading a board. All of
# them bring in NumPy, and the command line is to catch signals before that.
_LAZY = {
    "BadBoard": "results",
    "Board": "board.board",
    "CancelToken": "jobs.cancel",
    "Canonical": "puzzles.canonical",
    "Conflict": "board.board",
    "ContractionStats": "results",
    "Count": "results",
    "Estimates": "results",
    "Explained": "logic",
    "Geometry": "board.geometry",
    "Minimised": "puzzles.minimise",
    "Options": "options",
    "PartRecord": "runs.records",
    "Puzzle": "puzzles.generate",
    "PuzzleBlock": "puzzles.generate",
    "Puzzles": "puzzles.generate",
    "Rating": "puzzles.difficulty",
    "ResultBlock": "results",
    "Results": "iterating",
    "SearchStats": "results",
    "Simplified": "logic",
    "Slice": "enumeration.solutions",
    "Solution": "results",
    "Solutions": "enumeration.solutions",
    "Step": "search.finds",
    "Transformation": "puzzles.canonical",
    "canonical": "puzzles.canonical",
    "canonical_many": "puzzles.canonical",
    "count": "counting",
    "count_many": "counting",
    "count_part": "runs.counting",
    "cross_check": "checking",
    "explain": "logic",
    "generate": "puzzles.generate",
    "isomorphic": "puzzles.canonical",
    "make_engine": "engines.make",
    "merge": "runs.counting",
    "minimal_puzzles": "puzzles.all_minimal",
    "minimise": "puzzles.minimise",
    "minimise_many": "puzzles.minimise",
    "minimize": "puzzles.minimise",  # as others spell it
    "neighbours": "puzzles.neighbours",
    "parse": "formats",
    "rate": "puzzles.difficulty",
    "resume": "runs.counting",
    "simplify": "logic",
    "solutions": "enumeration.solutions",
    "solve": "solving",
    "solve_many": "solving",
    "widget": "web.widget",
}

__all__ = [
    "BadBoard",
    "Board",
    "CancelToken",
    "Cancelled",
    "Canonical",
    "ClusterError",
    "Conflict",
    "ContractionStats",
    "Count",
    "DeviceError",
    "Estimates",
    "Explained",
    "GaveUp",
    "Geometry",
    "GpusudokuError",
    "InputError",
    "Interrupted",
    "Minimised",
    "MismatchError",
    "Options",
    "PartRecord",
    "Puzzle",
    "PuzzleBlock",
    "Puzzles",
    "Rating",
    "ResultBlock",
    "Results",
    "SaveError",
    "SearchStats",
    "Simplified",
    "Slice",
    "Solution",
    "Solutions",
    "Step",
    "TooExpensive",
    "Transformation",
    "__version__",
    "canonical",
    "canonical_many",
    "collection",
    "count",
    "count_many",
    "count_part",
    "cross_check",
    "explain",
    "generate",
    "isomorphic",
    "make_engine",
    "merge",
    "minimal_puzzles",
    "minimise",
    "minimise_many",
    "neighbours",
    "parse",
    "rate",
    "resume",
    "simplify",
    "solutions",
    "solve",
    "solve_many",
    "widget",
]


def __getattr__(name: str) -> Any:
    if name == "collection" or name in _LAZY:
        with delayed_forks():
            module = import_module(f"gpusudoku.{_LAZY.get(name, name)}")
        return module if name == "collection" else getattr(module, name)
    raise AttributeError(f"module 'gpusudoku' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
