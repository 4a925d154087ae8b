"""Solutions as products of maps, written about as fast as memory takes them.

Given maps of the summed lines A, B and C, the crossing lines are independent: every map of P that
is orthogonal to those three combines with every such map of Q and of R. The maps of P, Q and R fill
27 cells each. So each map becomes a *strip*, which has these cells of a grid, and a solution is the
union of three strips. Nothing is searched, and no cell is written by itself. Solutions come in
contraction order; see ``order``.

Stage: ``write_solutions``, which writes ``Strips``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.contraction.nine.arrays import A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.order import ENTRIES_PER_INTEGER, RANK_IN_TRIPLE
from gpusudoku.kernels.contraction.nine.strips import (
    CELLS,
    END,
    IS_PREPARED,
    NEXT_BYTE,
    PREPARED_POSITION,
    REMAINING,
    SKIP,
    STRIP,
    choose_strips,
    index_of_kl,
    maps_of,
    place_map,
    prepare_pair,
    relabel_codes,
    write_strips,
)
from gpusudoku.kernels.contraction.nine.unite import WIDE, unite
from gpusudoku.kernels.kernel import jitable

SPARE_BYTES = STRIP - CELLS
"""Maximum number of bytes that are written behind the last solution."""
ORBIT, POSITION = range(4, 6)
"""Fields of a cursor after those of a triple of ``find_triples``. A cursor is the position of a
solution in the contraction order:

    field  A (0)     B (1)     C (2)     RANK_IN_TRIPLE (3)  ORBIT (4)      POSITION (5)
    value  entry of  entry of  entry of  solutions of the    index of the   position of
           A         B         C         triple before this  orbit          the pair

Entries are those of ``Operands``. RANK_IN_TRIPLE is not divided by the divisors here."""


def write_solutions(cursor, count, board, strips, out):
    """Write ``count`` solutions, beginning with that of a cursor; at least that many must remain.

    cursor    int64 (6)      the first solution: see ORBIT
    board     SolvedBoard    the arrays of the board
    strips    Strips         scratch memory of a thread
    out       uint8          ``count`` solutions of CELLS bytes, each with one more byte if
                             ``strips.form`` has a byte that ends it; then SPARE_BYTES bytes
    """
    state = strips.state
    orbits = board.orbits
    state[REMAINING] = count
    state[NEXT_BYTE] = 0
    state[SKIP] = cursor[RANK_IN_TRIPLE]
    orbit = cursor[ORBIT]
    position = cursor[POSITION]
    a_entry = cursor[A]
    b_entry = cursor[B]
    c_entry = cursor[C]
    b = np.int64(orbits.representatives[orbit, 0])
    a = np.int64(orbits.representatives[orbit, 1])
    strips.placed_maps[:] = -1
    while True:
        relabel_codes(position, board.relabelling, board.boxes, strips)
        if state[PREPARED_POSITION] != position:
            state[PREPARED_POSITION] = position
            state[IS_PREPARED] = prepare_pair(b, a, board, strips)
        _write_pair(b, a, a_entry, b_entry, c_entry, board, strips, out)
        if state[REMAINING] == 0:
            return

        # The next pair begins with its first triple.
        position += 1
        if position == orbits.start[orbit + 1]:
            orbit += 1
            b = np.int64(orbits.representatives[orbit, 0])
            a = np.int64(orbits.representatives[orbit, 1])
        a_entry = board.operands.start[A, a]
        b_entry = board.operands.start[B, b]
        c_entry = 0


@jitable
def _write_pair(b, a, a_entry, b_entry, c_entry, board, strips, out):
    """Write the solutions of a pair (a, b) until state[REMAINING] are written.

    Begin with the triple (``a_entry``, ``b_entry``, ``c_entry``), which must have solutions.
    """
    operands = board.operands
    roles = board.roles
    state = strips.state
    tensors = board.tensors.elements
    p_tensor = roles.tensor[P]
    q_tensor = roles.tensor[Q]
    r_tensor = roles.tensor[R]
    starts = operands.start
    for c_now in range(c_entry, starts[C, -1]):
        c_indices = operands.entries[C, c_now]
        p_count = tensors[p_tensor, _row_start(P, c_indices[P], a, roles) + b]
        if p_count == 0:
            continue
        # The maps of P depend on a, b and the entry of C only.
        _find_orthogonal_maps(P, a, b, c_indices[P], p_count, board, strips)
        while a_entry < starts[A, a + 1]:
            a_indices = operands.entries[A, a_entry]
            q_row = _row_start(Q, c_indices[Q], a_indices[Q], roles)
            r_row = _row_start(R, c_indices[R], a_indices[R], roles)
            for b_now in range(b_entry, starts[B, b + 1]):
                b_indices = operands.entries[B, b_now]
                q_count = tensors[q_tensor, q_row + b_indices[Q]]
                r_count = tensors[r_tensor, r_row + b_indices[R]]
                if q_count != 0 and r_count != 0:
                    for crossing_role, map_count in (Q, q_count), (R, r_count):
                        if state[IS_PREPARED]:
                            # ``choose_strips`` finds the maps among the prepared strips.
                            line = roles.crossing[crossing_role]
                            strips.map_count[crossing_role] = map_count * board.lists.divisor[line]
                        else:
                            _find_orthogonal_maps(
                                crossing_role,
                                a_indices[crossing_role],
                                b_indices[crossing_role],
                                c_indices[crossing_role],
                                map_count,
                                board,
                                strips,
                            )
                    first_choice = strips.first_choice[index_of_kl(b, a, a_entry, b_now, starts)]
                    _write_triple(first_choice, a_entry, b_now, c_now, board, strips, out)
                    if state[REMAINING] == 0:
                        return
            # Only the first round of each loop begins at the given entries. Later rounds begin with
            # the first entries of a and b.
            a_entry += 1
            b_entry = starts[B, b]
        a_entry = starts[A, a]


@jitable
def _row_start(crossing_role, c, a, roles):
    """Return where the row of a role's tensor begins that has the indices c and a."""
    return (c * roles.shape[A, crossing_role] + a) * roles.shape[B, crossing_role]


@jitable
def _find_orthogonal_maps(crossing_role, a, b, c, map_count, board, strips):
    """Find the maps of a crossing role that are orthogonal to the indices a, b and c.

    ``map_count`` is the element of the role's tensor, so the number of these maps is known.
    """
    line = board.roles.crossing[crossing_role]
    orthogonal_entries = board.orthogonal_entries
    map_indices = strips.map_indices[crossing_role]
    map_start = board.maps.start[line]
    bit_sets = orthogonal_entries.sets[crossing_role]
    width = orthogonal_entries.width[crossing_role]
    max_count = map_count * board.lists.divisor[line]
    a_entries = bit_sets[A, a * width :]
    b_entries = bit_sets[B, b * width :]
    c_entries = bit_sets[C, c * width :]
    count = 0
    word = 0
    while count < max_count:
        entries = a_entries[word] & b_entries[word] & c_entries[word]
        while entries != 0:
            entry = ENTRIES_PER_INTEGER * word + lowest_index(entries)
            entries &= entries - ONE
            for line_map in range(map_start[entry], map_start[entry + 1]):
                map_indices[count] = line_map
                count += 1
        word += 1
    strips.map_count[crossing_role] = count
    strips.is_stale[crossing_role] = True


@jitable
def _write_triple(choice, a_entry, b_entry, c_entry, board, strips, out):
    """Write the solutions of a triple, except SKIP, until REMAINING solutions are written.

    ``choice`` is the index of the prepared strips for the first maps of the entries of A and B.
    """
    state = strips.state
    # For every three maps of the entries of A, B and C, all combinations of maps of P, Q and R.
    solution_count = strips.map_count[P] * strips.map_count[Q] * strips.map_count[R]
    skip = state[SKIP]
    state[SKIP] = 0
    for a_map in maps_of(A, a_entry, board):
        for b_map in maps_of(B, b_entry, board):
            for c_map in maps_of(C, c_entry, board):
                if skip >= solution_count:
                    skip -= solution_count
                    continue
                place_map(A, a_map, board, strips)
                place_map(B, b_map, board, strips)
                place_map(C, c_map, board, strips)
                for crossing_role in range(3):
                    if crossing_role != P and state[IS_PREPARED]:
                        choose_strips(crossing_role, choice, board, strips)
                    elif strips.is_stale[crossing_role]:
                        write_strips(crossing_role, board, strips)
                _write_unions(skip, strips, out)
                if state[REMAINING] == 0:
                    return
                skip = 0
            # Strips were prepared for every two maps of A and B, in this order.
            choice += 1


@jitable
def _write_unions(skip, strips, out):
    """Write all unions of three strips, except the first ``skip``, until REMAINING are written."""
    state = strips.state
    all_strips = strips.strips
    p_and_q = strips.united
    strip_start = strips.strip_start
    p_count = strips.map_count[P]
    q_count = strips.map_count[Q]
    r_count = strips.map_count[R]
    remaining = state[REMAINING]
    target = state[NEXT_BYTE]
    width = CELLS + (strips.form[END] != 0)
    # The map of R changes fastest, then that of Q.
    p = skip // (q_count * r_count)
    q = skip // r_count % q_count
    r = skip % r_count
    while remaining > 0 and p < p_count:
        p_start = np.int64(strip_start[P, p])
        q_start = np.int64(strip_start[Q, q])
        for vector in range(0, STRIP, WIDE):
            unite(all_strips, p_start + vector, all_strips, q_start + vector, p_and_q, vector)
        # The inner loop has one strip of P and one of Q, which are united once.
        r_end = min(r_count, r + remaining)
        for i in range(r, r_end):
            r_start = np.int64(strip_start[R, i])
            # A strip is longer than a solution. The next solution overwrites the excess bytes.
            for vector in range(0, STRIP, WIDE):
                unite(p_and_q, vector, all_strips, r_start + vector, out, target + vector)
            target += width
        remaining -= r_end - r
        r = 0
        q = q + 1
        if q == q_count:
            p = p + 1
            q = 0
    state[REMAINING] = remaining
    state[NEXT_BYTE] = target
