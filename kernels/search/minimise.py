"""Minimal puzzles: clues are removed from many puzzles at once, whose trials run in lanes.

A puzzle with one solution loses its clues in a random order, one unit after the other. Here a unit
is a cell, or some cells whose clues are removed together. A trial removes a unit. If the remaining
clues have another solution, the unit is necessary. It stays for good: with fewer clues there can
only be more solutions.

Another solution differs in a cell of the unit. So the trial of one cell searches one board, on
which the cell may have any digit but its own. If that board is dead, the clue is redundant. A unit
of several cells is searched as if each cell had been guessed to keep its digit. ``trial_boards``
makes these boards.

All lanes step together, as in ``lanes``. A lane whose trial has ended begins the next trial of its
puzzle. If no puzzles remain, a free lane takes over the first guess of another lane.

Clues that ``swaps`` shows to be necessary need no trial.

At first nearly all clues are redundant. So a trial removes several units at once. If steps without
a guess then solve the board, all these units are redundant, and would have been found redundant one
by one. If not, a trial of half as many units follows. So the result is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.kernel import Jit, inlined
from gpusudoku.kernels.search.choose import build_choose, uses_narrow
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.kernels.search.step import build_steps
from gpusudoku.kernels.search.swaps import build_swaps, swap_partners
from gpusudoku.kernels.search.tracing import traced
from gpusudoku.kernels.search.trial_boards import (
    GUESSED,
    HAS_NOT,
    TrialBoards,
    TrialRows,
    build_trial_boards,
    make_boards,
)

# Words of Trials.state
NEXT_PUZZLE = 0
"""The next puzzle to take."""
BUSY_LANES = 1
"""The lanes that have a board, as bits."""
BUSY_SLOTS = 2
"""The slots that have a puzzle, as bits."""
STATE_WORDS = 3

# Constants of SplitMix64
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)


class PuzzleArrays(NamedTuple):
    """Puzzles with one solution."""

    solutions: NDArray[np.uint8]
    """uint8 (P, n * n): their solutions."""
    clues: NDArray[np.uint8]
    """uint8 (P, n * n): 1 where there is a clue, else 0. Clues that are removed become 0."""
    seeds: NDArray[np.uint64]
    """uint64 (P): the seed of the order of each puzzle's units."""
    candidates: NDArray[Any]
    """(P or 1, words), packed boards of a ``Shape``: the digits that each cell may have without its
    clue. A single row is for all puzzles."""
    units: NDArray[np.int64]
    """int64 (U, cells per unit): the cells of each unit, then -1. No cell is in two units."""

    @classmethod
    def empty(cls, shape: Shape) -> PuzzleArrays:
        """Make arrays without puzzles."""
        cells = np.empty((0, shape.n**2), np.uint8)
        candidates = np.empty((0, shape.words), shape.word)
        return cls(cells, cells, np.empty(0, np.uint64), candidates, np.empty((0, 1), np.int64))


class Trials(NamedTuple):
    """The trials in progress. A puzzle has one at a time, and is in a *slot*.

    There are as many slots as lanes. Most trials have one lane; several lanes work on the same one
    if no puzzles remain. In the order of its units, a puzzle is at this point:

        position   0   ...   | decided_units  ...    | trial_ends  ...
                   decided   | units of this trial   | units of later trials
    """

    # For each lane
    memory: NDArray[Any]
    """(rows, lanes): the boards, and what they are made from; see ``trial_boards.TrialRows``."""
    slot_of_lane: NDArray[np.int64]
    """int64 (lanes): the slot of each lane's puzzle."""
    paths: NDArray[np.int64]
    """int64 (lanes, n^3): the path of each lane; see ``trial_boards``. It cannot be longer,
    because each entry strikes candidates."""
    path_lengths: NDArray[np.int64]
    """int64 (lanes): the number of entries of each path."""
    guess_starts: NDArray[np.int64]
    """int64 (lanes): the first entry of each path that may be GUESSED."""
    # For each slot
    puzzle_of_slot: NDArray[np.int64]
    """int64 (slots): the puzzle in each slot."""
    lane_counts: NDArray[np.int64]
    """int64 (slots): the number of lanes that work on the trial."""
    guess_counts: NDArray[np.int64]
    """int64 (slots): the number of guesses of the trial."""
    unit_order: NDArray[np.int64]
    """int64 (slots, U): the units of the puzzle in the order in which they are tried."""
    decided_units: NDArray[np.int64]
    """int64 (slots): the position of the first unit that is not decided."""
    trial_ends: NDArray[np.int64]
    """int64 (slots): the position of the first unit after those that this trial decides."""
    trial_sizes: NDArray[np.int64]
    """int64 (slots): the number of units that the trial removes; of the next one, at most."""
    clues: NDArray[Any]
    """(slots, plane_words): the cells that have clues."""
    trial_clues: NDArray[Any]
    """(slots, plane_words): the cells that have clues in the trial."""
    clue_counts: NDArray[np.int64]
    """int64 (slots): the number of clues."""
    trial_clue_counts: NDArray[np.int64]
    """int64 (slots): the number of clues in the trial."""
    swaps_of_cell: NDArray[np.uint16]
    """uint16 (slots, n * n, box_rows + box_columns - 2): the swaps that each cell is in, one with
    each other row of its band, then one with each other column of its stack."""
    swap_clue_counts: NDArray[np.int64]
    """int64 (slots, swaps): the number of clues in each swap."""
    # For all
    position_of_digit: NDArray[np.int64]
    """int64 (n): scratch memory, the position of each digit in a line."""
    state: NDArray[np.int64]
    """int64 (STATE_WORDS): NEXT_PUZZLE, BUSY_LANES and BUSY_SLOTS."""

    @classmethod
    def empty(cls, shape: Shape, unit_count: int) -> Trials:
        """Make lanes and slots without puzzles."""
        lanes = slots = shape.lanes
        cells = shape.n**2
        partners = swap_partners(shape)
        # A swap has two lines and at least two positions: four cells.
        max_swaps = cells * partners // 4
        return cls(
            memory=shape.memory(lanes, TrialRows.of(shape).end - shape.memory_rows),
            slot_of_lane=np.zeros(lanes, np.int64),
            paths=np.zeros((lanes, shape.n**3), np.int64),
            path_lengths=np.zeros(lanes, np.int64),
            guess_starts=np.zeros(lanes, np.int64),
            puzzle_of_slot=np.zeros(slots, np.int64),
            lane_counts=np.zeros(slots, np.int64),
            guess_counts=np.zeros(slots, np.int64),
            unit_order=np.zeros((slots, unit_count), np.int64),
            decided_units=np.zeros(slots, np.int64),
            trial_ends=np.zeros(slots, np.int64),
            trial_sizes=np.zeros(slots, np.int64),
            clues=np.zeros((slots, shape.plane_words), shape.word),
            trial_clues=np.zeros((slots, shape.plane_words), shape.word),
            clue_counts=np.zeros(slots, np.int64),
            trial_clue_counts=np.zeros(slots, np.int64),
            swaps_of_cell=np.zeros((slots, cells, partners), np.uint16),
            swap_clue_counts=np.zeros((slots, max_swaps + 1), np.int64),
            position_of_digit=np.zeros(shape.n, np.int64),
            state=np.zeros(STATE_WORDS, np.int64),
        )


class Slots(NamedTuple):
    """Functions for the puzzles in slots and their trials."""

    begin_puzzle: Callable[..., None]
    """``begin_puzzle(puzzles, trials, puzzle, slot, lane)``: put a puzzle in a slot and a lane, its
    units in a random order."""
    begin_trial: Callable[..., bool]
    """``begin_trial(puzzles, trials, slot, lane, min_clues)``: begin the next trial of a slot's
    puzzle in a lane. Returns False if all units are decided."""
    accept_trial: Callable[..., None]
    """``accept_trial(puzzles, trials, slot)``: remove the clues that the trial removed for good."""
    end_puzzle: Callable[..., None]
    """``end_puzzle(puzzles, trials, slot)``: write which clues remain."""


@inlined
def shuffle_units(trials, slot, seed):
    """Put the units of a slot in a random order."""
    unit_order = trials.unit_order
    unit_count = unit_order.shape[1]
    for i in range(unit_count):
        unit_order[slot, i] = i
    state = seed
    for i in range(unit_count - 1):
        # SplitMix64 (Steele, Lea and Flood, 2014). The upper half of a word, reduced by a
        # product, is as good as uniform: the chances of two units differ by less than 2^-32.
        state += STEP
        mixed = (state ^ (state >> np.uint64(30))) * FIRST_FACTOR
        mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND_FACTOR
        upper_half = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32)
        chosen_index = i + np.int64((upper_half * np.uint64(unit_count - i)) >> np.uint64(32))
        unit = unit_order[slot, chosen_index]
        unit_order[slot, chosen_index] = unit_order[slot, i]
        unit_order[slot, i] = unit


def build_slots(shape: Shape, jit: Jit, boards: TrialBoards) -> Slots:
    """Make the functions."""
    K = shape.plane_words
    planes = shape.planes
    cells = shape.n**2
    all_cells = shape.word(shape.cells)
    word_of_cell, bit_of_cell = shape.cell_positions
    rows = TrialRows.of(shape)
    SOLUTION = rows.solution
    ALLOWED = rows.allowed
    find_swaps, has_last_clue, remove_clue_of_swaps = build_swaps(shape, jit)
    encode_guess = boards.encode_guess
    begin_board = boards.begin_board

    @jit
    def max_trial_size(clue_count, cells_per_unit):
        """Return the units to remove at once: 9/13 of the clues beyond 4/9 of the cells."""
        return max(1, (9 * clue_count - 4 * cells) // (13 * cells_per_unit))

    @jit
    def begin_puzzle(puzzles, trials, puzzle, slot, lane):
        trials.puzzle_of_slot[slot] = puzzle
        memory = trials.memory
        row = min(puzzle, puzzles.candidates.shape[0] - 1)
        allows_all = True
        for w in range(planes):
            memory[SOLUTION + w, lane] = 0
            memory[ALLOWED + w, lane] = puzzles.candidates[row, w]
            allows_all &= puzzles.candidates[row, w] == all_cells

        for j in range(K):
            trials.clues[slot, j] = 0
        clue_count = 0
        for cell in range(cells):
            j = word_of_cell[cell]
            bit = bit_of_cell[cell]
            d = np.int64(puzzles.solutions[puzzle, cell]) - 1
            memory[SOLUTION + K * d + j, lane] |= bit
            if puzzles.clues[puzzle, cell] != 0:
                trials.clues[slot, j] |= bit
                clue_count += 1
        trials.clue_counts[slot] = clue_count
        trials.decided_units[slot] = 0
        trials.trial_sizes[slot] = max_trial_size(clue_count, puzzles.units.shape[1])

        swap_count = find_swaps(puzzles, trials, slot)
        if not allows_all:
            # A swap may put a digit where it is not a candidate, and then proves nothing. With 0
            # clues, no swap has a last clue.
            for swap in range(swap_count):
                trials.swap_clue_counts[slot, swap] = 0
        shuffle_units(trials, slot, puzzles.seeds[puzzle])

    @jit
    def has_clue(trials, slot, cell):
        return trials.clues[slot, word_of_cell[cell]] & bit_of_cell[cell] != 0

    @jit
    def find_clues(puzzles, trials, slot, unit):
        """Return the number of clues of a unit, and the cell of the last one."""
        clue_count = 0
        last_cell = 0
        for i in range(puzzles.units.shape[1]):
            cell = puzzles.units[unit, i]
            if cell >= 0 and has_clue(trials, slot, cell):
                clue_count += 1
                last_cell = cell
        return clue_count, last_cell

    @jit
    def begin_path(puzzles, trials, slot, lane, unit):
        """Begin a path with the clues of a unit; return its length.

        The board of the path has another digit in the last of these cells. The others are guessed
        to keep their digits.
        """
        puzzle = trials.puzzle_of_slot[slot]
        length = 0
        for i in range(puzzles.units.shape[1]):
            cell = puzzles.units[unit, i]
            if cell >= 0 and has_clue(trials, slot, cell):
                d = np.int64(puzzles.solutions[puzzle, cell]) - 1
                word = K * d + word_of_cell[cell]
                trials.paths[lane, length] = encode_guess(word, bit_of_cell[cell])
                length += 1
        trials.paths[lane, length - 1] += HAS_NOT - GUESSED
        return length

    @jit
    def begin_trial(puzzles, trials, slot, lane, min_clues):
        max_size = trials.trial_sizes[slot]
        clue_count = trials.clue_counts[slot]
        for j in range(K):
            trials.trial_clues[slot, j] = trials.clues[slot, j]

        size = 0
        removed_unit = 0
        position = trials.decided_units[slot]
        end = position
        while position < trials.unit_order.shape[1] and size < max_size:
            unit = trials.unit_order[slot, position]
            unit_clues, cell = find_clues(puzzles, trials, slot, unit)
            position += 1
            if unit_clues == 1 and max_size == 1 and has_last_clue(trials, slot, cell):
                end = position
            elif unit_clues > 0 and clue_count - unit_clues >= min_clues:
                # Units with too many clues that follow the last removed one stay undecided: if
                # the trial fails, more clues remain, and these units may be tried.
                end = position
                size += 1
                clue_count -= unit_clues
                removed_unit = unit
                for i in range(puzzles.units.shape[1]):
                    cell = puzzles.units[unit, i]
                    if cell >= 0:
                        trials.trial_clues[slot, word_of_cell[cell]] &= ~bit_of_cell[cell]
        if size == 0:
            return False

        trials.trial_ends[slot] = end
        trials.trial_sizes[slot] = size
        trials.trial_clue_counts[slot] = clue_count
        trials.lane_counts[slot] = 1
        trials.guess_counts[slot] = 0
        trials.slot_of_lane[lane] = slot
        path_length = 0
        if size == 1:
            path_length = begin_path(puzzles, trials, slot, lane, removed_unit)
        begin_board(trials, lane, path_length, 0)
        return True

    @jit
    def accept_trial(puzzles, trials, slot):
        for position in range(trials.decided_units[slot], trials.trial_ends[slot]):
            unit = trials.unit_order[slot, position]
            for i in range(puzzles.units.shape[1]):
                cell = puzzles.units[unit, i]
                if cell >= 0:
                    j = word_of_cell[cell]
                    removed_cells = trials.clues[slot, j] ^ trials.trial_clues[slot, j]
                    if removed_cells & bit_of_cell[cell] != 0:
                        remove_clue_of_swaps(trials, slot, cell)
        for j in range(K):
            trials.clues[slot, j] = trials.trial_clues[slot, j]
        clue_count = trials.trial_clue_counts[slot]
        trials.clue_counts[slot] = clue_count
        max_size = max_trial_size(clue_count, puzzles.units.shape[1])
        trials.trial_sizes[slot] = min(trials.trial_sizes[slot], max_size)

    @jit
    def end_puzzle(puzzles, trials, slot):
        puzzle = trials.puzzle_of_slot[slot]
        for cell in range(cells):
            if not has_clue(trials, slot, cell):
                puzzles.clues[puzzle, cell] = 0

    return Slots(begin_puzzle, begin_trial, accept_trial, end_puzzle)


def build_minimise(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., bool]:
    """Make ``minimise(puzzles, trials, min_clues, max_guesses, rounds)``.

    It removes units of the puzzles in turn, for ``rounds`` rounds at most, and leaves every puzzle
    at least ``min_clues`` clues. A trial that takes more than ``max_guesses`` guesses ends, and its
    unit stays; below 0 there is no bound. Returns True once all puzzles are finished.
    """
    K = shape.plane_words
    CLEAR = shape.CLEAR
    width = shape.lanes
    all_lanes = ~ZERO >> np.uint64(64 - width)
    candidates_of = build_moves(shape, jit).candidates
    choose = build_choose(shape, settings.strategy, candidates_of, jit)
    advance, _, _, keep_best = build_steps(shape, settings.techniques, width)
    has_narrow = uses_narrow(shape, settings)
    make_fresh_boards = traced(make_boards, 1, shape, width)
    boards = build_trial_boards(shape, jit)
    encode_guess, _, follow_path, go_back, take_over = boards
    begin_puzzle, begin_trial, accept_trial, end_puzzle = build_slots(shape, jit, boards)

    @jit
    def fill_lanes(puzzles, trials, busy_lanes, min_clues, max_guesses):
        """Give boards to free lanes; return the busy lanes."""
        busy_slots = np.uint64(trials.state[BUSY_SLOTS])
        free_lanes = all_lanes & ~busy_lanes
        while free_lanes != ZERO:
            lane = lowest_index(free_lanes)
            if trials.state[NEXT_PUZZLE] < puzzles.solutions.shape[0]:
                slot = lowest_index(~busy_slots)
                begin_puzzle(puzzles, trials, trials.state[NEXT_PUZZLE], slot, lane)
                trials.state[NEXT_PUZZLE] += 1
                if not begin_trial(puzzles, trials, slot, lane, min_clues):
                    continue  # no clue can go; the lane takes the next puzzle
                busy_slots |= ONE << np.uint64(slot)
            # The guesses of a trial must not depend on the lanes that happen to be free if their
            # number is bounded: the result would depend on the other puzzles.
            elif max_guesses >= 0 or not take_over(trials, lane):
                break
            busy_lanes |= ONE << np.uint64(lane)
            free_lanes &= free_lanes - ONE
        trials.state[BUSY_SLOTS] = np.int64(busy_slots)
        return busy_lanes

    @jit
    def free_lane(trials, lane, busy_lanes):
        """Take the board of a lane away; return the busy lanes."""
        trials.path_lengths[lane] = 0  # no guess is to be taken over from it
        return busy_lanes & ~(ONE << np.uint64(lane))

    @jit
    def end_trial(puzzles, trials, lane, is_redundant, busy_lanes, min_clues):
        """End the trial of a lane's puzzle, and begin the next one; return the busy lanes."""
        slot = trials.slot_of_lane[lane]
        if trials.lane_counts[slot] > 1:
            for helping_lane in range(width):
                if helping_lane != lane and trials.slot_of_lane[helping_lane] == slot:
                    busy_lanes = free_lane(trials, helping_lane, busy_lanes)
        if is_redundant:
            accept_trial(puzzles, trials, slot)
        trials.decided_units[slot] = trials.trial_ends[slot]
        if not begin_trial(puzzles, trials, slot, lane, min_clues):
            end_puzzle(puzzles, trials, slot)
            trials.state[BUSY_SLOTS] &= ~np.int64(ONE << np.uint64(slot))
            busy_lanes = free_lane(trials, lane, busy_lanes)
        return busy_lanes

    @jit
    def end_boards(puzzles, trials, finished_lanes, dead, busy_lanes, min_clues):
        """Continue lanes whose boards are dead or solved; return the busy lanes."""
        while finished_lanes != ZERO:
            lane = lowest_index(finished_lanes)
            lane_bit = finished_lanes & (~finished_lanes + ONE)
            finished_lanes ^= lane_bit
            if busy_lanes & lane_bit == ZERO:  # its trial has just ended in another lane
                continue
            slot = trials.slot_of_lane[lane]
            if dead & lane_bit == ZERO:
                # Solved. If one unit was removed, that is another solution. If several were, no
                # guess was needed, so it is the only solution.
                is_redundant = trials.trial_sizes[slot] > 1
            elif go_back(trials, lane):
                continue
            elif trials.lane_counts[slot] > 1:
                trials.lane_counts[slot] -= 1
                busy_lanes = free_lane(trials, lane, busy_lanes)
                continue
            else:
                is_redundant = True  # no other solution
            busy_lanes = end_trial(puzzles, trials, lane, is_redundant, busy_lanes, min_clues)
        return busy_lanes

    @jit
    def guess(trials, lane):
        """Guess the lowest candidate of a cell, and add the guess to the path."""
        memory = trials.memory
        j, bit = choose(memory, lane)
        lowest = lowest_index(candidates_of(memory, lane, j, bit))
        trials.paths[lane, trials.path_lengths[lane]] = encode_guess(K * lowest + j, bit)
        trials.path_lengths[lane] += 1
        memory[CLEAR + j, lane] |= bit  # the next step strikes the other candidates

    @jit
    def split_boards(puzzles, trials, stuck_lanes, busy_lanes, min_clues, max_guesses):
        """Continue lanes whose boards do not change any more; return the busy lanes."""
        while stuck_lanes != ZERO:
            lane = lowest_index(stuck_lanes)
            stuck_lanes &= stuck_lanes - ONE
            slot = trials.slot_of_lane[lane]
            if trials.trial_sizes[slot] > 1:
                trials.trial_sizes[slot] //= 2
                has_ended = not begin_trial(puzzles, trials, slot, lane, min_clues)
            else:
                trials.guess_counts[slot] += 1
                has_ended = max_guesses >= 0 and trials.guess_counts[slot] > max_guesses
                if not has_ended:
                    guess(trials, lane)
            if has_ended:
                busy_lanes = end_trial(puzzles, trials, lane, False, busy_lanes, min_clues)
        return busy_lanes

    @jit
    def minimise(puzzles, trials, min_clues, max_guesses, rounds):
        memory = trials.memory
        busy_lanes = np.uint64(trials.state[BUSY_LANES])
        for _ in range(rounds):
            if busy_lanes != all_lanes:
                busy_lanes = fill_lanes(puzzles, trials, busy_lanes, min_clues, max_guesses)
                if busy_lanes == ZERO:
                    break
            fresh_lanes = make_fresh_boards(memory)
            while fresh_lanes != ZERO:
                follow_path(trials, lowest_index(fresh_lanes))
                fresh_lanes &= fresh_lanes - ONE

            dead, unsolved, changed = advance(memory)
            stuck_lanes = busy_lanes & ~dead & unsolved & ~changed
            if has_narrow and stuck_lanes != ZERO:
                keep_best(memory)
            finished_lanes = busy_lanes & (dead | ~unsolved)
            busy_lanes = end_boards(puzzles, trials, finished_lanes, dead, busy_lanes, min_clues)
            stuck_lanes &= busy_lanes  # without those whose trial has just ended in another lane
            busy_lanes = split_boards(
                puzzles, trials, stuck_lanes, busy_lanes, min_clues, max_guesses
            )
        trials.state[BUSY_LANES] = np.int64(busy_lanes)
        return busy_lanes == ZERO

    return minimise
