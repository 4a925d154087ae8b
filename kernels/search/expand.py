"""Splitting each of many boards in two: one round of making a frontier, on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ZERO, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.branch import build_branch, build_choose
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.propagate import build_propagate
from gpusudoku.kernels.search.settings import DEAD, SOLVED, SearchSettings


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


class Children(NamedTuple):
    """The boards that a round makes, written from the front."""

    boards: NDArray[np.uint64]
    """uint64 (2 B, words): in the order of their parents."""
    parents: NDArray[np.int64]
    """int64 (2 B): the index of each child's parent."""
    ready: NDArray[np.bool_]
    """bool (2 B): whether the child needs no more splitting."""

    @classmethod
    def empty(cls, parents: int, words: int) -> Children:
        """Room for two children of every parent."""
        return cls(
            np.empty((2 * parents, words), np.uint64),
            np.empty(2 * parents, np.int64),
            np.empty(2 * parents, np.bool_),
        )


def build_expand(layout: Layout, settings: SearchSettings, jit: Jit) -> Callable[..., int]:
    """Make ``expand(boards, cutoff, by_empty, children, scratch)``: one round of splitting.

    Every board of uint64 (B, words) is simplified. Dead ones vanish; one that is solved, or whose
    ``size`` is at most the cutoff, becomes a child; any other is split in two. Returns the number
    of children. ``scratch`` is a ``loop.Scratch``.
    """
    words = layout.words
    propagate = build_propagate(layout, settings.techniques, jit)
    choose = build_choose(layout, settings.strategy, jit)
    branch = build_branch(layout, jit)
    size = build_size(layout, jit)

    @jit
    def expand(boards, cutoff, by_empty, children, scratch):
        nonpeers, count = scratch.nonpeers, 0
        for b in range(boards.shape[0]):
            s = children.boards[count]
            for i in range(words):
                s[i] = boards[b, i]
            status = propagate(s, scratch.words, nonpeers)
            if status == DEAD:
                continue
            children.parents[count] = b
            ready = status == SOLVED or size(s, by_empty) <= cutoff
            children.ready[count] = ready
            count += 1
            if ready:
                continue
            if branch(s, children.boards[count], nonpeers, choose(s, scratch.words, nonpeers)):
                children.parents[count] = b
                children.ready[count] = False
                count += 1
        return count

    return expand
