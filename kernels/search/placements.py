"""Placements in no, one or several solutions: searches that end once each of them is known.

A board has two sets of placements, which is a cell with a digit: ``one``, those that were seen in a
solution, and ``two``, those in two or more, and those that nobody asks for. A solution x adds the
placements of ``one & x`` to ``two``, and x to ``one``. A board whose candidates are all in ``two``
can tell nothing new, and is dropped. In the end ``one & ~two`` are the placements that leave the
board exactly one solution.

Each lane searches a board by itself, depth first, as ``lanes`` searches all together. It guesses a
placement that is not in ``two``, and first has it placed: so every solution tells something new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.choose import narrows
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.shape import LOCKED_CANDIDATES, SearchSettings, Shape
from gpusudoku.kernels.search.step import build_steps
from gpusudoku.kernels.search.tracing import traced

# Words of Searches.state
NEXT = 0
"""The next board to take."""
BUSY = 1
"""The lanes that have a board, as bits."""
STATES = 2

LOCKED_EVERY = 6
"""Locked candidates, if asked for, are looked for in one step of so many: each takes twice as long
with them, and what they strike in it serves the steps after it, too."""


class PlacementArrays(NamedTuple):
    """Boards, and their placements: all are (B, words), rows of a ``Shape``."""

    boards: NDArray[Any]
    one: NDArray[Any]
    """The placements that are in a solution, as far as they are not in ``two`` from the start."""
    two: NDArray[Any]
    """Those in two solutions or more, and those that nobody asks for."""

    @classmethod
    def empty(cls, shape: Shape) -> PlacementArrays:
        """No boards."""
        return cls(*(np.empty((0, shape.words), shape.word) for _ in range(3)))


class Searches(NamedTuple):
    """The searches that are going on, one a lane."""

    memory: NDArray[Any]
    """(rows, lanes): the boards, and what is known of their placements; see ``Rows``."""
    stack: NDArray[Any]
    """(lanes * cells, words): the boards that each lane has still to search. Every one of them was
    left by a guess that placed a digit, so they are not more than there are cells."""
    heights: NDArray[np.int64]
    """int64 (lanes): their numbers."""
    boards: NDArray[np.int64]
    """int64 (lanes): the index of the board that is searched."""
    state: NDArray[np.int64]
    """int64 (STATES): NEXT and BUSY."""

    @classmethod
    def empty(cls, shape: Shape) -> Searches:
        """No search yet."""
        lanes = shape.lanes
        (_, last) = Rows.of(shape)[-2:]
        return cls(
            shape.memory(lanes, last + 1 - shape.memory_rows),
            np.zeros((lanes * shape.n**2, shape.words), shape.word),
            np.zeros(lanes, np.int64),
            np.zeros(lanes, np.int64),
            np.zeros(STATES, np.int64),
        )


class Rows(NamedTuple):
    """The first rows in the memory behind those of boards."""

    one: int
    """Planes."""
    two: int
    """Planes."""
    rest: int
    """Planes: the boards without the placement that is guessed."""
    marked: int
    """One row, not 0 in some lanes: those whose boards are solved, or stuck."""

    @classmethod
    def of(cls, shape: Shape) -> Rows:
        """Return those of a shape."""
        one = shape.memory_rows
        planes = shape.planes
        return cls(one, one + planes, one + 2 * planes, one + 3 * planes)


def note(shape: Shape, machine: Machine) -> Any:
    """Note the placements of marked boards, which are solved; return their lanes."""
    K = shape.plane_words
    rows = Rows.of(shape)
    solved = machine.load(rows.marked)
    machine.store(rows.marked, machine.value(0))
    for j in machine.each(K, shape.unrolled):
        placed = machine.value(0)
        for d in range(shape.n):  # of a cell that is to be cleared the lowest counts
            w = d * K + j
            x = machine.load(w) & ~placed
            placed = placed | x
            x = x & solved
            one = machine.load(w + rows.one)
            machine.store(w + rows.two, machine.load(w + rows.two) | (one & x))
            machine.store(w + rows.one, one | x)
    return machine.nonzero(solved)


def guess(shape: Shape, machine: Machine) -> Any:
    """Guess a placement in every marked board that has new ones, and return the lanes of these.

    It is a new one, if possible in a cell with two candidates, if not, in any that is open. The
    boards without it are stored, too.
    """
    K = shape.plane_words
    rows = Rows.of(shape)
    new = machine.words(shape.plane_words)
    some = machine.words(1)
    cells = machine.words(K)
    for j in machine.each(K, shape.unrolled):
        for d in range(shape.n):
            w = d * K + j
            new[j] = new[j] | (machine.load(w) & ~machine.load(w + rows.two))
        some[0] = some[0] | new[j]
    marked = machine.load(rows.marked) & machine.filled(some[0], 1)
    machine.store(rows.marked, machine.value(0))
    some[0] = machine.value(0)
    for others in (0, -1):
        has_new = machine.filled(some[0], 1)
        for first in (shape.PAIRS, shape.OPEN):
            before = machine.filled(some[0], 1)
            for j in machine.each(K, shape.unrolled):
                x = machine.load(first + j) & (new[j] | machine.value(others)) & ~before
                cells[j] = cells[j] | x
                some[0] = some[0] | x
    some[0] = ~marked
    for j in machine.each(K, shape.unrolled):
        x = cells[j] & ~machine.filled(some[0], 1)
        left = cell = x & (~x + 1)
        some[0] = some[0] | cell
        for d in range(shape.n):
            w = d * K + j
            x = machine.load(w)
            one = x & left & ~(machine.load(w + rows.two) & has_new)
            left = left & ~one
            machine.store(w + rows.rest, x & ~one)
            machine.store(w, (x & ~cell) | one)
    return machine.nonzero(marked)


def build_placements(shape: Shape, settings: SearchSettings, jit: Jit) -> Callable[..., bool]:
    """Make ``placements(arrays, searches, rounds)``.

    It searches until so many rounds of steps are done, and returns True once all boards are.
    """
    planes = shape.planes
    cells = shape.n**2
    width = shape.lanes
    one, two, REST, MARKED = Rows.of(shape)
    every = shape.word((1 << shape.bits) - 1)
    all_lanes = ~ZERO >> np.uint64(64 - width)
    load = build_moves(shape, jit).load
    Word = shape.word
    advance, _, _, keep_best = build_steps(shape, settings.techniques, width)
    plainly = build_steps(shape, settings.techniques & ~LOCKED_CANDIDATES, width).advance
    narrowing = narrows(shape, settings)
    take_note, take_guess = (traced(each, 1, shape, width) for each in (note, guess))

    @jit
    def tells(memory, lane, boards, row):
        """Tell whether a board has placements that are not in ``two``."""
        some = Word(0)
        for w in range(planes):
            some |= boards[row, w] & ~memory[two + w, lane]
        return some != 0

    @jit
    def take(arrays, searches, lane, busy):
        """Give a lane its next board, or another search; return the lanes that have one."""
        memory = searches.memory
        bit = ONE << np.uint64(lane)
        while searches.heights[lane] > 0:
            searches.heights[lane] -= 1
            row = lane * cells + searches.heights[lane]
            if tells(memory, lane, searches.stack, row):
                load(memory, lane, searches.stack, row)
                return busy
        if busy & bit != ZERO:
            index = searches.boards[lane]
            for w in range(planes):
                arrays.one[index, w] = memory[one + w, lane]
                arrays.two[index, w] = memory[two + w, lane]
        index = searches.state[NEXT]
        if index == arrays.boards.shape[0]:
            return busy & ~bit
        searches.state[NEXT] += 1
        searches.boards[lane] = index
        load(memory, lane, arrays.boards, index)
        for w in range(planes):
            memory[one + w, lane] = arrays.one[index, w]
            memory[two + w, lane] = arrays.two[index, w]
        return busy | bit

    @jit
    def mark(memory, lanes):
        """Mark some lanes."""
        while lanes != ZERO:
            memory[MARKED, lowest_index(lanes)] = every
            lanes &= lanes - ONE

    @jit
    def placements(arrays, searches, rounds):
        memory = searches.memory
        busy = np.uint64(searches.state[BUSY])
        for number in range(rounds):
            free = all_lanes & ~busy
            while free != ZERO:
                if searches.state[NEXT] == arrays.boards.shape[0]:
                    break
                busy = take(arrays, searches, lowest_index(free), busy)
                free &= free - ONE
            if busy == ZERO:
                break
            is_locked = number % LOCKED_EVERY == 0
            dead, unsolved, changed = advance(memory) if is_locked else plainly(memory)
            ended = busy & (dead | ~unsolved)
            if ended & ~dead != ZERO:
                mark(memory, ended & ~dead)
                take_note(memory)
            stuck = busy & ~ended & ~changed
            if stuck != ZERO:
                if narrowing:
                    keep_best(memory)
                mark(memory, stuck)
                guessed = take_guess(memory)
                ended |= stuck & ~guessed
                while guessed != ZERO:
                    lane = lowest_index(guessed)
                    guessed &= guessed - ONE
                    row = lane * cells + searches.heights[lane]
                    searches.heights[lane] += 1
                    for w in range(planes):
                        searches.stack[row, w] = memory[REST + w, lane]
            while ended != ZERO:
                busy = take(arrays, searches, lowest_index(ended), busy)
                ended &= ended - ONE
        searches.state[BUSY] = np.int64(busy)
        return busy == ZERO

    return placements
