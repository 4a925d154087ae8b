"""Which cell is guessed: what is found in all lanes at once, and the choice in one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, ones, popcount
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import FIRST, SearchSettings, Shape
from gpusudoku.kernels.search.units import Units

MAX_PLAIN = 10
"""Boards of more digits are searched several times faster if the guess may settle other cells."""


def narrows(shape: Shape, settings: SearchSettings) -> bool:
    """Tell whether a search uses ``narrow``."""
    return shape.n > MAX_PLAIN and settings.strategy != FIRST


def narrow(shape: Shape, machine: Machine) -> Any:
    """Of the cells with two candidates keep those that share the most units with others of them.

    A guess there may settle those others, too. Keeps the cells with such a peer in their row,
    column and box; if a board has none of these, those with two of the three; else all. Returns the
    lanes that have any of the first kind, which nobody needs but tests.
    """
    units = Units(shape, machine)
    cells = units.words()
    two = units.words()
    three = units.words()
    for j, _ in units.plane():
        cells[j] = machine.load(shape.PAIRS + j)
    any_two = machine.words(1)
    any_three = machine.words(1)
    rows, columns, boxes = units.by_kind(cells, 2)
    for j, _ in units.plane():
        row, column, box = (kind[j] for kind in (rows, columns, boxes))
        three[j] = cells[j] & row & column & box
        two[j] = cells[j] & ((row & column) | (box & (row | column)))
        any_two[0] = any_two[0] | two[j]
        any_three[0] = any_three[0] | three[j]
    no_two = ~machine.filled(any_two[0], 1)
    no_three = ~machine.filled(any_three[0], 1)
    for j, _ in units.plane():
        best = three[j] | (no_three & (two[j] | (no_two & cells[j])))
        machine.store(shape.PAIRS + j, best)
    return machine.nonzero(any_three[0])


def lasting(units: Units, changed: Any) -> Any:
    """Return the lanes that still change but may be split already.

    ``changed`` has the cells that the last step changed, or where it placed a digit.

    A cell with two candidates that did not change, and sees no cell that did, most likely keeps
    both. It may as well be split at once as when nothing changes any more, and steps are saved.
    Only such cells count as cells with two candidates from then on.
    """
    shape = units.shape
    machine = units.machine
    some = machine.words(1)
    seen = units.units_with(changed, 1)
    for j, _ in units.plane():
        pairs = machine.load(shape.PAIRS + j) & ~seen[j]
        machine.store(shape.PAIRS + j, pairs)
        some[0] = some[0] | pairs
    return machine.nonzero(some[0])


def build_choose(
    shape: Shape, strategy: int, candidates: Callable[..., Any], jit: Jit
) -> Callable[..., tuple[int, Any]]:
    """Make ``choose(memory, lane)``: the cell to guess, as the number of its word and its bit.

    Of the open cells the first in reading order; or one of those with two candidates that the last
    step stored, if there is one, else one of those with the fewest. ``candidates`` is that of the
    shape's ``Moves``.
    """
    n = shape.n
    R = shape.box_rows
    C = shape.box_columns
    K = shape.plane_words
    G = shape.groups
    bands = shape.bands
    field = shape.field
    Word = shape.word
    OPEN = shape.OPEN
    PAIRS = shape.PAIRS
    row = ones(n)

    @jit
    def first(memory, lane):
        for band in range(C):
            start = np.uint64(band % bands * field)
            for k in range(R):
                j = k * G + band // bands
                cells = (np.uint64(memory[OPEN + j, lane]) >> start) & row
                if cells != ZERO:
                    return j, Word((cells & (~cells + ONE)) << start)
        return 0, Word(0)

    @jit
    def fewest(memory, lane):
        for j in range(K):
            cells = np.uint64(memory[PAIRS + j, lane])
            if cells != ZERO:
                return j, Word(cells & (~cells + ONE))
        best = n + 1
        at = 0
        chosen = ZERO
        for j in range(K):
            cells = np.uint64(memory[OPEN + j, lane])
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                count = popcount(candidates(memory, lane, j, Word(bit)))
                if count < best:
                    best = count
                    at = j
                    chosen = bit
        return at, Word(chosen)

    return first if strategy == FIRST else fewest
