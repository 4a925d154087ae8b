"""The iterative backtracking counter for 9x9 boards: many boards in step, one stack. 9x9 only.

Every lane has a board at hand, and all take one step together (``nine_step``). Then those that are
done, dead or solved, get another one, and those that do not change any more are split in two: one
half stays, the other goes to a lane that has just become free, or else on the stack. So lanes are
busy as long as there is work anywhere, however long each board takes. It makes no difference
whether there is one lane (a CUDA thread) or many (a CPU thread).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import lowest_index, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.lanes import nonzero
from gpusudoku.kernels.search.layout import ONE, ZERO
from gpusudoku.kernels.search.loop import AT_HAND, DEEPEST, GUESSES, NODES, TOP
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
    """Make ``choose(work, lane)``: the cell to guess, as the number of its word and its bit.

    Of the cells with several candidates the first in reading order; or one with two, if there is
    one, else one of those with the fewest.
    """

    @jit
    def first(work, lane):
        for band in range(3):
            for k in range(3):
                cells = (np.uint64(work[OPEN + k, lane]) >> np.uint64(10 * band)) & np.uint64(511)
                if cells != ZERO:
                    return k, np.uint32((cells & (~cells + ONE)) << np.uint64(10 * band))
        return 0, np.uint32(0)

    @jit
    def fewest(work, lane):
        for k in range(3):
            bivalue = np.uint64(work[BIVALUE + k, lane])
            if bivalue != ZERO:
                return k, np.uint32(bivalue & (~bivalue + ONE))
        best, at, chosen = 10, 0, ZERO
        for k in range(3):
            cells = np.uint64(work[OPEN + k, lane])
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                count = 0
                for d in range(9):
                    if np.uint64(work[3 * d + k, lane]) & bit != ZERO:
                        count += 1
                if count < best:
                    best, at, chosen = count, k, bit
        return at, np.uint32(chosen)

    return first if strategy == FIRST else fewest


def build_run(
    settings: SearchSettings,
    lanes: int,
    jit: Jit,
    claim: Callable[..., Any],
    add: Callable[..., Any],
) -> Callable[..., None]:
    """Make the loop of one thread; see ``search.build_run`` for what the arguments have in common.

    Makes ``run(boards, roots, cursor, stack, stack_roots, state, budget, limit, counts,
    solutions, solution_roots, used, tally, work, lane_roots)``, where

    stack        uint32 (depth, WORDS)       boards that wait; between calls, all that are left
    work         uint32 (WORK_ROWS, lanes)   what is at hand, divided as in ``nine_planes``
    lane_roots  int64 (lanes)

    It returns when all is done, when the budget of nodes is spent, or for want of room: fewer than
    2 ``lanes`` rows of the stack are free, or fewer than ``lanes`` of the solutions.
    """
    step = build_step(settings.techniques, jit)
    choose = build_choose(settings.strategy, jit)
    unpack = build_unpack(jit)
    write_solution = build_write_solution(jit)
    all_lanes = np.uint64((1 << lanes) - 1)

    @jit
    def load_lane(work, lane, stack, row):
        for w in range(WORDS):
            work[w, lane] = stack[row, w]
        for k in range(3):
            work[CLEAR + k, lane] = 0

    @jit
    def store_lane(work, lane, stack, row):
        for w in range(WORDS):
            clear = work[CLEAR + w % 3, lane]
            stack[row, w] = work[w, lane] & (work[PLACED + w, lane] | ~clear)

    @jit
    def copy_lane(work, lane, other):
        for w in range(WORDS):
            work[w, other] = work[w, lane]
        for k in range(3):
            work[CLEAR + k, other] = 0

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
        work,
        lane_roots,
    ):
        listing = solutions.shape[0] > 0
        height = state[TOP] + 1
        nodes, guesses, deepest = 0, 0, 0
        found, finder = ZERO, 0  # solutions not yet added to the counts, and their root
        busy, free = ZERO, all_lanes & np.uint64(state[AT_HAND])
        while True:
            while free != ZERO:
                lane = lowest_index(free)
                if height > 0:
                    height -= 1
                    root = stack_roots[height]
                    if counts[root] >= limit:
                        continue
                    load_lane(work, lane, stack, height)
                else:
                    index = claim(cursor)
                    if index >= boards.shape[0]:
                        break
                    root = roots[index]
                    if counts[root] >= limit:
                        continue
                    unpack(boards[index], work, lane)
                    for k in range(3):
                        work[CLEAR + k, lane] = 0
                lane_roots[lane] = root
                busy |= ONE << np.uint64(lane)
                free &= free - ONE
            if busy == ZERO or nodes >= budget or height + 2 * lanes > stack.shape[0]:
                break
            if listing and used[0] + lanes > solutions.shape[0]:
                break
            dead, unsolved, changed = step(work)
            dead, unsolved, changed = nonzero(dead), nonzero(unsolved), nonzero(changed)
            solved = busy & ~dead & ~unsolved
            stuck = busy & ~dead & unsolved & ~changed
            free = busy & dead
            nodes += popcount(free) + popcount(solved) + popcount(stuck)
            while solved != ZERO:
                lane = lowest_index(solved)
                solved &= solved - ONE
                root = lane_roots[lane]
                if listing:
                    row = claim(used)
                    if row >= solutions.shape[0]:  # other threads took the last ones
                        nodes -= 1
                        continue
                    write_solution(work, lane, solutions[row])
                    solution_roots[row] = root
                free |= ONE << np.uint64(lane)
                if root != finder or found + counts[root] >= limit:
                    if found != ZERO:
                        add(counts, finder, found)
                    found, finder = ZERO, root
                found += ONE
            while stuck != ZERO:
                lane = lowest_index(stuck)
                stuck &= stuck - ONE
                k, bit = choose(work, lane)
                candidates = ZERO
                for d in range(9):
                    if work[3 * d + k, lane] & bit != 0:
                        candidates |= ONE << np.uint64(d)
                lowest = lowest_index(candidates)
                candidates &= candidates - ONE
                guesses += 1
                # One half loses the lowest candidate: a free lane goes on with it, or nobody yet.
                if free != ZERO:
                    other = lowest_index(free)
                    free &= free - ONE
                    copy_lane(work, lane, other)
                    work[3 * lowest + k, other] &= ~bit
                    lane_roots[other] = lane_roots[lane]
                else:
                    store_lane(work, lane, stack, height)
                    stack[height, 3 * lowest + k] &= ~bit
                    stack_roots[height] = lane_roots[lane]
                    height += 1
                # The other half has nothing else in the cell.
                while candidates != ZERO:
                    work[3 * lowest_index(candidates) + k, lane] &= ~bit
                    candidates &= candidates - ONE
            deepest = max(deepest, height)
            busy &= ~free
            free = all_lanes & ~busy
        if found != ZERO:
            add(counts, finder, found)
        # Put back so that the next call finds every board in the lane where it was.
        state[AT_HAND] = np.int64(busy)
        for lane in range(lanes - 1, -1, -1):
            if (busy >> np.uint64(lane)) & ONE != ZERO:
                store_lane(work, lane, stack, height)
                stack_roots[height] = lane_roots[lane]
                height += 1
        state[TOP] = height - 1
        tally[NODES] += np.uint64(nodes)
        tally[GUESSES] += np.uint64(guesses)
        tally[DEEPEST] = max(tally[DEEPEST], np.uint64(deepest))

    return run
