"""The environments of a turn: pairs are summed as for counting, and kept apart by kinds.

For a pair (a, b) let T(c, k, l) be the product that counts the solutions (up to divisors) of the
entries c, k and l, but for the tensor of P. From it come, for the numbers c_P of C at P,

    by_c[kind of c at P]     = sum of T over k, l and the c of that kind
    by_a[c_P][kind of k]     = sum of T over l, the c with that number and the k of that kind
    by_b[c_P][kind of l]     = the same with k and l exchanged

An entry y of P that is orthogonal to a and b has its multiplicity times by_c solutions with each
kind of c at an orthogonal c_P; and times the sum of by_a over the orthogonal c_P with each kind of
k. So much is added to the environments, at the kind of y at C, at A and at B. All pairs of a group
have the same b, so their ``by_c`` and ``by_b`` are added up for every number y_A first.

Exactness. Slabs and dot products are bounded as in ``pair_sums``. ``products`` are sums over the c
of one number, whose multiplicities add up to 94,080 / 280 = 336 < TILE at most, so that they stay
below what is proven for dot products of TILE terms. Every other number counts solutions of a
pair, times the size of its orbit, or adds some of these up that are disjoint; the sum of all is
``PENDING``. A sweep ends before it would pass 2^62, which happens only if candidates were removed
by hand. A board that is given by clues has fewer than 2^57 solutions over all six divisors:

- Exchange the columns of each stack and the rows of each band in all 6^6 ways. If s of the
  exchanges of a line keep its clues, s divides the line's divisor: the exchanges permute the words
  of an entry, and only the identity keeps a word.
- The 6^6 / (s_1 * ... * s_6) different boards have equally many solutions, and share none, because
  any two of them want one digit in two places of a box.
- So the solutions over the divisors are at most those of the empty board over 6^6, which are
  142,980,618,827,612,160 < 2^57.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.arguments import Kind, float64, int64, kind_of
from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, A, B, C, P, Q, R, make_workspace
from gpusudoku.kernels.contraction.nine.environments import (
    Found,
    collect,
    find_fitting,
    join_group,
    join_pair,
)
from gpusudoku.kernels.contraction.nine.orbits import find_symmetries
from gpusudoku.kernels.contraction.nine.order import Words
from gpusudoku.kernels.contraction.nine.pair_sums import (
    LEFT,
    RIGHT,
    TILE,
    build_slabs,
    end_of_group,
    make_slabs,
)
from gpusudoku.kernels.contraction.nine.tensors import choose_turn
from gpusudoku.kernels.contraction.nine.turns import (
    FIRST,
    LAST,
    MOST,
    PENDING,
    USED,
    Known,
    Naming,
    Turn,
    make_ledger,
    make_turn,
    make_turn_arrays,
    name_entries,
)
from gpusudoku.kernels.kernel import Kernel, jitable, kernel


@jitable
def _clear(a_kinds, b_kinds, a, b, turn, tensors, ledger):
    """Clear what is written for a pair, and write its pivots; say whether there may be any sum."""
    shape = turn.roles.shape
    first = turn.pivot.first
    tensor = tensors.entries[turn.roles.tensor[P]]
    width = shape[B, P]
    some = False
    for x in range(shape[C, P]):
        value = np.int64(tensor[(x * shape[A, P] + a) * width + b])
        ledger.pivots[x] = value
        if value != 0:
            some = True
    ledger.by_a[: shape[C, P] * a_kinds] = 0
    ledger.by_b[: shape[C, P] * b_kinds] = 0
    ledger.by_c[: first[C, shape[C, P]]] = 0
    return some


@jitable
def _total(a_kinds, shape, ledger):
    """Return the number of solutions of a pair."""
    total = np.int64(0)
    for x in range(shape[C, P]):
        if ledger.pivots[x] != 0:
            for i in range(a_kinds):
                total += ledger.pivots[x] * ledger.by_a[x * a_kinds + i]
    return total


@jitable
def _take(total, size, ledger):
    """Return how many members of an orbit can be added, and book them."""
    state = ledger.state
    times = np.int64(size) - state[USED]
    if total > 0:
        times = min(times, (state[MOST] - state[PENDING]) // total)
    state[PENDING] += times * total
    state[USED] += times
    return times


@jitable
def _multiply(times, a_kinds, b_kinds, turn, ledger):
    """Multiply the sums of a pair."""
    shape = turn.roles.shape
    first = turn.pivot.first
    if times == 1:
        return
    for i in range(shape[C, P] * a_kinds):
        ledger.by_a[i] *= times
    for i in range(shape[C, P] * b_kinds):
        ledger.by_b[i] *= times
    for kind in range(first[C, shape[C, P]]):
        ledger.by_c[kind] *= times


def build_sweep(entry: Any, total: Any) -> Callable[..., None]:
    """Make ``sweep`` for slabs of one width; see ``build_pair_sum``."""
    gather_group, lay_out = build_slabs(entry)

    @jitable
    def add_products(k, runs, length, a, b, turn, slabs, ledger):
        """Add some runs of a pair to its sums by kinds."""
        roles, operands, _, pivot = turn
        first = pivot.first
        start = operands.start[C]
        several = first[A, a + 1] - first[A, a] > 1 or first[B, b + 1] - first[B, b] > 1
        size = runs * length
        for x in range(roles.shape[C, P]):
            if ledger.pivots[x] == 0:
                continue
            kind = np.int64(first[C, x])
            e = start[x]
            stop = start[x + 1]
            apart = first[C, x + 1] - kind > 1
            if several:
                ledger.products[:size] = 0
            together = np.int64(0)
            while e + 4 <= stop:
                together += add_four(e, size, several, apart, turn, slabs, ledger)
                e += 4
            while e < stop:
                together += add_one(e, size, several, apart, turn, slabs, ledger)
                e += 1
            if several and first[B, b + 1] - first[B, b] == 1:
                together = add_runs(x, k, runs, length, a, turn, ledger)
                ledger.by_b[x] += together
            elif several:
                together = add_kinds(x, k, runs, length, a, b, turn, ledger)
            else:
                ledger.by_a[x] += together
                ledger.by_b[x] += together
            if not apart:
                ledger.by_c[kind] += together

    @jitable
    def add_one(e, size, several, apart, turn, slabs, ledger):
        """Add one entry of C and return its sum, if that is needed.

        It is added to ``products`` if there are several kinds of A or B, and to its own kind if C
        has another one ``apart`` from it.
        """
        numbers = turn.operands.entries[C, e]
        products = ledger.products[:size]
        row = slabs.slab[LEFT, numbers[Q], :size]
        other = slabs.slab[RIGHT, numbers[R], :size]
        times = np.int64(numbers[MULTIPLICITY])
        one = total(0)
        if several:
            for i in range(size):
                product = total(total(row[i]) * total(other[i]))
                products[i] += total(product * total(times))
        if apart or not several:
            for i in range(size):
                one = total(one + total(total(row[i]) * total(other[i])))
        if apart:
            ledger.by_c[turn.pivot.kind[C, e]] += times * one
        return times * one

    @jitable
    def add_four(e, size, several, apart, turn, slabs, ledger):
        """Add four entries of C at once: the products are loaded and stored less often."""
        entries = turn.operands.entries[C, e : e + 4]
        kinds = turn.pivot.kind[C, e : e + 4]
        left = slabs.slab[LEFT]
        right = slabs.slab[RIGHT]
        products = ledger.products[:size]
        u0 = left[entries[0, Q], :size]
        v0 = right[entries[0, R], :size]
        u1 = left[entries[1, Q], :size]
        v1 = right[entries[1, R], :size]
        u2 = left[entries[2, Q], :size]
        v2 = right[entries[2, R], :size]
        u3 = left[entries[3, Q], :size]
        v3 = right[entries[3, R], :size]
        t0 = entry(entries[0, MULTIPLICITY])
        t1 = entry(entries[1, MULTIPLICITY])
        t2 = entry(entries[2, MULTIPLICITY])
        t3 = entry(entries[3, MULTIPLICITY])
        s0 = total(0)
        s1 = total(0)
        s2 = total(0)
        s3 = total(0)
        if several:
            for i in range(size):
                one = total(total(entry(u0[i] * t0)) * total(v0[i]))
                two = total(total(entry(u1[i] * t1)) * total(v1[i]))
                three = total(total(entry(u2[i] * t2)) * total(v2[i]))
                four = total(total(entry(u3[i] * t3)) * total(v3[i]))
                products[i] += total(total(one + two) + total(three + four))
        if apart or not several:
            for i in range(size):
                s0 = total(s0 + total(total(u0[i]) * total(v0[i])))
                s1 = total(s1 + total(total(u1[i]) * total(v1[i])))
                s2 = total(s2 + total(total(u2[i]) * total(v2[i])))
                s3 = total(s3 + total(total(u3[i]) * total(v3[i])))
        r0 = np.int64(s0) * np.int64(t0)
        r1 = np.int64(s1) * np.int64(t1)
        r2 = np.int64(s2) * np.int64(t2)
        r3 = np.int64(s3) * np.int64(t3)
        if apart:
            by_c = ledger.by_c
            by_c[kinds[0]] += r0
            by_c[kinds[1]] += r1
            by_c[kinds[2]] += r2
            by_c[kinds[3]] += r3
        return r0 + r1 + r2 + r3

    @jitable
    def add_runs(x, k, runs, length, a, turn, ledger):
        """Add the products of some runs, for one number of C, to the sums by kinds of A alone.

        Returns the sum of all.
        """
        kinds = turn.pivot.kind[A]
        first = turn.pivot.first[A]
        together = np.int64(0)
        at_a = x * np.int64(first[a + 1] - first[a]) - first[a]
        for run in range(runs):
            products = ledger.products[run * length : (run + 1) * length]
            some = np.int64(0)
            for l in range(length):  # noqa: E741
                some += products[l]
            ledger.by_a[at_a + kinds[k + run]] += some
            together += some
        return together

    @jitable
    def add_kinds(x, k, runs, length, a, b, turn, ledger):
        """Add the products of some runs, for one number of C, to the sums by kinds of A and B.

        Returns the sum of all.
        """
        products = ledger.products
        of_kind = ledger.columns[0]
        of_all = ledger.columns[1]
        operands = turn.operands
        kinds = turn.pivot.kind
        first_a = turn.pivot.first[A]
        first_b = turn.pivot.first[B]
        # Where the sums of this number begin, less the first kind.
        at_a = x * np.int64(first_a[a + 1] - first_a[a]) - first_a[a]
        at_b = x * np.int64(first_b[b + 1] - first_b[b]) - first_b[b]
        of_all[:length] = 0
        run = 0
        together = np.int64(0)
        while run < runs:
            kind = kinds[A, k + run]
            of_kind[:length] = 0
            while run < runs and kinds[A, k + run] == kind:
                for l in range(length):  # noqa: E741
                    of_kind[l] += products[run * length + l]
                run += 1
            some = np.int64(0)
            for l in range(length):  # noqa: E741
                some += of_kind[l]
                of_all[l] += of_kind[l]
            ledger.by_a[at_a + kind] += some
            together += some
        start = operands.start[B, b]
        for l in range(operands.start[B, b + 1] - start):  # noqa: E741
            ledger.by_b[at_b + kinds[B, start + l]] += of_all[l]
        return together

    def sweep(roles, operands, orbits, pivot, tensors, halt, environment, slabs, ledger):
        """Add pairs to the environments until all are, these are full, or ``halt`` is not 0.

        Which pairs, and how far it came, stands in ``ledger.state``; halt is int64 (1). The first
        four are a ``Turn``, which Numba takes longer to recognize.
        """
        turn = Turn(roles, operands, orbits, pivot)
        start = operands.start
        pairs = orbits.pairs
        state = ledger.state
        ledger.joined_for[:] = -1
        full = False
        while state[FIRST] < state[LAST] and not full:
            b = pairs[state[FIRST], 0]
            end = end_of_group(state[FIRST], state[LAST], pairs)
            length = gather_group(state[FIRST], end, pairs, roles, operands, tensors, slabs)
            b_kinds = np.int64(pivot.first[B, b + 1] - pivot.first[B, b])
            find_fitting(b, pivot, ledger)
            for pair in range(state[FIRST], end):
                if halt[0] != 0:
                    full = True
                    break
                a = pairs[pair, 1]
                a_kinds = np.int64(pivot.first[A, a + 1] - pivot.first[A, a])
                if _clear(a_kinds, b_kinds, a, b, turn, tensors, ledger):
                    k = start[A, a]
                    stop = start[A, a + 1]
                    while k < stop:
                        runs = min(TILE // length, stop - k)
                        lay_out(k, runs, length, roles, operands, slabs)
                        add_products(k, runs, length, a, b, turn, slabs, ledger)
                        k += runs
                    size = np.int64(pairs[pair, 2])
                    times = _take(_total(a_kinds, roles.shape, ledger), size, ledger)
                    _multiply(times, a_kinds, b_kinds, turn, ledger)
                    join_pair(pair, a, b_kinds, turn, environment, ledger)
                    if state[USED] < size:
                        full = True
                        break
                state[FIRST], state[USED] = pair + 1, 0
            join_group(b, turn, environment, ledger)

    return jitable(sweep)


sweep_narrow = build_sweep(np.int16, np.int32)
"""``sweep`` where ``narrow_enough`` holds."""
sweep_wide = build_sweep(np.int32, np.int64)
"""``sweep`` for every other board."""


class ShareStages:
    """The stages after those that make the tensors; see ``NineStages``.

    ``tables`` is the type of the ``Tables``.
    """

    def __init__(self, tables: Kind) -> None:
        made = make_workspace()
        arrays = make_turn_arrays(made.roles)
        turn = kind_of(arrays)
        parts = [kind_of(part) for part in arrays]
        _, lists, numbering, roles, _, _, tensors, _, symmetries, _ = kind_of(made)
        words = kind_of(Words())
        naming = kind_of(Naming())
        environment = int64[::1]
        found = kind_of(Found())
        self.choose_turn = kernel(int64, lists, numbering, roles, returns=float64, seconds=0.3)(
            choose_turn
        )
        self.name_entries = kernel(lists, numbering, words, naming, seconds=1.2)(name_entries)
        masks = kind_of(np.zeros((6, 9), np.uint8))
        self.find_symmetries = kernel(masks, tables, symmetries, returns=int64, seconds=0.9)(
            find_symmetries
        )
        known = Known(tables, lists, numbering, naming)
        self.make_turn = kernel(int64, known, symmetries, turn, returns=int64, seconds=1.7)(
            make_turn
        )
        swept = *parts, tensors, int64[::1], environment
        place = f"{__name__}.sweep_narrow", f"{__name__}.sweep_wide"
        narrow = kind_of(make_slabs(wide=False)), kind_of(make_ledger(wide=False))
        wide = kind_of(make_slabs(wide=True)), kind_of(make_ledger(wide=True))
        self.sweep_narrow = kernel(*swept, *narrow, seconds=7.2, place=place[0])(sweep_narrow)
        self.sweep_wide = kernel(*swept, *wide, seconds=6.4, place=place[1])(sweep_wide)
        collected = int64, tables, numbering, naming, parts[0], parts[3], environment, found
        self.collect = kernel(*collected, seconds=1.2)(collect)

    def of_one_board(self) -> list[Kernel]:
        """What the shares of one board take, except the wide sweep, which few boards need."""
        return [self.choose_turn, self.name_entries, self.find_symmetries, self.make_turn,
                self.sweep_narrow, self.collect]  # fmt: skip
