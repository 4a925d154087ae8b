"""The stages of the contraction of 9x9 boards, put together and compiled for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numba import boolean, float64, int32, int64, typeof, uint64
from numpy.typing import NDArray

from gpusudoku.kernels.calls import Callee
from gpusudoku.kernels.contraction.nine.arrays import A, B, make_workspace
from gpusudoku.kernels.contraction.nine.dot import narrow_enough, sum_narrow, sum_wide
from gpusudoku.kernels.contraction.nine.maps import allow_permutations, list_lines
from gpusudoku.kernels.contraction.nine.operands import sort_entries
from gpusudoku.kernels.contraction.nine.orbits import pair_up
from gpusudoku.kernels.contraction.nine.prune import divide, prune
from gpusudoku.kernels.contraction.nine.roles import choose_roles, number_partitions
from gpusudoku.kernels.contraction.nine.slabs import HIGH, LOW, make_slabs
from gpusudoku.kernels.contraction.nine.tensors import contract_ab, contract_c, list_orthogonal
from gpusudoku.kernels.kernel import KERNELS, Kernel, jitable, kernel

FACTOR, STATUS, RESULTS = 2, 3, 4
"""Columns of the results of ``count_boards``, after LOW and HIGH of the sum; and their number."""
COUNTED, LEFT = 0, 1
"""STATUS of a board: counted, or left to be counted by stages. LEFT are boards too expensive for
one thread, or too wide."""


@jitable
def survey(candidates, tables, scratch, lists, numbering, roles):
    """Write the lists, numbers and roles of one board, with ``scratch`` on the way.

    candidates is uint64 (81). Returns the price in nanoseconds, or -1 if there is no solution.
    """
    allow_permutations(candidates, tables.permutations, lists.masks)
    if not list_lines(tables, scratch, lists):
        return -1.0
    keys, multiplicity, size = lists.keys, lists.multiplicity, lists.size
    if not prune(tables.orthogonal_bits, scratch.marks, keys, multiplicity, size):
        return -1.0
    divide(size, multiplicity, lists.divisor)
    number_partitions(size, keys, numbering)
    return choose_roles(lists, numbering, roles)


@jitable
def arrange(symmetric, tables, lists, numbering, roles, operands, orbits):
    """Write ``operands`` and ``orbits``; return the number of pairs to be summed.

    symmetric says whether pairs that have the same sum are summed once.
    """
    sort_entries(lists, numbering, roles, operands)
    return pair_up(symmetric, tables.swaps, lists, numbering, roles, orbits)


def build_count_boards(callers: Sequence[Callable[..., Any]]) -> Callable[..., None]:
    """Make ``count_boards``; ``callers`` are those of ``NineStages.callees``, in their order."""
    survey_at, list_at, contract_ab_at, contract_c_at, arrange_at, narrow_at, sum_at = callers

    def count_boards(candidates, most, tables, workspace, slabs, addresses, results):
        """Run all stages for many boards, one after the other; write ``results``.

        candidates is uint64 (B, 81), results int64 (B, RESULTS); addresses are int64, those of the
        stages. A board that costs more than ``most`` nanoseconds, or needs wide slabs, is LEFT. The
        number of solutions of any other is (HIGH * 2^32 + LOW) * FACTOR; each of the three is below
        2^63, their product need not be. The workspace and the slabs are written, too, anew for
        every board.
        """
        lists, numbering, roles = workspace.lists, workspace.numbering, workspace.roles
        orthogonal, intermediate = workspace.orthogonal, workspace.intermediate
        tensors, operands, orbits = workspace.tensors, workspace.operands, workspace.orbits
        for board in range(candidates.shape[0]):
            result = results[board]
            result[:] = 0
            price = survey_at(
                addresses[0], candidates[board], tables, workspace.scratch, lists, numbering, roles
            )
            if price < 0.0:
                continue
            result[STATUS] = LEFT
            if price > most:
                continue
            for role in range(3):
                if roles.tensor[role] == role:
                    depth, row = roles.depth[role], roles.shape[A, role] * roles.shape[B, role]
                    list_at(addresses[1], role, tables, numbering, roles, orthogonal)
                    contract_ab_at(
                        addresses[2],
                        role,
                        0,
                        depth,
                        lists,
                        numbering,
                        roles,
                        orthogonal,
                        intermediate,
                    )
                    tensors.largest[role] = contract_c_at(
                        addresses[3], role, 0, row, roles, orthogonal, intermediate, tensors
                    )
            pairs = arrange_at(
                addresses[4], True, tables, lists, numbering, roles, operands, orbits
            )
            if not narrow_at(addresses[5], lists, roles, tensors):
                continue
            slabs.sums[:] = 0
            sum_at(addresses[6], 0, pairs, roles, operands, tensors, orbits.pairs, slabs)
            result[LOW], result[HIGH] = slabs.sums[LOW], slabs.sums[HIGH]
            result[FACTOR], result[STATUS] = 1, COUNTED
            for line in range(6):
                result[FACTOR] *= lists.divisor[line]

    return count_boards


class NineStages:
    """All stages, each with the types of its arguments: what it reads, then what it writes.

    ``fixed`` is Numba's type of the ``Tables``.

    A stage is compiled, or loaded from disk, at its first call, or before by ``Kernel.load``.
    """

    def __init__(self, fixed: Any) -> None:
        workspace = typeof(make_workspace())
        scratch, lists, numbering, roles, *others = workspace.types
        orthogonal, intermediate, tensors, operands, orbits = others
        narrow, wide = typeof(make_slabs(wide=False)), typeof(make_slabs(wide=True))
        board, boards, pairs, results = uint64[::1], uint64[:, ::1], int32[:, ::1], int64[:, ::1]
        surveyed = board, fixed, scratch, lists, numbering, roles
        self.survey = kernel(*surveyed, seconds=2.6)(survey)
        self.list_orthogonal = kernel(int64, fixed, numbering, roles, orthogonal, seconds=0.3)(
            list_orthogonal
        )
        self.contract_ab = kernel(
            int64, int64, int64, lists, numbering, roles, orthogonal, intermediate, seconds=0.3
        )(contract_ab)
        self.contract_c = kernel(
            int64, int64, int64, roles, orthogonal, intermediate, tensors, seconds=0.4
        )(contract_c)
        arranged = boolean, fixed, lists, numbering, roles, operands, orbits
        self.arrange = kernel(*arranged, seconds=1.3)(arrange)
        self.narrow_enough = kernel(lists, roles, tensors, seconds=0.2)(narrow_enough)
        summed = int64, int64, roles, operands, tensors, pairs
        # Both are named alike by the template that makes them.
        place = f"{__name__}.sum_narrow", f"{__name__}.sum_wide"
        self.sum_narrow = kernel(*summed, narrow, seconds=1.6, place=place[0])(sum_narrow)
        self.sum_wide = kernel(*summed, wide, seconds=1.3, place=place[1])(sum_wide)
        self.callees = [
            Callee(self.survey, float64),
            Callee(self.list_orthogonal),
            Callee(self.contract_ab),
            Callee(self.contract_c, int64),
            Callee(self.arrange, int64),
            Callee(self.narrow_enough, boolean),
            Callee(self.sum_narrow),
        ]
        """What ``count_boards`` calls."""
        batch = boards, float64, fixed, workspace, narrow, int64[::1], results
        self.count_boards = Kernel(
            f"{__name__.removeprefix(KERNELS)}.count_boards",
            lambda: (build_count_boards([callee.caller() for callee in self.callees]), batch),
            (_count_boards, (fixed,)),
            seconds=0.6,
            subject=self.survey.subject,
        )

    def of_one_board(self) -> list[Kernel]:
        """What counting one board takes, except the wide sum, which few boards need."""
        return [callee.kernel for callee in self.callees]

    def of_many_boards(self) -> list[Kernel]:
        """What counting many boards on a thread each takes."""
        return [*self.of_one_board(), self.count_boards]

    @cached_property
    def addresses(self) -> NDArray[np.int64]:
        """Where the stages are that ``count_boards`` calls; they are loaded if they are not yet."""
        return np.array([callee.address() for callee in self.callees], np.int64)


def _count_boards(fixed: Any) -> Kernel:
    return NineStages(fixed).count_boards
