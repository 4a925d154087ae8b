"""Packing boards, and splitting each of many in two: how the CPU makes a frontier."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

import numpy as np

from gpusudoku.kernels.bits import popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.branch import build_branch, build_choose, build_place
from gpusudoku.kernels.search.layout import ONE, ZERO, Layout
from gpusudoku.kernels.search.propagate import build_propagate
from gpusudoku.kernels.search.settings import DEAD, SOLVED, SearchSettings


def build_load(layout: Layout, jit: Jit) -> Callable[..., None]:
    """Make ``load(cells, index_of, nonpeers, boards)``.

    Packs uint8 (B, n * n) cells, 0 for empty, into uint64 (B, words) boards. A board whose clues
    contradict each other comes out without candidates, so that any search finds it dead.
    """
    n, W, fixed, pending = layout.n, layout.plane_words, layout.fixed, layout.pending
    whole, last = layout.whole_word, layout.last_word
    place = build_place(layout, jit)

    @jit
    def load(cells, index_of, nonpeers, boards):
        for b in range(cells.shape[0]):
            s = boards[b]
            for d in range(n):
                for w in range(W):
                    s[d * W + w] = last if w == W - 1 else whole
            for w in range(W):
                s[fixed + w] = ZERO
            s[pending] = ZERO
            for d in range(n):
                s[pending] |= ONE << np.uint64(d)
            for cell in range(n * n):
                digit = np.int64(cells[b, cell]) - 1
                if digit < 0:
                    continue
                index = index_of[cell]
                bit = ONE << np.uint64(index % 64)
                if s[digit * W + index // 64] & bit == ZERO:
                    for i in range(n * W):
                        s[i] = ZERO
                    break
                place(s, nonpeers, digit, index)

    return load


def build_size(layout: Layout, jit: Jit) -> Callable[..., float]:
    """Make ``size(s, by_empty)``: how large a board still is.

    The number of its unfixed cells, or log2 of the product of their candidate counts.
    """
    n, W, fixed = layout.n, layout.plane_words, layout.fixed
    whole, last = layout.whole_word, layout.last_word

    @jit
    def size(s, by_empty):
        total = 0.0
        for w in range(W):
            cells = (last if w == W - 1 else whole) & ~s[fixed + w]
            if by_empty:
                total += popcount(cells)
                continue
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                count = 0
                for d in range(n):
                    if s[d * W + w] & bit != ZERO:
                        count += 1
                total += log2(count)
        return total

    return size


def build_expand(layout: Layout, settings: SearchSettings, jit: Jit) -> Callable[..., int]:
    """Make ``expand(boards, cutoff, by_empty, children, parents, ready, nonpeers, scratch)``: a round.

    Every board of uint64 (B, words) is simplified. Dead ones vanish; one that is solved, or whose
    ``size`` is at most the cutoff, is copied to ``children``; any other is split in two.

    children   uint64 (2 B, words)   written from the front, in the order of their parents
    parents    int64 (2 B)           index of each child's parent
    ready      bool (2 B)            whether the child needs no more splitting
    Returns the number of children.
    """
    words = layout.words
    propagate = build_propagate(layout, settings.techniques, jit)
    choose = build_choose(layout, settings.strategy, jit)
    branch = build_branch(layout, jit)
    size = build_size(layout, jit)

    @jit
    def expand(boards, cutoff, by_empty, children, parents, ready, nonpeers, scratch):
        count = 0
        for b in range(boards.shape[0]):
            s = children[count]
            for i in range(words):
                s[i] = boards[b, i]
            status = propagate(s, scratch, nonpeers)
            if status == DEAD:
                continue
            parents[count] = b
            ready[count] = status == SOLVED or size(s, by_empty) <= cutoff
            count += 1
            if ready[count - 1]:
                continue
            if branch(s, children[count], nonpeers, choose(s, scratch, nonpeers)):
                parents[count] = b
                ready[count] = False
                count += 1
        return count

    return expand
