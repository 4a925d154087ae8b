"""Boxes and strips: the bytes from which solutions are written.

A code of a band and a code of a stack with orthogonal partitions fill a box: the first gives the
row of each digit, the second the column. There are 1,680 codes, and each fills a box with 216
others, its *partners*. ``write_boxes`` writes all these boxes beforehand.

The *code index* of a code is six times its partition plus its *slot permutation*: the permutation
that makes it of the partition's canonical code, in which slots first appear in the order 0, 1, 2.

A *strip* is a row of 81 cells, of which the 27 cells of one crossing line have digits. It belongs
to a map of this line and to the codes of the three summed lines where they meet it. The relabelling
from the representative of an orbit to another pair is applied to code indices. So it costs no time
for a strip or for a solution.

Within a pair, the entries of A and B meet each entry of C. So the strips of Q and R are *prepared*
for every *choice* of a map of A and a map of B, as far as there is room. The prepared strips of a
choice belong to all maps that are orthogonal to both, and have two boxes filled. An entry of C
selects some of them, and fills the third box.

Stages: ``write_boxes``, and parts of ``write_solutions``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpusudoku.kernels.arguments import Group, array_of
from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.contraction.nine.arrays import (
    MAX_MAPS,
    ORTHOGONAL,
    PARTITIONS,
    A,
    B,
    C,
    Lists,
    Operands,
    Orbits,
    P,
    Q,
    R,
    Roles,
    Tensors,
)
from gpusudoku.kernels.contraction.nine.orbits import compose
from gpusudoku.kernels.contraction.nine.order import (
    ENTRIES_PER_INTEGER,
    Maps,
    OrthogonalEntries,
    Relabelling,
)
from gpusudoku.kernels.contraction.nine.pair_sums import PER_PARTITION
from gpusudoku.kernels.contraction.nine.unite import WIDE, unite_three
from gpusudoku.kernels.kernel import jitable

CODES = 6 * PARTITIONS
"""Codes whose sets have three digits each."""
PARTNERS = 6 * ORTHOGONAL
"""Codes with which a code fills a box."""
BOX = 9
"""Bytes of a box."""
NO_PARTNER = 255
"""The partner number of codes that are not partners."""
POWERS = tuple(3**digit for digit in range(9))
"""The weight of the slot of each digit in a code."""


class Boxes(Group):
    """All boxes that crossing and summed lines fill, and code indices. ``write_boxes`` writes it.

    A code of a summed line has 216 partners among the codes of crossing lines, with *partner
    numbers* from 0 on::

        code index        6 * partition + slot permutation                       0 .. 1679
        partner number    6 * position of the crossing line's partition in
                          ``Tables.orthogonal`` + slot permutation               0 .. 215
        box number        216 * code index of the summed line + partner number
    """

    code_index = array_of(np.int16, 3**9)
    """The code index of every code, or -1 if its sets do not have three digits each."""
    slots = array_of(np.uint8, CODES, 9)
    """By code index, the slot of every digit."""
    composed = array_of(np.uint8, 6, 6)
    """At [outer][inner], the slot permutation that applies the inner one, and then the outer."""
    partner = array_of(np.uint8, PARTITIONS * CODES)
    """At [partition of a summed line][code index of a crossing line], the partner number of the
    latter, or NO_PARTNER."""
    boxes = array_of(np.uint8, CODES * PARTNERS * BOX)
    """At [box number], a box: nine digits from 1 on, row by row."""
    code_indices = array_of(np.uint16, 6, MAX_MAPS, 3)
    """The code indices of the maps in ``Maps``, by line, map and box."""


def write_boxes(tables, lists, roles, maps, boxes):
    """Write ``boxes`` of the board, whose crossing lines are its bands or its stacks."""
    _write_codes(tables, boxes)
    for outer in range(6):
        for inner in range(6):
            boxes.composed[outer, inner] = compose(outer, inner, tables.permutations)

    # The boxes of every code of a summed line and each of its partners.
    crossing_is_band = roles.crossing[P] >= 3
    boxes.partner[:] = NO_PARTNER
    # Partner numbers follow ``Tables.orthogonal``, so that the boxes of a code are consecutive.
    for partition in range(PARTITIONS):
        for i in range(ORTHOGONAL):
            crossing_partition = np.int64(tables.orthogonal[partition, i])
            for slot_permutation in range(6):
                partner = 6 * i + slot_permutation
                crossing_code = 6 * crossing_partition + slot_permutation
                boxes.partner[partition * CODES + crossing_code] = partner
                for summed_code in range(6 * partition, 6 * partition + 6):
                    box_start = (summed_code * PARTNERS + partner) * BOX
                    if crossing_is_band:
                        _write_box(box_start, crossing_code, summed_code, boxes)
                    else:
                        _write_box(box_start, summed_code, crossing_code, boxes)

    # The maps of the board, whose codes are looked up once here and not for every strip.
    for line in range(6):
        for i in range(maps.start[line, lists.size[line]]):
            for box in range(3):
                boxes.code_indices[line, i, box] = boxes.code_index[maps.codes[line, i, box]]


@jitable
def _write_codes(tables, boxes):
    """Write the code indices, and the slots of all codes."""
    boxes.code_index[:] = -1
    for canonical_code in range(3**9):
        partition = np.int64(tables.partition_of[canonical_code])
        if partition < 0 or not _is_canonical(canonical_code):
            continue
        # The six codes of a partition are its canonical code with the slots permuted.
        for slot_permutation in range(6):
            code_index = 6 * partition + slot_permutation
            code = 0
            for digit in range(9):
                canonical_slot = canonical_code // POWERS[digit] % 3
                slot = tables.permutations[slot_permutation, canonical_slot]
                boxes.slots[code_index, digit] = slot
                code += slot * POWERS[digit]
            boxes.code_index[code] = code_index


@jitable
def _is_canonical(code):
    """Return whether the slots of a code first appear in the order 0, 1, 2."""
    next_slot = 0
    for digit in range(9):
        slot = code // POWERS[digit] % 3
        if slot > next_slot:
            return False
        if slot == next_slot:
            next_slot += 1
    return True


@jitable
def _write_box(box_start, band_code, stack_code, boxes):
    """Write the box of a band's and a stack's code, given their code indices."""
    for digit in range(9):
        row = boxes.slots[band_code, digit]
        column = boxes.slots[stack_code, digit]
        boxes.boxes[box_start + 3 * row + column] = digit + 1


MAX_ORTHOGONAL = 1_728
"""Maps of a crossing line that are orthogonal to three entries, at most: see ``tensors``."""
MAX_PREPARED = 1 << 14
"""Strips of Q, and of R, that are prepared, at most."""
MAX_CHOICES = 1 << 13
"""Choices of two maps of A and B for which strips are prepared, at most."""
CELLS = 81
"""Cells of a solution."""
STRIP = 3 * WIDE
"""Bytes of a strip, up to whole vectors. Only strips of P have what ends a solution, others 0::

    byte    0 .. 80    81                      82 .. 95
            cells      what ends a solution    0
"""
FIRST_STRIP = (0, MAX_ORTHOGONAL, 2 * MAX_ORTHOGONAL + MAX_PREPARED)
"""The first strips of P, Q and R in ``Strips.strips``. The prepared strips of Q and R begin
MAX_ORTHOGONAL later::

    strips of    P              | Q              | Q, prepared  | R              | R, prepared
    at most      MAX_ORTHOGONAL | MAX_ORTHOGONAL | MAX_PREPARED | MAX_ORTHOGONAL | MAX_PREPARED
"""
STRIPS = 3 * MAX_ORTHOGONAL + 2 * MAX_PREPARED
"""The number of strips of a thread."""

REMAINING, NEXT_BYTE, SKIP, IS_PREPARED, PREPARED_POSITION = range(5)
"""Fields of ``Strips.state``: the number of solutions that remain to be written; the byte where the
next one begins; the number of solutions to be skipped before it; whether strips are prepared; and
the position of the pair for which they are, or for which there was no room."""
ZERO, END = range(2)
"""Fields of ``Strips.form``."""


class SolvedBoard(NamedTuple):
    """A board whose solutions are to be written: all groups that earlier stages wrote."""

    lists: Lists
    roles: Roles
    tensors: Tensors
    operands: Operands
    orbits: Orbits
    maps: Maps
    orthogonal_entries: OrthogonalEntries
    relabelling: Relabelling
    boxes: Boxes


class Strips(Group):
    """The memory with which a thread writes solutions.

    A choice is the number of a combination of a map of A and a map of B, among those of a pair. All
    choices of one entry k of A and one entry l of B follow one another::

        choice           0   1   2   3 | 4   5 ...
        entries k, l     first k, l    | first k, next l ...
    """

    form = array_of(np.uint8, 2)
    """ZERO is what a digit 0 is written as, END is what ends a solution. Both are 0 if digits are
    to be written as they are."""
    state = array_of(np.int64, 5)
    """See REMAINING."""
    digits = array_of(np.uint8, 9)
    """The image of every digit, from 1 on; all 0 as long as ``images`` is not written."""
    slot_permutations = array_of(np.uint8, 6)
    """The slot permutation of every line."""
    images = array_of(np.uint16, 6, CODES)
    """The image of every code index, by line."""
    placed_maps = array_of(np.int64, 3)
    """The maps of A, B and C whose codes are in ``summed_codes``; -1 if none are."""
    summed_codes = array_of(np.int64, 3, 3)
    """By crossing role and box of its line, the code index of the summed line there."""
    map_count = array_of(np.int64, 3)
    """The number of maps of P, Q and R that are orthogonal to the three entries."""
    map_indices = array_of(np.int32, 3, MAX_ORTHOGONAL)
    """These maps, as indices of ``Maps``."""
    is_stale = array_of(np.uint8, 3)
    """Whether the strips of P, Q and R do not yet belong to these maps and codes."""
    strip_start = array_of(np.int32, 3, MAX_ORTHOGONAL)
    """The first byte of each of their strips."""
    first_choice = array_of(np.int32, PER_PARTITION * PER_PARTITION)
    """For entries k and l of a pair, the first choice of their maps; see ``index_of_kl``."""
    prepared_start = array_of(np.int32, 3, MAX_CHOICES + 1)
    """The first prepared strip of Q and R for each choice, and their end; not used for P."""
    code_at_c = array_of(np.uint16, 3, MAX_PREPARED)
    """For each prepared strip, the code index of its map where it meets C."""
    strips = array_of(np.uint8, STRIPS * STRIP)
    """The strips; see FIRST_STRIP. Those of P have the digits in the form in which they are
    written, and also the bytes around them."""
    united = array_of(np.uint8, STRIP)
    """A strip of P united with one of Q."""


def make_strips(text: bool) -> Strips:
    """Make the memory of a thread, 4 MB, to write lines of text, or digits as they are."""
    strips = Strips()
    strips.form[:] = (ord("0"), ord("\n")) if text else (0, 0)
    strips.digits[:] = 0
    strips.summed_codes[:] = -1
    strips.state[PREPARED_POSITION] = -1
    # The strips of a role always fill the same cells. So what is written here around these stays.
    strips.strips[:] = 0
    strips_of_p = strips.strips.reshape(STRIPS, STRIP)[:MAX_ORTHOGONAL]
    strips_of_p[:, :CELLS] = strips.form[ZERO]
    strips_of_p[:, CELLS] = strips.form[END]
    return strips


@jitable
def relabel_codes(position, relabelling, boxes, strips):
    """Write the images of code indices for the pair at a position, unless they are written."""
    digits = relabelling.digits[position]
    slot_permutations = relabelling.slot_permutations[position]
    if _is_relabelled(digits, slot_permutations, strips):
        return
    for digit in range(9):
        strips.digits[digit] = digits[digit] + 1
    for line in range(6):
        strips.slot_permutations[line] = slot_permutations[line]
    # The codes of the placed maps have the old images, so all maps have to be placed again.
    strips.placed_maps[:] = -1

    for partition in range(PARTITIONS):
        # The code index 6 * partition is that of the canonical code. The code with another slot
        # permutation becomes the image of the canonical code, then permuted in the same way.
        code = 0
        for digit in range(9):
            code += boxes.slots[6 * partition, digit] * POWERS[digits[digit]]
        canonical_image = np.int64(boxes.code_index[code])
        image_permutation = canonical_image % 6
        image_start = canonical_image - image_permutation
        for slot_permutation in range(6):
            inner = boxes.composed[slot_permutation, image_permutation]
            for line in range(6):
                permuted = np.int64(boxes.composed[slot_permutations[line], inner])
                strips.images[line, 6 * partition + slot_permutation] = image_start + permuted


@jitable
def _is_relabelled(digits, slot_permutations, strips):
    """Return whether ``images`` is that of these digits and slot permutations."""
    is_same = True
    for digit in range(9):
        is_same &= strips.digits[digit] == digits[digit] + 1
    for line in range(6):
        is_same &= strips.slot_permutations[line] == slot_permutations[line]
    return is_same


@jitable
def maps_of(summed_role, entry, board):
    """Return the range of the maps of an entry of a summed role."""
    line = board.roles.summed[summed_role]
    list_position = board.operands.list_position[summed_role, entry]
    return range(board.maps.start[line, list_position], board.maps.start[line, list_position + 1])


@jitable
def place_map(summed_role, map_index, board, strips):
    """Make the crossing lines meet a map of a summed role."""
    if strips.placed_maps[summed_role] == map_index:
        return
    strips.placed_maps[summed_role] = map_index
    line = board.roles.summed[summed_role]
    for crossing_role in range(3):
        box = board.roles.crossing[crossing_role] % 3
        image = np.int64(strips.images[line, board.boxes.code_indices[line, map_index, box]])
        # Different maps often have the same code in a box. Then the strips stay as they are.
        if strips.summed_codes[crossing_role, line % 3] != image:
            strips.summed_codes[crossing_role, line % 3] = image
            strips.is_stale[crossing_role] = True


@jitable
def write_strips(crossing_role, board, strips):
    """Write the strips of the orthogonal maps of a crossing role."""
    line = board.roles.crossing[crossing_role]
    map_indices = strips.map_indices[crossing_role]
    strip_start = strips.strip_start[crossing_role]
    code_indices = board.boxes.code_indices[line]
    images = strips.images[line]
    count = strips.map_count[crossing_role]
    for i in range(count):
        strip_start[i] = (FIRST_STRIP[crossing_role] + i) * STRIP
    for box in range(3):
        offset, partner_row, first_box = _locate_box(crossing_role, box, board, strips)
        for i in range(count):
            code = images[code_indices[map_indices[i], box]]
            partner = board.boxes.partner[partner_row + code]
            target = strip_start[i] + offset
            _fill_box(first_box + partner, crossing_role, target, board.boxes, strips)
    strips.is_stale[crossing_role] = False


@jitable
def _locate_box(crossing_role, box, board, strips):
    """Return what all strips of a crossing role have in common in a box of its line.

    Returns
    -------
    offset
        The byte of the box's first cell in a strip.
    partner_row
        The index in ``Boxes.partner`` of code index 0 of the crossing line.
    first_box
        The number of the box of partner 0.
    """
    line = board.roles.crossing[crossing_role]
    summed_code = strips.summed_codes[crossing_role, box]
    # In a strip, cells are in reading order, nine to a row. The box of a band and a stack begins
    # 27 cells later for each band above, and 3 cells later for each stack to the left.
    summed_partition = summed_code // 6
    if line >= 3:
        band = line - 3
        stack = box
    else:
        band = box
        stack = line
    offset = 27 * band + 3 * stack
    return offset, summed_partition * CODES, summed_code * PARTNERS


@jitable
def _fill_box(box_number, crossing_role, target, boxes, strips):
    """Write a box into a strip, from byte ``target`` on."""
    # A solution unites the bits of its strips, so it is enough that the strips of P have ZERO's.
    zero = strips.form[ZERO] if crossing_role == P else np.uint8(0)
    for row in range(3):
        source = box_number * BOX + 3 * row
        unite_three(boxes.boxes, source, zero, strips.strips, target + 9 * row)


@jitable
def prepare_pair(b, a, board, strips):
    """Prepare the strips of Q and R for a pair; return whether there was room."""
    operands = board.operands
    starts = board.operands.start
    choice = 0
    strips.prepared_start[:, 0] = 0
    for k in range(starts[A, a], starts[A, a + 1]):
        for l in range(starts[B, b], starts[B, b + 1]):  # noqa: E741 - as in the formula of the sum
            # The choices of k and l are numbered as their maps are visited when writing.
            strips.first_choice[index_of_kl(b, a, k, l, starts)] = choice
            for map_of_k in maps_of(A, k, board):
                place_map(A, map_of_k, board, strips)
                for map_of_l in maps_of(B, l, board):
                    place_map(B, map_of_l, board, strips)
                    if choice == MAX_CHOICES:
                        # Then the pair's strips are made when they are needed, which is slower.
                        return False
                    for crossing_role in (Q, R):
                        index_a = operands.entries[A, k, crossing_role]
                        index_b = operands.entries[B, l, crossing_role]
                        if not _prepare(crossing_role, choice, index_a, index_b, board, strips):
                            return False
                    choice += 1
    return True


@jitable
def index_of_kl(b, a, k, l, starts):  # noqa: E741 - as in the formula of the sum
    """Return the number of the entries k and l among those of the pair (a, b)."""
    return (k - starts[A, a]) * (starts[B, b + 1] - starts[B, b]) + l - starts[B, b]


@jitable
def _prepare(crossing_role, choice, index_a, index_b, board, strips):
    """Prepare the strips of a crossing role for a choice; return whether there was room.

    The strips have the boxes where the line meets A and B. index_a and index_b are the indices of
    the partitions of A and B there.
    """
    boxes = board.boxes
    summed = board.roles.summed
    line = board.roles.crossing[crossing_role]
    code_indices = boxes.code_indices[line]
    images = strips.images[line]
    map_start = board.maps.start[line]
    sets = board.orthogonal_entries.sets[crossing_role]
    width = board.orthogonal_entries.width[crossing_role]
    code_at_c = strips.code_at_c[crossing_role]
    box_a = summed[A] % 3
    box_b = summed[B] % 3
    box_c = summed[C] % 3
    offset_a, partner_row_a, first_box_a = _locate_box(crossing_role, box_a, board, strips)
    offset_b, partner_row_b, first_box_b = _locate_box(crossing_role, box_b, board, strips)

    # The third box, with C, is filled by ``choose_strips``.
    prepared = strips.prepared_start[crossing_role, choice]
    for i in range(width):
        entries = sets[A, index_a * width + i] & sets[B, index_b * width + i]
        while entries != 0:
            entry = ENTRIES_PER_INTEGER * i + lowest_index(entries)
            entries &= entries - ONE
            for map_index in range(map_start[entry], map_start[entry + 1]):
                if prepared == MAX_PREPARED:
                    return False
                code_at_c[prepared] = images[code_indices[map_index, box_c]]
                strip_start = (FIRST_STRIP[crossing_role] + MAX_ORTHOGONAL + prepared) * STRIP
                partner_a = boxes.partner[partner_row_a + images[code_indices[map_index, box_a]]]
                partner_b = boxes.partner[partner_row_b + images[code_indices[map_index, box_b]]]
                target_a = strip_start + offset_a
                target_b = strip_start + offset_b
                _fill_box(first_box_a + partner_a, crossing_role, target_a, boxes, strips)
                _fill_box(first_box_b + partner_b, crossing_role, target_b, boxes, strips)
                prepared += 1
    strips.prepared_start[crossing_role, choice + 1] = prepared
    return True


@jitable
def choose_strips(crossing_role, choice, board, strips):
    """Select the prepared strips of a crossing role that are orthogonal to C, and complete them."""
    strip_start = strips.strip_start[crossing_role]
    code_at_c = strips.code_at_c[crossing_role]
    partner_of = board.boxes.partner
    box_c = board.roles.summed[C] % 3
    offset, partner_row, first_box = _locate_box(crossing_role, box_c, board, strips)

    # Each number is written, and the next one overwrites it if the strip does not fit. So the
    # loop has no branch that the processor would mispredict.
    prepared = strips.prepared_start[crossing_role, choice]
    count = 0
    while count < strips.map_count[crossing_role]:
        strip_start[count] = prepared
        count += partner_of[partner_row + code_at_c[prepared]] != NO_PARTNER
        prepared += 1

    first_prepared = FIRST_STRIP[crossing_role] + MAX_ORTHOGONAL
    # Replace the numbers of the strips by their first bytes, and fill the box with C.
    for i in range(count):
        prepared = strip_start[i]
        partner = partner_of[partner_row + code_at_c[prepared]]
        strip_start[i] = (first_prepared + prepared) * STRIP
        target = strip_start[i] + offset
        _fill_box(first_box + partner, crossing_role, target, board.boxes, strips)
