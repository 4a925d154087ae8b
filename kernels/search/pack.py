"""Packing boards: from cells to the rows that ``shape`` draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO
from gpusudoku.kernels.parts import Jit
from gpusudoku.kernels.search.machine import Machine, traced
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.search.units import Units


def build_pack(shape: Shape, jit: Jit) -> Callable[..., None]:
    """Make ``pack(cells, words, bits, boards, memory)``.

    Packs uint8 (B, n * n) cells, 0 for empty, into (B, words) boards. A board whose clues
    contradict each other comes out without candidates, so that any search finds it dead. ``words``
    and ``bits`` are the shape's ``places``; ``memory`` has its lanes, and is overwritten.
    """
    n, planes, width, CLEAR = shape.n, shape.planes, shape.lanes, shape.CLEAR
    used = CLEAR + shape.plane_words
    # Unsigned, so that the compiler adds no check for negative indices.
    K, EMPTY = np.uint64(shape.plane_words), np.uint64(CLEAR)
    make_planes = traced(planes_of_clues, 1, shape, width)

    @jit
    def pack(cells, words, bits, boards, memory):
        # With this the compiler knows the distance of two rows.
        if memory.shape[1] != width or cells.shape[1] != n * n:
            raise ValueError
        for start in range(0, cells.shape[0], width):
            block, packed = cells[start : start + width], boards[start : start + width]
            memory[:used] = 0
            for cell in range(n * n):
                j, bit = np.uint64(words[cell]), bits[cell]
                for lane in range(len(block)):
                    digit = np.uint64(block[lane, cell])
                    # Chosen without a branch, which would often be mispredicted.
                    row = K * (digit - ONE) if digit != ZERO else EMPTY
                    memory[row + j, lane] |= bit
            make_planes(memory)
            for lane in range(len(block)):
                for w in range(planes):
                    packed[lane, w] = memory[w, lane]
                for w in range(planes, boards.shape[1]):
                    packed[lane, w] = 0

    return pack


def planes_of_clues(shape: Shape, machine: Machine) -> Any:
    """Add to the clues of each digit the empty cells that see none of them.

    The empty cells are where CLEAR is. Lanes in which two clues of a digit are in one unit get no
    candidates; they are returned, as a traced function returns a value.
    """
    units, conflict = Units(shape, machine), machine.words(1)
    for d in machine.each(shape.n):
        clues = units.load(d)
        seen, crowded = units.units_with(clues, 1), units.units_with(clues, 2)
        for j, _ in units.plane():
            conflict[0] = conflict[0] | (clues[j] & crowded[j])
            places = clues[j] | (machine.load(shape.CLEAR + j) & ~seen[j])
            machine.store(d * shape.plane_words + j, places)
    kept = ~machine.filled(conflict[0], 1)
    for row in machine.each(shape.planes):
        machine.store(row, machine.load(row) & kept)
    return machine.nonzero(conflict[0])
