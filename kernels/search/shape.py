"""The constants that kernels of the search are built for: the shape of boards, and the settings.

Boxes have R rows and C columns. Every digit has a *plane*: one bit for each cell, which is set
while the digit is possible there. A plane has K words. They are numbered by k and g: word (k, g)
has row k of each band of *group* g. So there are R words for each of G groups, K = R G. Each band
has a *field* of bits in the word: the first band has the lowest field, and column 0 has the lowest
bit of a field.

A 9x9 board has 27 words of 32 bits, three for a digit: K = 3, one group of three bands.

    bit      29 | 28       20 | 19 | 18       10 | 9 | 8         0
    word 0:   . |    row 6    |  . |    row 3    | . |    row 0
    word 1:   . |    row 7    |  . |    row 4    | . |    row 1
    word 2:   . |    row 8    |  . |    row 5    | . |    row 2

A 16x16 board has 64 words of 64 bits, four for a digit: word k has rows k, 4 + k, 8 + k, 12 + k.

    bit      63      48 | 47      32 | 31      16 | 15       0
    word 0:    row 12   |   row 8    |   row 4    |   row 0
    word 1:    row 13   |   row 9    |   row 5    |   row 1        and so on

The bits of a box's column are at the same position in the R words of a group. So the bitwise or of
these words gives the columns of all boxes in the group's bands, without a shift.

The *guard bit* between two fields is 0, so that an addition to all rows at once carries nothing
from one row into the next. Words that consist of fields of 8, 16, 32 or 64 bits need no guard bits,
because processors add and compare numbers of these sizes side by side. So a 12x12 board has fields
of 16 bits, too: word k of its 3 has rows k, 3 + k, 6 + k and 9 + k.

A packed board is a row of words:

    word              0 ... K - 1 | K ... 2 K - 1 | ... | (n - 1) K ... n K - 1 | n K ...
    plane of digit         1      |       2       | ... |           n           | padding

Word K d + G k + g is word (k, g) of digit d + 1. The padding makes the row a multiple of 16 bytes.
Frontiers, stacks and checkpoints have such rows.

While boards are worked on, they are the columns of a *memory*, (rows, lanes): row w has word w of
the board in each lane. Three sets of cells follow the planes, packed as one plane each:

                 lane 0   lane 1   ...
    n K rows     planes   planes   ...
    K rows       CLEAR    CLEAR    ...
    K rows       OPEN     OPEN     ...
    K rows       PAIRS    PAIRS    ...
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
"""Bits of the numbers that a processor adds and compares side by side."""
UNROLLED_WORDS = 12
"""The most words of a plane for which code is unrolled. For larger planes the compiled code has
loops, over groups if there are several: code for each word would take long to compile."""
ROW_BYTES = 16
"""The size of a row is a multiple of this: the most bytes that a GPU thread moves at once."""
CACHE_LINE = 64
"""Bytes of a cache line."""
CACHE = 1 << 15
"""Bytes of a core's first-level cache."""


# Techniques, bits of ``SearchSettings.techniques``
NAKED_SINGLE = 1
HIDDEN_SINGLE = 2
NAKED_PAIR = 4
HIDDEN_PAIR = 8
LOCKED_CANDIDATES = 16

PAIRS = NAKED_PAIR | HIDDEN_PAIR
"""The techniques that look for pairs."""
PLACES = HIDDEN_SINGLE | LOCKED_CANDIDATES
"""The techniques that detect a unit without a place for a digit."""

# Strategies, values of ``SearchSettings.strategy``
FIRST_CELL = 0
"""Guess the first open cell in reading order."""
FEWEST_CANDIDATES = 1
"""Guess a cell with the fewest candidates."""


class SearchSettings(NamedTuple):
    """The techniques and the strategy of a search."""

    techniques: int = NAKED_SINGLE | HIDDEN_SINGLE
    """The techniques that simplify every node, as bits; 0 for none."""
    strategy: int = FEWEST_CANDIDATES
    """The choice of the cell to guess: FIRST_CELL or FEWEST_CANDIDATES."""


@cache
def has_avx512() -> bool:
    """Return whether Numba compiles for vectors of 512 bits.

    Numba's environment variables decide, as they do in Numba. Numba's configuration file is not
    read: a wrong answer costs time, but changes no result.
    """
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        is_generic = os.environ.get("NUMBA_CPU_NAME", "").lower() == "generic"
        has_no_avx = os.environ.get("NUMBA_ENABLE_AVX") == "0"
        if is_generic or has_no_avx:
            return False
        with delayed_forks():  # a child would wait for llvmlite's lock forever
            features = get_host_cpu_features().flatten()
    return "+avx512f" in features.split(",")


class _Packing(NamedTuple):
    """A way to pack planes. ``min`` chooses the fewest bits, then the fewest words."""

    plane_bits: int
    plane_words: int
    word_bits: int
    bands_per_word: int
    field_bits: int


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
    def _packing(self) -> _Packing:
        """The smallest packing of a plane.

        Every word has the same number of bands, so that all words have the same fields.
        """
        n = self.n
        bands = self.box_columns
        packings = []
        for word_bits in (32, 64):
            for bands_per_word in range(1, bands + 1):
                if bands % bands_per_word != 0:
                    continue
                field_bits = word_bits // bands_per_word
                if field_bits not in SUBWORDS or field_bits < n:
                    field_bits = n + 1  # with a guard bit
                if bands_per_word * field_bits <= word_bits:
                    words = self.box_rows * bands // bands_per_word
                    packings.append(
                        _Packing(words * word_bits, words, word_bits, bands_per_word, field_bits)
                    )
        return min(packings)

    @property
    def bits(self) -> int:
        """The bits of a word: 32 or 64."""
        return self._packing.word_bits

    @property
    def bands(self) -> int:
        """The fields of a word: the bands of a group."""
        return self._packing.bands_per_word

    @property
    def field(self) -> int:
        """The bits of a field."""
        return self._packing.field_bits

    @property
    def has_guards(self) -> bool:
        """True if guard bits separate rows, False if each row is a number of its own."""
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
        """True if code is unrolled for each word of a plane, False if for each row of a band."""
        return self.groups == 1 or self.plane_words <= UNROLLED_WORDS

    @property
    def planes(self) -> int:
        """The words of all planes."""
        return self.n * self.plane_words

    @property
    def words(self) -> int:
        """The words of a packed board: those of its planes, rounded up to ROW_BYTES."""
        multiple = 8 * ROW_BYTES // self.bits
        return -(-self.planes // multiple) * multiple

    @property
    def row_bytes(self) -> int:
        """The bytes of a packed board."""
        return self.words * self.bits // 8

    @property
    def word(self) -> type[np.unsignedinteger[Any]]:
        """The type of a word."""
        return np.uint32 if self.bits == 32 else np.uint64

    @property
    def lanes(self) -> int:
        """The number of boards that a CPU thread simplifies together.

        The same word of all boards takes one vector with AVX2, and two with NEON or SSE2, whose
        vectors have half as many bits. AVX2 has 16 registers: with two vectors most words would be
        spilled.

        AVX-512 has 32 registers. Boards with few words take two vectors: the processor works on one
        of them while the other waits for its last result. Boards whose planes would not fit in the
        first-level cache take half a vector.
        """
        memory_row_bits = 256
        if has_avx512():
            if self.n <= 12:
                memory_row_bits = 1024
            elif self.planes * 512 <= 8 * CACHE:
                memory_row_bits = 512
        return memory_row_bits // self.bits

    # Masks of a word.

    def in_fields(self, row_mask: int) -> int:
        """Repeat the bits of a row in every field."""
        return sum(row_mask << (band * self.field) for band in range(self.bands))

    @property
    def row(self) -> int:
        """The cells of the row in the lowest field."""
        return (1 << self.n) - 1

    @property
    def cells(self) -> int:
        """All cells."""
        return self.in_fields(self.row)

    @property
    def first_column(self) -> int:
        """Column 0 of every row."""
        return self.in_fields(1)

    @property
    def guards(self) -> int:
        """The guard bits."""
        return self.first_column << self.n if self.has_guards else 0

    @property
    def first_columns_of_boxes(self) -> int:
        """The first column of every box in every row."""
        first_columns = sum(1 << (box * self.box_columns) for box in range(self.box_rows))
        return self.in_fields(first_columns)

    # Rows of a memory. The planes come first; K rows follow for each set of cells.

    @property
    def CLEAR(self) -> int:  # noqa: N802
        """The first row of the cells that the next step leaves only their lowest candidate."""
        return self.planes

    @property
    def OPEN(self) -> int:  # noqa: N802
        """The first row of the open cells: those with two candidates or more.

        Without techniques, a cell with one candidate is open, too, until the candidate has been
        struck from its units.
        """
        return self.CLEAR + self.plane_words

    @property
    def PAIRS(self) -> int:  # noqa: N802
        """The first row of the cells with two candidates, or of the best guesses among them."""
        return self.OPEN + self.plane_words

    @property
    def memory_rows(self) -> int:
        """The rows of a memory."""
        return self.PAIRS + self.plane_words

    def memory(self, lanes: int, extra_rows: int = 0) -> NDArray[Any]:
        """Make a memory without boards, (memory_rows + extra_rows, lanes).

        It is aligned to a cache line. NumPy's memory may begin anywhere within a line, and then
        every vector of 512 bits takes two lines: a search was 8% slower.
        """
        word_bytes = np.dtype(self.word).itemsize
        word_count = (self.memory_rows + extra_rows) * lanes
        unaligned = np.zeros(word_count + CACHE_LINE // word_bytes, self.word)
        start = -unaligned.ctypes.data % CACHE_LINE // word_bytes
        return unaligned[start : start + word_count].reshape(-1, lanes)

    # Cells.

    @cached_property
    def cell_positions(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The position of every cell in a plane: int64 (n * n), its word; and (n * n), its bit."""
        row, column = np.divmod(np.arange(self.n**2), self.n)
        band, k = np.divmod(row, self.box_rows)
        group, field = np.divmod(band, self.bands)
        word_index = k * self.groups + group
        bit_index = field * self.field + column
        return word_index, np.ones(1, self.word) << bit_index.astype(self.word)

    def rows_of(self, candidates: NDArray[np.uint64]) -> NDArray[Any]:
        """Pack the candidates masks of boards, uint64 (B, n * n): bit d for digit d + 1.

        Returns
        -------
        (B, words)
        """
        word_of_cell, bit_of_cell = self.cell_positions
        rows = np.zeros((len(candidates), self.words), self.word)
        for d in range(self.n):
            is_candidate = candidates >> np.uint64(d) & np.uint64(1)
            bits = np.where(is_candidate, bit_of_cell, 0)
            for j in range(self.plane_words):
                w = d * self.plane_words + j
                rows[:, w] = np.bitwise_or.reduce(bits[:, word_of_cell == j], axis=1)
        return rows

    def candidates_of(self, rows: NDArray[Any]) -> NDArray[np.uint64]:
        """Unpack boards, the reverse of ``rows_of``."""
        word_of_cell, bit_of_cell = self.cell_positions
        candidates = np.zeros((len(rows), self.n**2), np.uint64)
        for d in range(self.n):
            is_candidate = rows[:, d * self.plane_words + word_of_cell] & bit_of_cell != 0
            candidates |= is_candidate.astype(np.uint64) << np.uint64(d)
        return candidates


@cache
def shape_of(box_rows: int, box_columns: int) -> Shape:
    """Return the shape of a geometry: the same object each time."""
    return Shape(box_rows, box_columns)
