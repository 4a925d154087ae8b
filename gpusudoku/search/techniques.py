"""The simplifying techniques by name, and boards simplified by them without any guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.errors import InputError
from gpusudoku.kernels.search.settings import (
    HIDDEN_PAIR,
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    NAKED_PAIR,
    NAKED_SINGLE,
    SearchSettings,
)

TECHNIQUES = {
    "naked-single": NAKED_SINGLE,
    "hidden-single": HIDDEN_SINGLE,
    "locked-candidates": LOCKED_CANDIDATES,
    "naked-pair": NAKED_PAIR,
    "hidden-pair": HIDDEN_PAIR,
}
"""The bit of every technique, cheapest first, which is the order in which they are tried."""

GROUPS = {
    "none": (),
    "singles": ("naked-single", "hidden-single"),
    "locked": ("naked-single", "hidden-single", "locked-candidates"),
    "pairs": ("naked-pair", "hidden-pair"),
    "all": tuple(TECHNIQUES),
}
"""Names for several techniques at once."""

DEFAULT = "singles"


def parse_techniques(names: str | Iterable[str]) -> int:
    """Bits of a comma-separated list (or an iterable) of techniques and groups.

    Any technique brings naked singles with it: a cell left with one candidate is fixed at once.

    Raises
    ------
    InputError
        If a name is unknown, or ``none`` is not alone.
    """
    words = [word.strip() for word in names.split(",")] if isinstance(names, str) else list(names)
    if "none" in words and len(words) > 1:
        raise InputError("technique 'none' goes with no other")
    bits = 0
    for word in words:
        for name in GROUPS.get(word, (word,)):
            if name not in TECHNIQUES:
                known = ", ".join([*TECHNIQUES, *GROUPS])
                raise InputError(f"unknown technique {name!r}: expected {known}")
            bits |= TECHNIQUES[name] | TECHNIQUES["naked-single"]
    return bits


def technique_names(bits: int) -> str:
    """The comma-separated list for some bits, ``none`` for 0."""
    return ",".join(name for name, bit in TECHNIQUES.items() if bits & bit) or "none"


@dataclass(frozen=True)
class Simplified:
    """What techniques make of a board."""

    board: Board
    """The board with the cells that they solve."""
    candidates: NDArray[np.uint64]
    """uint64 (n * n): per cell the mask of digits left, in solved cells that digit alone."""
    contradictory: bool
    """Whether they showed that there is no solution; board and candidates are then the input's."""

    @property
    def hints(self) -> int:
        """Candidates left in the empty cells."""
        counts = np.bitwise_count(self.candidates)
        return int(counts[self.board.cells == 0].sum())


def simplify(board: Board, techniques: str | Iterable[str] = "all") -> Simplified:
    """Apply techniques to a board until none of them finds anything.

    The outcome does not depend on the order in which finds are made, but for hidden pairs without
    hidden singles: two digits stop being a pair when one of them loses one of its two places.

    Raises
    ------
    InputError
        If a technique is unknown.
    """
    from gpusudoku.search.frontier import Frontier  # brings in Numba

    settings = SearchSettings(parse_techniques(techniques))
    roots = Frontier.of([board], settings)
    # With an infinite cutoff every board is ready after one look, and none is split.
    result = roots.expanded(settings, width=0, cutoff=inf)
    if len(result) == 0:
        return Simplified(board, board.candidates, contradictory=True)
    n, words = board.n, result.layout.plane_words
    planes = result.boards[0, : n * words].reshape(n, words)
    fixed = result.boards[0, result.layout.fixed : result.layout.pending]
    word, bit = np.divmod(result.layout.index_of, 64)
    shift = bit.astype(np.uint64)
    one = np.uint64(1)
    candidates = np.zeros(n * n, np.uint64)
    for digit in range(n):
        candidates |= ((planes[digit, word] >> shift) & one) << np.uint64(digit)
    solved = (fixed[word] >> shift) & one == one
    digits = np.bitwise_count(candidates - one) + 1  # of a mask with one bit
    cells = np.where(solved, digits, 0)
    return Simplified(Board(cells, board.geometry), candidates, contradictory=False)
