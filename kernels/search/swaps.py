"""Swaps: parts of two lines that can be exchanged, which show that a clue is necessary.

A line is a row or a column. Two lines of the same band or stack have the same digits in some of
their positions. A *swap* is a smallest set of such positions, here of two rows of a band:

    row a    . 3 . | . 7 . | 5 . .
    row b    . 7 . | . 5 . | 3 . .

Exchanging the rows there changes no column, box or row but for the order of its digits. So it gives
another solution, unless one of these cells has a clue. Hence the last clue of a swap is necessary,
and needs no trial. Every cell is in one swap with each other line of its band and its stack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, ones
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.shape import Shape


class Swaps(NamedTuple):
    """Functions for the swaps of puzzles. ``trials`` is a ``minimise.Trials``."""

    find_all: Callable[..., int]
    """``find_all(puzzles, trials, slot)``: find all swaps of the puzzle in a slot, and count their
    clues. Returns the number of swaps."""
    has_last_clue: Callable[..., bool]
    """``has_last_clue(trials, slot, cell)``: whether a cell has the last clue of a swap."""
    remove_clue: Callable[..., None]
    """``remove_clue(trials, slot, cell)``: count the clue of a cell out of its swaps."""


def swap_partners(shape: Shape) -> int:
    """Return the number of lines with which a cell has swaps."""
    return shape.box_rows + shape.box_columns - 2


def build_swaps(shape: Shape, jit: Jit) -> Swaps:
    """Make the functions."""
    n = shape.n
    R = shape.box_rows
    C = shape.box_columns
    partners = swap_partners(shape)
    all_positions = ones(n)

    @jit
    def find_in_lines(puzzles, trials, slot, start, line_count, step, line_step, partner, swaps):
        """Find the swaps of the lines of a band or stack; return the number of swaps so far.

        ``start`` is the first cell of the first of the ``line_count`` lines. The cells of a line
        are ``step`` apart, and the lines ``line_step``. The entries of a cell for these lines in
        ``swaps_of_cell`` begin at ``partner``.
        """
        puzzle = trials.puzzle_of_slot[slot]
        solutions = puzzles.solutions
        position_of_digit = trials.position_of_digit
        for line in range(line_count):
            for twin_line in range(line + 1, line_count):
                twin_start = start + twin_line * line_step
                for i in range(n):
                    digit = solutions[puzzle, twin_start + i * step]
                    position_of_digit[digit - 1] = i

                # Each cycle of positions, from a digit of one line to the same digit of the other.
                positions = all_positions
                while positions != ZERO:
                    position = np.int64(lowest_index(positions))
                    clue_count = np.int64(0)
                    while (positions >> np.uint64(position)) & ONE != ZERO:
                        positions &= ~(ONE << np.uint64(position))
                        cell = start + line * line_step + position * step
                        twin_cell = cell + (twin_line - line) * line_step
                        # A line has no entry for itself: later ones move up by one.
                        trials.swaps_of_cell[slot, cell, partner + twin_line - 1] = swaps
                        trials.swaps_of_cell[slot, twin_cell, partner + line] = swaps
                        clue_count += np.int64(puzzles.clues[puzzle, cell])
                        clue_count += np.int64(puzzles.clues[puzzle, twin_cell])
                        position = position_of_digit[solutions[puzzle, cell] - 1]
                    trials.swap_clue_counts[slot, swaps] = clue_count
                    swaps += 1
        return swaps

    @jit
    def find_all(puzzles, trials, slot):
        swaps = 0
        for band in range(C):
            swaps = find_in_lines(puzzles, trials, slot, band * R * n, R, 1, n, 0, swaps)
        for stack in range(R):
            swaps = find_in_lines(puzzles, trials, slot, stack * C, C, n, 1, R - 1, swaps)
        return swaps

    @jit
    def has_last_clue(trials, slot, cell):
        for partner in range(partners):
            if trials.swap_clue_counts[slot, trials.swaps_of_cell[slot, cell, partner]] == 1:
                return True
        return False

    @jit
    def remove_clue(trials, slot, cell):
        for partner in range(partners):
            trials.swap_clue_counts[slot, trials.swaps_of_cell[slot, cell, partner]] -= 1

    return Swaps(find_all, has_last_clue, remove_clue)
