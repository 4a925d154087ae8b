"""The sum over one map per stack, depth first, and a guess of what it costs.

The stacks are taken in a fixed order, one a level. For every band there is a list of the band's
maps, and for every entry of a stack's list the bit set of those that go with it. A level holds,
per band, the bit set of what goes with the entries chosen so far, as its words that are not 0. If
one band has none left the entry is given up, along with all that share what was to blame: the
entries are in lexicographic order.

What both loops look at:

    bits      uint64           all bit sets
    words     int64 (bands)    words of a bit set
    begin     int64 (levels + 1)       the entries of level l are begin[l] .. begin[l + 1] - 1
    rows      int64 (entries, bands)   where in ``bits`` the bit set of an entry is
    many      uint64 (entries)         multiplicity of an entry
    skip      int64 (entries, bands)   the next entry that differs in this band or one before
    differs   int64 (entries + 1)      the first band in which an entry differs from the last one
    slots     int64 (entries of the last level, bands)   numbers its bit sets
    planes    uint64                   bit k of the multiplicities of a band's list, as bit sets
    plane     int64 (bands, 3)         where in ``planes`` those of a band are; how many; and how
                                       many slots the band has
    value     uint64 (levels, bands, words)    scratch; level 0 has all maps of the bands
    index     int64 (levels, bands, words)     scratch; which word each is
    count     int64 (levels, bands)            scratch; how many there are
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.bits import popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import ONE, ZERO

_TABLES = (
    "uint64[::1], int64[::1], int64[::1], int64[:,::1], uint64[::1], int64[:,::1], int64[::1],"
    " int64[:,::1], uint64[::1], int64[:,::1], uint64[:,:,::1], int64[:,:,::1], int64[:,::1]"
)
JOIN = (
    f"int64({_TABLES}, int64[:,::1], uint64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], uint64[::1], int64[::1], uint64[:,::1])"
)
PROBE = f"float64({_TABLES}, int64[:,::1], int64, int64)"


CALL = 8
"""Words that could be looked at in the time that it takes to look at a bit set at all."""
ENTRY = 4
"""The same for an entry of the last level."""


def _extend(bits, value, index, count, level, band, row):
    """Keep of a level's bit set what goes with one more entry; returns the words left."""
    left = 0
    for t in range(count[level, band]):
        w = index[level, band, t]
        x = value[level, band, t] & bits[row + w]
        value[level + 1, band, left] = x
        index[level + 1, band, left] = w
        left += x != ZERO
    count[level + 1, band] = left
    return left


def _weigh(bits, planes, plane, words, value, index, count, level, band, row):
    """Add up the multiplicities of what goes with one more entry."""
    total = 0
    start = plane[band, 0]
    for k in range(plane[band, 1]):
        found = 0
        for t in range(count[level, band]):
            w = index[level, band, t]
            found += popcount(value[level, band, t] & bits[row + w] & planes[start + w])
        total += found << k
        start += words[band]
    return total


def build_join(jit: Jit) -> Callable[..., int]:
    """Make ``join``: the sums of some pieces, each with its first entry and a range of second ones.

    pieces   int64 (pieces, 3)         first entry, and begin and end of the range; the range is
                                       of no meaning where there is one level only
    primes   uint64 (primes)           none, or primes below 2^31
    memo     int64 (slots)             scratch
    at, end, fresh   int64 (levels)    scratch
    product  uint64 (levels)           scratch
    stop     int64 (1)                 not 0: give up
    out      uint64 (pieces, 2)        out: the sums, low word and high word
             or (pieces, primes)       or modulo each prime

    Returns the number of terms, -1 if it gave up.

    A term is the product of a multiplicity per level and a total per band. Without primes the
    caller knows that no term reaches 2^63; two words hold the sum of 2^65 such terms, more than
    can be added up in a lifetime. A total of a band is below 2^63 always (it adds up at most as
    many multiplicities as there are maps), and remainders are below 2^31, so that products of two
    of them fit.
    """
    extend, weigh = jit(_extend), jit(_weigh)

    @jit
    def add(out, piece, primes, term, level, at, many, e, memo, slots):
        """Add a term, which the caller has multiplied out if there are no primes."""
        if primes.shape[0] == 0:
            low = out[piece, 0] + term
            out[piece, 1] += np.uint64(low < term)
            out[piece, 0] = low
            return
        for k in range(primes.shape[0]):
            p = primes[k]
            rest = many[e] % p
            for above in range(level):
                rest = rest * (many[at[above] - 1] % p) % p
            for i in range(slots.shape[0]):
                rest = rest * (np.uint64(memo[slots[i]]) % p) % p
            out[piece, k] = (out[piece, k] + rest) % p

    def join(
        bits,
        words,
        begin,
        rows,
        many,
        skip,
        differs,
        slots,
        planes,
        plane,
        value,
        index,
        count,
        pieces,
        primes,
        memo,
        at,
        end,
        fresh,
        product,
        stop,
        out,
    ):
        last, bands, terms = begin.shape[0] - 2, words.shape[0], 0
        for piece in range(pieces.shape[0]):
            level = 0
            at[0], end[0], fresh[0] = pieces[piece, 0], pieces[piece, 0] + 1, 0
            product[0] = ONE
            while level >= 0:
                if stop[0] != 0:
                    return -1
                e = at[level]
                if level == last:
                    for k in range(memo.shape[0]):
                        memo[k] = -1
                    while e < end[level]:
                        term = product[level] * many[e]
                        row = e - begin[level]
                        i = 0
                        while i < bands:
                            slot = slots[row, i]
                            if memo[slot] < 0:
                                memo[slot] = weigh(
                                    bits,
                                    planes,
                                    plane,
                                    words,
                                    value,
                                    index,
                                    count,
                                    level,
                                    i,
                                    rows[e, i],
                                )
                            if memo[slot] == 0:
                                break
                            term *= np.uint64(memo[slot])
                            i += 1
                        if i < bands:
                            e = skip[e, i]
                        else:
                            add(out, piece, primes, term, level, at, many, e, memo, slots[row])
                            terms += 1
                            e += 1
                    level -= 1
                    continue
                if e >= end[level]:
                    level -= 1
                    continue
                i = fresh[level]
                while i < bands and extend(bits, value, index, count, level, i, rows[e, i]) > 0:
                    i += 1
                if i < bands:
                    at[level] = skip[e, i]
                    fresh[level] = differs[at[level]]
                    continue
                at[level] = e + 1
                fresh[level] = differs[e + 1]
                product[level + 1] = product[level] * many[e]
                level += 1
                at[level], end[level], fresh[level] = begin[level], begin[level + 1], 0
                if level == 1:
                    at[level], end[level] = pieces[piece, 1], pieces[piece, 2]
        return terms

    return join


def build_probe(jit: Jit) -> Callable[..., float]:
    """Make ``probe``: a guess of the words that ``join`` looks at for one of the pieces.

    After D. E. Knuth: some walks down the tree, each of which tries some entries a level and goes
    on with one that is left; what a level costs is multiplied by how many there would be.

    pieces   int64 (pieces, 3)         as for ``join``
    walks    int                       how many
    tries    int                       entries to try a level, at most

    Returns the mean over all pieces.
    """
    extend = jit(_extend)

    @jit
    def random(state, below):
        """A number below another and the next state, of a linear congruential generator."""
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        return np.int64((state >> np.uint64(33)) % np.uint64(below)), state

    def probe(
        bits,
        words,
        begin,
        rows,
        many,
        skip,
        differs,
        slots,
        planes,
        plane,
        value,
        index,
        count,
        pieces,
        walks,
        tries,
    ):
        last, bands = begin.shape[0] - 2, words.shape[0]
        state = ONE
        total = 0.0
        for _ in range(walks):
            piece, state = random(state, pieces.shape[0])
            weight = 1.0
            for level in range(last + 1):
                low, high = begin[level], begin[level + 1]
                if level == 0:
                    low, high = pieces[piece, 0], pieces[piece, 0] + 1
                elif level == 1:
                    low, high = pieces[piece, 1], pieces[piece, 2]
                if level == last:
                    seen = ENTRY * (high - low)
                    for i in range(bands):
                        seen += count[level, i] * plane[i, 1] * min(high - low, plane[i, 2])
                    total += weight * seen
                    break
                tried = min(high - low, tries)
                seen, alive, chosen = 0, 0, -1
                for k in range(tried):
                    e = low + k
                    if tried < high - low:
                        e, state = random(state, high - low)
                        e += low
                    i = 0
                    while i < bands:
                        seen += CALL + count[level, i]
                        if extend(bits, value, index, count, level, i, rows[e, i]) == 0:
                            break
                        i += 1
                    if i == bands:
                        alive += 1
                        pick, state = random(state, alive)
                        if pick == 0:
                            chosen = e
                total += weight * seen * (high - low) / tried
                if alive == 0:
                    break
                for i in range(bands):
                    extend(bits, value, index, count, level, i, rows[chosen, i])
                weight *= alive * (high - low) / tried
        return total / walks

    return probe
