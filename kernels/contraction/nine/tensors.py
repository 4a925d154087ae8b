"""The roles of the lines, and the tensors of the crossing lines.

``choose_roles`` gives each line its role, so that the estimated time is shortest.

A crossing line's tensor has at [c][a][b] the number of the line's maps (over its divisor) whose
three partitions are orthogonal to the partitions c, a and b of the summed lines C, A and B there.
So the tensor is the line's list contracted with orthogonality at A, B and C, in two steps:

- ``contract_ab`` contracts at A and B. The result, ``intermediate``, has at [z][a][b] the number of
  those maps whose partition at C is z.
- ``contract_c`` adds up the z that are orthogonal to c: up to 36 vectors over (a, b) give one.

Before them, ``list_orthogonal`` finds the indices that are orthogonal.

No element exceeds 1,728, the largest element without clues, because a clue only removes maps. An
element of ``intermediate`` counts some of the maps of an element of the tensor. So 16 bits hold
both.

Stages: these four, and ``index_partitions``, which is a part of ``make_lists``.
"""

from __future__ import annotations

from math import inf

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import ORTHOGONAL, PARTITIONS, A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.lists import index_at, partition_at
from gpusudoku.kernels.kernel import jitable

PLANS = 36
"""Ways to give the lines roles. A plan is the number

    18 * (bands are summed, not stacks) + 6 * (the line that is C) + 3 * (A and B are exchanged)
        + (the crossing line that is P)

Exchanging Q and R makes no difference to the cost, so it is no plan of its own."""

# Nanoseconds on a reference core. Only their ratios matter. The roles decide on the contraction
# order of a board's solutions (``order``), so a change of these constants changes that order.
PER_TERM = 0.6
"""To look whether an entry of C is a term of a pair."""
PER_DOT = 4.0
"""To begin a dot product."""
PER_PRODUCT = 0.033
"""To add one product to a dot product."""
PER_SEGMENT = 6.0
"""To copy the segment of one entry of A into a row of a slab."""
PER_GATHERED = 0.8
"""To gather one element of a tensor into a segment."""
PER_ELEMENT = 1.2
"""To make one element of a tensor, by adding up 36 vectors."""


@jitable
def index_partitions(size, keys, indexing):
    """Write ``indexing``: the indices of the partitions that occur in every line and box."""
    for line in range(6):
        for box in range(3):
            index_of = indexing.index_of[line, box]
            partition_of = indexing.partition[line, box]
            index_of[:] = -1
            # 0 marks the partitions that occur until they get their indices.
            for e in range(size[line]):
                index_of[partition_at(keys[line, e], box)] = 0
            count = 0
            for partition in range(PARTITIONS):
                if index_of[partition] == 0:
                    index_of[partition] = count
                    partition_of[count] = partition
                    count += 1
            indexing.partition_count[line, box] = count


@jitable
def choose_roles(lists, indexing, roles):
    """Write the cheapest roles; return their estimated time in nanoseconds.

    The lists must not be empty: ``make_lists`` has returned True.
    """
    return _write_cheapest(0, PLANS, 1, lists, indexing, roles)


@jitable
def choose_pivot_roles(pivot_line, lists, indexing, roles):
    """Write the cheapest roles in which a given line is P; return their estimated time."""
    first_plan = pivot_line % 3
    if pivot_line < 3:  # the pivot is a stack, so bands are summed: the second half of the plans
        first_plan += PLANS // 2
    return _write_cheapest(first_plan, first_plan + PLANS // 2, 3, lists, indexing, roles)


@jitable
def _write_cheapest(first_plan, end_plan, step, lists, indexing, roles):
    """Write the cheapest roles among some plans, and the equal tensors; return the time."""
    symmetry_count = _count_digit_symmetries(lists.masks)
    min_price = inf
    best_plan = 0
    for plan in range(first_plan, end_plan, step):
        _write_roles(plan, indexing.partition_count, roles)
        price = _estimate_price(symmetry_count, lists.size, roles)
        if price < min_price:
            min_price = price
            best_plan = plan
    _write_roles(best_plan, indexing.partition_count, roles)
    # Crossing lines without clues often have equal tensors, which are made once.
    for role in range(3):
        roles.tensor[role] = role
        for earlier_role in range(role):
            if _have_same_tensor(role, earlier_role, lists, indexing, roles):
                roles.tensor[role] = roles.tensor[earlier_role]
    return min_price


@jitable
def _write_roles(plan, partition_counts, roles):
    """Write the roles of one plan (see ``PLANS``), and the shapes of its tensors."""
    first_summed = plan // 18 * 3
    first_crossing = 3 - first_summed
    c_offset = plan // 6 % 3
    is_flipped = plan // 3 % 2
    pivot_offset = plan % 3
    roles.summed[A] = first_summed + (c_offset + 1 + is_flipped) % 3
    roles.summed[B] = first_summed + (c_offset + 2 - is_flipped) % 3
    roles.summed[C] = first_summed + c_offset
    for k in range(3):
        roles.crossing[P + k] = first_crossing + (pivot_offset + k) % 3
    for crossing_role in range(3):
        crossing_line = roles.crossing[crossing_role]
        for summed_role in range(3):
            summed_line = roles.summed[summed_role]
            roles.shape[summed_role, crossing_role] = partition_counts[
                summed_line, crossing_line % 3
            ]
        roles.depth[crossing_role] = partition_counts[crossing_line, roles.summed[C] % 3]


@jitable
def _estimate_price(symmetry_count, size, roles):
    """Estimate the time that the roles take, in nanoseconds.

    The lists are known, the tensors are not: the fraction of zeros in P's tensor is estimated as if
    partitions were drawn at random. The estimate uses sums, products and quotients only, which give
    the same numbers on every machine, so that all machines choose the same roles.
    """
    shape = roles.shape
    pairs = float(shape[A, P] * shape[B, P])
    # The probability that two partitions are orthogonal; an element of P's tensor is not zero if
    # some entry of P is orthogonal to three of them.
    chance = ORTHOGONAL / PARTITIONS
    c_entries = size[roles.summed[C]]
    p_entries = size[roles.crossing[P]]
    terms = c_entries * (1.0 - _power(1.0 - chance * chance * chance, p_entries))

    # Entries of A per partition at the pivot are the segments of a slab's row, those of B their
    # length.
    segments = size[roles.summed[A]] / shape[A, P]
    segment_length = size[roles.summed[B]] / shape[B, P]
    slab_rows = shape[C, Q] + shape[C, R]
    per_pair = c_entries * PER_TERM + terms * (PER_DOT + segments * segment_length * PER_PRODUCT)
    per_pair += slab_rows * segments * PER_SEGMENT

    # Pairs with the same b share their segments, which are gathered once.
    gathered_segments = shape[A, Q] * shape[C, Q] + shape[A, R] * shape[C, R]
    per_b = gathered_segments * (PER_SEGMENT + segment_length * PER_GATHERED)
    elements = 0
    for crossing_role in range(3):
        elements += shape[A, crossing_role] * shape[B, crossing_role] * shape[C, crossing_role]
    summed_pairs = max(1.0, pairs / symmetry_count)
    summed_bs = max(1.0, shape[B, P] / symmetry_count)
    return summed_pairs * per_pair + summed_bs * per_b + elements * PER_ELEMENT


@jitable
def _count_digit_symmetries(masks):
    """Return the number of relabellings that only exchange interchangeable digits.

    There may be more symmetries. These are known before the orbits are.
    """
    count = 1.0
    for digit in range(9):
        # A class of n digits has n! relabellings: the product of 1 for its first digit, 2 for its
        # second one, and so on.
        rank_in_class = 1
        for earlier_digit in range(digit):
            rank_in_class += are_interchangeable(digit, earlier_digit, masks)
        count *= rank_in_class
    return count


@jitable
def are_interchangeable(digit, other_digit, masks):
    """Return whether every line allows two digits the same permutations."""
    is_equal = True
    for line in range(6):
        is_equal &= masks[line, digit] == masks[line, other_digit]
    return is_equal


@jitable
def _have_same_tensor(role, earlier_role, lists, indexing, roles):
    """Return whether two crossing roles have equal tensors: equal lists and equal indices."""
    line = roles.crossing[role]
    earlier_line = roles.crossing[earlier_role]
    if lists.equal_line[line] != lists.equal_line[earlier_line]:
        return False
    box = line % 3
    earlier_box = earlier_line % 3
    for summed_line in roles.summed:
        partition_count = indexing.partition_count[summed_line, box]
        if partition_count != indexing.partition_count[summed_line, earlier_box]:
            return False
        partitions = indexing.partition[summed_line, box]
        earlier_partitions = indexing.partition[summed_line, earlier_box]
        for i in range(partition_count):
            if partitions[i] != earlier_partitions[i]:
                return False
    return True


@jitable
def _power(base, exponent):
    """Return base^exponent for an integer ``exponent``, by repeated squaring."""
    power = 1.0
    while exponent > 0:
        if exponent & 1:
            power *= base
        base *= base
        exponent >>= 1
    return power


CHUNK = 1024
"""Elements of a tensor's row that are added up at a time: they stay in a first-level cache."""


@jitable
def list_orthogonal(role, tables, indexing, roles, orthogonal):
    """Write ``orthogonal``: the orthogonal indices where a crossing role meets A, B and C."""
    crossing_line = roles.crossing[role]
    summed = roles.summed
    for summed_role in range(3):
        if summed_role == C:
            line = summed[C]
            met_line = crossing_line
        else:
            line = crossing_line
            met_line = summed[summed_role]
        indices = orthogonal.indices[summed_role]
        lengths = orthogonal.lengths[summed_role]
        list_orthogonal_indices(line, met_line, tables.orthogonal, indexing, indices, lengths)
    partition_count = indexing.partition_count[crossing_line, summed[B] % 3]
    width = roles.shape[B, role]
    orthogonal.indicator[: partition_count * width] = 0
    for index in range(partition_count):
        for k in range(orthogonal.lengths[B, index]):
            orthogonal.indicator[index * width + orthogonal.indices[B, index, k]] = 1


@jitable
def list_orthogonal_indices(line, met_line, orthogonal, indexing, indices, lengths):
    """Write the indices of a met line that are orthogonal to each index of a line.

    ``indices`` is int16 (indices of the line, ORTHOGONAL), ``lengths`` the number of them in each
    row.
    """
    for i in range(indexing.partition_count[line, met_line % 3]):
        partition = indexing.partition[line, met_line % 3, i]
        length = 0
        for k in range(ORTHOGONAL):
            index = indexing.index_of[met_line, line % 3, orthogonal[partition, k]]
            if index >= 0:
                indices[i, length] = index
                length += 1
        lengths[i] = length


@jitable
def contract_ab(role, first_z, end_z, lists, indexing, roles, orthogonal, intermediate):
    """Write the rows z = first_z to before end_z of a crossing role's ``intermediate``."""
    crossing_line = roles.crossing[role]
    summed = roles.summed
    height = roles.shape[A, role]
    width = roles.shape[B, role]
    indicator = orthogonal.indicator
    intermediate[first_z * height * width : end_z * height * width] = 0
    for e in range(lists.size[crossing_line]):
        key = lists.keys[crossing_line, e]
        z = index_at(key, crossing_line, summed[C], indexing.index_of)
        if z < first_z or z >= end_z:
            continue
        at_a = index_at(key, crossing_line, summed[A], indexing.index_of)
        at_b = index_at(key, crossing_line, summed[B], indexing.index_of)
        multiplicity = np.int16(lists.multiplicity[crossing_line, e])
        # Multiplying by 0 or 1 for every b makes a loop that compilers turn into vector code.
        is_orthogonal = indicator[at_b * width : (at_b + 1) * width]
        for i in range(orthogonal.lengths[A, at_a]):
            start = (z * height + orthogonal.indices[A, at_a, i]) * width
            sums = intermediate[start : start + width]
            for b in range(width):
                sums[b] += np.int16(multiplicity * is_orthogonal[b])


@jitable
def contract_c(role, first_column, end_column, roles, orthogonal, intermediate, tensors):
    """Write the elements [:, first_column:end_column] of a crossing role's tensor.

    The tensor is seen as a matrix with a row for each c. A column is a pair of a and b. Returns the
    largest element written.
    """
    row_length = roles.shape[A, role] * roles.shape[B, role]
    tensor = tensors.elements[role]
    largest = np.int16(0)
    for start in range(first_column, end_column, CHUNK):
        stop = min(start + CHUNK, end_column)
        for c in range(roles.shape[C, role]):
            sums = tensor[c * row_length + start : c * row_length + stop]
            sums[:] = 0
            indices = orthogonal.indices[C, c]
            length = orthogonal.lengths[C, c]
            for k in range(0, length - 3, 4):
                _add_four_rows(indices[k : k + 4], row_length, start, intermediate, sums)
            for k in range(length // 4 * 4, length):
                _add_row(indices[k], row_length, start, intermediate, sums)
            for j in range(len(sums)):
                largest = max(largest, sums[j])
    return np.int64(largest)


# These functions take slices of rows first, because the compiler then knows that the indices into
# them are not negative.


@jitable
def _add_row(z, row_length, start, intermediate, sums):
    """Add the elements of row z of ``intermediate``, from column ``start`` on."""
    row = intermediate[z * row_length + start : z * row_length + start + len(sums)]
    for j in range(len(sums)):
        sums[j] += row[j]


@jitable
def _add_four_rows(zs, row_length, start, intermediate, sums):
    """Add four rows at once, so that the sums are loaded and stored less often."""
    count = len(sums)
    row_0 = intermediate[zs[0] * row_length + start : zs[0] * row_length + start + count]
    row_1 = intermediate[zs[1] * row_length + start : zs[1] * row_length + start + count]
    row_2 = intermediate[zs[2] * row_length + start : zs[2] * row_length + start + count]
    row_3 = intermediate[zs[3] * row_length + start : zs[3] * row_length + start + count]
    for j in range(count):
        # Numba adds 16-bit integers as 64-bit ones; the conversions keep the sums narrow.
        pair = np.int16(row_0[j] + row_1[j])
        sums[j] += np.int16(pair + np.int16(row_2[j] + row_3[j]))
