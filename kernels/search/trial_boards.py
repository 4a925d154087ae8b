"""The boards of trials: each is made from the clues of its puzzle and a path of guesses.

Most guesses lead to another solution at once, so that their other halves are never needed. So a
lane does not keep these halves as boards. It keeps a *path*, the list of its guesses, and makes a
board again from the clues and the path.

An entry of a path has a placement, which is a digit in a cell, and says what is assumed of it:

    bit     63 ... 8 | 7  ...  2 | 1  0
            word     | bit index | kind      HAS, GUESSED or HAS_NOT

Word and bit index are those of the placement in a packed board: word K d + j is of digit d + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.search.units import Units

# Kinds of entries
HAS = 0
"""The cell has the digit. The board where it has not belongs to another lane, or is finished."""
GUESSED = 1
"""The cell has the digit. The board where it has not is still to be searched."""
HAS_NOT = 2
"""The cell does not have the digit."""

KIND_BITS = 2
KIND_MASK = (1 << KIND_BITS) - 1
INDEX_BITS = 6
INDEX_MASK = (1 << INDEX_BITS) - 1


class TrialRows(NamedTuple):
    """The rows of the memory behind those of boards. Each field is the first row of its part.

    part        board       | solution | allowed | clues       | fresh
    rows        memory_rows | planes   | planes  | plane_words | 1
    """

    solution: int
    """Planes: the digits of the solution."""
    allowed: int
    """Planes: the digits that cells without clues may have."""
    clues: int
    """The cells that have clues in the trial."""
    fresh: int
    """One row, not 0 in the lanes whose boards are to be made."""
    end: int
    """The number of rows."""

    @classmethod
    def of(cls, shape: Shape) -> TrialRows:
        """Return the rows for a shape."""
        solution = shape.memory_rows
        allowed = solution + shape.planes
        clues = allowed + shape.planes
        fresh = clues + shape.plane_words
        return cls(solution, allowed, clues, fresh, fresh + 1)


def make_boards(shape: Shape, machine: Machine) -> Any:
    """Make the boards of all fresh lanes from their clues; return these lanes, as bits."""
    units = Units(shape, machine)
    K = shape.plane_words
    rows = TrialRows.of(shape)
    fresh = machine.load(rows.fresh)
    clues = units.words()
    for j, _ in units.plane():
        clues[j] = machine.load(rows.clues + j)
        machine.store(shape.CLEAR + j, machine.load(shape.CLEAR + j) & ~fresh)
    for d in machine.each(shape.n):
        for j, _ in units.plane():
            w = d * K + j
            # a ^ (mask & (a ^ b)) is b where the mask is set, and a elsewhere.
            allowed = machine.load(w + rows.allowed)
            solution = machine.load(w + rows.solution)
            new_places = allowed ^ (clues[j] & (allowed ^ solution))
            old_places = machine.load(w)
            machine.store(w, old_places ^ (fresh & (old_places ^ new_places)))
    machine.store(rows.fresh, machine.value(0))
    return machine.nonzero(fresh)


class TrialBoards(NamedTuple):
    """Functions for the boards and paths of lanes. ``trials`` is a ``minimise.Trials``."""

    encode_guess: Callable[..., int]
    """``encode_guess(word, bit)``: return the entry for a guess that a placement is right."""
    begin_board: Callable[..., None]
    """``begin_board(trials, lane, path_length, guess_start)``: let ``make_boards`` make the board
    of a lane. No entry of the path before ``guess_start`` is GUESSED."""
    follow_path: Callable[..., None]
    """``follow_path(trials, lane)``: apply the path to a board that ``make_boards`` made."""
    go_back: Callable[..., bool]
    """``go_back(trials, lane)``: begin the other half of the last guess of a lane. Returns False if
    there is no guess."""
    take_over: Callable[..., bool]
    """``take_over(trials, lane)``: begin, in a free lane, the other half of the first guess of
    another lane. Returns False if there is no guess."""


def build_trial_boards(shape: Shape, jit: Jit) -> TrialBoards:
    """Make the functions."""
    n = shape.n
    K = shape.plane_words
    planes = shape.planes
    width = shape.lanes
    rows = TrialRows.of(shape)
    SOLUTION = rows.solution
    CLUES = rows.clues
    FRESH = rows.fresh
    Word = shape.word
    all_bits = Word((1 << shape.bits) - 1)

    @jit
    def encode_guess(word, bit):
        placement = word << INDEX_BITS | lowest_index(np.uint64(bit))
        return placement << KIND_BITS | GUESSED

    @jit
    def begin_board(trials, lane, path_length, guess_start):
        trials.path_lengths[lane] = path_length
        trials.guess_starts[lane] = guess_start
        for j in range(K):
            trials.memory[CLUES + j, lane] = trials.trial_clues[trials.slot_of_lane[lane], j]
        trials.memory[FRESH, lane] = all_bits

    @jit
    def follow_path(trials, lane):
        memory = trials.memory
        for i in range(trials.path_lengths[lane]):
            entry = trials.paths[lane, i]
            word = entry >> KIND_BITS >> INDEX_BITS
            bit = Word(ONE << np.uint64((entry >> KIND_BITS) & INDEX_MASK))
            if entry & KIND_MASK == HAS_NOT:
                memory[word, lane] &= ~bit
            else:
                for d in range(n):
                    if d != word // K:
                        memory[K * d + word % K, lane] &= ~bit

    @jit
    def go_back(trials, lane):
        for i in range(trials.path_lengths[lane] - 1, trials.guess_starts[lane] - 1, -1):
            if trials.paths[lane, i] & KIND_MASK == GUESSED:
                trials.paths[lane, i] += HAS_NOT - GUESSED
                begin_board(trials, lane, i + 1, trials.guess_starts[lane])
                return True
        return False

    @jit
    def find_first_guess(trials, lane):
        """Return the index of the first guess of a path, or its length."""
        index = trials.guess_starts[lane]
        while index < trials.path_lengths[lane]:
            if trials.paths[lane, index] & KIND_MASK == GUESSED:
                break
            index += 1
        trials.guess_starts[lane] = index
        return index

    @jit
    def take_over(trials, lane):
        for source_lane in range(width):
            guess = find_first_guess(trials, source_lane)
            if guess < trials.path_lengths[source_lane]:
                for i in range(guess + 1):
                    trials.paths[lane, i] = trials.paths[source_lane, i]
                # The other half is searched here, and no longer by the source lane.
                trials.paths[lane, guess] += HAS_NOT - GUESSED
                trials.paths[source_lane, guess] += HAS - GUESSED
                # SOLUTION and ALLOWED, next to each other: the lane may have had another puzzle.
                for w in range(2 * planes):
                    trials.memory[SOLUTION + w, lane] = trials.memory[SOLUTION + w, source_lane]
                slot = trials.slot_of_lane[source_lane]
                trials.slot_of_lane[lane] = slot
                trials.lane_counts[slot] += 1
                begin_board(trials, lane, guess + 1, guess + 1)
                return True
        return False

    return TrialBoards(encode_guess, begin_board, follow_path, go_back, take_over)
