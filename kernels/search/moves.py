"""Functions for single boards: load and store a lane, place a digit, write a solution; packing.

A board is in a lane of a memory, or in a row of other arrays; ``shape`` draws both.
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
    """Functions for the boards of a shape. The compiler inlines all of them.

    ``d`` stands for digit d + 1, ``j`` for a word of its plane, and ``bit`` for the bit of a cell.
    """

    load: Callable[..., None]
    """``load(memory, lane, boards, row)``: copy a row to a lane."""
    store: Callable[..., None]
    """``store(memory, lane, boards, row)``: copy the board of a lane to a row."""
    place: Callable[..., None]
    """``place(memory, lane, d, j, bit)``: strike a digit from the peers of a cell."""
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
    first_column = np.uint64(shape.first_column)
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
        # The cells in CLEAR keep their lowest candidate only, as after the next step.
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
        row_start = np.uint64(position // field * field)
        column = position % field
        box = box_cells << (row_start + np.uint64(column // C * C))
        for peer_word in range(K):
            peers = first_column << np.uint64(column)
            if peer_word % G == j % G:  # the same group of bands, where the box has the same bits
                peers |= box
            if peer_word == j:
                peers = (peers | row_cells << row_start) & ~np.uint64(bit)
            memory[d * K + peer_word, lane] &= ~Word(peers)

    @jit
    def candidates(memory, lane, j, bit):
        mask = ZERO
        for d in range(n):
            if memory[d * K + j, lane] & bit != 0:
                mask |= ONE << np.uint64(d)
        return mask

    @jit
    def write(memory, lane, cells):
        # A cell in CLEAR may have higher candidates. Its lowest one is written last.
        for d in range(n - 1, -1, -1):
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

    It packs uint8 (B, n * n) cells, 0 for empty, into (B, words) boards. A board whose clues
    contradict each other gets no candidates, so that any search finds it dead. ``words`` and
    ``bits`` are the shape's ``cell_positions``. ``memory`` has the shape's lanes, and is
    overwritten.
    """
    n = shape.n
    planes = shape.planes
    width = shape.lanes
    CLEAR = shape.CLEAR
    written_rows = CLEAR + shape.plane_words
    # Unsigned, so that the compiler adds no check for negative indices.
    K = np.uint64(shape.plane_words)
    EMPTY = np.uint64(CLEAR)
    make_planes = traced(planes_of_clues, 1, shape, width)

    @jit
    def pack(cells, words, bits, boards, memory):
        # These checks tell the compiler the distance between two rows.
        if memory.shape[1] != width or cells.shape[1] != n * n:
            raise ValueError
        for start in range(0, cells.shape[0], width):
            block = cells[start : start + width]
            packed = boards[start : start + width]

            # The clues of each digit go to its plane, the empty cells to CLEAR.
            memory[:written_rows] = 0
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

    CLEAR has the empty cells. A lane in which a unit has two clues of a digit gets no candidates.
    Returns these lanes, because a traced function has to return a value.
    """
    units = Units(shape, machine)
    conflict = machine.words(1)
    for d in machine.each(shape.n):
        clues = units.load(d)
        in_units_with_clue = units.units_with(clues, 1)
        in_units_with_two = units.units_with(clues, 2)
        for j, _ in units.plane():
            conflict[0] = conflict[0] | (clues[j] & in_units_with_two[j])
            empty_cells = machine.load(shape.CLEAR + j)
            places = clues[j] | (empty_cells & ~in_units_with_clue[j])
            machine.store(d * shape.plane_words + j, places)
    is_consistent = ~machine.filled(conflict[0], 1)
    for row in machine.each(shape.planes):
        machine.store(row, machine.load(row) & is_consistent)
    return machine.nonzero(conflict[0])
