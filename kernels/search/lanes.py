"""The search of a CPU thread: many boards in lanes, simplified in step, and one stack.

Every lane has a board, and all lanes take one step together (``step``). Then every lane is treated
by itself:

* A lane whose board is dead or solved is free, and gets another board.
* A lane whose board no longer changes is stuck, and is split by a guess. One half stays in the
  lane. The other goes to a free lane, or to the stack if there is none.

So all lanes stay busy as long as the thread has boards, although some boards take longer than
others.

A guess splits a board into two that share no solution: one in which a cell has its lowest
candidate, and one in which it has not. Both are complete boards. So stacks, the frontier and the
boards that remain after a call are all lists of the same kind, and any thread can search any of
these boards. ``pool`` has the functions by which threads share them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import NamedTuple

import numpy as np

from gpusudoku.kernels.atomics import add, load_relaxed, store_relaxed
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.kernel import Jit, inlined
from gpusudoku.kernels.search.arguments import (
    BELOW_BOTTOM,
    GUESSES,
    IN_LANES,
    JOINED,
    MAX_HEIGHT,
    MAX_UNREPORTED,
    NODES,
    TOP,
)
from gpusudoku.kernels.search.choose import build_choose, uses_narrow
from gpusudoku.kernels.search.moves import Moves, build_moves
from gpusudoku.kernels.search.paired import build_paired
from gpusudoku.kernels.search.pool import NONE_LEFT, build_sharing
from gpusudoku.kernels.search.shape import HIDDEN_SINGLE, PAIRS, SearchSettings, Shape
from gpusudoku.kernels.search.step import Steps, build_steps, overlooks_conflicts

MISSING_PER_UNREPORTED = np.uint64(1000)
"""All threads together have at most one unreported solution for this many solutions that a count
still lacks to its limit."""


def build_run(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., bool]:
    """Make the loop of one thread.

    It is ``run(pool, stack, output, recalls, recalls_seen, budget, limit, lanes)``.
    ``arguments`` describes the groups. The other arguments are

    recalls       int64 (1)  the function returns once this differs from ``recalls_seen``
    recalls_seen  int
    budget        int        number of nodes to visit; then the function returns
    limit         uint64     boards of a root with this count are not searched or split any more
    lanes         Lanes

    It returns False when no thread has any boards left. It returns True, to be called again, when

    * it is recalled, has spent its budget, or has waited long for boards;
    * fewer than twice as many rows of the stack are free as there are lanes;
    * fewer rows of the solutions are free than there are lanes;
    * it would have to wait for boards, and there are solutions to hand over first.

    Between calls all remaining boards are on the stack or in the pool.
    """
    width = shape.lanes
    all_lanes = np.uint64((1 << width) - 1)
    moves = build_moves(shape, jit)
    take, receive, give = build_sharing(shape, jit)
    load_lanes = _build_load_lanes(moves, jit)
    examine = _build_examine(shape, settings, jit)
    report_solutions = _build_report_solutions(moves, jit)
    split_boards = _build_split_boards(shape, settings, moves, jit)
    push_lanes = _build_push_lanes(shape, moves, jit)

    @jit
    def run(pool, stack, output, recalls, recalls_seen, budget, limit, lanes):
        memory = lanes.memory
        if memory.shape[1] != width:  # tells the compiler the distance between two rows
            raise ValueError
        counts = output.counts
        depth = stack.boards.shape[0]
        max_solutions = output.solutions.shape[0]
        # The boards on the stack are the rows from ``low`` to before ``height``.
        low = stack.state[BELOW_BOTTOM] + 1
        height = stack.state[TOP] + 1
        nodes = np.int64(stack.tally[NODES])
        last_node = nodes + budget
        guesses = 0
        deepest = 0
        # Solutions of one root that are not yet added to its count.
        unreported = ZERO
        unreported_root = 0
        is_over = False
        busy_lanes = ZERO
        # The last call put the boards of its lanes on top of the stack. At first only these lanes
        # are free, so that each of these boards returns to its lane.
        free_lanes = all_lanes & np.uint64(stack.state[IN_LANES])
        if stack.state[IN_LANES] < 0:  # the first call; all bits of -1 are set, so all are free
            add(pool.state, JOINED, 1)
        elif free_lanes == ZERO:
            free_lanes = all_lanes
        while True:
            # Fill the free lanes, from the stack or else from the pool.
            while free_lanes != ZERO:
                unfilled, height = load_lanes(stack, counts, lanes, free_lanes, low, height, limit)
                busy_lanes |= free_lanes & ~unfilled
                free_lanes = unfilled
                if free_lanes == ZERO:
                    break
                low = 0
                height = take(pool, stack)
                if height == 0 and busy_lanes == ZERO:
                    # Before the thread waits, its solutions must be counted, and those listed must
                    # be handed over.
                    _report(counts, unreported_root, unreported)
                    unreported = ZERO
                    if max_solutions > 0 and output.claimed_rows[0] > 0:
                        break
                    height = receive(pool, stack, recalls, recalls_seen)
                if height <= 0:
                    is_over = height == NONE_LEFT
                    height = 0
                    break

            is_recalled = load_relaxed(recalls, 0) != recalls_seen
            if busy_lanes == ZERO or is_recalled or nodes >= last_node:
                break
            # This round may push a board for each lane. So may the end of this call.
            if height + 2 * width > depth:
                break
            if max_solutions > 0 and output.claimed_rows[0] + width > max_solutions:
                break
            # With a board for each lane on the stack, some can be given to a thread that waits.
            if height - low >= width:
                low += give(pool, stack, low, height)

            dead_lanes, solved_lanes, stuck_lanes, with_two = examine(
                memory, busy_lanes, max_solutions == 0
            )
            nodes += popcount(dead_lanes) + popcount(solved_lanes) + popcount(stuck_lanes)
            store_relaxed(stack.tally, NODES, np.uint64(nodes))  # other threads read it meanwhile
            unreported, unreported_root = report_solutions(
                pool, output, lanes, solved_lanes, with_two, limit, unreported, unreported_root
            )
            free_lanes = dead_lanes | solved_lanes
            free_lanes, height, new_guesses = split_boards(
                stack, counts, lanes, stuck_lanes, free_lanes, height, limit
            )
            guesses += new_guesses
            deepest = max(deepest, height - low)
            busy_lanes &= ~free_lanes
            free_lanes = all_lanes & ~busy_lanes

        _report(counts, unreported_root, unreported)
        stack.state[IN_LANES] = np.int64(busy_lanes)
        height = push_lanes(stack, lanes, busy_lanes, height)
        stack.state[TOP] = height - 1
        stack.state[BELOW_BOTTOM] = low - 1
        stack.tally[NODES] = np.uint64(nodes)
        stack.tally[GUESSES] += np.uint64(guesses)
        stack.tally[MAX_HEIGHT] = max(stack.tally[MAX_HEIGHT], np.uint64(deepest))
        return not is_over

    return run


@inlined
def _report(counts, root, solutions):
    """Add a number of solutions to the count of a root."""
    if solutions != ZERO:
        add(counts, root, solutions)


def _build_load_lanes(moves: Moves, jit: Jit) -> Callable[..., tuple[np.uint64, int]]:
    """Make ``load_lanes(stack, counts, lanes, free_lanes, low, height, limit)``.

    It moves boards from the top of the stack to free lanes, the lowest lane first. It returns the
    lanes that are still free, and the new height of the stack. Boards whose root has reached the
    limit are dropped.
    """
    load = moves.load

    @jit
    def load_lanes(stack, counts, lanes, free_lanes, low, height, limit):
        while free_lanes != ZERO and height != low:
            height -= 1
            root = stack.roots[height]
            if load_relaxed(counts, root) >= limit:
                continue
            lane = lowest_index(free_lanes)
            free_lanes &= free_lanes - ONE
            load(lanes.memory, lane, stack.boards, height)
            lanes.roots[lane] = root
        return free_lanes, height

    return load_lanes


def _build_push_lanes(shape: Shape, moves: Moves, jit: Jit) -> Callable[..., int]:
    """Make ``push_lanes(stack, lanes, busy_lanes, height)``.

    It puts the boards of the busy lanes on the stack, and returns the new height. The board of the
    lowest lane is on top, as ``load_lanes`` fills the lowest lane first.
    """
    width = shape.lanes
    store = moves.store

    @jit
    def push_lanes(stack, lanes, busy_lanes, height):
        for lane in range(width - 1, -1, -1):
            if (busy_lanes >> np.uint64(lane)) & ONE != ZERO:
                store(lanes.memory, lane, stack.boards, height)
                stack.roots[height] = lanes.roots[lane]
                height += 1
        return height

    return push_lanes


def _build_examine(
    shape: Shape, settings: SearchSettings, jit: Jit
) -> Callable[..., tuple[np.uint64, np.uint64, np.uint64, np.uint64]]:
    """Make ``examine(memory, busy_lanes, only_counts)``: a step of all lanes, and its outcome.

    It returns four sets of busy lanes, as bits. A lane in none of the first three has changed.

    dead      the board has no solution
    solved    the board is solved, or is known to have two solutions
    stuck     nothing changes any more: the board must be split
    with_two  those of the solved lanes that have two solutions; none if solutions are listed
    """
    techniques = settings.techniques
    steps = build_steps(shape, techniques, shape.lanes)
    advance, apply_pairs, find_conflicts, keep_best = steps
    find_two = build_paired(shape, jit).find_two
    has_hidden = techniques & HIDDEN_SINGLE != 0
    has_pairs = techniques & PAIRS != 0
    has_conflicts = overlooks_conflicts(techniques)
    has_narrow = uses_narrow(shape, settings)

    @jit
    def examine(memory, busy_lanes, only_counts):
        dead_lanes, unsolved, changed = advance(memory)
        dead_lanes &= busy_lanes
        solved_lanes = busy_lanes & ~dead_lanes & ~unsolved
        stuck_lanes = busy_lanes & ~dead_lanes & unsolved & ~changed
        with_two = ZERO
        if has_hidden and only_counts:
            with_two = find_two(memory, stuck_lanes)
            solved_lanes |= with_two
            stuck_lanes &= ~with_two
        if has_pairs and stuck_lanes != ZERO:
            stuck_lanes &= ~apply_pairs(memory)
        if has_conflicts and stuck_lanes != ZERO:
            in_conflict = stuck_lanes & find_conflicts(memory)
            dead_lanes |= in_conflict
            stuck_lanes &= ~in_conflict
        if has_narrow and stuck_lanes != ZERO:
            keep_best(memory)
        return dead_lanes, solved_lanes, stuck_lanes, with_two

    return examine


def _build_report_solutions(moves: Moves, jit: Jit) -> Callable[..., tuple[np.uint64, int]]:
    """Make the function that counts the solutions of some lanes, and writes them if asked to.

    It is ``report_solutions(pool, output, lanes, solved_lanes, with_two, ...)``.
    Atomic additions to shared counts are slow. So solutions are first counted in ``unreported``,
    which belongs to one root. The function returns this number and its root for the next call.
    """
    max_unreported = np.uint64(MAX_UNREPORTED)
    write = moves.write

    @jit
    def report_solutions(
        pool, output, lanes, solved_lanes, with_two, limit, unreported, unreported_root
    ):
        counts = output.counts
        while solved_lanes != ZERO:
            lane = lowest_index(solved_lanes)
            solved_lanes &= solved_lanes - ONE
            root = lanes.roots[lane]
            if output.solutions.shape[0] > 0:
                row = output.claimed_rows[0]
                output.claimed_rows[0] = row + 1
                write(lanes.memory, lane, output.solutions[row])
                output.roots[row] = root
            if root != unreported_root:
                _report(counts, unreported_root, unreported)
                unreported = ZERO
                unreported_root = root
            unreported += ONE + ((with_two >> np.uint64(lane)) & ONE)
            # Another thread may be suspended for a long time before it reports. If each thread has
            # as many unreported solutions as this one, the count must still be well below the
            # limit. Otherwise threads would search far beyond it.
            unreported_of_all = unreported * np.uint64(load_relaxed(pool.state, JOINED))
            nearly_missing = unreported_of_all * MISSING_PER_UNREPORTED
            is_near_limit = load_relaxed(counts, root) + nearly_missing >= limit
            if unreported >= max_unreported or is_near_limit:
                add(counts, root, unreported)
                unreported = ZERO
        return unreported, unreported_root

    return report_solutions


class Guessing(NamedTuple):
    """Functions that guess the digit of a cell in the board of a lane."""

    choose_placement: Callable[..., tuple[int, np.unsignedinteger, int, bool]]
    """``choose_placement(memory, lane)``: choose a cell to guess.

    Returns (j, bit, d, has_others): the word of the cell in its plane, its bit in this word, its
    lowest candidate (d is digit d + 1), and whether it has other candidates. Without techniques a
    cell with one candidate may be chosen: its digit is not yet removed from its peers."""
    keep_lowest: Callable[..., None]
    """``keep_lowest(memory, lane, j, bit, d)``: remove all candidates of the cell but the lowest.
    It only marks the cell in CLEAR; the next step removes them."""


def _build_guessing(shape: Shape, settings: SearchSettings, moves: Moves, jit: Jit) -> Guessing:
    """Make the functions."""
    CLEAR = shape.CLEAR
    techniques = settings.techniques
    place = moves.place
    candidates_of = moves.candidates
    choose = build_choose(shape, settings.strategy, candidates_of, jit)

    @jit
    def choose_placement(memory, lane):
        j, bit = choose(memory, lane)
        candidates = candidates_of(memory, lane, j, bit)
        has_others = candidates & (candidates - ONE) != ZERO
        return j, bit, lowest_index(candidates), has_others

    @jit
    def keep_lowest(memory, lane, j, bit, d):
        memory[CLEAR + j, lane] |= bit
        if techniques == 0:  # steps do not remove placed digits from peers
            place(memory, lane, d, j, bit)

    return Guessing(choose_placement, keep_lowest)


def _build_split_boards(
    shape: Shape, settings: SearchSettings, moves: Moves, jit: Jit
) -> Callable[..., tuple[np.uint64, int, int]]:
    """Make ``split_boards(stack, counts, lanes, stuck_lanes, free_lanes, ...)``.

    It splits the board of each stuck lane in two. It returns the lanes that are free then, the
    height of the stack, and the number of guesses. Boards whose root has reached the limit are
    dropped.
    """
    K = shape.plane_words
    CLEAR = shape.CLEAR
    planes = shape.planes
    choose_placement, keep_lowest = _build_guessing(shape, settings, moves, jit)

    @jit
    def split_boards(stack, counts, lanes, stuck_lanes, free_lanes, height, limit):
        memory = lanes.memory
        guesses = 0
        while stuck_lanes != ZERO:
            lane = lowest_index(stuck_lanes)
            stuck_lanes &= stuck_lanes - ONE
            root = lanes.roots[lane]
            if load_relaxed(counts, root) >= limit:
                free_lanes |= ONE << np.uint64(lane)
                continue
            j, bit, d, has_others = choose_placement(memory, lane)
            if has_others:
                # The half in which the cell does not have its lowest candidate.
                guesses += 1
                if free_lanes != ZERO:
                    free_lane = lowest_index(free_lanes)
                    free_lanes &= free_lanes - ONE
                    # CLEAR, too, which still has the marks of the previous board of that lane.
                    for w in range(CLEAR + K):
                        memory[w, free_lane] = memory[w, lane]
                    memory[K * d + j, free_lane] &= ~bit
                    lanes.roots[free_lane] = root
                else:
                    # CLEAR is not needed: the last step has removed what it marks.
                    for w in range(planes):
                        stack.boards[height, w] = memory[w, lane]
                    stack.boards[height, K * d + j] &= ~bit
                    stack.roots[height] = root
                    height += 1
            keep_lowest(memory, lane, j, bit, d)
        return free_lanes, height, guesses

    return split_boards


def build_expand(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., int]:
    """Make ``expand(boards, cutoff, by_empty, children, memory)``: one round of a frontier.

    Every board of (B, words) is simplified.

    * A dead board is dropped.
    * A board becomes a single child that is ready if it is solved, is known to have two solutions,
      or its size is at most the cutoff.
    * Any other board is split into two children.

    The size is the number of open cells if ``by_empty``, else log2 of the product of their numbers
    of candidates. Returns the number of children. ``memory`` has the shape's lanes; that many
    boards are simplified at a time.
    """
    width = shape.lanes
    K = shape.plane_words
    steps = build_steps(shape, settings.techniques, width)
    keep_best = steps.keep_best
    moves = build_moves(shape, jit)
    load = moves.load
    store = moves.store
    choose_placement, keep_lowest = _build_guessing(shape, settings, moves, jit)
    find_two = build_paired(shape, jit).find_two
    compute_size = _build_compute_size(shape, moves, jit)
    simplify = _build_simplify(settings, steps, jit)
    has_hidden = settings.techniques & HIDDEN_SINGLE != 0
    has_narrow = uses_narrow(shape, settings)

    @jit
    def expand(boards, cutoff, by_empty, children, memory):
        count = 0
        for start in range(0, boards.shape[0], width):
            lane_count = min(width, boards.shape[0] - start)
            for lane in range(lane_count):
                load(memory, lane, boards, start + lane)
            # Not (1 << lane_count) - 1: a shift by 64 is undefined.
            all_lanes = ~ZERO >> np.uint64(64 - lane_count)
            alive, unsolved = simplify(memory, all_lanes)
            with_two = find_two(memory, unsolved) if has_hidden else ZERO
            must_split = unsolved & ~with_two
            if has_narrow:
                keep_best(memory)

            while alive != ZERO:
                lane = lowest_index(alive)
                alive &= alive - ONE
                is_known = (must_split >> np.uint64(lane)) & ONE == ZERO
                is_ready = is_known or compute_size(memory, lane, by_empty) <= cutoff
                if not is_ready:
                    j, bit, d, has_others = choose_placement(memory, lane)
                    if has_others:
                        # The child in which the cell does not have its lowest candidate.
                        store(memory, lane, children.boards, count)
                        children.boards[count, K * d + j] &= ~bit
                        children.parents[count] = start + lane
                        children.ready[count] = False
                        count += 1
                    keep_lowest(memory, lane, j, bit, d)
                store(memory, lane, children.boards, count)
                children.parents[count] = start + lane
                children.ready[count] = is_ready
                count += 1
        return count

    return expand


def _build_compute_size(shape: Shape, moves: Moves, jit: Jit) -> Callable[..., float]:
    """Make ``compute_size(memory, lane, by_empty)``, the size of a board; see ``build_expand``."""
    K = shape.plane_words
    OPEN = shape.OPEN
    Word = shape.word
    candidates_of = moves.candidates

    @jit
    def compute_size(memory, lane, by_empty):
        size = 0.0
        for j in range(K):
            cells = np.uint64(memory[OPEN + j, lane])
            if by_empty:
                size += popcount(cells)
                continue
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                size += log2(popcount(candidates_of(memory, lane, j, Word(bit))))
        return size

    return compute_size


def _build_simplify(
    settings: SearchSettings, steps: Steps, jit: Jit
) -> Callable[..., tuple[np.uint64, np.uint64]]:
    """Make ``simplify(memory, lanes)``: advance some lanes until none of them changes.

    It returns the lanes whose board is not dead, and those of them whose board is unsolved.
    """
    techniques = settings.techniques
    advance, apply_pairs, find_conflicts, _ = steps
    has_pairs = techniques & PAIRS != 0

    @jit
    def simplify(memory, lanes):
        alive = lanes
        while True:
            dead, unsolved, changed = advance(memory)
            alive &= ~dead
            if alive & unsolved & changed != ZERO:
                continue
            if has_pairs and alive & unsolved & apply_pairs(memory) != ZERO:
                continue
            if techniques != 0:
                alive &= ~find_conflicts(memory)
            return alive, alive & unsolved

    return simplify
