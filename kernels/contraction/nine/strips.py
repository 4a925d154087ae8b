"""Boxes and strips: the bytes from which solutions are written.

A code of a band and a code of a stack with orthogonal partitions make a *box*: the first says in
which row each digit is, the second in which column. There are 1,680 codes, and each makes a box
with 216 others. The *number* of a code is six times its partition, plus its *naming*: the
permutation that makes it of the partition's canonical code, in which sets come up in the order of
their names. ``write_boxes`` writes all boxes beforehand.

A *strip* is a row of 81 cells with the digits of one crossing line in 27 of them. It belongs to a
word of this line and to the codes of the three summed lines where they meet it. The relabelling
that leads from the least pair of an orbit to another is applied to the numbers of codes, so it
costs nothing for a strip, or for a solution.

Within a pair the entries of A and B meet each entry of C. So the strips of Q and R are *prepared*
for every two words of A and B, as far as there is room: all words that fit both, with two boxes
filled in. An entry of C chooses among them, and fills in the third.

``unite`` and ``unite_three`` combine many bytes at once, at any address, and check no bounds. The
plain functions define the meaning; compiled for the CPU they become vectors of LLVM.

Stages: ``write_boxes``, and parts of ``write_solutions``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

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
from gpusudoku.kernels.contraction.nine.order import WORD, Fitting, Relabelling, Words
from gpusudoku.kernels.contraction.nine.pair_sums import PER_PARTITION
from gpusudoku.kernels.kernel import jitable, when_compiling

NUMBERS = 6 * PARTITIONS
"""Codes whose sets have three digits each."""
PARTNERS = 6 * ORTHOGONAL
"""Codes with which a code makes a box."""
BOX = 9
"""Bytes of a box."""
NO_BOX = 255
"""The rank of codes that do not make a box."""
POWERS = tuple(3**digit for digit in range(9))
"""What the set of each digit counts in a code."""


class Boxes(Group):
    """The boxes of crossing and summed lines, and the numbers of codes. ``write_boxes`` writes it.

    The codes of crossing lines that make a box with one of a summed line have *ranks*, from 0 on.
    """

    number = array_of(np.int16, 3**9)
    """The number of every code, or -1 if its sets do not have three digits each."""
    sets = array_of(np.uint8, NUMBERS, 9)
    """The set of every digit, by the number of a code."""
    composed = array_of(np.uint8, 6, 6)
    """The permutation that is the second and then the first."""
    rank = array_of(np.uint8, PARTITIONS * NUMBERS)
    """By partition of a summed line, and number of a crossing line's code, the rank of the latter,
    or NO_BOX."""
    boxes = array_of(np.uint8, NUMBERS * PARTNERS * BOX)
    """By number of a summed line's code, and rank: a box, row by row, digits from 1 on."""
    words = array_of(np.uint16, 6, MAX_MAPS, 3)
    """The numbers of the codes of ``Words``."""


def write_boxes(tables, lists, roles, words, boxes):
    """Write ``boxes``, whose crossing lines are bands or stacks as those of the board are."""
    _number_codes(tables, boxes)
    for after in range(6):
        for before in range(6):
            boxes.composed[after, before] = compose(after, before, tables.permutations)
    crossing_is_band = roles.crossing[P] >= 3
    boxes.rank[:] = NO_BOX
    for summed in range(PARTITIONS):
        for k in range(ORTHOGONAL):
            partition = np.int64(tables.orthogonal[summed, k])
            for naming in range(6):
                rank = 6 * k + naming
                crossing = 6 * partition + naming
                boxes.rank[summed * NUMBERS + crossing] = rank
                for other in range(6 * summed, 6 * summed + 6):
                    box = (other * PARTNERS + rank) * BOX
                    if crossing_is_band:
                        _write_box(box, crossing, other, boxes)
                    else:
                        _write_box(box, other, crossing, boxes)
    for line in range(6):
        for word in range(words.start[line, lists.size[line]]):
            for place in range(3):
                boxes.words[line, word, place] = boxes.number[words.codes[line, word, place]]


@jitable
def _number_codes(tables, boxes):
    """Write the numbers and the sets of codes."""
    boxes.number[:] = -1
    for canonical in range(3**9):
        partition = np.int64(tables.partition_of[canonical])
        if partition < 0 or not _is_canonical(canonical):
            continue
        for naming in range(6):
            code = 0
            sets = boxes.sets[6 * partition + naming]
            for digit in range(9):
                one = tables.permutations[naming, canonical // POWERS[digit] % 3]
                sets[digit] = one
                code += one * POWERS[digit]
            boxes.number[code] = 6 * partition + naming


@jitable
def _is_canonical(code):
    """Say whether the sets of a code come up in the order of their names."""
    expected = 0
    for digit in range(9):
        one = code // POWERS[digit] % 3
        if one > expected:
            return False
        expected += one == expected
    return True


@jitable
def _write_box(box, band, stack, boxes):
    """Write a box by the numbers of a band's and of a stack's code."""
    for digit in range(9):
        row = boxes.sets[band, digit]
        column = boxes.sets[stack, digit]
        boxes.boxes[box + 3 * row + column] = digit + 1


WIDE = 32
"""How many bytes are united together: two registers at most of any processor."""

_I8, _I16, _I64 = (ir.IntType(bits) for bits in (8, 16, 64))
_BYTES = ir.VectorType(_I8, WIDE)


def unite_three(data: Any, place: Any, byte: Any, out: Any, at: Any) -> None:
    """Write the union of the bits of each of three bytes and those of one byte, a uint8."""
    out[at : at + 3] = data[place : place + 3] | byte


def unite(data: Any, place: Any, others: Any, other: Any, out: Any, at: Any) -> None:
    """Write the union of the bits of the bytes from a place on and those from another place on."""
    out[at : at + WIDE] = data[place : place + WIDE] | others[other : other + WIDE]


def _address(
    context: Any, builder: Any, array: Any, data: Any, place: Any, kind: Any = _BYTES
) -> Any:
    first = context.make_array(array)(context, builder, data).data
    return builder.bitcast(builder.gep(first, [place]), kind.as_pointer())


@when_compiling
def _register() -> None:
    from numba import types
    from numba.extending import intrinsic, overload

    from gpusudoku.kernels.compile_cpu import INLINED

    @intrinsic
    def three(typing_context, data, place, byte, out, at):
        def generate(context, builder, signature, args):
            kinds = signature.args
            byte = args[2]
            twice = builder.mul(builder.zext(byte, _I16), _I16(0x0101))
            for shift, kind, more in (0, _I16, twice), (2, _I8, byte):
                source = builder.add(args[1], _I64(shift))
                target = builder.add(args[4], _I64(shift))
                value = builder.load(
                    _address(context, builder, kinds[0], args[0], source, kind), align=1
                )
                address = _address(context, builder, kinds[3], args[3], target, kind)
                builder.store(builder.or_(value, more), address, align=1)
            return context.get_dummy_value()

        return types.void(data, types.int64, types.uint8, out, types.int64), generate

    @intrinsic
    def many(typing_context, data, place, others, other, out, at):
        def generate(context, builder, signature, args):
            kinds = signature.args
            some, more = (
                builder.load(_address(context, builder, kinds[k], *args[k : k + 2]), align=1)
                for k in (0, 2)
            )
            address = _address(context, builder, kinds[4], *args[4:])
            builder.store(builder.or_(some, more), address, align=1)
            return context.get_dummy_value()

        return types.void(data, types.int64, others, types.int64, out, types.int64), generate

    @overload(unite_three, target="cpu", jit_options=INLINED)
    def _unite_three_cpu(data, place, byte, out, at):
        return lambda data, place, byte, out, at: three(data, place, byte, out, at)

    @overload(unite, target="cpu", jit_options=INLINED)
    def _unite_cpu(data, place, others, other, out, at):
        return lambda data, place, others, other, out, at: many(data, place, others, other, out, at)


MAX_FITTING = 1_728
"""Words of a crossing line that fit three entries, at most: see ``tensors``."""
MAX_PREPARED = 1 << 14
"""Strips of Q, and of R, that are prepared, at most."""
MAX_CHOICES = 1 << 13
"""Choices of two words of A and B for which they are prepared, at most."""
CELLS = 81
STRIP = 3 * WIDE
"""Bytes of a strip: the cells, what ends a solution, and zeros up to whole vectors."""
FIRST_STRIP = (0, MAX_FITTING, 2 * MAX_FITTING + MAX_PREPARED)
"""Where the strips of P, Q and R begin; those of Q and R that are prepared come MAX_FITTING later.
"""
STRIPS = 3 * MAX_FITTING + 2 * MAX_PREPARED

LEFT, AT, SKIP, PREPARED, FOR = range(5)
"""Fields of ``Strips.state``: solutions that are left to be written; the byte where the next one
begins; solutions to be skipped before it; whether strips are prepared, and the position of the pair
for which they are, or for which there was no room."""
ZERO, END = range(2)
"""Fields of ``Strips.form``."""


class Known(NamedTuple):
    """What is known about a board before its solutions are written."""

    lists: Lists
    roles: Roles
    tensors: Tensors
    operands: Operands
    orbits: Orbits
    words: Words
    fitting: Fitting
    relabelling: Relabelling
    boxes: Boxes


class Strips(Group):
    """What a thread writes solutions with."""

    form = array_of(np.uint8, 2)
    """ZERO is what a digit 0 is written as, END is what ends a solution; both are 0 if digits are
    to be written as they are."""
    state = array_of(np.int64, 5)
    """See LEFT."""
    digits = array_of(np.uint8, 9)
    """What every digit becomes, from 1 on; all 0 as long as ``images`` is not written."""
    names = array_of(np.uint8, 6)
    """What becomes of the names of every line's sets."""
    images = array_of(np.uint16, 6, NUMBERS)
    """What becomes of the number of a code, by line."""
    placed = array_of(np.int64, 3)
    """The words of A, B and C whose codes are in ``across``; -1 if none are."""
    across = array_of(np.int64, 3, 3)
    """By crossing role and place, the number of the summed line's code there."""
    fitting = array_of(np.int64, 3)
    """How many words of P, Q and R fit."""
    found = array_of(np.int32, 3, MAX_FITTING)
    """These words, as indices of ``Words``."""
    stale = array_of(np.uint8, 3)
    """Whether the strips of P, Q and R still have to be made from that."""
    at = array_of(np.int32, 3, MAX_FITTING)
    """Where their strips begin."""
    choice = array_of(np.int32, PER_PARTITION * PER_PARTITION)
    """For entries k and l of a pair, the first choice of their words."""
    start = array_of(np.int32, 3, MAX_CHOICES + 1)
    """Where the strips of Q and R begin that are prepared for each choice, and their end; nothing
    for P."""
    own = array_of(np.uint16, 3, MAX_PREPARED)
    """The numbers of their codes where they meet C."""
    strips = array_of(np.uint8, STRIPS * STRIP)
    """The strips; see FIRST_STRIP. In those of P the digits have their form, and there is what
    stands around them."""
    united = array_of(np.uint8, STRIP)
    """A strip of P and one of Q."""


def make_strips(text: bool) -> Strips:
    """What a thread takes, 4 MB: to write lines of text, or digits as they are."""
    strips = Strips()
    strips.form[:] = (ord("0"), ord("\n")) if text else (0, 0)
    strips.digits[:] = 0
    strips.across[:] = -1
    strips.state[FOR] = -1
    # The strips of a role fill in the same cells always, so what is around these stays.
    strips.strips[:] = 0
    of_p = strips.strips.reshape(STRIPS, STRIP)[:MAX_FITTING]
    of_p[:, :CELLS], of_p[:, CELLS] = strips.form
    return strips


@jitable
def relabel(position, relabelling, boxes, strips):
    """Write what becomes of the numbers of codes, unless it is there."""
    digits = relabelling.digits[position]
    names = relabelling.names[position]
    same = True
    for digit in range(9):
        same &= strips.digits[digit] == digits[digit] + 1
    for line in range(6):
        same &= strips.names[line] == names[line]
    if same:
        return
    strips.placed[:] = -1
    for digit in range(9):
        strips.digits[digit] = digits[digit] + 1
    for line in range(6):
        strips.names[line] = names[line]
    for partition in range(PARTITIONS):
        code = 0
        for digit in range(9):
            code += boxes.sets[6 * partition, digit] * POWERS[digits[digit]]
        image = np.int64(boxes.number[code])
        for naming in range(6):
            inner = boxes.composed[naming, image % 6]
            for line in range(6):
                renamed = np.int64(boxes.composed[names[line], inner])
                strips.images[line, 6 * partition + naming] = image - image % 6 + renamed


@jitable
def words_of(summed, entry, known):
    """Return the words of an entry of a summed role."""
    line = known.roles.summed[summed]
    e = known.operands.listed[summed, entry]
    return range(known.words.start[line, e], known.words.start[line, e + 1])


@jitable
def place_word(summed, word, known, strips):
    """Let a word of a summed role be what the crossing lines meet."""
    if strips.placed[summed] == word:
        return
    strips.placed[summed] = word
    line = known.roles.summed[summed]
    for crossing in range(3):
        number = known.boxes.words[line, word, known.roles.crossing[crossing] % 3]
        image = np.int64(strips.images[line, number])
        if strips.across[crossing, line % 3] != image:
            strips.across[crossing, line % 3] = image
            strips.stale[crossing] = True


@jitable
def write_strips(crossing, known, strips):
    """Write the strips of the words of a crossing role that fit."""
    x = known.roles.crossing[crossing]
    found = strips.found[crossing]
    at = strips.at[crossing]
    words = known.boxes.words[x]
    images = strips.images[x]
    count = strips.fitting[crossing]
    for i in range(count):
        at[i] = (FIRST_STRIP[crossing] + i) * STRIP
    for place in range(3):
        to, ranks, first = _at_place(crossing, place, known, strips)
        for i in range(count):
            rank = known.boxes.rank[ranks + images[words[found[i], place]]]
            _fill_box(first + rank, crossing, at[i] + to, known.boxes, strips)
    strips.stale[crossing] = False


@jitable
def _at_place(crossing, place, known, strips):
    """Return what all strips of a crossing role have in common at a place.

    That is where the box is in a strip, where the ranks of the crossing line's codes begin, and
    the index of the box of the first rank.
    """
    x = known.roles.crossing[crossing]
    across = strips.across[crossing, place]
    to = 27 * (x - 3) + 3 * place if x >= 3 else 27 * place + 3 * x
    return to, across // 6 * NUMBERS, across * PARTNERS


@jitable
def _fill_box(box, crossing, at, boxes, strips):
    """Write a box into a strip."""
    zero = strips.form[ZERO] if crossing == P else np.uint8(0)
    for row in range(3):
        unite_three(boxes.boxes, box * BOX + 3 * row, zero, strips.strips, at + 9 * row)


@jitable
def prepare_pair(b, a, known, strips):
    """Prepare the strips of Q and R for a pair; return whether there was room."""
    operands = known.operands
    starts = known.operands.start
    choice = 0
    strips.start[:, 0] = 0
    for k in range(starts[A, a], starts[A, a + 1]):
        for l in range(starts[B, b], starts[B, b + 1]):  # noqa: E741 - as in the formula of the sum
            strips.choice[cell_of(b, a, k, l, starts)] = choice
            for word_k in words_of(A, k, known):
                place_word(A, word_k, known, strips)
                for word_l in words_of(B, l, known):
                    place_word(B, word_l, known, strips)
                    if choice == MAX_CHOICES:
                        return False
                    for crossing in (Q, R):
                        of_a = operands.entries[A, k, crossing]
                        of_b = operands.entries[B, l, crossing]
                        if not _prepare(crossing, choice, of_a, of_b, known, strips):
                            return False
                    choice += 1
    return True


@jitable
def cell_of(b, a, k, l, starts):  # noqa: E741 - as in the formula of the sum
    """Return the number of a cell among those of a pair that have the same entry of C."""
    return (k - starts[A, a]) * (starts[B, b + 1] - starts[B, b]) + l - starts[B, b]


@jitable
def _prepare(crossing, choice, a, b, known, strips):
    """Prepare the strips of a crossing role for a choice; return whether there was room.

    The strips have the boxes where the line meets A and B.
    """
    x = known.roles.crossing[crossing]
    summed = known.roles.summed
    fitting = known.fitting
    start = known.words.start[x]
    sets = fitting.sets[crossing]
    width = fitting.width[crossing]
    words = known.boxes.words[x]
    images = strips.images[x]
    own = strips.own[crossing]
    place_a = summed[A] % 3
    place_b = summed[B] % 3
    place_c = summed[C] % 3
    to_a, ranks_a, first_a = _at_place(crossing, place_a, known, strips)
    to_b, ranks_b, first_b = _at_place(crossing, place_b, known, strips)
    boxes = known.boxes
    i = strips.start[crossing, choice]
    for w in range(width):
        both = sets[A, a * width + w] & sets[B, b * width + w]
        while both != 0:
            e = WORD * w + lowest_index(both)
            both &= both - ONE
            for word in range(start[e], start[e + 1]):
                if i == MAX_PREPARED:
                    return False
                own[i] = images[words[word, place_c]]
                at = (FIRST_STRIP[crossing] + MAX_FITTING + i) * STRIP
                rank_a = boxes.rank[ranks_a + images[words[word, place_a]]]
                rank_b = boxes.rank[ranks_b + images[words[word, place_b]]]
                _fill_box(first_a + rank_a, crossing, at + to_a, boxes, strips)
                _fill_box(first_b + rank_b, crossing, at + to_b, boxes, strips)
                i += 1
    strips.start[crossing, choice + 1] = i
    return True


@jitable
def choose_strips(crossing, choice, known, strips):
    """Choose the prepared strips of a crossing role that fit the entry of C, and complete them."""
    at = strips.at[crossing]
    own = strips.own[crossing]
    to, ranks, first = _at_place(crossing, known.roles.summed[C] % 3, known, strips)
    ranks_of = known.boxes.rank
    one = strips.start[crossing, choice]
    count = 0
    while count < strips.fitting[crossing]:
        at[count] = one
        count += ranks_of[ranks + own[one]] != NO_BOX
        one += 1
    base = FIRST_STRIP[crossing] + MAX_FITTING
    for i in range(count):
        rank = ranks_of[ranks + own[at[i]]]
        at[i] = (base + at[i]) * STRIP
        _fill_box(first + rank, crossing, at[i] + to, known.boxes, strips)
