"""The search of a CUDA thread: one board at a time, in step with the other threads of a warp.

The 32 threads of a warp share one stream of instructions. Where some of them take another branch
than the rest, one party waits for the other. So a round of a thread has two parts:

* a step (``step``), which has no branch. It is nearly all instructions, and all threads take them
  together.
* what its own board needs next. A dead or solved board is replaced by another. A board that hardly
  changes any more is split, and one half is put on the stack. Some threads wait while others do
  this.

Threads that took different branches meet again where the assembler chooses. Left alone, it lets
those that took another board step by themselves, and then the rest: every round takes twice as
long. So all threads vote before they step, and a vote ends only when every thread has come.

A multiprocessor prefers some of its warps, which spend their budget of rounds long before the
others. On an H200, launches in which each warp spent its whole budget had on average 5.3 of 7 warps
of a scheduler at work. So the first warp that has spent its budget stops all others. Every warp
checks for this once in ROUNDS_UNTIL_CHECK rounds, so shorter launches are never stopped.

All boards of a stack descend from one root, because a board of the pool is only taken when the
stack is empty. So roots need not be pushed and popped, and the limit need not be checked for every
board. When a launch ends, a thread may give its oldest boards, which are the largest, to the pool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, popcount
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.arguments import (
    BUSY_THREADS,
    FILLED,
    FINISHED_WARPS,
    FULL_PLACE,
    GUESSES,
    LAST_ENDINGS,
    MAX_HEIGHT,
    MAX_UNREPORTED,
    NEXT_TO_FILL,
    NEXT_TO_TAKE,
    NODES,
    TOP,
)
from gpusudoku.kernels.search.choose import build_choose, uses_narrow
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.paired import MAX_OPEN_CELLS, build_paired
from gpusudoku.kernels.search.rows import build_row_moves
from gpusudoku.kernels.search.shape import FIRST_CELL, HIDDEN_SINGLE, PAIRS, SearchSettings, Shape
from gpusudoku.kernels.search.step import Steps, build_steps, overlooks_conflicts

TOO_MANY_DEAD = 8
"""A thread splits boards early only while fewer than this many of its last 32 boards were dead.
Early splits make more dead boards, which is worth it where most boards have solutions. The first
solution of a root does not count as an ending, because most puzzles have exactly one."""
ROUNDS_UNTIL_CHECK = 16
"""A warp checks once in this many rounds, a power of two, whether it is to stop. A round takes
about six microseconds, and a check less than one."""
CHECK_MASK = np.uint64(ROUNDS_UNTIL_CHECK - 1)
"""The low bits of a round's number. A warp checks in rounds in which all of them are set."""


class Helpers(NamedTuple):
    """What a thread does together with others, as functions that kernels call."""

    add: Callable[..., Any]
    """``add(array, i, value)`` adds a value atomically, and returns the previous value."""
    any_of_warp: Callable[..., Any]
    """``any_of_warp(condition)`` returns whether a condition holds for any thread of the warp, once
    all its threads have called it."""
    is_first_of_warp: Callable[..., Any]
    """``is_first_of_warp()`` holds for one thread of each warp."""


def build_run(
    shape: Shape,
    settings: SearchSettings,
    jit: Jit,
    helpers: Helpers,
) -> Callable[..., None]:
    """Make the loop of one thread.

    It is ``run(pool, stack, output, budget, max_gives, limit, memory)``. ``arguments`` describes
    the groups. The other arguments are

    budget     int     number of rounds; so all threads of a warp spend it at the same time
    max_gives  int     number of boards that the thread gives to the pool in the end, if it has more
    limit      uint64  boards of a root with this count are not searched any more
    memory             its first column is the memory of the thread, see ``shape``

    A warp may have any number of threads. The function returns when

    * the budget of rounds is spent, or another warp has spent its own;
    * no thread of the warp can do anything: none has a board that it can search, and none may take
      a board of the pool.

    A thread with fewer than two free rows of its stack, or without room for a solution, waits for
    the end. With too few rows it gives at least one board to the pool, if the pool has room.
    """
    techniques, strategy = settings
    add, any_of_warp, is_first_of_warp = helpers
    splits_early = strategy != FIRST_CELL and techniques != 0
    has_hidden = techniques & HIDDEN_SINGLE != 0
    has_pairs = techniques & PAIRS != 0
    has_conflicts = overlooks_conflicts(techniques)
    steps = build_steps(shape, techniques, 1, splits_early)
    apply_pairs = steps.apply_pairs
    find_conflicts = steps.find_conflicts
    advance = _build_advance(steps, splits_early, jit)
    load, store, copy, remove_marked = _build_board_moves(shape, jit)
    take_from_pool = _build_take_from_pool(load, add, jit)
    give_boards = _build_give_boards(copy, add, jit)
    write_solution = _build_write_solution(shape, add, jit)
    split = _build_split(shape, settings, steps, store, jit)
    count_open, has_two, _ = build_paired(shape, jit)

    @jit
    def pairs_change_nothing(memory):
        return not (has_pairs and apply_pairs(memory) != ZERO)

    @jit
    def is_stopped(state):
        """Return whether another warp has spent its budget, the same to all threads of a warp."""
        return any_of_warp(is_first_of_warp() and add(state, FINISHED_WARPS, 0) > 0)

    @jit
    def run(pool, stack, output, budget, max_gives, limit, memory):
        counts = output.counts
        depth = stack.boards.shape[0]
        max_solutions = output.solutions.shape[0]
        filled = pool.state[FILLED]
        # If solutions are only counted, boards known to have two solutions need no split.
        adds_two = has_hidden and max_solutions == 0
        max_unreported = min(limit, np.uint64(MAX_UNREPORTED))
        nodes = 0
        guesses = 0
        deepest = 0
        # How the last 32 boards ended: 1 for a dead one, the latest lowest.
        endings = np.uint32(stack.state[LAST_ENDINGS] & 0xFFFFFFFF)
        # All boards of this thread have the same root. These are its solutions not yet counted.
        unreported = ZERO
        height = stack.state[TOP] + 1
        root = stack.roots[0] if height > 0 else 0
        if height > 0 and counts[root] >= limit:
            height = 0
        has_board = False
        has_pool = True  # the pool may have more boards for this launch
        for round_number in range(budget):
            # A remainder would take a dozen instructions.
            is_check = np.uint64(round_number) & CHECK_MASK == CHECK_MASK
            if is_check and is_stopped(pool.state):
                break

            # Get a board, from the stack or else from the pool.
            if not has_board:
                if height > 0:
                    height -= 1
                    load(stack.boards, height, memory)
                    has_board = True
                elif has_pool:
                    if unreported != ZERO:
                        add(counts, root, unreported)
                        unreported = ZERO
                    has_pool, has_board, root = take_from_pool(
                        pool, filled, counts, limit, root, memory
                    )
            # A split needs a row of the stack, and the current board one at the end of the launch.
            can_search = has_board and height + 2 <= depth
            if max_solutions > 0 and output.claimed_rows[0] >= max_solutions:
                can_search = False
            # This vote also makes the threads of a warp meet before the step.
            if not any_of_warp(can_search or (has_pool and not has_board)):
                break

            dead, unsolved, changed, lasting_pairs = advance(memory)
            few_dead = splits_early and popcount(np.uint64(endings)) < TOO_MANY_DEAD
            with_two = False
            if can_search and dead == ZERO and unsolved != ZERO and changed == ZERO:
                if has_conflicts:
                    dead = find_conflicts(memory)
                elif adds_two:
                    with_two = has_two(memory, 0)

            if can_search:
                if dead != ZERO:
                    nodes += 1
                    endings = np.uint32(endings << 1 | 1)
                    has_board = False
                elif unsolved == ZERO or with_two:
                    if write_solution(output, root, memory):
                        nodes += 1
                        has_board = False
                        if unreported != ZERO:
                            endings = np.uint32(endings << 1)
                        unreported += ONE + np.uint64(with_two)
                        if unreported >= max_unreported:
                            add(counts, root, unreported)
                            unreported = ZERO
                            if counts[root] >= limit:
                                height = 0  # drop the boards of the stack
                elif (changed == ZERO and pairs_change_nothing(memory)) or (
                    # An early split. A board with few open cells may soon turn out to have two
                    # solutions, so it is not split before it is stuck.
                    changed != ZERO
                    and few_dead
                    and lasting_pairs != ZERO
                    and not (adds_two and count_open(memory, 0) <= MAX_OPEN_CELLS)
                ):
                    nodes += 1
                    pushed_boards = split(memory, stack.boards, height)
                    guesses += pushed_boards
                    height += pushed_boards
                    deepest = max(deepest, height)
        else:
            if is_first_of_warp():
                add(pool.state, FINISHED_WARPS, 1)

        if unreported != ZERO:
            add(counts, root, unreported)
        if height + 2 > depth:
            max_gives = max(max_gives, 1)
        height = give_boards(pool, stack, root, height, has_board, max_gives)
        if has_board:
            remove_marked(memory)
            store(memory, stack.boards, height)
            height += 1
        if height > 0 and height + 1 <= depth:  # it has boards, and could split the top one
            add(pool.state, BUSY_THREADS, 1)
        # The next launch takes the root from the bottom row.
        for row in range(height):
            stack.roots[row] = root
        stack.state[TOP] = height - 1
        stack.state[LAST_ENDINGS] = np.int64(endings)
        stack.tally[NODES] += np.uint64(nodes)
        stack.tally[GUESSES] += np.uint64(guesses)
        stack.tally[MAX_HEIGHT] = max(stack.tally[MAX_HEIGHT], np.uint64(deepest))

    return run


def _build_advance(steps: Steps, splits_early: bool, jit: Jit) -> Callable[..., Any]:
    """Make ``advance(memory)``, a step that always has four results.

    They are dead, unsolved, changed and lasting; see ``step``. A search that splits no boards early
    does not use the fourth.
    """
    advance_three = steps.advance
    if splits_early:
        return advance_three

    @jit
    def advance(memory):
        dead, unsolved, changed = advance_three(memory)
        return dead, unsolved, changed, changed

    return advance


class _BoardMoves(NamedTuple):
    """Functions that move the current board of a thread, which is in its memory."""

    load: Callable[..., None]
    """``load(rows, row, memory)``: make the board of a row the current one."""
    store: Callable[..., None]
    """``store(memory, rows, row)``: write the current board to a row. Candidates that CLEAR marks
    for the next step are still in it; see ``remove_marked``."""
    copy: Callable[..., None]
    """``copy(source, source_row, target, target_row)``: copy a board from row to row."""
    remove_marked: Callable[..., None]
    """``remove_marked(memory)``: remove the candidates that CLEAR marks for the next step."""


def _build_board_moves(shape: Shape, jit: Jit) -> _BoardMoves:
    """Make the functions."""
    K = shape.plane_words
    planes = shape.planes
    CLEAR = shape.CLEAR
    Word = shape.word
    batches, load_batch, store_batch, copy_batch = build_row_moves(shape)

    @jit
    def load(rows, row, memory):
        for batch in range(batches):
            load_batch(rows, row, memory, 0, batch)
        for j in range(K):
            memory[CLEAR + j, 0] = 0

    @jit
    def store(memory, rows, row):
        for batch in range(batches):
            store_batch(memory, 0, rows, row, batch)

    @jit
    def copy(source, source_row, target, target_row):
        for batch in range(batches):
            copy_batch(source, source_row, target, target_row, batch)

    @jit
    def remove_marked(memory):
        for j in range(K):
            clear = memory[CLEAR + j, 0]
            cleared = Word(0)
            # Upwards, so that a marked cell keeps its lowest candidate.
            for w in range(j, planes, K):
                memory[w, 0] &= ~cleared
                cleared |= memory[w, 0] & clear

    return _BoardMoves(load, store, copy, remove_marked)


def _build_take_from_pool(
    load: Callable[..., None], add: Callable[..., Any], jit: Jit
) -> Callable[..., Any]:
    """Make ``take_from_pool(pool, filled, counts, limit, root, memory)``.

    It takes the next place of the pool, and makes the board there the current one, unless its root
    has reached the limit. It returns whether there was such a place, whether there is a current
    board now, and the root, which is that of the arguments if there was no place.
    """

    @jit
    def take_from_pool(pool, filled, counts, limit, root, memory):
        capacity = pool.boards.shape[0]
        place = add(pool.state, NEXT_TO_TAKE, 1)
        is_filled = place < filled
        has_board = False
        if is_filled:
            row = place - capacity * (place >= capacity)
            root = pool.roots[row]
            if counts[root] < limit:
                load(pool.boards, row, memory)
                has_board = True
        return is_filled, has_board, root

    return take_from_pool


def _build_give_boards(
    copy: Callable[..., None], add: Callable[..., Any], jit: Jit
) -> Callable[..., int]:
    """Make ``give_boards(pool, stack, root, height, has_board, max_gives)``.

    It gives boards from the bottom of the stack to the pool, as long as the pool has room. They are
    the oldest, and so the largest. The thread keeps one board. Returns the new height of the stack.
    """

    @jit
    def give_boards(pool, stack, root, height, has_board, max_gives):
        capacity = pool.boards.shape[0]
        gives = 0
        has_room = True
        while has_room and gives < max_gives and height - gives + has_board > 1:
            place = add(pool.state, NEXT_TO_FILL, 1)
            has_room = place < pool.state[FULL_PLACE]
            if has_room:
                row = place - capacity * (place >= capacity)
                copy(stack.boards, gives, pool.boards, row)
                pool.roots[row] = root
                gives += 1
        if gives > 0:
            height -= gives
            for row in range(height):
                copy(stack.boards, row + gives, stack.boards, row)
        return height

    return give_boards


def _build_write_solution(shape: Shape, add: Callable[..., Any], jit: Jit) -> Callable[..., bool]:
    """Make ``write_solution(output, root, memory)``.

    It writes the current board, which is solved, if solutions are listed. It returns False if other
    threads took the last rows for solutions, so that the board must wait.
    """
    write = build_moves(shape, jit).write

    @jit
    def write_solution(output, root, memory):
        max_solutions = output.solutions.shape[0]
        if max_solutions == 0:
            return True
        row = add(output.claimed_rows, 0, 1)
        if row >= max_solutions:
            return False
        write(memory, 0, output.solutions[row])
        output.roots[row] = root
        return True

    return write_solution


def _build_split(
    shape: Shape,
    settings: SearchSettings,
    steps: Steps,
    store: Callable[..., None],
    jit: Jit,
) -> Callable[..., int]:
    """Make ``split(memory, rows, row)``: guess a cell of the current board.

    The current board keeps only the lowest candidate of the cell; the board without this candidate
    is written to the row. Returns the number of boards written, 0 or 1. It is 0 if the cell has no
    other candidate, which happens only without techniques.
    """
    techniques, strategy = settings
    n = shape.n
    K = shape.plane_words
    CLEAR = shape.CLEAR
    _, _, place, candidates_of, _ = build_moves(shape, jit)
    choose = build_choose(shape, strategy, candidates_of, jit)
    choose_cell = _build_choose_cell(shape, settings, steps, choose, jit)

    @jit
    def split(memory, rows, row):
        j, bit = choose_cell(memory)
        pushed_boards = 1
        # Find the word of the lowest candidate. All words that may have the bit are read at once: a
        # loop that ends early would wait for each load.
        word = j
        for d in range(n - 1, -1, -1):
            if memory[np.uint64(K * d) + j, 0] & bit != 0:
                word = np.uint64(K * d) + j
        if techniques == 0:
            candidates = candidates_of(memory, 0, np.int64(j), bit)
            if candidates & (candidates - ONE) == ZERO:
                pushed_boards = 0
        if pushed_boards:
            # Remove the candidate, write the other board, and put the candidate back.
            memory[word, 0] ^= bit
            store(memory, rows, row)
            memory[word, 0] ^= bit
        memory[np.uint64(CLEAR) + j, 0] |= bit  # the next step removes the other candidates
        if techniques == 0:
            place(memory, 0, np.int64(word) // K, np.int64(j), bit)
        return pushed_boards

    return split


def _build_choose_cell(
    shape: Shape,
    settings: SearchSettings,
    steps: Steps,
    choose: Callable[..., tuple[int, Any]],
    jit: Jit,
) -> Callable[..., tuple[np.uint64, Any]]:
    """Make ``choose_cell(memory)``: what ``choose`` returns, but found faster.

    A cell with two candidates is found without a branch. The number of the cell's word is unsigned,
    so that compilers add no check for negative indices.
    """
    K = shape.plane_words
    Word = shape.word
    PAIR_CELLS = shape.PAIRS
    keep_best = steps.keep_best
    has_narrow = uses_narrow(shape, settings)
    prefers_pairs = settings.strategy != FIRST_CELL and settings.techniques != 0

    @jit
    def choose_slowly(memory):
        j, bit = choose(memory, 0)
        return np.uint64(j), bit

    @jit
    def choose_cell(memory):
        if not prefers_pairs:
            return choose_slowly(memory)
        if has_narrow:
            keep_best(memory)
        j = np.uint64(0)
        cells = memory[PAIR_CELLS, 0]
        for k in range(1, K):
            if cells == 0:
                j = np.uint64(k)
                cells = memory[PAIR_CELLS + k, 0]
        if cells == 0:
            return choose_slowly(memory)
        return j, Word(cells & (~cells + Word(1)))

    return choose_cell
