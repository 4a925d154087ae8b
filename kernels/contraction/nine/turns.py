"""The sum of a board with one line as the pivot: a *turn*; and the *kinds* that it keeps apart.

An entry of a line fixes partitions; its words name the sets. Each of the three names is given to a
set by a number of the entry's words. Only their shares matter to where digits are. Entries that
have the same partition at a place, and the same shares, are of one *kind* there. A line without
clues has one kind for every partition: each set has each name in a third of the words. Where clues
tell the columns (or rows) of a box apart, a partition has one kind, too: each set has one name. In
between there are several.

Shares take three sums, in which each of the three crossing lines is the pivot P in turn. The other
roles are those that a turn is cheapest with, so its tensors may be arranged in another way.

A turn adds up an *environment* for each box of its pivot line, where it meets A, B and C. For kinds
p of P's entries and s of the summed line's there, of orthogonal partitions, it has the number of
solutions (up to divisors) that are of both kinds. For every p the kinds s follow one another: those
of one orthogonal number after those of another. A thread keeps its sums by kinds in a ``Ledger``.

Stages: ``name_entries``, and ``make_turn``, which writes all groups of a ``Turn`` but its roles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpusudoku.kernels.arguments import Group, array_of
from gpusudoku.kernels.contraction.nine.arrays import (
    MAX_ENTRIES,
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
)
from gpusudoku.kernels.contraction.nine.lists import number_at, partition_at
from gpusudoku.kernels.contraction.nine.orbits import walk_orbits, write_images
from gpusudoku.kernels.contraction.nine.pair_sums import STRIDE, TILE
from gpusudoku.kernels.contraction.nine.tensors import list_numbers
from gpusudoku.kernels.kernel import jitable

BITS = 4
"""Bits of the number of an entry's words that give a set a name: twelve at most."""
CELLS = 9
"""Sets of a partition times names of each."""


class Naming(Group):
    """The kinds of entries at every line and place. ``name_entries`` writes them.

    Kinds are numbered from 0 on, those of a number's partition one after the other.
    """

    kind = array_of(np.int16, 6, 3, MAX_ENTRIES)
    """The kind of every entry."""
    first = array_of(np.int16, 6, 3, PARTITIONS + 1)
    """The first kind of every number; then the number of kinds."""
    names = array_of(np.int8, 6, 3, MAX_ENTRIES, 3, 3)
    """How many words give every set (as ``Tables.sets`` numbers them) every name, divided by the
    greatest common divisor of these nine numbers."""
    total = array_of(np.int8, 6, 3, MAX_ENTRIES)
    """The sum over all names of a set, which is the same for each."""
    packed = array_of(np.int64, MAX_ENTRIES)
    """The names of the kinds that were found at one line and place, nine numbers in one, in the
    order in which they were found."""
    number = array_of(np.int16, MAX_ENTRIES)
    """The number to which each of these belongs."""
    before = array_of(np.int16, MAX_ENTRIES)
    """The kind of the same number that was found before it, or -1."""
    last = array_of(np.int16, PARTITIONS)
    """The kind that was found last of every number, or -1."""
    place = array_of(np.int16, MAX_ENTRIES)
    """The kind's number in the end."""


@jitable
def name_entries(lists, numbering, words, naming):
    """Write ``naming`` of all six lines."""
    for line in range(6):
        for place in range(3):
            found = _find_kinds(line, place, lists, numbering, words, naming)
            _number_kinds(line, place, found, lists, numbering, naming)


@jitable
def _find_kinds(line, place, lists, numbering, words, naming):
    """Write the kinds of a line's entries at a place as they are found; return their number."""
    found = 0
    last = naming.last
    last[:] = -1
    for e in range(lists.size[line]):
        packed = _names(line, place, words.start[line, e], words.start[line, e + 1], words)
        number = numbering.number[line, place, partition_at(lists.keys[line, e], place)]
        kind = int(last[number])
        while kind >= 0 and naming.packed[kind] != packed:
            kind = int(naming.before[kind])
        if kind < 0:
            kind = found
            found = found + 1
            naming.packed[kind] = packed
            naming.number[kind] = number
            naming.before[kind] = last[number]
            last[number] = kind
        naming.kind[line, place, e] = kind
    return found


@jitable
def _names(line, place, first, last, words):
    """Return how many of the words[first:last] give each set each name, over what they share."""
    packed = np.int64(0)
    for i in range(first, last):
        code = np.int64(words.codes[line, i, place])
        one = code % 3  # the name of set 0, to which the first digit belongs
        while code % 3 == one:
            code //= 3
        two = code % 3
        for cell in one, 3 + two, 9 - one - two:
            packed += np.int64(1 << BITS * cell)
    divisor = np.int64(0)
    for field in range(CELLS):
        a = divisor
        b = np.int64((packed >> BITS * field) & (1 << BITS) - 1)
        while b:
            a, b = b, a % b
        divisor = a
    return packed // divisor


@jitable
def _number_kinds(line, place, found, lists, numbering, naming):
    """Give the kinds that were found the numbers that they have in the end."""
    first = naming.first[line, place]
    count = numbering.occurring[line, place]
    first[: count + 1] = 0
    for kind in range(found):
        first[naming.number[kind] + 1] += 1
    for number in range(count):
        first[number + 1] += first[number]
    for kind in range(found):
        # A number's kinds are chained from the last to the first.
        before = naming.before[kind]
        place_in_chain = np.int16(0)
        if before >= 0:
            place_in_chain = np.int16(naming.place[before] - first[naming.number[kind]] + 1)
        to = first[naming.number[kind]] + place_in_chain
        naming.place[kind] = to
        naming.total[line, place, to] = 0
        for cell in range(CELLS):
            words = (naming.packed[kind] >> BITS * cell) & (1 << BITS) - 1
            naming.names[line, place, to, cell // 3, cell % 3] = words
            naming.total[line, place, to] += words if cell < 3 else 0
    kinds = naming.kind[line, place]
    for e in range(lists.size[line]):
        kinds[e] = naming.place[kinds[e]]


KINDS = 4
"""The columns of ``Pivot.entries`` from here on are kinds; those before numbers, MULTIPLICITY."""


class Pivot(Group):
    """The pivot line of a turn, and the layout of its environments. ``make_turn`` writes it.

    Axes of three are the summed roles, A, B and C.
    """

    size = array_of(np.int64, 2)
    """The number of entries of P, and the length of the environments."""
    entries = array_of(np.int16, MAX_ENTRIES, 7)
    """For every entry of P its numbers at A, B and C, its multiplicity, and its kinds there."""
    numbers = array_of(np.int16, 3, PARTITIONS, ORTHOGONAL)
    """By number of A (or B), the numbers of P that are orthogonal to it. By number of P at C, the
    numbers of C that are."""
    lengths = array_of(np.int64, 3, PARTITIONS)
    """How many these are."""
    kind = array_of(np.int16, 3, MAX_ENTRIES)
    """The kind at P of the entries of A, B and C, in their order in ``Operands``, which is that of
    kinds."""
    first = array_of(np.int16, 3, PARTITIONS + 1)
    """The first kind that every number of A, B and C has at P; then their end."""
    begin = array_of(np.int64, 3, MAX_ENTRIES)
    """Where in the environments the part of each kind of P begins."""
    offset = array_of(np.int32, 3, PARTITIONS, PARTITIONS)
    """At [summed][number of P][number of the summed line], where in the part of a kind the kinds of
    that number begin, if the two are orthogonal."""


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
    return Turn(roles=roles, operands=Operands(), orbits=Orbits(), pivot=Pivot())


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
    roles = turn.roles
    operands = turn.operands
    kinds = turn.pivot.kind[summed]
    line = roles.summed[summed]
    place = roles.crossing[P] % 3
    first = naming.first[line, place]
    count = numbering.occurring[line, place]
    kind_of = naming.kind[line, place]
    size = lists.size[line]
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
        entry = operands.entries[summed, to]
        kinds[to] = kind
        operands.listed[summed, to] = e
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
    roles = turn.roles
    pivot = turn.pivot
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
    roles = turn.roles
    pivot = turn.pivot
    x = roles.crossing[P]
    end = np.int64(0)
    for summed in range(3):
        other = roles.summed[summed]
        own = naming.first[x, other % 3]
        count = numbering.occurring[x, other % 3]
        # Where a number's first kind begins is written last; its part's length is kept there.
        first = pivot.first[summed]
        begin = pivot.begin[summed]
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


FIRST, LAST, USED, PENDING, MOST, FIELDS = range(6)
"""Fields of ``Ledger.state``, and their number."""


class Ledger(Group):
    """Where one thread keeps its sums by kinds. A sweep writes it."""

    state = array_of(np.int64, FIELDS)
    """The pairs FIRST to before LAST are to be summed, USED solutions of the first pair's orbit
    were already. PENDING, MOST at most, is what the environments hold."""
    by_a = array_of(np.int64, PARTITIONS * STRIDE)
    """By number of C at P and, changing faster, kind of a."""
    by_b = array_of(np.int64, PARTITIONS * STRIDE)
    """By number of C at P and, changing faster, kind of b."""
    by_c = array_of(np.int64, MAX_ENTRIES)
    """By kind of C at P."""
    columns = array_of(np.int64, 2, STRIDE)
    """Sums over the k of one kind, and of all, for every l."""
    pivots = array_of(np.int64, PARTITIONS)
    """The tensor of P at one (a, b)."""
    joined = array_of(np.int64, PARTITIONS * STRIDE)
    """By number of P at C and, changing faster, kind of a: ``by_a``, added up over what is
    orthogonal."""
    joined_for = array_of(np.int64, PARTITIONS)
    """The pair for which that is written."""
    touched = array_of(np.int64, PARTITIONS)
    """By number of P at A, whether ``of_c`` and ``of_b`` are in use."""
    products = array_of("product", TILE)
    """The sum of T over the c of one number, for some k and all l; 64 bits for wide slabs, else
    32."""
    start = array_of(np.int64, PARTITIONS + 1)
    """Where in ``fitting`` the entries of every number at A begin; then their end."""
    fitting = array_of(np.int16, MAX_ENTRIES)
    """The entries of P that are orthogonal to b, by their numbers at A."""
    of_c = array_of(np.int64, PARTITIONS * MAX_ENTRIES)
    """For every number of P at A, ``by_c``, added up over the a that are orthogonal to it."""
    of_b = array_of(np.int64, PARTITIONS * PARTITIONS * STRIDE)
    """``by_b`` likewise."""


def make_ledger(wide: bool) -> Ledger:
    """Room for one thread's sums: 75 MB; what a board does not touch takes no memory."""
    return Ledger(product=np.int64 if wide else np.int32)
