"""Pack the entries that a state of the search for canonical forms gives to a row.

``Layout`` draws packed rows, and ``puzzles`` explains which entries are the least.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index
from gpusudoku.kernels.canonical.arrays import (
    BOXES,
    COLUMN_MASK,
    DIGIT_SHIFT,
    LEAST,
    NO_POSITION,
    TRIAL,
)
from gpusudoku.kernels.kernel import inlined


@inlined
def entry_word(layout, position):
    """Return the word that has the entry at a position of a row."""
    return position // layout.entries_per_word if layout.row_words > 1 else 0


@inlined
def entry_shift(layout, position):
    """Return the lowest bit of the entry at a position of a row, in its word."""
    word_end = (entry_word(layout, position) + 1) * layout.entries_per_word
    return np.uint64(layout.entry_bits * (word_end - 1 - position))


@inlined
def add_entries(layout, packed, position, entries):
    """Add packed entries to the row TRIAL; the last of them is put at ``position``."""
    packed[TRIAL, entry_word(layout, position)] |= entries << entry_shift(layout, position)


@inlined
def insert_label(layout, entries, label):
    """Insert a label into packed entries in ascending order, the largest in the lowest bits."""
    entry_bits = np.uint64(layout.entry_bits)
    entry_mask = (ONE << entry_bits) - ONE
    smaller_entries = entries
    larger_bits = ZERO
    while smaller_entries & entry_mask > label:
        smaller_entries = smaller_entries >> entry_bits
        larger_bits = larger_bits + entry_bits
    larger_entries = entries & ((ONE << larger_bits) - ONE)
    return (smaller_entries << entry_bits | label) << larger_bits | larger_entries


@inlined
def add_open_columns(layout, packed, state, stacks_left):
    """Add the entries in open columns to the row TRIAL, as far to the right as possible.

    state          uint8 (state bytes)    a state
    stacks_left    uint64                 the stacks with such entries, as bits; the row BOXES has
                                          the entries
    """
    open_stack_count = 0
    while stacks_left != ZERO:
        stack = lowest_index(stacks_left)
        stacks_left &= stacks_left - ONE
        entries = packed[BOXES, stack]
        stack_position = np.int64(state[layout.stack_positions_at + stack])
        if stack_position != NO_POSITION:
            open_columns = np.int64(state[layout.open_columns_at + stack])
            last_open = stack_position * layout.box_columns + open_columns - 1
            add_entries(layout, packed, last_open, entries)
            continue
        # Insert the entries of an open stack into a sorted list. It overwrites only stacks that
        # were looked at, since it is never longer than their number.
        i = open_stack_count
        while i > 0 and packed[BOXES, i - 1] > entries:
            packed[BOXES, i] = packed[BOXES, i - 1]
            i -= 1
        packed[BOXES, i] = entries
        open_stack_count += 1

    # The greatest entries come last, in the rightmost of the open stacks.
    stack_position = np.int64(state[layout.open_stacks_at]) - open_stack_count
    for i in range(open_stack_count):
        last_column = (stack_position + i + 1) * layout.box_columns - 1
        add_entries(layout, packed, last_column, packed[BOXES, i])


@inlined
def pack_row(layout, search, state, orientation, row):
    """Write the least entries that a state allows for a row of the board to the row TRIAL."""
    packed = search.packed
    for word in range(layout.row_words):
        packed[TRIAL, word] = ZERO

    stacks_with_open = ZERO  # those in which the row has clues in open columns, as bits
    start = search.clue_starts[orientation, row * layout.stacks]
    end = search.clue_starts[orientation, (row + 1) * layout.stacks]
    for clue in range(start, end):
        column = search.clues[clue] & COLUMN_MASK
        digit = search.clues[clue] >> DIGIT_SHIFT
        label = np.uint64(state[layout.labels_at + digit])
        position = np.int64(state[column])
        if position != NO_POSITION:
            add_entries(layout, packed, position, label)
            continue
        stack = column // layout.box_columns
        stack_bit = ONE << np.uint64(stack)
        entries = packed[BOXES, stack] if stacks_with_open & stack_bit else ZERO
        packed[BOXES, stack] = insert_label(layout, entries, label)
        stacks_with_open |= stack_bit

    if stacks_with_open != ZERO:
        add_open_columns(layout, packed, state, stacks_with_open)


@inlined
def count_boxes_from_first_entry(layout, packed):
    """Count the boxes of the row LEAST, from the first one with entries to the last one."""
    for stack_position in range(layout.stacks):
        last_column = (stack_position + 1) * layout.box_columns - 1
        entries = packed[LEAST, entry_word(layout, last_column)]
        # All bits above those of this box are 0, or the loop would have ended before.
        if entries >> entry_shift(layout, last_column) != ZERO:
            return layout.stacks - stack_position
    return 0
