"""Random walks down the tree of a search: boards in lanes, each of which is guessed at random.

A walk simplifies its board until nothing changes. Then it gives an open cell one of the cell's
candidates, chosen at random, and divides its weight by the probability of this choice. It never
takes a guess back: if the board is dead, its weight becomes 0.

The order of the guesses and the probabilities do not affect the mean of the weights, but they
affect the variance (measured in ``benchmarks/estimates.py``). Guesses proceed row by row, so that
walks of similar length have filled similar cells: the number of solutions below them then differs
little. A digit with many places in the row and in the column is chosen less often.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, ones, popcount
from gpusudoku.kernels.kernel import Jit, inlined
from gpusudoku.kernels.search.choose import build_first_row
from gpusudoku.kernels.search.moves import Moves, build_moves
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.kernels.search.step import build_steps

INCREMENT = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIERS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""The constants of SplitMix64."""


@inlined
def random_fraction(states, row):
    """Advance the state of a row; return a random float64, 0 <= x < 1, with 53 random bits.

    This is SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom number generators,
    OOPSLA 2014).
    """
    state = states[row] + INCREMENT
    states[row] = state
    mixed = (state ^ (state >> np.uint64(30))) * MULTIPLIERS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * MULTIPLIERS[1]
    mixed = mixed ^ (mixed >> np.uint64(31))
    # 53 bits fit in a signed integer, which the compiler converts to a float faster.
    return np.float64(np.int64(mixed >> np.uint64(11))) * 2.0**-53


def build_walk(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., None]:
    """Make ``walk(boards, target, weights, states, rows, odds, memory)``.

    It continues the walk of every board whose weight is not 0, until the board is solved, is dead,
    or has at most ``target`` open cells and does not change any more.

    boards   (B, words)             replaced by the boards at the ends of the walks
    target   int
    weights  float64 (B)            divided by the probabilities of the guesses; 0 for a dead board
    states   uint64 (B)             the state of the random numbers of each row
    rows     int64 (shape.lanes)    overwritten
    odds     float64 (n)            overwritten
    memory   of the shape's lanes   overwritten
    """
    width = shape.lanes
    all_lanes = ~ZERO >> np.uint64(64 - width)
    K = shape.plane_words
    OPEN = shape.OPEN
    advance = build_steps(shape, settings.techniques, width).advance
    moves = build_moves(shape, jit)
    load = moves.load
    store = moves.store
    guess = _build_guess(shape, moves, jit)

    @jit
    def count_open(memory, lane):
        count = 0
        for j in range(K):
            count += popcount(np.uint64(memory[OPEN + j, lane]))
        return count

    @jit
    def walk(boards, target, weights, states, rows, odds, memory):
        if memory.shape[1] != width:  # tells the compiler the distance between two rows
            raise ValueError
        next_row = 0
        busy_lanes = ZERO
        while True:
            free_lanes = all_lanes & ~busy_lanes
            while free_lanes != ZERO and next_row < boards.shape[0]:
                if weights[next_row] != 0.0:
                    lane = lowest_index(free_lanes)
                    free_lanes &= free_lanes - ONE
                    busy_lanes |= ONE << np.uint64(lane)
                    load(memory, lane, boards, next_row)
                    rows[lane] = next_row
                next_row += 1
            if busy_lanes == ZERO:
                break

            dead_lanes, unsolved, changed = advance(memory)
            dead_lanes &= busy_lanes
            stuck_lanes = busy_lanes & ~dead_lanes & unsolved & ~changed
            ended_lanes = dead_lanes | (busy_lanes & ~unsolved)
            while stuck_lanes != ZERO:
                lane = lowest_index(stuck_lanes)
                stuck_lanes &= stuck_lanes - ONE
                if count_open(memory, lane) <= target:
                    ended_lanes |= ONE << np.uint64(lane)
                else:
                    row = rows[lane]
                    weights[row] /= guess(memory, lane, states, row, odds)
            busy_lanes &= ~ended_lanes
            while ended_lanes != ZERO:
                lane = lowest_index(ended_lanes)
                ended_lanes &= ended_lanes - ONE
                if (dead_lanes >> np.uint64(lane)) & ONE != ZERO:
                    weights[rows[lane]] = 0.0
                else:
                    store(memory, lane, boards, rows[lane])

    return walk


def _build_guess(shape: Shape, moves: Moves, jit: Jit) -> Callable[..., float]:
    """Make ``guess(memory, lane, states, row, odds)``.

    It chooses an open cell and removes all of its candidates but one. It returns the probability
    with which this candidate was chosen.
    """
    n = shape.n
    K = shape.plane_words
    field = shape.field
    Word = shape.word
    OPEN = shape.OPEN
    PAIRS = shape.PAIRS
    row_cells = ones(n)
    first_column = np.uint64(shape.first_column)
    candidates_of = moves.candidates
    first_row = build_first_row(shape, jit)

    @jit
    def choose(memory, lane):
        """Return the first cell with two candidates, else one with the fewest in the first row."""
        j, cells = first_row(memory, lane, PAIRS)
        if cells != ZERO:
            return j, Word(cells & (~cells + ONE))
        j, cells = first_row(memory, lane, OPEN)
        min_count = n + 1
        best_bit = ZERO
        while cells != ZERO:
            bit = cells & (~cells + ONE)
            cells ^= bit
            count = popcount(candidates_of(memory, lane, j, Word(bit)))
            if count < min_count:
                min_count = count
                best_bit = bit
        return j, Word(best_bit)

    @jit
    def count_places(memory, lane, d, j, bit):
        """Return the number of places of a digit in a cell's row, times that in its column."""
        position = lowest_index(np.uint64(bit))
        row = row_cells << np.uint64(position // field * field)
        column = first_column << np.uint64(position % field)
        in_row = popcount(np.uint64(memory[d * K + j, lane]) & row)
        in_column = 0
        for k in range(K):
            in_column += popcount(np.uint64(memory[d * K + k, lane]) & column)
        return in_row * in_column

    @jit
    def guess(memory, lane, states, row, odds):
        j, bit = choose(memory, lane)
        candidates = candidates_of(memory, lane, j, bit)
        total = 0.0
        remaining = candidates
        while remaining != ZERO:
            d = lowest_index(remaining)
            remaining &= remaining - ONE
            odds[d] = 1.0 / count_places(memory, lane, d, j, bit)
            total += odds[d]
        x = random_fraction(states, row) * total
        remaining = candidates
        chosen = -1
        while remaining != ZERO:
            d = lowest_index(remaining)
            remaining &= remaining - ONE
            # Rounding errors may leave x above the odds of the last candidate.
            if chosen < 0 and (x < odds[d] or remaining == ZERO):
                chosen = d
            else:
                x -= odds[d]
                memory[d * K + j, lane] &= ~bit
        return odds[chosen] / total

    return guess
