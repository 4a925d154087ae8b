"""The sum of a board with one line as the pivot: a *turn*. Special to 3x3 boxes.

Shares take three sums, in which each of the three crossing lines is the pivot P in turn. The other
roles are those that a turn is cheapest with, so that its tensors may be arranged in another way.

A turn adds up an *environment* for each box of its pivot line, where it meets A, B and C. For kinds
p of P's entries and s of the summed line's there, of orthogonal partitions, it has the number of
solutions (up to divisors) that are of both kinds. For every p the kinds s follow one another: those
of one orthogonal number after those of another.

The stage ``make_turn`` writes all groups of a ``Turn`` but its roles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import (
    MOST_ENTRIES,
    MULTIPLICITY,
    ORTHOGONAL,
    PARTITIONS,
    A,
    B,
    C,
    Lists,
    Numbering,
    Operands,
    Orbits,
    P,
    Roles,
    Tables,
    make_orbits,
)
from gpusudoku.kernels.contraction.nine.keys import number_at
from gpusudoku.kernels.contraction.nine.naming import Naming
from gpusudoku.kernels.contraction.nine.symmetries import walk_orbits, write_images
from gpusudoku.kernels.contraction.nine.tensors import list_numbers
from gpusudoku.kernels.kernel import jitable

KINDS = 4
"""The columns of ``Pivot.entries`` from here on are kinds; those before numbers, MULTIPLICITY."""


class Pivot(Group):
    """The pivot line of a turn, and the layout of its environments. ``make_turn`` writes it.

    Axes of three are the summed roles, A, B and C.
    """

    size: NDArray[np.int64]
    """int64 (2): the number of entries of P, and the length of the environments."""
    entries: NDArray[np.int16]
    """int16 (MOST_ENTRIES, 7): for every entry of P its numbers at A, B and C, its multiplicity,
    and its kinds there."""
    numbers: NDArray[np.int16]
    """int16 (3, 280, 36): by number of A (or B), the numbers of P that are orthogonal to it. By
    number of P at C, the numbers of C that are."""
    lengths: NDArray[np.int64]
    """int64 (3, 280): how many these are."""
    kind: NDArray[np.int16]
    """int16 (3, MOST_ENTRIES): the kind at P of the entries of A, B and C, in their order in
    ``Operands``, which is that of kinds."""
    first: NDArray[np.int16]
    """int16 (3, 281): the first kind that every number of A, B and C has at P; then their end."""
    begin: NDArray[np.int64]
    """int64 (3, MOST_ENTRIES): where in the environments the part of each kind of P begins."""
    offset: NDArray[np.int32]
    """int32 (3, 280, 280): at [summed][number of P][number of the summed line], where in the part
    of a kind the kinds of that number begin, if the two are orthogonal."""


class Known(NamedTuple):
    """What turns are made from."""

    tables: Tables
    lists: Lists
    numbering: Numbering
    naming: Naming


class Turn(NamedTuple):
    """All that is different in every turn."""

    roles: Roles
    """Those of the workspace: the tensors belong to them."""
    operands: Operands
    orbits: Orbits
    pivot: Pivot


def make_turn_arrays(roles: Roles) -> Turn:
    """Room for a turn of any board; what a board does not touch takes no memory."""
    most, n = MOST_ENTRIES, PARTITIONS
    return Turn(
        roles=roles,
        operands=Operands(
            entries=(np.int16, (3, most, 4)),
            start=(np.int64, (3, n + 1)),
            listed=(np.int16, (3, most)),
        ),
        orbits=make_orbits(n),
        pivot=Pivot(
            size=(np.int64, (2,)),
            entries=(np.int16, (most, 7)),
            numbers=(np.int16, (3, n, ORTHOGONAL)),
            lengths=(np.int64, (3, n)),
            kind=(np.int16, (3, most)),
            first=(np.int16, (3, n + 1)),
            begin=(np.int64, (3, most)),
            offset=(np.int32, (3, n, n)),
        ),
    )


@jitable
def make_turn(symmetric, known, symmetries, turn):
    """Write the turn of the roles that it has; return its number of pairs.

    symmetric is the number of symmetries to be used; 0 makes every pair an orbit.
    """
    tables, lists, numbering, naming = known
    for summed in range(3):
        _sort_by_kind(summed, lists, numbering, naming, turn)
    _write_pivot(tables, lists, numbering, naming, turn)
    _lay_out(numbering, naming, turn)
    write_images(symmetric, tables, numbering, turn.roles, symmetries, turn.orbits)
    shape = turn.roles.shape
    return walk_orbits(symmetric, shape[A, P], shape[B, P], turn.orbits)


@jitable
def _sort_by_kind(summed, lists, numbering, naming, turn):
    """Write the entries of a summed line in the order of their kinds at P."""
    roles, operands, kinds = turn.roles, turn.operands, turn.pivot.kind[summed]
    line, place = roles.summed[summed], roles.crossing[P] % 3
    first, count = naming.first[line, place], numbering.occurring[line, place]
    kind_of, size = naming.kind[line, place], lists.size[line]
    # The room of the kinds that are to be written holds, at first, where those of a kind end.
    ends = turn.pivot.begin[summed]
    ends[: first[count]] = 0
    for e in range(size):
        ends[kind_of[e]] += 1
    for kind in range(1, first[count]):
        ends[kind] += ends[kind - 1]
    for e in range(size - 1, -1, -1):
        kind = kind_of[e]
        ends[kind] -= 1
        to = ends[kind]
        entry, kinds[to], operands.listed[summed, to] = operands.entries[summed, to], kind, e
        for crossing in range(3):
            other = roles.crossing[crossing]
            entry[crossing] = number_at(lists.keys[line, e], line, other, numbering.number)
        entry[MULTIPLICITY] = lists.multiplicity[line, e]
    for number in range(PARTITIONS + 1):
        kind = first[min(number, count)]
        turn.pivot.first[summed, number] = kind
        operands.start[summed, number] = ends[kind] if number < count else size


@jitable
def _write_pivot(tables, lists, numbering, naming, turn):
    """Write the entries of P, and which numbers are orthogonal."""
    roles, pivot = turn.roles, turn.pivot
    x = roles.crossing[P]
    pivot.size[0] = lists.size[x]
    for e in range(lists.size[x]):
        entry = pivot.entries[e]
        entry[MULTIPLICITY] = lists.multiplicity[x, e]
        for summed in range(3):
            other = roles.summed[summed]
            entry[summed] = number_at(lists.keys[x, e], x, other, numbering.number)
            entry[KINDS + summed] = naming.kind[x, other % 3, e]
    for summed in range(3):
        other = roles.summed[summed]
        line, to = (x, other) if summed == C else (other, x)
        list_numbers(
            line, to, tables.orthogonal, numbering, pivot.numbers[summed], pivot.lengths[summed]
        )


@jitable
def _lay_out(numbering, naming, turn):
    """Write where in the environments everything is."""
    roles, pivot = turn.roles, turn.pivot
    x, end = roles.crossing[P], np.int64(0)
    for summed in range(3):
        other = roles.summed[summed]
        own, count = naming.first[x, other % 3], numbering.occurring[x, other % 3]
        # Where a number's first kind begins is written last; its part's length is kept there.
        first, begin = pivot.first[summed], pivot.begin[summed]
        for number in range(count):
            begin[own[number]] = 0
        for i in range(count if summed == C else roles.shape[summed, P]):
            for k in range(pivot.lengths[summed, i]):
                j = np.int64(pivot.numbers[summed, i, k])
                own_number, of_other = (i, j) if summed == C else (j, i)
                pivot.offset[summed, own_number, of_other] = begin[own[own_number]]
                begin[own[own_number]] += first[of_other + 1] - first[of_other]
        for number in range(count):
            length = begin[own[number]]
            for kind in range(own[number], own[number + 1]):
                begin[kind] = end
                end += length
    pivot.size[1] = end
