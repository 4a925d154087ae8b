"""What is done to one board: brought to a lane and back, a digit placed, a solution written.

A board is in a lane of a memory or in a row of other arrays; ``shape`` has the drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, ones
from gpusudoku.kernels.parts import Jit
from gpusudoku.kernels.search.shape import Shape


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
    n, R, C, K, G = shape.n, shape.box_rows, shape.box_columns, shape.plane_words, shape.groups
    planes, bands, field, Word = shape.planes, shape.bands, shape.field, shape.word
    CLEAR = shape.CLEAR
    firsts, row_cells, box_cells = np.uint64(shape.firsts), ones(n), ones(C)

    @jit
    def load(memory, lane, boards, row):
        for w in range(planes):
            memory[w, lane] = boards[row, w]
        for j in range(K):
            memory[CLEAR + j, lane] = 0

    @jit
    def store(memory, lane, boards, row):
        for j in range(K):
            clear, cleared = memory[CLEAR + j, lane], Word(0)
            for w in range(j, planes, K):
                word = memory[w, lane] & ~cleared
                cleared |= word & clear
                boards[row, w] = word

    @jit
    def place(memory, lane, d, j, bit):
        position = lowest_index(np.uint64(bit))
        start, column = np.uint64(position // field * field), position % field
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
