"""A search in lanes: many boards in step, one stack.

Every lane has a board, and all take one step together (``step``). Then those that are done, dead or
solved, get another one, and those that do not change any more are split in two: one half stays, the
other goes to a lane that has just become free, or else on the stack. So lanes are busy as long as
there is memory anywhere, however long each board takes.

A guess splits a board into two that share no solution: one where a cell has its lowest candidate,
and one where it has not. Both are whole boards, so a stack of them is a list of work that anyone
can take over: the frontier, a stack, and what is left behind are all the same thing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.parts import Jit
from gpusudoku.kernels.search.arguments import DEEPEST, GUESSES, IN_LANES, NODES, TOP
from gpusudoku.kernels.search.choose import build_choose, narrows
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.settings import PAIRS, SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.search.step import build_steps, overlooks


def build_run(
    shape: Shape,
    settings: SearchSettings,
    jit: Jit,
    claim: Callable[..., Any],
    add: Callable[..., Any],
) -> Callable[..., None]:
    """Make the loop of one thread, ``run(work, stack, found, budget, limit, lanes)``.

    ``claim(array, i)`` returns array[i] and raises it by 1; ``add(array, i, value)`` adds to it.
    ``arguments`` says what the groups hold; the others are

    budget   int       nodes to look at; then the function returns
    limit    uint64    boards of a root with this count are not taken or split any more
    lanes    Lanes

    It returns when all is done, when the budget of nodes is spent, or for want of room: fewer than
    twice as many rows of the stack are free as there are lanes, or fewer rows of the solutions
    than lanes. Between calls all that is left to explore is on the stack.
    """
    techniques = settings.techniques
    width, K, CLEAR = shape.lanes, shape.plane_words, shape.CLEAR
    all_lanes = np.uint64((1 << width) - 1)
    load, store, place, candidates_of, write = build_moves(shape, jit)
    choose = build_choose(shape, settings.strategy, candidates_of, jit)
    advance, find_pairs, find_conflicts, keep_best = build_steps(shape, techniques, width)
    has_pairs, has_conflicts = techniques & PAIRS != 0, overlooks(techniques)
    narrowing = narrows(shape, settings)

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
                    load(memory, lane, stack.boards, height)
                else:
                    index = claim(work.cursor, 0)
                    if index >= work.boards.shape[0]:
                        break
                    root = work.roots[index]
                    if counts[root] >= limit:
                        continue
                    load(memory, lane, work.boards, index)
                lanes.roots[lane] = root
                busy |= ONE << np.uint64(lane)
                free &= free - ONE
            if busy == ZERO or nodes >= budget or height + 2 * width > stack.boards.shape[0]:
                break
            if listing and found.used[0] + width > found.solutions.shape[0]:
                break
            dead, unsolved, changed = advance(memory)
            stuck = busy & ~dead & unsolved & ~changed
            if has_pairs and stuck != ZERO:
                stuck &= ~find_pairs(memory)
            if has_conflicts and stuck != ZERO:
                dead |= stuck & find_conflicts(memory)
                stuck &= ~dead
            if narrowing and stuck != ZERO:
                keep_best(memory)
            solved = busy & ~dead & ~unsolved
            free = busy & dead
            nodes += popcount(free) + popcount(solved) + popcount(stuck)
            while solved != ZERO:
                lane = lowest_index(solved)
                solved &= solved - ONE
                root = lanes.roots[lane]
                if listing:
                    row = claim(found.used, 0)
                    if row >= found.solutions.shape[0]:  # other threads took the last ones
                        nodes -= 1
                        continue
                    write(memory, lane, found.solutions[row])
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
                if counts[lanes.roots[lane]] >= limit:
                    free |= ONE << np.uint64(lane)
                    continue
                j, bit = choose(memory, lane)
                candidates = candidates_of(memory, lane, j, bit)
                lowest = lowest_index(candidates)
                candidates &= candidates - ONE
                # One half loses the lowest candidate: a free lane goes on with it, or nobody yet.
                # There is no such half where, without techniques, a digit has yet to be placed.
                if candidates != ZERO:
                    guesses += 1
                    if free != ZERO:
                        other = lowest_index(free)
                        free &= free - ONE
                        for w in range(CLEAR + K):
                            memory[w, other] = memory[w, lane]
                        memory[K * lowest + j, other] &= ~bit
                        lanes.roots[other] = lanes.roots[lane]
                    else:
                        store(memory, lane, stack.boards, height)
                        stack.boards[height, K * lowest + j] &= ~bit
                        stack.roots[height] = lanes.roots[lane]
                        height += 1
                # The other half has nothing else in the cell: the next step strikes the others.
                memory[CLEAR + j, lane] |= bit
                if techniques == 0:
                    place(memory, lane, lowest, j, bit)
            deepest = max(deepest, height)
            busy &= ~free
            free = all_lanes & ~busy
        if new != ZERO:
            add(counts, new_root, new)
        # Put back so that the next call finds every board in the lane where it was.
        stack.state[IN_LANES] = np.int64(busy)
        for lane in range(width - 1, -1, -1):
            if (busy >> np.uint64(lane)) & ONE != ZERO:
                store(memory, lane, stack.boards, height)
                stack.roots[height] = lanes.roots[lane]
                height += 1
        stack.state[TOP] = height - 1
        stack.tally[NODES] += np.uint64(nodes)
        stack.tally[GUESSES] += np.uint64(guesses)
        stack.tally[DEEPEST] = max(stack.tally[DEEPEST], np.uint64(deepest))

    return run


def build_expand(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., int]:
    """Make ``expand(boards, cutoff, by_empty, children, memory)``: one round of a frontier.

    Every board of (B, words) is simplified. Dead ones vanish; one that is solved, or whose size is
    at most the cutoff, becomes a child; any other is split in two. The size is the number of open
    cells, or log2 of the product of their numbers of candidates. Returns the number of children.
    ``memory`` has the shape's lanes; fewer boards than these are simplified at a time.
    """
    techniques, Word = settings.techniques, shape.word
    width, K, CLEAR, OPEN = shape.lanes, shape.plane_words, shape.CLEAR, shape.OPEN
    load, store, place, candidates_of, _ = build_moves(shape, jit)
    choose = build_choose(shape, settings.strategy, candidates_of, jit)
    advance, find_pairs, find_conflicts, keep_best = build_steps(shape, techniques, width)
    has_pairs, narrowing = techniques & PAIRS != 0, narrows(shape, settings)

    @jit
    def size(memory, lane, by_empty):
        total = 0.0
        for j in range(K):
            cells = np.uint64(memory[OPEN + j, lane])
            if by_empty:
                total += popcount(cells)
                continue
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                total += log2(popcount(candidates_of(memory, lane, j, Word(bit))))
        return total

    @jit
    def simplify(memory, alive):
        """Advance some lanes until nothing changes; return those alive, and the unsolved ones."""
        while True:
            dead, unsolved, changed = advance(memory)
            alive &= ~dead
            if alive & unsolved & changed != ZERO:
                continue
            if has_pairs and alive & unsolved & find_pairs(memory) != ZERO:
                continue
            if techniques != 0:
                alive &= ~find_conflicts(memory)
            return alive, alive & unsolved

    @jit
    def expand(boards, cutoff, by_empty, children, memory):
        count = 0
        for start in range(0, boards.shape[0], width):
            number = min(width, boards.shape[0] - start)
            for lane in range(number):
                load(memory, lane, boards, start + lane)
            every = ~ZERO >> np.uint64(64 - number)
            alive, unsolved = simplify(memory, every)
            if narrowing:
                keep_best(memory)
            while alive != ZERO:
                lane = lowest_index(alive)
                alive &= alive - ONE
                store(memory, lane, children.boards, count)
                children.parents[count] = start + lane
                is_solved = (unsolved >> np.uint64(lane)) & ONE == ZERO
                ready = is_solved or size(memory, lane, by_empty) <= cutoff
                children.ready[count] = ready
                count += 1
                if ready:
                    continue
                j, bit = choose(memory, lane)
                candidates = candidates_of(memory, lane, j, bit)
                lowest = lowest_index(candidates)
                candidates &= candidates - ONE
                if candidates != ZERO:
                    children.boards[count - 1, K * lowest + j] &= ~bit
                    children.parents[count] = start + lane
                    children.ready[count] = False
                    count += 1
                memory[CLEAR + j, lane] |= bit
                if techniques == 0:
                    place(memory, lane, lowest, j, bit)
                store(memory, lane, children.boards, count - 1)
        return count

    return expand
