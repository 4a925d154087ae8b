"""The words of every line, and the solutions in contraction order.

Counting needs entries only. Solutions need the *words* of a line, too: every map once, as the three
codes that it has at the places 0, 1 and 2. A code names the set of each digit: the column of a
stack or the row of a band. A solution is six words, one of each line, whose partitions are
orthogonal wherever two lines cross; so of a crossing line those entries matter that are orthogonal
to the three entries of the summed lines. They are the intersection of three bit sets.

The order goes through the orbits of pairs, an orbit's pairs in the order of ``Orbits``, and
within the least pair of an orbit through *cells*: an entry of C, then one of A, then one of B, each
in the order of ``Operands``. A cell has solutions where these three, and some entries of P, Q and
R, are orthogonal. It goes through the words of its entries of A, B and C, then through those of P,
Q and R that fit, in the order of ``Words``; the last changes fastest. The solutions of the other
pairs of an orbit are those of the least pair, in the same order, under the relabelling that leads
there.

Exactness. A pair has less than 2^57 solutions (``pair_sums``), so its numbers are 64-bit integers,
and so are those within a cell. A cell's number of solutions is a product of six numbers of words.

Stages: ``list_words``, ``mark_fitting``, ``relabel``; from numbers to grids ``find_narrow`` or
``find_wide``, ``choose_words``, ``write_grids``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group, array_of
from gpusudoku.kernels.bits import lowest_index
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
    find_key,
    key_of,
    list_maps,
    partition_at,
)
from gpusudoku.kernels.contraction.nine.orbits import compose
from gpusudoku.kernels.contraction.nine.pair_sums import (
    LEFT,
    LENGTH,
    RIGHT,
    TERMS,
    build_pair_sum,
    end_of_group,
)
from gpusudoku.kernels.kernel import jitable

WORD = 64
"""Entries in one integer of a bit set."""
MAX_WIDTH = -(-MAX_ENTRIES // WORD)
"""Integers that a bit set of entries takes, at most."""


class Words(Group):
    """The words of the six lines. ``list_words`` writes them."""

    codes = array_of(np.int16, 6, MAX_MAPS, 3)
    """The words of every line, each as its codes by place. They are sorted by their entries, in the
    order of ``Lists.keys``, and those of an entry by their codes."""
    start = array_of(np.int32, 6, MAX_ENTRIES + 1)
    """Where the words of every entry begin; then their end."""


class Fitting(Group):
    """Which entries of crossing lines fit where summed ones cross. ``mark_fitting`` writes them."""

    width = array_of(np.int64, 3)
    """How many integers a set of entries of P, Q and R takes."""
    sets = array_of(np.uint64, 3, 3, PARTITIONS * MAX_WIDTH)
    """By crossing role, summed role and number of the summed line: the entries of X that are
    orthogonal to it, as a set of ``width`` integers. Entry e, in the order of ``Lists.keys``, is
    bit e % 64 of integer e // 64."""


@jitable
def list_words(tables, scratch, lists, words):
    """Write ``words`` of all six lines, with ``scratch`` on the way."""
    for line in range(6):
        other = _line_with_same_words(line, lists)
        if other < 0:
            count = list_maps(lists.masks[line], tables, scratch.stack, scratch.codes)
            _sort_words(line, count, tables, scratch.codes, lists, words)
        else:
            _copy_words(line, other, lists.size[line], words)


@jitable
def _copy_words(line, other, size, words):
    """Give a line of ``size`` entries the words of another."""
    for e in range(size + 1):
        words.start[line, e] = words.start[other, e]
    for i in range(words.start[line, size]):
        for place in range(3):
            words.codes[line, i, place] = words.codes[other, i, place]


@jitable
def _line_with_same_words(line, lists):
    """Return an earlier line with the same masks and entries, so with the same words; or -1."""
    for other in range(line):
        same = lists.like[line] == lists.like[other]
        for digit in range(9):
            same &= lists.masks[line, digit] == lists.masks[other, digit]
        if same:
            return other
    return -1


@jitable
def _sort_words(line, count, tables, maps, lists, words):
    """Write a line's words from the codes of its maps, but for entries that were dropped."""
    keys = lists.keys[line]
    size = lists.size[line]
    codes = words.codes[line]
    start = words.start[line]
    # Where the words of entry e begin is kept at e + 1 at first, and moves on to their end.
    start[0], begin = 0, 0
    for e in range(size):
        start[e + 1] = begin
        begin += lists.multiplicity[line, e] * lists.divisor[line]
    for i in range(count):
        e = find_key(key_of(maps[i], tables), keys, size)
        if e >= 0:
            word = codes[start[e + 1]]
            for place in range(3):
                word[place] = code_at(maps[i], place)
            start[e + 1] += 1
    for e in range(size):
        _sort_few(codes, start[e], start[e + 1])


@jitable
def _sort_few(codes, first, last):
    """Sort words[first:last], twelve at most, by their codes."""
    for i in range(first + 1, last):
        one = codes[i, 0]
        two = codes[i, 1]
        three = codes[i, 2]
        at = i
        while at > first and _is_before(one, two, three, codes[at - 1]):
            for place in range(3):
                codes[at, place] = codes[at - 1, place]
            at -= 1
        codes[at, 0], codes[at, 1], codes[at, 2] = one, two, three


@jitable
def _is_before(one, two, three, other):
    """Say whether three codes come before those of another word."""
    if one != other[0]:
        return one < other[0]
    if two != other[1]:
        return two < other[1]
    return three < other[2]


@jitable
def mark_fitting(tables, lists, numbering, roles, fitting):
    """Write ``fitting``: which entries fit, wherever a crossing line meets a summed one."""
    one = np.uint64(1)
    for crossing in range(3):
        x = roles.crossing[crossing]
        size = lists.size[x]
        keys = lists.keys[x]
        width = (size + WORD - 1) // WORD
        fitting.width[crossing] = width
        for summed in range(3):
            line = roles.summed[summed]
            sets = fitting.sets[crossing, summed]
            numbers = numbering.number[line, x % 3]
            sets[: roles.shape[summed, crossing] * width] = np.uint64(0)
            for e in range(size):
                orthogonal = tables.orthogonal[partition_at(keys[e], line % 3)]
                for i in range(ORTHOGONAL):
                    number = np.int64(numbers[orthogonal[i]])
                    if number >= 0:
                        sets[number * width + e // WORD] |= one << np.uint64(e % WORD)


REMAINDER = 3
"""The column of ``find_cells``'s cells after A, B and C."""


class Relabelling(Group):
    """What leads from the least pair of an orbit to each of its pairs. ``relabel`` writes it.

    Rows are positions in ``Orbits.members``.
    """

    digits = array_of(np.uint8, PAIRS, 9)
    """What every digit becomes, all counted from 0."""
    names = array_of(np.uint8, PAIRS, 6)
    """What becomes of the names of every line's sets, as an index of ``Tables.permutations``."""


class Asked(NamedTuple):
    """Numbers of solutions, sorted by pairs."""

    pairs: NDArray[np.int32]
    """int32 (pairs, 3): some rows of ``Orbits.pairs``, in their order."""
    start: NDArray[np.int64]
    """int64 (pairs + 1): where the numbers of each begin; then their end."""
    numbers: NDArray[np.int64]
    """int64 (numbers): within the pair, divided by the divisors of all lines."""


def relabel(count, tables, symmetries, orbits, relabelling):
    """Write ``relabelling`` of so many pairs."""
    for i in range(count):
        digits = relabelling.digits[i]
        names = relabelling.names[i]
        before = orbits.parent[i]
        s = orbits.symmetry[i]
        for digit in range(9):
            digits[digit] = digit
            if before >= 0:
                digits[digit] = symmetries.digits[s, relabelling.digits[before, digit]]
        for line in range(6):
            names[line] = 0
            if before >= 0:
                earlier = relabelling.names[before, line]
                names[line] = compose(symmetries.names[s, line], earlier, tables.permutations)


def build_find_cells(entry: Any, total: Any) -> Callable[..., None]:
    """Make ``find_cells`` for slabs of one width; see ``pair_sums.build_pair_sum``."""
    gather_group, sum_pair = build_pair_sum(entry, total, keep=True)

    @jitable
    def dot_runs(left, right, length):
        """Return the dot product of two runs."""
        result = total(0)
        for l in range(length):  # noqa: E741
            result = total(result + total(total(left[l]) * total(right[l])))
        return np.int64(result)

    @jitable
    def descend(t, left_over, a, b, length, operands, slabs, cell):
        """Write the cell of a number among those of one term, and what is left of the number."""
        factor = slabs.factors[t]
        row = slabs.row
        number = left_over // factor
        lefts = slabs.gathered[LEFT]
        rights = slabs.gathered[RIGHT]
        at_q = slabs.terms[t, 0]
        at_r = slabs.terms[t, 1]
        for k in range(operands.start[A, a], operands.start[A, a + 1]):
            entry_of_a = operands.entries[A, k]
            left = lefts[row[LEFT, entry_of_a[Q]], at_q]
            right = rights[row[RIGHT, entry_of_a[R]], at_r]
            times = np.int64(entry_of_a[MULTIPLICITY])
            run = times * dot_runs(left, right, length)
            if number >= run:
                number -= run
                continue
            l = 0  # noqa: E741
            while True:
                product = times * left[l] * right[l]
                if number < product:
                    break
                number -= product
                l += 1  # noqa: E741
            cell[A], cell[B] = k, operands.start[B, b] + l
            cell[REMAINDER] = number * factor + left_over % factor
            return

    def find_cells(summed, asked, roles, operands, tensors, stop, slabs, cells):
        """Write the cells of numbers.

        summed says whether the slabs hold the sums of the one pair that is asked for, as an earlier
        call left them; they are only read then. cells is int64 (numbers, 4): the entries of A, B
        and C, and the number within the cell, divided by the divisors of all lines. stop is int64
        (1); once it is not 0 no more pairs are looked at, and the rest is left as it is.
        """
        pairs = asked.pairs
        first = 0
        last = len(asked.pairs)
        while first < last:
            b = pairs[first, 0]
            end = end_of_group(first, last, pairs)
            if not summed:
                length = gather_group(first, end, pairs, roles, operands, tensors, slabs)
                slabs.held[LENGTH] = length
            length = slabs.held[LENGTH]
            for pair in range(first, end):
                if stop[0] != 0:
                    return
                a = pairs[pair, 1]
                if not summed:
                    sum_pair(a, b, length, roles, operands, tensors, slabs)
                    slabs.held[TERMS] = _accumulate(operands, slabs)
                count = slabs.held[TERMS]
                for i in range(asked.start[pair], asked.start[pair + 1]):
                    t = _find_term(asked.numbers[i], slabs.totals, count)
                    before = slabs.totals[t - 1] if t > 0 else 0
                    number = asked.numbers[i] - before
                    cells[i, C] = slabs.chosen[t]
                    descend(t, number, a, b, length, operands, slabs, cells[i])
            first = end

    return find_cells


find_narrow = build_find_cells(np.int16, np.int32)
"""``find_cells`` where ``narrow_enough`` holds."""
find_wide = build_find_cells(np.int32, np.int64)
"""``find_cells`` for every other board."""


@jitable
def _accumulate(operands, slabs):
    """Turn ``slabs.totals`` into the number of solutions up to each term; return how many terms.

    Writes ``slabs.chosen``, too.
    """
    entries = operands.entries[C]
    count = 0
    solutions = np.int64(0)
    for e in range(operands.start[C, -1]):
        if slabs.pivots[entries[e, P]] != 0:
            solutions += slabs.factors[count] * slabs.totals[count]
            slabs.totals[count] = solutions
            slabs.chosen[count] = e
            count += 1
    return count


@jitable
def _find_term(number, totals, count):
    """Return the first index whose total is larger than the number."""
    low = 0
    high = count
    while low < high:
        middle = (low + high) // 2
        if totals[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low


def choose_words(cells, lists, roles, operands, tensors, words, fitting, chosen):
    """Write the six words of solutions.

    cells is int64 (solutions, 4), as ``find_cells`` writes them, but the number within the cell is
    not divided. chosen is int32 (solutions, 6): the index of each line's word.
    """
    for i in range(len(cells)):
        cell = cells[i]
        number = cell[REMAINDER]
        for crossing in (R, Q, P):
            ways = _ways(crossing, cell, lists, roles, operands, tensors)
            x = roles.crossing[crossing]
            chosen[i, x] = _fitting_word(
                crossing, number % ways, cell, roles, operands, words.start[x], fitting
            )
            number //= ways
        for summed in (C, B, A):
            line = roles.summed[summed]
            e = operands.listed[summed, cell[summed]]
            start = np.int64(words.start[line, e])
            ways = words.start[line, e + 1] - start
            chosen[i, line] = start + number % ways
            number //= ways


@jitable
def _ways(crossing, cell, lists, roles, operands, tensors):
    """Return the number of words of P, Q or R that fit the entries of a cell."""
    number_of_a = np.int64(operands.entries[A, cell[A], crossing])
    number_of_b = np.int64(operands.entries[B, cell[B], crossing])
    number_of_c = np.int64(operands.entries[C, cell[C], crossing])
    row = number_of_c * roles.shape[A, crossing] + number_of_a
    value = tensors.entries[roles.tensor[crossing], row * roles.shape[B, crossing] + number_of_b]
    return np.int64(value) * lists.divisor[roles.crossing[crossing]]


@jitable
def _fitting_word(crossing, number, cell, roles, operands, start, fitting):
    """Return the word of P, Q or R that has a number among those that fit a cell."""
    width = fitting.width[crossing]
    sets = fitting.sets[crossing]
    of_a = width * operands.entries[A, cell[A], crossing]
    of_b = width * operands.entries[B, cell[B], crossing]
    of_c = width * operands.entries[C, cell[C], crossing]
    for w in range(width):
        both = sets[A, of_a + w] & sets[B, of_b + w] & sets[C, of_c + w]
        while both != np.uint64(0):
            e = w * WORD + lowest_index(both)
            both &= both - np.uint64(1)
            ways = start[e + 1] - start[e]
            if number < ways:
                return start[e] + number
            number -= ways
    return -1


def write_grids(chosen, positions, targets, tables, words, relabelling, grids):
    """Write solutions as grids.

    chosen is int32 (solutions, 6), as ``choose_words`` writes it; positions int64 (solutions):
    those of the pairs that they belong to; targets int64 (solutions): the rows of ``grids`` that
    they are written to. grids is uint8 (rows, 81), digits from 1 on.
    """
    for i in range(len(chosen)):
        digits = relabelling.digits[positions[i]]
        names = relabelling.names[positions[i]]
        grid = grids[targets[i]]
        for band in range(3):
            across = words.codes[3 + band, chosen[i, 3 + band]]
            rows = tables.permutations[names[3 + band]]
            for stack in range(3):
                columns = tables.permutations[names[stack]]
                by_row = np.int64(across[stack])
                by_column = np.int64(words.codes[stack, chosen[i, stack], band])
                for digit in range(9):
                    row = rows[by_row % 3]
                    column = columns[by_column % 3]
                    grid[27 * band + 9 * row + 3 * stack + column] = digits[digit] + 1
                    by_row = by_row // 3
                    by_column = by_column // 3
