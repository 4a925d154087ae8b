"""The sum over one map of every summed line, depth first, and an estimate of its cost.

Each level takes one summed line. At a level, every crossing line has a bit set: its entries that
fit all entries chosen so far. Choosing one more entry takes one AND per crossing line. If that
leaves no entry of a crossing line, the chosen entry is skipped, together with all following entries
that share the partitions in question. At the last level, the entries that remain in each bit set
are counted, each with its multiplicity. ``arrays`` describes all arrays.

Why the result is exact. A term of the sum is the product of one multiplicity per level and one
total per crossing line. A total is always below 2^63: it is at most the number of maps of the line.
Terms are added up in one of two ways:

- Without primes, the caller knows that no term reaches 2^63. The factors are positive, so no
  partial product of a term does either. Two words hold the sum of 2^65 such terms, more than can be
  added up in a lifetime.
- With primes below 2^31, all factors are reduced first. A product of two remainders is below 2^62.
  The product of the primes exceeds the sum, so the caller can find the sum from its remainders.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import float64, int64, uint64
from gpusudoku.kernels.bits import ONE, ZERO, popcount
from gpusudoku.kernels.contraction.general.arrays import Branches, Index, Levels, Walk
from gpusudoku.kernels.kernel import inlined, kernel

SET_STEPS = 8
"""The cost of starting on a bit set, in steps. A step is one word of a bit set."""
ENTRY_STEPS = 4
"""The cost of an entry of the last level, in steps."""

UNKNOWN = -1
"""A total that is not in the memo yet."""


@inlined
def intersect(index, levels, level, line, entry):
    """Make a crossing line's bit set of the next level: the entries that also fit ``entry``.

    Returns the number of its words that are not 0.
    """
    start = index.set_begin[entry, line]
    word_count = 0
    # Words that are 0 stay 0 at all levels below, so only the others are visited.
    for k in range(levels.counts[level, line]):
        position = levels.positions[level, line, k]
        word = levels.words[level, line, k] & index.sets[start + position]
        # Written in any case, and kept if it is not 0: no branch.
        levels.words[level + 1, line, word_count] = word
        levels.positions[level + 1, line, word_count] = position
        word_count += word != ZERO
    levels.counts[level + 1, line] = word_count
    return word_count


@inlined
def line_total(index, levels, level, line, entry):
    """Add up the multiplicities of a crossing line's entries that also fit ``entry``."""
    multiplicities = 0
    start = index.set_begin[entry, line]
    plane = index.plane_begin[line]
    for bit in range(index.plane_count[line]):
        entry_count = 0
        for k in range(levels.counts[level, line]):
            position = levels.positions[level, line, k]
            fitting = levels.words[level, line, k] & index.sets[start + position]
            entry_count += popcount(fitting & index.planes[plane + position])
        # Each of these entries has 2^bit in its multiplicity.
        multiplicities += entry_count << bit
        plane += index.set_words[line]
    return multiplicities


@inlined
def start_walk(walk, branches, branch):
    """Start the walk of a branch; return its first level."""
    walk.entry[0] = branches.first_entry[branch]
    walk.end[0] = branches.first_entry[branch] + 1
    walk.first_stale[0] = 0
    walk.product[0] = ONE
    return 0


@inlined
def step(index, levels, walk, branches, branch, level):
    """Try the next entry of a level that is not the last; return the level of the next step."""
    lines = index.set_words.shape[0]
    entry = walk.entry[level]
    if entry >= walk.end[level]:
        return level - 1

    # Intersect the bit sets of all crossing lines whose partitions have changed.
    line = walk.first_stale[level]
    while line < lines and intersect(index, levels, level, line, entry) > 0:
        line += 1
    next_entry = index.skip[entry, line] if line < lines else entry + 1
    walk.entry[level] = next_entry
    walk.first_stale[level] = index.first_difference[next_entry]
    if line < lines:  # this line has no entry that fits
        return level

    # Go down. The next level tries all its entries, level 1 only those of the branch.
    walk.product[level + 1] = walk.product[level] * index.multiplicity[entry]
    walk.entry[level + 1] = index.begin[level + 1]
    walk.end[level + 1] = index.begin[level + 2]
    if level == 0:
        walk.entry[1] = branches.begin[branch]
        walk.end[1] = branches.end[branch]
    walk.first_stale[level + 1] = 0
    return level + 1


@inlined
def entry_totals(index, levels, walk, level, entry):
    """Fill the memo with the totals of all crossing lines for an entry of the last level.

    Stops at the first line whose total is 0, and returns it, or the number of lines.
    """
    memo_indices = index.memo_index[entry - index.begin[level]]
    line = 0
    while line < memo_indices.shape[0]:
        memo_index = memo_indices[line]
        if walk.memo[memo_index] == UNKNOWN:
            walk.memo[memo_index] = line_total(index, levels, level, line, entry)
        if walk.memo[memo_index] == 0:
            break
        line += 1
    return line


@inlined
def add_remainders(index, walk, primes, level, entry, out):
    """Add a term, whose totals are in the memo, modulo each prime: ``out`` is uint64 (primes)."""
    memo_indices = index.memo_index[entry - index.begin[level]]
    for k in range(primes.shape[0]):
        prime = primes[k]
        term = index.multiplicity[entry] % prime
        for upper_level in range(level):
            # ``walk.entry`` is the entry to try next, which follows the chosen one.
            chosen_entry = walk.entry[upper_level] - 1
            term = term * (index.multiplicity[chosen_entry] % prime) % prime
        for line in range(memo_indices.shape[0]):
            term = term * (np.uint64(walk.memo[memo_indices[line]]) % prime) % prime
        out[k] = (out[k] + term) % prime


@inlined
def add_term(index, walk, level, entry, out):
    """Add a term, whose totals are in the memo: ``out`` is uint64 (2), low word and high word."""
    term = walk.product[level] * index.multiplicity[entry]
    memo_indices = index.memo_index[entry - index.begin[level]]
    for line in range(memo_indices.shape[0]):
        term *= np.uint64(walk.memo[memo_indices[line]])
    low = out[0] + term
    out[1] += np.uint64(low < term)  # the carry: the sum has passed 2^64
    out[0] = low


@inlined
def add_terms(index, levels, walk, primes, level, out):
    """Add the terms of the entries of the last level to one row of the result.

    Returns the number of terms that are not 0.
    """
    term_count = 0
    lines = index.set_words.shape[0]
    # Totals hold for one choice of entries at the levels above.
    for k in range(walk.memo.shape[0]):
        walk.memo[k] = UNKNOWN
    entry = walk.entry[level]
    while entry < walk.end[level]:
        line = entry_totals(index, levels, walk, level, entry)
        if line < lines:
            # Skip the entries with the same partitions up to this line.
            entry = index.skip[entry, line]
            continue
        if primes.shape[0] > 0:
            add_remainders(index, walk, primes, level, entry, out)
        else:
            add_term(index, walk, level, entry, out)
        term_count += 1
        entry += 1
    return term_count


@kernel(
    Index(), Levels(), Walk(), Branches(), uint64[::1], int64[::1], uint64[:, ::1], returns=int64
)
def join(index, levels, walk, branches, primes, stop, out):
    """Sum some branches.

    index      Index
    levels     Levels                  scratch, with level 0 filled in
    walk       Walk                    scratch
    branches   Branches                the branches to sum; the caller applies their weights
    primes     uint64 (primes)         primes below 2^31; empty for exact sums
    stop       int64 (1)               the kernel returns early when it is not 0
    out        uint64 (branches, 2)    out, all 0: the sums, low word and high word
               or (branches, primes)   or modulo each prime

    Returns the number of terms that are not 0, or -1 if it was stopped.
    """
    last_level = index.begin.shape[0] - 2
    term_count = 0
    for branch in range(branches.first_entry.shape[0]):
        level = start_walk(walk, branches, branch)
        while level >= 0:
            if stop[0] != 0:
                return -1
            if level == last_level:
                term_count += add_terms(index, levels, walk, primes, level, out[branch])
                level -= 1
            else:
                level = step(index, levels, walk, branches, branch, level)
    return term_count


@inlined
def random(state, end):
    """Return a random integer from 0 to before ``end``, and the next state of the generator.

    The generator is linear congruential, with Knuth's constants for MMIX. Its upper bits are used,
    as the lower ones have short periods.
    """
    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64((state >> np.uint64(33)) % np.uint64(end)), state


@inlined
def level_bounds(index, branches, branch, level):
    """Return the first entry of a level in a branch, and the end of its entries."""
    if level == 0:
        return branches.first_entry[branch], branches.first_entry[branch] + 1
    if level == 1:
        return branches.begin[branch], branches.end[branch]
    return index.begin[level], index.begin[level + 1]


@inlined
def last_level_steps(index, levels, level, entry_count):
    """Estimate the steps of the entries of the last level, as if none were skipped."""
    steps = ENTRY_STEPS * entry_count
    for line in range(index.set_words.shape[0]):
        words = levels.counts[level, line] * index.plane_count[line]
        # A total is computed once for each partition, as the memo keeps it.
        steps += words * min(entry_count, index.memo_sizes[line])
    return steps


@kernel(Index(), Levels(), Branches(), int64, int64, returns=float64)
def probe(index, levels, branches, walks, tries):
    """Estimate the steps that ``join`` takes for a branch, as a mean over all branches.

    After D. E. Knuth, "Estimating the efficiency of backtrack programs", 1975. A random walk goes
    down the tree. At each level it tries some entries, and continues with a random one of those
    that fit. The cost of a level is multiplied by the number of nodes that the walk represents
    there.

    index      Index
    levels     Levels                  scratch, with level 0 filled in
    branches   Branches                the branches that ``join`` is to sum
    walks      int                     the number of walks
    tries      int                     the maximum number of entries to try at a level

    Returns the estimate as a float.
    """
    last_level = index.begin.shape[0] - 2
    lines = index.set_words.shape[0]
    state = ONE
    cost = 0.0
    for _ in range(walks):
        branch, state = random(state, branches.first_entry.shape[0])
        node_count = 1.0  # nodes that the walk represents
        for level in range(last_level + 1):
            start, end = level_bounds(index, branches, branch, level)
            entry_count = end - start
            if level == last_level:
                # No walk goes further: the entries of the last level are terms.
                cost += node_count * last_level_steps(index, levels, level, entry_count)
                break

            tried_count = min(entry_count, tries)
            fitting_count = 0
            chosen_entry = -1
            steps = 0
            for k in range(tried_count):
                entry = start + k
                if tried_count < entry_count:
                    # Drawn with replacement, which is close enough for an estimate.
                    offset, state = random(state, entry_count)
                    entry = start + offset
                line = 0
                while line < lines:
                    steps += SET_STEPS + levels.counts[level, line]
                    if intersect(index, levels, level, line, entry) == 0:
                        break
                    line += 1
                if line == lines:
                    # Reservoir sampling: every entry that fits has the same chance in the end.
                    fitting_count += 1
                    pick, state = random(state, fitting_count)
                    if pick == 0:
                        chosen_entry = entry
            cost += node_count * steps * entry_count / tried_count
            if fitting_count == 0:
                break
            for line in range(lines):
                intersect(index, levels, level, line, chosen_entry)
            node_count *= fitting_count * entry_count / tried_count
    return cost / walks
