"""The counter for 9x9 boards on a CUDA thread: one board at a time, in step with a warp. 9x9 only.

The 32 threads of a warp share one stream of instructions: where some of them go another way than
the rest, one party waits for the other. So what a thread does in a round has two parts:

* a step (``step``), which has no branch: nearly all instructions, which all threads take together;
* what its own board needs now: a dead or solved one gives way to another, and one that hardly
  changes any more leaves half of itself on the stack. Some threads wait while others do this.

Threads that have parted meet again where the assembler sees fit. Left alone, it lets those that
took another board step by themselves, and then the rest: every round takes twice as long. So all
threads vote before they step, and a vote is not over before everyone has come.

All boards on the stack descend from one root, as a board of the frontier is only taken when the
stack is empty. So roots need not be pushed and popped, and the limit need not be looked at for
every board.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.lanes import nonzero
from gpusudoku.kernels.search.arguments import DEEPEST, ENDS, GUESSES, NODES, TOP
from gpusudoku.kernels.search.nine.loop import build_choose
from gpusudoku.kernels.search.nine.planes import (
    BIVALUE,
    CLEAR,
    PLACED,
    WORDS,
    build_write_solution,
)
from gpusudoku.kernels.search.nine.rows import FOURS, load_four, store_four
from gpusudoku.kernels.search.nine.step import build_lasting, build_step
from gpusudoku.kernels.search.settings import FIRST, SearchSettings

UNREPORTED = 4096
"""Solutions after which a thread adds them to the count of their root, and looks at the limit."""
FEW_DEAD = 8
"""Boards are split early while fewer of the last 32 ended dead. It makes more dead ones, which pays
where most have solutions. The first solution of a root does not count: puzzles have one."""


def build_thread_run(
    settings: SearchSettings,
    jit: Jit,
    claim: Callable[..., Any],
    add: Callable[..., Any],
    any_of_warp: Callable[..., Any],
) -> Callable[..., None]:
    """Make the loop of one thread, ``run(work, stack, found, budget, limit, memory)``.

    See ``search.loop.build_run`` for the arguments. Boards of the frontier and on the stack are
    rows as ``rows_of`` makes them; ``memory`` is uint32 (MEMORY_ROWS, 1).
    ``any_of_warp(condition)`` says whether a condition holds for any thread of the warp, once all
    have asked. A warp may have any number of threads; one alone is told what it says.

    It returns when no thread of the warp has anything left to do, or one has spent its budget of
    nodes. A thread that has fewer than two rows of its stack left, or no room for a solution,
    waits for that.
    """
    step = build_step(settings.techniques, jit)
    lasting = build_lasting(jit)
    choose = build_choose(settings.strategy, jit)
    write_solution = build_write_solution(jit)
    early = settings.strategy != FIRST

    @jit
    def take(rows, row, memory):
        """Make a board of some rows the current one."""
        for four in range(FOURS):
            words = load_four(rows, row, four)
            for i in range(4):
                if 4 * four + i < WORDS:
                    memory[4 * four + i, 0] = words[i]
        for k in range(3):
            memory[CLEAR + k, 0] = 0

    @jit
    def put(memory, rows, row):
        """Write the current board to one of some rows, but without striking what is to be."""
        for four in range(FOURS - 1):
            w = 4 * four
            words = memory[w, 0], memory[w + 1, 0], memory[w + 2, 0], memory[w + 3, 0]
            store_four(rows, row, four, words)
        last = memory[WORDS - 1, 0]
        words = memory[WORDS - 3, 0], memory[WORDS - 2, 0], last, last
        store_four(rows, row, FOURS - 1, words)

    @jit
    def strike(memory):
        for w in range(WORDS):
            memory[w, 0] &= memory[PLACED + w, 0] | ~memory[CLEAR + w % 3, 0]
        for k in range(3):
            memory[CLEAR + k, 0] = 0

    @jit
    def chosen(memory):
        k, bit = choose(memory, 0)
        return np.uint64(k), bit  # nobody need look whether an index without a sign is negative

    @jit
    def cell_to_split(memory):
        """What ``choose`` says, without a branch if there is a cell with two candidates."""
        if not early:
            return chosen(memory)
        k, bivalue = np.uint64(0), memory[BIVALUE, 0]
        for other in range(1, 3):
            if bivalue == 0:
                k, bivalue = np.uint64(other), memory[BIVALUE + other, 0]
        if bivalue == 0:
            return chosen(memory)
        return k, np.uint32(bivalue & (~bivalue + np.uint32(1)))

    @jit
    def split(memory, rows, row):
        """Leave a cell its lowest candidate only, and write the board without that one to a row."""
        k, bit = cell_to_split(memory)
        word = k
        while memory[word, 0] & bit == 0:
            word += np.uint64(3)
        memory[word, 0] ^= bit
        put(memory, rows, row)
        memory[word, 0] ^= bit
        # As if the lowest had been placed: the next step strikes the others.
        memory[np.uint64(PLACED) + word, 0] |= bit
        memory[np.uint64(CLEAR) + k, 0] |= bit

    @jit
    def run(work, stack, found, budget, limit, memory):
        counts, depth = found.counts, stack.boards.shape[0]
        room = found.solutions.shape[0]
        most_unreported = min(limit, np.uint64(UNREPORTED))
        nodes, guesses, deepest = 0, 0, 0
        ends = np.uint32(stack.state[ENDS] & 0xFFFFFFFF)  # of the last boards, 1 for a dead one
        unreported = ZERO  # solutions of the root of all boards here
        height = stack.state[TOP] + 1
        root = stack.roots[0] if height > 0 else 0
        if height > 0 and counts[root] >= limit:
            height = 0
        has_board, more = False, True
        while True:
            if not has_board:
                if height > 0:
                    height -= 1
                    take(stack.boards, height, memory)
                    has_board = True
                elif more:
                    if unreported != ZERO:
                        add(counts, root, unreported)
                        unreported = ZERO
                    index = claim(work.cursor)
                    more = index < work.boards.shape[0]
                    if more:
                        root = work.roots[index]
                        if counts[root] < limit:
                            take(work.boards, index, memory)
                            has_board = True
            able = has_board and height + 2 <= depth
            if room > 0 and found.used[0] >= room:
                able = False
            if any_of_warp(nodes >= budget) or not any_of_warp(able or (more and not has_board)):
                break
            dead, unsolved, changed = step(memory)
            ready = lasting(memory) if early else changed
            few_dead = early and popcount(np.uint64(ends)) < FEW_DEAD
            if able:
                if nonzero(dead) != ZERO:
                    nodes += 1
                    ends = np.uint32(ends << 1 | 1)
                    has_board = False
                elif nonzero(unsolved) == ZERO:
                    row = claim(found.used) if room > 0 else 0
                    if room == 0 or row < room:  # else other threads took the last ones
                        if room > 0:
                            write_solution(memory, 0, found.solutions[row])
                            found.roots[row] = root
                        nodes += 1
                        has_board = False
                        if unreported != ZERO:
                            ends = np.uint32(ends << 1)
                        unreported += ONE
                        if unreported == most_unreported:
                            add(counts, root, unreported)
                            unreported = ZERO
                            if counts[root] >= limit:
                                height = 0
                elif nonzero(changed) == ZERO or (few_dead and nonzero(ready) != ZERO):
                    nodes += 1
                    guesses += 1
                    split(memory, stack.boards, height)
                    height += 1
                    deepest = max(deepest, height)
        if unreported != ZERO:
            add(counts, root, unreported)
        if has_board:
            strike(memory)
            put(memory, stack.boards, height)
            height += 1
        for row in range(height):
            stack.roots[row] = root
        stack.state[TOP], stack.state[ENDS] = height - 1, np.int64(ends)
        stack.tally[NODES] += np.uint64(nodes)
        stack.tally[GUESSES] += np.uint64(guesses)
        stack.tally[DEEPEST] = max(stack.tally[DEEPEST], np.uint64(deepest))

    return run
