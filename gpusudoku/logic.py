"""Solving by techniques alone, without any guess: at once, or explained step by step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling, check_cancelled
from gpusudoku.search.finds import Grid, Step
from gpusudoku.search.techniques import TECHNIQUES, parse_techniques

if TYPE_CHECKING:
    from gpusudoku.kernels.kernel import Kernel


@dataclass(frozen=True, eq=False, repr=False)
class Simplified:
    """The result of ``simplify``."""

    board: Board
    """The board with the cells that the techniques solve."""
    candidates: NDArray[np.uint64]
    """uint64 (n * n), read-only: per cell the mask of digits left, in solved cells that digit
    alone."""
    contradictory: bool
    """True if they showed that there is no solution; board and candidates are then the input's."""

    def __post_init__(self) -> None:
        self.candidates.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array forgets that it is read-only: the object is made anew.
        return Simplified, (self.board, self.candidates, self.contradictory)

    def __repr__(self) -> str:
        return f"<Simplified: {self._in_words()}>"

    def _repr_html_(self) -> str:
        return draw(self.board.geometry, self.board.cells, caption=self._in_words().capitalize())

    def _in_words(self) -> str:
        if self.contradictory:
            return "no solution"
        return f"{self.candidates_left} candidates left in {self.board.empty_cells} empty cells"

    @property
    def candidates_left(self) -> int:
        """The number of candidates left in the empty cells."""
        counts = np.bitwise_count(self.candidates)
        return int(counts[self.board.cells == 0].sum())


def simplify_kernels(geometry: Geometry, techniques: str = "all") -> list[Kernel]:
    """List the kernels that simplify boards by techniques: all together, each alone, and none."""
    from gpusudoku.kernels.search import cpu  # imported lazily: explaining needs no Numba
    from gpusudoku.kernels.search.shape import SearchSettings, shape_of

    shape = shape_of(geometry.box_rows, geometry.box_columns)
    bits = parse_techniques(techniques)
    each = [parse_techniques(name) for name, bit in TECHNIQUES.items() if bits & bit]
    settings = dict.fromkeys(map(SearchSettings, [bits, 0, *each]))
    return [cpu.pack(shape), *(cpu.expand(shape, one) for one in settings)]


def simplify(
    board: BoardLike,
    techniques: str | Iterable[str] = "all",
    *,
    box: Geometry | str | None = None,
) -> Simplified:
    """Apply techniques to a board until none of them finds anything.

    The outcome does not depend on the order in which finds are made, with one exception: hidden
    pairs without hidden singles, as two digits stop being a pair when one of them loses one of its
    two places.

    Parameters
    ----------
    board, box
        As for ``count``.
    techniques
        Names or groups of techniques, in a list or separated by commas, such as ``singles``.

    Raises
    ------
    InputError
        If the board cannot be read, or a technique is unknown.
    """
    from gpusudoku.kernels.search.shape import SearchSettings  # imported lazily: Numba
    from gpusudoku.search.frontier import Frontier

    board, settings = board_of(board, box), SearchSettings(parse_techniques(techniques))
    result = Frontier.of([board]).simplified(settings)
    if len(result) == 0:
        return Simplified(board, board.candidates, contradictory=True)
    candidates = result.candidates[0]
    # Without techniques nothing is placed, however few candidates are left.
    cells = single_digits(candidates) if settings.techniques else board.cells
    simplified = Board(cells, board.geometry, candidates=board.given_candidates)
    return Simplified(simplified, candidates, contradictory=False)


@dataclass(frozen=True, eq=False, repr=False)
class Explained:
    """The result of ``explain``, step by step; ``str`` gives a sentence a line."""

    puzzle: Board
    """The board that was given."""
    board: Board
    """The board with the cells that the techniques solve."""
    candidates: NDArray[np.uint64]
    """uint64 (n * n), read-only: per cell the mask of digits left, in solved cells that digit
    alone."""
    steps: tuple[Step, ...]
    """The finds, in their order."""
    contradictory: bool
    """True if they showed that there is no solution; the board is then the one that shows it."""
    ending: str
    """The reason why there are no more steps, in words."""

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
        """True if every cell has its digit, and nothing contradicts."""
        return self.board.is_full and not self.contradictory

    def as_dict(self) -> dict[str, Any]:
        """Return all of it but the candidates as JSON types."""
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
    """Apply techniques to a board, one find at a time, and explain each.

    Every step is a find of the cheapest technique that finds anything, the first one in a fixed
    order: boxes, then rows, then columns. The steps end when the board is solved, nothing more is
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
        If the board cannot be read, or a technique is unknown; once it is cancelled.
    """
    puzzle, bits = board_of(board, box), parse_techniques(techniques)
    grid, steps = Grid(puzzle), list[Step]()
    look = [getattr(grid, name.replace("-", "_")) for name, bit in TECHNIQUES.items() if bits & bit]
    # Only these techniques notice a digit that has no place left.
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
    if wrong:
        ending = f"a contradiction: {wrong}"
    elif result.is_full:
        ending = "the board is solved"
    else:
        cells = f"{result.empty_cells} empty cell{'' if result.empty_cells == 1 else 's'}"
        ending = f"nothing more is found, with {cells} left"
    return Explained(puzzle, result, grid.masks(), tuple(steps), bool(wrong), ending)
