"""The iterative backtracking counter: one thread, one explicit stack, no recursion.

The top of the stack is the current board. A guess pushes a board, a board without solutions left
is popped. Whenever the counter stops (its budget of nodes is spent, its stack is full, room for
solutions ran out) the stack holds exactly what has not been explored yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.arguments import DEEPEST, GUESSES, NODES, TOP
from gpusudoku.kernels.search.branch import build_branch, build_choose
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.propagate import build_propagate
from gpusudoku.kernels.search.settings import DEAD, SOLVED, SearchSettings

SLICE = 4096
"""Nodes after which the search of one root looks whether the limit is reached."""


class Scratch(NamedTuple):
    """What a thread needs besides its stack."""

    nonpeers: NDArray[np.uint64]
    """uint64 (64 W, W): ``Layout.nonpeers``, which all threads share."""
    words: NDArray[np.uint64]
    """uint64 (Layout.scratch_words): memory of this thread."""


def build_run(
    layout: Layout,
    settings: SearchSettings,
    jit: Jit,
    claim: Callable[..., Any],
    add: Callable[..., Any],
) -> Callable[..., None]:
    """Make the loop of one thread: take a frontier board, explore it, take the next.

    ``claim(counter)`` returns counter[0] and raises it by 1; ``add(array, i, value)`` adds to
    array[i]. Both are atomic where threads share the arrays.

    The function made is ``run(work, stack, found, budget, limit, scratch)``; ``arguments`` says
    what the groups hold.

    budget   int       nodes to look at; then the function returns
    limit    uint64    a root with this count is not searched any further
    scratch  Scratch
    """
    n, K, W, words = layout.n, layout.rows_per_word, layout.plane_words, layout.words
    propagate = build_propagate(layout, settings.techniques, jit)
    choose = build_choose(layout, settings.strategy, jit)
    branch = build_branch(layout, jit)

    @jit
    def write_solution(s, cells):
        for d in range(n):
            for w in range(W):
                x = s[d * W + w]
                while x != ZERO:
                    bit = lowest_index(x)
                    x &= x - ONE
                    cells[(w * K + bit // n) * n + bit % n] = d + 1

    @jit
    def search(stack, found, budget, room, scratch):
        """Explore the stack for a number of nodes; returns the solutions found, at most room."""
        solved, guesses, nodes = ZERO, ZERO, 0
        root = stack.roots[0]
        top = stack.state[TOP]
        deepest = top
        while top >= 0 and nodes < budget and solved < room:
            s = stack.boards[top]
            status = propagate(s, scratch.words, scratch.nonpeers)
            nodes += 1
            if status == DEAD:
                top -= 1
            elif status == SOLVED:
                if found.solutions.shape[0] > 0:
                    row = claim(found.used)
                    if row >= found.solutions.shape[0]:
                        break
                    write_solution(s, found.solutions[row])
                    found.roots[row] = root
                solved += ONE
                top -= 1
            else:
                if top + 1 == stack.boards.shape[0]:
                    break
                cell = choose(s, scratch.words, scratch.nonpeers)
                if branch(s, stack.boards[top + 1], scratch.nonpeers, cell):
                    top += 1
                    stack.roots[top] = root
                    guesses += ONE
                    deepest = max(deepest, top)
        stack.state[TOP] = top
        stack.tally[NODES] += np.uint64(nodes)
        stack.tally[GUESSES] += guesses
        stack.tally[DEEPEST] = max(stack.tally[DEEPEST], np.uint64(deepest))
        return solved

    @jit
    def run(work, stack, found, budget, limit, scratch):
        while budget > 0:
            if stack.state[TOP] < 0:
                index = claim(work.cursor)
                if index >= work.boards.shape[0]:
                    return
                for i in range(words):
                    stack.boards[0, i] = work.boards[index, i]
                stack.roots[0] = work.roots[index]
                stack.state[TOP] = 0
            root = stack.roots[0]  # of all: a board is taken when the stack is empty
            known = found.counts[root]
            if known >= limit:
                stack.state[TOP] = -1
                continue
            before = stack.tally[NODES]
            slice_budget = min(budget, SLICE)
            room = limit - known
            solved = search(stack, found, slice_budget, room, scratch)
            spent = np.int64(stack.tally[NODES] - before)
            budget -= spent
            if solved != ZERO:
                add(found.counts, root, solved)
            # Neither done nor out of budget: no room for solutions, or the stack is full.
            if stack.state[TOP] >= 0 and spent < slice_budget and solved < room:
                return

    return run
