"""Boards that need no search: at most seven open cells are left, each with two candidates.

Let nothing change in a step with hidden singles, and let each open cell have two candidates. Then
each digit that a unit lacks has exactly two places there. For it has two at least, or the step had
found a hidden single, or that the board is dead; and m open cells have 2 m candidates, which are
those of m digits. Such a board is known as a bivalue universal grave.

So the digit of a cell decides that of each other cell which shares a unit and a candidate with it,
that one decides others, and so on. Cells that are linked like this are four or more: each has a
partner in its row and one in its column, and the first of these has one in its own column. Hence up
to seven open cells are all linked, and there are two solutions, one the exchange of both digits in
every open cell of the other, or none. The tests go through all boards of this kind: none has none.

Of the solutions of a 9x9 board with thousands of them, about half come in such pairs.
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
        paired, found = stuck & ~np.uint64(find_larger(memory)), ZERO
        while paired != ZERO:
            lane = lowest_index(paired)
            paired &= paired - ONE
            if count_open(memory, lane) <= MOST_CELLS:
                found |= ONE << np.uint64(lane)
        return found

    return Paired(count_open, find_two)


def larger(shape: Shape, machine: Machine) -> Any:
    """Return the lanes with a cell that has more than two candidates, as the last step left it."""
    units, found = Units(shape, machine), machine.words(1)
    for j, _ in units.plane():
        found[0] = found[0] | (machine.load(shape.OPEN + j) ^ machine.load(shape.PAIRS + j))
    return machine.nonzero(found[0])
