"""Boards in lanes: packed, copied to a lane and back, a digit placed, a solution written.

A board is in a lane of a memory or in a row of other arrays; ``shape`` has the drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, ones
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.search.tracing import traced
from gpusudoku.kernels.search.units import Units


class Moves(NamedTuple):
    """Functions for the boards of a shape, all of which are compiled into those that call them."""

    load: Callable[..., None]
    """``load(memory, lane, boards, row)``: make a row the board of a lane."""
    store: Callable[..., None]
    """``store(memory, lane, boards, row)``: make the board of a lane a row."""
    place: Callable[..., None]
    """``place(memory, lane, d, j, bit)``: strike a digit from the peers of a cell in word j."""
    candidates: Callable[..., np.uint64]
    """``candidates(memory, lane, j, bit)``: the candidates of a cell, bit d for digit d + 1."""
    write: Callable[..., None]
    """``write(memory, lane, cells)``: write the digits of a solved board to uint8 (n * n)."""


def build_moves(shape: Shape, jit: Jit) -> Moves:
    """Make the functions."""
    n = shape.n
    R = shape.box_rows
    C = shape.box_columns
    K = shape.plane_words
    G = shape.groups
    planes = shape.planes
    bands = shape.bands
    field = shape.field
    Word = shape.word
    CLEAR = shape.CLEAR
    firsts = np.uint64(shape.firsts)
    row_cells = ones(n)
    box_cells = ones(C)

    @jit
    def load(memory, lane, boards, row):
        for w in range(planes):
            memory[w, lane] = boards[row, w]
        for j in range(K):
            memory[CLEAR + j, lane] = 0

    @jit
    def store(memory, lane, boards, row):
        for j in range(K):
            clear = memory[CLEAR + j, lane]
            cleared = Word(0)
            for w in range(j, planes, K):
                word = memory[w, lane] & ~cleared
                cleared |= word & clear
                boards[row, w] = word

    @jit
    def place(memory, lane, d, j, bit):
        position = lowest_index(np.uint64(bit))
        start = np.uint64(position // field * field)
        column = position % field
        box = box_cells << (start + np.uint64(column // C * C))
        for other in range(K):
            peers = firsts << np.uint64(column)
            if other % G == j % G:
                peers |= box
            if other == j:
                peers = (peers | row_cells << start) & ~np.uint64(bit)
            memory[d * K + other, lane] &= ~Word(peers)

    @jit
    def candidates(memory, lane, j, bit):
        found = ZERO
        for d in range(n):
            if memory[d * K + j, lane] & bit != 0:
                found |= ONE << np.uint64(d)
        return found

    @jit
    def write(memory, lane, cells):
        for d in range(n - 1, -1, -1):  # of a cell that is to be cleared the lowest comes last
            for j in range(K):
                word = np.uint64(memory[d * K + j, lane])
                while word != ZERO:
                    bit = lowest_index(word)
                    word &= word - ONE
                    row = (j % G * bands + bit // field) * R + j // G
                    cells[row * n + bit % field] = d + 1

    return Moves(load, store, place, candidates, write)


def build_pack(shape: Shape, jit: Jit) -> Callable[..., None]:
    """Make ``pack(cells, words, bits, boards, memory)``.

    Packs uint8 (B, n * n) cells, 0 for empty, into (B, words) boards. A board whose clues
    contradict each other comes out without candidates, so that any search finds it dead. ``words``
    and ``bits`` are the shape's ``places``; ``memory`` has its lanes, and is overwritten.
    """
    n = shape.n
    planes = shape.planes
    width = shape.lanes
    CLEAR = shape.CLEAR
    used = CLEAR + shape.plane_words
    # Unsigned, so that the compiler adds no check for negative indices.
    K = np.uint64(shape.plane_words)
    EMPTY = np.uint64(CLEAR)
    make_planes = traced(planes_of_clues, 1, shape, width)

    @jit
    def pack(cells, words, bits, boards, memory):
        # With this the compiler knows the distance of two rows.
        if memory.shape[1] != width or cells.shape[1] != n * n:
            raise ValueError
        for start in range(0, cells.shape[0], width):
            block = cells[start : start + width]
            packed = boards[start : start + width]
            memory[:used] = 0
            for cell in range(n * n):
                j = np.uint64(words[cell])
                bit = bits[cell]
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
    units = Units(shape, machine)
    conflict = machine.words(1)
    for d in machine.each(shape.n):
        clues = units.load(d)
        seen = units.units_with(clues, 1)
        crowded = units.units_with(clues, 2)
        for j, _ in units.plane():
            conflict[0] = conflict[0] | (clues[j] & crowded[j])
            places = clues[j] | (machine.load(shape.CLEAR + j) & ~seen[j])
            machine.store(d * shape.plane_words + j, places)
    kept = ~machine.filled(conflict[0], 1)
    for row in machine.each(shape.planes):
        machine.store(row, machine.load(row) & kept)
    return machine.nonzero(conflict[0])
