"""Boards simplified step by step, with the name of each technique, for people.

``simplifying`` does the same in compiled kernels, which tell what is left, not why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling, check_cancelled
from gpusudoku.search.finds import Grid, Step
from gpusudoku.search.techniques import TECHNIQUES, parse_techniques


@dataclass(frozen=True, eq=False, repr=False)
class Explained:
    """What techniques make of a board, step by step; ``str`` gives a sentence a line."""

    puzzle: Board
    """The board that was given."""
    board: Board
    """The board with the cells that they solve."""
    candidates: NDArray[np.uint64]
    """uint64 (n * n), read-only: per cell the mask of digits left, in solved cells that digit
    alone."""
    steps: tuple[Step, ...]
    """What was found, in the order in which it was found."""
    contradictory: bool
    """Whether they showed that there is no solution; the board is then the one that shows it."""
    ending: str
    """Why there are no more steps, in words."""

    def __post_init__(self) -> None:
        self.candidates.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array forgets that it is read-only: the object is made anew.
        return Explained, tuple(vars(self).values())

    def __str__(self) -> str:
        return "\n".join(step.text for step in self.steps)

    def __repr__(self) -> str:
        return f"<Explained: {self._in_words()}>"

    def _repr_html_(self) -> str:
        board, clues = self.board, self.puzzle.cells > 0
        return draw(board.geometry, board.cells, clues, self._in_words())

    def _in_words(self) -> str:
        steps = len(self.steps)
        return f"{steps} step{'' if steps == 1 else 's'}, then {self.ending}"

    @property
    def solved(self) -> bool:
        """Whether every cell has its digit, and nothing contradicts."""
        return self.board.is_full and not self.contradictory

    def as_dict(self) -> dict[str, Any]:
        """All of it but the candidates as JSON types."""
        return {
            "board": str(self.puzzle),
            "box": str(self.puzzle.geometry),
            "contradictory": self.contradictory,
            "solved": self.solved,
            "ending": self.ending,
            "result": str(self.board),
            "steps": [step.as_dict() for step in self.steps],
        }


def explain(
    board: BoardLike,
    techniques: str | Iterable[str] = "all",
    *,
    box: Geometry | str | None = None,
    cancel: CancelToken | None = None,
) -> Explained:
    """Apply techniques to a board, one find at a time, and tell what each of them is.

    Every step is a find of the cheapest technique that finds anything, the first one in a fixed
    order: boxes, then rows, then columns. It goes on until the board is solved, nothing more is
    found, or something contradicts. The candidates are then those that ``simplify`` gives, with the
    exception named there; but of a board without a solution ``simplify`` returns the input.

    Parameters
    ----------
    board, techniques, box
        As for ``simplify``.
    cancel
        Stops it, by ``Cancelled``: a board of 64x64 cells may take long.

    Raises
    ------
    InputError, Cancelled
        If what is given is no board, or if a technique is unknown; once it is cancelled.
    """
    puzzle, bits = board_of(board, box), parse_techniques(techniques)
    grid, steps = Grid(puzzle), list[Step]()
    look = [getattr(grid, name.replace("-", "_")) for name, bit in TECHNIQUES.items() if bits & bit]
    # Whoever looks where a digit can go sees that it can go nowhere; others do not.
    by_places = bool(bits & (TECHNIQUES["hidden-single"] | TECHNIQUES["locked-candidates"]))
    conflicts = (conflict.describe(puzzle.geometry) for conflict in puzzle.conflicts)
    wrong = next(conflicts, "") or grid.contradiction(by_places)
    with cancelling(cancel):
        while not wrong:
            check_cancelled()
            step = next((found for find in look if (found := find()) is not None), None)
            if step is None:
                break
            grid.apply(step)
            steps.append(step)
            wrong = grid.contradiction(by_places)
    result = grid.board()
    ending = f"a contradiction: {wrong}" if wrong else _ending(result)
    return Explained(puzzle, result, grid.masks(), tuple(steps), bool(wrong), ending)


def _ending(board: Board) -> str:
    if board.is_full:
        return "the board is solved"
    cells = f"{board.empty_cells} empty cell{'' if board.empty_cells == 1 else 's'}"
    return f"nothing more is found, with {cells} left"
