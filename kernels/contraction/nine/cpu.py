"""The stages of the contraction of 9x9 boards, put together and compiled for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpusudoku.jobs.forks import cached_property
from gpusudoku.kernels.arguments import Kind, boolean, float64, int32, int64, kind_of, uint8, uint64
from gpusudoku.kernels.contraction.nine.arrays import A, B, make_workspace
from gpusudoku.kernels.contraction.nine.lists import (
    allow_permutations,
    divide_multiplicities,
    find_equal_lists,
    list_entries,
    prune,
    sort_entries,
)
from gpusudoku.kernels.contraction.nine.orbits import pair_up
from gpusudoku.kernels.contraction.nine.order import (
    Asked,
    Fitting,
    Relabelling,
    Words,
    choose_words,
    find_narrow,
    find_wide,
    list_words,
    mark_fitting,
    relabel,
    write_grids,
)
from gpusudoku.kernels.contraction.nine.pair_sums import (
    HIGH,
    LOW,
    make_slabs,
    narrow_enough,
    sum_narrow,
    sum_wide,
)
from gpusudoku.kernels.contraction.nine.strips import Boxes, Known, make_strips, write_boxes
from gpusudoku.kernels.contraction.nine.tensors import (
    choose_roles,
    contract_ab,
    contract_c,
    index_partitions,
    list_orthogonal,
)
from gpusudoku.kernels.contraction.nine.writing import write_solutions
from gpusudoku.kernels.kernel import KERNELS, Kernel, jitable, kernel

FACTOR, STATUS, RESULTS = 2, 3, 4
"""Columns of the results of ``count_boards``, after LOW and HIGH of the sum; and their number."""
COUNTED, LEFT = 0, 1
"""STATUS of a board: counted, or left to be counted by stages. LEFT are boards too expensive for
one thread, or too wide."""


@jitable
def survey(tables, scratch, lists, numbering):
    """Write the lists and numbers of one board, with ``scratch`` on the way.

    Returns whether there may be a solution; if not, not everything is written.
    """
    if not list_entries(tables, scratch, lists):
        return False
    keys = lists.keys
    multiplicity = lists.multiplicity
    size = lists.size
    if not prune(tables.orthogonal_bits, scratch.occurring, keys, multiplicity, size):
        return False
    divide_multiplicities(lists)
    find_equal_lists(lists)
    index_partitions(size, keys, numbering)
    return True


@jitable
def arrange(symmetric, tables, lists, numbering, roles, operands, symmetries, orbits):
    """Write ``operands``, ``symmetries`` and ``orbits``; return the number of pairs to be summed.

    symmetric says whether pairs that have the same sum are summed once.
    """
    sort_entries(lists, numbering, roles, operands)
    return pair_up(symmetric, tables, lists, numbering, roles, symmetries, orbits)


def build_count_boards(callees: Sequence[Kernel]) -> Callable[..., None]:
    """Make ``count_boards``; ``callees`` are those of ``NineStages``."""
    from gpusudoku.kernels.compile_cpu import caller  # imported lazily: Numba

    callers = [
        caller(callee.python, callee.signature, callee.returns, place)
        for place, callee in enumerate(callees)
    ]
    allow, survey, choose, list_orthogonal, contract_ab, contract_c, arrange, add_up = callers

    @jitable
    def make_tensors(addresses, tables, workspace):
        """Write the tensors, each of those that differ once."""
        _, lists, numbering, roles, orthogonal, intermediate, tensors, _, _, _ = workspace
        for role in range(3):
            if roles.tensor[role] != role:
                continue
            depth = roles.depth[role]
            row = roles.shape[A, role] * roles.shape[B, role]
            list_orthogonal(addresses, role, tables, numbering, roles, orthogonal)
            known = lists, numbering, roles, orthogonal
            contract_ab(addresses, role, 0, depth, *known, intermediate)
            largest = contract_c(addresses, role, 0, row, roles, orthogonal, intermediate, tensors)
            tensors.largest[role] = largest

    @jitable
    def count_board(candidates, most, tables, workspace, stop, slabs, addresses, result):
        """Do for one board, and its row of the results, what ``count_boards`` does."""
        scratch, lists, numbering, roles, _, _, tensors, operands, symmetries, orbits = workspace
        allow(addresses, candidates, tables, lists)
        if not survey(addresses, tables, scratch, lists, numbering):
            return
        result[STATUS] = LEFT
        if choose(addresses, lists, numbering, roles) > most:
            return
        make_tensors(addresses, tables, workspace)
        if not narrow_enough(lists, roles, tensors):
            return
        known = lists, numbering, roles, operands, symmetries, orbits
        pairs = arrange(addresses, True, tables, *known)
        slabs.sums[:] = 0
        add_up(addresses, 0, pairs, roles, operands, tensors, orbits, stop, slabs)
        result[LOW], result[HIGH] = slabs.sums[LOW], slabs.sums[HIGH]
        result[FACTOR], result[STATUS] = 1, COUNTED
        for line in range(6):
            result[FACTOR] *= lists.divisor[line]

    def count_boards(candidates, most, tables, workspace, stop, slabs, addresses, results):
        """Run all stages for many boards, one after the other; write ``results``.

        candidates is uint64 (B, 81), results int64 (B, RESULTS); addresses are int64, those of the
        stages. A board that costs more than ``most`` nanoseconds, or needs wide slabs, is LEFT. The
        number of solutions of any other is (HIGH * 2^32 + LOW) * FACTOR; each of the three is below
        2^63, their product need not be. The workspace and the slabs are written, too, anew for
        every board. stop is int64 (1); once it is not 0, results mean nothing.
        """
        results[:] = 0
        for board in range(candidates.shape[0]):
            if stop[0] != 0:
                return
            one = candidates[board]
            result = results[board]
            count_board(one, most, tables, workspace, stop, slabs, addresses, result)

    return count_boards


class NineStages:
    """All stages, each with the types of its arguments: what it reads, then what it writes.

    ``tables`` is the type of the ``Tables``.

    A stage is compiled, or loaded from disk, at its first call, or before by ``Kernel.load``.
    """

    def __init__(self, tables: Kind) -> None:
        workspace = kind_of(make_workspace())
        scratch, lists, numbering, roles, *others = workspace
        orthogonal, intermediate, tensors, operands, symmetries, orbits = others
        narrow = kind_of(make_slabs(wide=False))
        wide = kind_of(make_slabs(wide=True))
        board = uint64[::1]
        boards = uint64[:, ::1]
        results = int64[:, ::1]
        self.allow_permutations = kernel(board, tables, lists, seconds=0.4)(allow_permutations)
        self.survey = kernel(tables, scratch, lists, numbering, returns=boolean, seconds=3.4)(
            survey
        )
        self.choose_roles = kernel(lists, numbering, roles, returns=float64, seconds=1.5)(
            choose_roles
        )
        self.list_orthogonal = kernel(int64, tables, numbering, roles, orthogonal, seconds=0.5)(
            list_orthogonal
        )
        self.contract_ab = kernel(
            int64, int64, int64, lists, numbering, roles, orthogonal, intermediate, seconds=0.6
        )(contract_ab)
        self.contract_c = kernel(
            *(int64, int64, int64, roles, orthogonal, intermediate, tensors),
            returns=int64,
            seconds=1.2,
        )(contract_c)
        arranged = boolean, tables, lists, numbering, roles, operands, symmetries, orbits
        self.arrange = kernel(*arranged, returns=int64, seconds=2.6)(arrange)
        summed = int64, int64, roles, operands, tensors, orbits, int64[::1]
        # Both are named alike by the template that makes them.
        place = f"{__name__}.sum_narrow", f"{__name__}.sum_wide"
        self.sum_narrow = kernel(*summed, narrow, seconds=3.1, place=place[0])(sum_narrow)
        self.sum_wide = kernel(*summed, wide, seconds=3.1, place=place[1])(sum_wide)
        words = kind_of(Words())
        fitting = kind_of(Fitting())
        self.list_words = kernel(tables, scratch, lists, words, seconds=1.5)(list_words)
        known = tables, lists, numbering, roles
        self.mark_fitting = kernel(*known, fitting, seconds=0.5)(mark_fitting)
        relabelling = kind_of(Relabelling())
        moved = int64, tables, symmetries, orbits, relabelling
        self.relabel = kernel(*moved, seconds=0.4)(relabel)
        numbers = int64[::1]
        cells = int64[:, ::1]
        chosen = int32[:, ::1]
        asked = Asked(int32[:, ::1], numbers, numbers)
        found = boolean, asked, roles, operands, tensors, int64[::1]
        place = f"{__name__}.find_narrow", f"{__name__}.find_wide"
        self.find_narrow = kernel(*found, narrow, cells, seconds=4.6, place=place[0])(find_narrow)
        self.find_wide = kernel(*found, wide, cells, seconds=4.7, place=place[1])(find_wide)
        fit = cells, lists, roles, operands, tensors, words, fitting, chosen
        self.choose_words = kernel(*fit, seconds=1.1)(choose_words)
        written = chosen, numbers, numbers, tables, words, relabelling, uint8[:, ::1]
        self.write_grids = kernel(*written, seconds=0.5)(write_grids)
        boxes = kind_of(Boxes())
        strips = kind_of(make_strips(text=True))
        self.write_boxes = kernel(tables, lists, roles, words, boxes, seconds=1.8)(write_boxes)
        solved = Known(lists, roles, tensors, operands, orbits, words, fitting, relabelling, boxes)
        self.write_solutions = kernel(numbers, int64, solved, strips, uint8[::1], seconds=8.8)(
            write_solutions
        )
        self.callees = [
            self.allow_permutations,
            self.survey,
            self.choose_roles,
            self.list_orthogonal,
            self.contract_ab,
            self.contract_c,
            self.arrange,
            self.sum_narrow,
        ]
        """What ``count_boards`` calls."""
        batch = boards, float64, tables, workspace, int64[::1], narrow, int64[::1], results
        self.count_boards = Kernel(
            f"{__name__.removeprefix(KERNELS)}.count_boards",
            batch,
            lambda: build_count_boards(self.callees),
            (_count_boards, (tables,)),
            seconds=0.7,
            subject=self.survey.subject,
        )

    def of_one_board(self) -> list[Kernel]:
        """What counting one board takes, except the wide sum, which few boards need."""
        in_python = self.allow_permutations, self.choose_roles  # by ``Kernel.for_boards``
        return [kernel for kernel in self.callees if kernel not in in_python]

    def of_contraction_order(self) -> list[Kernel]:
        """What finding solutions by number takes besides, except the wide search for cells."""
        found = self.find_narrow, self.choose_words, self.write_grids
        return [self.list_words, self.mark_fitting, self.relabel, *found]

    def of_products(self) -> list[Kernel]:
        """What writing all solutions takes besides."""
        return [self.write_boxes, self.write_solutions]

    def of_many_boards(self) -> list[Kernel]:
        """What counting many boards on a thread each takes."""
        return [*self.callees, self.count_boards]

    @cached_property
    def addresses(self) -> NDArray[np.int64]:
        """Where the stages are that ``count_boards`` calls; they are loaded if they are not yet."""
        return np.array([callee.address for callee in self.callees], np.int64)


def _count_boards(tables: Kind) -> Kernel:
    return NineStages(tables).count_boards
