"""Lists of the maps of a 9x9 board's stacks and bands. Special to 3x3 boxes.

See ``nine_space`` for the words used. Everything is a template for ``kernels.nine``: ``jit`` is the
compiler's decorator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import PARTITIONS
from gpusudoku.kernels.jit import Jit

GUARD = sum(4 << 3 * field for field in range(9))
"""The highest bits of nine counters of three bits: set in one that has passed 3."""


def build_allow(jit: Jit) -> Callable[..., None]:
    """Make ``allow(candidates, tables, space)``: candidates to ``space.masks``.

    candidates is uint64 (81): the digits still possible in every cell, digit 1 in the lowest bit.
    A permutation is allowed to a digit if in each of the three boxes of the line some cell of the
    column (of a stack; the row, of a band) has the digit as a candidate.
    """

    @jit
    def allow(candidates, tables, space):
        space.masks[:] = 0
        for digit in range(9):
            bit = np.uint64(1) << np.uint64(digit)
            rows, columns = 0, 0  # bit 9 * band + 3 * stack + line in the box
            for cell in range(81):
                if candidates[cell] & bit != np.uint64(0):
                    r, c = cell // 9, cell % 9
                    box = 9 * (r // 3) + 3 * (c // 3)
                    rows |= 1 << (box + r % 3)
                    columns |= 1 << (box + c % 3)
            for k in range(6):
                for line in range(3):
                    in_stack, in_band = True, True
                    for other in range(3):
                        step = tables.permutations[k, other]
                        in_stack &= (columns >> (9 * other + 3 * line + step)) & 1 == 1
                        in_band &= (rows >> (9 * line + 3 * other + step)) & 1 == 1
                    if in_stack:
                        space.masks[line, digit] |= np.uint8(1 << k)
                    if in_band:
                        space.masks[3 + line, digit] |= np.uint8(1 << k)

    return allow


def build_words(jit: Jit) -> Callable[..., int]:
    """Make ``words(masks, tables, ladder, keys)``: the key of every map of a line; their number.

    Digit by digit, those with the fewest permutations first, depth first; nine counters in one
    integer say how many digits every set has in each of the three boxes, three at most.
    """

    @jit
    def choices(mask):
        count = 0
        for k in range(6):
            count += (mask >> k) & 1
        return count

    @jit
    def words(masks, tables, ladder, keys):
        order, counts, word, left = ladder[0], ladder[1], ladder[2], ladder[3]
        for digit in range(9):
            i = digit
            while i > 0 and choices(masks[order[i - 1]]) > choices(masks[digit]):
                order[i] = order[i - 1]
                i -= 1
            order[i] = digit
        counts[0], word[0], left[0] = 0, 0, masks[order[0]]
        depth, found = 0, 0
        while depth >= 0:
            if left[depth] == 0:
                depth -= 1
                continue
            k = 0
            while (left[depth] >> k) & 1 == 0:
                k += 1
            left[depth] &= left[depth] - 1
            count = counts[depth] + tables.count_steps[k]
            if count & GUARD != 0:
                continue
            grown = word[depth] + tables.word_steps[order[depth], k]
            if depth < 8:
                depth += 1
                counts[depth], word[depth], left[depth] = count, grown, masks[order[depth]]
                continue
            # Nine digits, three sets, none above three: every word is balanced.
            first = np.int32(tables.partition_of[grown & 0xFFFF])
            second = np.int32(tables.partition_of[(grown >> 16) & 0xFFFF])
            keys[found] = (first << 18) | (second << 9) | np.int32(tables.partition_of[grown >> 32])
            found += 1
        return found

    return words


def build_list_line(jit: Jit) -> Callable[..., None]:
    """Make ``list_line(line, tables, space)``: distinct maps, sorted, and their multiplicities."""
    words = build_words(jit)

    @jit
    def sort(source, target, count, shift, counters):
        counters[:] = 0
        for i in range(count):
            counters[((source[i] >> shift) & 511) + 1] += 1
        for field in range(512):
            counters[field + 1] += counters[field]
        for i in range(count):
            field = (source[i] >> shift) & 511
            target[counters[field]] = source[i]
            counters[field] += 1

    @jit
    def list_line(line, tables, space):
        one, other = space.raw[0], space.raw[1]
        count = words(space.masks[line], tables, space.ladder, one)
        sort(one, other, count, 0, space.counters)
        sort(other, one, count, 9, space.counters)
        sort(one, other, count, 18, space.counters)
        keys, multiplicity = space.keys[line], space.multiplicity[line]
        last = -1
        for i in range(count):
            if last < 0 or keys[last] != other[i]:
                last += 1
                keys[last], multiplicity[last] = other[i], 0
            multiplicity[last] += 1
        space.size[line] = last + 1

    return list_line


def build_list_all(jit: Jit) -> Callable[..., bool]:
    """Make ``list_all(tables, space)``: all six lists, pruned; False if one is empty."""
    list_line = build_list_line(jit)
    prune = build_prune(jit)

    @jit
    def list_all(tables, space):
        for line in range(6):
            twin = -1  # lines of the same kind with the same masks have the same maps
            for other in range(3 * (line // 3), line):
                same = True
                for digit in range(9):
                    same &= space.masks[line, digit] == space.masks[other, digit]
                if same:
                    twin = other
            if twin < 0:
                list_line(line, tables, space)
            else:
                size = space.size[twin]
                space.size[line] = size
                for e in range(size):
                    space.keys[line, e] = space.keys[twin, e]
                    space.multiplicity[line, e] = space.multiplicity[twin, e]
            if space.size[line] == 0:
                return False
        return prune(tables, space)

    return list_all


def build_prune(jit: Jit) -> Callable[..., bool]:
    """Make ``prune(tables, space)``: drop maps that cross no map of some other line.

    Where stack and band meet in a box, their partitions must be orthogonal. Maps without any
    counterpart go, until none is left to drop; False once a line has no map. Then the
    multiplicities of every line are divided by their greatest common divisor.
    """

    @jit
    def mark(space, which, line, shift):
        space.marks[which] = np.uint64(0)
        for e in range(space.size[line]):
            x = np.int64((space.keys[line, e] >> shift) & 511)
            space.marks[which, x >> 6] |= np.uint64(1) << np.uint64(x & 63)

    @jit
    def keep(tables, space, which, line, shift):
        kept = 0
        for e in range(space.size[line]):
            key = space.keys[line, e]
            x = (key >> shift) & 511
            common = np.uint64(0)
            for w in range(5):
                common |= tables.orthogonal_bits[x, w] & space.marks[which, w]
            if common != np.uint64(0):
                space.keys[line, kept] = key
                space.multiplicity[line, kept] = space.multiplicity[line, e]
                kept += 1
        dropped = kept < space.size[line]
        space.size[line] = kept
        return dropped

    @jit
    def divide(space, line):
        divisor = np.int64(0)
        for e in range(space.size[line]):
            a, b = divisor, np.int64(space.multiplicity[line, e])
            while b:
                a, b = b, a % b
            divisor = a
        space.divisor[line] = divisor
        for e in range(space.size[line]):
            space.multiplicity[line, e] //= divisor

    @jit
    def prune(tables, space):
        changed = True
        while changed:
            changed = False
            for band in range(3):
                for stack in range(3):
                    at_band, at_stack = 18 - 9 * band, 18 - 9 * stack
                    mark(space, 0, stack, at_band)
                    mark(space, 1, 3 + band, at_stack)
                    changed |= keep(tables, space, 1, stack, at_band)
                    changed |= keep(tables, space, 0, 3 + band, at_stack)
                    if space.size[stack] == 0 or space.size[3 + band] == 0:
                        return False
        for line in range(6):
            divide(space, line)
        return True

    return prune


def build_occur(jit: Jit) -> Callable[..., None]:
    """Make ``occur(line, place, space)``: number the partitions that a coordinate has."""

    @jit
    def occur(line, place, space):
        number, partition = space.number[line, place], space.partition[line, place]
        number[:] = -1
        for e in range(space.size[line]):
            number[(space.keys[line, e] >> (18 - 9 * place)) & 511] = 0
        count = 0
        for x in range(PARTITIONS):
            if number[x] == 0:
                number[x] = count
                partition[count] = x
                count += 1
        space.occurring[line, place] = count

    return occur
