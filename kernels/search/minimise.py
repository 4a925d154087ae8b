"""Top-down minimal puzzles: clues are removed from many puzzles at once, whose trials go in lanes.

A puzzle with one solution loses its clues in a random order, one unit after the other: a cell, or
some cells together. A trial removes a unit. If the clues that are left have another solution, the
unit is necessary, and stays for good: with fewer clues there can only be more solutions.

Another solution differs in a cell of the unit. So the trial of one cell is a search of one board,
whose cell may have any digit but its own: if that is dead, the clue is redundant. A unit of several
cells is searched as if each cell had been guessed to keep its digit. All lanes step together, as
those of ``lanes`` do. A lane whose trial has ended begins the next one of its puzzle; if no puzzles
are left, a free lane takes over the first guess of another one.

Most guesses lead to another solution at once, and nobody asks for their other halves. So these are
not kept as boards: a lane has a *path*, the cells that were guessed, and what it goes back to is
made anew from the clues and the path.

Two lines of a band or stack have *swaps*: the fewest columns, or rows, in which both have the same
digits. Exchanged there, they give another solution, unless one of these cells has a clue. So the
last clue of a swap is necessary, and needs no trial.

At first nearly all clues are redundant, so many units are removed at once. If singles alone then
solve the board, all of them were redundant, and would have been so one by one; else half as many
are tried. So the result is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.choose import build_choose, narrows
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.kernels.search.step import build_steps
from gpusudoku.kernels.search.tracing import traced
from gpusudoku.kernels.search.units import Units

# Words of Trials.state
NEXT = 0
"""The next puzzle to take."""
BUSY = 1
"""The lanes that have a board, as bits."""
USED = 2
"""The slots that have a puzzle, as bits."""
STATES = 3

# What an entry of a path says of a cell, in its lowest bits.
HAS = 0
"""It has the digit, and the board where it has not is for another lane, or gone."""
GUESSED = 1
"""It has the digit, and the board where it has not is still to be searched."""
HAS_NOT = 2
"""It has not."""
PATH_BITS, BIT_BITS = 2, 6
"""Bits of that, and of the number of the cell's bit in its word; above them is the word's."""
KIND = (1 << PATH_BITS) - 1
"""The mask of that."""


class PuzzleArrays(NamedTuple):
    """Puzzles with one solution."""

    solutions: NDArray[np.uint8]
    """uint8 (P, n * n): their solutions."""
    clues: NDArray[np.uint8]
    """uint8 (P, n * n): 1 where there is a clue, else 0; those that are removed become 0."""
    seeds: NDArray[np.uint64]
    """uint64 (P): the seed of the order of each."""
    candidates: NDArray[Any]
    """(P or 1, words), rows of a ``Shape``: the digits that each cell may have without its clue; a
    single row is for all of them."""
    units: NDArray[np.int64]
    """int64 (U, cells): the cells of each unit that may be removed, then -1; no cell is in two."""

    @classmethod
    def empty(cls, shape: Shape) -> PuzzleArrays:
        """No puzzles."""
        cells = np.empty((0, shape.n**2), np.uint8)
        candidates = np.empty((0, shape.words), shape.word)
        return cls(cells, cells, np.empty(0, np.uint64), candidates, np.empty((0, 1), np.int64))


class Trials(NamedTuple):
    """The trials that are going on. A puzzle has one at a time, and is in a *slot*."""

    memory: NDArray[Any]
    """(rows, lanes): the boards, and what they are made of; see ``make_fresh``."""
    slot_of: NDArray[np.int64]
    """int64 (lanes): the slot of each lane's puzzle."""
    paths: NDArray[np.int64]
    """int64 (lanes, depth): the path of each lane."""
    heights: NDArray[np.int64]
    """int64 (2, lanes): the lengths of paths, and the first entry that may be GUESSED."""
    puzzle: NDArray[np.int64]
    """int64 (slots): the puzzle in a slot. There are as many slots as lanes."""
    order: NDArray[np.int64]
    """int64 (slots, U): its units in the order in which they are tried."""
    place: NDArray[np.int64]
    """int64 (3, slots): units that are done, those up to the end of this trial, and how many to try
    at once."""
    lanes: NDArray[np.int64]
    """int64 (slots): the number of lanes that work on the trial."""
    guesses: NDArray[np.int64]
    """int64 (slots): the guesses of the trial."""
    given: NDArray[Any]
    """(2, slots, plane_words): the cells that have clues, and those of them that the trial has."""
    left: NDArray[np.int64]
    """int64 (2, slots): their numbers."""
    swap_of: NDArray[np.uint16]
    """uint16 (slots, n * n, box_rows + box_columns - 2): the swaps that each cell is in."""
    swap_clues: NDArray[np.int64]
    """int64 (slots, swaps): the number of clues in each swap."""
    scratch: NDArray[np.int64]
    """int64 (n): where a line has each digit."""
    state: NDArray[np.int64]
    """int64 (STATES): NEXT, BUSY and USED."""

    @classmethod
    def empty(cls, shape: Shape, units: int) -> Trials:
        """No puzzle yet. Each entry of a path takes candidates away, so paths cannot be longer."""
        lanes = shape.lanes
        K = shape.plane_words
        ways = shape.box_rows + shape.box_columns - 2
        return cls(
            shape.memory(lanes, 2 * shape.planes + K + 1),
            np.zeros(lanes, np.int64),
            np.zeros((lanes, shape.n**3), np.int64),
            np.zeros((2, lanes), np.int64),
            np.zeros(lanes, np.int64),
            np.zeros((lanes, units), np.int64),
            np.zeros((3, lanes), np.int64),
            np.zeros(lanes, np.int64),
            np.zeros(lanes, np.int64),
            np.zeros((2, lanes, K), shape.word),
            np.zeros((2, lanes), np.int64),
            np.zeros((lanes, shape.n**2, ways), np.uint16),
            np.zeros((lanes, shape.n**2 * ways // 4 + 1), np.int64),
            np.zeros(shape.n, np.int64),
            np.zeros(STATES, np.int64),
        )


class Rows(NamedTuple):
    """The first rows in the memory of what boards are made of, behind those of boards."""

    solution: int
    """Planes: the digits of the solution."""
    allowed: int
    """Planes: the digits that cells without clues may have."""
    given: int
    """The cells that have clues."""
    fresh: int
    """One row, not 0 in the lanes whose boards are to be made."""

    @classmethod
    def of(cls, shape: Shape) -> Rows:
        """Return those of a shape."""
        solution = shape.memory_rows
        given = solution + 2 * shape.planes
        return cls(solution, solution + shape.planes, given, given + shape.plane_words)


def make_fresh(shape: Shape, machine: Machine) -> Any:
    """Make the boards of all fresh lanes from their clues; return these lanes, as bits."""
    units = Units(shape, machine)
    K = shape.plane_words
    rows = Rows.of(shape)
    fresh = machine.load(rows.fresh)
    given = units.words()
    for j, _ in units.plane():
        given[j] = machine.load(rows.given + j)
        machine.store(shape.CLEAR + j, machine.load(shape.CLEAR + j) & ~fresh)
    for d in machine.each(shape.n):
        for j, _ in units.plane():
            w = d * K + j
            allowed = machine.load(w + rows.allowed)
            new = allowed ^ (given[j] & (allowed ^ machine.load(w + rows.solution)))
            old = machine.load(w)
            machine.store(w, old ^ (fresh & (old ^ new)))
    machine.store(rows.fresh, machine.value(0))
    return machine.nonzero(fresh)


def build_minimise(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., bool]:
    """Make ``minimise(puzzles, trials, least, most, rounds)``.

    It removes units of the puzzles in turn, never to fewer than ``least`` clues, until so many
    rounds of steps are done. A trial that takes more than ``most`` guesses ends, and its unit
    stays; below 0 there is no bound. Returns True once all puzzles are done.
    """
    n = shape.n
    K = shape.plane_words
    planes = shape.planes
    CLEAR = shape.CLEAR
    R = shape.box_rows
    C = shape.box_columns
    ways = shape.box_rows + shape.box_columns - 2
    width = shape.lanes
    Word = shape.word
    cells = shape.n**2
    SOLUTION, ALLOWED, GIVEN, NEW = Rows.of(shape)
    every_cell = shape.word(shape.cells)
    every = shape.word((1 << shape.bits) - 1)
    all_lanes = ~ZERO >> np.uint64(64 - width)
    candidates_of = build_moves(shape, jit).candidates
    choose = build_choose(shape, settings.strategy, candidates_of, jit)
    advance, _, _, keep_best = build_steps(shape, settings.techniques, width)
    narrowing = narrows(shape, settings)
    make = traced(make_fresh, 1, shape, width)
    words, bits = shape.places

    @jit
    def group_size(left, unit):
        """Return how many units go at once of so many clues: most of those beyond four ninths."""
        return max(1, (9 * left - 4 * cells) // (13 * unit))

    @jit
    def begin_puzzle(puzzles, trials, puzzle, slot, lane):
        """Put a puzzle in a slot and a lane, its units in a random order."""
        memory = trials.memory
        row = min(puzzle, puzzles.candidates.shape[0] - 1)
        any_digit = True
        for w in range(planes):
            memory[SOLUTION + w, lane] = 0
            memory[ALLOWED + w, lane] = puzzles.candidates[row, w]
            any_digit &= puzzles.candidates[row, w] == every_cell
        for j in range(K):
            trials.given[0, slot, j] = 0
        left = 0
        for cell in range(cells):
            j = words[cell]
            bit = bits[cell]
            digit = np.int64(puzzles.solutions[puzzle, cell]) - 1
            memory[SOLUTION + K * digit + j, lane] |= bit
            if puzzles.clues[puzzle, cell] != 0:
                trials.given[0, slot, j] |= bit
                left += 1
        trials.puzzle[slot] = puzzle
        trials.left[0, slot] = left
        trials.place[0, slot], trials.place[2, slot] = 0, group_size(left, puzzles.units.shape[1])
        swaps = 0
        for band in range(C):
            swaps = find_swaps(puzzles, trials, slot, band * R * n, R, 1, n, 0, swaps)
        for stack in range(R):
            swaps = find_swaps(puzzles, trials, slot, stack * C, C, n, 1, R - 1, swaps)
        if not any_digit:  # a swap may put a digit where it is no candidate
            for swap in range(swaps):
                trials.swap_clues[slot, swap] = 0
        units = trials.order.shape[1]
        state = puzzles.seeds[puzzle]
        for i in range(units):
            trials.order[slot, i] = i
        for i in range(units - 1):
            # SplitMix64 (Steele, Lea and Flood, 2014). The upper half of a word, reduced by a
            # product, is as good as uniform: the chances of two units differ by less than 2^-32.
            state += np.uint64(0x9E3779B97F4A7C15)
            mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32)
            other = i + np.int64((mixed * np.uint64(units - i)) >> np.uint64(32))
            unit = trials.order[slot, other]
            trials.order[slot, other] = trials.order[slot, i]
            trials.order[slot, i] = unit

    @jit
    def find_swaps(puzzles, trials, slot, first, together, step, across, way, swaps):
        """Find the swaps of two lines; return how many there are so far.

        ``first`` is the first cell of the lines that are ``together`` in a band or stack, each
        ``across`` from the one before, with cells a ``step`` apart.
        """
        puzzle = trials.puzzle[slot]
        solutions = puzzles.solutions
        where = trials.scratch
        for one in range(together):
            for other in range(one + 1, together):
                for place in range(n):
                    where[solutions[puzzle, first + other * across + place * step] - 1] = place
                left = ~ZERO >> np.uint64(64 - n)
                while left != ZERO:
                    i = np.int64(lowest_index(left))
                    clues = np.int64(0)
                    while (left >> np.uint64(i)) & ONE != ZERO:
                        left &= ~(ONE << np.uint64(i))
                        cell = first + one * across + i * step
                        twin = cell + (other - one) * across
                        trials.swap_of[slot, cell, way + other - 1] = swaps
                        trials.swap_of[slot, twin, way + one] = swaps
                        clues += np.int64(puzzles.clues[puzzle, cell])
                        clues += np.int64(puzzles.clues[puzzle, twin])
                        i = where[solutions[puzzle, cell] - 1]
                    trials.swap_clues[slot, swaps] = clues
                    swaps += 1
        return swaps

    @jit
    def is_alone(trials, slot, cell):
        """Tell whether a cell has the last clue of a swap, which is then necessary."""
        for way in range(ways):
            if trials.swap_clues[slot, trials.swap_of[slot, cell, way]] == 1:
                return True
        return False

    @jit
    def end_puzzle(puzzles, trials, slot):
        """Write which clues are left."""
        puzzle = trials.puzzle[slot]
        for cell in range(cells):
            if trials.given[0, slot, words[cell]] & bits[cell] == 0:
                puzzles.clues[puzzle, cell] = 0

    @jit
    def begin_trial(puzzles, trials, slot, lane, least):
        """Begin the next trial of a slot's puzzle in a lane; return False if all are done."""
        position = trials.place[0, slot]
        tried = 0
        left = trials.left[0, slot]
        unit = 0
        end = position
        for j in range(K):
            trials.given[1, slot, j] = trials.given[0, slot, j]
        while position < trials.order.shape[1] and tried < trials.place[2, slot]:
            removed, cell = 0, 0
            for i in range(puzzles.units.shape[1]):
                each = puzzles.units[trials.order[slot, position], i]
                if each >= 0 and trials.given[0, slot, words[each]] & bits[each] != 0:
                    removed = removed + 1
                    cell = each
            if removed == 1 and trials.place[2, slot] == 1 and is_alone(trials, slot, cell):
                end = position + 1
            elif removed > 0 and left - removed >= least:
                unit = trials.order[slot, position]
                tried = tried + 1
                left = left - removed
                end = position + 1  # not beyond units with too many clues: the trial may fail
                for i in range(puzzles.units.shape[1]):
                    cell = puzzles.units[unit, i]
                    if cell >= 0:
                        trials.given[1, slot, words[cell]] &= ~bits[cell]
            position += 1
        if tried == 0:
            return False
        trials.place[1, slot], trials.place[2, slot] = end, tried
        trials.left[1, slot] = left
        trials.lanes[slot] = 1
        trials.guesses[slot] = 0
        trials.slot_of[lane] = slot
        height = 0
        if tried == 1:
            for i in range(puzzles.units.shape[1]):
                cell = puzzles.units[unit, i]
                if cell >= 0 and trials.given[0, slot, words[cell]] & bits[cell] != 0:
                    digit = np.int64(puzzles.solutions[trials.puzzle[slot], cell]) - 1
                    place = (K * digit + words[cell]) << BIT_BITS | lowest_index(
                        np.uint64(bits[cell])
                    )
                    trials.paths[lane, height] = place << PATH_BITS | GUESSED
                    height += 1
            trials.paths[lane, height - 1] += HAS_NOT - GUESSED
        begin_board(trials, lane, height, 0)
        return True

    @jit
    def begin_board(trials, lane, height, first):
        """Have a board made from a path of some length, guessed from some entry on."""
        trials.heights[0, lane], trials.heights[1, lane] = height, first
        for j in range(K):
            trials.memory[GIVEN + j, lane] = trials.given[1, trials.slot_of[lane], j]
        trials.memory[NEW, lane] = every

    @jit
    def follow_path(trials, lane):
        """Change the board of a fresh lane as its path says."""
        memory = trials.memory
        for i in range(trials.heights[0, lane]):
            entry = trials.paths[lane, i]
            w = entry >> PATH_BITS >> BIT_BITS
            bit = Word(ONE << np.uint64((entry >> PATH_BITS) & ((1 << BIT_BITS) - 1)))
            if entry & KIND == HAS_NOT:
                memory[w, lane] &= ~bit
            else:
                for d in range(n):
                    if d != w // K:
                        memory[K * d + w % K, lane] &= ~bit

    @jit
    def go_back(trials, lane):
        """Go back to the last guess of a lane, and take its other half; False if there is none."""
        for i in range(trials.heights[0, lane] - 1, trials.heights[1, lane] - 1, -1):
            if trials.paths[lane, i] & KIND == GUESSED:
                trials.paths[lane, i] += HAS_NOT - GUESSED
                begin_board(trials, lane, i + 1, trials.heights[1, lane])
                return True
        return False

    @jit
    def take_over(trials, lane):
        """Take over the first guess of another lane; return False if there is none."""
        for other in range(width):
            first = trials.heights[1, other]
            while first < trials.heights[0, other]:
                if trials.paths[other, first] & KIND == GUESSED:
                    break
                first += 1
            trials.heights[1, other] = first
            if first < trials.heights[0, other]:
                for i in range(first + 1):
                    trials.paths[lane, i] = trials.paths[other, i]
                trials.paths[lane, first] += HAS_NOT - GUESSED
                trials.paths[other, first] += HAS - GUESSED
                for w in range(2 * planes):
                    trials.memory[SOLUTION + w, lane] = trials.memory[SOLUTION + w, other]
                trials.slot_of[lane] = trials.slot_of[other]
                trials.lanes[trials.slot_of[lane]] += 1
                begin_board(trials, lane, first + 1, first + 1)
                return True
        return False

    @jit
    def fill(puzzles, trials, busy, least, most):
        """Give boards to free lanes; return the lanes that have one."""
        used = np.uint64(trials.state[USED])
        free = all_lanes & ~busy
        while free != ZERO:
            lane = lowest_index(free)
            if trials.state[NEXT] < puzzles.solutions.shape[0]:
                slot = lowest_index(~used)
                begin_puzzle(puzzles, trials, trials.state[NEXT], slot, lane)
                trials.state[NEXT] += 1
                if not begin_trial(puzzles, trials, slot, lane, least):
                    continue
                used |= ONE << np.uint64(slot)
            elif most >= 0 or not take_over(trials, lane):  # when it ends must not be up to chance
                break
            busy |= ONE << np.uint64(lane)
            free &= free - ONE
        trials.state[USED] = np.int64(used)
        return busy

    @jit
    def end_trial(puzzles, trials, lane, redundant, busy, least):
        """End the trial of a lane's puzzle, and begin the next; return the lanes with boards."""
        slot = trials.slot_of[lane]
        bit = ONE << np.uint64(lane)
        if trials.lanes[slot] > 1:
            for other in range(width):
                if other != lane and trials.slot_of[other] == slot:
                    busy &= ~(ONE << np.uint64(other))
                    trials.heights[0, other] = 0
        if redundant:
            for position in range(trials.place[0, slot], trials.place[1, slot]):
                for i in range(puzzles.units.shape[1]):
                    cell = puzzles.units[trials.order[slot, position], i]
                    if cell >= 0 and (
                        (trials.given[0, slot, words[cell]] ^ trials.given[1, slot, words[cell]])
                        & bits[cell]
                        != 0
                    ):
                        for way in range(ways):
                            trials.swap_clues[slot, trials.swap_of[slot, cell, way]] -= 1
            for j in range(K):
                trials.given[0, slot, j] = trials.given[1, slot, j]
            trials.left[0, slot] = trials.left[1, slot]
            size = group_size(trials.left[0, slot], puzzles.units.shape[1])
            trials.place[2, slot] = min(trials.place[2, slot], size)
        trials.place[0, slot] = trials.place[1, slot]
        if not begin_trial(puzzles, trials, slot, lane, least):
            end_puzzle(puzzles, trials, slot)
            trials.heights[0, lane] = 0
            trials.state[USED] &= ~np.int64(ONE << np.uint64(slot))
            busy &= ~bit
        return busy

    @jit
    def minimise(puzzles, trials, least, most, rounds):
        memory = trials.memory
        slot_of = trials.slot_of
        place = trials.place
        busy = np.uint64(trials.state[BUSY])
        for _ in range(rounds):
            if busy != all_lanes:
                busy = fill(puzzles, trials, busy, least, most)
                if busy == ZERO:
                    break
            fresh = make(memory)
            while fresh != ZERO:
                follow_path(trials, lowest_index(fresh))
                fresh &= fresh - ONE
            dead, unsolved, changed = advance(memory)
            stuck = busy & ~dead & unsolved & ~changed
            if narrowing and stuck != ZERO:
                keep_best(memory)
            ended = busy & (dead | ~unsolved)
            while ended != ZERO:
                lane = lowest_index(ended)
                bit = ended & (~ended + ONE)
                ended ^= bit
                if busy & bit == ZERO:  # its trial has ended in another lane
                    continue
                slot = slot_of[lane]
                if dead & bit == ZERO:
                    redundant = place[2, slot] > 1
                elif go_back(trials, lane):
                    continue
                elif trials.lanes[slot] > 1:
                    trials.lanes[slot] -= 1
                    trials.heights[0, lane] = 0
                    busy &= ~bit
                    continue
                else:
                    redundant = True
                busy = end_trial(puzzles, trials, lane, redundant, busy, least)
            stuck &= busy
            while stuck != ZERO:
                lane = lowest_index(stuck)
                stuck &= stuck - ONE
                slot = slot_of[lane]
                if place[2, slot] > 1:
                    place[2, slot] //= 2
                    if not begin_trial(puzzles, trials, slot, lane, least):
                        busy = end_trial(puzzles, trials, lane, False, busy, least)
                    continue
                trials.guesses[slot] += 1
                if most >= 0 and trials.guesses[slot] > most:
                    busy = end_trial(puzzles, trials, lane, False, busy, least)
                    continue
                j, bit = choose(memory, lane)
                lowest = lowest_index(candidates_of(memory, lane, j, bit))
                entry = (K * lowest + j) << BIT_BITS | lowest_index(np.uint64(bit))
                trials.paths[lane, trials.heights[0, lane]] = entry << PATH_BITS | GUESSED
                trials.heights[0, lane] += 1
                memory[CLEAR + j, lane] |= bit
        trials.state[BUSY] = np.int64(busy)
        return busy == ZERO

    return minimise
