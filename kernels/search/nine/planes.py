"""How a search of 9x9 boards packs a board: 27 words of 32 bits, which cost few shifts. 9x9 only.

Digit d + 1 has three words, 3 d + k for k = 0, 1, 2. Word k holds row k of every band, ten bits
each: nine cells, column 0 lowest, and a *guard bit* that is 0, so that adding to or subtracting
from all three rows at once carries nothing over.

    bit      29 | 28       20 | 19 | 18       10 | 9 | 8         0
    word 0:   . |    row 6    |  . |    row 3    | . |    row 0
    word 1:   . |    row 7    |  . |    row 4    | . |    row 1
    word 2:   . |    row 8    |  . |    row 5    | . |    row 2

The bits of a box's column lie at the same place in the three words, so ``w0 | w1 | w2`` is the
nine columns of every band, for all three bands, without a shift.

Boards on the way between threads keep to the ``Layout`` of all geometries; ``rows`` has those in a
GPU's memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout

WORDS = 27
"""Words of a board."""
ROW_BITS = 10
"""Bits from a row to the one below it that shares its word."""

ROW = 0o777
"""The cells of the first row of a word, or its columns."""
ROWS = ROW | ROW << 10 | ROW << 20
"""All cells of a word."""
FIRSTS = 1 | 1 << 10 | 1 << 20
"""Column 0 of every row."""
GUARDS = FIRSTS << 9
BOX_FIRSTS = 0o111 * FIRSTS
"""The first column of every box in every row."""

NINE = Layout(3, 3)

CACHE_LINE = 64
"""Bytes."""


def build_unpack(jit: Jit) -> Callable[..., None]:
    """Make ``unpack(board, planes, lane)``: a board of the ``Layout`` into a column of planes.

    board   uint64 (layout.words)
    planes  uint32 (WORDS or more, lanes)
    """

    @jit
    def unpack(board, planes, lane):
        for d in range(9):
            low, high = board[2 * d], board[2 * d + 1]
            for k in range(3):
                word = (low >> np.uint64(9 * k)) & np.uint64(ROW)
                word |= ((low >> np.uint64(9 * k + 27)) & np.uint64(ROW)) << np.uint64(10)
                word |= ((high >> np.uint64(9 * k)) & np.uint64(ROW)) << np.uint64(20)
                planes[3 * d + k, lane] = np.uint32(word)

    return unpack


def boards_of(planes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Boards of the ``Layout``, uint64 (B, layout.words), from uint32 (B, WORDS).

    No cell counts as fixed: what is fixed is found again at the first look.
    """
    boards = np.zeros((len(planes), NINE.words), np.uint64)
    words = np.ascontiguousarray(planes.T)  # of all boards side by side
    bands = []
    for band in range(3):
        rows = words >> np.uint32(band * ROW_BITS) & np.uint32(ROW)
        bands.append(rows[::3] | rows[1::3] << np.uint32(9) | rows[2::3] << np.uint32(18))
    boards[:, 0:18:2] = (bands[0] | bands[1].astype(np.uint64) << np.uint64(27)).T
    boards[:, 1:18:2] = bands[2].T
    boards[:, NINE.pending] = ROW
    return boards


def build_write_solution(jit: Jit) -> Callable[..., None]:
    """Make ``write_solution(planes, lane, cells)``: the digits of a solved board, uint8 (81)."""

    @jit
    def write_solution(planes, lane, cells):
        for w in range(WORDS):
            word = np.uint64(planes[w, lane])
            while word != ZERO:
                bit = lowest_index(word)
                word &= word - ONE
                row = bit // ROW_BITS * 3 + w % 3
                cells[row * 9 + bit % ROW_BITS] = w // 3 + 1

    return write_solution


# Rows of the working memory of the lanes. The words of their boards come first.
PLACED = WORDS
"""The first of 27 words: the cells where each digit stands, packed as the board is."""
BIVALUE = 2 * WORDS
"""The first of 3 words: the cells with two candidates when they were last looked at."""
CLEAR = BIVALUE + 3
"""The first of 3 words: cells where a digit stands whose other candidates are yet to be struck."""
OPEN = CLEAR + 3
"""The first of 3 words: the cells with two candidates or more."""
CHANGED = OPEN + 3
"""The first of 3 words: the cells that the last step changed, or where it found a digit."""
MEMORY_ROWS = CHANGED + 3


class Lanes(NamedTuple):
    """The current boards of a thread, one in each lane."""

    memory: NDArray[np.uint32]
    """uint32 (MEMORY_ROWS, lanes): their words and what is known of them."""
    roots: NDArray[np.int64]
    """int64 (lanes): the roots that they descend from."""

    @classmethod
    def empty(cls, lanes: int) -> Lanes:
        """No boards yet, in memory that begins with a cache line.

        A row of lanes is two of them, each a vector of 512 bits. Where NumPy's memory begins within
        a line, which is a matter of luck, every such vector takes two: a search was 8% slower.
        """
        room = np.zeros(MEMORY_ROWS * lanes + CACHE_LINE // 4, np.uint32)
        start = -room.ctypes.data % CACHE_LINE // 4
        memory = room[start : start + MEMORY_ROWS * lanes].reshape(MEMORY_ROWS, lanes)
        return cls(memory, np.zeros(lanes, np.int64))
