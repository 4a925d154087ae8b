"""Boards that have exactly two solutions, which is known without a search.

Such is a board with at most seven open cells if a step with hidden singles changes nothing, and
finds neither a contradiction nor a solution, and if each open cell has two candidates.

*Two places.* A unit with m open cells lacks at least m digits. Each of them has at least two places
there: with one, the step would have placed it; with none, the board would be dead. These places are
in the open cells, which have 2 m candidates together. So exactly m digits are missing, and each has
exactly two places. Sudoku players know this as a bivalue universal grave.

*Linked cells.* If a digit leaves one of its two places in a unit, it goes to the other. So the
digits of these two cells, which are *linked*, decide each other. At least four cells are linked: a
cell has a partner in its row and one in its column, and the partner in its row has one in its own
column. Hence up to seven open cells are all linked, and the digit of one decides all others. There
are at most two solutions. If there is one, there is another: each open cell has its other
candidate.

*There is one.* The tests go through all boards of this kind, up to the names of digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.shape import Shape

MAX_OPEN_CELLS = 7
"""Of eight, four may be linked, and the other four."""


class PairedBoards(NamedTuple):
    """Functions for boards in lanes, as the last step left them."""

    count_open: Callable[..., Any]
    """``count_open(memory, lane)``: the number of cells with two candidates or more."""
    has_two: Callable[..., Any]
    """``has_two(memory, lane)``: whether the board has two solutions. The step had hidden singles,
    nothing changed, and the board is neither dead nor solved."""
    find_two: Callable[..., Any]
    """``find_two(memory, lanes)``: those of some such lanes whose board has two, as bits."""


def build_paired(shape: Shape, jit: Jit) -> PairedBoards:
    """Make the functions."""
    K = shape.plane_words
    OPEN = shape.OPEN
    PAIRS = shape.PAIRS
    Word = shape.word

    @jit
    def count_open(memory, lane):
        cells = 0
        for j in range(K):
            cells += popcount(np.uint64(memory[OPEN + j, lane]))
        return cells

    @jit
    def has_two(memory, lane):
        if count_open(memory, lane) > MAX_OPEN_CELLS:
            return False
        larger = Word(0)  # cells with more than two candidates
        for j in range(K):
            larger |= memory[OPEN + j, lane] ^ memory[PAIRS + j, lane]
        return larger == 0

    @jit
    def find_two(memory, lanes):
        with_two = ZERO
        while lanes != ZERO:
            lane = lowest_index(lanes)
            lanes &= lanes - ONE
            if has_two(memory, lane):
                with_two |= ONE << np.uint64(lane)
        return with_two

    return PairedBoards(count_open, has_two, find_two)
