"""The environments of a pivot sum: pairs are summed as for counting, and kept apart by classes.

For a pair (a, b) let T(c, k, l) be the product that counts the solutions (up to divisors) of the
entries c, k and l, but for the tensor of P. From it come, for the indices c_P of C at P,

    by_c[class of c at P]     = sum of T over k, l and the c of that class
    by_a[c_P][class of k]     = sum of T over l, the c with that index and the k of that class
    by_b[c_P][class of l]     = the same with k and l exchanged

An entry y of P that is orthogonal to a and b has multiplicity * by_c solutions with each class of c
whose c_P is orthogonal to it. With each class of k, it has multiplicity times the sum of by_a over
the orthogonal c_P; likewise for l and by_b. These numbers are added to the environments, at the
class of y where P meets C, A and B. For pairs with the same b, ``by_c`` and ``by_b`` are first
added up for every index of y at A.

Exactness. Slabs and dot products are bounded as in ``pair_sums``. ``products`` are sums over the c
of one index, whose multiplicities add up to at most 94,080 / 280 = 336 < TILE. So they stay below
what is proven for dot products of TILE terms. Every other number counts solutions of a pair, times
the size of its orbit, or is a sum of such numbers that count different solutions. All solutions in
the environments are counted in ``PENDING``. A call ends before this would pass 2^62, which happens
only if candidates were removed by hand. A board that is given by clues has fewer than 2^57
solutions, divided by all six divisors:

- Permute the columns of each stack and the rows of each band in all 6^6 ways. If s of the
  permutations of a line keep its clues, s divides the line's divisor: the permutations permute the
  maps of an entry, and only the identity keeps a map.
- The 6^6 / (s_1 * ... * s_6) different boards have equally many solutions, and share none, because
  any two of them have one digit in different cells of a row, a column or a box.
- So the solutions, divided by the divisors, are at most those of the empty board divided by 6^6,
  which are 142,980,618,827,612,160 < 2^57.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.arguments import Kind, float64, int64, kind_of
from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, A, B, C, P, Q, R, make_workspace
from gpusudoku.kernels.contraction.nine.environments import (
    ShareSums,
    collect,
    find_orthogonal_entries,
    join_pair,
    join_same_b,
)
from gpusudoku.kernels.contraction.nine.orbits import find_symmetries
from gpusudoku.kernels.contraction.nine.order import Maps
from gpusudoku.kernels.contraction.nine.pair_sums import (
    LEFT,
    RIGHT,
    TILE,
    build_slabs,
    end_of_same_b,
    make_slabs,
)
from gpusudoku.kernels.contraction.nine.pivot_sums import (
    ADDED_MEMBERS,
    END_PAIR,
    NEXT_PAIR,
    PENDING,
    PENDING_LIMIT,
    ClassifiedLists,
    EntryClasses,
    PivotSum,
    classify_entries,
    make_class_sums,
    make_pivot_sum,
    make_pivot_sum_arrays,
)
from gpusudoku.kernels.contraction.nine.tensors import choose_pivot_roles
from gpusudoku.kernels.kernel import Kernel, jitable, kernel


@jitable
def _begin_pair(a_class_count, b_class_count, a, b, pivot_sum, tensors, class_sums):
    """Clear the sums of a pair and write its ``pivots``; return whether any of these is not 0."""
    shape = pivot_sum.roles.shape
    tensor = tensors.elements[pivot_sum.roles.tensor[P]]
    c_count = shape[C, P]
    c_class_count = pivot_sum.pivot.first_class[C, c_count]
    width = shape[B, P]
    has_solutions = False
    for index_c in range(c_count):
        element = np.int64(tensor[(index_c * shape[A, P] + a) * width + b])
        class_sums.pivots[index_c] = element
        if element != 0:
            has_solutions = True
    # Only what this pair uses is cleared: the arrays have room for many classes.
    class_sums.by_a[: c_count * a_class_count] = 0
    class_sums.by_b[: c_count * b_class_count] = 0
    class_sums.by_c[:c_class_count] = 0
    return has_solutions


@jitable
def _count_solutions(a_class_count, shape, class_sums):
    """Return the number of solutions of a pair, divided by all divisors."""
    # For an index of C, the values of ``by_a`` add up to the sum of all its T. T lacks the factor
    # of P's tensor, which is in ``pivots``.
    count = np.int64(0)
    for index_c in range(shape[C, P]):
        element = class_sums.pivots[index_c]
        if element != 0:
            for k in range(a_class_count):
                count += element * class_sums.by_a[index_c * a_class_count + k]
    return count


@jitable
def _take_members(solution_count, orbit_size, class_sums):
    """Return how many more members of an orbit can be added, and record them in ``state``.

    Each member has ``solution_count`` solutions.
    """
    state = class_sums.state
    member_count = np.int64(orbit_size) - state[ADDED_MEMBERS]
    if solution_count > 0:
        member_count = min(member_count, (state[PENDING_LIMIT] - state[PENDING]) // solution_count)
    # The caller clears the environments and PENDING, and calls ``sum_environments`` again.
    state[PENDING] += member_count * solution_count
    state[ADDED_MEMBERS] += member_count
    return member_count


@jitable
def _multiply(factor, a_class_count, b_class_count, pivot_sum, class_sums):
    """Multiply the sums of a pair by a factor."""
    if factor == 1:
        return
    c_count = pivot_sum.roles.shape[C, P]
    for i in range(c_count * a_class_count):
        class_sums.by_a[i] *= factor
    for i in range(c_count * b_class_count):
        class_sums.by_b[i] *= factor
    for c_class in range(pivot_sum.pivot.first_class[C, c_count]):
        class_sums.by_c[c_class] *= factor


@jitable
def _add_by_a(index_c, k, segment_count, length, a, pivot_sum, class_sums):
    """Add the products of some segments, for one index of C, to ``by_a``; return their sum."""
    class_of = pivot_sum.pivot.entry_class[A]
    first_class = pivot_sum.pivot.first_class[A]
    total = np.int64(0)
    # The sum of a class is at row + class: classes of ``a`` begin at first_class[a].
    row = index_c * np.int64(first_class[a + 1] - first_class[a]) - first_class[a]
    for segment in range(segment_count):
        products = class_sums.products[segment * length : (segment + 1) * length]
        segment_total = np.int64(0)
        for l in range(length):  # noqa: E741 - as in the formula of the sum
            segment_total += products[l]
        class_sums.by_a[row + class_of[k + segment]] += segment_total
        total += segment_total
    return total


@jitable
def _add_by_a_and_b(index_c, k, segment_count, length, a, b, pivot_sum, class_sums):
    """Add the products of some segments, for one index of C, to ``by_a`` and ``by_b``.

    Returns their sum.
    """
    products = class_sums.products
    class_columns = class_sums.columns[0]
    all_columns = class_sums.columns[1]
    operands = pivot_sum.operands
    class_of = pivot_sum.pivot.entry_class
    first_a = pivot_sum.pivot.first_class[A]
    first_b = pivot_sum.pivot.first_class[B]
    # The sum of a class is at row + class, as in ``_add_by_a``.
    row_a = index_c * np.int64(first_a[a + 1] - first_a[a]) - first_a[a]
    row_b = index_c * np.int64(first_b[b + 1] - first_b[b]) - first_b[b]
    all_columns[:length] = 0
    total = np.int64(0)
    segment = 0
    while segment < segment_count:
        # Entries are sorted by classes, so the segments of one class follow one another.
        a_class = class_of[A, k + segment]
        class_columns[:length] = 0
        while segment < segment_count and class_of[A, k + segment] == a_class:
            for l in range(length):  # noqa: E741 - as in the formula of the sum
                class_columns[l] += products[segment * length + l]
            segment += 1
        class_total = np.int64(0)
        for l in range(length):  # noqa: E741 - as in the formula of the sum
            class_total += class_columns[l]
            all_columns[l] += class_columns[l]
        class_sums.by_a[row_a + a_class] += class_total
        total += class_total
    # Segments are filled up with zeros; only real entries of B have a class.
    start = operands.start[B, b]
    for l in range(operands.start[B, b + 1] - start):  # noqa: E741 - as in the formula
        class_sums.by_b[row_b + class_of[B, start + l]] += all_columns[l]
    return total


def build_add_one(sum_type: Any) -> Callable[..., int]:
    """Make ``add_one`` for products and sums of a type of Numba."""

    @jitable
    def add_one(entry, size, split_ab, split_c, pivot_sum, slabs, class_sums):
        """Add the products of one entry of C; return their sum, if it is computed.

        split_ab
            Whether A or B has several classes. If so, the products are added to ``products``.
        split_c
            Whether the entry's partition has several classes. If so, the sum is added to that of
            the entry's class.
        """
        fields = pivot_sum.operands.entries[C, entry]
        products = class_sums.products[:size]
        left_row = slabs.slab[LEFT, fields[Q], :size]
        right_row = slabs.slab[RIGHT, fields[R], :size]
        multiplicity = np.int64(fields[MULTIPLICITY])
        dot = sum_type(0)
        if split_ab:
            for i in range(size):
                product = sum_type(sum_type(left_row[i]) * sum_type(right_row[i]))
                products[i] += sum_type(product * sum_type(multiplicity))
        if split_c or not split_ab:
            for i in range(size):
                product = sum_type(sum_type(left_row[i]) * sum_type(right_row[i]))
                dot = sum_type(dot + product)
        if split_c:
            class_sums.by_c[pivot_sum.pivot.entry_class[C, entry]] += multiplicity * dot
        return multiplicity * dot

    return add_one


def build_add_four(element_type: Any, sum_type: Any) -> Callable[..., int]:
    """Make ``add_four`` for elements, and for products and sums, of two types of Numba."""

    @jitable
    def add_four(entry, size, split_ab, split_c, pivot_sum, slabs, class_sums):
        """Do the same as ``add_one`` for four entries, from ``entry`` on.

        So the products are loaded and stored less often.
        """
        entries = pivot_sum.operands.entries[C, entry : entry + 4]
        classes = pivot_sum.pivot.entry_class[C, entry : entry + 4]
        left_slab = slabs.slab[LEFT]
        right_slab = slabs.slab[RIGHT]
        products = class_sums.products[:size]
        left_0 = left_slab[entries[0, Q], :size]
        right_0 = right_slab[entries[0, R], :size]
        left_1 = left_slab[entries[1, Q], :size]
        right_1 = right_slab[entries[1, R], :size]
        left_2 = left_slab[entries[2, Q], :size]
        right_2 = right_slab[entries[2, R], :size]
        left_3 = left_slab[entries[3, Q], :size]
        right_3 = right_slab[entries[3, R], :size]
        factor_0 = element_type(entries[0, MULTIPLICITY])
        factor_1 = element_type(entries[1, MULTIPLICITY])
        factor_2 = element_type(entries[2, MULTIPLICITY])
        factor_3 = element_type(entries[3, MULTIPLICITY])
        dot_0 = sum_type(0)
        dot_1 = sum_type(0)
        dot_2 = sum_type(0)
        dot_3 = sum_type(0)
        if split_ab:
            # An element is at most 1,728, a multiplicity 12: their product fits in 16 bits.
            for i in range(size):
                product_0 = sum_type(
                    sum_type(element_type(left_0[i] * factor_0)) * sum_type(right_0[i])
                )
                product_1 = sum_type(
                    sum_type(element_type(left_1[i] * factor_1)) * sum_type(right_1[i])
                )
                product_2 = sum_type(
                    sum_type(element_type(left_2[i] * factor_2)) * sum_type(right_2[i])
                )
                product_3 = sum_type(
                    sum_type(element_type(left_3[i] * factor_3)) * sum_type(right_3[i])
                )
                products[i] += sum_type(
                    sum_type(product_0 + product_1) + sum_type(product_2 + product_3)
                )
        if split_c or not split_ab:
            for i in range(size):
                dot_0 = sum_type(dot_0 + sum_type(sum_type(left_0[i]) * sum_type(right_0[i])))
                dot_1 = sum_type(dot_1 + sum_type(sum_type(left_1[i]) * sum_type(right_1[i])))
                dot_2 = sum_type(dot_2 + sum_type(sum_type(left_2[i]) * sum_type(right_2[i])))
                dot_3 = sum_type(dot_3 + sum_type(sum_type(left_3[i]) * sum_type(right_3[i])))
        total_0 = np.int64(dot_0) * np.int64(factor_0)
        total_1 = np.int64(dot_1) * np.int64(factor_1)
        total_2 = np.int64(dot_2) * np.int64(factor_2)
        total_3 = np.int64(dot_3) * np.int64(factor_3)
        if split_c:
            by_c = class_sums.by_c
            by_c[classes[0]] += total_0
            by_c[classes[1]] += total_1
            by_c[classes[2]] += total_2
            by_c[classes[3]] += total_3
        return total_0 + total_1 + total_2 + total_3

    return add_four


def build_add_products(element_type: Any, sum_type: Any) -> Callable[..., None]:
    """Make ``add_products`` for slabs of one width.

    Parameters
    ----------
    element_type
        Numba's type of a slab's elements.
    sum_type
        Numba's type of a product of elements, and of a sum of products.
    """
    add_one = build_add_one(sum_type)
    add_four = build_add_four(element_type, sum_type)

    @jitable
    def add_products(k, segment_count, length, a, b, pivot_sum, slabs, class_sums):
        """Add some segments of a pair to its sums by classes."""
        roles, operands, _, pivot = pivot_sum
        first_class = pivot.first_class
        start = operands.start[C]
        b_class_count = first_class[B, b + 1] - first_class[B, b]
        split_ab = first_class[A, a + 1] - first_class[A, a] > 1 or b_class_count > 1
        size = segment_count * length
        for index_c in range(roles.shape[C, P]):
            if class_sums.pivots[index_c] == 0:
                continue
            c_class = np.int64(first_class[C, index_c])
            split_c = first_class[C, index_c + 1] - c_class > 1
            if split_ab:
                class_sums.products[:size] = 0
            # Entries of C are sorted by their indices at P.
            total = np.int64(0)
            entry = start[index_c]
            end = start[index_c + 1]
            while entry + 4 <= end:
                total += add_four(entry, size, split_ab, split_c, pivot_sum, slabs, class_sums)
                entry += 4
            while entry < end:
                total += add_one(entry, size, split_ab, split_c, pivot_sum, slabs, class_sums)
                entry += 1

            if not split_ab:  # one class each: one sum for each index of C
                class_sums.by_a[index_c] += total
                class_sums.by_b[index_c] += total
            elif b_class_count == 1:  # ``by_b`` needs no products
                total = _add_by_a(index_c, k, segment_count, length, a, pivot_sum, class_sums)
                class_sums.by_b[index_c] += total
            else:
                total = _add_by_a_and_b(
                    index_c, k, segment_count, length, a, b, pivot_sum, class_sums
                )
            if not split_c:  # otherwise ``add_one`` and ``add_four`` have added it, class by class
                class_sums.by_c[c_class] += total

    return add_products


def build_add_pairs(element_type: Any, sum_type: Any) -> tuple[Callable[..., Any], ...]:
    """Make ``gather_segments`` and ``add_pairs``; see ``build_add_products``."""
    gather_segments, write_slabs = build_slabs(element_type)
    add_products = build_add_products(element_type, sum_type)

    @jitable
    def add_pair(
        pair, b, b_class_count, length, pivot_sum, tensors, environment, slabs, class_sums
    ):
        """Add a pair to the environments; return whether all members of its orbit are added."""
        roles, operands, orbits, pivot = pivot_sum
        first_class = pivot.first_class
        a = orbits.representatives[pair, 1]
        a_class_count = np.int64(first_class[A, a + 1] - first_class[A, a])
        if not _begin_pair(a_class_count, b_class_count, a, b, pivot_sum, tensors, class_sums):
            return True
        # As many segments at a time as a slab has room for.
        k = operands.start[A, a]
        end = operands.start[A, a + 1]
        while k < end:
            segment_count = min(TILE // length, end - k)
            write_slabs(k, segment_count, length, roles, operands, slabs)
            add_products(k, segment_count, length, a, b, pivot_sum, slabs, class_sums)
            k += segment_count
        # All members of an orbit have equal sums. If they hold too many solutions for the
        # environments, some are added now, and the others after these have been cleared.
        orbit_size = np.int64(orbits.representatives[pair, 2])
        solution_count = _count_solutions(a_class_count, roles.shape, class_sums)
        member_count = _take_members(solution_count, orbit_size, class_sums)
        _multiply(member_count, a_class_count, b_class_count, pivot_sum, class_sums)
        join_pair(pair, a, b_class_count, pivot_sum, environment, class_sums)
        return class_sums.state[ADDED_MEMBERS] == orbit_size

    @jitable
    def add_pairs(b, end, length, pivot_sum, tensors, stop_flag, environment, slabs, class_sums):
        """Add the next pairs, which have the same b, up to ``end``; return whether all are added.

        ``state`` has the pairs that are added.
        """
        first_class = pivot_sum.pivot.first_class
        state = class_sums.state
        b_class_count = np.int64(first_class[B, b + 1] - first_class[B, b])
        for pair in range(state[NEXT_PAIR], end):
            if stop_flag[0] != 0:
                return False
            is_complete = add_pair(
                pair, b, b_class_count, length, pivot_sum, tensors, environment, slabs, class_sums
            )
            if not is_complete:
                return False
            state[NEXT_PAIR] = pair + 1
            state[ADDED_MEMBERS] = 0
        return True

    return gather_segments, add_pairs


def build_sum_environments(element_type: Any, sum_type: Any) -> Callable[..., None]:
    """Make ``sum_environments`` for slabs of one width; see ``build_add_products``."""
    gather_segments, add_pairs = build_add_pairs(element_type, sum_type)

    def sum_environments(
        roles, operands, orbits, pivot, tensors, stop_flag, environment, slabs, class_sums
    ):
        """Add pairs to the environments, until all are added, or the environments are full.

        ``class_sums.state`` says which pairs to add, and is updated. The sum also ends once
        ``stop_flag``, int64 (1), is not 0.

        The first four arguments are a ``PivotSum``. They are separate, because Numba takes longer
        to recognize a named tuple.
        """
        pivot_sum = PivotSum(roles, operands, orbits, pivot)
        pairs = orbits.representatives
        state = class_sums.state
        class_sums.joined_pair[:] = -1
        while state[NEXT_PAIR] < state[END_PAIR]:
            b = pairs[state[NEXT_PAIR], 0]
            end = end_of_same_b(state[NEXT_PAIR], state[END_PAIR], pairs)
            length = gather_segments(state[NEXT_PAIR], end, pairs, roles, operands, tensors, slabs)
            find_orthogonal_entries(b, pivot, class_sums)
            are_added = add_pairs(
                b, end, length, pivot_sum, tensors, stop_flag, environment, slabs, class_sums
            )
            # After an early end, too: the sums that the pairs so far have in common.
            join_same_b(b, pivot_sum, environment, class_sums)
            if not are_added:
                return

    return jitable(sum_environments)


sum_environments_narrow = build_sum_environments(np.int16, np.int32)
"""``sum_environments`` where ``is_narrow`` holds."""
sum_environments_wide = build_sum_environments(np.int32, np.int64)
"""``sum_environments`` for every other board."""


class ShareStages:
    """The stages after those that make the tensors; see ``NineStages``.

    ``tables`` is the type of the ``Tables``.
    """

    def __init__(self, tables: Kind) -> None:
        arrays = make_workspace()
        pivot_sum_arrays = make_pivot_sum_arrays(arrays.roles)
        workspace = kind_of(arrays)
        lists = workspace.lists
        indexing = workspace.indexing
        roles = workspace.roles
        symmetries = workspace.symmetries
        maps = kind_of(Maps())
        entry_classes = kind_of(EntryClasses())
        masks = kind_of(np.zeros((6, 9), np.uint8))

        self.choose_pivot_roles = kernel(
            int64, lists, indexing, roles, returns=float64, seconds=0.3
        )(choose_pivot_roles)
        self.classify_entries = kernel(lists, indexing, maps, entry_classes, seconds=1.2)(
            classify_entries
        )
        self.find_symmetries = kernel(masks, tables, symmetries, returns=int64, seconds=0.9)(
            find_symmetries
        )
        classified_lists = ClassifiedLists(tables, lists, indexing, entry_classes)
        pivot_sum = kind_of(pivot_sum_arrays)
        self.make_pivot_sum = kernel(
            int64, classified_lists, symmetries, pivot_sum, returns=int64, seconds=1.7
        )(make_pivot_sum)

        stop_flag = int64[::1]
        environment = int64[::1]
        groups = [kind_of(group) for group in pivot_sum_arrays]
        shared = *groups, workspace.tensors, stop_flag, environment
        narrow = *shared, kind_of(make_slabs(wide=False)), kind_of(make_class_sums(wide=False))
        wide = *shared, kind_of(make_slabs(wide=True)), kind_of(make_class_sums(wide=True))
        # Both functions have the name that their builder gives them, so each kernel gets its own.
        self.sum_environments_narrow = kernel(
            *narrow, seconds=7.2, import_path=f"{__name__}.sum_environments_narrow"
        )(sum_environments_narrow)
        self.sum_environments_wide = kernel(
            *wide, seconds=6.4, import_path=f"{__name__}.sum_environments_wide"
        )(sum_environments_wide)

        pivot = kind_of(pivot_sum_arrays.pivot)
        share_sums = kind_of(ShareSums())
        self.collect = kernel(
            *(int64, tables, indexing, entry_classes, roles, pivot, environment, share_sums),
            seconds=1.2,
        )(collect)

    def of_one_board(self) -> list[Kernel]:
        """Return what the shares of one board need, except the wide sum, which few boards need."""
        return [
            self.choose_pivot_roles,
            self.classify_entries,
            self.find_symmetries,
            self.make_pivot_sum,
            self.sum_environments_narrow,
            self.collect,
        ]
