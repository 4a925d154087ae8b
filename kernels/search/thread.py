"""A search on a CUDA thread: one board at a time, in step with a warp.

The 32 threads of a warp share one stream of instructions: where some of them go another way than
the rest, one party waits for the other. So what a thread does in a round has two parts:

* a step (``step``), which has no branch: nearly all instructions, which all threads take together;
* what its own board needs now: a dead or solved one gives way to another, and one that hardly
  changes any more leaves half of itself on the stack. Some threads wait while others do this.

Threads that have parted meet again where the assembler sees fit. Left alone, it lets those that
took another board step by themselves, and then the rest: every round takes twice as long. So all
threads vote before they step, and a vote is not over before everyone has come.

A multiprocessor prefers some of its warps to others, and those spend their budget of rounds long
before the rest. On an H200, launches in which each warp took its whole budget had 5.3 of 7 warps of
a scheduler at work on average. So a warp that has spent its budget stops all others. Every warp
checks this each ROUNDS_UNTIL_CHECK rounds, so shorter launches are never stopped.

All boards on the stack descend from one root, as a board of the pool is only taken when the stack
is empty. So roots need not be pushed and popped, and the limit need not be looked at for every
board. When a launch ends, a thread may give its oldest boards, which are the largest, to the pool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, popcount
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.arguments import (
    BUSY,
    DEEPEST,
    END,
    ENDS,
    FILLED,
    GIVEN,
    GUESSES,
    MAX_UNREPORTED,
    NODES,
    STOPPED,
    TAKEN,
    TOP,
)
from gpusudoku.kernels.search.choose import build_choose, narrows
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.paired import MAX_OPEN_CELLS, build_paired
from gpusudoku.kernels.search.rows import build_row_moves
from gpusudoku.kernels.search.shape import FIRST, HIDDEN_SINGLE, PAIRS, SearchSettings, Shape
from gpusudoku.kernels.search.step import build_steps, overlooks

FEW_DEAD = 8
"""Boards are split early while fewer than so many of the last 32 ended dead. It makes more dead
ones, which pays where most have solutions. The first solution of a root does not count: puzzles
have one."""
ROUNDS_UNTIL_CHECK = 16
"""A warp looks every so many rounds, a power of two, whether it is to stop: a round takes some six
microseconds, and the look less than one."""
LAST_ROUND = np.uint64(ROUNDS_UNTIL_CHECK - 1)
"""The number of the last of these rounds, and the bits of a round's number that tell it."""


class Helpers(NamedTuple):
    """What a thread does together with others, as functions that kernels call."""

    add: Callable[..., Any]
    """``add(array, i, value)`` adds a value and returns what was there."""
    any_of_warp: Callable[..., Any]
    """``any_of_warp(condition)`` tells whether a condition holds for any thread of the warp, once
    all its threads have called it."""
    is_first_of_warp: Callable[..., Any]
    """``is_first_of_warp()`` holds for one thread of each warp."""


def build_run(
    shape: Shape,
    settings: SearchSettings,
    jit: Jit,
    helpers: Helpers,
) -> Callable[..., None]:
    """Make the loop of one thread, ``run(pool, stack, found, budget, gives, limit, memory)``.

    See ``lanes.build_run`` for most arguments; the first column of ``memory`` is the thread's. The
    budget is one of rounds, so that no thread waits for another one of its warp to spend it. A
    thread with several boards gives ``gives`` of them to the pool in the end, but for one. A warp
    may have any number of threads.

    It returns after that, or when another warp has spent its budget, or when no thread of the warp
    has anything left to do. A thread that has fewer than two rows of its stack left, or no room for
    a solution, waits for that; in want of rows it gives a board to the pool, too, if there is room.
    """
    techniques, strategy = settings
    add, any_of_warp, is_first_of_warp = helpers
    n = shape.n
    planes = shape.planes
    K = shape.plane_words
    Word = shape.word
    CLEAR = shape.CLEAR
    PAIR_CELLS = shape.PAIRS
    batches, load, store, copy_batch = build_row_moves(shape)
    _, _, place, candidates_of, write = build_moves(shape, jit)
    choose = build_choose(shape, strategy, candidates_of, jit)
    early = strategy != FIRST and techniques != 0
    advance, find_pairs, find_conflicts, keep_best = build_steps(shape, techniques, 1, early)
    count_open, has_two, _ = build_paired(shape, jit)
    has_hidden = techniques & HIDDEN_SINGLE != 0
    has_pairs = techniques & PAIRS != 0
    has_conflicts = overlooks(techniques)
    narrowing = narrows(shape, settings)

    @jit
    def take(rows, row, memory):
        """Make a board of some rows the current one."""
        for batch in range(batches):
            load(rows, row, memory, 0, batch)
        for j in range(K):
            memory[CLEAR + j, 0] = 0

    @jit
    def put(memory, rows, row):
        """Write the current board to one of some rows, but without striking what is to be."""
        for batch in range(batches):
            store(memory, 0, rows, row, batch)

    @jit
    def copy(rows, row, others, other):
        """Write a row of some rows to another one of others."""
        for batch in range(batches):
            copy_batch(rows, row, others, other, batch)

    @jit
    def strike(memory):
        for j in range(K):
            clear = memory[CLEAR + j, 0]
            cleared = Word(0)
            for w in range(j, planes, K):
                memory[w, 0] &= ~cleared
                cleared |= memory[w, 0] & clear

    @jit
    def chosen(memory):
        j, bit = choose(memory, 0)
        return np.uint64(j), bit  # nobody need look whether an index without a sign is negative

    @jit
    def cell_to_split(memory):
        """What ``choose`` says, without a branch if there is a cell with two candidates."""
        if not early:
            return chosen(memory)
        if narrowing:
            keep_best(memory)
        j = np.uint64(0)
        cells = memory[PAIR_CELLS, 0]
        for other in range(1, K):
            if cells == 0:
                j = np.uint64(other)
                cells = memory[PAIR_CELLS + other, 0]
        if cells == 0:
            return chosen(memory)
        return j, Word(cells & (~cells + Word(1)))

    @jit
    def split(memory, rows, row):
        """Leave a cell its lowest candidate only, and write the board without that one to a row.

        Returns the number of boards written: none if the cell has no other candidate.
        """
        j, bit = cell_to_split(memory)
        written = 1
        # Read all words that may have the bit at once: a loop that ends early waits for each load.
        word = j
        for d in range(n - 1, -1, -1):
            if memory[np.uint64(K * d) + j, 0] & bit != 0:
                word = np.uint64(K * d) + j
        if techniques == 0:
            candidates = candidates_of(memory, 0, np.int64(j), bit)
            if candidates & (candidates - ONE) == ZERO:
                written = 0
        if written:
            memory[word, 0] ^= bit
            put(memory, rows, row)
            memory[word, 0] ^= bit
        memory[np.uint64(CLEAR) + j, 0] |= bit  # the next step strikes the others
        if techniques == 0:
            place(memory, 0, np.int64(word) // K, np.int64(j), bit)
        return written

    if early:
        advance_board = advance
    else:

        @jit
        def advance_board(memory):
            dead, unsolved, changed = advance(memory)
            return dead, unsolved, changed, changed

    @jit
    def is_stuck(memory):
        """Tell whether pairs, if they are looked for, do not change a board either."""
        return not (has_pairs and find_pairs(memory) != ZERO)

    @jit
    def is_stopped(state):
        """Tell a warp whether another one has spent its budget."""
        return any_of_warp(is_first_of_warp() and add(state, STOPPED, 0) > 0)

    @jit
    def run(pool, stack, found, budget, gives, limit, memory):
        counts = found.counts
        depth = stack.boards.shape[0]
        room = found.solutions.shape[0]
        capacity = pool.boards.shape[0]
        filled = pool.state[FILLED]
        adds_two = has_hidden and room == 0  # boards with two solutions need no split to be counted
        most_unreported = min(limit, np.uint64(MAX_UNREPORTED))
        nodes, guesses, deepest = 0, 0, 0
        ends = np.uint32(stack.state[ENDS] & 0xFFFFFFFF)  # of the last boards, 1 for a dead one
        unreported = ZERO  # solutions of the root of all boards here
        height = stack.state[TOP] + 1
        root = stack.roots[0] if height > 0 else 0
        if height > 0 and counts[root] >= limit:
            height = 0
        has_board, more = False, True
        for number in range(budget):
            # True in the last of so many rounds; a remainder would take a dozen instructions.
            is_check = np.uint64(number) & LAST_ROUND == LAST_ROUND
            if is_check and is_stopped(pool.state):
                break
            if not has_board:
                if height > 0:
                    height -= 1
                    take(stack.boards, height, memory)
                    has_board = True
                elif more:
                    if unreported != ZERO:
                        add(counts, root, unreported)
                        unreported = ZERO
                    place_taken = add(pool.state, TAKEN, 1)
                    more = place_taken < filled
                    if more:
                        row = place_taken - capacity * (place_taken >= capacity)
                        root = pool.roots[row]
                        if counts[root] < limit:
                            take(pool.boards, row, memory)
                            has_board = True
            able = has_board and height + 2 <= depth
            if room > 0 and found.used[0] >= room:
                able = False
            if not any_of_warp(able or (more and not has_board)):
                break
            dead, unsolved, changed, ready = advance_board(memory)
            few_dead = early and popcount(np.uint64(ends)) < FEW_DEAD
            with_two = False
            if able and dead == ZERO and unsolved != ZERO and changed == ZERO:
                if has_conflicts:
                    dead = find_conflicts(memory)
                elif adds_two:
                    with_two = has_two(memory, 0)
            if able:
                if dead != ZERO:
                    nodes += 1
                    ends = np.uint32(ends << 1 | 1)
                    has_board = False
                elif unsolved == ZERO or with_two:
                    row = add(found.used, 0, 1) if room > 0 else 0
                    if room == 0 or row < room:  # else other threads took the last ones
                        if room > 0:
                            write(memory, 0, found.solutions[row])
                            found.roots[row] = root
                        nodes += 1
                        has_board = False
                        if unreported != ZERO:
                            ends = np.uint32(ends << 1)
                        unreported += ONE + np.uint64(with_two)
                        if unreported >= most_unreported:
                            add(counts, root, unreported)
                            unreported = ZERO
                            if counts[root] >= limit:
                                height = 0
                elif (changed == ZERO and is_stuck(memory)) or (
                    changed != ZERO
                    and few_dead
                    and ready != ZERO
                    and not (adds_two and count_open(memory, 0) <= MAX_OPEN_CELLS)
                ):
                    nodes += 1
                    written = split(memory, stack.boards, height)
                    guesses += written
                    height += written
                    deepest = max(deepest, height)
        else:
            if is_first_of_warp():
                add(pool.state, STOPPED, 1)
        if unreported != ZERO:
            add(counts, root, unreported)
        if height + 2 > depth:
            gives = max(gives, 1)
        given, more = 0, True
        while more and given < gives and height - given + has_board > 1:
            place_given = add(pool.state, GIVEN, 1)
            more = place_given < pool.state[END]
            if more:
                row = place_given - capacity * (place_given >= capacity)
                copy(stack.boards, given, pool.boards, row)
                pool.roots[row] = root
                given += 1
        if given > 0:
            height -= given
            for row in range(height):
                copy(stack.boards, row + given, stack.boards, row)
        if has_board:
            strike(memory)
            put(memory, stack.boards, height)
            height += 1
        if height > 0 and height + 1 <= depth:
            add(pool.state, BUSY, 1)
        for row in range(height):
            stack.roots[row] = root
        stack.state[TOP], stack.state[ENDS] = height - 1, np.int64(ends)
        stack.tally[NODES] += np.uint64(nodes)
        stack.tally[GUESSES] += np.uint64(guesses)
        stack.tally[DEEPEST] = max(stack.tally[DEEPEST], np.uint64(deepest))

    return run
