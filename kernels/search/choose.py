"""The choice of the cell to guess: preparations in all lanes at once, and the choice in a lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, ones, popcount
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import FIRST_CELL, SearchSettings, Shape
from gpusudoku.kernels.search.units import Units

MAX_PLAIN = 10
"""The most digits of boards that are searched without ``narrow``. The search of larger boards is
several times faster with it: there, a guess that settles other cells, too, matters more."""


def uses_narrow(shape: Shape, settings: SearchSettings) -> bool:
    """Return whether a search uses ``narrow``."""
    return shape.n > MAX_PLAIN and settings.strategy != FIRST_CELL


def narrow(shape: Shape, machine: Machine) -> Any:
    """Keep in PAIRS the cells that share the most units with other cells of PAIRS.

    A guess there may settle these other cells, too. If any cells have such a peer in their row, in
    their column and in their box, they are kept. If not, those with a peer in two of the three
    units are kept; if there are none of these, all.

    Returns the lanes that have a cell of the first kind. Only tests use that, but a traced function
    has to return a value.
    """
    units = Units(shape, machine)
    cells = units.words()
    in_two_units = units.words()
    in_three_units = units.words()
    for j, _ in units.plane():
        cells[j] = machine.load(shape.PAIRS + j)

    any_in_two = machine.words(1)
    any_in_three = machine.words(1)
    rows, columns, boxes = units.by_kind(cells, 2)
    for j, _ in units.plane():
        row = rows[j]
        column = columns[j]
        box = boxes[j]
        in_three_units[j] = cells[j] & row & column & box
        in_two_units[j] = cells[j] & ((row & column) | (box & (row | column)))
        any_in_two[0] = any_in_two[0] | in_two_units[j]
        any_in_three[0] = any_in_three[0] | in_three_units[j]

    # Conditions without branches: all bits are set in lanes without any such cell.
    none_in_two = ~machine.filled(any_in_two[0], 1)
    none_in_three = ~machine.filled(any_in_three[0], 1)
    for j, _ in units.plane():
        fallback = in_two_units[j] | (none_in_two & cells[j])
        best_cells = in_three_units[j] | (none_in_three & fallback)
        machine.store(shape.PAIRS + j, best_cells)
    return machine.nonzero(any_in_three[0])


def lasting(units: Units, changed: Any) -> Any:
    """Return the lanes that may be split already, although they still change.

    ``changed`` has the cells that the last step changed, or where it placed a digit.

    A cell with two candidates that did not change, and sees no cell that did, most likely keeps
    both. Splitting it at once is as good as splitting it when nothing changes any more, and saves
    steps. Only such cells remain in PAIRS.
    """
    shape = units.shape
    machine = units.machine
    any_cell = machine.words(1)
    near_changes = units.units_with(changed, 1)
    for j, _ in units.plane():
        cells = machine.load(shape.PAIRS + j) & ~near_changes[j]
        machine.store(shape.PAIRS + j, cells)
        any_cell[0] = any_cell[0] | cells
    return machine.nonzero(any_cell[0])


def build_first_row(shape: Shape, jit: Jit) -> Callable[..., tuple[int, np.uint64]]:
    """Make ``first_row(memory, lane, cells_row)``.

    It returns the first row, in reading order, that has cells of a set: its word and these cells.
    ``cells_row`` is the first row of the set in the memory, such as OPEN. Without any cell, it
    returns 0 and no cells.
    """
    R = shape.box_rows
    C = shape.box_columns
    G = shape.groups
    bands = shape.bands
    field = shape.field
    row_mask = ones(shape.n)

    @jit
    def first_row(memory, lane, cells_row):
        for band in range(C):
            row_start = np.uint64(band % bands * field)
            for k in range(R):
                j = k * G + band // bands
                cells = (np.uint64(memory[cells_row + j, lane]) >> row_start) & row_mask
                if cells != ZERO:
                    return j, cells << row_start
        return 0, ZERO

    return first_row


def build_choose(
    shape: Shape, strategy: int, candidates: Callable[..., Any], jit: Jit
) -> Callable[..., tuple[int, Any]]:
    """Make ``choose(memory, lane)``, which returns the cell to guess: its word and its bit.

    With the strategy FIRST_CELL that is the first open cell in reading order. Otherwise it is a
    cell of PAIRS, as the last step stored it; if PAIRS is empty, an open cell with the fewest
    candidates. ``candidates`` is that of the shape's ``Moves``.
    """
    n = shape.n
    K = shape.plane_words
    Word = shape.word
    OPEN = shape.OPEN
    PAIRS = shape.PAIRS
    first_row = build_first_row(shape, jit)

    @jit
    def choose_first(memory, lane):
        j, cells = first_row(memory, lane, OPEN)
        return j, Word(cells & (~cells + ONE))

    @jit
    def choose_fewest(memory, lane):
        for j in range(K):
            cells = np.uint64(memory[PAIRS + j, lane])
            if cells != ZERO:
                return j, Word(cells & (~cells + ONE))
        min_count = n + 1
        best_j = 0
        best_bit = ZERO
        for j in range(K):
            cells = np.uint64(memory[OPEN + j, lane])
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                count = popcount(candidates(memory, lane, j, Word(bit)))
                if count < min_count:
                    min_count = count
                    best_j = j
                    best_bit = bit
        return best_j, Word(best_bit)

    return choose_first if strategy == FIRST_CELL else choose_fewest
