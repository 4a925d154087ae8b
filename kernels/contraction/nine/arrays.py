"""The arrays of the contraction of a 9x9 board, after a glossary of the terms that all files use.

``docs/contraction.md`` derives the method. The examples are from this 4x4 board, where a partition
has two sets of two digits:

    1 2 | 3 4
    3 4 | 1 2
    ----+----
    2 1 | 4 3
    4 3 | 2 1

line
    A stack (lines 0 to 2, left to right) or a band (lines 3 to 5, top to bottom).
map
    A map of a line gives every digit a column (of a stack; a row, of a band) in each of the line's
    boxes. Example: the left stack has digits 1 and 3 in its first column above, 2 and 4 below.
partition
    Which digits share a column (or a row) of a line in a box, whatever column that is. Example: the
    left stack has 13|24 in both boxes, the upper band 12|34 in both. There are 280 partitions (3).
orthogonal
    Two partitions are orthogonal if each set of one shares exactly one digit with each set of the
    other, as those of a stack and a band in their common box. Example: 13|24 and 12|34.
place
    A line's boxes are its places 0, 1 and 2. A line's place in each line that it crosses is its
    number modulo 3.
entry, key, multiplicity
    An entry is what matters of maps: the partitions at the places, packed into an integer, its key.
    Its multiplicity is the number of maps with this key. Example: (13|24, 13|24) has two maps, as
    either set may be in the first column above. A line has a *list* of entries.
code, name
    A code tells which of a line's columns (or rows) each digit is in at a place: digit d's is
    code // 3^d % 3. It is a partition whose sets have *names*. Example: the left stack has 0101
    above, 1010 below, for digits 1 to 4.
word
    A map as its codes, one for each place. Six words, one of each line, are a solution if their
    partitions are orthogonal wherever two lines cross.
summed, crossing
    The sum runs over the entries of the summed lines, the stacks or the bands, whichever is
    cheaper; the others are the crossing lines.
role
    The entries of the summed lines A and B are paired, those of C are run through. Of the crossing
    lines, P is the *pivot*; Q and R are the others. Each has a *tensor*: the number of its maps
    that are orthogonal to given partitions of A, B and C.
number
    Where lines cross, only partitions that occur in a list count. Each gets a number, from 0 on,
    and tensors are indexed by numbers.
pair, orbit, position
    A pair has a partition of B and one of A at the pivot. Pairs with equally many solutions, by a
    symmetry of the board, form an orbit. The position of a pair is its index in all orbits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group, array_of

PARTITIONS = 280
"""Partitions of nine digits into three sets of three."""
PAIRS = PARTITIONS * PARTITIONS
"""Pairs of partitions."""
ORTHOGONAL = 36
"""Partitions that are orthogonal to any one partition."""
MAX_MAPS = 94_080
"""Maps of a line without clues."""
MAX_ENTRIES = 15_400
"""Entries of a line without clues."""
MAX_SYMMETRIES = 64
"""Symmetries that are kept, at most."""

A, B, C = range(3)
"""The roles of the summed lines."""
P, Q, R = range(3)
"""The roles of the crossing lines, which are also columns of ``Operands.entries``."""
MULTIPLICITY = 3
"""The last column of ``Operands.entries``."""


class Tables(Group):
    """What holds for every board; see ``gpusudoku.contraction.nine.sum``."""

    partition_of = array_of(np.int16, 3**9)
    """The partition of every code, or -1 if its sets do not have three digits each."""
    sets = array_of(np.int8, PARTITIONS, 9)
    """The set of every digit in every partition. Sets are numbered by their least digits."""
    orthogonal = array_of(np.int16, PARTITIONS, ORTHOGONAL)
    """The partitions orthogonal to each, in ascending order."""
    orthogonal_bits = array_of(np.uint64, PARTITIONS, 5)
    """The partitions orthogonal to each, as a bit set."""
    count_steps = array_of(np.int64, 6)
    """What each permutation adds to nine counters of three bits."""
    code_steps = array_of(np.int64, 9, 6)
    """What each digit's permutation adds to three codes of 16 bits."""
    permutations = array_of(np.int64, 6, 3)
    """The permutations of 0, 1, 2."""
    swaps = array_of(np.int16, 9, 9, PARTITIONS)
    """The partition that each becomes when two digits change places."""


class ListScratch(Group):
    """What listing needs on its way. ``survey`` writes it, and no other stage looks at it."""

    codes = array_of(np.int64, MAX_MAPS)
    """The codes of a line's maps; see ``lists.code_at``."""
    raw = array_of(np.int32, 2, MAX_MAPS)
    """The keys of a line's maps, not yet sorted, with repetitions."""
    stack = array_of(np.int64, 4, 9)
    """The stack of the search for maps, nine digits deep."""
    counters = array_of(np.int64, 513)
    """The counters of a sort."""
    marks = array_of(np.uint64, 2, 5)
    """The partitions that a stack and a band have in a box, as bit sets."""


class Lists(Group):
    """The lists of the six lines. ``survey`` writes them."""

    masks = array_of(np.uint8, 6, 9)
    """The permutations that every digit may take in every line, as bit sets."""
    keys = array_of(np.int32, 6, MAX_ENTRIES)
    """The keys of every line, in ascending order."""
    multiplicity = array_of(np.int32, 6, MAX_ENTRIES)
    """The multiplicity of every key, divided by the line's divisor."""
    size = array_of(np.int64, 6)
    """The number of entries of every line."""
    divisor = array_of(np.int64, 6)
    """The greatest common divisor of the multiplicities of every line."""
    largest = array_of(np.int64, 6)
    """The largest multiplicity of every line, divided by the divisor."""
    like = array_of(np.int64, 6)
    """The first line with the same keys and multiplicities; often the line itself."""


class Numbering(Group):
    """Numbers of the partitions that occur, for every line and place. ``survey`` writes them."""

    number = array_of(np.int16, 6, 3, PARTITIONS)
    """The number of every partition, or -1 if the line has no such entry."""
    partition = array_of(np.int16, 6, 3, PARTITIONS)
    """The partition that has a number."""
    occurring = array_of(np.int64, 6, 3)
    """How many partitions occur."""


class Roles(Group):
    """Which line takes which role. ``survey`` writes them."""

    summed = array_of(np.int64, 3)
    """The lines in the roles A, B and C."""
    crossing = array_of(np.int64, 3)
    """The lines in the roles P, Q and R."""
    shape = array_of(np.int64, 3, 3)
    """How many partitions A, B and C (rows) have where they cross P, Q and R."""
    depth = array_of(np.int64, 3)
    """How many partitions P, Q and R have where they cross C."""
    tensor = array_of(np.int64, 3)
    """The role whose tensor is that of P, Q and R; equal tensors are made once."""


class Orthogonal(Group):
    """Which numbers are orthogonal, where one crossing line X meets A, B and C.

    ``list_orthogonal`` writes it, anew for every tensor that is made.
    """

    numbers = array_of(np.int16, 3, PARTITIONS, ORTHOGONAL)
    """By summed role. At A and B: for every number of X, those of the summed line that are
    orthogonal to it. At C: for every number of C, those of X."""
    lengths = array_of(np.int64, 3, PARTITIONS)
    """How many entries each of these lists has."""
    indicator = array_of(np.int16, PARTITIONS * PARTITIONS)
    """At [number of X][number of B], 1 if they are orthogonal, else 0."""


class Tensors(Group):
    """The tensors of the crossing lines. ``contract_c`` writes them."""

    largest = array_of(np.int64, 3)
    """The largest entry of every tensor; set by the caller of ``contract_c``."""
    entries = array_of(np.int16, 3, PARTITIONS**3)
    """The tensors by role, each indexed [c][a][b] by numbers of C, A and B."""


class Operands(Group):
    """The entries of the summed lines in the order of the sum. ``arrange`` writes them."""

    entries = array_of(np.int16, 3, MAX_ENTRIES, 4)
    """By summed role, for every entry its numbers at P, Q and R and its multiplicity. Those of A
    and B are sorted by P, those of C by Q."""
    start = array_of(np.int64, 3, PARTITIONS + 1)
    """Where the entries of each number begin, by summed role; then their end."""
    listed = array_of(np.int16, 3, MAX_ENTRIES)
    """The index of every entry in ``Lists``."""


class Symmetries(Group):
    """What generates a board's symmetries. ``arrange`` writes them."""

    exchanged = array_of(np.int64, MAX_SYMMETRIES, 4)
    """Two digits that change places, and two more; a digit changes places with itself where there
    are no more."""
    digits = array_of(np.int64, MAX_SYMMETRIES, 9)
    """The same as the digit that every digit becomes."""
    names = array_of(np.int64, MAX_SYMMETRIES, 6)
    """What becomes of the names of every line's sets, as an index of ``Tables.permutations``."""
    kind = array_of(np.int64, 9)
    """Digits that can be exchanged have the same."""
    renamed = array_of(np.uint8, 6, 9, 6)
    """The masks of every line and digit, under each permutation of the names."""


class Orbits(Group):
    """Pairs of numbers of A and B at P, orbit after orbit. ``arrange`` writes them.

    The pair (b, a) is b times the number of a's, plus a. Orbits come in the order of their least
    pairs, and the members of an orbit as a breadth-first walk from the least pair meets them,
    taking the symmetries in their order. The *position* of a pair is its index in this sequence.
    """

    images = array_of(np.int16, MAX_SYMMETRIES, 2, PARTITIONS)
    """What every number of A, and of B, becomes under every symmetry."""
    pairs = array_of(np.int32, PAIRS, 3)
    """The least pair of every orbit as (b, a, size), in ascending order."""
    first = array_of(np.int32, PAIRS + 1)
    """The position of the least pair of every orbit; then their end."""
    members = array_of(np.int32, PAIRS)
    """The pair at every position."""
    parent = array_of(np.int32, PAIRS)
    """The position of the pair from which the walk came; -1 at least pairs."""
    symmetry = array_of(np.int32, PAIRS)
    """The symmetry by which it came; -1 at least pairs."""
    seen = array_of(np.uint8, PAIRS)
    """Whether the walk has met a pair."""


class Workspace(NamedTuple):
    """All that is known about one board, in groups by the stage that writes them."""

    scratch: ListScratch
    lists: Lists
    numbering: Numbering
    roles: Roles
    orthogonal: Orthogonal
    intermediate: NDArray[np.int16]
    """int16 (280^3): a tensor after the first of two steps, indexed [z][a][b] by the numbers that
    the crossing line has at C, and those of A and B. ``contract_ab`` writes it."""
    tensors: Tensors
    operands: Operands
    symmetries: Symmetries
    orbits: Orbits


def make_workspace() -> Workspace:
    """Room for any board, 177 MB of it; what a board does not touch takes no memory."""
    return Workspace(
        scratch=ListScratch(),
        lists=Lists(),
        numbering=Numbering(),
        roles=Roles(),
        orthogonal=Orthogonal(),
        intermediate=np.empty(PARTITIONS**3, np.int16),
        tensors=Tensors(),
        operands=Operands(),
        symmetries=Symmetries(),
        orbits=Orbits(),
    )
