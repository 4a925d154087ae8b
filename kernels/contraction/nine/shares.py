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

Exactness. What goes for the slabs and dot products goes as in ``dot``. ``products`` are sums over
the c of one number, whose multiplicities add up to 94,080 / 280 = 336 < TILE at most, so that they
stay below what is proven for dot products of TILE terms. Every other number counts solutions of a
pair, times the size of its orbit, or adds some of these up that are disjoint; the sum of all is
``PENDING``, which is not let pass 2^62: a sweep ends before it would. Without clues all solutions
together, over all divisors, are less than 2^57, and so they are with clues: see
``docs/contraction.md``. So a sweep ends early only where candidates were taken away by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import int16, int32, int64
from numpy.typing import NDArray

from gpusudoku.kernels.contraction.nine.arrays import (
    MOST_ENTRIES,
    MULTIPLICITY,
    PARTITIONS,
    A,
    B,
    C,
    P,
    Q,
    R,
)
from gpusudoku.kernels.contraction.nine.dot import build_slabs, end_of_group
from gpusudoku.kernels.contraction.nine.slabs import LEFT, RIGHT, STRIDE, TILE
from gpusudoku.kernels.contraction.nine.turns import KINDS
from gpusudoku.kernels.groups import Group
from gpusudoku.kernels.kernel import jitable

FIRST, LAST, USED, PENDING, MOST, SUM_LOW, SUM_HIGH, FIELDS = range(8)
"""Fields of ``Ledger.state``, and their number."""


class Ledger(Group):
    """Where one thread keeps its sums by kinds. A sweep writes it."""

    state: NDArray[np.int64]
    """int64 (FIELDS): the pairs FIRST to before LAST are to be summed, USED solutions of the first
    pair's orbit were already. PENDING, MOST at most, is what the environments hold, the sum of all
    is SUM_HIGH * 2^32 + SUM_LOW."""
    by_a: NDArray[np.int64]
    """int64 (280, STRIDE): by number of C at P and kind of a."""
    by_b: NDArray[np.int64]
    """int64 (280, STRIDE): by number of C at P and kind of b."""
    by_c: NDArray[np.int64]
    """int64 (MOST_ENTRIES): by kind of C at P."""
    columns: NDArray[np.int64]
    """int64 (2, STRIDE): sums over the k of one kind, and of all, for every l."""
    pivots: NDArray[np.int64]
    """int64 (280): the tensor of P at one (a, b)."""
    joined: NDArray[np.int64]
    """int64 (280, STRIDE): by number of P at C and kind of a: ``by_a`` of what is orthogonal."""
    joined_for: NDArray[np.int64]
    """int64 (280): the pair for which that is written."""
    touched: NDArray[np.int64]
    """int64 (280): by number of P at A, whether ``of_c`` and ``of_b`` are in use."""
    of_c: NDArray[np.int64]
    """int64 (280, MOST_ENTRIES): ``by_c``, added up over the a that are orthogonal to a number of P
    at A."""
    of_b: NDArray[np.int64]
    """int64 (280, 280, STRIDE): ``by_b`` likewise."""
    start: NDArray[np.int64]
    """int64 (281): where in ``fitting`` the entries of every number at A begin; then their end."""
    fitting: NDArray[np.int16]
    """int16 (MOST_ENTRIES): the entries of P that are orthogonal to b, by their numbers at A."""
    products: NDArray[np.int32] | NDArray[np.int64]
    """(TILE): the sum of T over the c of one number, for some k and all l; 64 bits for wide slabs,
    else 32."""


def make_ledger(wide: bool) -> Ledger:
    """Room for one thread's sums: 75 MB; what a board does not touch takes no memory."""
    most, n = MOST_ENTRIES, PARTITIONS
    return Ledger(
        state=(np.int64, (FIELDS,)),
        by_a=(np.int64, (n, STRIDE)),
        by_b=(np.int64, (n, STRIDE)),
        by_c=(np.int64, (most,)),
        columns=(np.int64, (2, STRIDE)),
        pivots=(np.int64, (n,)),
        joined=(np.int64, (n, STRIDE)),
        joined_for=(np.int64, (n,)),
        touched=(np.int64, (n,)),
        products=(np.int64 if wide else np.int32, (TILE,)),
        start=(np.int64, (n + 1,)),
        fitting=(np.int16, (most,)),
        of_c=(np.int64, (n, most)),
        of_b=(np.int64, (n, n, STRIDE)),
    )


@jitable
def _find_fitting(b, pivot, shape, ledger):
    """Write which entries of P are orthogonal to b."""
    start, touched = ledger.start, ledger.touched
    start[:] = 0
    # ``touched`` marks the orthogonal numbers at B for the moment.
    touched[:] = 0
    for i in range(pivot.lengths[B, b]):
        touched[pivot.numbers[B, b, i]] = 1
    for e in range(pivot.size[0]):
        if touched[pivot.entries[e, B]]:
            start[pivot.entries[e, A]] += 1
    for i in range(PARTITIONS):
        start[i + 1] += start[i]
    for e in range(pivot.size[0] - 1, -1, -1):
        if touched[pivot.entries[e, B]]:
            start[pivot.entries[e, A]] -= 1
            ledger.fitting[start[pivot.entries[e, A]]] = e
    touched[:] = 0


@jitable
def _clear(a_kinds, b_kinds, a, b, turn, tensors, ledger):
    """Clear what is written for a pair, and write its pivots; say whether there may be any sum."""
    shape, first = turn.roles.shape, turn.pivot.first
    tensor, width = tensors.entries[turn.roles.tensor[P]], shape[B, P]
    some = False
    for x in range(shape[C, P]):
        value = np.int64(tensor[(x * shape[A, P] + a) * width + b])
        ledger.pivots[x] = value
        if value != 0:
            some = True
        for i in range(a_kinds):
            ledger.by_a[x, i] = 0
        for i in range(b_kinds):
            ledger.by_b[x, i] = 0
    for kind in range(first[C, shape[C, P]]):
        ledger.by_c[kind] = 0
    return some


@jitable
def _total(a_kinds, shape, ledger):
    """Return the number of solutions of a pair."""
    total = np.int64(0)
    for x in range(shape[C, P]):
        if ledger.pivots[x] != 0:
            for i in range(a_kinds):
                total += ledger.pivots[x] * ledger.by_a[x, i]
    return total


@jitable
def _take(total, size, ledger):
    """Return how many members of an orbit can be added, and book them."""
    state = ledger.state
    times = np.int64(size) - state[USED]
    if total > 0:
        times = min(times, (state[MOST] - state[PENDING]) // total)
    state[PENDING] += times * total
    state[SUM_LOW] += times * (total & 0xFFFFFFFF)
    state[SUM_HIGH] += times * (total >> 32)
    state[USED] += times
    return times


@jitable
def _multiply(times, a_kinds, b_kinds, turn, ledger):
    """Multiply the sums of a pair."""
    shape, first = turn.roles.shape, turn.pivot.first
    if times == 1:
        return
    for x in range(shape[C, P]):
        for i in range(a_kinds):
            ledger.by_a[x, i] *= times
        for i in range(b_kinds):
            ledger.by_b[x, i] *= times
    for kind in range(first[C, shape[C, P]]):
        ledger.by_c[kind] *= times


@jitable
def _join_pair(pair, a, b_kinds, turn, environment, ledger):
    """Add a pair to the environment of A, and to what is kept of its group."""
    pivot, shape = turn.pivot, turn.roles.shape
    first, joined = pivot.first, ledger.joined
    a_kinds = first[A, a + 1] - first[A, a]
    kinds, numbers = first[C, shape[C, P]], shape[C, P]
    for i in range(pivot.lengths[A, a]):
        at_a = np.int64(pivot.numbers[A, a, i])
        if ledger.start[at_a] == ledger.start[at_a + 1]:
            continue
        _keep(at_a, kinds, numbers, b_kinds, ledger)
        offset = pivot.offset[A, at_a, a]
        for f in range(ledger.start[at_a], ledger.start[at_a + 1]):
            entry = pivot.entries[ledger.fitting[f]]
            z, times = np.int64(entry[C]), np.int64(entry[MULTIPLICITY])
            if ledger.joined_for[z] != pair:
                ledger.joined_for[z] = pair
                for k in range(a_kinds):
                    joined[z, k] = 0
                for j in range(pivot.lengths[C, z]):
                    x = pivot.numbers[C, z, j]
                    for k in range(a_kinds):
                        joined[z, k] += ledger.by_a[x, k]
            to = pivot.begin[A, entry[KINDS + A]] + offset
            for k in range(a_kinds):
                environment[to + k] += times * joined[z, k]


@jitable
def _keep(at_a, kinds, numbers, b_kinds, ledger):
    """Add a pair to what is kept of its group for one number of P at A."""
    of_c, of_b = ledger.of_c[at_a], ledger.of_b[at_a]
    if ledger.touched[at_a]:
        for kind in range(kinds):
            of_c[kind] += ledger.by_c[kind]
        for x in range(numbers):
            for k in range(b_kinds):
                of_b[x, k] += ledger.by_b[x, k]
    else:
        ledger.touched[at_a] = 1
        for kind in range(kinds):
            of_c[kind] = ledger.by_c[kind]
        for x in range(numbers):
            for k in range(b_kinds):
                of_b[x, k] = ledger.by_b[x, k]


@jitable
def _join_group(b, turn, environment, ledger):
    """Add what is kept of a group to the environments of B and C."""
    pivot, numbers = turn.pivot, turn.roles.shape[A, P]
    first = pivot.first
    b_kinds = first[B, b + 1] - first[B, b]
    for at_a in range(PARTITIONS):
        if not ledger.touched[at_a]:
            continue
        ledger.touched[at_a] = 0
        of_c, of_b = ledger.of_c[at_a], ledger.of_b[at_a]
        for f in range(ledger.start[at_a], ledger.start[at_a + 1]):
            entry = pivot.entries[ledger.fitting[f]]
            z, times = np.int64(entry[C]), np.int64(entry[MULTIPLICITY])
            to_c = pivot.begin[C, entry[KINDS + C]]
            to_b = pivot.begin[B, entry[KINDS + B]] + pivot.offset[B, entry[B], b]
            for j in range(pivot.lengths[C, z]):
                x = np.int64(pivot.numbers[C, z, j])
                for kind in range(first[C, x], first[C, x + 1]):
                    environment[to_c] += times * of_c[kind]
                    to_c += 1
                for k in range(b_kinds):
                    environment[to_b + k] += times * of_b[x, k]


def build_sweep(entry: Any, total: Any) -> Callable[..., None]:
    """Make ``sweep`` for slabs of one width; see ``build_pair_sum``."""
    gather_group, lay_out = build_slabs(entry)

    @jitable
    def add_products(k, runs, length, a, b, turn, slabs, ledger):
        """Add some runs of a pair to its sums by kinds."""
        roles, operands, _, pivot = turn
        left, right, products = slabs.slab[LEFT], slabs.slab[RIGHT], ledger.products
        entries, kinds, first = operands.entries[C], pivot.kind[C], pivot.first
        several = first[A, a + 1] - first[A, a] > 1 or first[B, b + 1] - first[B, b] > 1
        size = runs * length
        for x in range(roles.shape[C, P]):
            if ledger.pivots[x] == 0:
                continue
            together = np.int64(0)
            if several:
                products[:size] = 0
            for e in range(operands.start[C, x], operands.start[C, x + 1]):
                times = entries[e, MULTIPLICITY]
                row, other = left[entries[e, Q]], right[entries[e, R]]
                one = total(0)
                if several:
                    for i in range(size):
                        product = total(total(row[i]) * total(other[i]))
                        one = total(one + product)
                        products[i] = total(products[i] + total(product * times))
                else:
                    for i in range(size):
                        one = total(one + total(total(row[i]) * total(other[i])))
                value = np.int64(one) * times
                ledger.by_c[kinds[e]] += value
                together += value
            if several:
                add_kinds(x, k, runs, length, a, b, turn, ledger)
            else:
                ledger.by_a[x, 0] += together
                ledger.by_b[x, 0] += together

    @jitable
    def add_kinds(x, k, runs, length, a, b, turn, ledger):
        """Add the products of some runs, for one number of C, to the sums by kinds of A and B."""
        products, of_kind, of_all = ledger.products, ledger.columns[0], ledger.columns[1]
        operands, kinds = turn.operands, turn.pivot.kind
        first_a, first_b = turn.pivot.first[A, a], turn.pivot.first[B, b]
        of_all[:length] = 0
        run = 0
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
            ledger.by_a[x, kind - first_a] += some
        start = operands.start[B, b]
        for l in range(operands.start[B, b + 1] - start):  # noqa: E741
            ledger.by_b[x, kinds[B, start + l] - first_b] += of_all[l]

    def sweep(turn, tensors, environment, slabs, ledger):
        """Add pairs to the environments until all are, or until these are full.

        Which pairs, and how far it came, stands in ``ledger.state``.
        """
        roles, operands, orbits, pivot = turn
        start, pairs, state = operands.start, orbits.pairs, ledger.state
        ledger.joined_for[:] = -1
        full = False
        while state[FIRST] < state[LAST] and not full:
            b, end = pairs[state[FIRST], 0], end_of_group(state[FIRST], state[LAST], pairs)
            length = gather_group(state[FIRST], end, pairs, roles, operands, tensors, slabs)
            b_kinds = pivot.first[B, b + 1] - pivot.first[B, b]
            _find_fitting(b, pivot, roles.shape, ledger)
            for pair in range(state[FIRST], end):
                a = pairs[pair, 1]
                a_kinds = pivot.first[A, a + 1] - pivot.first[A, a]
                if _clear(a_kinds, b_kinds, a, b, turn, tensors, ledger):
                    k, stop = start[A, a], start[A, a + 1]
                    while k < stop:
                        runs = min(TILE // length, stop - k)
                        lay_out(k, runs, length, roles, operands, slabs)
                        add_products(k, runs, length, a, b, turn, slabs, ledger)
                        k += runs
                    size = np.int64(pairs[pair, 2])
                    times = _take(_total(a_kinds, roles.shape, ledger), size, ledger)
                    _multiply(times, a_kinds, b_kinds, turn, ledger)
                    _join_pair(pair, a, b_kinds, turn, environment, ledger)
                    if state[USED] < size:
                        full = True
                        break
                state[FIRST], state[USED] = pair + 1, 0
            _join_group(b, turn, environment, ledger)

    return jitable(sweep)


sweep_narrow = build_sweep(int16, int32)
"""``sweep`` where ``narrow_enough`` holds."""
sweep_wide = build_sweep(int32, int64)
"""``sweep`` for every other board."""
