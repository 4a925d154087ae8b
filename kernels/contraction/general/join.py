"""The sum over one map of every summed line, depth first, and an estimate of what it costs.

The summed lines are taken one a level. At a level every crossing line has a bit set: its entries
that fit all entries chosen so far. To choose one more entry means one AND per crossing line. If
that leaves none of a line, the entry is given up, along with all that follow and share the
partitions that are to blame. At the last level the entries left in each set are counted, each with
its multiplicity. ``arrays`` says what is where.

Why the result is exact. A term of the sum is the product of a multiplicity per level and a total
per crossing line. A total is always below 2^63: it is at most the number of maps of the line,
equal ones counted each. Terms are added up in one of two ways:

- Without primes the caller knows that no term reaches 2^63. The factors are positive, so no
  product on the way to a term does either. Two words hold the sum of 2^65 such terms, more than
  can be added up in a lifetime.
- With primes below 2^31, all factors are reduced first. A product of two remainders is below 2^62.
  The caller finds the sum from its remainders if the product of the primes is larger than the sum.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import float64, int64, uint64
from gpusudoku.kernels.bits import ONE, ZERO, popcount
from gpusudoku.kernels.contraction.general.arrays import Branches, Index, Levels, Walk
from gpusudoku.kernels.kernel import inlined, kernel

SET_STEPS = 8
"""Looking at a bit set takes as long as looking at this number of words, in addition to its own."""
ENTRY_STEPS = 4
"""Looking at an entry of the last level takes as long as looking at this number of words."""

UNKNOWN = -1
"""A total that is not in the memo yet."""


@inlined
def intersect(index, levels, level, line, entry):
    """Make a line's bit set of the next level: what also fits one more entry.

    Returns the number of its words that are not 0.
    """
    start = index.set_of[entry, line]
    left = 0
    for k in range(levels.counts[level, line]):
        position = levels.positions[level, line, k]
        word = levels.words[level, line, k] & index.sets[start + position]
        levels.words[level + 1, line, left] = word
        levels.positions[level + 1, line, left] = position
        left += word != ZERO
    levels.counts[level + 1, line] = left
    return left


@inlined
def total(index, levels, level, line, entry):
    """Add up the multiplicities of a line's entries that also fit one more entry."""
    found = 0
    start = index.set_of[entry, line]
    plane = index.plane_begin[line]
    for bit in range(index.plane_count[line]):
        ones = 0
        for k in range(levels.counts[level, line]):
            position = levels.positions[level, line, k]
            fitting = levels.words[level, line, k] & index.sets[start + position]
            ones += popcount(fitting & index.planes[plane + position])
        found += ones << bit
        plane += index.words[line]
    return found


@inlined
def begin(walk, branches, branch):
    """Begin the walk of a branch, at the level that is returned."""
    walk.entry[0] = branches.first[branch]
    walk.end[0] = branches.first[branch] + 1
    walk.fresh[0] = 0
    walk.product[0] = ONE
    return 0


@inlined
def step(index, levels, walk, branches, branch, level):
    """Try the next entry of a level that is not the last; returns the level to go on at."""
    lines = index.words.shape[0]
    entry = walk.entry[level]
    if entry >= walk.end[level]:
        return level - 1
    line = walk.fresh[level]
    while line < lines and intersect(index, levels, level, line, entry) > 0:
        line += 1
    following = index.skip[entry, line] if line < lines else entry + 1
    walk.entry[level] = following
    walk.fresh[level] = index.differs[following]
    if line < lines:
        return level
    walk.product[level + 1] = walk.product[level] * index.multiplicity[entry]
    walk.entry[level + 1] = index.begin[level + 1]
    walk.end[level + 1] = index.begin[level + 2]
    if level == 0:
        walk.entry[1] = branches.begin[branch]
        walk.end[1] = branches.end[branch]
    walk.fresh[level + 1] = 0
    return level + 1


@inlined
def entry_totals(index, levels, walk, level, entry):
    """Have the totals of all lines for an entry of the last level in the memo.

    Returns the first line whose total is 0, or the number of lines.
    """
    places = index.place[entry - index.begin[level]]
    line = 0
    while line < places.shape[0]:
        place = places[line]
        if walk.memo[place] == UNKNOWN:
            walk.memo[place] = total(index, levels, level, line, entry)
        if walk.memo[place] == 0:
            break
        line += 1
    return line


@inlined
def add_remainders(index, walk, primes, level, entry, out):
    """Add a term modulo each prime. Its totals are in the memo; ``out`` is uint64 (primes)."""
    places = index.place[entry - index.begin[level]]
    for k in range(primes.shape[0]):
        p = primes[k]
        term = index.multiplicity[entry] % p
        for above in range(level):
            term = term * (index.multiplicity[walk.entry[above] - 1] % p) % p
        for line in range(places.shape[0]):
            term = term * (np.uint64(walk.memo[places[line]]) % p) % p
        out[k] = (out[k] + term) % p


@inlined
def add_terms(index, levels, walk, primes, level, out):
    """Add the terms of the entries of the last level to one row of the result.

    Returns the number of terms that are not 0.
    """
    terms = 0
    lines = index.words.shape[0]
    for k in range(walk.memo.shape[0]):
        walk.memo[k] = UNKNOWN
    entry = walk.entry[level]
    while entry < walk.end[level]:
        line = entry_totals(index, levels, walk, level, entry)
        if line < lines:
            entry = index.skip[entry, line]
            continue
        if primes.shape[0] > 0:
            add_remainders(index, walk, primes, level, entry, out)
        else:
            term = walk.product[level] * index.multiplicity[entry]
            places = index.place[entry - index.begin[level]]
            for line in range(lines):
                term *= np.uint64(walk.memo[places[line]])
            low = out[0] + term
            out[1] += np.uint64(low < term)
            out[0] = low
        terms += 1
        entry += 1
    return terms


@kernel(
    Index(), Levels(), Walk(), Branches(), uint64[::1], int64[::1], uint64[:, ::1], returns=int64
)
def join(index, levels, walk, branches, primes, stop, out):
    """Sum some branches.

    index      Index
    levels     Levels                  scratch, its level 0 filled in
    walk       Walk                    scratch
    branches   Branches                what to sum; the weights are left to the caller
    primes     uint64 (primes)         none, or primes below 2^31
    stop       int64 (1)               not 0: give up
    out        uint64 (branches, 2)    out, all 0: the sums, low word and high word
               or (branches, primes)   or modulo each prime

    Returns the number of terms that are not 0, or -1 if it gave up.
    """
    last = index.begin.shape[0] - 2
    terms = 0
    for branch in range(branches.first.shape[0]):
        level = begin(walk, branches, branch)
        while level >= 0:
            if stop[0] != 0:
                return -1
            if level == last:
                terms += add_terms(index, levels, walk, primes, level, out[branch])
                level -= 1
            else:
                level = step(index, levels, walk, branches, branch, level)
    return terms


@inlined
def random(state, below):
    """A number below another and the next state, of a linear congruential generator."""
    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64((state >> np.uint64(33)) % np.uint64(below)), state


@kernel(Index(), Levels(), Branches(), int64, int64, returns=float64)
def probe(index, levels, branches, walks, tries):
    """Estimate the words that ``join`` looks at for a branch, as a mean over all branches.

    After D. E. Knuth, "Estimating the efficiency of backtrack programs", 1975. A walk goes down the
    tree. At each level it tries some entries, and goes on with one that is left. The cost of a
    level counts once for each entry that the walk could have been at instead.

    index      Index
    levels     Levels                  scratch, its level 0 filled in
    branches   Branches                what ``join`` is to sum
    walks      int                     the number of walks
    tries      int                     entries to try at a level, at most

    Returns the estimate, which is a float.
    """
    last = index.begin.shape[0] - 2
    lines = index.words.shape[0]
    state = ONE
    cost = 0.0
    for _ in range(walks):
        branch, state = random(state, branches.first.shape[0])
        weight = 1.0
        for level in range(last + 1):
            low = index.begin[level]
            high = index.begin[level + 1]
            if level == 0:
                low = branches.first[branch]
                high = branches.first[branch] + 1
            elif level == 1:
                low = branches.begin[branch]
                high = branches.end[branch]
            if level == last:
                steps = ENTRY_STEPS * (high - low)
                for line in range(lines):
                    words = levels.counts[level, line] * index.plane_count[line]
                    steps += words * min(high - low, index.places[line])
                cost += weight * steps
                break
            tried = min(high - low, tries)
            steps = 0
            alive = 0
            chosen = -1
            for k in range(tried):
                entry = low + k
                if tried < high - low:
                    entry, state = random(state, high - low)
                    entry += low
                line = 0
                while line < lines:
                    steps += SET_STEPS + levels.counts[level, line]
                    if intersect(index, levels, level, line, entry) == 0:
                        break
                    line += 1
                if line == lines:
                    alive += 1
                    pick, state = random(state, alive)
                    if pick == 0:
                        chosen = entry
            cost += weight * steps * (high - low) / tried
            if alive == 0:
                break
            for line in range(lines):
                intersect(index, levels, level, line, chosen)
            weight *= alive * (high - low) / tried
    return cost / walks
