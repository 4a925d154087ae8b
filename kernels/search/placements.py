"""Placements in no, one or several solutions, from searches that stop once that is known.

A placement is a digit in a cell. A board has two sets of placements:

    in_solution   those that are in a solution that was found
    settled       those that are in two solutions or more, or not asked for

A solution x adds the placements of ``in_solution & x`` to ``settled``, and x to ``in_solution``. A
board whose candidates are all in ``settled`` cannot tell anything new, and is dropped. In the end
``in_solution & ~settled`` has the placements that leave the board exactly one solution.

Each lane searches a board of its own, depth first. It guesses a placement that is not settled, and
first searches the board that has it. So every solution tells something new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.choose import uses_narrow
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.shape import LOCKED_CANDIDATES, SearchSettings, Shape
from gpusudoku.kernels.search.step import build_steps
from gpusudoku.kernels.search.tracing import traced

# Words of Searches.state
NEXT_BOARD = 0
"""The next board to take."""
BUSY_LANES = 1
"""The lanes that have a board, as bits."""
STATE_WORDS = 2

LOCKED_EVERY = 6
"""Locked candidates, if enabled, are looked for in every sixth step only. A step takes twice as
long with them, and the steps after it also benefit from what it strikes."""


class PlacementArrays(NamedTuple):
    """Boards and sets of their placements: each is (B, words), packed boards of a ``Shape``."""

    boards: NDArray[Any]
    in_solution: NDArray[Any]
    """The placements that are in a solution, unless they are settled from the start."""
    settled: NDArray[Any]
    """The settled placements: in two solutions or more, or not asked for."""

    @classmethod
    def empty(cls, shape: Shape) -> PlacementArrays:
        """Make arrays without boards."""
        return cls(*(np.empty((0, shape.words), shape.word) for _ in range(3)))


class Searches(NamedTuple):
    """The searches in progress, one in each lane."""

    memory: NDArray[Any]
    """(rows, lanes): the boards and the sets of their placements; see ``PlacementRows``."""
    stack: NDArray[Any]
    """(lanes * cells, words): the boards that each lane has yet to search; ``cells`` rows for each
    lane. There are at most as many boards as cells, because every one of them was pushed when a
    guess placed a digit."""
    heights: NDArray[np.int64]
    """int64 (lanes): the number of boards that each lane has on the stack."""
    boards: NDArray[np.int64]
    """int64 (lanes): the index of the board that each lane searches."""
    state: NDArray[np.int64]
    """int64 (STATE_WORDS): NEXT_BOARD and BUSY_LANES."""

    @classmethod
    def empty(cls, shape: Shape) -> Searches:
        """Make lanes without a search."""
        lanes = shape.lanes
        extra_rows = PlacementRows.of(shape).end - shape.memory_rows
        return cls(
            memory=shape.memory(lanes, extra_rows),
            stack=np.zeros((lanes * shape.n**2, shape.words), shape.word),
            heights=np.zeros(lanes, np.int64),
            boards=np.zeros(lanes, np.int64),
            state=np.zeros(STATE_WORDS, np.int64),
        )


class PlacementRows(NamedTuple):
    """The rows of the memory behind those of boards. Each field is the first row of its part.

    part        board       | in_solution | settled | rest   | marked
    rows        memory_rows | planes      | planes  | planes | 1
    """

    in_solution: int
    """Planes: the placements that are in a solution of the board."""
    settled: int
    """Planes: the settled placements of the board."""
    rest: int
    """Planes: the board without the placement that is guessed."""
    marked: int
    """One row, not 0 in marked lanes: those whose boards are solved, or stuck."""
    end: int
    """The number of rows."""

    @classmethod
    def of(cls, shape: Shape) -> PlacementRows:
        """Return the rows for a shape."""
        start = shape.memory_rows
        planes = shape.planes
        marked = start + 3 * planes
        return cls(start, start + planes, start + 2 * planes, marked, marked + 1)


def add_solutions(shape: Shape, machine: Machine) -> Any:
    """Add the solutions of marked lanes to their sets of placements; return these lanes."""
    K = shape.plane_words
    rows = PlacementRows.of(shape)
    marked = machine.load(rows.marked)
    machine.store(rows.marked, machine.value(0))
    for j in machine.each(K, shape.unrolled):
        # A cell in CLEAR may have higher candidates: its lowest one is its digit.
        placed_cells = machine.value(0)
        for d in range(shape.n):
            w = d * K + j
            solution = machine.load(w) & ~placed_cells
            placed_cells = placed_cells | solution
            solution = solution & marked
            in_solution = machine.load(w + rows.in_solution)
            settled = machine.load(w + rows.settled) | (in_solution & solution)
            machine.store(w + rows.settled, settled)
            machine.store(w + rows.in_solution, in_solution | solution)
    return machine.nonzero(marked)


def guess_placements(shape: Shape, machine: Machine) -> Any:
    """Guess a placement in every marked lane that has unsettled ones; return these lanes.

    The placement is an unsettled one, if possible in a cell with two candidates, else in any open
    cell. If all unsettled placements are in cells without a choice, it is a settled one. The boards
    without the placement are stored, too, in ``PlacementRows.rest``.
    """
    K = shape.plane_words
    rows = PlacementRows.of(shape)
    unsettled_cells = machine.words(shape.plane_words)
    any_cell = machine.words(1)
    cells = machine.words(K)
    for j in machine.each(K, shape.unrolled):
        for d in range(shape.n):
            w = d * K + j
            unsettled = machine.load(w) & ~machine.load(w + rows.settled)
            unsettled_cells[j] = unsettled_cells[j] | unsettled
        any_cell[0] = any_cell[0] | unsettled_cells[j]
    guessing = machine.load(rows.marked) & machine.filled(any_cell[0], 1)
    machine.store(rows.marked, machine.value(0))

    # The cells of the first of four sets that has any: unsettled cells with two candidates,
    # unsettled open cells, cells with two candidates, open cells.
    any_cell[0] = machine.value(0)
    for settled_too in (0, -1):  # as bits: all cells if -1
        has_unsettled = machine.filled(any_cell[0], 1)  # in the end: of the first two sets
        for first_row in (shape.PAIRS, shape.OPEN):
            has_cells = machine.filled(any_cell[0], 1)
            for j in machine.each(K, shape.unrolled):
                allowed = unsettled_cells[j] | machine.value(settled_too)
                new_cells = machine.load(first_row + j) & allowed & ~has_cells
                cells[j] = cells[j] | new_cells
                any_cell[0] = any_cell[0] | new_cells

    # Guess the lowest of these cells; ``any_cell`` is now not 0 once a lane has its cell.
    any_cell[0] = ~guessing
    for j in machine.each(K, shape.unrolled):
        candidate_cells = cells[j] & ~machine.filled(any_cell[0], 1)
        cell = candidate_cells & (~candidate_cells + 1)
        any_cell[0] = any_cell[0] | cell
        unplaced_cell = cell
        for d in range(shape.n):
            w = d * K + j
            places = machine.load(w)
            excluded = machine.load(w + rows.settled) & has_unsettled
            placement = places & unplaced_cell & ~excluded
            unplaced_cell = unplaced_cell & ~placement
            machine.store(w + rows.rest, places & ~placement)
            machine.store(w, (places & ~cell) | placement)
    return machine.nonzero(guessing)


def build_placements(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., bool]:
    """Make ``placements(arrays, searches, rounds)``.

    It searches for ``rounds`` rounds at most, and returns True once all boards are finished.
    """
    planes = shape.planes
    cells = shape.n**2
    width = shape.lanes
    rows = PlacementRows.of(shape)
    IN_SOLUTION = rows.in_solution
    SETTLED = rows.settled
    REST = rows.rest
    MARKED = rows.marked
    Word = shape.word
    all_bits = Word((1 << shape.bits) - 1)
    all_lanes = ~ZERO >> np.uint64(64 - width)
    load = build_moves(shape, jit).load
    advance, _, _, keep_best = build_steps(shape, settings.techniques, width)
    without_locked = settings.techniques & ~LOCKED_CANDIDATES
    advance_unlocked = build_steps(shape, without_locked, width).advance
    has_narrow = uses_narrow(shape, settings)
    add_marked_solutions = traced(add_solutions, 1, shape, width)
    guess_in_marked = traced(guess_placements, 1, shape, width)

    @jit
    def has_unsettled(memory, lane, boards, row):
        """Return whether a board has placements that are not settled."""
        unsettled = Word(0)
        for w in range(planes):
            unsettled |= boards[row, w] & ~memory[SETTLED + w, lane]
        return unsettled != 0

    @jit
    def take_next(arrays, searches, lane, busy_lanes):
        """Give a lane the next board of its search, or of a new one; return the busy lanes."""
        memory = searches.memory
        lane_bit = ONE << np.uint64(lane)
        while searches.heights[lane] > 0:
            searches.heights[lane] -= 1
            row = lane * cells + searches.heights[lane]
            if has_unsettled(memory, lane, searches.stack, row):
                load(memory, lane, searches.stack, row)
                return busy_lanes

        # The search is finished: write its placements, and begin the search of the next board.
        if busy_lanes & lane_bit != ZERO:
            index = searches.boards[lane]
            for w in range(planes):
                arrays.in_solution[index, w] = memory[IN_SOLUTION + w, lane]
                arrays.settled[index, w] = memory[SETTLED + w, lane]
        index = searches.state[NEXT_BOARD]
        if index == arrays.boards.shape[0]:
            return busy_lanes & ~lane_bit
        searches.state[NEXT_BOARD] += 1
        searches.boards[lane] = index
        load(memory, lane, arrays.boards, index)
        for w in range(planes):
            memory[IN_SOLUTION + w, lane] = arrays.in_solution[index, w]
            memory[SETTLED + w, lane] = arrays.settled[index, w]
        return busy_lanes | lane_bit

    @jit
    def mark(memory, lanes):
        """Mark some lanes for a traced function, which cannot have them as an argument."""
        while lanes != ZERO:
            memory[MARKED, lowest_index(lanes)] = all_bits
            lanes &= lanes - ONE

    @jit
    def push_rests(searches, lanes):
        """Push each lane's board that lacks the guessed placement, to be searched later."""
        while lanes != ZERO:
            lane = lowest_index(lanes)
            lanes &= lanes - ONE
            row = lane * cells + searches.heights[lane]
            searches.heights[lane] += 1
            for w in range(planes):
                searches.stack[row, w] = searches.memory[REST + w, lane]

    @jit
    def placements(arrays, searches, rounds):
        memory = searches.memory
        busy_lanes = np.uint64(searches.state[BUSY_LANES])
        for number in range(rounds):
            free_lanes = all_lanes & ~busy_lanes
            while free_lanes != ZERO:
                if searches.state[NEXT_BOARD] == arrays.boards.shape[0]:
                    break
                busy_lanes = take_next(arrays, searches, lowest_index(free_lanes), busy_lanes)
                free_lanes &= free_lanes - ONE
            if busy_lanes == ZERO:
                break

            if number % LOCKED_EVERY == 0:
                dead, unsolved, changed = advance(memory)
            else:
                dead, unsolved, changed = advance_unlocked(memory)
            finished_lanes = busy_lanes & (dead | ~unsolved)
            if finished_lanes & ~dead != ZERO:
                mark(memory, finished_lanes & ~dead)
                add_marked_solutions(memory)

            stuck_lanes = busy_lanes & ~finished_lanes & ~changed
            if stuck_lanes != ZERO:
                if has_narrow:
                    keep_best(memory)
                mark(memory, stuck_lanes)
                guessing_lanes = guess_in_marked(memory)
                finished_lanes |= stuck_lanes & ~guessing_lanes  # nothing unsettled
                push_rests(searches, guessing_lanes)

            while finished_lanes != ZERO:
                busy_lanes = take_next(arrays, searches, lowest_index(finished_lanes), busy_lanes)
                finished_lanes &= finished_lanes - ONE
        searches.state[BUSY_LANES] = np.int64(busy_lanes)
        return busy_lanes == ZERO

    return placements
