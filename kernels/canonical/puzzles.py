"""Find canonical forms of puzzles, row by row, among all rearrangements with the least text so far.

The canonical form of a board is the least of all boards that it can be rearranged to. Boards are
compared row by row, with empty cells below all digits; see ``puzzles/canonical.py``. The search
finds one row of the form per level, and keeps all *states*: partial rearrangements whose rows so
far have the least text. A state has the rows of the board that it has used, the positions of their
columns in the form, and the *labels* of their digits: 1, 2, ..., in the order in which digits first
appear in the form. A level compares, for every state, every row of the board that may be the next.
The rows that tie for the least text lead to the states of the next level.

A column is *open* as long as the rows so far have no clue in it. So is a stack. Open columns of a
stack are interchangeable. They come first in their stack, and open stacks come before other stacks,
because empty cells make the least text. One state represents all orders of its open columns and
stacks. The next row puts its clues in open columns as far to the right as possible, known labels
before new ones. Only columns, or stacks, whose clues all get new labels are then still
interchangeable, and every choice among them becomes a state. Empty rows of a band are
interchangeable, too, and only one of them is tried. The same holds for empty bands.

A row is compared as *entries*, one per cell: 0 for an empty cell, a known label, or ``new_label``.
Rows with equal entries have equal texts, whichever digits get the new labels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gpusudoku.kernels.arguments import int64, kind_of, uint8
from gpusudoku.kernels.bits import ONE, ZERO
from gpusudoku.kernels.canonical.arrays import (
    COLUMN_MASK,
    DIGIT_SHIFT,
    LEAST,
    NO_POSITION,
    TRIAL,
    Forms,
    Layout,
    Search,
)
from gpusudoku.kernels.canonical.rows import (
    count_boxes_from_first_entry,
    entry_shift,
    entry_word,
    pack_row,
)
from gpusudoku.kernels.kernel import Kernel, inlined

SECONDS = 5.0
"""The price of compiling."""
FULL = -1
"""The number of ties or states if there are more than the memory holds."""


@inlined
def has_contradiction(box_rows, box_columns, boards, board, unit_digits):
    """Return True if two clues of a board contradict each other.

    unit_digits    uint64 (2, n)    scratch: the digits of each column and box
    """
    n = box_rows * box_columns
    column_digits = unit_digits[0]
    box_digits = unit_digits[1]
    for unit in range(n):
        column_digits[unit] = ZERO
        box_digits[unit] = ZERO

    repeated = ZERO
    for row in range(n):
        row_digits = ZERO
        for stack in range(box_rows):
            box = row // box_rows * box_rows + stack
            digits_so_far = box_digits[box]
            for column in range(stack * box_columns, (stack + 1) * box_columns):
                digit = np.uint64(boards[board, row * n + column])
                bit = ONE << digit - ONE if digit > ZERO else ZERO
                repeated |= (row_digits | digits_so_far | column_digits[column]) & bit
                row_digits = row_digits | bit
                digits_so_far = digits_so_far | bit
                column_digits[column] |= bit
            box_digits[box] = digits_so_far
    return repeated != ZERO


@inlined
def cell_steps(n, orientation):
    """Return the distances from a cell to the next one below it and to the next one right of it.

    They are those of cells of the board, or for orientation 1 of the board transposed.
    """
    if orientation == 1:
        return 1, n
    return n, 1


@inlined
def list_clues(layout, boards, board, search):
    """List the clues of a board, and those of the board transposed."""
    count = np.int64(0)
    for orientation in range(layout.orientations):
        row_step, column_step = cell_steps(layout.n, orientation)
        for row in range(layout.n):
            filled_boxes = np.int64(0)
            for stack in range(layout.stacks):
                start = count
                search.clue_starts[orientation, row * layout.stacks + stack] = start
                first_column = stack * layout.box_columns
                for column in range(first_column, first_column + layout.box_columns):
                    digit = np.int64(boards[board, row * row_step + column * column_step])
                    # An empty cell is written, too, and overwritten by the next one: no branch.
                    search.clues[count] = column | (digit - 1) << DIGIT_SHIFT
                    count += digit > 0
                filled_boxes += count > start
            search.filled_boxes[orientation, row] = filled_boxes
        search.clue_starts[orientation, layout.n * layout.stacks] = count


@inlined
def compare_row(layout, search, buffer, state, orientation, row, tie_count):
    """Compare a row of the board, for a state, with the least row so far.

    Returns the number of ties for the least row, or FULL.
    """
    # If the row has clues in more boxes than that, one of these boxes is left of the first entry of
    # the least row.
    if search.filled_boxes[orientation, row] > search.max_filled_boxes[0]:
        return tie_count

    pack_row(layout, search, search.bytes[buffer, state], orientation, row)
    packed = search.packed
    for word in range(layout.row_words):
        if packed[TRIAL, word] > packed[LEAST, word]:
            return tie_count
        if packed[TRIAL, word] < packed[LEAST, word]:
            for k in range(layout.row_words):
                packed[LEAST, k] = packed[TRIAL, k]
            search.max_filled_boxes[0] = count_boxes_from_first_entry(layout, packed)
            tie_count = 0
            break

    if tie_count == search.ties.shape[0]:
        return FULL
    search.ties[tie_count, 0] = state
    search.ties[tie_count, 1] = row
    return tie_count + 1


@inlined
def compare_band(layout, search, buffer, state, band, tie_count):
    """Compare the unused rows of a band with the least row so far; return the number of ties."""
    orientation = np.int64(search.bytes[buffer, state, layout.orientation_at])
    used_rows = search.words[buffer, state, layout.state_words - 1]
    has_tried_empty = False
    for row in range(band * layout.box_rows, (band + 1) * layout.box_rows):
        if used_rows >> np.uint64(row) & ONE != ZERO:
            continue
        # Empty rows of a band are interchangeable: one is enough.
        is_empty = search.filled_boxes[orientation, row] == 0
        if is_empty and has_tried_empty:
            continue
        has_tried_empty |= is_empty
        tie_count = compare_row(layout, search, buffer, state, orientation, row, tie_count)
        if tie_count == FULL:
            return FULL
    return tie_count


@inlined
def compare_unused_bands(layout, search, buffer, state, tie_count):
    """Compare the rows of all unused bands with the least row so far; return the number of ties."""
    orientation = np.int64(search.bytes[buffer, state, layout.orientation_at])
    used_rows = search.words[buffer, state, layout.state_words - 1]
    band_boxes = layout.box_rows * layout.stacks
    has_tried_empty = False
    for band in range(layout.bands):
        # Bands are used as a whole, so the first row is representative.
        if used_rows >> np.uint64(band * layout.box_rows) & ONE != ZERO:
            continue
        # Empty bands are interchangeable: one is enough.
        start = search.clue_starts[orientation, band * band_boxes]
        end = search.clue_starts[orientation, (band + 1) * band_boxes]
        is_empty = start == end
        if is_empty and has_tried_empty:
            continue
        has_tried_empty |= is_empty
        tie_count = compare_band(layout, search, buffer, state, band, tie_count)
        if tie_count == FULL:
            return FULL
    return tie_count


@inlined
def find_least_row(layout, search, buffer, state_count, level):
    """Find the least row that may be the next in any state.

    Returns the number of ties, or FULL.
    """
    tie_count = 0
    search.max_filled_boxes[0] = layout.stacks
    for word in range(layout.row_words):
        search.packed[LEAST, word] = ~ZERO
    for state in range(state_count):
        if level % layout.box_rows == 0:
            tie_count = compare_unused_bands(layout, search, buffer, state, tie_count)
        else:
            band = np.int64(search.bytes[buffer, state, layout.band_at])
            tie_count = compare_band(layout, search, buffer, state, band, tie_count)
        if tie_count == FULL:
            return FULL
    return tie_count


@inlined
def write_row(layout, search, forms, board, level, label_count):
    """Write the least row to the form of a board, and list its positions that are not empty.

    label_count    int    labels of the rows before

    Returns the number of labels, including new ones, and the number of positions.
    """
    entry_mask = (ONE << np.uint64(layout.entry_bits)) - ONE
    position_count = 0
    for position in range(layout.n):
        entries = search.packed[LEAST, entry_word(layout, position)]
        label = np.int64(entries >> entry_shift(layout, position) & entry_mask)
        if label > 0:
            search.row_positions[position_count] = position
            position_count += 1
        if label == layout.new_label:
            label_count += 1
            label = label_count
        forms.cells[board, level * layout.n + position] = label
    return label_count, position_count


@inlined
def copy_state(layout, words, source_buffer, source, target_buffer, target):
    """Copy a state."""
    for word in range(layout.state_words):
        words[target_buffer, target, word] = words[source_buffer, source, word]


@inlined
def can_place(layout, clue_starts, state, parent, clue, row, label, label_count, position):
    """Return whether a clue of a row can be placed at a position of the least row.

    clue_starts    int64                    ``Search.clue_starts``
    state          uint8 (state bytes)      the state, with clues of the row placed before
    parent         uint8 (state bytes)      the state of the level before that it follows from
    clue           int                      the clue: its column and digit
    row            int                      its row of the board
    label          int                      the label at the position
    label_count    int                      labels of the rows before; a larger label is new
    """
    column = clue & COLUMN_MASK
    digit = clue >> DIGIT_SHIFT
    if state[column] != NO_POSITION:
        return np.int64(state[column]) == position
    expected_label = label if label <= label_count else layout.new_label
    if np.int64(state[layout.labels_at + digit]) != expected_label:
        return False

    stack = column // layout.box_columns
    box = position // layout.box_columns
    column_in_box = position % layout.box_columns
    stack_position = np.int64(state[layout.stack_positions_at + stack])
    if stack_position != NO_POSITION:
        # The parent's open columns come first in the stack.
        open_columns = np.int64(parent[layout.open_columns_at + stack])
        return stack_position == box and column_in_box < open_columns

    if box >= np.int64(parent[layout.open_stacks_at]):
        return False
    # The first clue placed in an open stack fixes the position of the stack. A known label belongs
    # to one clue only. A new label comes first only if all clues of the stack get new labels; they
    # fill the box from this position to its end, which tells how many they are.
    orientation = np.int64(parent[layout.orientation_at])
    first_clue = clue_starts[orientation, row * layout.stacks + stack]
    box_clues = clue_starts[orientation, row * layout.stacks + stack + 1] - first_clue
    return label <= label_count or box_clues == layout.box_columns - column_in_box


@inlined
def place_clue(layout, state, clue, label, position):
    """Place a clue in a state: fix its label, its column's position, and its stack's position."""
    column = clue & COLUMN_MASK
    digit = clue >> DIGIT_SHIFT
    state[layout.labels_at + digit] = label
    if state[column] == NO_POSITION:
        stack = column // layout.box_columns
        state[column] = position
        state[layout.open_columns_at + stack] -= 1
        if state[layout.stack_positions_at + stack] == NO_POSITION:
            state[layout.stack_positions_at + stack] = position // layout.box_columns
            state[layout.open_stacks_at] -= 1


@inlined
def write_successor(layout, search, buffer, parent, row, level, successor):
    """Copy a state to the next level, with one more used row whose clues are not placed yet."""
    next_buffer = 1 - buffer
    copy_state(layout, search.words, buffer, parent, next_buffer, successor)
    search.words[next_buffer, successor, layout.state_words - 1] |= ONE << np.uint64(row)
    state = search.bytes[next_buffer, successor]
    state[layout.band_at] = row // layout.box_rows
    state[layout.rows_at + level] = row


@inlined
def fill_position(
    layout, search, parent, buffer, state_index, row, label, label_count, position, state_count
):
    """Place a clue of a row at a position, in a state and in copies of it for all other choices.

    parent         uint8 (state bytes)    the state of the level before that it follows from
    buffer         int                    the buffer of the state
    label          int                    the label at the position
    label_count    int                    labels of the rows before; a larger label is new
    state_count    int                    the number of states in the buffer

    Returns the number of states in the buffer, or FULL.
    """
    max_states = search.ties.shape[0]
    state = search.bytes[buffer, state_index]
    orientation = np.int64(parent[layout.orientation_at])
    clue_starts = search.clue_starts
    start = clue_starts[orientation, row * layout.stacks]
    end = clue_starts[orientation, (row + 1) * layout.stacks]
    first_choice = np.int64(-1)
    for k in range(start, end):
        clue = search.clues[k]
        if not can_place(
            layout, clue_starts, state, parent, clue, row, label, label_count, position
        ):
            continue
        # The first clue is placed at the end: the copies must not have it.
        if first_choice < 0:
            first_choice = clue
            continue
        if state_count == max_states:
            return FULL
        copy_state(layout, search.words, buffer, state_index, buffer, state_count)
        place_clue(layout, search.bytes[buffer, state_count], clue, label, position)
        state_count += 1
    place_clue(layout, state, first_choice, label, position)
    return state_count


@inlined
def add_successors(
    layout, search, forms, board, buffer, tie, level, label_count, position_count, state_count
):
    """Add the states of the next level that follow from a tie, one for each choice of columns.

    tie               int    the number of the tie
    label_count       int    labels of the rows before
    position_count    int    positions of the least row that are not empty
    state_count       int    states of the next level so far

    Returns the number of states of the next level, or FULL.
    """
    parent_index = search.ties[tie, 0]
    parent = search.bytes[buffer, parent_index]
    row = search.ties[tie, 1]
    first_successor = state_count
    if first_successor == search.ties.shape[0]:
        return FULL
    write_successor(layout, search, buffer, parent_index, row, level, first_successor)
    state_count += 1

    for i in range(position_count):
        position = search.row_positions[i]
        label = np.int64(forms.cells[board, level * layout.n + position])
        # The range ends before the states that the loop adds: they have a clue at the position.
        for successor in range(first_successor, state_count):
            state_count = fill_position(
                layout,
                search,
                parent,
                1 - buffer,
                successor,
                row,
                label,
                label_count,
                position,
                state_count,
            )
            if state_count == FULL:
                return FULL
    return state_count


@inlined
def write_first_states(layout, search):
    """Write the states without rows, one for each orientation, to buffer 0."""
    for orientation in range(layout.orientations):
        for word in range(layout.state_words):
            search.words[0, orientation, word] = ZERO
        state = search.bytes[0, orientation]
        for column in range(layout.n):
            state[column] = NO_POSITION
        for digit in range(layout.n):
            state[layout.labels_at + digit] = layout.new_label
        for stack in range(layout.stacks):
            state[layout.stack_positions_at + stack] = NO_POSITION
            state[layout.open_columns_at + stack] = layout.box_columns
        state[layout.open_stacks_at] = layout.stacks
        state[layout.orientation_at] = orientation


@inlined
def write_map(layout, state, forms, board):
    """Write the rearrangement of a state of the last level to the form of a board."""
    n = layout.n
    forms.maps[board, 0] = state[layout.orientation_at]
    for i in range(n):
        forms.maps[board, 1 + i] = state[layout.rows_at + i]
        forms.maps[board, 1 + n + i] = state[i]
        label = state[layout.labels_at + i]
        if label == layout.new_label:
            label = NO_POSITION
        forms.maps[board, 1 + 2 * n + i] = label


@inlined
def find_form(layout, search, forms, board):
    """Write the form of a board whose clues are listed; return False if the memory is too small."""
    write_first_states(layout, search)
    state_count = layout.orientations
    label_count = 0
    buffer = 0
    for level in range(layout.n):
        tie_count = find_least_row(layout, search, buffer, state_count, level)
        if tie_count == FULL:
            return False
        labels_before = label_count
        label_count, position_count = write_row(layout, search, forms, board, level, labels_before)
        state_count = 0
        for tie in range(tie_count):
            state_count = add_successors(
                layout,
                search,
                forms,
                board,
                buffer,
                tie,
                level,
                labels_before,
                position_count,
                state_count,
            )
            if state_count == FULL:
                return False
        buffer = 1 - buffer
    forms.ties[board] = state_count
    write_map(layout, search.bytes[buffer, 0], forms, board)
    return True


def build_puzzles(layout: Layout) -> Callable[..., int]:
    """Return ``write_forms`` for a layout."""

    # The layout is a constant of the closure, and all functions are inlined into it. So the
    # compiler knows the divisors, strides and bounds of loops.
    def write_forms(boards, first_board, search, forms):
        """Write the forms of boards, uint8 (B, n * n), beginning with the board ``first_board``.

        Returns the index of the first board that needs more states than the memory holds, or B.
        """
        for board in range(first_board, boards.shape[0]):
            if has_contradiction(
                layout.box_rows, layout.box_columns, boards, board, search.unit_digits
            ):
                forms.ties[board] = 0
                continue
            list_clues(layout, boards, board, search)
            if not find_form(layout, search, forms, board):
                return board
        return boards.shape[0]

    return write_forms


@cache
def canonical_puzzles(box_rows: int, box_columns: int) -> Kernel:
    """Return the kernel that finds canonical forms of boards with a box shape."""
    layout = Layout.of(box_rows, box_columns)
    memory = (Search.empty(layout, 0), Forms.empty(layout.n, 0))
    return Kernel(
        f"canonical.puzzles-{box_rows}x{box_columns}",
        (uint8[:, ::1], int64, *map(kind_of, memory)),
        lambda: build_puzzles(layout),
        (canonical_puzzles, (box_rows, box_columns)),
        returns=int64,
        seconds=SECONDS,
        subject=f"canonical forms of {layout.n}x{layout.n} boards",
    )
