"""The entries of the summed lines, as the sum wants them. Special to 3x3 boxes.

Part of the stage ``arrange``: writes ``Operands``.
"""

from __future__ import annotations

from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, PARTITIONS, C, P, Q
from gpusudoku.kernels.contraction.nine.keys import number_at
from gpusudoku.kernels.kernel import jitable


@jitable
def sort_entries(lists, numbering, roles, operands):
    """Write the entries of A and B sorted by their numbers at P, those of C sorted by Q."""
    for summed in range(3):
        line = roles.summed[summed]
        sorting = roles.crossing[Q if summed == C else P]
        entries, start = operands.entries[summed], operands.start[summed]
        start[:] = 0
        for e in range(lists.size[line]):
            start[number_at(lists.keys[line, e], line, sorting, numbering.number)] += 1
        for i in range(PARTITIONS):
            start[i + 1] += start[i]
        # Each start is now the end of its number's entries; entries are filled in from there.
        for e in range(lists.size[line] - 1, -1, -1):
            key = lists.keys[line, e]
            number = number_at(key, line, sorting, numbering.number)
            start[number] -= 1
            entry = entries[start[number]]
            operands.listed[summed, start[number]] = e
            for crossing in range(3):
                entry[crossing] = number_at(key, line, roles.crossing[crossing], numbering.number)
            entry[MULTIPLICITY] = lists.multiplicity[line, e]
