"""The sum of a board with a given line as the pivot, a *pivot sum*; and the classes of entries.

An entry of a line fixes partitions; its maps give the slots. A *slot count* is the number of maps
of an entry that give a set a slot. Only the ratios of slot counts decide where digits are. So
entries that have the same partition in a box, and the same ratios, form a *class* there. A line
without clues has one class for each partition: each set has each slot in a third of the maps. Where
clues distinguish the columns (or rows) of a box, a partition has one class, too: each set has one
slot. In between there are several.

Shares take three pivot sums, in which each of the three crossing lines is the pivot P in turn. The
other roles are those with which the pivot sum is cheapest, so its tensors may be arranged in
another way.

A pivot sum adds up an *environment* for each box of its pivot, where it meets A, B and C. For a
class of P's entries and a class of the summed line's entries in this box, with orthogonal
partitions, it has the number of solutions (up to divisors) that use entries of both classes. See
``Pivot`` for the layout. A thread keeps its sums by classes in a ``ClassSums``.

Stages: ``classify_entries``, and ``make_pivot_sum``, which writes all groups of a ``PivotSum`` but
its roles.
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
    Indexing,
    Lists,
    Operands,
    Orbits,
    P,
    Roles,
    Tables,
)
from gpusudoku.kernels.contraction.nine.lists import index_at, partition_at
from gpusudoku.kernels.contraction.nine.orbits import walk_orbits, write_images
from gpusudoku.kernels.contraction.nine.pair_sums import STRIDE, TILE
from gpusudoku.kernels.contraction.nine.tensors import list_orthogonal_indices
from gpusudoku.kernels.kernel import jitable

BITS = 4
"""Bits of a slot count, which is twelve at most."""
FIELDS = 9
"""Slot counts of a class: three sets times three slots."""


class EntryClasses(Group):
    """The classes of entries in every box of every line. ``classify_entries`` writes them.

    Classes are numbered from 0 on. Those of one partition follow one another, in the order of the
    partitions' indices::

        partition      index 0     | index 1 | index 2 ...
        class          0   1   2   | 3       | 4   5   ...
        first_class    0             3         4       ...

    The last five arrays are scratch for one line and box. They have the classes in the order in
    which they are met. ``packed_counts`` has nine fields of four bits::

        bit     32           28                12           8            4            0
        field   set 2,       set 2,     ...    set 1,       set 0,       set 0,       set 0,
                slot 2       slot 1            slot 0       slot 2       slot 1       slot 0
    """

    entry_class = array_of(np.int16, 6, 3, MAX_ENTRIES)
    """The class of every entry."""
    first_class = array_of(np.int16, 6, 3, PARTITIONS + 1)
    """The first class of the partition with each index; then the number of classes."""
    slot_counts = array_of(np.int8, 6, 3, MAX_ENTRIES, 3, 3)
    """By class, set (as ``Tables.sets`` numbers them) and slot: the slot counts, divided by the
    greatest common divisor of all nine."""
    denominator = array_of(np.int8, 6, 3, MAX_ENTRIES)
    """The sum of a class's slot counts of a set, which is the same for each set. A slot count
    divided by it is the share of the maps that give the set this slot."""
    packed_counts = array_of(np.int64, MAX_ENTRIES)
    """The slot counts of each class, packed into one integer."""
    partition_index = array_of(np.int16, MAX_ENTRIES)
    """The index of the class's partition."""
    previous_class = array_of(np.int16, MAX_ENTRIES)
    """The class of the same partition that was met before it, or -1."""
    last_class = array_of(np.int16, PARTITIONS)
    """By index of a partition, its class that was met last, or -1."""
    final_class = array_of(np.int16, MAX_ENTRIES)
    """The number that the class has in the end."""


@jitable
def classify_entries(lists, indexing, maps, entry_classes):
    """Write ``entry_classes`` of all six lines."""
    for line in range(6):
        for box in range(3):
            class_count = _find_classes(line, box, lists, indexing, maps, entry_classes)
            _sort_classes(line, box, class_count, lists, indexing, entry_classes)


@jitable
def _find_classes(line, box, lists, indexing, maps, entry_classes):
    """Write a line's classes in a box, numbered by first occurrence; return how many there are."""
    packed_counts = entry_classes.packed_counts
    previous_class = entry_classes.previous_class
    last_class = entry_classes.last_class
    last_class[:] = -1
    class_count = 0
    for entry in range(lists.size[line]):
        start = maps.start[line, entry]
        end = maps.start[line, entry + 1]
        packed = _count_slots(maps.codes[line, start:end, box])
        index = indexing.index_of[line, box, partition_at(lists.keys[line, entry], box)]
        # Search the classes of the partition, from the last one to the first.
        entry_class = int(last_class[index])
        while entry_class >= 0 and packed_counts[entry_class] != packed:
            entry_class = int(previous_class[entry_class])
        if entry_class < 0:
            entry_class = class_count
            class_count += 1
            packed_counts[entry_class] = packed
            entry_classes.partition_index[entry_class] = index
            previous_class[entry_class] = last_class[index]
            last_class[index] = entry_class
        entry_classes.entry_class[line, box, entry] = entry_class
    return class_count


@jitable
def _count_slots(codes):
    """Return the slot counts of the codes of an entry's maps, divided by their common divisor.

    They are packed as in ``EntryClasses``.
    """
    packed = np.int64(0)
    for i in range(len(codes)):
        # Sets are numbered by their least digits. So digit 0 is in set 0, and the least digit with
        # another slot is in set 1.
        code = np.int64(codes[i])
        slot_of_set_0 = code % 3
        while code % 3 == slot_of_set_0:
            code //= 3
        slot_of_set_1 = code % 3
        slot_of_set_2 = 3 - slot_of_set_0 - slot_of_set_1
        packed += np.int64(1 << BITS * slot_of_set_0)
        packed += np.int64(1 << BITS * (3 + slot_of_set_1))
        packed += np.int64(1 << BITS * (6 + slot_of_set_2))
    divisor = np.int64(0)
    for field in range(FIELDS):
        divisor = _gcd(divisor, _slot_count(packed, field))
    # Every field is a multiple of the divisor, so the quotient has the quotients of the fields.
    return packed // divisor


@jitable
def _gcd(a, b):
    """Return the greatest common divisor of two integers."""
    while b:
        a, b = b, a % b
    return a


@jitable
def _slot_count(packed, field):
    """Return a field of packed slot counts."""
    return np.int64((packed >> BITS * field) & (1 << BITS) - 1)


@jitable
def _sort_classes(line, box, class_count, lists, indexing, entry_classes):
    """Sort the classes of a line's entries in a box by their partitions; write them.

    Classes of the same partition stay in the order in which they were met.
    """
    partition_index = entry_classes.partition_index
    final_class = entry_classes.final_class
    first_class = entry_classes.first_class[line, box]
    index_count = indexing.partition_count[line, box]

    # Count the classes of each partition. The sums of the counts are where its classes begin.
    first_class[: index_count + 1] = 0
    for met_class in range(class_count):
        first_class[partition_index[met_class] + 1] += 1
    for index in range(index_count):
        first_class[index + 1] += first_class[index]

    for met_class in range(class_count):
        previous_class = entry_classes.previous_class[met_class]
        # Classes that were met earlier have their final numbers already.
        if previous_class >= 0:
            target = np.int64(final_class[previous_class]) + 1
        else:
            target = np.int64(first_class[partition_index[met_class]])
        final_class[met_class] = target
        packed = entry_classes.packed_counts[met_class]
        denominator = np.int64(0)
        for field in range(FIELDS):
            set_index = field // 3
            count = _slot_count(packed, field)
            entry_classes.slot_counts[line, box, target, set_index, field % 3] = count
            if set_index == 0:
                denominator += count
        entry_classes.denominator[line, box, target] = denominator

    # The entries have the classes as they were met; give them the final ones.
    class_of = entry_classes.entry_class[line, box]
    for entry in range(lists.size[line]):
        class_of[entry] = final_class[class_of[entry]]


CLASSES = 4
"""The columns of ``Pivot.entries`` from here on are classes. Before them are indices of partitions,
and MULTIPLICITY."""


class Pivot(Group):
    """The pivot of a pivot sum, and the layout of its environments. ``make_pivot_sum`` writes it.

    Axes of three are the summed roles, A, B and C.

    The three environments are one array. That of a summed role has a *part* for each class of P. A
    part has a number for each class of the summed line whose partition is orthogonal. ::

        environments    A                           | B         | C
        parts           class 0 of P | class 1 | ...| ...       | ...
        in a part       classes of one orthogonal partition | classes of another one | ...

    So the number of a class p of P, whose partition has index i there, and a class s of the summed
    line, whose partition has index j, is at

        part_start[role, p] + offset[role, i, j] + s - first_class[role, j]
    """

    size = array_of(np.int64, 2)
    """The number of entries of P, and the length of the environments."""
    entries = array_of(np.int16, MAX_ENTRIES, 7)
    """For every entry of P its indices where it meets A, B and C, its multiplicity, and its classes
    where it meets A, B and C."""
    orthogonal = array_of(np.int16, 3, PARTITIONS, ORTHOGONAL)
    """Indices of orthogonal partitions: for each index of A (or B), those of P; at C, for each
    index of P, those of C."""
    orthogonal_count = array_of(np.int64, 3, PARTITIONS)
    """The number of these."""
    entry_class = array_of(np.int16, 3, MAX_ENTRIES)
    """The class at P of the entries of A, B and C, in the order of ``Operands``. Here this is the
    order of the classes."""
    first_class = array_of(np.int16, 3, PARTITIONS + 1)
    """The first class at P of each index of A, B and C; then the number of classes."""
    part_start = array_of(np.int64, 3, MAX_ENTRIES)
    """Where in the environments the part of each class of P begins."""
    offset = array_of(np.int32, 3, PARTITIONS, PARTITIONS)
    """At [summed role][index of P][index of the summed line], where the classes of the latter begin
    in a part; undefined if the two are not orthogonal."""


class ClassifiedLists(NamedTuple):
    """The groups from which pivot sums are made."""

    tables: Tables
    lists: Lists
    indexing: Indexing
    entry_classes: EntryClasses


class PivotSum(NamedTuple):
    """The groups that each pivot sum overwrites."""

    roles: Roles
    """The roles of the workspace: its tensors belong to them."""
    operands: Operands
    orbits: Orbits
    pivot: Pivot


def make_pivot_sum_arrays(roles: Roles) -> PivotSum:
    """Make a pivot sum for any board. Memory that a board does not touch is never allocated."""
    return PivotSum(roles=roles, operands=Operands(), orbits=Orbits(), pivot=Pivot())


@jitable
def make_pivot_sum(symmetry_count, classified_lists, symmetries, pivot_sum):
    """Write the pivot sum of its current roles; return the number of its pairs.

    symmetry_count is the number of symmetries to be used; with 0, each pair is an orbit of its own.
    """
    tables, lists, indexing, entry_classes = classified_lists
    for summed_role in range(3):
        _sort_by_class(summed_role, lists, indexing, entry_classes, pivot_sum)
    _write_pivot(tables, lists, indexing, entry_classes, pivot_sum)
    _lay_out_environments(indexing, entry_classes, pivot_sum)
    roles = pivot_sum.roles
    orbits = pivot_sum.orbits
    write_images(symmetry_count, tables, indexing, roles, symmetries, orbits)
    return walk_orbits(symmetry_count, roles.shape[A, P], roles.shape[B, P], orbits)


@jitable
def _sort_by_class(summed_role, lists, indexing, entry_classes, pivot_sum):
    """Write the entries of a summed line in the order of their classes at P."""
    roles = pivot_sum.roles
    operands = pivot_sum.operands
    pivot = pivot_sum.pivot
    line = roles.summed[summed_role]
    box = roles.crossing[P] % 3
    entry_count = lists.size[line]
    class_of = entry_classes.entry_class[line, box]
    first_class = entry_classes.first_class[line, box]
    index_count = indexing.partition_count[line, box]
    class_count = first_class[index_count]

    # A counting sort. Its counters borrow the memory of ``part_start``, which is written later.
    start = pivot.part_start[summed_role]
    start[:class_count] = 0
    for entry in range(entry_count):
        start[class_of[entry]] += 1
    for entry_class in range(1, class_count):
        start[entry_class] += start[entry_class - 1]
    # Each counter is now the end of a class. It moves back to the start as entries are written.
    for entry in range(entry_count - 1, -1, -1):
        entry_class = class_of[entry]
        start[entry_class] -= 1
        target = start[entry_class]
        key = lists.keys[line, entry]
        fields = operands.entries[summed_role, target]
        for crossing_role in range(3):
            crossing_line = roles.crossing[crossing_role]
            fields[crossing_role] = index_at(key, line, crossing_line, indexing.index_of)
        fields[MULTIPLICITY] = lists.multiplicity[line, entry]
        operands.list_position[summed_role, target] = entry
        pivot.entry_class[summed_role, target] = entry_class

    # Classes are sorted by partitions, so the entries are, too. Past the last index is the end.
    for index in range(PARTITIONS + 1):
        entry_class = first_class[min(index, index_count)]
        pivot.first_class[summed_role, index] = entry_class
        operands.start[summed_role, index] = (
            start[entry_class] if index < index_count else entry_count
        )


@jitable
def _write_pivot(tables, lists, indexing, entry_classes, pivot_sum):
    """Write the entries of P, and which indices are orthogonal."""
    roles = pivot_sum.roles
    pivot = pivot_sum.pivot
    line = roles.crossing[P]
    pivot.size[0] = lists.size[line]
    for entry in range(lists.size[line]):
        fields = pivot.entries[entry]
        fields[MULTIPLICITY] = lists.multiplicity[line, entry]
        for summed_role in range(3):
            summed_line = roles.summed[summed_role]
            key = lists.keys[line, entry]
            fields[summed_role] = index_at(key, line, summed_line, indexing.index_of)
            entry_class = entry_classes.entry_class[line, summed_line % 3, entry]
            fields[CLASSES + summed_role] = entry_class
    # ``join_pair`` looks up the indices of P for an a or a b, those of C for an entry of P.
    for summed_role in range(3):
        summed_line = roles.summed[summed_role]
        orthogonal = pivot.orthogonal[summed_role]
        counts = pivot.orthogonal_count[summed_role]
        if summed_role == C:
            list_orthogonal_indices(
                line, summed_line, tables.orthogonal, indexing, orthogonal, counts
            )
        else:
            list_orthogonal_indices(
                summed_line, line, tables.orthogonal, indexing, orthogonal, counts
            )


@jitable
def _lay_out_environments(indexing, entry_classes, pivot_sum):
    """Write where the parts of the environments begin, and the offsets in them."""
    roles = pivot_sum.roles
    pivot = pivot_sum.pivot
    line = roles.crossing[P]
    end = np.int64(0)
    for summed_role in range(3):
        box = roles.summed[summed_role] % 3
        index_count = indexing.partition_count[line, box]
        own_first_class = entry_classes.first_class[line, box]
        first_class = pivot.first_class[summed_role]
        part_start = pivot.part_start[summed_role]

        # All parts of one index of P have the same length. Until the parts get their places, it is
        # kept where the start of the index's first part will be written.
        for index in range(index_count):
            part_start[own_first_class[index]] = 0
        # Rows of ``pivot.orthogonal`` are indices of P at C, and of the summed line at A and B.
        row_count = index_count if summed_role == C else roles.shape[summed_role, P]
        for row in range(row_count):
            for i in range(pivot.orthogonal_count[summed_role, row]):
                own_index, summed_index = orthogonal_indices(summed_role, row, i, pivot)
                own_class = own_first_class[own_index]
                pivot.offset[summed_role, own_index, summed_index] = part_start[own_class]
                class_count = first_class[summed_index + 1] - first_class[summed_index]
                part_start[own_class] += class_count

        # Place the parts one after the other.
        for index in range(index_count):
            length = part_start[own_first_class[index]]
            for own_class in range(own_first_class[index], own_first_class[index + 1]):
                part_start[own_class] = end
                end += length
    pivot.size[1] = end


@jitable
def orthogonal_indices(summed_role, row, i, pivot):
    """Return entry i of a row of ``pivot.orthogonal`` as (index of P, index of the summed line)."""
    column = np.int64(pivot.orthogonal[summed_role, row, i])
    if summed_role == C:
        return np.int64(row), column
    return column, np.int64(row)


NEXT_PAIR, END_PAIR, ADDED_MEMBERS, PENDING, PENDING_LIMIT, FIELDS_OF_STATE = range(6)
"""Fields of ``ClassSums.state``, and their number."""


class ClassSums(Group):
    """The sums by classes of one thread. ``sum_environments`` writes it.

    In ``by_a`` and ``by_b``, and in ``joined``, a row has the classes of one partition::

        by_a      c = 0: classes of a | c = 1: classes of a | ...

    where c is the index of C's partition at P.
    """

    state = array_of(np.int64, FIELDS_OF_STATE)
    """The pairs NEXT_PAIR to before END_PAIR are to be summed. The sums of ADDED_MEMBERS members of
    the orbit of NEXT_PAIR are already in the environments. These hold PENDING solutions,
    PENDING_LIMIT at most."""
    by_a = array_of(np.int64, PARTITIONS * STRIDE)
    """At [index of C at P][class of a]."""
    by_b = array_of(np.int64, PARTITIONS * STRIDE)
    """At [index of C at P][class of b]."""
    by_c = array_of(np.int64, MAX_ENTRIES)
    """At [class of C at P]."""
    columns = array_of(np.int64, 2, STRIDE)
    """For every l, the sum over the k of one class, and over all k."""
    pivots = array_of(np.int64, PARTITIONS)
    """The elements of P's tensor at one (a, b), by index of C."""
    joined = array_of(np.int64, PARTITIONS * STRIDE)
    """At [index of P at C][class of a]: the sum of ``by_a`` over the orthogonal indices of C."""
    joined_pair = array_of(np.int64, PARTITIONS)
    """By index of P at C, the pair for which its row of ``joined`` is written."""
    is_used = array_of(np.int64, PARTITIONS)
    """By index of P at A, whether its rows of ``same_b_by_c`` and ``same_b_by_b`` are written."""
    products = array_of("product", TILE)
    """For some k and all l, the sum of T over the c with one index. 64 bits for wide slabs, else
    32."""
    start = array_of(np.int64, PARTITIONS + 1)
    """By index of P at A, the first of its entries in ``orthogonal``; then their end."""
    orthogonal = array_of(np.int16, MAX_ENTRIES)
    """The entries of P that are orthogonal to b, by their indices at A."""
    same_b_by_c = array_of(np.int64, PARTITIONS * MAX_ENTRIES)
    """For every index of P at A, the sum of ``by_c`` over the pairs with the same b whose a is
    orthogonal to it."""
    same_b_by_b = array_of(np.int64, PARTITIONS * PARTITIONS * STRIDE)
    """For every index of P at A, the same sum of ``by_b``."""


def make_class_sums(wide: bool) -> ClassSums:
    """Make the sums of one thread, 75 MB. Memory that a board does not touch is never allocated."""
    return ClassSums(product=np.int64 if wide else np.int32)
