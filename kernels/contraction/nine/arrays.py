"""The arrays that the contraction of a 9x9 board works in. Special to 3x3 boxes.

A *line* is a stack (lines 0 to 2, left to right) or a band (lines 3 to 5, top to bottom). A *map*
of a line gives every digit a column (of a stack; a row, of a band) in each of the line's three
boxes. All that matters of it are three *partitions* of the nine digits into three sets of three,
one a box: which digits share a column (or a row). There are 280 partitions. So a line has a list
of *entries*: every triple of partitions once, packed into one integer (a *key*), with its
*multiplicity*, the number of its maps. ``docs/contraction.md`` derives all this.

The three partitions of a key stand at the *places* 0, 1 and 2. A line's place in the keys of the
lines that it crosses is its number modulo 3.

A *code* says which of three sets each digit is in: digit d's set is code // 3^d % 3.

The sum runs over the entries of three *summed* lines, the stacks or the bands, whichever is
cheaper; the *crossing* lines give one tensor each. By roles: the entries of the *outer* lines A
and B are paired, those of C are run through; of the crossing lines, P is the pivot, Q and R are
the others. Where lines cross, only partitions that occur in a list count: each gets a *number*,
from 0 on, and tensors are indexed by numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group

PARTITIONS = 280
"""Partitions of nine digits into three sets of three."""
ORTHOGONAL = 36
"""Partitions that are orthogonal to any one partition."""
MOST_MAPS = 94_080
"""Maps of a line without clues."""
MOST_ENTRIES = 15_400
"""Entries of a line without clues."""
MOST_SYMMETRIES = 64
"""Symmetries that are kept, at most."""

A, B, C = range(3)
"""The roles of the summed lines."""
P, Q, R = range(3)
"""The roles of the crossing lines, which are also columns of ``Operands.entries``."""
MULTIPLICITY = 3
"""The last column of ``Operands.entries``."""


class Tables(Group):
    """What holds for every board; see ``gpusudoku.contraction.nine.sum``."""

    partition_of: NDArray[np.int16]
    """int16 (3^9): the partition of every code, or -1 if its sets do not have three digits each."""
    sets: NDArray[np.int8]
    """int8 (280, 9): the set of every digit in every partition. Sets are numbered by their least
    digits."""
    orthogonal: NDArray[np.int16]
    """int16 (280, 36): the partitions orthogonal to each, in ascending order."""
    orthogonal_bits: NDArray[np.uint64]
    """uint64 (280, 5): the partitions orthogonal to each, as a bit set."""
    count_steps: NDArray[np.int64]
    """int64 (6): what each permutation adds to nine counters of three bits."""
    code_steps: NDArray[np.int64]
    """int64 (9, 6): what each digit's permutation adds to three codes of 16 bits."""
    permutations: NDArray[np.int64]
    """int64 (6, 3): the permutations of 0, 1, 2."""
    swaps: NDArray[np.int16]
    """int16 (9, 9, 280): the partition that each becomes when two digits change places."""


class ListScratch(Group):
    """What listing needs on its way. ``survey`` writes it, and no other stage looks at it."""

    codes: NDArray[np.int64]
    """int64 (MOST_MAPS): the codes of a line's maps; see ``maps.code_at``."""
    raw: NDArray[np.int32]
    """int32 (2, MOST_MAPS): the keys of a line's maps, not yet sorted, with repetitions."""
    stack: NDArray[np.int64]
    """int64 (4, 9): the stack of the search for maps, nine digits deep."""
    counters: NDArray[np.int64]
    """int64 (513): the counters of a sort."""
    marks: NDArray[np.uint64]
    """uint64 (2, 5): the partitions that a stack and a band have in a box, as bit sets."""


class Lists(Group):
    """The lists of the six lines. ``survey`` writes them."""

    masks: NDArray[np.uint8]
    """uint8 (6, 9): the permutations that every digit may take in every line, as bit sets."""
    keys: NDArray[np.int32]
    """int32 (6, MOST_ENTRIES): the keys of every line, in ascending order."""
    multiplicity: NDArray[np.int32]
    """int32 (6, MOST_ENTRIES): the multiplicity of every key, divided by the line's divisor."""
    size: NDArray[np.int64]
    """int64 (6): the number of entries of every line."""
    divisor: NDArray[np.int64]
    """int64 (6): the greatest common divisor of the multiplicities of every line."""
    largest: NDArray[np.int64]
    """int64 (6): the largest multiplicity of every line, divided by the divisor."""
    like: NDArray[np.int64]
    """int64 (6): the first line with the same keys and multiplicities; often the line itself."""


class Numbering(Group):
    """Numbers of the partitions that occur, for every line and place. ``survey`` writes them."""

    number: NDArray[np.int16]
    """int16 (6, 3, 280): the number of every partition, or -1 if the line has no such entry."""
    partition: NDArray[np.int16]
    """int16 (6, 3, 280): the partition that has a number."""
    occurring: NDArray[np.int64]
    """int64 (6, 3): how many partitions occur."""


class Roles(Group):
    """Which line takes which role. ``survey`` writes them."""

    summed: NDArray[np.int64]
    """int64 (3): the lines in the roles A, B and C."""
    crossing: NDArray[np.int64]
    """int64 (3): the lines in the roles P, Q and R."""
    shape: NDArray[np.int64]
    """int64 (3, 3): how many partitions A, B and C (rows) have where they cross P, Q and R."""
    depth: NDArray[np.int64]
    """int64 (3): how many partitions P, Q and R have where they cross C."""
    tensor: NDArray[np.int64]
    """int64 (3): the role whose tensor is that of P, Q and R; equal tensors are made once."""


class Orthogonal(Group):
    """Which numbers are orthogonal, where one crossing line X meets A, B and C.

    ``list_orthogonal`` writes it, anew for every tensor that is made.
    """

    numbers: NDArray[np.int16]
    """int16 (3, 280, 36): by summed role. At A and B: for every number of X, those of the summed
    line that are orthogonal to it. At C: for every number of C, those of X."""
    lengths: NDArray[np.int64]
    """int64 (3, 280): how many entries each of these lists has."""
    indicator: NDArray[np.int16]
    """int16 (280 * 280): at [number of X][number of B], 1 if they are orthogonal, else 0."""


class Tensors(Group):
    """The tensors of the crossing lines. ``contract_c`` writes them."""

    largest: NDArray[np.int64]
    """int64 (3): the largest entry of every tensor; set by the caller of ``contract_c``."""
    entries: NDArray[np.int16]
    """int16 (3, 280^3): the tensors by role, each indexed [c][a][b] by numbers of C, A and B."""


class Operands(Group):
    """The entries of the summed lines in the order of the sum. ``arrange`` writes them."""

    entries: NDArray[np.int16]
    """int16 (3, MOST_ENTRIES, 4): by summed role, for every entry its numbers at P, Q and R and its
    multiplicity. Those of A and B are sorted by P, those of C by Q."""
    start: NDArray[np.int64]
    """int64 (3, 281): where the entries of each number begin, by summed role; then their end."""
    listed: NDArray[np.int16]
    """int16 (3, MOST_ENTRIES): the index of every entry in ``Lists``."""


class Symmetries(Group):
    """What generates a board's symmetries. ``arrange`` writes them."""

    exchanged: NDArray[np.int64]
    """int64 (MOST_SYMMETRIES, 4): two digits that change places, and two more; a digit changes
    places with itself where there are no more."""
    digits: NDArray[np.int64]
    """int64 (MOST_SYMMETRIES, 9): the same as the digit that every digit becomes."""
    names: NDArray[np.int64]
    """int64 (MOST_SYMMETRIES, 6): what becomes of the names of every line's sets, as an index of
    ``Tables.permutations``."""
    kind: NDArray[np.int64]
    """int64 (9): digits that can be exchanged have the same."""
    renamed: NDArray[np.uint8]
    """uint8 (6, 9, 6): the masks of every line and digit, under each permutation of the names."""


class Orbits(Group):
    """Pairs of numbers of A and B at P, orbit after orbit. ``arrange`` writes them.

    The pair (b, a) is b times the number of a's, plus a. Orbits come in the order of their least
    pairs, and the members of an orbit as a breadth-first walk from the least pair meets them,
    taking the symmetries in their order. The *position* of a pair is its index in this sequence.
    """

    images: NDArray[np.int16]
    """int16 (MOST_SYMMETRIES, 2, numbers): what every number of A, and of B, becomes under every
    symmetry."""
    pairs: NDArray[np.int32]
    """int32 (numbers^2, 3): the least pair of every orbit as (b, a, size), in ascending order."""
    first: NDArray[np.int32]
    """int32 (numbers^2 + 1): the position of the least pair of every orbit; then their end."""
    members: NDArray[np.int32]
    """int32 (numbers^2): the pair at every position."""
    parent: NDArray[np.int32]
    """int32 (numbers^2): the position of the pair from which the walk came; -1 at least pairs."""
    symmetry: NDArray[np.int32]
    """int32 (numbers^2): the symmetry by which it came; -1 at least pairs."""
    seen: NDArray[np.uint8]
    """uint8 (numbers^2): whether the walk has met a pair."""


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
    """Room for any board, 177 MB of it; what a board does not touch takes no memory.

    Short arrays come first: systems give out memory for long ones in large pieces.
    """
    n = PARTITIONS
    return Workspace(
        scratch=ListScratch(
            codes=(np.int64, (MOST_MAPS,)),
            raw=(np.int32, (2, MOST_MAPS)),
            stack=(np.int64, (4, 9)),
            counters=(np.int64, (513,)),
            marks=(np.uint64, (2, 5)),
        ),
        lists=Lists(
            masks=(np.uint8, (6, 9)),
            keys=(np.int32, (6, MOST_ENTRIES)),
            multiplicity=(np.int32, (6, MOST_ENTRIES)),
            size=(np.int64, (6,)),
            divisor=(np.int64, (6,)),
            largest=(np.int64, (6,)),
            like=(np.int64, (6,)),
        ),
        numbering=Numbering(
            number=(np.int16, (6, 3, n)),
            partition=(np.int16, (6, 3, n)),
            occurring=(np.int64, (6, 3)),
        ),
        roles=Roles(
            summed=(np.int64, (3,)),
            crossing=(np.int64, (3,)),
            shape=(np.int64, (3, 3)),
            depth=(np.int64, (3,)),
            tensor=(np.int64, (3,)),
        ),
        orthogonal=Orthogonal(
            numbers=(np.int16, (3, n, ORTHOGONAL)),
            lengths=(np.int64, (3, n)),
            indicator=(np.int16, (n * n,)),
        ),
        intermediate=np.empty(n * n * n, np.int16),
        tensors=Tensors(
            largest=(np.int64, (3,)),
            entries=(np.int16, (3, n * n * n)),
        ),
        operands=Operands(
            entries=(np.int16, (3, MOST_ENTRIES, 4)),
            start=(np.int64, (3, n + 1)),
            listed=(np.int16, (3, MOST_ENTRIES)),
        ),
        symmetries=Symmetries(
            exchanged=(np.int64, (MOST_SYMMETRIES, 4)),
            digits=(np.int64, (MOST_SYMMETRIES, 9)),
            names=(np.int64, (MOST_SYMMETRIES, 6)),
            kind=(np.int64, (9,)),
            renamed=(np.uint8, (6, 9, 6)),
        ),
        orbits=make_orbits(n),
    )


def make_orbits(numbers: int) -> Orbits:
    """Room for the pairs of so many numbers of A and as many of B."""
    pairs = numbers * numbers
    return Orbits(
        images=(np.int16, (MOST_SYMMETRIES, 2, numbers)),
        pairs=(np.int32, (pairs, 3)),
        first=(np.int32, (pairs + 1,)),
        members=(np.int32, (pairs,)),
        parent=(np.int32, (pairs,)),
        symmetry=(np.int32, (pairs,)),
        seen=(np.uint8, (pairs,)),
    )
