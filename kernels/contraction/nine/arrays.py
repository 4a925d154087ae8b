"""The arrays of the contraction of a 9x9 board, after a glossary and a worked example.

``docs/contraction.md`` derives the method. The glossary is about 9x9 boards. The example is a 4x4
board, because you can check it by hand: there a line has two boxes, a box two rows and two columns,
and a partition two sets of two digits.

Glossary
--------
line
    A stack (lines 0 to 2, left to right) or a band (lines 3 to 5, top to bottom). A line has the
    *boxes* 0, 1 and 2. The box that it has in common with a crossing line y is its box y % 3.
slot
    A column of a stack, or a row of a band, within a box: 0, 1 or 2.
map
    A map of a line gives every digit a slot in each of the line's boxes. A solution is one map of
    each line, such that no two digits meet in a cell.
code
    The slots that a map gives in one box, as a number: the slot of digit d is code // 3^d % 3.
    In the program the digits are 0 to 8. So a map is three codes.
partition
    Which digits share a slot in a box, whatever slot that is: three *sets* of three digits. There
    are 280 partitions, numbered from 0 on. Several codes have the same partition: a code is a
    partition and a slot for each of its sets.
orthogonal
    Two partitions are orthogonal if each set of one shares exactly one digit with each set of the
    other. Maps of a stack and of a band fit, which means that every cell of their common box gets
    one digit, exactly if their partitions there are orthogonal.
entry, key, multiplicity
    Maps with the same partitions in all boxes are interchangeable. They make one entry of the
    line's *list*. Its key is the partitions, packed into an integer. Its multiplicity is the number
    of these maps, over the *divisor* of the line: the greatest common divisor of the numbers of all
    entries.
index
    The partitions that occur in a line's list in one box get the indices 0, 1, 2 and so on, in
    ascending order. Tensors are indexed by these, as most of the 280 partitions may not occur.
summed and crossing lines, roles
    The sum runs over the entries of the *summed* lines, which are the stacks or the bands,
    whichever is cheaper. They have the *roles* A, B and C. The other three are the *crossing*
    lines, with the roles P (the *pivot*), Q and R. Entries of A and B are paired, and for each pair
    the sum runs through the entries of C.
tensor
    Each crossing line has a tensor. Its element at [c][a][b] is the number of the line's maps, over
    its divisor, that are orthogonal to the partitions with the indices a, b and c of A, B and C.
    (Lists have entries, tensors and slabs have elements.)
pair
    The index b of a partition of B, and the index a of a partition of A, both in the pivot's box.
    The sum is split by pairs. The part of a pair takes all entries of A that have a there, and all
    entries of B that have b.
term
    An entry of C whose element in the pivot's tensor is not zero for a pair. Only these are summed.
symmetry, orbit, representative
    A symmetry of the board relabels the digits and exchanges the slots of lines, so that solutions
    become solutions. Pairs that become each other form an orbit, and have equal sums. Only the
    least pair of an orbit, its representative, is summed.
position
    The pairs are arranged orbit after orbit. The position of a pair is its index there.

Terms of one stage are defined in its file: slabs and segments in ``pair_sums``, triples in
``order``, strips in ``strips``, environments in ``pivot_sums``.

A worked example
----------------
    1 . | . .
    . 2 | . .
    ----+----
    . 1 | . .
    . . | . .

*Lines.* Lines 0 and 1 are the stacks, lines 2 and 3 the bands.

*Maps.* In the upper box of the left stack digit 1 is in slot 0 and digit 2 in slot 1. In the lower
box digit 1 is in slot 1. Two maps remain. Written as the slots of digits 1 to 4, they are

    upper box  lower box  partitions
    0101       1010       13|24 in both boxes
    0110       1001       14|23 in both boxes

*Lists.* The partitions 12|34, 13|24 and 14|23 have the numbers 0, 1 and 2. Both boxes of a line
always have the same partition (on 4x4 boards only). So these are all entries, as (number in box 0,
number in box 1) times the number of maps:

    left stack    (1, 1) * 1, (2, 2) * 1              divisor 1
    right stack   (0, 0) * 2, (1, 1) * 2, (2, 2) * 2  divisor 2, so the multiplicities are 1
    upper band    (1, 1) * 1, (2, 2) * 1              divisor 1
    lower band    (0, 0) * 1, (1, 1) * 1, (2, 2) * 1  divisor 1

*Roles.* Let A be the left stack and B the right one, P the upper band and Q the lower one. There
are no C and R.

*Indices.* In A the partitions 1 and 2 have the indices 0 and 1. In B the indices are the numbers.

*Tensors.* Different partitions are orthogonal here. The elements at [a][b] are

    P   b=0  b=1  b=2      Q   b=0  b=1  b=2
    a=0   1    1    0      a=0   1    2    1
    a=1   1    0    1      a=1   1    1    2

For instance a=0, b=2 stands for 13|24 and 14|23. Only 12|34 is orthogonal to both. P does not have
it, Q has it once.

*Pairs.* Every a and b belongs to one entry, of multiplicity 1. So the part of a pair is the product
of its elements. The symmetry that exchanges the digits 3 and 4 exchanges a=0 and a=1, and b=1 and
b=2. It makes three orbits of two pairs:

    orbit  representative (b, a)  other pair  its part
    0      (0, 0)                 (0, 1)      1 * 1 = 1
    1      (1, 0)                 (2, 1)      1 * 2 = 2
    2      (1, 1)                 (2, 0)      0 * 1 = 0

*Count.* Parts times sizes of orbits are 2 * (1 + 2 + 0) = 6. Times the divisors this is
6 * 1 * 2 * 1 * 1 = **12** solutions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group, array_of

# 9! / (3! * 3! * 3!) codes, over 3! orders of the sets.
PARTITIONS = 280
"""Partitions of nine digits into three sets of three."""
PAIRS = PARTITIONS * PARTITIONS
"""Pairs of partitions."""
# Each set takes one digit of each of the three given sets: 3! * 3! ways, as sets have no order.
ORTHOGONAL = 36
"""Partitions that are orthogonal to a given partition."""
# 1,680 codes in box 0, and for each of them 56 ways to continue in the boxes 1 and 2.
MAX_MAPS = 94_080
"""Maps of a line without clues."""
# 280 partitions in a box, each with at most 55 entries (``pair_sums.PER_PARTITION``).
MAX_ENTRIES = 15_400
"""Entries of a line without clues."""
MAX_SYMMETRIES = 64
"""Maximum number of symmetries that are kept."""

A, B, C = range(3)
"""The roles of the summed lines."""
P, Q, R = range(3)
"""The roles of the crossing lines, which are also columns of ``Operands.entries``."""
MULTIPLICITY = 3
"""The last column of ``Operands.entries``."""


class Tables(Group):
    """The tables that hold for every board; ``gpusudoku.contraction.nine.sum`` makes them."""

    partition_of = array_of(np.int16, 3**9)
    """The partition of every code, or -1 if its sets do not have three digits each."""
    sets = array_of(np.int8, PARTITIONS, 9)
    """The set of every digit in every partition. Sets are numbered by their least digits."""
    orthogonal = array_of(np.int16, PARTITIONS, ORTHOGONAL)
    """The partitions orthogonal to each, in ascending order."""
    orthogonal_bits = array_of(np.uint64, PARTITIONS, 5)
    """The same as bit sets. Partition x is bit x % 64 of word x // 64."""
    count_steps = array_of(np.int64, 6)
    """What each permutation adds to the nine counters of ``lists.enumerate_maps``."""
    code_steps = array_of(np.int64, 9, 6)
    """What each digit's permutation adds to three packed codes; see ``lists.CODE_BITS``."""
    permutations = array_of(np.int64, 6, 3)
    """The permutations of 0, 1, 2 in ascending order. As a choice for a digit of a line,
    permutation k means that the digit is in slot permutations[k, box] of every box."""
    swaps = array_of(np.int16, 9, 9, PARTITIONS)
    """The partition that each becomes when two digits are exchanged."""


class ListScratch(Group):
    """Scratch memory of ``make_lists`` and ``list_maps``, which no other stage reads."""

    codes = array_of(np.int64, MAX_MAPS)
    """The packed codes of a line's maps; see ``lists.CODE_BITS``."""
    map_keys = array_of(np.int32, 2, MAX_MAPS)
    """The keys of a line's maps with repetitions, in two buffers between which they are sorted."""
    stack = array_of(np.int64, 4, 9)
    """The stack of the search for maps, nine digits deep."""
    starts = array_of(np.int64, 513)
    """Where the keys with each partition begin, during a counting sort; one more for the end."""
    occurring = array_of(np.uint64, 2, 5)
    """The partitions that a stack and a band have in a box, as bit sets."""


class Lists(Group):
    """The lists of the six lines. ``make_lists`` writes them.

    A key has the partitions in the line's three boxes, nine bits each (``lists.PARTITION_BITS``).
    Box 0 has the highest bits, so keys are ordered by it first:

        bits   26 ... 18   17 ... 9    8 ... 0
        value  box 0       box 1       box 2
    """

    masks = array_of(np.uint8, 6, 9)
    """The permutations that every digit may take in every line: bit k for permutation k."""
    keys = array_of(np.int32, 6, MAX_ENTRIES)
    """The keys of every line, in ascending order."""
    multiplicity = array_of(np.int32, 6, MAX_ENTRIES)
    """The multiplicity of every key, divided by the line's divisor."""
    size = array_of(np.int64, 6)
    """The number of entries of every line."""
    divisor = array_of(np.int64, 6)
    """The greatest common divisor of the numbers of maps of every line's entries."""
    largest = array_of(np.int64, 6)
    """The largest multiplicity of every line, divided by the divisor."""
    equal_line = array_of(np.int64, 6)
    """The first line with the same keys and multiplicities; often the line itself."""


class Indexing(Group):
    """Indices of the partitions that occur in each line and box. ``make_lists`` writes them."""

    index_of = array_of(np.int16, 6, 3, PARTITIONS)
    """The index of every partition, or -1 if the line has no entry with it in this box."""
    partition = array_of(np.int16, 6, 3, PARTITIONS)
    """The partition that has an index."""
    partition_count = array_of(np.int64, 6, 3)
    """The number of partitions that occur."""


class Roles(Group):
    """The roles of the lines. ``choose_roles`` writes them."""

    summed = array_of(np.int64, 3)
    """The lines in the roles A, B and C."""
    crossing = array_of(np.int64, 3)
    """The lines in the roles P, Q and R."""
    shape = array_of(np.int64, 3, 3)
    """The number of partitions that occur in A, B and C (rows) where they cross P, Q and R."""
    depth = array_of(np.int64, 3)
    """The number of partitions that occur in P, Q and R where they cross C."""
    tensor = array_of(np.int64, 3)
    """The role whose tensor P, Q and R use; equal tensors are made once."""


class OrthogonalIndices(Group):
    """The indices that are orthogonal, where one crossing line meets A, B and C.

    ``list_orthogonal`` writes it again for each tensor.
    """

    indices = array_of(np.int16, 3, PARTITIONS, ORTHOGONAL)
    """By summed role. For A and B: for every index of the crossing line, the orthogonal indices of
    the summed line. For C the other way round: for every index of C, those of the crossing line."""
    lengths = array_of(np.int64, 3, PARTITIONS)
    """The length of each of these lists."""
    indicator = array_of(np.int16, PARTITIONS * PARTITIONS)
    """At [index of the crossing line][index of B], 1 if they are orthogonal, else 0."""


class Tensors(Group):
    """The tensors of the crossing lines. ``contract_c`` writes them.

    A tensor is flat. With the three numbers of partitions of its role in ``Roles.shape``, its
    element at the indices c, a and b is

        elements[role, (c * shape[A, role] + a) * shape[B, role] + b]
    """

    largest = array_of(np.int64, 3)
    """The largest element of every tensor; the caller of ``contract_c`` sets it."""
    elements = array_of(np.int16, 3, PARTITIONS**3)
    """The elements by crossing role."""


class Operands(Group):
    """The entries of the summed lines in the order of the sum. ``arrange_pairs`` writes them.

    A row of ``entries`` has 64 bits, which a GPU loads as one word:

        column      P (0)        Q (1)        R (2)        MULTIPLICITY (3)
        bits        0 ... 15     16 ... 31    32 ... 47    48 ... 63
        value       the indices of the entry's partitions  maps over the divisor
                    where its line crosses P, Q and R
    """

    entries = array_of(np.int16, 3, MAX_ENTRIES, 4)
    """By summed role. The entries of A and B are sorted by P, those of C by Q."""
    start = array_of(np.int64, 3, PARTITIONS + 1)
    """Where the entries of each index begin, by summed role; then their end."""
    list_position = array_of(np.int16, 3, MAX_ENTRIES)
    """The position of every entry in ``Lists.keys``."""


class Symmetries(Group):
    """Generators of a board's symmetries. ``arrange_pairs`` writes them."""

    exchanged = array_of(np.int64, MAX_SYMMETRIES, 4)
    """Two digits that are exchanged, and two more. If there are no more, the last two are equal."""
    digits = array_of(np.int64, MAX_SYMMETRIES, 9)
    """The same as the digit that every digit becomes."""
    slot_permutations = array_of(np.int64, MAX_SYMMETRIES, 6)
    """How the slots of every line are exchanged, as an index of ``Tables.permutations``."""
    digit_class = array_of(np.int64, 9)
    """The class of every digit: digits of a class can be exchanged."""
    permuted_masks = array_of(np.uint8, 6, 9, 6)
    """The masks of every line and digit, under each permutation of the slots."""


class Orbits(Group):
    """Pairs of indices of A and B at P, orbit after orbit. ``arrange_pairs`` writes them.

    The pair (b, a) is the number b * shape[A, P] + a. Orbits come in the order of their
    representatives, which are their least pairs. The members of an orbit come in the order in which
    a breadth-first walk from the representative meets them, taking the symmetries in their order.
    The *position* of a pair is its index in this sequence.

    The example at the head of this file has two indices of A, so the pair (b, a) is 2 * b + a:

        position   0  1   2  3   4  5     then the end
        members    0, 1,  2, 5,  3, 4
        parent    -1, 0, -1, 2, -1, 4
        start      0      2      4        6
    """

    images = array_of(np.int16, MAX_SYMMETRIES, 2, PARTITIONS)
    """The index that every index of A, and of B, becomes under every symmetry."""
    representatives = array_of(np.int32, PAIRS, 3)
    """The representative of every orbit as (b, a, size of the orbit), in ascending order."""
    start = array_of(np.int32, PAIRS + 1)
    """The position of the representative of every orbit; then the end of the last orbit."""
    members = array_of(np.int32, PAIRS)
    """The pair at every position."""
    parent = array_of(np.int32, PAIRS)
    """The position of the pair from which the walk came; -1 for representatives."""
    symmetry = array_of(np.int32, PAIRS)
    """The symmetry by which it came; -1 for representatives."""
    is_visited = array_of(np.uint8, PAIRS)
    """Whether the walk has met a pair."""


class Workspace(NamedTuple):
    """All arrays of one board, in groups by the stage that writes them."""

    scratch: ListScratch
    lists: Lists
    indexing: Indexing
    roles: Roles
    orthogonal: OrthogonalIndices
    intermediate: NDArray[np.int16]
    """int16 (280^3): a tensor after the first of two steps, flat. It is indexed [z][a][b], where z
    is an index of the crossing line where it meets C. ``contract_ab`` writes it."""
    tensors: Tensors
    operands: Operands
    symmetries: Symmetries
    orbits: Orbits


def make_workspace() -> Workspace:
    """Allocate the arrays for any board: 177 MB, of which pages that stay unused take no memory."""
    return Workspace(
        scratch=ListScratch(),
        lists=Lists(),
        indexing=Indexing(),
        roles=Roles(),
        orthogonal=OrthogonalIndices(),
        intermediate=np.empty(PARTITIONS**3, np.int16),
        tensors=Tensors(),
        operands=Operands(),
        symmetries=Symmetries(),
        orbits=Orbits(),
    )
