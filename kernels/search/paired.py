"""Boards that have exactly two solutions, detected without a search.

A board has two solutions if it has at most seven open cells, each with two candidates, and a step
with hidden singles changes nothing and finds neither a contradiction nor a solution.

*Two places.* A unit with m open cells lacks at least m digits. Each of these digits has at least
two places in the unit: with one place, the step would have placed the digit; with none, the board
would be dead. The places are open cells, which have 2 m candidates in all. So exactly m digits are
missing, and each has exactly two places. Sudoku players call this a bivalue universal grave.

*Linked cells.* If a digit leaves one of its two places in a unit, it goes to the other. So the
digits of these two cells determine each other: the cells are *linked*. A cell has a partner in its
row and one in its column, and the partner in its row has a partner in its own column. So at least
four cells are linked with each other. Hence up to seven open cells are all linked, and the digit of
one cell determines all others. There are at most two solutions. If there is one, there is another:
each open cell has its other candidate.

*A solution exists.* The tests go through all boards of this kind, up to the names of digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.shape import Shape

MAX_OPEN_CELLS = 7
"""The most open cells that are certainly all linked: eight may be two sets of four."""


class PairedBoards(NamedTuple):
    """Functions for boards in lanes, as the last step left them."""

    count_open: Callable[..., Any]
    """``count_open(memory, lane)``: the number of cells with two candidates or more."""
    has_two: Callable[..., Any]
    """``has_two(memory, lane)``: whether the board certainly has two solutions. The last step must
    have had hidden singles and changed nothing, and the board must be neither dead nor solved."""
    find_two: Callable[..., Any]
    """``find_two(memory, lanes)``: the lanes of a set for which ``has_two`` holds, as bits."""


def build_paired(shape: Shape, jit: Jit) -> PairedBoards:
    """Make the functions."""
    K = shape.plane_words
    OPEN = shape.OPEN
    PAIRS = shape.PAIRS
    Word = shape.word

    @jit
    def count_open(memory, lane):
        cell_count = 0
        for j in range(K):
            cell_count += popcount(np.uint64(memory[OPEN + j, lane]))
        return cell_count

    @jit
    def has_two(memory, lane):
        if count_open(memory, lane) > MAX_OPEN_CELLS:
            return False
        # PAIRS is a subset of OPEN. The rest has three candidates or more.
        larger_cells = Word(0)
        for j in range(K):
            larger_cells |= memory[OPEN + j, lane] ^ memory[PAIRS + j, lane]
        return larger_cells == 0

    @jit
    def find_two(memory, lanes):
        lanes_with_two = ZERO
        while lanes != ZERO:
            lane = lowest_index(lanes)
            lanes &= lanes - ONE
            if has_two(memory, lane):
                lanes_with_two |= ONE << np.uint64(lane)
        return lanes_with_two

    return PairedBoards(count_open, has_two, find_two)
