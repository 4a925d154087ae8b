"""The iterative backtracking counter for 9x9 boards: many boards in step, one stack. 9x9 only.

Every lane has a board, and all take one step together (``step``). Then those that are
done, dead or solved, get another one, and those that do not change any more are split in two: one
half stays, the other goes to a lane that has just become free, or else on the stack. So lanes are
busy as long as there is memory anywhere, however long each board takes. It makes no difference
whether there is one lane (a CUDA thread) or many (a CPU thread).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.lanes import nonzero
from gpusudoku.kernels.search.arguments import DEEPEST, GUESSES, IN_LANES, NODES, TOP
from gpusudoku.kernels.search.nine.planes import (
    BIVALUE,
    CLEAR,
    OPEN,
    PLACED,
    WORDS,
    build_unpack,
    build_write_solution,
)
from gpusudoku.kernels.search.nine.step import build_step
from gpusudoku.kernels.search.settings import (
    FIRST,
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    NAKED_SINGLE,
    SearchSettings,
)

TECHNIQUES = NAKED_SINGLE | HIDDEN_SINGLE | LOCKED_CANDIDATES
"""What steps can do."""


def can_search(settings: SearchSettings) -> bool:
    """Whether this search knows the techniques. One at least: a step finds naked singles."""
    return settings.techniques != 0 and settings.techniques & ~TECHNIQUES == 0


def build_choose(strategy: int, jit: Jit) -> Callable[..., tuple[int, np.uint32]]:
    """Make ``choose(memory, lane)``: the cell to guess, as the number of its word and its bit.

    Of the cells with several candidates the first in reading order; or one with two, if there is
    one, else one of those with the fewest.
    """

    @jit
    def first(memory, lane):
        for band in range(3):
            for k in range(3):
                cells = (np.uint64(memory[OPEN + k, lane]) >> np.uint64(10 * band)) & np.uint64(511)
                if cells != ZERO:
                    return k, np.uint32((cells & (~cells + ONE)) << np.uint64(10 * band))
        return 0, np.uint32(0)

    @jit
    def fewest(memory, lane):
        for k in range(3):
            bivalue = np.uint64(memory[BIVALUE + k, lane])
            if bivalue != ZERO:
                return k, np.uint32(bivalue & (~bivalue + ONE))
        best, at, chosen = 10, 0, ZERO
        for k in range(3):
            cells = np.uint64(memory[OPEN + k, lane])
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                count = 0
                for d in range(9):
                    if np.uint64(memory[3 * d + k, lane]) & bit != ZERO:
                        count += 1
                if count < best:
                    best, at, chosen = count, k, bit
        return at, np.uint32(chosen)

    return first if strategy == FIRST else fewest


def build_run(
    settings: SearchSettings,
    width: int,
    jit: Jit,
    claim: Callable[..., Any],
    add: Callable[..., Any],
) -> Callable[..., None]:
    """Make the loop of one thread, ``run(work, stack, found, budget, limit, lanes)``.

    See ``search.loop.build_run`` for the arguments; ``lanes`` is a ``Lanes``. Boards on the stack
    are uint32 (WORDS). Between calls all that is left to explore is on the stack.

    It returns when all is done, when the budget of nodes is spent, or for want of room: fewer than
    twice as many rows of the stack are free as there are lanes, or fewer rows of the solutions
    than lanes.
    """
    step = build_step(settings.techniques, jit)
    choose = build_choose(settings.strategy, jit)
    unpack = build_unpack(jit)
    write_solution = build_write_solution(jit)
    all_lanes = np.uint64((1 << width) - 1)

    @jit
    def load_lane(memory, lane, boards, row):
        for w in range(WORDS):
            memory[w, lane] = boards[row, w]
        for k in range(3):
            memory[CLEAR + k, lane] = 0

    @jit
    def store_lane(memory, lane, boards, row):
        for w in range(WORDS):
            clear = memory[CLEAR + w % 3, lane]
            boards[row, w] = memory[w, lane] & (memory[PLACED + w, lane] | ~clear)

    @jit
    def copy_lane(memory, lane, other):
        for w in range(WORDS):
            memory[w, other] = memory[w, lane]
        for k in range(3):
            memory[CLEAR + k, other] = 0

    @jit
    def run(work, stack, found, budget, limit, lanes):
        memory, counts = lanes.memory, found.counts
        listing = found.solutions.shape[0] > 0
        height = stack.state[TOP] + 1
        nodes, guesses, deepest = 0, 0, 0
        new, new_root = ZERO, 0  # solutions of one root that are not yet added to its count
        busy, free = ZERO, all_lanes & np.uint64(stack.state[IN_LANES])
        while True:
            while free != ZERO:
                lane = lowest_index(free)
                if height > 0:
                    height -= 1
                    root = stack.roots[height]
                    if counts[root] >= limit:
                        continue
                    load_lane(memory, lane, stack.boards, height)
                else:
                    index = claim(work.cursor)
                    if index >= work.boards.shape[0]:
                        break
                    root = work.roots[index]
                    if counts[root] >= limit:
                        continue
                    unpack(work.boards[index], memory, lane)
                    for k in range(3):
                        memory[CLEAR + k, lane] = 0
                lanes.roots[lane] = root
                busy |= ONE << np.uint64(lane)
                free &= free - ONE
            if busy == ZERO or nodes >= budget or height + 2 * width > stack.boards.shape[0]:
                break
            if listing and found.used[0] + width > found.solutions.shape[0]:
                break
            dead, unsolved, changed = step(memory)
            dead, unsolved, changed = nonzero(dead), nonzero(unsolved), nonzero(changed)
            solved = busy & ~dead & ~unsolved
            stuck = busy & ~dead & unsolved & ~changed
            free = busy & dead
            nodes += popcount(free) + popcount(solved) + popcount(stuck)
            while solved != ZERO:
                lane = lowest_index(solved)
                solved &= solved - ONE
                root = lanes.roots[lane]
                if listing:
                    row = claim(found.used)
                    if row >= found.solutions.shape[0]:  # other threads took the last ones
                        nodes -= 1
                        continue
                    write_solution(memory, lane, found.solutions[row])
                    found.roots[row] = root
                free |= ONE << np.uint64(lane)
                if root != new_root or new + counts[root] >= limit:
                    if new != ZERO:
                        add(counts, new_root, new)
                    new, new_root = ZERO, root
                new += ONE
            while stuck != ZERO:
                lane = lowest_index(stuck)
                stuck &= stuck - ONE
                k, bit = choose(memory, lane)
                candidates = ZERO
                for d in range(9):
                    if memory[3 * d + k, lane] & bit != 0:
                        candidates |= ONE << np.uint64(d)
                lowest = lowest_index(candidates)
                candidates &= candidates - ONE
                guesses += 1
                # One half loses the lowest candidate: a free lane goes on with it, or nobody yet.
                if free != ZERO:
                    other = lowest_index(free)
                    free &= free - ONE
                    copy_lane(memory, lane, other)
                    memory[3 * lowest + k, other] &= ~bit
                    lanes.roots[other] = lanes.roots[lane]
                else:
                    store_lane(memory, lane, stack.boards, height)
                    stack.boards[height, 3 * lowest + k] &= ~bit
                    stack.roots[height] = lanes.roots[lane]
                    height += 1
                # The other half has nothing else in the cell.
                while candidates != ZERO:
                    memory[3 * lowest_index(candidates) + k, lane] &= ~bit
                    candidates &= candidates - ONE
            deepest = max(deepest, height)
            busy &= ~free
            free = all_lanes & ~busy
        if new != ZERO:
            add(counts, new_root, new)
        # Put back so that the next call finds every board in the lane where it was.
        stack.state[IN_LANES] = np.int64(busy)
        for lane in range(width - 1, -1, -1):
            if (busy >> np.uint64(lane)) & ONE != ZERO:
                store_lane(memory, lane, stack.boards, height)
                stack.roots[height] = lanes.roots[lane]
                height += 1
        stack.state[TOP] = height - 1
        stack.tally[NODES] += np.uint64(nodes)
        stack.tally[GUESSES] += np.uint64(guesses)
        stack.tally[DEEPEST] = max(stack.tally[DEEPEST], np.uint64(deepest))

    return run
