"""The iterative backtracking counter: one thread, one explicit stack, no recursion.

The top of the stack is the board at hand. A guess pushes a board, a board without solutions left
is popped. Whenever the counter stops (its budget of nodes is spent, its stack is full, room for
solutions ran out) the stack holds exactly what has not been explored yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import lowest_index
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.branch import build_branch, build_choose
from gpusudoku.kernels.search.layout import ONE, ZERO, Layout
from gpusudoku.kernels.search.propagate import build_propagate
from gpusudoku.kernels.search.settings import DEAD, SOLVED, SearchSettings

NODES = 0
"""Boards looked at."""
GUESSES = 1
"""Guesses, each of which makes one more partial board."""
DEEPEST = 2
"""Boards left on the stack for later, at most."""
TALLIES = 3

TOP = 0
"""Index of the board at hand in the stack, -1 if there is none."""
AT_HAND = 1
"""Lanes whose boards the last call put on top of the stack, as bits; -1 before the first call."""
STATES = 2

SLICE = 4096
"""Nodes after which the search of one board at a time looks whether the limit is reached."""


def limit_of(limit: int | None) -> np.uint64:
    """The limit as the kernels take it: no count reaches 2^64 - 1, see ``build_run``."""
    most = 2**64 - 1
    value: np.uint64 = np.uint64(most if limit is None else min(limit, most))
    return value


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

    The function made is ``run(boards, roots, cursor, stack, stack_roots, state, budget, limit,
    counts, solutions, solution_roots, used, tally, nonpeers, scratch)``:

    boards           uint64 (B, words)       the frontier, or a piece of it
    roots           int64 (B)               which of the ``counts`` a board adds to
    cursor           int64 (1)               the next board to take
    stack            uint64 (depth, words)   this thread's, kept from call to call
    stack_roots     int64 (depth)           whose boards those are
    state            int64 (STATES)          TOP and AT_HAND, kept from call to call; -1 at first
    budget           int                     nodes to look at; then the function returns
    limit            uint64                  an root with this count is not searched on
    counts           uint64 (roots)         solutions found
    solutions        uint8 (room, n * n)     solutions are written here, if room is not 0,
    solution_roots  int64 (room)            and whose they are
    used             int64 (1)               rows of ``solutions`` claimed so far; past room: wait
    tally            uint64 (TALLIES)        this thread's statistics
    nonpeers             uint64                  ``Layout.nonpeers``
    scratch          uint64                  ``Layout.scratch_words`` words, this thread's

    No count can overflow: at a billion solutions a second, 2^64 take 584 years.
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
    def search(
        stack, stack_roots, state, budget, room, solutions, solution_roots, used, tally, nonpeers,
        scratch,
    ):  # fmt: skip
        """Explore the stack for a number of nodes; returns the solutions found, at most room."""
        found, guesses, nodes = ZERO, ZERO, 0
        root = stack_roots[0]
        top = state[TOP]
        deepest = top
        while top >= 0 and nodes < budget and found < room:
            s = stack[top]
            status = propagate(s, scratch, nonpeers)
            nodes += 1
            if status == DEAD:
                top -= 1
            elif status == SOLVED:
                if solutions.shape[0] > 0:
                    row = claim(used)
                    if row >= solutions.shape[0]:
                        break
                    write_solution(s, solutions[row])
                    solution_roots[row] = root
                found += ONE
                top -= 1
            else:
                if top + 1 == stack.shape[0]:
                    break
                if branch(s, stack[top + 1], nonpeers, choose(s, scratch, nonpeers)):
                    top += 1
                    stack_roots[top] = root
                    guesses += ONE
                    deepest = max(deepest, top)
        state[TOP] = top
        tally[NODES] += np.uint64(nodes)
        tally[GUESSES] += guesses
        tally[DEEPEST] = max(tally[DEEPEST], np.uint64(deepest))
        return found

    @jit
    def run(
        boards,
        roots,
        cursor,
        stack,
        stack_roots,
        state,
        budget,
        limit,
        counts,
        solutions,
        solution_roots,
        used,
        tally,
        nonpeers,
        scratch,
    ):
        while budget > 0:
            if state[TOP] < 0:
                index = claim(cursor)
                if index >= boards.shape[0]:
                    return
                for i in range(words):
                    stack[0, i] = boards[index, i]
                stack_roots[0] = roots[index]
                state[TOP] = 0
            root = stack_roots[0]  # of all: a board is fetched when the stack is empty
            known = counts[root]
            if known >= limit:
                state[TOP] = -1
                continue
            before = tally[NODES]
            part = min(budget, SLICE)
            room = limit - known
            found = search(
                stack, stack_roots, state, part, room, solutions, solution_roots, used, tally,
                nonpeers, scratch,
            )  # fmt: skip
            spent = np.int64(tally[NODES] - before)
            budget -= spent
            if found != ZERO:
                add(counts, root, found)
            # Neither done nor out of budget: no room for solutions, or the stack is full.
            if state[TOP] >= 0 and spent < part and found < room:
                return

    return run
