"""What the instructions that ``warp_code`` reads do to the 32 threads of a warp, in lock step.

Compiled by Numba, which makes a slow emulator a bearable one: two million instructions of a warp a
second. Where to go next is left to ``warp_machine``.
"""

from __future__ import annotations

import numba
import numpy as np
from warp_code import COMPLEMENT, NEGATIVE, NOT, OPERATIONS, TRUE, UNIFORM

THREADS = 32
EVERYONE = (1 << THREADS) - 1
WORD = 0xFFFFFFFF
(_, NOTHING, LOGIC, ADD, MULTIPLY, HIGH, LEFT, RIGHT, RIGHT_PAIR, EXTEND, SCALE, SCALE_HIGH, SELECT,
 PERMUTE, MOVE, REVERSE, HIGHEST, COUNT, COMPARE, LOAD, STORE, ATOMIC, PREDICATES, VOTE,
 SHUFFLE) = range(len(OPERATIONS))  # fmt: skip


@numba.njit
def signed(x):  # type: ignore[no-untyped-def]
    """A word as a number with a sign."""
    return x - ((x & 0x80000000) << 1)


@numba.njit
def choose(condition, yes, no):  # type: ignore[no-untyped-def]
    """The bits of one word where a condition's are set, and of another where they are not."""
    return no ^ (condition & (yes ^ no))


@numba.njit
def logic(table, a, b, c):  # type: ignore[no-untyped-def]
    """The bits that a table of truth has for three words: bit 4a + 2b + c of it."""
    first = choose(c, -(table >> 1 & 1), -(table & 1))
    second = choose(c, -(table >> 3 & 1), -(table >> 2 & 1))
    third = choose(c, -(table >> 5 & 1), -(table >> 4 & 1))
    fourth = choose(c, -(table >> 7 & 1), -(table >> 6 & 1))
    return choose(a, choose(b, fourth, third), choose(b, second, first)) & WORD


@numba.njit
def result(row, a, b, c, carry):  # type: ignore[no-untyped-def]
    """What an instruction makes of a thread's operands: two words, or one and its carry."""
    op = row.op
    if op == LOGIC:
        return logic(row.number, a, b, c)
    if op == ADD:
        return a + b + c + carry
    if op == MULTIPLY:
        return (signed(a) * signed(b) if row.signed else a * b) + c + carry
    if op == HIGH:
        return (a * b >> 32 & WORD) + c
    if op == MOVE:
        return c
    if op == SELECT:
        return a if carry else b
    if op == PERMUTE:
        found = 0
        for k in range(4):
            which = b >> 4 * k & 15
            byte = (c << 32 | a) >> 8 * (which & 7) & 255
            if which & 8:
                byte = 255 if byte & 128 else 0
            found |= byte << 8 * k
        return found
    if op == LEFT:
        shifted = (c << 32 | a) << b if b < 64 else 0
        return shifted >> 32 & WORD if row.high else shifted & WORD
    if op == RIGHT:
        return (signed(c) if row.signed else c) >> min(b, 63) & WORD
    if op == RIGHT_PAIR:
        return (a >> b | c << 32 - b if b < 32 else c >> min(b - 32, 63)) & WORD
    if op == SCALE:
        return (a << row.number & WORD) + b
    if op == SCALE_HIGH:
        return ((c << 32 | a) << row.number >> 32 & WORD) + b + carry
    if op == EXTEND:
        return a & (1 << min(b, 32)) - 1
    if op == COUNT:
        found = 0
        while a:
            found, a = found + 1, a & a - 1
        return found
    if op == HIGHEST:
        found = -1
        while a:
            found, a = found + 1, a >> 1
        return found & WORD
    found = 0  # REVERSE
    for k in range(32):
        found |= (a >> k & 1) << 31 - k
    return found


@numba.njit
def holds(row, a, b, low):  # type: ignore[no-untyped-def]
    """Whether a comparison of two words holds, 1 or 0.

    If they are high words, ``low`` says how the low ones compared.
    """
    if row.signed:
        a, b = signed(a), signed(b)
    if row.extended and a == b:
        return low
    kind = row.comparison
    if a == b:
        return np.int64(kind in (1, 3, 4))
    return np.int64(kind in (0, 1, 5) if a < b else kind in (2, 3, 5))


@numba.njit
def combined(row, found, given):  # type: ignore[no-untyped-def]
    """The result of a comparison with a condition, as the instruction wants it."""
    if row.combination == 0:
        return found & given
    return found | given if row.combination == 1 else found ^ given


@numba.njit
def mask_of(predicates, number):  # type: ignore[no-untyped-def]
    """The threads for which a predicate holds, as bits."""
    found = predicates[number & NOT - 1]
    return ~found & EVERYONE if number & NOT else found


@numba.njit
def value(values, source, lane):  # type: ignore[no-untyped-def]
    """A thread's value of a source."""
    found = values[source & COMPLEMENT - 1, lane]
    if source & COMPLEMENT:
        return ~found & WORD
    return -found & WORD if source & NEGATIVE else found


@numba.njit
def position(row, values, lane, spaces):  # type: ignore[no-untyped-def]
    """Where in the machine's memory a thread reads or writes; -1 if it may not."""
    base = values[row.a, lane]
    if not row.local:
        base |= values[row.a + 1, lane] << 32
    space = spaces[row.local]
    offset = base + row.number - space[0]
    if offset < 0 or offset + row.size > space[1] or offset % row.size:
        return -1
    return space[2] + lane * space[3] + offset


@numba.njit
def move(row, values, memory, words, place, lane):  # type: ignore[no-untyped-def]
    """Load or store what one thread does, or add to it."""
    given, taken, at = values[row.c : row.c + 4], values[row.d : row.d + 4], place // 4
    if row.op == ATOMIC:
        old = words[at] | np.int64(words[at + 1]) << 32
        new = old + (given[0, lane] | given[1, lane] << 32)
        words[at], words[at + 1] = new & WORD, new >> 32 & WORD
        taken[0, lane], taken[1, lane] = old & WORD, old >> 32 & WORD
    elif row.size == 1:
        if row.op == LOAD:
            taken[0, lane] = memory[place]
        else:
            memory[place] = given[0, lane] & 255
    else:
        for k in range(row.size // 4):
            if row.op == LOAD:
                taken[k, lane] = words[at + k]
            else:
                words[at + k] = given[k, lane]


@numba.njit
def transfer(row, values, memory, words, spaces, threads):  # type: ignore[no-untyped-def]
    """Let some threads load or store, one after the other; False if one of them may not."""
    for lane in range(THREADS):
        if threads >> lane & 1:
            place = position(row, values, lane, spaces)
            if place < 0:
                return False
            move(row, values, memory, words, place, lane)
    return True


@numba.njit
def exchange(row, values, p, threads):  # type: ignore[no-untyped-def]
    """Let some threads vote, or read what others have; returns what the vote says."""
    given, ballot = values[row.a].copy(), p & threads
    for lane in range(THREADS):
        if row.op == VOTE:
            if threads >> lane & 1 or row.d >= UNIFORM:
                values[row.d, lane] = ballot
        elif threads >> lane & 1:
            values[row.d, lane] = given[value(values, row.b, lane) & 31]
    return EVERYONE if ballot else 0


@numba.njit
def calculate(row, values, p, q, threads):  # type: ignore[no-untyped-def]
    """Let some threads calculate; returns the predicates that they find, as bits."""
    one = two = 0
    for lane in range(THREADS):
        if threads >> lane & 1 == 0:
            continue
        a, b = value(values, row.a, lane), value(values, row.b, lane)
        c, p_bit, q_bit = value(values, row.c, lane), p >> lane & 1, q >> lane & 1
        if row.op == COMPARE:
            found = holds(row, a, b, p_bit)
            one |= combined(row, found, q_bit) << lane
            two |= combined(row, 1 - found, q_bit) << lane
            continue
        if row.wide:
            c |= values[row.c + 1, lane] << 32
        found = result(row, a, b, c, p_bit + q_bit + row.plus)
        values[row.d, lane] = found & WORD
        if row.wide:
            values[row.d + 1, lane] = found >> 32 & WORD
        if row.op == LOGIC:
            one |= (np.int64(found != 0) | p_bit) << lane
        else:
            one |= np.int64(found >> 32 > 0) << lane
            two |= np.int64(found >> 32 > 1) << lane
    return one, two


@numba.njit
def bit_count(mask):  # type: ignore[no-untyped-def]
    """How many bits are set."""
    found = 0
    while mask:
        found, mask = found + 1, mask & mask - 1
    return found


@numba.njit
def set_predicate(predicates, number, threads, mask):  # type: ignore[no-untyped-def]
    """Write a predicate for some threads; PT stays as it is."""
    if number & 7 != TRUE:
        predicates[number] = predicates[number] & ~threads | mask & threads


@numba.njit
def execute(rows, state, start, end, party):  # type: ignore[no-untyped-def]
    """Let a party of threads take some instructions; returns where one went wrong, or ``end``."""
    values, predicates, memory, words, spaces, counts = state
    for at in range(start, end):
        row = rows[at]
        threads = mask_of(predicates, row.guard) & (EVERYONE if row.uniform else party)
        counts[at, 0] += 1
        counts[at, 1] += bit_count(threads & party)
        if row.op == NOTHING or threads == 0:
            continue
        p, q, one, two = mask_of(predicates, row.p), mask_of(predicates, row.q), 0, 0
        if row.op == PREDICATES:
            r = mask_of(predicates, row.r)
            one, two = logic(row.number, p, q, r), logic(row.other, p, q, r)
        elif row.op == VOTE or row.op == SHUFFLE:
            one = exchange(row, values, p, threads)
        elif row.op == LOAD or row.op == STORE or row.op == ATOMIC:
            if not transfer(row, values, memory, words, spaces, threads):
                return at
        else:
            one, two = calculate(row, values, p, q, threads)
        set_predicate(predicates, row.P, threads, one)
        set_predicate(predicates, row.Q, threads, two)
    return end
