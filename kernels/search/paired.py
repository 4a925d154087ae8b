"""Boards that have exactly two solutions, which is known without a search.

A step with hidden singles changes nothing on such a board, and at most seven cells are open, each
with two candidates.

*Two places.* Each digit that a unit lacks has exactly two places there. It has at least two: with
one, the step would have placed it as a hidden single; with none, it would have found the board
dead. It has no more: a unit with m open cells lacks m digits, and these cells have 2 m candidates.
Sudoku players know this as a bivalue universal grave.

*Linked cells.* If a digit leaves one of its two places in a unit, it goes to the other. So the
digits of these two cells, which are *linked*, decide each other. At least four cells are linked: a
cell has a partner in its row and one in its column, and the partner in its row has one in its own
column. Hence up to seven open cells are all linked, and the digit of one decides all others. There
are at most two solutions. If there is one, there is another: each open cell has its other
candidate.

*There is one.* The tests go through all boards of this kind, up to the names of digits.

About half of the solutions of 9x9 boards with many of them are on such boards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.parts import Jit
from gpusudoku.kernels.search.machine import Machine, traced
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.search.units import Units

MOST_CELLS = 7
"""The most open cells: eight may be two groups of linked ones."""


class Paired(NamedTuple):
    """Functions for boards in lanes, as the last step left them."""

    count_open: Callable[..., Any]
    """``count_open(memory, lane)``: the number of cells with two candidates or more."""
    find_two: Callable[..., Any]
    """``find_two(memory, stuck)``: which of some lanes have such a board. In these lanes nothing
    changed in the last step, and the boards are neither dead nor solved."""


def build_paired(shape: Shape, lanes: int, jit: Jit) -> Paired:
    """Make them for so many lanes."""
    K, OPEN = shape.plane_words, shape.OPEN
    find_larger = traced(larger, 1, shape, lanes)

    @jit
    def count_open(memory, lane):
        cells = 0
        for j in range(K):
            cells += popcount(np.uint64(memory[OPEN + j, lane]))
        return cells

    @jit
    def find_two(memory, stuck):
        paired, with_two = stuck & ~np.uint64(find_larger(memory)), ZERO
        while paired != ZERO:
            lane = lowest_index(paired)
            paired &= paired - ONE
            if count_open(memory, lane) <= MOST_CELLS:
                with_two |= ONE << np.uint64(lane)
        return with_two

    return Paired(count_open, find_two)


def larger(shape: Shape, machine: Machine) -> Any:
    """Return the lanes with a cell that has more than two candidates, as the last step left it."""
    units, found = Units(shape, machine), machine.words(1)
    for j, _ in units.plane():
        found[0] = found[0] | (machine.load(shape.OPEN + j) ^ machine.load(shape.PAIRS + j))
    return machine.nonzero(found[0])
