"""Placing a digit, choosing a cell to guess, and splitting a board in two.

A guess splits a board into two that share no solution: one where digit d stands in a cell, and one
where it does not. Both are whole boards, so a stack of them is a list of work that anyone can take
over, and the frontier, a thread's stack and what a thread leaves behind are all the same thing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import FIRST


def build_place(layout: Layout, jit: Jit) -> Callable[..., None]:
    """Make ``place(s, nonpeers, d, index)``: fix digit d + 1, a candidate, in a cell.

    Which digits are pending now is left to the caller, who knows what candidates the cell had.
    """
    n, W, fixed = layout.n, layout.plane_words, layout.fixed

    @jit
    def place(s, nonpeers, d, index):
        w = index // 64
        bit = ONE << np.uint64(index % 64)
        for e in range(n):
            s[e * W + w] &= ~bit
        s[d * W + w] |= bit
        for v in range(W):
            s[d * W + v] &= nonpeers[index, v]
        s[fixed + w] |= bit

    return place


def build_choose(layout: Layout, strategy: int, jit: Jit) -> Callable[..., int]:
    """Make ``choose(s, scratch, nonpeers)``: the index of the cell to guess.

    Of the unfixed cells the first in reading order, or the first of those with the fewest
    candidates. On boards of more than two words a plane, of those with two candidates the one with
    the most such peers, which the guess may settle too: hard boards are searched several times
    faster for it, while it slows down 9x9 boards of many solutions. Needs a board that is neither
    DEAD nor SOLVED and its last survey in scratch.
    """
    n, W, fixed = layout.n, layout.plane_words, layout.fixed
    whole, last = layout.whole_word, layout.last_word
    most_peers = W > 2

    @jit
    def choose(s, scratch, nonpeers):
        if strategy != FIRST:
            for w in range(W if most_peers else 2 * W):  # cells with one candidate, then two
                if scratch[w] != ZERO:
                    return 64 * (w % W) + lowest_index(scratch[w])
        best, fewest, most = -1, n + 1, -1
        if strategy != FIRST and most_peers:
            for w in range(W):
                cells = scratch[W + w]
                while cells != ZERO:
                    index = 64 * w + lowest_index(cells)
                    cells &= cells - ONE
                    count = 0
                    for v in range(W):
                        count += popcount(scratch[W + v] & ~nonpeers[index, v])
                    if count > most:
                        best, most = index, count
            if best >= 0:
                return best
        for w in range(W):
            cells = (last if w == W - 1 else whole) & ~s[fixed + w]
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                if strategy == FIRST:
                    return 64 * w + lowest_index(bit)
                count = 0
                for d in range(n):
                    if s[d * W + w] & bit != ZERO:
                        count += 1
                if count < fewest:
                    best, fewest = 64 * w + lowest_index(bit), count
        return best

    return choose


def build_branch(layout: Layout, jit: Jit) -> Callable[..., bool]:
    """Make ``branch(s, t, nonpeers, index)``: guess the lowest candidate of the cell.

    t becomes s with that digit placed, s loses the candidate; returns True. If it is the cell's
    only candidate there is nothing to split: s itself gets the digit and False is returned.
    """
    n, W, words, pending = layout.n, layout.plane_words, layout.words, layout.pending
    place = build_place(layout, jit)

    @jit
    def branch(s, t, nonpeers, index):
        w, b = index // 64, np.uint64(index % 64)
        candidates = ZERO
        for e in range(n):
            candidates |= ((s[e * W + w] >> b) & ONE) << np.uint64(e)
        s[pending] |= candidates
        d = lowest_index(candidates)
        others = candidates & (candidates - ONE)
        if others == ZERO:
            place(s, nonpeers, d, index)
            return False
        for i in range(words):
            t[i] = s[i]
        place(t, nonpeers, d, index)
        if others & (others - ONE) == ZERO:
            place(s, nonpeers, lowest_index(others), index)
        else:
            s[d * W + w] ^= ONE << b
        return True

    return branch
