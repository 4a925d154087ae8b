"""A search in lanes: many boards in step, one stack.

Every lane has a board, and all take one step together (``step``). Then those that are done, dead or
solved, get another one, and those that do not change any more are split in two: one half stays, the
other goes to a lane that has just become free, or else on the stack. So lanes are busy as long as
there is memory anywhere, however long each board takes.

A guess splits a board into two that share no solution: one where a cell has its lowest candidate,
and one where it has not. Both are whole boards, so a stack of them is a list of work that anyone
can take over: the frontier, a stack, and what is left behind are all the same thing. ``pool`` has
the functions by which threads share it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2

import numpy as np

from gpusudoku.kernels.atomics import add, load_relaxed, store_relaxed
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.arguments import (
    BELOW,
    DEEPEST,
    GUESSES,
    IN_LANES,
    JOINED,
    MAX_UNREPORTED,
    NODES,
    TOP,
)
from gpusudoku.kernels.search.choose import build_choose, narrows
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.paired import build_paired
from gpusudoku.kernels.search.pool import NONE_LEFT, build_sharing
from gpusudoku.kernels.search.shape import HIDDEN_SINGLE, PAIRS, SearchSettings, Shape
from gpusudoku.kernels.search.step import build_steps, overlooks

UNREPORTED_SHARE = np.uint64(1000)
"""Below a limit, threads hold back less than one solution for each so many that are missing."""


def build_run(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., bool]:
    """Make the loop of one thread.

    It is ``run(pool, stack, found, recalls, recalls_seen, budget, limit, lanes)``.
    ``arguments`` describes the groups; the others are

    recalls       int64 (1)  the function returns once this differs from ``recalls_seen``
    recalls_seen  int
    budget        int        nodes to look at; then the function returns
    limit         uint64     boards of a root with this count are not taken or split any more
    lanes         Lanes

    It returns False when no thread has any boards left. It returns True, to be called again, when
    it is recalled, when the budget is spent or it has long waited for boards; for want of room, if
    fewer than twice as many rows of the stack are free as there are lanes, or fewer rows of the
    solutions than lanes; and before it waits, if there are solutions to hand over. Between calls
    all boards that are left are on the stack, or in the pool.
    """
    techniques = settings.techniques
    width = shape.lanes
    planes = shape.planes
    K = shape.plane_words
    CLEAR = shape.CLEAR
    all_lanes = np.uint64((1 << width) - 1)
    max_unreported = np.uint64(MAX_UNREPORTED)
    load, store, place, candidates_of, write = build_moves(shape, jit)
    choose = build_choose(shape, settings.strategy, candidates_of, jit)
    advance, find_pairs, find_conflicts, keep_best = build_steps(shape, techniques, width)
    take, receive, give = build_sharing(shape, jit)
    find_two = build_paired(shape, jit).find_two
    has_hidden = techniques & HIDDEN_SINGLE != 0
    has_pairs = techniques & PAIRS != 0
    has_conflicts = overlooks(techniques)
    narrowing = narrows(shape, settings)

    @jit
    def run(pool, stack, found, recalls, recalls_seen, budget, limit, lanes):
        memory = lanes.memory
        counts = found.counts
        if memory.shape[1] != width:  # which tells the compiler the distance of two rows
            raise ValueError
        depth = stack.boards.shape[0]
        room = found.solutions.shape[0]
        # The stack is the rows from ``low`` to before ``height``.
        low = stack.state[BELOW] + 1
        height = stack.state[TOP] + 1
        nodes = np.int64(stack.tally[NODES])
        last_node = nodes + budget
        guesses, deepest = 0, 0
        new, new_root = ZERO, 0  # solutions of one root that are not yet added to its count
        is_over = False
        busy = ZERO
        # Boards that were in lanes are on top of the stack. They return to the same lanes first.
        free = all_lanes & np.uint64(stack.state[IN_LANES])
        if stack.state[IN_LANES] < 0:
            add(pool.state, JOINED, 1)
        elif free == ZERO:
            free = all_lanes
        while True:
            while free != ZERO:
                if height == low:
                    low = 0
                    height = take(pool, stack)
                    if height == 0 and busy == ZERO:
                        if new != ZERO:
                            add(counts, new_root, new)
                            new = ZERO
                        if room > 0 and found.used[0] > 0:
                            break
                        height = receive(pool, stack, recalls, recalls_seen)
                    if height <= 0:
                        is_over = height == NONE_LEFT
                        height = 0
                        break
                height -= 1
                root = stack.roots[height]
                if load_relaxed(counts, root) >= limit:
                    continue
                lane = lowest_index(free)
                load(memory, lane, stack.boards, height)
                lanes.roots[lane] = root
                busy |= ONE << np.uint64(lane)
                free &= free - ONE
            is_recalled = load_relaxed(recalls, 0) != recalls_seen
            if busy == ZERO or is_recalled or nodes >= last_node:
                break
            if height + 2 * width > depth or (room > 0 and found.used[0] + width > room):
                break
            if height - low >= width:
                low += give(pool, stack, low, height)
            dead, unsolved, changed = advance(memory)
            stuck = busy & ~dead & unsolved & ~changed
            with_two = ZERO  # boards with two solutions, which need no split to be counted
            if has_hidden and room == 0:
                with_two = find_two(memory, stuck)
                stuck &= ~with_two
            if has_pairs and stuck != ZERO:
                stuck &= ~find_pairs(memory)
            if has_conflicts and stuck != ZERO:
                dead |= stuck & find_conflicts(memory)
                stuck &= ~dead
            if narrowing and stuck != ZERO:
                keep_best(memory)
            solved = (busy & ~dead & ~unsolved) | with_two
            free = busy & dead
            nodes += popcount(free) + popcount(solved) + popcount(stuck)
            store_relaxed(stack.tally, NODES, np.uint64(nodes))  # others read it meanwhile
            while solved != ZERO:
                lane = lowest_index(solved)
                solved &= solved - ONE
                root = lanes.roots[lane]
                if room > 0:
                    row = found.used[0]
                    found.used[0] = row + 1
                    write(memory, lane, found.solutions[row])
                    found.roots[row] = root
                free |= ONE << np.uint64(lane)
                if root != new_root:
                    if new != ZERO:
                        add(counts, new_root, new)
                    new = ZERO
                    new_root = root
                new += ONE + ((with_two >> np.uint64(lane)) & ONE)
                # A thread may lose its core for long. So all threads together hold back less than a
                # thousandth of what is missing to the limit, or nothing.
                held_back = new * np.uint64(load_relaxed(pool.state, JOINED))
                known = load_relaxed(counts, root)
                if new >= max_unreported or known + held_back * UNREPORTED_SHARE >= limit:
                    add(counts, root, new)
                    new = ZERO
            while stuck != ZERO:
                lane = lowest_index(stuck)
                stuck &= stuck - ONE
                if load_relaxed(counts, lanes.roots[lane]) >= limit:
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
                        # The last step has struck what CLEAR marks: the planes are the whole board.
                        for w in range(planes):
                            stack.boards[height, w] = memory[w, lane]
                        stack.boards[height, K * lowest + j] &= ~bit
                        stack.roots[height] = lanes.roots[lane]
                        height += 1
                # The other half has nothing else in the cell: the next step strikes the others.
                memory[CLEAR + j, lane] |= bit
                if techniques == 0:
                    place(memory, lane, lowest, j, bit)
            deepest = max(deepest, height - low)
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
        stack.state[BELOW] = low - 1
        stack.tally[NODES] = np.uint64(nodes)
        stack.tally[GUESSES] += np.uint64(guesses)
        stack.tally[DEEPEST] = max(stack.tally[DEEPEST], np.uint64(deepest))
        return not is_over

    return run


def build_expand(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., int]:
    """Make ``expand(boards, cutoff, by_empty, children, memory)``: one round of a frontier.

    Every board of (B, words) is simplified. Dead ones vanish; one that is solved or known to have
    two solutions, or whose size is at most the cutoff, becomes a child; any other is split in two.
    The size is the number of open cells, or log2 of the product of their numbers of candidates.
    Returns the number of children. ``memory`` has the shape's lanes; fewer boards than these are
    simplified at a time.
    """
    techniques = settings.techniques
    Word = shape.word
    width = shape.lanes
    K = shape.plane_words
    CLEAR = shape.CLEAR
    OPEN = shape.OPEN
    load, store, place, candidates_of, _ = build_moves(shape, jit)
    choose = build_choose(shape, settings.strategy, candidates_of, jit)
    advance, find_pairs, find_conflicts, keep_best = build_steps(shape, techniques, width)
    find_two = build_paired(shape, jit).find_two
    has_hidden = techniques & HIDDEN_SINGLE != 0
    has_pairs = techniques & PAIRS != 0
    narrowing = narrows(shape, settings)

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
            with_two = find_two(memory, alive & unsolved) if has_hidden else ZERO
            if narrowing:
                keep_best(memory)
            while alive != ZERO:
                lane = lowest_index(alive)
                alive &= alive - ONE
                store(memory, lane, children.boards, count)
                children.parents[count] = start + lane
                is_known = ((~unsolved | with_two) >> np.uint64(lane)) & ONE != ZERO
                ready = is_known or size(memory, lane, by_empty) <= cutoff
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
