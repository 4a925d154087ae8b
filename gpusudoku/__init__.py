"""Count and list all solutions of a Sudoku board, exactly, on a GPU or on all CPU cores.

>>> import gpusudoku
>>> board = gpusudoku.parse("1....2....3.....")
>>> gpusudoku.count(board, device="cpu").count
6

``count``, ``solve`` and ``solutions`` take one board, as text, as a list or as an array;
``count_many`` and ``solve_many`` take many boards. ``simplify`` applies techniques to a board,
``explain`` also lists the steps, and ``rate`` returns how hard it is. ``minimise`` removes
redundant clues, and ``minimal_puzzles`` lists all minimal puzzles within a puzzle. ``canonical``
rearranges a board to the canonical form of its class. ``Options`` describes all options.
``collection`` has the boards that come with the program.

To read the code, start with docs/architecture.md, which follows a board through the modules.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_root = Path(__file__).resolve().parents[1]
if (_root / "pyproject.toml").is_file():  # a checkout: gpusudoku.kernels is ./kernels
    __path__.append(str(_root))

from gpusudoku.jobs.forks import delayed_forks  # noqa: E402 - after __path__ is set

__version__ = "0.28.0"
_NOT_LISTED = {"minimize"}
"""Public names that are other spellings of listed ones."""


# Public names are imported at their first use: most modules import NumPy, which takes longer than
# reading a board, and the command line must handle signals before it imports NumPy.
def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted({*_public_modules(), "__version__"} - _NOT_LISTED)
    module_name = _public_modules().get(name)
    if module_name is None:
        raise AttributeError(f"module 'gpusudoku' has no attribute {name!r}")
    with delayed_forks():
        if module_name == __name__:
            return import_module(f"{__name__}.{name}")
        return getattr(import_module(module_name), name)


def __dir__() -> list[str]:
    return __getattr__("__all__")


@cache
def _public_modules() -> dict[str, str]:
    """Map each public name to the module that ``__init__.pyi`` imports it from."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"from (\S+) import (\w+) as", stub)}
