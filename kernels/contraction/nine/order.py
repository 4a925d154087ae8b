"""The maps of every line, and the solutions in contraction order.

Counting needs entries only. Solutions also need the *maps* of a line: each map as its three codes,
one for each box of the line. A code gives each digit a slot: a column of a stack or a row of a
band. A solution is six maps, one of each line, whose partitions are orthogonal wherever two lines
cross. So the entries of a crossing line that matter are those that are orthogonal to the three
entries of the summed lines. They are the intersection of three bit sets.

The contraction order goes through

- the orbits of pairs, and the pairs of an orbit, both in the order of ``Orbits``;
- within the representative of an orbit, the *triples*: an entry of C, one of A and one of B, each
  in the order of ``Operands``. The entry of B changes fastest. A triple may have no solutions;
- within a triple, the maps of its entries of A, B and C, then the maps of P, Q and R that are
  orthogonal to them, in the order of ``Maps``. The map of R changes fastest.

The solutions of the other pairs of an orbit are those of the representative, in the same order,
under the *relabelling* that leads from the representative to them.

The *rank* of a solution is the number of solutions before it, in the whole order, within its pair
or within its triple.

Exactness. A pair has less than 2^57 solutions (``pair_sums``), so ranks within a pair and within a
triple are 64-bit integers. The number of solutions of a triple is a product of six numbers of maps.

Stages: ``list_maps``, ``mark_orthogonal_entries``, ``relabel``; from ranks to grids
``find_triples_narrow`` or ``find_triples_wide``, ``choose_maps``, ``write_grids``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group, array_of
from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.contraction.nine.arrays import (
    MAX_ENTRIES,
    MAX_MAPS,
    MULTIPLICITY,
    ORTHOGONAL,
    PAIRS,
    PARTITIONS,
    A,
    B,
    C,
    P,
    Q,
    R,
)
from gpusudoku.kernels.contraction.nine.lists import (
    code_at,
    enumerate_maps,
    find_key,
    key_of,
    partition_at,
)
from gpusudoku.kernels.contraction.nine.orbits import compose
from gpusudoku.kernels.contraction.nine.pair_sums import (
    LEFT,
    RIGHT,
    SEGMENT_LENGTH,
    TERM_COUNT,
    build_pair_sum,
    end_of_same_b,
)
from gpusudoku.kernels.kernel import jitable

ENTRIES_PER_INTEGER = 64
"""Entries in one integer of a bit set."""
MAX_WIDTH = -(-MAX_ENTRIES // ENTRIES_PER_INTEGER)
"""Integers that a bit set of entries takes, at most."""
RANK_IN_TRIPLE = 3
"""The column of a triple that has the rank of a solution within it; see ``find_triples``."""


class Maps(Group):
    """The maps of the six lines. ``list_maps`` writes them.

    A line has its maps in one array, entry after entry. In this example, entry 0 has two maps and
    entry 1 has three::

        map      0   1 | 2   3   4 | 5 ...
        entry    0     | 1         | 2 ...
        start    0       2           5 ...
    """

    codes = array_of(np.int16, 6, MAX_MAPS, 3)
    """The maps of every line, each as its codes by box. They are sorted by their entries, in the
    order of ``Lists.keys``, and those of an entry by their codes."""
    start = array_of(np.int32, 6, MAX_ENTRIES + 1)
    """The index of the first map of every entry; then the end of the last entry's maps."""


class OrthogonalEntries(Group):
    """Which entries of crossing lines are orthogonal to summed lines.

    ``mark_orthogonal_entries`` writes it.

    For a crossing role and a summed role, there is a bit set for each partition of the summed line.
    They follow one another by the index of the partition::

        partition   0                | 1                        | 2 ...
        integers    0 .. width - 1   | width .. 2 * width - 1   | ...

    In each, entry e of the crossing line, in the order of ``Lists.keys``, is bit e % 64 of integer
    e // 64.
    """

    width = array_of(np.int64, 3)
    """The number of integers in a bit set of entries of P, Q and R."""
    sets = array_of(np.uint64, 3, 3, PARTITIONS * MAX_WIDTH)
    """By crossing role and summed role: the bit sets."""


class Relabelling(Group):
    """What leads from the representative of an orbit to each of its pairs. ``relabel`` writes it.

    Rows are positions in ``Orbits.members``.
    """

    digits = array_of(np.uint8, PAIRS, 9)
    """What every digit becomes, all counted from 0."""
    slot_permutations = array_of(np.uint8, PAIRS, 6)
    """The slot permutation of every line, an index of ``Tables.permutations``."""


class PairRanks(NamedTuple):
    """Ranks of solutions, sorted by pairs."""

    pairs: NDArray[np.int32]
    """int32 (pairs, 3): the pairs of the solutions in order, rows of ``Orbits.representatives``."""
    start: NDArray[np.int64]
    """int64 (pairs + 1): the index of the first rank of each pair; then the end of the last."""
    ranks: NDArray[np.int64]
    """int64 (ranks): within the pair, divided by the divisors of all lines."""


@jitable
def list_maps(tables, scratch, lists, maps):
    """Write ``maps``, the maps of all six lines. ``scratch`` is overwritten."""
    for line in range(6):
        earlier_line = _find_line_with_same_maps(line, lists)
        if earlier_line < 0:
            # ``scratch`` has room for the maps of one line.
            map_count = enumerate_maps(lists.masks[line], tables, scratch.stack, scratch.codes)
            _sort_maps(line, map_count, tables, scratch.codes, lists, maps)
        else:
            _copy_maps(line, earlier_line, lists.size[line], maps)


@jitable
def _find_line_with_same_maps(line, lists):
    """Return an earlier line with the same masks and entries, so with the same maps; or -1."""
    for earlier_line in range(line):
        is_same = lists.equal_line[line] == lists.equal_line[earlier_line]
        for digit in range(9):
            is_same &= lists.masks[line, digit] == lists.masks[earlier_line, digit]
        if is_same:
            return earlier_line
    return -1


@jitable
def _copy_maps(line, source_line, entry_count, maps):
    """Copy the maps of ``source_line`` to ``line``, which has the same entries."""
    for entry in range(entry_count + 1):
        maps.start[line, entry] = maps.start[source_line, entry]
    for i in range(maps.start[line, entry_count]):
        for box in range(3):
            maps.codes[line, i, box] = maps.codes[source_line, i, box]


@jitable
def _sort_maps(line, map_count, tables, packed_maps, lists, maps):
    """Write a line's maps, sorted by entries and codes.

    ``packed_maps`` are as ``enumerate_maps`` writes them. Maps of entries that ``prune`` dropped
    are ignored.
    """
    keys = lists.keys[line]
    entry_count = lists.size[line]
    codes = maps.codes[line]
    start = maps.start[line]

    # At first start[entry + 1] is where the entry's maps begin. It advances with each map that is
    # written, so in the end it is where they end and the next entry's maps begin.
    start[0] = 0
    begin = 0
    for entry in range(entry_count):
        start[entry + 1] = begin
        begin += lists.multiplicity[line, entry] * lists.divisor[line]
    for i in range(map_count):
        entry = find_key(key_of(packed_maps[i], tables), keys, entry_count)
        if entry >= 0:
            target = codes[start[entry + 1]]
            for box in range(3):
                target[box] = code_at(packed_maps[i], box)
            start[entry + 1] += 1

    # The order of an entry's maps must not depend on the search that listed them.
    for entry in range(entry_count):
        _sort_by_codes(codes, start[entry], start[entry + 1])


@jitable
def _sort_by_codes(codes, start, end):
    """Sort codes[start:end], the maps of an entry, by insertion: an entry has at most 12 maps."""
    for i in range(start + 1, end):
        code_0 = codes[i, 0]
        code_1 = codes[i, 1]
        code_2 = codes[i, 2]
        target = i
        while target > start and _is_less(code_0, code_1, code_2, codes[target - 1]):
            for box in range(3):
                codes[target, box] = codes[target - 1, box]
            target -= 1
        codes[target, 0] = code_0
        codes[target, 1] = code_1
        codes[target, 2] = code_2


@jitable
def _is_less(code_0, code_1, code_2, codes):
    """Return whether three codes come before the codes of another map."""
    if code_0 != codes[0]:
        return code_0 < codes[0]
    if code_1 != codes[1]:
        return code_1 < codes[1]
    return code_2 < codes[2]


@jitable
def mark_orthogonal_entries(tables, lists, indexing, roles, orthogonal_entries):
    """Write ``orthogonal_entries``, for each box where a crossing and a summed line meet."""
    for crossing_role in range(3):
        crossing_line = roles.crossing[crossing_role]
        entry_count = lists.size[crossing_line]
        keys = lists.keys[crossing_line]
        width = (entry_count + ENTRIES_PER_INTEGER - 1) // ENTRIES_PER_INTEGER
        orthogonal_entries.width[crossing_role] = width
        for summed_role in range(3):
            summed_line = roles.summed[summed_role]
            index_of = indexing.index_of[summed_line, crossing_line % 3]
            sets = orthogonal_entries.sets[crossing_role, summed_role]
            sets[: roles.shape[summed_role, crossing_role] * width] = np.uint64(0)
            for entry in range(entry_count):
                bit = ONE << np.uint64(entry % ENTRIES_PER_INTEGER)
                orthogonal = tables.orthogonal[partition_at(keys[entry], summed_line % 3)]
                for i in range(ORTHOGONAL):
                    index = np.int64(index_of[orthogonal[i]])
                    if index >= 0:  # the partition occurs in the summed line's list
                        sets[index * width + entry // ENTRIES_PER_INTEGER] |= bit


def relabel(pair_count, tables, symmetries, orbits, relabelling):
    """Write ``relabelling`` of the pairs at the first ``pair_count`` positions."""
    for position in range(pair_count):
        digits = relabelling.digits[position]
        slot_permutations = relabelling.slot_permutations[position]
        parent = orbits.parent[position]
        if parent < 0:  # a representative: its relabelling changes nothing
            for digit in range(9):
                digits[digit] = digit
            slot_permutations[:] = 0
            continue
        # A parent has a lower position, so its relabelling is already written.
        symmetry = orbits.symmetry[position]
        for digit in range(9):
            digits[digit] = symmetries.digits[symmetry, relabelling.digits[parent, digit]]
        for line in range(6):
            outer = symmetries.slot_permutations[symmetry, line]
            inner = relabelling.slot_permutations[parent, line]
            slot_permutations[line] = compose(outer, inner, tables.permutations)


def build_descend(sum_type: Any) -> Callable[..., None]:
    """Make ``descend`` for dot products of a type of Numba."""

    @jitable
    def dot_segments(left_segment, right_segment, length):
        """Return the dot product of two segments."""
        # Converted after each operation, because Numba widens 32-bit results to 64 bits.
        result = sum_type(0)
        for i in range(length):
            product = sum_type(sum_type(left_segment[i]) * sum_type(right_segment[i]))
            result = sum_type(result + product)
        return np.int64(result)

    @jitable
    def descend(term, rank, a, b, length, operands, slabs, triple):
        """Write the triple of a solution, given its rank among the solutions of one term.

        Each product of the term's dot product stands for ``factor`` solutions. So the products are
        searched with the rank divided by ``factor``.
        """
        factor = slabs.factors[term]
        quotient = rank // factor
        rows = slabs.row
        left_segments = slabs.segments[LEFT]
        right_segments = slabs.segments[RIGHT]
        c_at_q = slabs.terms[term, 0]
        c_at_r = slabs.terms[term, 1]
        for k in range(operands.start[A, a], operands.start[A, a + 1]):
            entry_of_a = operands.entries[A, k]
            # Right segments include the multiplicities of B's entries, but not those of A's.
            multiplicity = np.int64(entry_of_a[MULTIPLICITY])
            left_segment = left_segments[rows[LEFT, entry_of_a[Q]], c_at_q]
            right_segment = right_segments[rows[RIGHT, entry_of_a[R]], c_at_r]
            segment_total = multiplicity * dot_segments(left_segment, right_segment, length)
            if quotient >= segment_total:
                quotient -= segment_total
                continue
            # The products of this segment add up to more than the quotient, so the loop ends.
            l = 0  # noqa: E741 - as in the formula of the sum
            while True:
                product = multiplicity * left_segment[l] * right_segment[l]
                if quotient < product:
                    break
                quotient -= product
                l += 1  # noqa: E741 - as in the formula of the sum
            triple[A] = k
            triple[B] = operands.start[B, b] + l
            triple[RANK_IN_TRIPLE] = quotient * factor + rank % factor
            return

    return descend


def build_find_triples(element_type: Any, sum_type: Any) -> Callable[..., None]:
    """Make ``find_triples`` for slabs of one width; see ``pair_sums.build_pair_sum``."""
    gather_segments, sum_pair = build_pair_sum(element_type, sum_type, keep=True)
    descend = build_descend(sum_type)

    def find_triples(is_summed, ranks, roles, operands, tensors, stop_flag, slabs, triples):
        """Write the triples of the solutions with given ranks.

        Parameters
        ----------
        is_summed
            Whether the slabs already hold the sums of the only pair of ``ranks``, from an earlier
            call. If so, they are only read.
        ranks
            An ``PairRanks``.
        stop_flag
            int64 (1). Once it is not 0, no further pair is summed, and the remaining triples are
            not written.
        triples
            int64 (ranks, 4), written: the entries in columns A, B and C; in column RANK_IN_TRIPLE
            the rank within the triple, divided by the divisors of all lines.
        """
        pairs = ranks.pairs
        pair_count = len(ranks.pairs)
        start = 0
        while start < pair_count:
            # The pairs from start to end have the same b, so they share segments.
            b = pairs[start, 0]
            end = end_of_same_b(start, pair_count, pairs)
            # ``is_summed`` comes with one pair, so this loop then has one round.
            if not is_summed:
                length = gather_segments(start, end, pairs, roles, operands, tensors, slabs)
                slabs.pair_sizes[SEGMENT_LENGTH] = length
            length = slabs.pair_sizes[SEGMENT_LENGTH]
            for pair in range(start, end):
                if stop_flag[0] != 0:
                    return
                a = pairs[pair, 1]
                if not is_summed:
                    sum_pair(a, b, length, roles, operands, tensors, slabs)
                    slabs.pair_sizes[TERM_COUNT] = _accumulate_terms(operands, slabs)
                term_count = slabs.pair_sizes[TERM_COUNT]
                for i in range(ranks.start[pair], ranks.start[pair + 1]):
                    # The term gives the entry of C; ``descend`` finds those of A and B.
                    term = _find_term(ranks.ranks[i], slabs.totals, term_count)
                    earlier_total = slabs.totals[term - 1] if term > 0 else 0
                    rank_in_term = ranks.ranks[i] - earlier_total
                    triples[i, C] = slabs.term_entries[term]
                    descend(term, rank_in_term, a, b, length, operands, slabs, triples[i])
            start = end

    return find_triples


find_triples_narrow = build_find_triples(np.int16, np.int32)
"""``find_triples`` where ``is_narrow`` holds."""
find_triples_wide = build_find_triples(np.int32, np.int64)
"""``find_triples`` for every other board."""


@jitable
def _accumulate_terms(operands, slabs):
    """Make ``slabs.totals`` running totals, write ``slabs.term_entries``; return how many terms.

    Before, the total of a term is its dot product. Then it is the number of solutions (up to
    divisors) of the terms up to this one.
    """
    entries = operands.entries[C]
    term_count = 0
    solution_count = np.int64(0)
    for entry in range(operands.start[C, -1]):
        if slabs.pivots[entries[entry, P]] != 0:
            solution_count += slabs.factors[term_count] * slabs.totals[term_count]
            slabs.totals[term_count] = solution_count
            slabs.term_entries[term_count] = entry
            term_count += 1
    return term_count


@jitable
def _find_term(rank, totals, term_count):
    """Return the first term whose running total is larger than a rank."""
    low = 0
    high = term_count
    while low < high:
        middle = (low + high) // 2
        if totals[middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return low


def choose_maps(triples, lists, roles, operands, tensors, maps, orthogonal_entries, map_indices):
    """Write the six maps of solutions.

    Parameters
    ----------
    triples
        int64 (solutions, 4), as ``find_triples`` writes it, but the rank within the triple is not
        divided.
    map_indices
        int32 (solutions, 6), written: the index in ``Maps`` of each line's map.
    """
    for i in range(len(triples)):
        triple = triples[i]
        # The rank is a number in a mixed base: it has a digit for each line, which chooses among
        # the line's maps. Its lowest digit is that of R, whose map changes fastest.
        rank = triple[RANK_IN_TRIPLE]
        for crossing_role in (R, Q, P):
            line = roles.crossing[crossing_role]
            map_count = _count_orthogonal_maps(
                crossing_role, triple, lists, roles, operands, tensors
            )
            map_indices[i, line] = _find_orthogonal_map(
                crossing_role,
                rank % map_count,
                triple,
                operands,
                maps.start[line],
                orthogonal_entries,
            )
            rank //= map_count
        for summed_role in (C, B, A):
            line = roles.summed[summed_role]
            entry = operands.list_position[summed_role, triple[summed_role]]
            start = np.int64(maps.start[line, entry])
            map_count = maps.start[line, entry + 1] - start
            map_indices[i, line] = start + rank % map_count
            rank //= map_count


@jitable
def _count_orthogonal_maps(crossing_role, triple, lists, roles, operands, tensors):
    """Return the number of maps of P, Q or R that are orthogonal to the entries of a triple."""
    a = np.int64(operands.entries[A, triple[A], crossing_role])
    b = np.int64(operands.entries[B, triple[B], crossing_role])
    c = np.int64(operands.entries[C, triple[C], crossing_role])
    # Tensors are indexed [c][a][b]. Their elements are divided by the line's divisor.
    row = c * roles.shape[A, crossing_role] + a
    element = row * roles.shape[B, crossing_role] + b
    map_count = np.int64(tensors.elements[roles.tensor[crossing_role], element])
    return map_count * lists.divisor[roles.crossing[crossing_role]]


@jitable
def _find_orthogonal_map(crossing_role, rank, triple, operands, start, orthogonal_entries):
    """Return the map with a rank among those of P, Q or R that are orthogonal to a triple."""
    width = orthogonal_entries.width[crossing_role]
    sets = orthogonal_entries.sets[crossing_role]
    set_a = width * operands.entries[A, triple[A], crossing_role]
    set_b = width * operands.entries[B, triple[B], crossing_role]
    set_c = width * operands.entries[C, triple[C], crossing_role]
    # Skip whole entries, until the rank is within the maps of one.
    for i in range(width):
        entries = sets[A, set_a + i] & sets[B, set_b + i] & sets[C, set_c + i]
        while entries != np.uint64(0):
            entry = i * ENTRIES_PER_INTEGER + lowest_index(entries)
            entries &= entries - ONE
            map_count = start[entry + 1] - start[entry]
            if rank < map_count:
                return start[entry] + rank
            rank -= map_count
    return -1


def write_grids(map_indices, positions, targets, tables, maps, relabelling, grids):
    """Write solutions as grids.

    Parameters
    ----------
    map_indices
        int32 (solutions, 6), as ``choose_maps`` writes it.
    positions
        int64 (solutions): the positions of the pairs that the solutions belong to.
    targets
        int64 (solutions): the rows of ``grids`` to write to.
    grids
        uint8 (rows, 81), written: digits from 1 on.
    """
    for i in range(len(map_indices)):
        digits = relabelling.digits[positions[i]]
        slot_permutations = relabelling.slot_permutations[positions[i]]
        grid = grids[targets[i]]
        # A band's map gives the rows of digits in its three boxes, a stack's map the columns.
        for band in range(3):
            band_codes = maps.codes[3 + band, map_indices[i, 3 + band]]
            rows = tables.permutations[slot_permutations[3 + band]]
            for stack in range(3):
                stack_codes = maps.codes[stack, map_indices[i, stack]]
                columns = tables.permutations[slot_permutations[stack]]
                box_start = 27 * band + 3 * stack
                row_code = np.int64(band_codes[stack])
                column_code = np.int64(stack_codes[band])
                # In base 3, position d of a code is the slot of digit d.
                for digit in range(9):
                    row = rows[row_code % 3]
                    column = columns[column_code % 3]
                    grid[box_start + 9 * row + column] = digits[digit] + 1
                    row_code = row_code // 3
                    column_code = column_code // 3
