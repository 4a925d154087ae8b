"""The constants that kernels of the search are built for: the shape of boards, and the settings.

Boxes have R rows and C columns. For every digit there is a *plane*: one bit per cell, set while the
digit is still possible there. A plane has K words. Word (k, g) has row k of some bands: the bands
of *group* g, one *field* of bits for each, the first band lowest, column 0 lowest in each field;
there are R words for each of G groups.

A 9x9 board has 27 words of 32 bits, three for a digit: K = 3, one group of three bands.

    bit      29 | 28       20 | 19 | 18       10 | 9 | 8         0
    word 0:   . |    row 6    |  . |    row 3    | . |    row 0
    word 1:   . |    row 7    |  . |    row 4    | . |    row 1
    word 2:   . |    row 8    |  . |    row 5    | . |    row 2

A 16x16 board has 64 words of 64 bits, four for a digit: word k holds rows k, 4 + k, 8 + k, 12 + k.

    bit      63      48 | 47      32 | 31      16 | 15       0
    word 0:    row 12   |   row 8    |   row 4    |   row 0
    word 1:    row 13   |   row 9    |   row 5    |   row 1        and so on

The bits of a box's column lie at the same place in the R words of a group, so the bitwise or of
these is the columns of all its bands, without a shift. The *guard bit* between two fields is 0, so
that adding to all rows at once carries nothing over. Words that are fields of 8, 16, 32 or 64 bits
throughout need none: processors add, and compare, numbers of such a size side by side. So a 12x12
board has fields of 16 bits, too: word k of its 3 holds rows k, 3 + k, 6 + k and 9 + k.

A board is a row of words: word K d + G k + g is word (k, g) of digit d + 1, and a few more fill the
last 16 bytes. Frontiers, stacks and checkpoints hold such rows. While boards are worked on, word w
of each stands in row w of a *memory*, (rows, lanes), one board a column; see ``machine``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_features
from numpy.typing import NDArray

from gpusudoku.jobs.forks import cached_property, delayed_forks

SUBWORDS = (8, 16, 32, 64)
"""Bits of the numbers that a processor takes side by side."""
UNROLLED_WORDS = 12
"""Planes of more words are gone through by loops that are compiled as such, over their groups if
there are several: code for each word would take long to compile."""
ROW_BYTES = 16
"""Rows are a multiple of so many bytes, the most that a GPU's thread moves at once."""
CACHE_LINE = 64
"""Bytes."""
CACHE = 1 << 15
"""Bytes of a core's first cache."""


NAKED_SINGLE = 1
HIDDEN_SINGLE = 2
NAKED_PAIR = 4
HIDDEN_PAIR = 8
LOCKED_CANDIDATES = 16

FIRST = 0
MIN = 1

PAIRS = NAKED_PAIR | HIDDEN_PAIR
PLACES = HIDDEN_SINGLE | LOCKED_CANDIDATES
"""The techniques of pairs, and those that see where a digit has no place in a unit."""


class SearchSettings(NamedTuple):
    """What a search does at every node.

    ``techniques`` is a sum of the constants above, 0 for none. ``strategy`` chooses the cell to
    guess: FIRST in reading order, or one with the fewest candidates (MIN).
    """

    techniques: int = NAKED_SINGLE | HIDDEN_SINGLE
    strategy: int = MIN


@cache
def has_avx512() -> bool:
    """Return whether Numba compiles for vectors of 512 bits.

    Numba's settings in the environment decide, as they do in Numba. Its configuration file is not
    read: a wrong answer costs time, but changes no result.
    """
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        is_generic = os.environ.get("NUMBA_CPU_NAME", "").lower() == "generic"
        has_no_avx = os.environ.get("NUMBA_ENABLE_AVX") == "0"
        with delayed_forks():  # a child would wait for llvmlite's lock forever
            features = "" if is_generic or has_no_avx else get_host_cpu_features().flatten()
    return "+avx512f" in features.split(",")


@dataclass(frozen=True)
class Shape:
    """The packing of boards with boxes of ``box_rows`` x ``box_columns``, at most 64 digits."""

    box_rows: int
    box_columns: int

    @property
    def n(self) -> int:
        """The number of digits."""
        return self.box_rows * self.box_columns

    @cached_property
    def _packing(self) -> tuple[int, int, int]:
        """Bits of a word, bands in a word, and bits of a field: as few bits, then words, as can be.

        The bands are dealt out evenly, so that all words have the same fields.
        """
        n = self.n
        bands = self.box_columns
        possible = []
        for bits in (32, 64):
            for per in (each for each in range(1, bands + 1) if bands % each == 0):
                subword = bits // per
                field = subword if subword in SUBWORDS and n <= subword else n + 1
                if per * field <= bits:
                    words = self.box_rows * bands // per
                    possible.append((words * bits, words, bits, per, field))
        return min(possible)[2:]

    @property
    def bits(self) -> int:
        """The bits of a word: 32 or 64."""
        return self._packing[0]

    @property
    def bands(self) -> int:
        """The fields of a word: the bands of a group."""
        return self._packing[1]

    @property
    def field(self) -> int:
        """The bits of a field."""
        return self._packing[2]

    @property
    def has_guards(self) -> bool:
        """True if rows are told apart by a bit above each, not as numbers of their own."""
        return self.field * self.bands < self.bits

    @property
    def groups(self) -> int:
        """G: the groups of bands."""
        return self.box_columns // self.bands

    @property
    def plane_words(self) -> int:
        """K: the words of a plane."""
        return self.box_rows * self.groups

    @property
    def unrolled(self) -> bool:
        """True if code is made for each word of a plane, not for each row of a band."""
        return self.groups == 1 or self.plane_words <= UNROLLED_WORDS

    @property
    def planes(self) -> int:
        """The words of all planes."""
        return self.n * self.plane_words

    @property
    def words(self) -> int:
        """The words of a row."""
        unit = 8 * ROW_BYTES // self.bits
        return -(-self.planes // unit) * unit

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.words * self.bits // 8

    @property
    def word(self) -> type[np.unsignedinteger[Any]]:
        """The type of a word."""
        return np.uint32 if self.bits == 32 else np.uint64

    @property
    def lanes(self) -> int:
        """The boards that a CPU thread works on at once.

        One vector of each word with AVX2, and two with NEON or SSE2, whose vectors have half as
        many bits. AVX2 has 16 registers: with two vectors most words are spilled.

        AVX-512 has 32 registers, and so two vectors where words are few: one can be worked on while
        the other waits for its last result. It has half a one where planes would not fit in the
        first cache.
        """
        bits = 256
        if has_avx512():
            if self.n <= 12:
                bits = 1024
            elif self.planes * 512 <= 8 * CACHE:
                bits = 512
        return bits // self.bits

    # Masks of a word.

    def in_fields(self, row: int) -> int:
        """The same bits in every field."""
        return sum(row << (band * self.field) for band in range(self.bands))

    @property
    def row(self) -> int:
        """The cells of the first row."""
        return (1 << self.n) - 1

    @property
    def cells(self) -> int:
        """All cells."""
        return self.in_fields(self.row)

    @property
    def firsts(self) -> int:
        """Column 0 of every row."""
        return self.in_fields(1)

    @property
    def guards(self) -> int:
        """The guard bits."""
        return self.firsts << self.n if self.has_guards else 0

    @property
    def box_firsts(self) -> int:
        """The first column of every box in every row."""
        return self.in_fields(sum(1 << (box * self.box_columns) for box in range(self.box_rows)))

    # Rows of a memory. The planes come first.

    @property
    def CLEAR(self) -> int:  # noqa: N802
        """The first of K rows: cells whose candidates the next step strikes, all but the lowest."""
        return self.planes

    @property
    def OPEN(self) -> int:  # noqa: N802
        """The first of K: the cells with two candidates or more.

        Without techniques, also those whose one candidate has yet to be struck from its units.
        """
        return self.CLEAR + self.plane_words

    @property
    def PAIRS(self) -> int:  # noqa: N802
        """The first of K: the cells with two candidates, or those of them that are best guessed."""
        return self.OPEN + self.plane_words

    @property
    def memory_rows(self) -> int:
        """The rows of a memory."""
        return self.PAIRS + self.plane_words

    def memory(self, lanes: int, more: int = 0) -> NDArray[Any]:
        """Make the memory of some lanes, (memory_rows + more, lanes), without boards.

        It begins with a cache line. Where NumPy's memory begins within a line, which is a matter of
        luck, every vector of 512 bits takes two: a search was 8% slower.
        """
        size = np.dtype(self.word).itemsize
        words = (self.memory_rows + more) * lanes
        room = np.zeros(words + CACHE_LINE // size, self.word)
        start = -room.ctypes.data % CACHE_LINE // size
        return room[start : start + words].reshape(-1, lanes)

    # Cells.

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Where every cell is in a plane: int64 (n * n), the word, and (n * n), its bit."""
        row, column = np.divmod(np.arange(self.n**2), self.n)
        band, k = np.divmod(row, self.box_rows)
        group, field = np.divmod(band, self.bands)
        bit = np.ones(1, self.word) << (field * self.field + column).astype(self.word)
        return k * self.groups + group, bit

    def rows_of(self, candidates: NDArray[np.uint64]) -> NDArray[Any]:
        """Pack boards whose cells may take some digits only, uint64 (B, n * n): bit d for d + 1.

        Returns
        -------
        (B, words)
        """
        word, bit = self.places
        rows = np.zeros((len(candidates), self.words), self.word)
        for d in range(self.n):
            bits = np.where(candidates >> np.uint64(d) & np.uint64(1), bit, 0)
            for w in range(self.plane_words):
                column = d * self.plane_words + w
                rows[:, column] = np.bitwise_or.reduce(bits[:, word == w], axis=1)
        return rows

    def candidates_of(self, rows: NDArray[Any]) -> NDArray[np.uint64]:
        """Do the reverse."""
        word, bit = self.places
        candidates = np.zeros((len(rows), self.n**2), np.uint64)
        for d in range(self.n):
            possible = rows[:, d * self.plane_words + word] & bit != 0
            candidates |= possible.astype(np.uint64) << np.uint64(d)
        return candidates


@cache
def shape_of(box_rows: int, box_columns: int) -> Shape:
    """The shape of a geometry, made once."""
    return Shape(box_rows, box_columns)
