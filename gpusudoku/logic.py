"""The functions ``simplify`` and ``explain``: solving by techniques, without guesses."""

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
    """uint64 (n * n), read-only: the candidates mask of each cell, in solved cells the digit
    alone."""
    contradictory: bool
    """True if the techniques prove that there is no solution. Then board and candidates are the
    input's."""

    def __post_init__(self) -> None:
        self.candidates.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array loses its read-only flag, so unpickling calls the constructor.
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
        """The number of candidates in the empty cells."""
        counts = np.bitwise_count(self.candidates)
        return int(counts[self.board.cells == 0].sum())


def simplify_kernels(geometry: Geometry, techniques: str = "all") -> list[Kernel]:
    """List the kernels that simplify boards: with all techniques, with each alone, with none."""
    from gpusudoku.kernels.search import cpu  # imported lazily: explaining needs no Numba
    from gpusudoku.kernels.search.shape import SearchSettings, shape_of

    shape = shape_of(geometry.box_rows, geometry.box_columns)
    bits = parse_techniques(techniques)
    single_bits = [bit for bit in TECHNIQUES.values() if bits & bit]
    all_settings = dict.fromkeys(map(SearchSettings, [bits, 0, *single_bits]))
    return [cpu.pack(shape), *(cpu.expand(shape, settings) for settings in all_settings)]


def simplify(
    board: BoardLike,
    techniques: str | Iterable[str] = "all",
    *,
    box: Geometry | str | None = None,
) -> Simplified:
    """Apply techniques to a board until none of them finds anything.

    The result does not depend on the order in which the techniques are applied, with one exception:
    hidden pairs without hidden singles. Two digits stop being a pair when one of them loses one of
    its two places.

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

    board = board_of(board, box)
    settings = SearchSettings(parse_techniques(techniques))
    frontier = Frontier.of([board]).simplified(settings)
    if len(frontier) == 0:
        return Simplified(board, board.candidates, contradictory=True)
    candidates = frontier.candidates[0]
    # Without techniques, no digit is placed, even if a cell has a single candidate.
    cells = single_digits(candidates) if settings.techniques else board.cells
    simplified = Board(cells, board.geometry, candidates=board.given_candidates)
    return Simplified(simplified, candidates, contradictory=False)


@dataclass(frozen=True, eq=False, repr=False)
class Explained:
    """The result of ``explain``. ``str`` gives a line per step."""

    puzzle: Board
    """The input."""
    board: Board
    """The board with the cells that the techniques solve."""
    candidates: NDArray[np.uint64]
    """uint64 (n * n), read-only: the candidates mask of each cell, in solved cells the digit
    alone."""
    steps: tuple[Step, ...]
    """The steps, in order."""
    contradictory: bool
    """True if the steps prove that there is no solution. Then ``board`` has the contradiction."""
    ending: str
    """The reason why there are no more steps, in words."""

    def __post_init__(self) -> None:
        self.candidates.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array loses its read-only flag, so unpickling calls the constructor.
        return Explained, tuple(vars(self).values())

    def __str__(self) -> str:
        return "\n".join(step.text for step in self.steps)

    def __repr__(self) -> str:
        return f"<Explained: {self._in_words()}>"

    def _repr_html_(self) -> str:
        clues = self.puzzle.cells > 0
        return draw(self.board.geometry, self.board.cells, clues, self._in_words())

    def _in_words(self) -> str:
        steps = len(self.steps)
        return f"{steps} step{'' if steps == 1 else 's'}, then {self.ending}"

    @property
    def solved(self) -> bool:
        """True if every cell has a digit, without a contradiction."""
        return self.board.is_full and not self.contradictory

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the candidates as JSON types."""
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
    """Apply techniques to a board, step by step, and explain each step.

    Each step applies the cheapest technique that finds anything, at the first place in a fixed
    order: boxes, then rows, then columns. The steps end when the board is solved, when no technique
    finds anything, or at a contradiction. The candidates are then those of ``simplify``, with the
    exception named there; for a board without a solution ``simplify`` returns the input instead.

    Parameters
    ----------
    board, techniques, box
        As for ``simplify``.
    cancel
        A token that stops the work, by ``Cancelled``: a 64x64 board may take long.

    Raises
    ------
    InputError, Cancelled
        If the board cannot be read, or a technique is unknown; if the token is cancelled.
    """
    puzzle = board_of(board, box)
    bits = parse_techniques(techniques)
    grid = Grid(puzzle)
    finders = [
        getattr(grid, name.replace("-", "_")) for name, bit in TECHNIQUES.items() if bits & bit
    ]
    # Only these techniques notice a digit without a possible cell.
    checks_digits = bool(bits & (TECHNIQUES["hidden-single"] | TECHNIQUES["locked-candidates"]))
    conflicts = (conflict.describe(puzzle.geometry) for conflict in puzzle.conflicts)
    contradiction = next(conflicts, "") or grid.contradiction(checks_digits)
    steps = list[Step]()
    with cancelling(cancel):
        while not contradiction:
            check_cancelled()
            first_steps = (find() for find in finders)
            step = next((step for step in first_steps if step is not None), None)
            if step is None:
                break
            grid.apply(step)
            steps.append(step)
            contradiction = grid.contradiction(checks_digits)
    last_board = grid.board()
    if contradiction:
        ending = f"a contradiction: {contradiction}"
    elif last_board.is_full:
        ending = "the board is solved"
    else:
        cells = f"{last_board.empty_cells} empty cell{'' if last_board.empty_cells == 1 else 's'}"
        ending = f"nothing more is found, with {cells} left"
    return Explained(puzzle, last_board, grid.masks(), tuple(steps), bool(contradiction), ending)
